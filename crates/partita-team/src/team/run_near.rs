//! Running a plan that all have agreed on: only partners come.
//!
//! As a run among all it has two halves, telling partners that this rank has come and that it has
//! copied; packed halos need only the first. Whatever keeps a rank from going on, it meets all
//! others then, and all find out why.

use std::time::{Duration, Instant};

use crate::error::{Failure, FailureKind, Result, TeamError, out_of_reach};
use crate::memory::buffer::Buffer;
use crate::program::offer::{CallBuffers, Half, ShownOffer, View};
use crate::team::agreed::{AgreedPlan, Way};
use crate::team::meeting::{Arrival, CallPlace, Contribution, Round, Stage};
use crate::team::near::{Coming, NearCall, NearMeeting, NearNote, Stuck};
use crate::team::patience::ANSWER_WITHIN;
use crate::team::run::{Packed, Run, is_late};
use crate::team::team::Team;

impl Team {
    /// Runs an agreed plan among partners.
    ///
    /// # Safety
    /// As [`Team::run`].
    pub(super) unsafe fn run_near(
        &self,
        run: &Run<'_>,
        near: &dyn NearMeeting,
        agreed: &AgreedPlan,
    ) -> Result<()> {
        let place = near.near_place();
        let AgreedPlan { call, key, partners, .. } = agreed;
        let call = NearCall { place, key: *key, call, partners };
        // SAFETY: the caller's promise.
        let outcome = unsafe { self.among_partners(run, near, agreed, &call) };
        match outcome {
            Ok(()) => near.count_near(*key),
            Err(_) => {
                self.meeting.cache().forget_agreed();
                self.meeting.await_abandoned();
                if agreed.way == Way::Packed {
                    self.meeting.cache().abandon_packed_halos();
                }
            }
        }
        outcome
    }

    /// # Safety
    /// As [`Team::run`].
    unsafe fn among_partners(
        &self,
        run: &Run<'_>,
        near: &dyn NearMeeting,
        agreed: &AgreedPlan,
        call: &NearCall<'_>,
    ) -> Result<()> {
        if near.is_called_off(call.place)? {
            // Whoever has just waited is not the one that others wait for.
            let has_waited = self.meeting.cache().has_just_waited();
            let late = if has_waited { vec![run.rank] } else { Vec::new() };
            return Err(self.meet_stuck(run, agreed, &Stuck { waited: Duration::ZERO, late }));
        }
        // SAFETY: the caller's promise.
        let packed = unsafe { self.pack(run, Some(agreed.way)) };
        if agreed.way == Way::Packed && packed.is_none() {
            return self.failed_alone(run, out_of_reach());
        }
        let own = self.near_note(run, agreed, packed.as_ref());
        near.tell_here(call, &own)?;
        let since = Instant::now();
        let came = near.await_here(call, &self.patience, since);
        self.meeting.cache().note_wait(Stage::Arrival, since);
        if matches!(came, Err(TeamError::Interrupted)) {
            self.leave_behind(run.targets);
        }
        let notes = match came? {
            Coming::All(notes) => notes,
            Coming::Stuck(stuck) => return Err(self.meet_stuck(run, agreed, &stuck)),
        };
        let shares = |rank: u64| self.meeting.shares(rank);
        let members = shown(run.rank, agreed, &own, &notes);
        let (ranks, nodes) = (Some(&*agreed.ranks), &[][..]);
        let view = View { rank: run.rank, ranks, members, shares: &shares, nodes };
        if let Some(packed) = packed {
            // SAFETY: the caller's promise; all partners have packed, and each writes its own
            // buffers.
            return match unsafe { packed.halo.fetch(&view, run.targets) } {
                Some(()) => Ok(()),
                None => self.failed_alone(run, out_of_reach()),
            };
        }
        // SAFETY: the caller's promise; partners wait until this rank has copied.
        let copied = unsafe { self.copy(run, &view, CallPlace::Near(call.place)) };
        self.finish_near(run, near, (agreed, call), copied)
    }

    /// What this rank tells its partners.
    fn near_note(&self, run: &Run<'_>, agreed: &AgreedPlan, packed: Option<&Packed>) -> NearNote {
        let item_bytes = run.item_bytes();
        let packed_halo = packed.map(|packed| packed.halo.buffer());
        let (sources, targets) = (run.sources, run.targets);
        let buffers = CallBuffers { sources, targets, packed_halo: packed_halo.as_ref() };
        let is_open = |buffer: &Buffer| self.meeting.is_open(buffer, item_bytes);
        let (offer, slot, is_told) = agreed.offer(
            |last| last.has(buffers) && last.stands(is_open),
            || self.meeting.offer(buffers, item_bytes),
        );
        let half = packed.map_or(Half::First, |packed| packed.half);
        NearNote { call: agreed.key, offer, slot, is_told, tag: self.meeting.tag(), half }
    }

