//! A rank of a simulation: it goes through a script, and waits as processes do.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use crate::error::{Failure, FailureKind};
use crate::mpi::inbox::Inbox;
use crate::mpi::relays::Order;
use crate::mpi::round::{LOOK_EVERY, Look, Membership, leave};
use crate::mpi::simulation::network::{Event, Here, Network};
use crate::team::cache::LastPosted;
use crate::team::call::{Call, CallName};
use crate::team::meeting::{Contribution, Post, Round, Stage};

/// What a rank does next.
#[derive(Debug, Clone)]
pub(super) enum Step {
    Meet(Contribution),
    /// Says that it has copied, and waits for all.
    Finish,
    #[cfg_attr(not(test), allow(dead_code, reason = "counting needs no failures"))]
    Misbehave(Misdeed),
}

/// What goes wrong on a rank.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(not(test), allow(dead_code, reason = "counting needs no failures"))]
pub(super) enum Misdeed {
    /// It computes, and comes later.
    Sleep(Duration),
    /// It brings a failure to the next round.
    Fail,
    /// It is killed after so many more messages.
    DieAfter(u64),
    /// The same, while another comes late to that call.
    DieWaiting(u64),
    /// It says that it comes no more.
    Leave,
    /// It makes another call, as its script says.
    Differ,
    /// It leaves the next round when it has waited that long.
    Interrupt(Duration),
}

/// What a rank saw at the end of a round. Counting looks at none, and has no room for them on
/// thousands of ranks.
#[cfg(test)]
#[derive(Debug)]
pub(super) struct Seen {
    pub stage: Stage,
    pub posts: Round<Contribution>,
}

/// A rank.
pub(super) struct Process {
    team: Membership,
    inbox: Inbox,
    last: Option<LastPosted>,
    script: VecDeque<Step>,
    limit: Option<Duration>,
    waiting: Option<Waiting>,
    n_waits: u64,
    is_asleep: bool,
    /// Whether messages have come that it has not looked at.
    is_to_poll: bool,
    interrupt_after: Option<Duration>,
    #[cfg(test)]
    pub seen: Vec<Seen>,
}

struct Waiting {
    round: u64,
    stage: Stage,
    look: Look,
    since: Duration,
}

impl Process {
    pub(super) fn new(
        members: &Arc<[u64]>,
        order: Option<&Arc<Order>>,
        own: u64,
        script: Vec<Step>,
        limit: Option<Duration>,
    ) -> Self {
        Self {
            inbox: Inbox::new(members.len() as u64),
            team: Membership::new(Arc::clone(members), own, None, order),
            last: None,
            script: script.into(),
            limit,
            waiting: None,
            n_waits: 0,
            is_asleep: false,
            is_to_poll: false,
            interrupt_after: None,
            #[cfg(test)]
            seen: Vec::new(),
        }
    }

    /// Whether it has gone through its script.
    #[cfg(test)]
    pub(super) fn has_ended(&self) -> bool {
        self.waiting.is_none() && self.script.is_empty()
    }

    /// Where it waits, and for whom.
    #[cfg(test)]
    pub(super) fn waits_for(&mut self) -> Option<(u64, Stage, Vec<u64>)> {
        let Waiting { round, stage, .. } = *self.waiting.as_ref()?;
        let posts = &self.inbox.slot(self.team.key, round).posts;
        let missing = (0..self.team.size()).filter(|rank| !posts.has(*rank)).collect();
        Some((round, stage, missing))
    }

    pub(super) fn take(&mut self, network: &mut Network, event: Event) {
        match event {
            Event::Message { from, message } => {
                self.inbox.take_message(Arc::unwrap_or_clone(message), from, &|_, _| None);
                if !std::mem::replace(&mut self.is_to_poll, true) {
                    let soon = (network.poll_delay)();
                    network.plan(network.now + soon, self.team.own, Event::Poll);
                }
            }
            Event::Poll => {
                self.is_to_poll = false;
                self.look(network, false);
            }
            Event::Look { wait } if wait == self.n_waits && self.waiting.is_some() => {
                network.plan(network.now + LOOK_EVERY, self.team.own, Event::Look { wait });
                self.look(network, true);
            }
            Event::Look { .. } => {}
            Event::Wake => {
                self.is_asleep = false;
                self.go_on(network);
            }
        }
    }

