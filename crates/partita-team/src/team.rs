//! Teams: ordered members that act together, the same on every engine.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use partita_plan::{Combine, Plan};

use crate::buffer::Buffer;
use crate::call::{Call, check_buffers, check_same};
use crate::error::{Failure, FailureKind, Rank, Result, TeamError, out_of_reach};
use crate::meeting::{Claim, Meeting, Parcel, Post, Round, Stage, first_failure, parcels};
use crate::members;
use crate::porch;
use crate::program::{Cached, Errand, Program, Style, moving_parts};
use crate::reach::{SECOND_HALF, View};
use crate::wait::Patience;

/// An ordered list of ranks, as one of them sees it.
#[derive(Debug, Clone)]
pub struct Team {
    meeting: Arc<dyn Meeting>,
    rank: Option<u64>,
    patience: Patience,
}

/// Programs that a team keeps.
const MOST_PROGRAMS: usize = 32;

impl Team {
    pub(crate) fn new(meeting: Arc<dyn Meeting>, patience: Patience) -> Self {
        let rank = (0..).zip(meeting.members()).find(|(_, member)| **member == meeting.own());
        let rank = rank.map(|(rank, _)| rank);
        Self { meeting, rank, patience }
    }

    /// This rank's number in the team; none if it is no member.
    #[must_use]
    pub fn rank(&self) -> Option<u64> {
        self.rank
    }

