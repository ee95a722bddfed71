//! Teams: ordered members that act together, and what they can do.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use partita_plan::{Combine, Plan};

use crate::buffer::Buffer;
use crate::call::{Call, check_buffers, check_same};
use crate::error::{Failure, FailureKind, Result, TeamError};
use crate::members;
use crate::program::{Program, Reachable};
use crate::threads::crew::Crew;
use crate::threads::rendezvous::{Post, Rendezvous, Round};
use crate::threads::wait::Patience;

/// What a rank brings to a meeting.
#[derive(Debug, Clone)]
pub(crate) struct Parcel {
    call: Call,
    bytes: Arc<[u8]>,
    sources: Vec<Buffer>,
    targets: Vec<Buffer>,
}

impl Parcel {
    fn empty(name: &'static str) -> Self {
        Self {
            call: Call::new(name),
            bytes: Arc::default(),
            sources: Vec::new(),
            targets: Vec::new(),
        }
    }
}

/// An ordered list of ranks, as one of them sees it.
#[derive(Debug, Clone)]
pub struct Team {
    crew: Arc<Crew>,
    meeting: Arc<Rendezvous<Parcel>>,
    /// This rank's number in the crew, and in the team if it is a member.
    own: u64,
    rank: Option<usize>,
    patience: Patience,
    /// One call at a time: a second one from another thread would mix up the rounds.
    busy: Arc<AtomicBool>,
    programs: Arc<Mutex<Vec<Cached>>>,
}

/// A program and what it was made for.
#[derive(Debug, Clone)]
struct Cached {
    style: Style,
    plan: Plan,
    strides: Vec<Vec<isize>>,
    program: Arc<Program>,
}

/// Whether a plan's source and target are the same memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Style {
    Apart,
    InPlace,
}

impl Style {
    fn name(self) -> &'static str {
        match self {
            Self::Apart => "run",
            Self::InPlace => "run in place",
        }
    }
}

/// Programs that a team keeps.
const MOST_PROGRAMS: usize = 32;

impl Team {
    pub(crate) fn new(crew: &Arc<Crew>, members: &[u64], own: u64) -> Self {
        let rank = members.iter().position(|member| *member == own);
        let patience = Patience::for_ranks(crew.n_ranks() as usize);
        let meeting = crew.meeting(members);
        Self {
            crew: Arc::clone(crew),
            meeting,
            own,
            rank,
            patience,
            busy: Arc::default(),
            programs: Arc::default(),
        }
    }

    /// This rank's number in the team; none if it is no member.
    #[must_use]
    pub fn rank(&self) -> Option<u64> {
        self.rank.map(|rank| rank as u64)
    }

