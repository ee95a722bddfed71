//! Teams: ordered members that act together, and what they can do.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use partita_plan::Plan;

use crate::buffer::{Buffer, check_shapes};
use crate::error::{Failure, FailureKind, Result, TeamError};
use crate::program::{Program, Reachable};
use crate::threads::crew::Crew;
use crate::threads::rendezvous::{Post, Rendezvous, Round};
use crate::threads::wait::Patience;

/// What a rank brings to a meeting.
#[derive(Debug, Clone)]
pub(crate) struct Parcel {
    call: Arc<Call>,
    bytes: Arc<[u8]>,
    sources: Vec<Buffer>,
    targets: Vec<Buffer>,
}

/// Which call a rank has made, for comparison with the others.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    name: &'static str,
    /// What must be equal besides the name: a plan, a root.
    argument: String,
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
    plan: Plan,
    strides: Vec<Vec<isize>>,
    program: Arc<Program>,
}

/// Programs that a team keeps.
const MOST_PROGRAMS: usize = 32;

impl Team {
    pub(crate) fn new(crew: &Arc<Crew>, members: Vec<u64>, own: u64) -> Self {
        let rank = members.iter().position(|member| *member == own);
        let patience = Patience::for_ranks(crew.n_ranks() as usize);
        let meeting = crew.meeting(&members);
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
        let mut members = Vec::with_capacity(ranks.len());
        for (at, &rank) in ranks.iter().enumerate() {
            let Some(&member) = self.members().get(rank as usize) else {
                return Err(TeamError::MemberUnknown { rank, size: self.size() });
            };
            if ranks[..at].contains(&rank) {
                return Err(TeamError::MemberTwice { rank });
            }
            members.push(member);
        }
        Ok(self.of(members))
    }