    /// Number of members.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.members().len() as u64
    }

    /// The members as ranks of the world, in order.
    #[must_use]
    pub fn members(&self) -> &[u64] {
        self.meeting.members()
    }

    /// The name of the engine.
    #[must_use]
    pub fn engine(&self) -> &'static str {
        self.meeting.engine()
    }

    /// Whether this rank and a member can touch each other's memory.
    #[must_use]
    pub fn shares_memory_with(&self, rank: u64) -> bool {
        Some(rank) == self.rank || self.meeting.shares(rank)
    }

    /// Whether the other team's ranks are numbered as this one's: they come from one world.
    #[must_use]
    pub fn is_of_the_world_of(&self, other: &Self) -> bool {
        self.meeting.world() == other.meeting.world()
    }

    /// Sets how long to wait for others; none waits for ever.
    #[must_use]
    pub fn with_deadline(mut self, limit: Option<Duration>) -> Self {
        self.patience = self.patience.with_limit(limit);
        self
    }

    /// The team of some members, given by their rank in this team, in the given order.
    ///
    /// # Errors
    /// Ranks named twice or outside the team; a forked child. Nothing is exchanged, so nothing can
    /// hang.
    pub fn subteam(&self, ranks: &[u64]) -> Result<Self> {
        self.of(&members::chosen(self.members(), ranks)?)
    }

    /// The members of this team, then those of the other that are not among them.
    ///
    /// # Errors
    /// In a forked child.
    pub fn union(&self, other: &Self) -> Result<Self> {
        self.of(&members::joined(self.members(), other.members()))
    }

    fn of(&self, members: &[u64]) -> Result<Self> {
        self.meeting.check()?;
        Ok(Self::new(self.meeting.other(members), self.patience))
    }

    /// Refuses where this process is not the rank (any more).
    ///
    /// # Errors
    /// After a fork; when the communicator that the team was made of has been freed.
    pub fn check(&self) -> Result<()> {
        self.meeting.check()
    }

    /// Takes the team for one call of this rank, to be made later.
    ///
    /// # Errors
    /// Another call of this rank is under way; a forked child.
    pub fn claim(&self) -> Result<Claim> {
        Claim::new(&self.meeting)
    }

    /// Waits until every member has come.
    ///
    /// # Errors
    /// What stops any member.
    pub fn barrier(&self) -> Result<()> {
        let _claim = self.claim()?;
        self.meet(Parcel::new(Call::new("barrier"))).map(|_| ())
    }

    /// Everyone's bytes, in the order of the members.
    ///
    /// # Errors
    /// What stops any member, other calls on other ranks.
    pub fn allgather(&self, name: &'static str, bytes: Vec<u8>) -> Result<Vec<Arc<[u8]>>> {
        self.allgather_with(name, String::new(), bytes)
    }

    /// The same, with an argument that must be equal on all ranks.
    ///
    /// # Errors
    /// As [`Team::allgather`].
    pub fn allgather_with(
        &self,
        name: impl Into<Cow<'static, str>>,
        argument: String,
        bytes: Vec<u8>,
    ) -> Result<Vec<Arc<[u8]>>> {
        let _claim = self.claim()?;
        let call = Call { name: name.into(), argument: argument.into() };
        let (_, posts) = self.meet(Parcel { bytes: bytes.into(), ..Parcel::new(call) })?;
        Ok(parcels(&posts).map(|parcel| Arc::clone(&parcel.bytes)).collect())
    }

    /// Tells the others that this rank cannot take part in the call they are in or come to next.
    ///
    /// # Errors
    /// A rank that is no member; what the engine reports.
    pub fn report(&self, message: &str) -> Result<()> {
        let rank = self.named(self.member()?);
        self.post(Err(Failure::new(rank, FailureKind::Raised, message))).map(|_| ())
    }

    /// Runs a plan: sources of this rank's layout become targets of this rank's layout.
    ///
    /// Ranks of the plan are ranks of this team.
    ///
    /// # Errors
    /// Buffers that do not fit, other plans on other ranks, what stops any member. The targets are
    /// then untouched, unless a rank failed while copying.
    ///
    /// # Safety
    /// The buffers must tell the truth about their memory, and nobody may touch it meanwhile.
    pub unsafe fn run(&self, plan: &Plan, sources: &[Buffer], targets: &[Buffer]) -> Result<()> {
        let claim = self.claim()?;
        // SAFETY: the caller's promise.
        unsafe { self.run_claimed(claim, plan, sources, targets) }
    }

    /// The same with a claim that was taken before.
    ///
    /// # Errors
    /// As [`Team::run`]; a claim of another team.
    ///
    /// # Safety
    /// As [`Team::run`].
    #[allow(clippy::needless_pass_by_value, reason = "the claim ends with the call")]
    pub unsafe fn run_claimed(
        &self,
        claim: Claim,
        plan: &Plan,
        sources: &[Buffer],
        targets: &[Buffer],
    ) -> Result<()> {
        if !claim.is_of(&self.meeting) {
            return Err(TeamError::Busy);
        }
        // SAFETY: the caller's promise.
        unsafe { self.run_with(Style::Apart, plan, (sources, targets)) }
    }

    /// Runs a plan from a layout to itself on one set of buffers: fills what is held, not owned.
    ///
    /// Its adjoint adds what is held to the owners' elements, and leaves what is held as it is;
    /// refused where a periodic dimension wraps around onto the same rank.
    ///
    /// # Errors
    /// As [`Team::run`]; a plan between two different layouts.
    ///
    /// # Safety
    /// As [`Team::run`].
    pub unsafe fn run_in_place(&self, plan: &Plan, buffers: &[Buffer]) -> Result<()> {
        if plan.source() != plan.target() {
            let error = TeamError::NotInPlace;
            self.report(&error.to_string())?;
            return Err(error);
        }
        let _claim = self.claim()?;
        // SAFETY: the caller's promise; moves of a layout to itself read what is owned and write
        // what is not, or the reverse, and what stays in place is left out.
        unsafe { self.run_with(Style::InPlace, plan, (buffers, buffers)) }
    }

    /// # Safety
    /// As [`Team::run`].
    unsafe fn run_with(
        &self,
        style: Style,
        plan: &Plan,
        (sources, targets): (&[Buffer], &[Buffer]),
    ) -> Result<()> {
        let rank = self.member()?;
        let desk = self.meeting.desk();
        let item_bytes = plan.dtype().n_bytes() as usize;
        let checked = check_buffers(plan, (rank, self.size()), sources, targets);
        if let Err(error) =
            checked.and_then(|()| check_own(style, self.named(rank), item_bytes, sources, targets))
        {
            self.post(Err(error.failure(self.named(rank))))?;
            return Err(error);
        }
        let call = Call { argument: plan.fingerprint(), ..Call::new(style.name()) };
        let round = match (style, plan.combine()) {
            (Style::InPlace, Combine::Copy) => self.meeting.packing_round(),
            _ => None,
        };
        let is_open = |buffer: &Buffer| self.meeting.is_open(buffer, item_bytes);
        let packed = round.and_then(|round| {
            let porch = desk.porch(plan, rank, sources, || sources.iter().all(is_open))?;
            Some((round, porch))
        });
        if let Some((round, porch)) = &packed {
            // SAFETY: the caller's promise; the porch was made for these strides.
            unsafe { porch.pack(*round, sources) };
        }
        let porch = packed.as_ref().map(|(_, porch)| porch.buffer());
        let buffers = (sources, targets, porch.as_ref());
        let offer =
            desk.offer(|last| last.has(buffers), || self.meeting.offer(buffers, item_bytes));
        let is_second = packed.as_ref().is_some_and(|(round, _)| porch::half(*round) == 1);
        let tag = self.meeting.tag() | if is_second { SECOND_HALF } else { 0 };
        let parcel = Parcel { offer: Some(offer), tag, ..Parcel::new(call) };
        let met = self.meet(parcel);
        if matches!(met, Err(TeamError::Deadline { .. } | TeamError::Interrupted)) {
            // Somebody may have seen all come, and write.
            self.leave_behind(targets);
        }
        if met.is_err() && packed.is_some() {
            desk.leave_porches();
        }
        if let Err(error) = &met
            && packed.is_none()
            && is_late(error)
        {
            // Some may have seen all come and go on to the second meeting: come to it too, so that
            // all ranks count the same rounds.
            self.post(Err(error.failure(self.named(rank))))?;
        }
        let (round, posts) = met?;
        let view = View { posts: &posts, meeting: &*self.meeting, rank };
        if let Some((_, porch)) = packed.filter(|_| view.is_all_packed()) {
            // SAFETY: the caller's promise; all have packed, and each writes its own buffers.
            return unsafe { porch.fetch(&view, targets) }.ok_or_else(out_of_reach);
        }
        // SAFETY: the caller's promise; every member waits in `finish` until all have copied.
        let copied = unsafe { self.copy(style, plan, &view, (round, sources, targets)) };
        self.finish(rank, copied, targets)
    }

    /// This rank's share of the copying.
    ///
    /// # Safety
    /// As [`Team::run`]; the view must be that of the running call.
    unsafe fn copy(
        &self,
        style: Style,
        plan: &Plan,
        view: &View<'_>,
        (round, sources, targets): (u64, &[Buffer], &[Buffer]),
    ) -> Result<()> {
        let run = AssertUnwindSafe(|| {
            let cached = self.program(style, plan, view)?;
            let program = &cached.program;
            // SAFETY: the rank's own targets; the caller vouches for them.
            unsafe { program.clear(targets) };
            if !program.has_letters() {
                // SAFETY: shapes and overlaps are checked, the caller vouches for the memory.
                return unsafe { program.run(view, 0..u64::MAX) }.ok_or_else(out_of_reach);
            }
            let errand = Errand { program, plan, view, round, sources, targets };
            // SAFETY: as above.
            unsafe { self.meeting.carry(&errand, &self.patience) }
        });
        let panicked = || TeamError::Engine { message: "it panicked while copying".to_string() };
        catch_unwind(run).unwrap_or_else(|_| Err(panicked()))
    }

    /// The prepared moves, kept for the next time.
    fn program(&self, style: Style, plan: &Plan, view: &View<'_>) -> Result<Arc<Cached>> {
        let mut programs =
            self.meeting.desk().programs.lock().unwrap_or_else(PoisonError::into_inner);
        let found = programs.iter().find(|cached| cached.fits(style, plan, view)).map(Arc::clone);
        if let Some(cached) = &found
            && cached.has_offers(view)
        {
            return Ok(Arc::clone(cached));
        }
        check_apart(style, view, plan.dtype().n_bytes() as usize)?;
        if let Some(cached) = found {
            return Ok(cached);
        }
        if style == Style::InPlace && plan.combine() == Combine::Sum && wraps(plan, view.rank) {
            return Err(TeamError::NotInPlace);
        }
        let program = Program::new(style, plan, view).ok_or_else(out_of_reach)?;
        let offers = view.offers().map(|offer| offer.map(Arc::clone)).collect();
        let cached = Arc::new(Cached { style, plan: plan.clone(), offers, program });
        if programs.len() == MOST_PROGRAMS {
            programs.remove(0);
        }
        programs.push(Arc::clone(&cached));
        Ok(cached)
    }

    /// The second meeting: nobody leaves before all have copied.
    fn finish(&self, rank: u64, copied: Result<()>, targets: &[Buffer]) -> Result<()> {
        let post = match &copied {
            Ok(()) => Ok(Parcel::new(Call::new("run finished"))),
            Err(error) => Err(error.failure(self.named(rank))),
        };
        let round = self.post(post)?;
        let posts = self.meeting.wait(round, &self.patience, Stage::Copying)?;
        let Some(failure) = first_failure(&posts) else {
            return check_same(self.members(), parcels(&posts).map(|parcel| &parcel.call));
        };
        if failure.kind == FailureKind::Late {
            self.leave_behind(targets);
        }
        match copied {
            // What another rank said of a third one.
            Ok(()) | Err(TeamError::Remote { .. }) => Err(self.judge(rank, &posts, "moving data")),
            Err(error) => Err(error),
        }
    }

    /// Lets ranks that were given up write where nobody looks any more.
    fn leave_behind(&self, targets: &[Buffer]) {
        self.meeting.withdraw(targets);
    }

    fn member(&self) -> Result<u64> {
        self.rank
            .ok_or_else(|| TeamError::NotAMember { rank: self.meeting.own(), n_ranks: self.size() })
    }

    /// A rank of this team with its number in the world.
    fn named(&self, rank: u64) -> Rank {
        Rank::of(self.members(), rank)
    }

    fn post(&self, post: Post<Parcel>) -> Result<u64> {
        self.meeting.check()?;
        self.meeting.post(post, &self.patience)
    }

    /// Posts, waits, and compares the calls; every rank comes to the same verdict.
    fn meet(&self, parcel: Parcel) -> Result<(u64, Round<Parcel>)> {
        let rank = self.member()?;
        let call = parcel.call.clone();
        let round = self.post(Ok(parcel))?;
        let posts = self.meeting.wait(round, &self.patience, Stage::Arrival)?;
        if first_failure(&posts).is_some() {
            return Err(self.judge(rank, &posts, &call.words()));
        }
        check_same(self.members(), parcels(&posts).map(|parcel| &parcel.call))?;
        Ok((round, posts))
    }

    /// What a failed round means for this rank.
    fn judge(&self, rank: u64, posts: &Round<Parcel>, call: &str) -> TeamError {
        let failures: Vec<&Failure> = posts.iter().filter_map(|post| post.as_ref().err()).collect();
        let own = failures.iter().find(|f| f.kind == FailureKind::Late && f.rank.team == rank);
        let raised = failures.iter().find(|f| f.kind != FailureKind::Late);
        if let Some(failure) = own.or(raised) {
            return TeamError::Remote { failure: (*failure).clone() };
        }
        let mut missing: Vec<Rank> = failures.iter().map(|failure| failure.rank).collect();
        missing.sort_unstable();
        missing.dedup();
        let limit = self.patience.limit.unwrap_or_default();
        TeamError::Deadline { missing, call: call.to_string(), limit }
    }
}