    /// Number of members.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.members().len() as u64
    }

    /// The members as ranks of the crew, in order.
    #[must_use]
    pub fn members(&self) -> &[u64] {
        self.meeting.members()
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
    /// Ranks named twice or outside the team. Nothing is exchanged, so nothing can hang.
    pub fn subteam(&self, ranks: &[u64]) -> Result<Self> {
        Ok(self.of(&members::chosen(self.members(), ranks)?))
    }

    /// The members of this team, then those of the other that are not among them.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        self.of(&members::joined(self.members(), other.members()))
    }

    fn of(&self, members: &[u64]) -> Self {
        let mut team = Self::new(&self.crew, members, self.own);
        team.patience = self.patience;
        team
    }

    /// Waits until every member has come.
    ///
    /// # Errors
    /// What stops any member.
    pub fn barrier(&self) -> Result<()> {
        self.meet(Parcel::empty("barrier")).map(|_| ())
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
        name: &'static str,
        argument: String,
        bytes: Vec<u8>,
    ) -> Result<Vec<Arc<[u8]>>> {
        let call = Call { argument: argument.into(), ..Call::new(name) };
        let posts = self.meet(Parcel { call, bytes: bytes.into(), ..Parcel::empty(name) })?;
        Ok(parcels(&posts).map(|parcel| Arc::clone(&parcel.bytes)).collect())
    }

    /// Tells the others that this rank cannot take part in the call they are in or come to next.
    pub fn report(&self, message: &str) {
        if let Some(rank) = self.rank {
            let failure = Failure {
                rank: rank as u64,
                kind: FailureKind::Raised,
                message: message.to_string(),
            };
            self.post(rank as u64, Err(failure));
        }
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
        // SAFETY: the caller's promise.
        unsafe { self.run_with(Style::Apart, plan, (sources, targets)) }
    }

    /// Runs a plan from a layout to itself on one set of buffers: fills what is held, not owned.
    ///
    /// # Errors
    /// As [`Team::run`]; a plan between two different layouts.
    ///
    /// # Safety
    /// As [`Team::run`].
    pub unsafe fn run_in_place(&self, plan: &Plan, buffers: &[Buffer]) -> Result<()> {
        if plan.source() != plan.target() || plan.combine() != Combine::Copy {
            let error = TeamError::NotInPlace;
            self.report(&error.to_string());
            return Err(error);
        }
        // SAFETY: the caller's promise; moves of a layout to itself read what is owned and write
        // what is not, and what stays in place is left out.
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
        if let Err(error) = check_buffers(plan, (rank, self.size()), sources, targets) {
            self.post(rank, Err(error.failure(rank)));
            return Err(error);
        }
        let name = style.name();
        let call = Call { argument: plan.fingerprint(), ..Call::new(name) };
        let (sources, targets) = (sources.to_vec(), targets.to_vec());
        let posts = self.meet(Parcel { call, sources, targets, ..Parcel::empty(name) })?;
        let all = Everyone(&posts);
        if style == Style::Apart {
            check_apart(&all, plan.dtype().n_bytes() as usize)?;
        }
        let run = AssertUnwindSafe(|| {
            let program = self.program(style, plan, rank, &all);
            // SAFETY: every member waits in the meeting below until all have copied; the caller
            // vouches for the memory, `check` and `check_apart` for shapes and overlaps.
            program.map(|program| unsafe { program.run(rank, &all) })
        });
        let done = match catch_unwind(run) {
            Ok(Some(())) => Ok(()),
            Ok(None) => Err("a buffer of the plan is missing".to_string()),
            Err(_) => Err("it panicked while copying".to_string()),
        };
        self.finish(rank, done)
    }

    /// The second meeting: nobody leaves before all have copied.
    fn finish(&self, rank: u64, done: std::result::Result<(), String>) -> Result<()> {
        let post = done.map(|()| Parcel::empty("run finished")).map_err(|message| Failure {
            rank,
            kind: FailureKind::Raised,
            message,
        });
        // No deadline: the others copy, and leaving would free memory under their hands.
        let patience = self.patience.with_limit(None);
        let round = self.post(rank, post);
        let posts = self.meeting.wait(round, &self.crew, &patience);
        first_failure(&posts).map_or(Ok(()), |failure| Err(TeamError::Remote { failure }))
    }

    /// The prepared moves, kept for the next time.
    fn program(
        &self,
        style: Style,
        plan: &Plan,
        rank: u64,
        all: &Everyone<'_>,
    ) -> Option<Arc<Program>> {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        let is_it =
            |c: &&Cached| c.style == style && c.plan == *plan && all.has_strides(&c.strides);
        if let Some(cached) = programs.iter().find(is_it) {
            return Some(Arc::clone(&cached.program));
        }
        let program = match style {
            Style::Apart => Program::new(plan, rank, all)?,
            Style::InPlace => Program::in_place(plan, rank, all)?,
        };
        let program = Arc::new(program);
        if programs.len() == MOST_PROGRAMS {
            programs.remove(0);
        }
        let strides = all.strides().map(<[isize]>::to_vec).collect();
        programs.push(Cached { style, plan: plan.clone(), strides, program: Arc::clone(&program) });
        Some(program)
    }

    fn member(&self) -> Result<u64> {
        self.rank().ok_or(TeamError::NotAMember { rank: self.own, n_ranks: self.size() })
    }

    fn post(&self, rank: u64, post: Post<Parcel>) -> u64 {
        self.meeting.post(rank as usize, post, &self.crew, &self.patience)
    }

    /// Posts, waits, and compares the calls; every rank comes to the same verdict.
    fn meet(&self, parcel: Parcel) -> Result<Round<Parcel>> {
        let rank = self.member()?;
        let _alone = Alone::new(&self.busy)?;
        let call = parcel.call.clone();
        let round = self.post(rank, Ok(parcel));
        let posts = self.meeting.wait(round, &self.crew, &self.patience);
        if let Some(failure) = first_failure(&posts) {
            return Err(self.judge(rank, &posts, failure, &call));
        }
        check_same(parcels(&posts).map(|parcel| &parcel.call))?;
        Ok(posts)
    }

    /// What a failed round means for this rank.
    fn judge(&self, rank: u64, posts: &Round<Parcel>, failure: Failure, call: &Call) -> TeamError {
        let failures = posts.iter().filter_map(|post| post.as_ref().err());
        let missing: Vec<u64> =
            failures.filter(|f| f.kind == FailureKind::Late).map(|f| f.rank).collect();
        if failure.kind != FailureKind::Late || missing.contains(&rank) {
            return TeamError::Remote { failure };
        }
        TeamError::Deadline {
            missing,
            call: call.words(),
            limit: self.patience.limit.unwrap_or_default(),
        }
    }
}

