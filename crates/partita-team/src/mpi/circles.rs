//! Circles of waits among processes: found by probes that go from ranks to those that wait for them.
//!
//! `README.md` beside this file has the messages and why what they find is true. Only ranks that
//! have waited for a while send any of them, and only to ranks they wait for or that wait for them.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, MutexGuard};

use partita_mpi::MpiError;

use crate::error::Rank;
use crate::error::circle::{Circle, Wait};
use crate::mpi::meeting::key_of;
use crate::mpi::wire::{ControlMessage, Hop, PostPlace};
use crate::mpi::world::{State, World};
use crate::team::near::{NearCall, NearPlace};

/// Who waits for whom, as far as this rank knows.
#[derive(Debug, Default)]
pub(crate) struct KnownWaits {
    /// Waits that this rank has told others of.
    n_waits: u64,
    own: Option<Own>,
    /// The last wait that others have told this rank of, by rank of the world.
    waiters: HashMap<u64, Waiter>,
}

/// This rank's own wait.
#[derive(Debug)]
struct Own {
    number: u64,
    wait: Wait,
    /// If it waits in a near call: its number, and the partners as ranks of the team.
    near: Option<(u64, Vec<u64>)>,
    /// Probes to be sent to whoever waits for this rank; the first is its own.
    probes: Vec<Vec<Hop>>,
}

/// A rank that waits for this one.
#[derive(Debug, Clone, Copy)]
struct Waiter {
    team: u64,
    round: u64,
    near: Option<u64>,
    number: u64,
}

/// This rank's own wait is known to others for as long as this is kept.
#[derive(Debug)]
pub(crate) struct EnteredWait<'a>(&'a World);

impl Drop for EnteredWait<'_> {
    fn drop(&mut self) {
        self.0.state().waits.own = None;
    }
}