impl PartialEq for Team {
    fn eq(&self, other: &Self) -> bool {
        self.meeting.world() == other.meeting.world() && self.members() == other.members()
    }
}

impl Eq for Team {}

/// Whether a rank gives to itself, at another position: in place it could not tell what it had.
fn wraps(plan: &Plan, rank: u64) -> bool {
    let own = plan.receives(rank).into_iter().filter(|m| !m.crosses());
    own.into_iter().any(|m| !moving_parts(&m).is_empty())
}

/// Whether ranks may disagree about a round: one was given up, and may have come all the same.
fn is_late(error: &TeamError) -> bool {
    match error {
        TeamError::Deadline { .. } => true,
        TeamError::Remote { failure } => failure.kind == FailureKind::Late,
        _ => false,
    }
}

/// Checks a rank's own buffers before anybody hears of them.
fn check_own(
    style: Style,
    rank: Rank,
    item_bytes: usize,
    sources: &[Buffer],
    targets: &[Buffer],
) -> Result<()> {
    let shares = |target: &Buffer| sources.iter().any(|s| target.overlaps(s, item_bytes));
    if style == Style::Apart && targets.iter().any(shares) {
        return Err(TeamError::BufferOverlap { rank, other: rank });
    }
    let meets_later = |(at, target): (usize, &Buffer)| {
        targets[..at].iter().any(|t| t.overlaps(target, item_bytes))
    };
    if targets.iter().enumerate().any(meets_later) {
        return Err(TeamError::TargetsOverlap { rank, other: rank });
    }
    Ok(())
}

/// Checks that no target shares memory with a source of another rank; all check all, and agree.
///
/// Only where ranks see the same memory at the same address, in one process, can they tell.
fn check_apart(style: Style, view: &View<'_>, item_bytes: usize) -> Result<()> {
    if view.meeting.engine() != "threads" {
        return Ok(());
    }
    let named = |rank: u64| Rank::of(view.meeting.members(), rank);
    for (rank, taker) in (0..).zip(view.offers().flatten()) {
        for (other, giver) in (0..).zip(view.offers().flatten()) {
            let shared = style == Style::Apart
                && taker.targets.iter().any(|target| {
                    giver.sources.iter().any(|s| target.buffer.overlaps(&s.buffer, item_bytes))
                });
            if shared {
                let (rank, other) = (named(rank), named(other));
                return Err(TeamError::BufferOverlap { rank, other });
            }
            let is_same = rank < other
                && taker.targets.iter().any(|target| {
                    giver.targets.iter().any(|t| target.buffer.overlaps(&t.buffer, item_bytes))
                });
            if is_same {
                let (rank, other) = (named(rank), named(other));
                return Err(TeamError::TargetsOverlap { rank, other });
            }
        }
    }
    Ok(())
}
