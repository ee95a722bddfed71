//! Running a plan: meet, move, meet again.
//!
//! Small halos are an exception: packed before the meeting and fetched after it, they need no
//! second one, since nobody writes another's memory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use partita_plan::{Combine, Plan};

use crate::error::{Engine, FailureKind, Result, TeamError, out_of_reach};
use crate::memory::buffer::Buffer;
use crate::program::offer::{CallBuffers, Half, Offer, ShownOffer, View};
use crate::program::packed_halo::{PackedHalo, Wanted};
use crate::program::program::{Program, Style, moving_regions};
use crate::program::turns;
use crate::team::agreed::Way;
use crate::team::cache::CachedProgram;
use crate::team::call::{Call, CallName, check_same};
use crate::team::check::{check_apart, check_mapped, check_own};
use crate::team::claim::Claim;
use crate::team::meeting::{
    CallPlace, Contribution, Round, RunContext, Stage, contributions, first_failure,
};
use crate::team::near::MOST_PARTNERS;
use crate::team::team::Team;

/// What one rank brings to the running of a plan.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run<'a> {
    pub style: Style,
    /// What the plan is run for, where the plan alone does not tell.
    pub about: &'a str,
    pub plan: &'a Plan,
    pub rank: u64,
    pub sources: &'a [Buffer],
    pub targets: &'a [Buffer],
    pub checked: Checked,
}

/// Whether a rank's own buffers are known to fit a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Checked {
    Before,
    NotYet,
}

impl Run<'_> {
    pub(crate) fn item_bytes(&self) -> usize {
        self.plan.dtype().n_bytes() as usize
    }

    pub(super) fn call(&self) -> Call {
        let name = match self.style {
            Style::Apart => CallName::Run,
            Style::InPlace => CallName::RunInPlace,
        };
        let plan = self.plan.fingerprint();
        let argument = match self.about {
            "" => plan,
            about => format!("{about}, {plan}").into(),
        };
        Call { name, argument }
    }
}

/// What this rank has packed for the others to fetch.
pub(super) struct Packed {
    pub halo: Arc<PackedHalo>,
    pub half: Half,
}

/// A round that all members have come to.
struct Met {
    round: u64,
    posts: Round<Contribution>,
}