impl World {
    /// Tells the ranks that this one waits for. None if it can do something else meanwhile.
    pub(crate) fn enter_wait(
        &self,
        members: &Arc<[u64]>,
        round: u64,
    ) -> Result<Option<EnteredWait<'_>>, MpiError> {
        let mut state = self.state();
        let Some(wait) = self.own_wait(&mut state, members, round) else { return Ok(None) };
        self.enter(state, wait, None)
    }

    /// The same where it waits for partners in a near call.
    pub(crate) fn enter_near_wait(
        &self,
        members: &Arc<[u64]>,
        call: &NearCall<'_>,
    ) -> Result<Option<EnteredWait<'_>>, MpiError> {
        let NearPlace { round, number } = call.place;
        let words = call.call.words();
        let wait = Wait { rank: self.rank(), members: Arc::clone(members), round, call: words };
        self.enter(self.state(), wait, Some((number, call.partners.to_vec())))
    }

    fn enter(
        &self,
        mut state: MutexGuard<'_, State>,
        wait: Wait,
        near: Option<(u64, Vec<u64>)>,
    ) -> Result<Option<EnteredWait<'_>>, MpiError> {
        let missing = missing(&mut state, &wait, near.as_ref());
        if missing.is_empty() || state.waits.own.is_some() || !self.callers().are_one() {
            return Ok(None);
        }
        state.waits.n_waits += 1;
        let number = state.waits.n_waits;
        let probe = vec![Hop { rank: self.rank(), number }];
        let (team, round) = (key_of(&wait.members), wait.round);
        let near_number = near.as_ref().map(|(number, _)| *number);
        state.waits.own = Some(Own { number, wait, near, probes: Vec::new() });
        let message = ControlMessage::Waiting { team, round, near: near_number, number };
        self.send(&mut state, &message, missing.into_iter())?;
        self.spread(&mut state, probe)?;
        Ok(Some(EnteredWait(self)))
    }

    fn own_wait(&self, state: &mut State, members: &Arc<[u64]>, round: u64) -> Option<Wait> {
        let rank = self.rank();
        let at = place_of(members, rank)?;
        let post = state.inbox.slot(key_of(members), round).posts.get(at)?;
        let call = post.post.as_ref().as_ref().ok()?.call.words();
        Some(Wait { rank, members: Arc::clone(members), round, call })
    }

    /// Answers the messages of waits and circles that have come.
    pub(crate) fn answer(&self, state: &mut State) -> Result<(), MpiError> {
        if state.inbox.news_of_waits.is_empty() {
            return Ok(());
        }
        for (from, message) in std::mem::take(&mut state.inbox.news_of_waits) {
            match message {
                ControlMessage::Waiting { team, round, near, number } => {
                    state.waits.waiters.insert(from, Waiter { team, round, near, number });
                    for probe in state.waits.probes() {
                        self.send_probe(state, &probe, from)?;
                    }
                }
                ControlMessage::Probe { number, hops } => {
                    self.take_probe(state, from, number, hops)?;
                }
                ControlMessage::Confirm { hops, waits } => self.confirm(state, hops, waits)?,
                ControlMessage::Circle { waits } => self.take_circle(state, waits),
                _ => {}
            }
        }
        Ok(())
    }

    /// Whether this rank still is in a wait of that number, which a rank has not come to.
    fn waits_for(&self, state: &mut State, number: u64, rank: u64) -> bool {
        let Some(own) = state.waits.own.as_ref().filter(|own| own.number == number) else {
            return false;
        };
        let (wait, near) = (own.wait.clone(), own.near.clone());
        self.callers().are_one() && missing(state, &wait, near.as_ref()).contains(&rank)
    }

    /// Whether this rank, which waits elsewhere, has not come to a round and nothing of it will.
    fn is_missing_in(&self, state: &State, waiter: Waiter) -> bool {
        let Waiter { team, round, near, .. } = waiter;
        // A call that was started may be about to post.
        state.inbox.is_before(team, round, near) && !self.cache(team).claim.is_busy()
    }

    /// Keeps a probe and sends it to all that wait for this rank.
    fn spread(&self, state: &mut State, probe: Vec<Hop>) -> Result<(), MpiError> {
        let waiters: Vec<u64> = state.waits.waiters.keys().copied().collect();
        for waiter in waiters {
            self.send_probe(state, &probe, waiter)?;
        }
        if let Some(own) = &mut state.waits.own {
            own.probes.push(probe);
        }
        Ok(())
    }

    /// Sends a probe to a rank that waits for this one. The lowest rank of a circle finds it: probes
    /// go to no rank below the one where they began.
    fn send_probe(&self, state: &mut State, probe: &[Hop], to: u64) -> Result<(), MpiError> {
        let Some(&waiter) = state.waits.waiters.get(&to) else { return Ok(()) };
        let is_below = probe.first().is_none_or(|first| to < first.rank);
        if is_below || !self.callers().are_one() || !self.is_missing_in(state, waiter) {
            return Ok(());
        }
        self.send(
            state,
            &ControlMessage::Probe { number: waiter.number, hops: probe.to_vec() },
            std::iter::once(to),
        )
    }

    /// Takes in a probe from a rank that this one waits for, if it still does.
    fn take_probe(
        &self,
        state: &mut State,
        from: u64,
        number: u64,
        mut hops: Vec<Hop>,
    ) -> Result<(), MpiError> {
        if !self.waits_for(state, number, from) {
            return Ok(());
        }
        let Some(first) = hops.first().copied() else { return Ok(()) };
        if first == (Hop { rank: self.rank(), number }) {
            return self.confirm(state, hops, Vec::new());
        }
        if state.waits.probes().iter().any(|probe| probe[0] == first) {
            return Ok(());
        }
        hops.push(Hop { rank: self.rank(), number });
        self.spread(state, hops)
    }

    /// Adds this rank's wait to those of a circle, if it still is in it; tells all when it is whole.
    ///
    /// The way goes from each rank to the one it waits for: from the first hop to the last, back
    /// through the hops, and to the first again.
    fn confirm(&self, state: &mut State, hops: Vec<Hop>, waits: Vec<Wait>) -> Result<(), MpiError> {
        let n_hops = hops.len();
        if n_hops < waits.len().max(1) {
            return Ok(());
        }
        let at = (n_hops - waits.len()) % n_hops;
        let next = hops[(at + n_hops - 1) % n_hops].rank;
        if hops[at].rank != self.rank() || !self.waits_for(state, hops[at].number, next) {
            return Ok(());
        }
        if waits.len() == n_hops {
            return self.tell_circle(state, waits);
        }
        let own = state.waits.own.iter().map(|own| own.wait.clone());
        let waits = waits.into_iter().chain(own).collect();
        self.send(state, &ControlMessage::Confirm { hops, waits }, std::iter::once(next))
    }

    /// Tells all members of all teams of a circle.
    fn tell_circle(&self, state: &mut State, waits: Vec<Wait>) -> Result<(), MpiError> {
        let members: BTreeSet<u64> =
            waits.iter().flat_map(|wait| wait.members.iter().copied()).collect();
        self.send(state, &ControlMessage::Circle { waits: waits.clone() }, members.into_iter())?;
        self.take_circle(state, waits);
        Ok(())
    }

    /// Ends the rounds of a circle: those that wait in it fail there.
    fn take_circle(&self, state: &mut State, waits: Vec<Wait>) {
        let circle = Arc::new(Circle::new(waits));
        state.inbox.circles.keep(&circle);
        let own = self.rank();
        for Wait { rank, members, round, .. } in &circle.waits {
            if let Some(rank) = place_of(members, *rank).filter(|_| members.contains(&own)) {
                // It waits in that round, or in a near call before it, which it gives up.
                let place = PostPlace { team: key_of(members), round: *round, rank, n_near: 0 };
                state.inbox.put(place, Err(circle.failure(Rank::of(members, rank))));
            }
        }
    }

    /// The circle that ended a round. This rank knows of it then, and passes all its rounds.
    pub(crate) fn circle(&self, members: &Arc<[u64]>, round: u64) -> Option<Arc<Circle>> {
        let mut state = self.state();
        let circle = Arc::clone(state.inbox.circles.of(members, round)?);
        let own = self.rank();
        for (members, round) in circle.rounds().filter(|(members, _)| members.contains(&own)) {
            state.inbox.pass(key_of(members), round);
            self.cache(key_of(members)).forget_agreed();
        }
        Some(circle)
    }
}