    /// Tells all why this rank cannot go on.
    pub(super) fn failed_alone(&self, run: &Run<'_>, error: TeamError) -> Result<()> {
        self.post(Err(error.failure(self.named(run.rank))))?;
        Err(error)
    }

    /// Nobody leaves before its partners have copied.
    fn finish_near(
        &self,
        run: &Run<'_>,
        near: &dyn NearMeeting,
        (agreed, call): (&AgreedPlan, &NearCall<'_>),
        copied: Result<()>,
    ) -> Result<()> {
        match &copied {
            // Messages did not go through, but what this rank reaches by itself is copied: whoever
            // shares memory with it need not wait. All meet, and find out.
            Ok(()) | Err(TeamError::Remote(_) | TeamError::Deadline { .. }) => {
                near.tell_done(call)?;
            }
            Err(error) => {
                self.post(Err(error.failure(self.named(run.rank))))?;
            }
        }
        // Whoever has waited for messages until the deadline does not wait as long again.
        let patience = match copied.as_ref().is_err_and(is_late) {
            true => self.patience.with_limit(Some(Duration::ZERO)),
            false => self.patience,
        };
        let since = Instant::now();
        let came = near.await_done(call, &patience, since);
        self.meeting.cache().note_wait(Stage::Copying, since);
        let stuck = match (came?, &copied) {
            (Coming::All(()), Ok(())) => return Ok(()),
            (_, Err(TeamError::Deadline { missing, limit, .. })) => {
                Stuck { waited: *limit, late: missing.iter().map(|rank| rank.team).collect() }
            }
            (Coming::Stuck(stuck), Ok(()) | Err(TeamError::Remote(_))) => stuck,
            (Coming::All(()), Err(TeamError::Remote(_))) => Stuck::default(),
            (_, Err(_)) => return copied,
        };
        Err(self.meet_stuck(run, agreed, &stuck))
    }

    /// What a rank counts as waited that has waited until its deadline, and waits for answers only.
    pub(super) fn almost_all_patience(&self) -> Duration {
        self.patience.limit.map_or(Duration::ZERO, |limit| limit.saturating_sub(ANSWER_WITHIN))
    }

    /// Meets all others, since a near call cannot go on; says what they have found out.
    fn meet_stuck(&self, run: &Run<'_>, agreed: &AgreedPlan, stuck: &Stuck) -> TeamError {
        let (arrival, bytes) = (Arrival::Stuck, stuck.late_bytes());
        let contribution = Contribution { arrival, bytes, ..Contribution::new(run.call()) };
        // Those that wait too hear of this meeting and come to it; only the others are late.
        let spent = stuck.waited.min(self.almost_all_patience());
        let (error, posts) = self.find_out(contribution, spent);
        // A partner that has not heard of it may come yet, and write.
        let is_told = |rank: &u64| posts.as_ref().is_some_and(|posts| is_quiet(posts, *rank));
        if agreed.way == Way::Direct && !agreed.partners.iter().all(is_told) {
            self.leave_behind(run.targets);
        }
        error
    }
}

/// Whether a rank itself has said, in a round, that it makes its near call no more.
fn is_quiet(posts: &Round<Contribution>, rank: u64) -> bool {
    let is_its_own = |failure: &Failure| {
        failure.rank.team == rank && matches!(failure.kind, FailureKind::Raised | FailureKind::Left)
    };
    match posts.get(rank as usize) {
        Some(Ok(_)) => true,
        Some(Err(failure)) => is_its_own(failure),
        None => false,
    }
}

/// What this rank and its partners show of themselves.
fn shown<'a>(
    rank: u64,
    agreed: &AgreedPlan,
    own: &'a NearNote,
    notes: &'a [NearNote],
) -> Vec<ShownOffer<'a>> {
    let show = |note: &'a NearNote| ShownOffer {
        offer: Some(&note.offer),
        half: note.half,
        tag: note.tag,
    };
    let mut others = notes.iter();
    let of = |other: &u64| if *other == rank { Some(own) } else { others.next() };
    agreed.ranks.iter().filter_map(of).map(show).collect()
}
