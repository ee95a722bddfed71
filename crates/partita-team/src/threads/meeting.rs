//! One rank's way into the rounds of a team of threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::circle::Circle;
use crate::error::{Engine, Result, TeamError};
use crate::memory::buffer::Buffer;
use crate::program::offer::{CallBuffers, Offer, Offered, Openness};
use crate::team::cache::TeamCache;
use crate::team::callers::Callers;
use crate::team::meeting::{Arrival, Contribution, Meeting, Post, Round, RunContext, Since, Stage};
use crate::team::near::{Coming, NearCall, NearMeeting, NearNote, NearPlace, Stuck};
use crate::team::patience::{ANSWER_WITHIN, Patience};
use crate::threads::circles::CircleSearch;
use crate::threads::near::NearBox;
use crate::threads::rendezvous::{LOOK_EVERY, Rendezvous};
use crate::threads::world::World;

/// One rank's way into a rendezvous.
#[derive(Debug)]
pub(crate) struct ThreadMeeting {
    world: Arc<World>,
    meeting: Arc<Rendezvous<Contribution>>,
    own: u64,
    cache: Arc<TeamCache>,
    /// Whether this rank came to its round to meet, and made near calls before.
    is_after_near: AtomicBool,
}

impl ThreadMeeting {
    pub(crate) fn new(world: &Arc<World>, members: &[u64], own: u64) -> Self {
        let (meeting, cache) = (world.meeting(members), world.cache(own, members));
        Self {
            world: Arc::clone(world),
            meeting,
            own,
            cache,
            is_after_near: AtomicBool::new(false),
        }
    }
}

impl ThreadMeeting {
    /// This rank's place in the team.
    fn rank(&self) -> Result<usize> {
        let rank = self.members().iter().position(|member| *member == self.own);
        let n_ranks = self.members().len() as u64;
        rank.ok_or(TeamError::NotAMember { rank: self.own, n_ranks })
    }

    /// Waits until `is_over`, looking around every now and then; how long it was.
    fn await_notes(
        &self,
        inbox: &NearBox,
        patience: &Patience,
        mut is_over: impl FnMut(bool) -> bool,
        mut look: impl FnMut(),
    ) -> Duration {
        let began = Instant::now();
        let mut n_seen = inbox.n_notes();
        if is_over(false) {
            return Duration::ZERO;
        }
        let mut may_poll = true;
        let mut looked = began;
        loop {
            if inbox.n_notes() != n_seen {
                n_seen = inbox.n_notes();
                if is_over(false) {
                    return began.elapsed();
                }
            }
            // Whoever has polled in vain sleeps from then on.
            if may_poll && patience.poll(|| inbox.n_notes() != n_seen) {
                continue;
            }
            may_poll = false;
            inbox.sleep(n_seen, LOOK_EVERY);
            if looked.elapsed() >= LOOK_EVERY {
                looked = Instant::now();
                if is_over(true) {
                    return began.elapsed();
                }
                look();
            }
        }
    }

    /// Looks for circles while this rank waits in a near call.
    fn near_search(&self, call: &NearCall<'_>, stage: Stage) -> CircleSearch<'_> {
        CircleSearch::near((&self.world, self.own, &self.cache), &self.meeting, call, stage)
    }

    fn has_left(&self, rank: u64) -> bool {
        self.world.left(self.members()[rank as usize]).is_some()
    }
}

impl NearMeeting for ThreadMeeting {
    fn near_place(&self) -> NearPlace {
        self.rank().map_or(NearPlace { round: 0, number: 0 }, |rank| self.meeting.near(rank).1)
    }

    fn is_called_off(&self, place: NearPlace) -> Result<bool> {
        let has_failed = |member: &u64| self.world.has_failed(*member);
        Ok(self.meeting.is_stuck(place, &[])
            || (self.world.has_departures() && self.members().iter().any(has_failed)))
    }

    fn tell_here(&self, call: &NearCall<'_>, note: &NearNote) -> Result<()> {
        let rank = self.rank()? as u64;
        let permit = self.meeting.near_box(rank).begin();
        for partner in call.partners {
            self.meeting.near_box(*partner).put_here(call.place, rank, note, &permit);
        }
        Ok(())
    }

    fn await_here(
        &self,
        call: &NearCall<'_>,
        patience: &Patience,
        began: Instant,
    ) -> Result<Coming<Vec<NearNote>>> {
        let rank = self.rank()? as u64;
        let inbox = self.meeting.near_box(rank);
        let deadline = patience.limit.map(|limit| began + limit);
        let mut found = None;
        let mut late = Vec::new();
        let mut lookout = self.near_search(call, Stage::Arrival);
        let is_over = |is_due: bool| {
            let notes = inbox.here(call.place, call.partners);
            if notes.iter().flatten().any(|note| note.call != call.key) {
                return true;
            }
            let missing: Vec<u64> = call
                .partners
                .iter()
                .zip(&notes)
                .filter(|(_, note)| note.is_none())
                .map(|(rank, _)| *rank)
                .collect();
            if missing.is_empty() && inbox.take_permits(call.place, call.partners) {
                found = notes.into_iter().collect::<Option<Vec<NearNote>>>();
                return true;
            }
            let is_late = is_due && deadline.is_some_and(|deadline| Instant::now() >= deadline);
            late.clone_from(&missing);
            let has_left = |rank: &u64| is_due && self.has_left(*rank);
            is_late
                || missing.is_empty()
                || missing.iter().any(has_left)
                || self.meeting.is_stuck(call.place, &missing)
        };
        let waited = self.await_notes(inbox, patience, is_over, || lookout.look());
        drop(lookout);
        match found {
            Some(notes) => {
                self.cache.note_long_wait(waited);
                Ok(Coming::All(notes))
            }
            None => {
                inbox.withdraw_own();
                late.retain(|_| waited >= ANSWER_WITHIN);
                Ok(Coming::Stuck(Stuck { waited, late }))
            }
        }
    }