impl KnownWaits {
    fn probes(&self) -> Vec<Vec<Hop>> {
        self.own.as_ref().map(|own| own.probes.clone()).unwrap_or_default()
    }
}

/// Members that have not come to a round, or partners to a near call, as ranks of the world; none
/// if somebody has failed, since it will soon be over.
fn missing(state: &mut State, wait: &Wait, near: Option<&(u64, Vec<u64>)>) -> Vec<u64> {
    let (members, round) = (&wait.members, wait.round);
    let team = key_of(members);
    if let Some((number, partners)) = near {
        let place = NearPlace { round, number: *number };
        if state.inbox.is_stuck(team, place) {
            return Vec::new();
        }
        let has_come = |rank: &&u64| state.inbox.near.here(team, place, **rank).is_some();
        let missing = partners.iter().filter(|rank| !has_come(rank));
        return missing.filter_map(|rank| members.get(*rank as usize).copied()).collect();
    }
    let slot = state.inbox.slot(team, round);
    if slot.has_failed {
        return Vec::new();
    }
    let has_posted = |rank: u64| slot.posts.has(rank);
    (0..)
        .zip(&**members)
        .filter(|(rank, _)| !has_posted(*rank))
        .map(|(_, member)| *member)
        .collect()
}

/// Where a rank of the world is in a team.
fn place_of(members: &[u64], rank: u64) -> Option<u64> {
    (0..).zip(members).find(|(_, member)| **member == rank).map(|(at, _)| at)
}
