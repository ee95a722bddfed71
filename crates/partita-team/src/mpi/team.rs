//! Teams of processes: the same calls as the threads engine, by messages.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use partita_mpi::{Datatype, Kind, MpiError, Patience, RequestSet};
use partita_plan::{Combine, Move, Plan};

use crate::buffer::Buffer;
use crate::call::{Call, check_buffers, check_same};
use crate::copy::{Stores, Target, fill_zero};
use crate::error::{Failure, FailureKind, Result, TeamError};
use crate::members;
use crate::mpi::office::{Office, Post};
use crate::mpi::wire::{Note, Parcel};
use crate::packing::{self, Unpack};

/// Tags of data messages lie above the control tag; rounds take turns.
const FIRST_DATA_TAG: i32 = 2;
const N_DATA_TAGS: u64 = 30_000;

/// An ordered list of processes, as one of them sees it.
#[derive(Debug, Clone)]
pub struct Team {
    office: Arc<Office>,
    members: Arc<[u64]>,
    /// Names the members and their order in messages.
    key: u64,
    rank: Option<u64>,
    limit: Option<Duration>,
}

impl Team {
    /// The team of all processes of an office.
    #[must_use]
    pub fn world(office: &Arc<Office>) -> Self {
        let members: Vec<u64> = (0..office.size()).collect();
        Self::of(office, &members, Some(Duration::from_secs(60)))
    }

    fn of(office: &Arc<Office>, members: &[u64], limit: Option<Duration>) -> Self {
        let own = office.rank();
        let rank = members.iter().position(|member| *member == own).map(|rank| rank as u64);
        let key = members.iter().fold(0xCBF2_9CE4_8422_2325, |key: u64, member| {
            (key ^ (member + 1)).wrapping_mul(0x0100_0000_01B3).rotate_left(17)
        });
        Self { office: Arc::clone(office), members: members.into(), key, rank, limit }
    }

    /// This rank's number in the team; none if it is no member.
    #[must_use]
    pub fn rank(&self) -> Option<u64> {
        self.rank
    }