    fn look(&mut self, network: &mut Network, is_due: bool) {
        let Some(waiting) = &mut self.waiting else { return };
        waiting.look.now = network.began + network.now;
        waiting.look.waited = network.now - waiting.since;
        waiting.look.is_due = is_due;
        let mut here = Here { own: self.team.own, inbox: &mut self.inbox, network };
        let Waiting { round, stage, ref mut look, .. } = *waiting;
        let waited = look.waited;
        if self.team.advance(&mut here, round, stage, look).expect("no MPI") {
            let posts = self.team.close(&mut here, round, look).expect("no MPI");
            self.waiting = None;
            self.leave_failed_run(network, &posts);
            #[cfg(test)]
            self.seen.push(Seen { stage, posts });
            return self.go_on(network);
        }
        if is_due && self.interrupt_after.is_some_and(|limit| waited >= limit) {
            self.interrupt_after = None;
            let failure = Failure::new(self.team.own_rank(), FailureKind::Raised, "interrupted");
            self.team.give_up(&mut here, round, failure).expect("no MPI");
            self.waiting = None;
            if matches!(self.script.front(), Some(Step::Finish)) {
                self.script.pop_front();
            }
            self.go_on(network);
        }
    }

    /// Does not wait for the end of a run whose first meeting failed; says so where some may.
    fn leave_failed_run(&mut self, network: &mut Network, posts: &Round<Contribution>) {
        let is_run = matches!(self.script.front(), Some(Step::Finish));
        let mut failures = posts.iter().filter_map(|post| post.as_ref().err());
        if !is_run || failures.clone().next().is_none() {
            return;
        }
        self.script.pop_front();
        let is_raised = |failure: &Failure| failure.kind == FailureKind::Raised;
        let Some(failure) = failures.next().filter(|failure| !is_raised(failure)) else { return };
        let mut here = Here { own: self.team.own, inbox: &mut self.inbox, network };
        self.team.post(&mut here, &mut self.last, Err(failure.clone())).expect("no MPI");
    }

    /// Goes through the script until it has to wait.
    pub(super) fn go_on(&mut self, network: &mut Network) {
        while self.waiting.is_none() && !self.is_asleep {
            match self.script.pop_front() {
                None => return,
                Some(Step::Meet(contribution)) => {
                    self.enter(network, Ok(contribution), Stage::Arrival);
                }
                Some(Step::Finish) => {
                    let done = Contribution::new(Call::new(CallName::RunFinished));
                    self.enter(network, Ok(done), Stage::Copying);
                }
                Some(Step::Misbehave(Misdeed::Sleep(time))) => {
                    self.is_asleep = true;
                    network.plan(network.now + time, self.team.own, Event::Wake);
                }
                Some(Step::Misbehave(misdeed)) => self.misbehave(network, misdeed),
            }
            if network.is_dead[self.team.own as usize] {
                return;
            }
        }
    }

    fn enter(&mut self, network: &mut Network, post: Post<Contribution>, stage: Stage) {
        let mut here = Here { own: self.team.own, inbox: &mut self.inbox, network };
        let round = self.team.post(&mut here, &mut self.last, post).expect("no MPI");
        self.n_waits += 1;
        let (since, wait) = (network.now, self.n_waits);
        let look = Look::new(network.began + network.now, self.limit);
        network.plan(network.now + LOOK_EVERY, self.team.own, Event::Look { wait });
        self.waiting = Some(Waiting { round, stage, look, since });
        self.look(network, false);
    }

    fn misbehave(&mut self, network: &mut Network, misdeed: Misdeed) {
        let mut here = Here { own: self.team.own, inbox: &mut self.inbox, network };
        match misdeed {
            Misdeed::Fail => {
                let failure = Failure::new(self.team.own_rank(), FailureKind::Raised, "no");
                self.team.post(&mut here, &mut self.last, Err(failure)).expect("no MPI");
            }
            Misdeed::Leave => {
                leave(&mut here, "done", self.team.size()).expect("no MPI");
            }
            Misdeed::DieAfter(n_messages) | Misdeed::DieWaiting(n_messages) => {
                network.sends_left.insert(self.team.own, n_messages);
                if n_messages == 0 {
                    network.is_dead[self.team.own as usize] = true;
                }
            }
            Misdeed::Interrupt(after) => self.interrupt_after = Some(after),
            Misdeed::Sleep(_) | Misdeed::Differ => {}
        }
    }
}

/// Runs all ranks until nothing happens any more, or for so long.
pub(super) fn run(network: &mut Network, ranks: &mut [Process], until: Duration) {
    for rank in &mut *ranks {
        rank.go_on(network);
    }
    while let Some((rank, event)) = network.next() {
        if network.now > until {
            return;
        }
        if !network.is_dead[rank as usize] {
            ranks[rank as usize].take(network, event);
        }
    }
}
