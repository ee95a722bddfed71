//! Teams: ordered members that act together, the same on every engine.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::error::circle::Circle;
use crate::error::{Engine, Failure, FailureKind, Rank, Result, TeamError};
use crate::team::cache::Waits;
use crate::team::call::{Call, CallName, check_same};
use crate::team::claim::Claim;
use crate::team::meeting::{
    Arrival, Contribution, Meeting, Post, Round, Since, Stage, contributions, first_failure,
};
use crate::team::members;
use crate::team::near::latest;
use crate::team::patience::Patience;

/// An ordered list of ranks, as one of them sees it.
#[derive(Debug, Clone)]
pub struct Team {
    pub(super) meeting: Arc<dyn Meeting>,
    rank: Option<u64>,
    pub(super) patience: Patience,
}

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

    /// What runs its plans.
    #[must_use]
    pub fn engine(&self) -> Engine {
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
        self.meeting.world_id() == other.meeting.world_id()
    }

    /// How long it waits for others; none waits for ever.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        self.patience.limit
    }

    /// Sets how long to wait for others; none waits for ever.
    #[must_use]
    pub fn with_deadline(mut self, limit: Option<Duration>) -> Self {
        self.patience = self.patience.with_limit(limit);
        self
    }

    /// The same team for a thread that shares its core with one that computes: it sleeps at once
    /// where others spin, and is woken when the others have come.
    #[must_use]
    pub fn waiting_asleep(mut self) -> Self {
        self.patience = self.patience.asleep();
        self
    }

    /// Whether its ranks wait awake: each has a core of its own.
    #[must_use]
    pub fn waits_awake(&self) -> bool {
        self.patience.n_spins > 0
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
        self.meeting.callers().enter();
        Claim::new(&self.meeting)
    }

    /// Says that this thread, which claimed the team, does nothing until the call has ended.
    pub fn await_claimed(&self) {
        if self.meeting.callers().has_this_thread() {
            self.meeting.cache().claim.set_awaited();
        }
    }

    /// Waits until every member has come.
    ///
    /// # Errors
    /// What stops any member.
    pub fn barrier(&self) -> Result<()> {
        let _claim = self.claim()?;
        self.meet(Contribution::new(Call::new(CallName::Barrier))).map(|_| ())
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
        let call = Call { name: CallName::Exchange(name.into()), argument: argument.into() };
        let (_, posts) =
            self.meet(Contribution { bytes: bytes.into(), ..Contribution::new(call) })?;
        Ok(contributions(&posts).map(|one| Arc::clone(&one.bytes)).collect())
    }

    /// Notes options with which this rank computes alone: the next meeting of all compares them.
    ///
    /// So ranks whose options differ are told, and no call needs a meeting for its options.
    pub fn say(&self, words: &str) {
        self.meeting.cache().say(words);
    }

    /// Tells the others that this rank cannot take part in the call they are in or come to next.
    ///
    /// # Errors
    /// A rank that is no member; what the engine reports.
    pub fn report(&self, message: &str) -> Result<()> {
        let rank = self.named(self.member()?);
        self.post(Err(Failure::new(rank, FailureKind::Raised, message))).map(|_| ())
    }

    pub(super) fn member(&self) -> Result<u64> {
        self.rank
            .ok_or_else(|| TeamError::NotAMember { rank: self.meeting.own(), n_ranks: self.size() })
    }

    /// A rank of this team with its number in the world.
    pub(super) fn named(&self, rank: u64) -> Rank {
        let rank = Rank::of(self.members(), rank);
        rank.on(self.meeting.host(rank.world))
    }

    /// An error with the hosts of the ranks that it names.
    pub(super) fn placed(&self, error: TeamError) -> TeamError {
        error.placed(|rank| self.meeting.host(rank))
    }

    pub(super) fn post(&self, mut post: Post<Contribution>) -> Result<u64> {
        self.meeting.check()?;
        let mut said = self.meeting.cache().take_said();
        match &mut post {
            Ok(contribution) => said.put_into(&mut contribution.call),
            Err(_) => self.meeting.cache().forget_agreed(),
        }
        self.meeting.post(post, &self.patience)
    }

    /// Posts, waits, and compares the calls; every rank comes to the same verdict.
    pub(super) fn meet(&self, contribution: Contribution) -> Result<(u64, Round<Contribution>)> {
        self.member()?;
        let met = self.met(contribution, Duration::ZERO);
        let met = met.and_then(|(round, posts, verdict)| verdict.map(|()| (round, posts)));
        match &met {
            // All have come, so nobody is in an earlier call any more.
            Ok(_) => self.meeting.cache().drop_retired_halos(),
            Err(_) => self.meeting.cache().forget_agreed(),
        }
        met.map_err(|error| self.placed(error))
    }

    /// Posts and waits, where part of the patience is spent already; what all posted, and the
    /// verdict.
    fn met(
        &self,
        contribution: Contribution,
        spent: Duration,
    ) -> Result<(u64, Round<Contribution>, Result<()>)> {
        let call = contribution.call.clone();
        let round = self.post(Ok(contribution))?;
        let posts = self.await_round(round, Stage::Arrival, spent)?;
        let verdict = self.verdict(round, &posts, &call);
        Ok((round, posts, verdict))
    }

    /// What a round means for all: whether they made the same call, and nobody failed.
    fn verdict(&self, round: u64, posts: &Round<Contribution>, call: &Call) -> Result<()> {
        let rank = self.member()?;
        if matches!(posts, Round::Alike(Ok(_), _)) {
            return Ok(());
        }
        if first_failure(posts).is_some() {
            if let Some(circle) = self.circle(posts, round) {
                return Err(TeamError::TeamsDiffer { circle });
            }
            return Err(self.judge(rank, posts, &call.words()));
        }
        check_same(self.members(), contributions(posts))
    }

    /// Meets all because a near call cannot go on: why, and what all posted.
    pub(super) fn find_out(
        &self,
        contribution: Contribution,
        spent: Duration,
    ) -> (TeamError, Option<Round<Contribution>>) {
        let words = contribution.call.words();
        match self.met(contribution, spent) {
            Ok((_, posts, verdict)) => {
                let error = match verdict {
                    // Some are ahead of others that waited: those make no other calls.
                    Err(TeamError::Mismatch(_)) if is_wait(&posts) => self.lateness(&posts, words),
                    Err(error) => error,
                    Ok(()) => self.lateness(&posts, words),
                };
                (error, Some(posts))
            }
            Err(error) => (error, None),
        }
    }

    /// Who is to blame where all made the same near call, but some came after others' deadline.
    fn lateness(&self, posts: &Round<Contribution>, call: String) -> TeamError {
        let told: Vec<&[u8]> = contributions(posts).map(|one| &*one.bytes).collect();
        let late = latest(&told);
        if late.is_empty() {
            let message = "all ranks made the same call, and some could not go on".to_string();
            return TeamError::Engine { message };
        }
        let missing: Vec<Rank> = late.into_iter().map(|rank| self.named(rank)).collect();
        if let Some(own) = missing.iter().find(|rank| Some(rank.team) == self.rank) {
            let message = "others waited for it until their deadline";
            return TeamError::Remote(Failure::new(*own, FailureKind::Late, message));
        }
        TeamError::Deadline { missing, call, limit: self.patience.limit.unwrap_or_default() }
    }

    /// Waits for a round, and notes for how long.
    pub(super) fn await_round(
        &self,
        round: u64,
        stage: Stage,
        spent: Duration,
    ) -> Result<Round<Contribution>> {
        let since = Since { began: Instant::now(), spent };
        let posts = self.meeting.wait(round, &self.patience, stage, since);
        self.meeting.cache().note_wait(stage, since.began);
        posts
    }

    /// How long this rank has waited for others since the last call of this.
    #[must_use]
    pub fn take_waits(&self) -> Waits {
        self.meeting.cache().take_waits()
    }

    /// The circle of waits that ended a round, if one did.
    fn circle(&self, posts: &Round<Contribution>, round: u64) -> Option<Arc<Circle>> {
        let mut failures = posts.iter().filter_map(|post| post.as_ref().err());
        let is_told = failures.any(|failure| failure.kind == FailureKind::Circle);
        is_told.then(|| self.meeting.circle(round)).flatten()
    }

    /// What a failed round means for this rank.
    pub(super) fn judge(&self, rank: u64, posts: &Round<Contribution>, call: &str) -> TeamError {
        let failures: Vec<&Failure> = posts.iter().filter_map(|post| post.as_ref().err()).collect();
        let own = failures.iter().find(|f| f.kind == FailureKind::Late && f.rank.team == rank);
        let raised = failures.iter().find(|f| f.kind != FailureKind::Late);
        if let Some(failure) = own.or(raised) {
            return TeamError::Remote((*failure).clone());
        }
        let mut missing: Vec<Rank> = failures.iter().map(|failure| failure.rank).collect();
        missing.sort_unstable();
        missing.dedup();
        let limit = self.patience.limit.unwrap_or_default();
        TeamError::Deadline { missing, call: call.to_string(), limit }
    }
}

/// Whether those that are stuck have waited long for ranks that came to make the same near call.
fn is_wait(posts: &Round<Contribution>) -> bool {
    let all: Vec<&Contribution> = contributions(posts).collect();
    let told: Vec<&[u8]> = all.iter().map(|one| &*one.bytes).collect();
    let is_stuck = |one: &Contribution| one.arrival == Arrival::Stuck;
    let is_awaited = |one: &Contribution| {
        let mut waiting = all.iter().filter(|other| is_stuck(other) && !other.bytes.is_empty());
        is_stuck(one) && waiting.any(|other| other.call == one.call)
    };
    let late = latest(&told);
    !late.is_empty() && late.iter().all(|rank| is_awaited(all[*rank as usize]))
}

impl PartialEq for Team {
    fn eq(&self, other: &Self) -> bool {
        self.meeting.world_id() == other.meeting.world_id() && self.members() == other.members()
    }
}

impl Eq for Team {}