    /// Number of members.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.members.len() as u64
    }

    /// The members as ranks of the world, in order.
    #[must_use]
    pub fn members(&self) -> &[u64] {
        &self.members
    }

    /// Sets how long to wait for others; none waits for ever.
    #[must_use]
    pub fn with_deadline(mut self, limit: Option<Duration>) -> Self {
        self.limit = limit;
        self
    }

    /// The team of some members, given by their rank in this team, in the given order.
    ///
    /// # Errors
    /// Ranks named twice or outside the team. Nothing is exchanged, so nothing can hang.
    pub fn subteam(&self, ranks: &[u64]) -> Result<Self> {
        Ok(Self::of(&self.office, &members::chosen(self.members(), ranks)?, self.limit))
    }

    /// The members of this team, then those of the other that are not among them.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self::of(&self.office, &members::joined(self.members(), other.members()), self.limit)
    }

    /// Waits until every member has come.
    ///
    /// # Errors
    /// What stops any member.
    pub fn barrier(&self) -> Result<()> {
        self.meet(Call::new("barrier"), Vec::new()).map(|_| ())
    }

    /// Everyone's bytes, in the order of the members.
    ///
    /// # Errors
    /// What stops any member, other calls on other ranks.
    pub fn allgather(&self, name: &'static str, bytes: Vec<u8>) -> Result<Vec<Vec<u8>>> {
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
    ) -> Result<Vec<Vec<u8>>> {
        let call = Call { argument: argument.into(), ..Call::new(name) };
        let (_, parcels) = self.meet(call, bytes)?;
        Ok(parcels.into_iter().map(|parcel| parcel.bytes).collect())
    }

    /// Tells the others that this rank cannot take part in the call they are in or come to next.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn report(&self, message: &str) -> Result<()> {
        let rank = self.member()?;
        let kind = FailureKind::Raised;
        let failure = Failure { rank, kind, message: message.to_string() };
        self.post(rank, Err(failure)).map(|_| ())
    }

    /// Runs a plan: sources of this rank's layout become targets of this rank's layout.
    ///
    /// # Errors
    /// Buffers that do not fit, other plans on other ranks, what stops any member.
    ///
    /// # Safety
    /// The buffers must tell the truth about their memory, and nobody may touch it meanwhile.
    pub unsafe fn run(&self, plan: &Plan, sources: &[Buffer], targets: &[Buffer]) -> Result<()> {
        let rank = self.member()?;
        let item_bytes = plan.dtype().n_bytes() as usize;
        let apart = check_buffers(plan, (rank, self.size()), sources, targets).and_then(|()| {
            let shares = |t: &Buffer| sources.iter().any(|s| t.overlaps(s, item_bytes));
            if targets.iter().any(shares) {
                return Err(TeamError::BufferOverlap { rank, other: rank });
            }
            Ok(())
        });
        if let Err(error) = apart {
            self.post(rank, Err(error.failure(rank)))?;
            return Err(error);
        }
        let call = Call { argument: plan.fingerprint(), ..Call::new("run") };
        let (round, _) = self.meet(call, Vec::new())?;
        // SAFETY: the caller's promise; shapes and overlaps are checked.
        let moved = unsafe { self.transfer(plan, rank, round, (sources, targets)) };
        match moved {
            Ok(()) => self.meet(Call::new("run finished"), Vec::new()).map(|_| ()),
            Err(error) => {
                self.post(rank, Err(error.failure(rank)))?;
                Err(error)
            }
        }
    }

    /// # Safety
    /// As [`Team::run`].
    unsafe fn transfer(
        &self,
        plan: &Plan,
        rank: u64,
        round: u64,
        (sources, targets): (&[Buffer], &[Buffer]),
    ) -> Result<()> {
        let dtype = plan.dtype();
        let (sends, receives) = (plan.sends(rank), plan.receives(rank));
        let given = by_partner(&sends, |m| m.target_rank);
        let taken = by_partner(&receives, |m| m.source_rank);
        let mut incoming: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        for (source, moves) in &taken {
            incoming.insert(*source, vec![0; packing::n_bytes(moves, dtype)]);
        }
        let outgoing: BTreeMap<u64, Vec<u8>> = given
            .iter()
            .map(|(target, moves)| {
                let mut message = vec![0; packing::n_bytes(moves, dtype)];
                // SAFETY: the caller vouches for the sources.
                unsafe { packing::pack(moves, sources, dtype, &mut message) };
                (*target, message)
            })
            .collect();
        if let (Some(to), Some(from)) = (incoming.get_mut(&rank), outgoing.get(&rank)) {
            to.copy_from_slice(from);
        }
        self.exchange(rank, round, outgoing, &mut incoming)?;
        let how = match plan.combine() {
            Combine::Copy => Unpack::Copy,
            Combine::Sum => Unpack::Add,
        };
        if how == Unpack::Add || (plan.needs_zeros() && taken.is_empty()) {
            for buffer in targets {
                let target =
                    Target { pointer: buffer.address as *mut u8, strides: &buffer.strides };
                // SAFETY: the caller vouches for the targets.
                unsafe {
                    fill_zero(target, &buffer.shape, dtype.n_bytes() as usize, Stores::Cached);
                };
            }
        }
        for (source, message) in &incoming {
            // SAFETY: the caller vouches for the targets.
            unsafe { packing::unpack(&taken[source], message, dtype, targets, how) };
        }
        Ok(())
    }

    /// Sends and receives one message per partner, giving up when a member does.
    fn exchange(
        &self,
        rank: u64,
        round: u64,
        outgoing: BTreeMap<u64, Vec<u8>>,
        incoming: &mut BTreeMap<u64, Vec<u8>>,
    ) -> Result<()> {
        let comm = self.office.data();
        let datatype = Datatype::new(comm.library(), Kind::Byte);
        let tag = FIRST_DATA_TAG + ((self.key ^ round) % N_DATA_TAGS) as i32;
        let mut requests = RequestSet::new(comm.library());
        for (source, message) in incoming.iter_mut().filter(|(source, _)| **source != rank) {
            let from = self.members[*source as usize] as usize;
            let (data, count) = (message.as_mut_ptr().cast(), message.len());
            // SAFETY: the message lives until the set has finished or its receives are cancelled.
            let request = unsafe { comm.irecv(data, count, &datatype, from, tag) };
            requests.push(request.map_err(broken)?).map_err(broken)?;
        }
        for (target, message) in outgoing.iter().filter(|(target, _)| **target != rank) {
            let to = self.members[*target as usize] as usize;
            // SAFETY: as above; the message is not written any more.
            let request =
                unsafe { comm.isend(message.as_ptr().cast(), message.len(), &datatype, to, tag) };
            requests.push(request.map_err(broken)?).map_err(broken)?;
        }
        let finished = requests.wait_all(&self.patience(), || self.check_alive(rank, round));
        if let Err(error) = finished {
            // The memory of these messages must outlive what MPI still does with it.
            let _ = requests.cancel_receives();
            std::mem::forget(requests);
            for message in incoming.values_mut() {
                std::mem::forget(std::mem::take(message));
            }
            std::mem::forget(outgoing);
            return Err(error.0);
        }
        Ok(())
    }

    /// Looks whether a member has given up this round, the next one, or has left.
    fn check_alive(&self, rank: u64, round: u64) -> std::result::Result<(), Stopped> {
        self.office.poll().map_err(|error| Stopped(broken(error)))?;
        for at in [round, round + 1] {
            let posts = self.office.posts(self.key, at);
            if let Some(failure) = posts.values().find_map(|post| post.as_ref().err()) {
                return Err(Stopped(TeamError::Remote { failure: failure.clone() }));
            }
        }
        match self.absent(rank) {
            Some(failure) => Err(Stopped(TeamError::Remote { failure })),
            None => Ok(()),
        }
    }

    fn absent(&self, rank: u64) -> Option<Failure> {
        let others = self.members.iter().zip(0..).filter(|(_, other)| *other != rank);
        others.into_iter().find_map(|(member, rank)| {
            let message = self.office.departed(*member)?;
            Some(Failure { rank, kind: FailureKind::Left, message })
        })
    }

    fn patience(&self) -> Patience {
        Patience { limit: self.limit, ..Patience::default() }
    }

    fn member(&self) -> Result<u64> {
        self.rank.ok_or(TeamError::NotAMember { rank: self.office.rank(), n_ranks: self.size() })
    }

    /// Posts to this rank's next round; gives its number.
    fn post(&self, rank: u64, post: Post) -> Result<u64> {
        let round = self.office.next_round(self.key);
        let note = Note::Post { team: self.key, round, rank, post: post.clone() };
        self.office.put(self.key, round, rank, post);
        self.office.send(&note, self.members.iter().copied()).map_err(broken)?;
        Ok(round)
    }

    /// Posts, waits for all, and compares the calls; gives the round and what all brought.
    fn meet(&self, call: Call, bytes: Vec<u8>) -> Result<(u64, Vec<Parcel>)> {
        let rank = self.member()?;
        let words = call.words();
        let round = self.post(rank, Ok(Parcel { call, bytes }))?;
        let poll = || -> std::result::Result<Option<Vec<Post>>, Stopped> {
            self.office.poll().map_err(|error| Stopped(broken(error)))?;
            Ok(self.complete(round))
        };
        let outcome = self.patience().until("a meeting", poll, || Ok(()));
        let posts = match outcome {
            Ok(posts) => posts,
            Err(Stopped(TeamError::Deadline { limit, .. })) => {
                return Err(self.give_up(rank, round, words, limit));
            }
            Err(Stopped(error)) => return Err(error),
        };
        self.office.forget(self.key, round.saturating_sub(1));
        if let Some(failure) = posts.iter().find_map(|post| post.as_ref().err()) {
            return Err(TeamError::Remote { failure: failure.clone() });
        }
        let parcels: Vec<Parcel> = posts.into_iter().filter_map(std::result::Result::ok).collect();
        check_same(parcels.iter().map(|parcel| &parcel.call))?;
        Ok((round, parcels))
    }

    /// All posts of a round, those of ranks that have left filled in; none while some are missing.
    fn complete(&self, round: u64) -> Option<Vec<Post>> {
        let mut posts = self.office.posts(self.key, round);
        (0..self.size())
            .map(|rank| {
                posts.remove(&rank).or_else(|| {
                    let message = self.office.departed(self.members[rank as usize])?;
                    Some(Err(Failure { rank, kind: FailureKind::Left, message }))
                })
            })
            .collect()
    }

    /// Tells the others that this rank waits no longer, and whom it missed.
    fn give_up(&self, rank: u64, round: u64, call: String, limit: Duration) -> TeamError {
        let posts = self.office.posts(self.key, round);
        let missing: Vec<u64> = (0..self.size()).filter(|rank| !posts.contains_key(rank)).collect();
        let message = format!("{call}: it waited {limit:?} for ranks {missing:?}");
        let failure = Failure { rank, kind: FailureKind::Late, message };
        let note = Note::Post { team: self.key, round, rank, post: Err(failure) };
        let _ = self.office.send(&note, self.members.iter().copied());
        TeamError::Deadline { missing, call, limit }
    }
}

impl PartialEq for Team {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.office, &other.office) && self.members == other.members
    }
}

impl Eq for Team {}

/// A team's error on its way through the waiting loops of the MPI layer.
struct Stopped(TeamError);

impl From<MpiError> for Stopped {
    fn from(error: MpiError) -> Self {
        match error {
            MpiError::Deadline { limit, .. } => Self(TeamError::Deadline {
                missing: Vec::new(),
                call: "moving data".to_string(),
                limit,
            }),
            other => Self(broken(other)),
        }
    }
}

#[allow(clippy::needless_pass_by_value, reason = "made for `map_err`")]
fn broken(error: MpiError) -> TeamError {
    TeamError::Engine { message: error.to_string() }
}

fn by_partner(moves: &[Move], partner: fn(&Move) -> u64) -> BTreeMap<u64, Vec<&Move>> {
    let mut groups: BTreeMap<u64, Vec<&Move>> = BTreeMap::new();
    for m in moves {
        groups.entry(partner(m)).or_default().push(m);
    }
    groups
}