    fn tell_done(&self, call: &NearCall<'_>) -> Result<()> {
        let rank = self.rank()? as u64;
        self.meeting.near_box(rank).release_permits();
        for partner in call.partners {
            self.meeting.near_box(*partner).put_done(call.place, rank);
        }
        Ok(())
    }

    fn await_done(
        &self,
        call: &NearCall<'_>,
        patience: &Patience,
        _began: Instant,
    ) -> Result<Coming<()>> {
        let inbox = self.meeting.near_box(self.rank()? as u64);
        // Where this rank has failed it has told nobody that it is done.
        inbox.release_permits();
        let is_done = |rank: &u64| inbox.is_done(call.place, *rank);
        let is_over = |_: bool| {
            call.partners.iter().all(|rank| {
                is_done(rank)
                    || self.meeting.has_come_after(call.place, *rank)
                    || self.has_left(*rank)
            })
        };
        let mut lookout = self.near_search(call, Stage::Copying);
        let waited = self.await_notes(inbox, patience, is_over, || lookout.look());
        drop(lookout);
        if call.partners.iter().all(is_done) {
            self.cache.note_long_wait(waited);
            return Ok(Coming::All(()));
        }
        inbox.withdraw_own();
        Ok(Coming::Stuck(Stuck { waited, late: Vec::new() }))
    }

    fn count_near(&self, key: u64) {
        let Ok(rank) = self.rank() else { return };
        let place = self.meeting.near(rank).1;
        self.meeting.near_box(rank as u64).forget_until(place);
        self.meeting.count_near(rank, key);
    }
}

impl Meeting for ThreadMeeting {
    fn members(&self) -> &[u64] {
        self.meeting.members()
    }

    fn own(&self) -> u64 {
        self.own
    }

    fn check(&self) -> Result<()> {
        if self.world.is_forked() {
            Err(TeamError::Forked { engine: Engine::Threads })
        } else {
            Ok(())
        }
    }

    fn cache(&self) -> &TeamCache {
        &self.cache
    }

    fn post(&self, mut post: Post<Contribution>, patience: &Patience) -> Result<u64> {
        let rank = self.rank()?;
        if let Ok(contribution) = &mut post {
            contribution.near = self.meeting.near(rank).0;
            let is_meant = contribution.arrival == Arrival::Meant;
            let is_after_near = is_meant && contribution.near.n_calls > 0;
            self.is_after_near.store(is_after_near, Ordering::Relaxed);
        }
        Ok(self.meeting.post(rank, post, &self.world, patience))
    }

    fn wait(
        &self,
        round: u64,
        patience: &Patience,
        stage: Stage,
        since: Since,
    ) -> Result<Round<Contribution>> {
        // Those that wait in near calls come here once their own deadlines have passed.
        let is_after_near = self.is_after_near.load(Ordering::Relaxed);
        let more = if is_after_near { ANSWER_WITHIN } else { Duration::ZERO };
        let left = patience.limit.map(|limit| limit.saturating_sub(since.spent) + more);
        let patience = &patience.with_limit(left);
        let mut lookout =
            CircleSearch::new(&self.world, (self.own, &self.cache), &self.meeting, round);
        let look = || match stage {
            Stage::Arrival => lookout.look(),
            Stage::Copying => (),
        };
        Ok(self.meeting.wait_and_look(round, &self.world, patience, stage, look))
    }

    fn near(&self) -> Option<&dyn NearMeeting> {
        Some(self)
    }

    fn other(&self, members: &[u64]) -> Arc<dyn Meeting> {
        Arc::new(Self::new(&self.world, members, self.own))
    }

    fn world_id(&self) -> usize {
        Arc::as_ptr(&self.world) as usize
    }

    fn callers(&self) -> &Arc<Callers> {
        self.world.callers(self.own)
    }

    fn circle(&self, round: u64) -> Option<Arc<Circle>> {
        self.world.circle(self.own, self.meeting.members(), round)
    }

    fn engine(&self) -> Engine {
        Engine::Threads
    }

    fn offer(&self, buffers: CallBuffers<'_>, _item_bytes: usize) -> Offer {
        let open = |buffers: &[Buffer]| {
            buffers.iter().map(|buffer| Offered::new(buffer, Openness::Open)).collect()
        };
        Offer { sources: open(buffers.sources), targets: open(buffers.targets), packed_halo: None }
    }

    fn shares(&self, _rank: u64) -> bool {
        true
    }

    unsafe fn transfer(&self, _errand: &RunContext<'_>, _patience: &Patience) -> Result<()> {
        Err(TeamError::Engine { message: "threads reach all memory".to_string() })
    }

    /// Nothing to do: a rank that copies is never given up.
    fn withdraw(&self, _buffers: &[Buffer]) {}
}