    /// The members of this team, then those of the other that are not among them.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut members = self.members().to_vec();
        members.extend(other.members().iter().filter(|member| !self.members().contains(member)));
        self.of(members)
    }

    fn of(&self, members: Vec<u64>) -> Self {
        let mut team = Self::new(&self.crew, members, self.own);
        team.patience = self.patience;
        team
    }

    /// Waits until every member has come.
    ///
    /// # Errors
    /// What stops any member.
    pub fn barrier(&self) -> Result<()> {
        let call = Call { name: "barrier", argument: String::new() };
        self.meet(call, Arc::from([]), (vec![], vec![])).map(|_| ())
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
        let parcels = self.meet(Call { name, argument }, bytes.into(), (vec![], vec![]))?;
        Ok(parcels.iter().map(|parcel| Arc::clone(&parcel.bytes)).collect())
    }

    /// Tells the others that this rank cannot take part in the call they are in or come to next.
    pub fn report(&self, message: &str) {
        if let Some(rank) = self.rank {
            let failure = Failure {
                rank: rank as u64,
                kind: FailureKind::Raised,
                message: message.to_string(),
            };
            self.meeting.post(rank, Err(failure));
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
        let rank = self.member()?;
        let checked = self.check(plan, rank, sources, targets);
        let call = Call { name: "run", argument: plan.fingerprint() };
        let parcels = match checked {
            Ok(()) => self.meet(call, Arc::from([]), (sources.to_vec(), targets.to_vec()))?,
            Err(error) => {
                self.meeting.post(rank as usize, Err(error.failure(rank)));
                return Err(error);
            }
        };
        let all = Everyone(&parcels);
        check_apart(&all, plan.dtype().n_bytes() as usize)?;
        let run = AssertUnwindSafe(|| {
            let program = self.program(plan, rank, &all);
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
        let call = Arc::new(Call { name: "run finished", argument: String::new() });
        let parcel = Parcel { call, bytes: Arc::from([]), sources: vec![], targets: vec![] };
        let post = done.map(|()| parcel).map_err(|message| Failure {
            rank,
            kind: FailureKind::Raised,
            message,
        });
        // No deadline: the others copy, and leaving would free memory under their hands.
        let patience = self.patience.with_limit(None);
        let round = self.meeting.post(rank as usize, post);
        let posts = self.meeting.wait(round, &self.crew, &patience);
        first_failure(&posts).map_or(Ok(()), |failure| Err(TeamError::Remote { failure }))
    }

    fn check(&self, plan: &Plan, rank: u64, sources: &[Buffer], targets: &[Buffer]) -> Result<()> {
        for layout in [plan.source(), plan.target()] {
            if let Some(rank) = layout.ranks().iter().max().filter(|rank| *rank >= self.size()) {
                return Err(TeamError::TeamTooSmall { rank, size: self.size() });
            }
        }
        let shapes = |layout: &partita_layout::Layout| -> Vec<Vec<u64>> {
            let n_buffers = layout.n_buffers(rank).unwrap_or(0);
            (0..n_buffers).filter_map(|buffer| layout.local_shape(rank, buffer).ok()).collect()
        };
        check_shapes("source", sources, &shapes(plan.source()))?;
        check_shapes("target", targets, &shapes(plan.target()))?;
        for (number, target) in targets.iter().enumerate() {
            target.check_target(number)?;
        }
        Ok(())
    }

    /// The prepared moves, kept for the next time.
    fn program(&self, plan: &Plan, rank: u64, all: &Everyone<'_>) -> Option<Arc<Program>> {
        let strides = all.strides();
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(cached) = programs.iter().find(|c| c.strides == strides && c.plan == *plan) {
            return Some(Arc::clone(&cached.program));
        }
        let program = Arc::new(Program::new(plan, rank, all)?);
        if programs.len() == MOST_PROGRAMS {
            programs.remove(0);
        }
        programs.push(Cached { plan: plan.clone(), strides, program: Arc::clone(&program) });
        Some(program)
    }

    fn member(&self) -> Result<u64> {
        self.rank().ok_or(TeamError::NotAMember { rank: self.own, n_ranks: self.size() })
    }

    /// Posts, waits, and compares the calls; every rank comes to the same verdict.
    fn meet(
        &self,
        call: Call,
        bytes: Arc<[u8]>,
        (sources, targets): (Vec<Buffer>, Vec<Buffer>),
    ) -> Result<Vec<Parcel>> {
        let rank = self.member()?;
        let _alone = Alone::new(&self.busy)?;
        let words = format!("{} {}", call.name, call.argument);
        let parcel = Parcel { call: Arc::new(call), bytes, sources, targets };
        let round = self.meeting.post(rank as usize, Ok(parcel));
        let posts = self.meeting.wait(round, &self.crew, &self.patience);
        self.judge(rank, &posts, words)
    }

    fn judge(&self, rank: u64, posts: &Round<Parcel>, call: String) -> Result<Vec<Parcel>> {
        if let Some(failure) = first_failure(posts) {
            let missing = posts.iter().filter_map(|post| post.as_ref().err());
            let missing: Vec<u64> =
                missing.filter(|f| f.kind == FailureKind::Late).map(|f| f.rank).collect();
            if failure.kind == FailureKind::Late && !missing.contains(&rank) {
                let limit = self.patience.limit.unwrap_or_default();
                return Err(TeamError::Deadline { missing, call, limit });
            }
            return Err(TeamError::Remote { failure });
        }
        let parcels: Vec<Parcel> =
            posts.iter().filter_map(|post| post.as_ref().ok()).cloned().collect();
        check_same(&parcels)?;
        Ok(parcels)
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

/// Finds the first rank that made another call than rank 0.
fn check_same(parcels: &[Parcel]) -> Result<()> {
    let first = &parcels[0].call;
    let Some(at) = parcels.iter().position(|parcel| parcel.call != *first) else { return Ok(()) };
    let other = &parcels[at].call;
    let (what, mine, theirs) = if first.name == other.name {
        let what = if first.name == "run" { "plan" } else { "argument" };
        (what, first.argument.clone(), other.argument.clone())
    } else {
        ("call", first.name.to_string(), other.name.to_string())
    };
    Err(TeamError::Mismatch { rank: 0, other: at as u64, what, mine, theirs })
}

/// Checks that no target shares memory with a source; all ranks check all, and agree.
fn check_apart(all: &Everyone<'_>, item_bytes: usize) -> Result<()> {
    for (rank, taker) in all.0.iter().enumerate() {
        for (other, giver) in all.0.iter().enumerate() {
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
struct Everyone<'a>(&'a [Parcel]);

impl Everyone<'_> {
    fn strides(&self) -> Vec<Vec<isize>> {
        let buffers = self.0.iter().flat_map(|parcel| parcel.sources.iter().chain(&parcel.targets));
        buffers.map(|buffer| buffer.strides.clone()).collect()
    }
}

impl Reachable for Everyone<'_> {
    fn source(&self, rank: u64, buffer: usize) -> Option<&Buffer> {
        self.0.get(rank as usize)?.sources.get(buffer)
    }

    fn target(&self, rank: u64, buffer: usize) -> Option<&Buffer> {
        self.0.get(rank as usize)?.targets.get(buffer)
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