impl PartialEq for Team {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.crew, &other.crew) && self.members() == other.members()
    }
}

impl Eq for Team {}

/// The failure of the lowest rank: all agree on it.
fn first_failure<T>(posts: &Round<T>) -> Option<Failure> {
    posts.iter().find_map(|post: &Post<T>| post.as_ref().err()).cloned()
}

/// The parcels of a round in which nobody failed.
fn parcels(posts: &Round<Parcel>) -> impl Iterator<Item = &Parcel> {
    posts.iter().filter_map(|post| post.as_ref().ok())
}

/// Checks that no target shares memory with a source; all ranks check all, and agree.
fn check_apart(all: &Everyone<'_>, item_bytes: usize) -> Result<()> {
    for (rank, taker) in parcels(all.0).enumerate() {
        for (other, giver) in parcels(all.0).enumerate() {
            let shared = taker.targets.iter().any(|target| {
                giver.sources.iter().any(|source| target.overlaps(source, item_bytes))
            });
            if shared {
                return Err(TeamError::BufferOverlap { rank: rank as u64, other: other as u64 });
            }
        }
    }
    Ok(())
}

/// All members' buffers.
struct Everyone<'a>(&'a Round<Parcel>);

impl Everyone<'_> {
    fn parcel(&self, rank: u64) -> Option<&Parcel> {
        self.0.get(rank as usize)?.as_ref().ok()
    }

    fn strides(&self) -> impl Iterator<Item = &[isize]> {
        let buffers =
            parcels(self.0).flat_map(|parcel| parcel.sources.iter().chain(&parcel.targets));
        buffers.map(|buffer| &*buffer.strides)
    }

    fn has_strides(&self, wanted: &[Vec<isize>]) -> bool {
        self.strides().eq(wanted.iter().map(|strides| &**strides))
    }
}

impl Reachable for Everyone<'_> {
    fn source(&self, rank: u64, buffer: usize) -> Option<&Buffer> {
        self.parcel(rank)?.sources.get(buffer)
    }

    fn target(&self, rank: u64, buffer: usize) -> Option<&Buffer> {
        self.parcel(rank)?.targets.get(buffer)
    }
}

/// Holds a team for one call.
struct Alone<'a>(&'a AtomicBool);

impl<'a> Alone<'a> {
    fn new(busy: &'a AtomicBool) -> Result<Self> {
        if busy.swap(true, Ordering::Acquire) {
            return Err(TeamError::Busy);
        }
        Ok(Self(busy))
    }
}

impl Drop for Alone<'_> {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}