impl Team {
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
        // SAFETY: the caller's promise.
        unsafe { self.run_about("", plan, sources, targets) }
    }

    /// The same for something that ranks name: those that name different things are told.
    ///
    /// One plan may serve many: equal plans do not mean that ranks move the same.
    ///
    /// # Errors
    /// As [`Team::run`]; other words on other ranks.
    ///
    /// # Safety
    /// As [`Team::run`].
    pub unsafe fn run_about(
        &self,
        about: &str,
        plan: &Plan,
        sources: &[Buffer],
        targets: &[Buffer],
    ) -> Result<()> {
        let _claim = self.claim()?;
        let (style, checked) = (Style::Apart, Checked::NotYet);
        let run = Run { style, about, plan, rank: self.member()?, sources, targets, checked };
        // SAFETY: the caller's promise.
        unsafe { self.carry_out(run) }
    }

    /// The same with buffers that [`Team::check_buffers`] has accepted.
    ///
    /// # Errors
    /// As [`Team::run`].
    ///
    /// # Safety
    /// As [`Team::run`]; the buffers must be those that were checked.
    pub unsafe fn run_checked(
        &self,
        plan: &Plan,
        sources: &[Buffer],
        targets: &[Buffer],
    ) -> Result<()> {
        let _claim = self.claim()?;
        let (style, about, checked) = (Style::Apart, "", Checked::Before);
        let run = Run { style, about, plan, rank: self.member()?, sources, targets, checked };
        // SAFETY: the caller's promise.
        unsafe { self.carry_out(run) }
    }

    /// As [`Team::run_in_place`], with buffers that [`Team::check_buffers`] has accepted.
    ///
    /// # Errors
    /// As [`Team::run_in_place`].
    ///
    /// # Safety
    /// As [`Team::run_in_place`]; the buffers must be those that were checked.
    pub unsafe fn run_in_place_checked(&self, plan: &Plan, buffers: &[Buffer]) -> Result<()> {
        let _claim = self.claim()?;
        let (sources, targets) = (buffers, buffers);
        let (style, about, checked) = (Style::InPlace, "", Checked::Before);
        let run = Run { style, about, plan, rank: self.member()?, sources, targets, checked };
        // SAFETY: the caller's promise.
        unsafe { self.carry_out_in_place(run) }
    }

    /// Checks this rank's buffers for runs of a plan, in place if there are no targets.
    ///
    /// # Errors
    /// Buffers that do not fit, which the other ranks hear of; a plan that cannot run in place.
    pub fn check_buffers(
        &self,
        plan: &Plan,
        sources: &[Buffer],
        targets: Option<&[Buffer]>,
    ) -> Result<()> {
        let rank = self.member()?;
        let style = if targets.is_some() { Style::Apart } else { Style::InPlace };
        if style == Style::InPlace && (plan.source() != plan.target() || adds_to_itself(plan, rank))
        {
            let error = TeamError::NotInPlace;
            self.report(&error.to_string())?;
            return Err(error);
        }
        let (targets, about, checked) = (targets.unwrap_or(sources), "", Checked::NotYet);
        self.check_run(&Run { style, about, plan, rank, sources, targets, checked })
    }

    /// The same with a claim that was taken before, which goes on until it is dropped.
    ///
    /// # Errors
    /// As [`Team::run`]; a claim of another team.
    ///
    /// # Safety
    /// As [`Team::run`].
    pub unsafe fn run_claimed(
        &self,
        claim: &Claim,
        plan: &Plan,
        sources: &[Buffer],
        targets: &[Buffer],
    ) -> Result<()> {
        if !claim.is_of(&self.meeting) {
            return Err(TeamError::Busy);
        }
        let (style, about, checked) = (Style::Apart, "", Checked::NotYet);
        let run = Run { style, about, plan, rank: self.member()?, sources, targets, checked };
        // SAFETY: the caller's promise.
        let outcome = unsafe { self.carry_out(run) };
        claim.set_over();
        outcome
    }

    /// Runs a plan from a layout to itself on one set of buffers: fills what is held, not owned.
    ///
    /// Its adjoint adds what is held to the owners' elements, and leaves zeros there; refused where
    /// a periodic dimension wraps around onto the same rank.
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
        let (sources, targets) = (buffers, buffers);
        let (style, about, checked) = (Style::InPlace, "", Checked::NotYet);
        let run = Run { style, about, plan, rank: self.member()?, sources, targets, checked };
        // SAFETY: the caller's promise.
        unsafe { self.carry_out_in_place(run) }
    }

    /// # Safety
    /// As [`Team::run_in_place`].
    unsafe fn carry_out_in_place(&self, run: Run<'_>) -> Result<()> {
        let Run { plan, rank, targets, .. } = run;
        let item_bytes = run.item_bytes();
        // SAFETY: the caller's promise; moves of a layout to itself read what is owned and write
        // what is not, or the reverse, and what stays in place is left out.
        unsafe { self.carry_out(run) }?;
        if plan.combine() == Combine::Sum {
            // No move reaches what was given. All who take of it have come back, too.
            for given in plan.sends(rank).iter().filter(|given| given.crosses()) {
                let Some(buffer) = targets.get(given.source_buffer) else { continue };
                // SAFETY: the rank's own buffer, which it holds again.
                unsafe { buffer.fill_zero_given(given, item_bytes) };
            }
        }
        Ok(())
    }

    /// # Safety
    /// As [`Team::run`].
    unsafe fn carry_out(&self, run: Run<'_>) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.carry_out_here(run) }.map_err(|error| self.placed(error))
    }

    /// # Safety
    /// As [`Team::run`].
    unsafe fn carry_out_here(&self, run: Run<'_>) -> Result<()> {
        self.check_run(&run)?;
        if let Some(stages) = run.plan.stages(self.meeting.nodes()) {
            // SAFETY: the caller's promise.
            return unsafe { self.run_staged(&run, &stages) };
        }
        // SAFETY: the caller's promise.
        unsafe { self.run_at_once(&run) }
    }

    /// Runs a plan as it is, on buffers that were checked.
    ///
    /// # Safety
    /// As [`Team::run`].
    pub(super) unsafe fn run_at_once(&self, run: &Run<'_>) -> Result<()> {
        if let Some(near) = self.meeting.near()
            && let Some(agreed) = self.meeting.cache().agreed(&run.call())
        {
            // SAFETY: the caller's promise.
            return unsafe { self.run_near(run, near, &agreed) };
        }
        // SAFETY: the caller's promise.
        let packed = unsafe { self.pack(run, None) };
        let met = self.meet_to_run(run, packed.as_ref())?;
        let shares = |rank: u64| self.meeting.shares(rank);
        let members = shown(&met.posts);
        let nodes = self.meeting.nodes();
        let view = View { rank: run.rank, ranks: None, members, shares: &shares, nodes };
        let is_packed = view.is_all_packed();
        let outcome = if let Some(packed) = packed.filter(|_| is_packed) {
            // SAFETY: the caller's promise; all have packed, and each writes its own buffers.
            unsafe { packed.halo.fetch(&view, run.targets) }.ok_or_else(out_of_reach)
        } else {
            // SAFETY: the caller's promise; every member waits in `finish` until all have copied.
            let copied = unsafe { self.copy(run, &view, CallPlace::Round(met.round)) };
            self.finish(run, copied)
        };
        let way = if is_packed { Way::Packed } else { Way::Direct };
        match &outcome {
            Ok(()) => self.note_run(run, &met.posts, way),
            Err(_) => {
                self.meeting.cache().forget_agreed();
                self.meeting.await_abandoned();
            }
        }
        outcome
    }

    /// Notes that all have run a plan: they may do so among partners next time.
    fn note_run(&self, run: &Run<'_>, posts: &Round<Contribution>, way: Way) {
        if self.meeting.near().is_none() {
            return;
        }
        let told = contributions(posts).map(|one| one.n_partners);
        let most = told.collect::<Option<Vec<u64>>>().and_then(|all| all.into_iter().max());
        self.meeting.cache().note_run(&run.call(), run.rank, most, way);
    }

    /// Checks this rank's own buffers; tells the others if it cannot take part.
    fn check_run(&self, run: &Run<'_>) -> Result<()> {
        if run.checked == Checked::Before {
            return Ok(());
        }
        let rank = self.named(run.rank);
        let checked = check_own(run, rank, self.size());
        if let Err(error) = &checked {
            self.post(Err(error.failure(rank)))?;
        }
        checked
    }

    /// Packs what this rank gives where the others can fetch it, if that is the better way.
    ///
    /// # Safety
    /// As [`Team::run`].
    pub(super) unsafe fn pack(&self, run: &Run<'_>, agreed: Option<Way>) -> Option<Packed> {
        let may_be_packed = run.style == Style::InPlace && run.plan.combine() == Combine::Copy;
        if !may_be_packed || !self.meeting.packs_halos() {
            return None;
        }
        let is_open = |buffer: &Buffer| self.meeting.is_open(buffer, run.item_bytes());
        let wanted = match agreed {
            Some(Way::Packed) => Wanted::Always,
            Some(Way::Direct) => return None,
            None if run.sources.iter().all(is_open) => Wanted::IfOpenSuits,
            None => Wanted::IfClosedSuits,
        };
        let halo = self.meeting.cache().packed_halo(run.plan, run.rank, run.sources, wanted)?;
        // Where shareable memory ran out, others could not fetch from it.
        if !self.meeting.is_open(&halo.buffer(), 1) {
            return None;
        }
        // SAFETY: the caller's promise; the packed halo was made for these strides, and all calls
        // that it is packed for have the same partners.
        let half = unsafe { halo.pack(run.sources) };
        Some(Packed { halo, half })
    }

    /// The first meeting: everybody shows its buffers, and all make the same call.
    fn meet_to_run(&self, run: &Run<'_>, packed: Option<&Packed>) -> Result<Met> {
        let offer = self.offer(run, packed);
        let half = packed.map_or(Half::First, |packed| packed.half);
        let tag = self.meeting.tag();
        let call = run.call();
        let n_partners = match self.meeting.near() {
            Some(_) => self.n_partners(&call, run),
            None => None,
        };
        let offer = Some(offer);
        let contribution = Contribution { offer, tag, half, n_partners, ..Contribution::new(call) };
        let met = self.meet(contribution);
        if let Err(error) = &met {
            self.leave_meeting(run, packed, error)?;
        }
        met.map(|(round, posts)| Met { round, posts })
    }

    /// How many partners this rank has, if it is to tell; too many, where ranks take turns: these
    /// need the offers of all.
    fn n_partners(&self, call: &Call, run: &Run<'_>) -> Option<u64> {
        let n_partners = self.meeting.cache().n_partners(call, run.plan, run.rank)?;
        let takes_turns = turns::may_take_turns(run.plan, run.rank, self.meeting.nodes());
        Some(if takes_turns { MOST_PARTNERS + 1 } else { n_partners })
    }

    /// This rank's buffers as the others may see them; the last offer if they are the same.
    fn offer(&self, run: &Run<'_>, packed: Option<&Packed>) -> Arc<Offer> {
        let item_bytes = run.item_bytes();
        let packed_halo = packed.map(|packed| packed.halo.buffer());
        let (sources, targets) = (run.sources, run.targets);
        let buffers = CallBuffers { sources, targets, packed_halo: packed_halo.as_ref() };
        let is_open = |buffer: &Buffer| self.meeting.is_open(buffer, item_bytes);
        self.meeting.cache().offer(
            |last| last.has(buffers) && last.stands(is_open),
            || self.meeting.offer(buffers, item_bytes),
        )
    }

    /// Cleans up after a first meeting that failed, as others may have seen it complete.
    fn leave_meeting(
        &self,
        run: &Run<'_>,
        packed: Option<&Packed>,
        error: &TeamError,
    ) -> Result<()> {
        let is_told =
            matches!(error, TeamError::Remote(failure) if failure.kind == FailureKind::Late);
        let may_differ = self.may_differ(error);
        if (may_differ && !is_told) || matches!(error, TeamError::Interrupted) {
            // Somebody may have seen all come, and write.
            self.leave_behind(run.targets);
        }
        if packed.is_some() {
            self.meeting.cache().abandon_packed_halos();
        } else if may_differ {
            // Some may have seen all come and go on to the second meeting: come to it too, so that
            // all ranks count the same rounds.
            self.post(Err(error.failure(self.named(run.rank))))?;
        }
        Ok(())
    }

    /// Whether ranks may disagree about a round: one was given up, and may have come all the same;
    /// or one has gone, and its post may have come to some by other hands.
    fn may_differ(&self, error: &TeamError) -> bool {
        match error {
            TeamError::Remote(failure) if failure.kind == FailureKind::Left => {
                self.meeting.engine() == Engine::Mpi
            }
            error => is_late(error),
        }
    }

    /// This rank's share of the copying.
    ///
    /// # Safety
    /// As [`Team::run`]; the view must be that of the running call.
    pub(super) unsafe fn copy(
        &self,
        run: &Run<'_>,
        view: &View<'_>,
        place: CallPlace,
    ) -> Result<()> {
        let copy = AssertUnwindSafe(|| {
            let cached = self.program(run, view)?;
            let program = &cached.program;
            // SAFETY: the rank's own targets; the caller vouches for them.
            unsafe { program.clear(run.targets) };
            if !program.has_messages() {
                // SAFETY: shapes and overlaps are checked, the caller vouches for the memory.
                return unsafe { program.run(view, 0..u64::MAX) }.ok_or_else(out_of_reach);
            }
            let Run { plan, sources, targets, .. } = *run;
            let context = RunContext { program, plan, view, place, sources, targets };
            // SAFETY: as above.
            unsafe { self.meeting.transfer(&context, &self.patience) }
        });
        let panicked = || TeamError::Engine { message: "it panicked while copying".to_string() };
        catch_unwind(copy).unwrap_or_else(|_| Err(panicked()))
    }

    /// The prepared moves, kept for the next time.
    fn program(&self, run: &Run<'_>, view: &View<'_>) -> Result<Arc<CachedProgram>> {
        let Run { style, plan, .. } = *run;
        let check = || {
            check_mapped(plan, view, self.members())?;
            match self.meeting.engine() {
                Engine::Threads => check_apart(style, view, self.members(), run.item_bytes()),
                Engine::Mpi => Ok(()),
            }
        };
        let make = || {
            if style == Style::InPlace && adds_to_itself(plan, view.rank) {
                return Err(TeamError::NotInPlace);
            }
            Program::new(style, plan, view).ok_or_else(out_of_reach)
        };
        self.meeting.cache().program(style, plan, view, check, make)
    }

    /// The second meeting: nobody leaves before all have copied.
    fn finish(&self, run: &Run<'_>, copied: Result<()>) -> Result<()> {
        let post = match &copied {
            Ok(()) => Ok(Contribution::new(Call::new(CallName::RunFinished))),
            Err(error) => Err(error.failure(self.named(run.rank))),
        };
        let round = self.post(post)?;
        // Whoever has waited for messages until the deadline does not wait as long again.
        let spent = match &copied {
            Err(error) if is_late(error) => self.almost_all_patience(),
            _ => Duration::ZERO,
        };
        let posts = self.await_round(round, Stage::Copying, spent)?;
        let Some(failure) = first_failure(&posts) else {
            return check_same(self.members(), contributions(&posts));
        };
        if failure.kind == FailureKind::Late {
            self.leave_behind(run.targets);
        }
        match copied {
            // What another rank said of a third one.
            Ok(()) | Err(TeamError::Remote(_)) => Err(self.judge(run.rank, &posts, "moving data")),
            Err(error) => Err(error),
        }
    }

    /// Lets ranks that were given up write where nobody looks any more.
    pub(super) fn leave_behind(&self, targets: &[Buffer]) {
        self.meeting.withdraw(targets);
        self.meeting.cache().forget_offer();
    }
}

/// What the members show of themselves.
fn shown(posts: &Round<Contribution>) -> Vec<ShownOffer<'_>> {
    let shown = |post| match post {
        &Ok(Contribution { ref offer, half, tag, .. }) => {
            ShownOffer { offer: offer.as_ref(), half, tag }
        }
        Err(_) => ShownOffer { offer: None, half: Half::First, tag: 0 },
    };
    posts.iter().map(shown).collect()
}

/// Whether a rank adds to itself, at another position: in place it could not tell what it had.
fn adds_to_itself(plan: &Plan, rank: u64) -> bool {
    if plan.combine() == Combine::Copy {
        return false;
    }
    let own = plan.receives(rank).into_iter().filter(|m| !m.crosses());
    own.into_iter().any(|m| !moving_regions(&m).is_empty())
}

/// Whether a rank has waited for others until its deadline.
pub(super) fn is_late(error: &TeamError) -> bool {
    match error {
        TeamError::Deadline { .. } => true,
        TeamError::Remote(failure) => failure.kind == FailureKind::Late,
        _ => false,
    }
}
