//! Transfers by messages of what no rank can reach by itself.
//!
//! What a rank gives another is cut into chunks (`cut.rs`). Two chunks per partner are under way
//! at a time: one is packed while the other travels. Where a side of a chunk is dense memory
//! already, it is sent from there or received there. Only a few partners are served at once, in the
//! order of their distance, which all ranks agree on; that bounds the memory, whatever the size of
//! the array and of the team.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use partita_mpi::{MpiError, Polling, Request, Step};
use partita_plan::Move;

use crate::copy::Dtype;
use crate::error::{Failure, FailureKind, Rank, Result, TeamError, out_of_reach};
use crate::memory::buffer::Buffer;
use crate::memory::process::Life;
use crate::mpi::chunk_memory::ChunkMemory;
use crate::mpi::meeting::MpiMeeting;
use crate::mpi::round::{ASK_FROM, LOOK_EVERY, death_of};
use crate::mpi::world::{Abandoned, broken};
use crate::program::cut::Chunk;
use crate::program::packing::{self, Side, Unpack};
use crate::program::turns::{Parcel, Parcels, grouped};
use crate::team::interrupt;
use crate::team::meeting::{CallPlace, Meeting, RunContext};
use crate::team::patience::{GRACE, Patience};

/// The size of a chunk in a team of that size: small enough to stay in the cache, large enough to hide
/// the start.
const fn chunk_bytes(n_ranks: u64) -> u64 {
    if n_ranks <= 8 { 512 << 10 } else { 256 << 10 }
}
/// Chunks under way per partner and direction.
const DEPTH: usize = 2;
/// How often to look for messages while chunks travel.
const LISTEN: Duration = Duration::from_millis(5);
/// Partners served at once, per direction: all in teams up to one more.
const N_PARTNERS: usize = 16;

/// What a transfer keeps in memory at most, which is what a plan's totals say.
const fn most_bytes(n_ranks: u64) -> u64 {
    let n_partners = if n_ranks <= N_PARTNERS as u64 { n_ranks - 1 } else { N_PARTNERS as u64 };
    2 * chunk_bytes(n_ranks) * DEPTH as u64 * n_partners
}
const _: () = assert!(most_bytes(8) <= 16 << 20 && most_bytes(99) <= 16 << 20, "extra memory");

/// Sends and receives the chunks of a running call, and runs its direct moves meanwhile.
///
/// # Safety
/// The context must be that of a running call, as for `Team::run`.
pub(crate) unsafe fn transfer(
    meeting: &MpiMeeting,
    context: &RunContext<'_>,
    patience: &Patience,
) -> Result<()> {
    let mut transfer = Transfer::new(meeting, context, patience);
    // SAFETY: the caller's promise.
    let outcome = unsafe { transfer.work() };
    if outcome.is_err() {
        transfer.give_up();
    }
    outcome
}

/// What MPI reports of a dead process, in words: the system may take a moment to say that it died.
fn explained(meeting: &MpiMeeting, error: TeamError) -> TeamError {
    if !matches!(error, TeamError::Engine { .. }) {
        return error;
    }
    let start = Instant::now();
    while start.elapsed() < GRACE {
        if let Err(Stopped(death)) = look_around(meeting, None) {
            return death;
        }
        std::thread::sleep(LISTEN);
    }
    error
}

struct Transfer<'a> {
    meeting: &'a MpiMeeting,
    context: &'a RunContext<'a>,
    polling: Polling,
    dtype: Dtype,
    out: Vec<Outgoing>,
    /// Copies: any order will do. Sums: ascending sources, one at a time.
    into: Vec<Incoming>,
    /// Buffers of chunks that have arrived, to be used again.
    spare: Vec<ChunkMemory>,
}

/// The chunks between this rank and another, in one direction.
struct Channel<T> {
    rank: u64,
    tag: i32,
    parcels: std::iter::Peekable<Parcels>,
    under_way: VecDeque<T>,
}

/// Chunks to one rank: the messages, and their memory where they were packed.
type Outgoing = Channel<(Request, ChunkMemory)>;

/// Chunks from one rank.
type Incoming = Channel<(Request, Parcel, Destination)>;

impl<T> Channel<T> {
    fn new(rank: u64, tag: i32, parcels: Parcels) -> Self {
        Self { rank, tag, parcels: parcels.peekable(), under_way: VecDeque::new() }
    }

    fn is_done(&mut self) -> bool {
        self.under_way.is_empty() && self.parcels.peek().is_none()
    }

    fn unfinished(lanes: &mut [Self]) -> impl Iterator<Item = &mut Self> {
        lanes.iter_mut().filter_map(|lane| (!lane.is_done()).then_some(lane))
    }
}

/// A chunk that is about to be sent.
struct Packet {
    /// Its channel, among those that are served.
    lane: usize,
    chunk: Chunk,
    /// Where it lies, if that is dense memory already.
    at: Option<usize>,
    message: ChunkMemory,
}

/// Whether to pack for all channels that have room: when all have, so that what is packed for several
/// ranks is read once.
///
/// Where not all ranks serve all others at once, one that waits for its turn elsewhere would keep the rest
/// waiting: channels do not keep pace then, and whichever has nothing under way goes on.
fn is_time_to_pack(lanes: &mut [&mut Outgoing], keeps_pace: bool) -> bool {
    let (mut n_pending, mut n_with_room) = (0, 0);
    for to in lanes.iter_mut().filter_map(|to| to.parcels.peek().is_some().then_some(to)) {
        if to.under_way.is_empty() && !keeps_pace {
            return true;
        }
        n_pending += 1;
        n_with_room += usize::from(to.under_way.len() < DEPTH);
    }
    n_pending > 0 && n_with_room == n_pending
}

/// Where a chunk arrives.
enum Destination {
    /// In its target itself, at this address.
    Target(usize),
    /// In memory of its own, to be unpacked.
    Apart(ChunkMemory),
}

impl<'a> Transfer<'a> {
    fn new(meeting: &'a MpiMeeting, context: &'a RunContext<'a>, patience: &Patience) -> Self {
        let (program, view) = (context.program, context.view);
        let size = meeting.members().len() as u64;
        let item_bytes = context.plan.dtype().n_bytes();
        let limit = chunk_bytes(size);
        let parcels = |moves, turn| Parcels::new(moves, turn, item_bytes, limit);
        let tag_of = |rank: u64| view.tag(rank) as i32;
        let given = grouped(&program.messages_out, |m| m.target_rank);
        let mut out: Vec<Outgoing> = given
            .into_iter()
            .map(|(rank, moves)| (rank, parcels(moves, program.turns_out.get(&rank))))
            .map(|(rank, parcels)| Channel::new(rank, tag_of(rank), parcels))
            .collect();
        let taken = grouped(&program.messages_in, |m| m.source_rank);
        let mut into: Vec<Incoming> = taken
            .into_iter()
            .map(|(rank, moves)| (rank, parcels(moves, program.turns_in.get(&rank))))
            .map(|(rank, parcels)| Channel::new(rank, tag_of(view.rank), parcels))
            .collect();
        out.sort_by_key(|o| (o.rank + size - view.rank) % size);
        if !program.is_ordered() {
            into.sort_by_key(|i| (view.rank + size - i.rank) % size);
        }
        Self {
            meeting,
            context,
            polling: Polling { limit: patience.limit, ..Default::default() },
            dtype: context.plan.dtype(),
            out,
            into,
            spare: Vec::new(),
        }
    }

    /// # Safety
    /// As [`transfer`].
    unsafe fn work(&mut self) -> Result<()> {
        let (program, view) = (self.context.program, self.context.view);
        if !program.is_ordered() {
            // Chunks travel while this rank copies what it can reach, which it does even if they
            // do not: others wait for it.
            let begun = self.step();
            // SAFETY: the caller's promise.
            unsafe { program.run(view, 0..u64::MAX) }.ok_or_else(out_of_reach)?;
            begun.map_err(|error| explained(self.meeting, error))?;
            return self.pump(u64::MAX);
        }
        let mut next = 0;
        for source in self.into.iter().map(|i| i.rank).collect::<Vec<_>>() {
            // A source may have buffers in reach and others that come by chunks: its own direct
            // moves are run too.
            // SAFETY: the caller's promise.
            unsafe { program.run(view, next..source + 1) }.ok_or_else(out_of_reach)?;
            self.pump(source)?;
            next = source + 1;
        }
        // SAFETY: the caller's promise.
        unsafe { program.run(view, next..u64::MAX) }.ok_or_else(out_of_reach)?;
        self.pump(u64::MAX)
    }

    /// Moves chunks until all from a source have come; from every source and to every target if
    /// it is `u64::MAX`.
    fn pump(&mut self, source: u64) -> Result<()> {
        let polling = self.polling;
        let (meeting, place) = (self.meeting, self.context.place);
        let awaited = self.context.view.ranks;
        let partners: Vec<u64> = self
            .out
            .iter()
            .map(|lane| lane.rank)
            .chain(self.into.iter().map(|lane| lane.rank))
            .map(|rank| meeting.members()[rank as usize])
            .collect();
        let began = Instant::now();
        let (mut checked, mut looked) = (began, began);
        let check = || {
            // Control messages are rare, chunks are not.
            if checked.elapsed() < LISTEN {
                return Ok(());
            }
            checked = Instant::now();
            if interrupt::is_interrupted() {
                return Err(Stopped(TeamError::Interrupted));
            }
            check(meeting, place, awaited)?;
            if looked.elapsed() < LOOK_EVERY {
                return Ok(());
            }
            looked = Instant::now();
            if began.elapsed() >= ASK_FROM {
                meeting.world().ask_after(&mut partners.iter().copied());
            }
            look_around(meeting, awaited)
        };
        let poll = || -> std::result::Result<Step<()>, Stopped> {
            let moved = self.step().map_err(Stopped)?;
            if self.has(source) {
                return Ok(Step::Done(()));
            }
            Ok(if moved { Step::Moved } else { Step::Idle })
        };
        let stopped = polling.until("chunks", poll, check);
        stopped.map_err(|Stopped(error)| explained(self.meeting, self.named(error)))
    }

    /// Says who is missing where a deadline has passed.
    fn named(&mut self, error: TeamError) -> TeamError {
        let TeamError::Deadline { call, limit, .. } = error else { return error };
        let late = Channel::unfinished(&mut self.into).map(|lane| lane.rank);
        let slow = Channel::unfinished(&mut self.out).map(|lane| lane.rank);
        let mut missing: Vec<u64> = late.chain(slow).collect();
        missing.sort_unstable();
        missing.dedup();
        let members = self.meeting.members();
        let missing = missing.into_iter().map(|rank| Rank::of(members, rank)).collect();
        TeamError::Deadline { missing, call, limit }
    }

    fn has(&mut self, source: u64) -> bool {
        if source == u64::MAX {
            let sent = self.out.iter_mut().all(Channel::is_done);
            return sent && self.into.iter_mut().all(Channel::is_done);
        }
        self.into.iter_mut().filter(|i| i.rank <= source).all(Channel::is_done)
    }

    /// Does what can be done now; true if anything was.
    fn step(&mut self) -> Result<bool> {
        let mut moved = false;
        let n_sources = if self.context.program.is_ordered() { 1 } else { N_PARTNERS };
        let mut into = std::mem::take(&mut self.into);
        let outcome = Channel::unfinished(&mut into)
            .take(n_sources)
            .try_for_each(|i| self.receive(i).map(|did| moved |= did));
        self.into = into;
        outcome?;
        let mut out = std::mem::take(&mut self.out);
        let mut lanes: Vec<_> = Channel::unfinished(&mut out).take(N_PARTNERS).collect();
        let outcome = self.send(&mut lanes);
        self.out = out;
        Ok(outcome? || moved)
    }

    fn receive(&mut self, from: &mut Incoming) -> Result<bool> {
        let mut moved = false;
        while let Some((request, ..)) = from.under_way.front_mut() {
            let Some(status) = request.test().map_err(broken)? else { break };
            moved = true;
            let Some((_, Parcel { chunk, others }, landing)) = from.under_way.pop_front() else {
                break;
            };
            check_chunk(from.rank, status.n_bytes, chunk.n_bytes)?;
            match landing {
                Destination::Apart(message) => {
                    self.unpack(&chunk, &message, self.context.targets);
                    self.unpack_for(&others, &message)?;
                    self.spare.push(message);
                }
                Destination::Target(at) => {
                    // SAFETY: where the chunk has just arrived, in this rank's own target.
                    let message =
                        unsafe { std::slice::from_raw_parts(at as *const u8, chunk.n_bytes) };
                    self.unpack_for(&others, message)?;
                }
            }
        }
        while from.under_way.len() < DEPTH {
            let Some(parcel) = from.parcels.next() else { break };
            let chunk = &parcel.chunk;
            let (at, landing) = match self.lands_at(chunk) {
                Some(at) => (at, Destination::Target(at)),
                None => {
                    let mut message = self.spare(chunk.n_bytes);
                    (message.as_mut_ptr() as usize, Destination::Apart(message))
                }
            };
            let source = self.meeting.members()[from.rank as usize] as usize;
            let comm = self.meeting.world().data();
            // SAFETY: the memory stays until the request has finished or is given up: it is kept
            // beside it, or it is the target of the running call.
            let request = unsafe { comm.irecv(at as *mut _, chunk.n_bytes, source, from.tag) };
            from.under_way.push_back((request.map_err(broken)?, parcel, landing));
            moved = true;
        }
        Ok(moved)
    }

    /// Takes note of chunks that have gone, and sends the next ones.
    fn send(&mut self, lanes: &mut [&mut Outgoing]) -> Result<bool> {
        let mut moved = false;
        for to in &mut *lanes {
            while let Some((request, _)) = to.under_way.front_mut() {
                if request.test().map_err(broken)?.is_none() {
                    break;
                }
                moved = true;
                if let Some((_, message)) = to.under_way.pop_front() {
                    self.spare.push(message);
                }
            }
        }
        let n_members = self.meeting.members().len();
        let keeps_pace = n_members <= N_PARTNERS + 1 && !self.context.program.is_ordered();
        while is_time_to_pack(lanes, keeps_pace) {
            let next: Vec<Packet> = lanes.iter_mut().enumerate().filter_map(self.taker()).collect();
            self.dispatch(lanes, next)?;
            moved = true;
        }
        Ok(moved)
    }

    /// Takes the next chunk of a channel that has room, and memory for it.
    fn taker(&mut self) -> impl FnMut((usize, &mut &mut Outgoing)) -> Option<Packet> {
        |(lane, to)| {
            let has_room = to.under_way.len() < DEPTH;
            let Parcel { chunk, .. } = has_room.then(|| to.parcels.next()).flatten()?;
            let at = self.starts_at(&chunk);
            let message = at.is_none().then(|| self.spare(chunk.n_bytes));
            Some(Packet { lane, chunk, at, message: message.unwrap_or_default() })
        }
    }

    /// Packs chunks together, and sends each.
    fn dispatch(&self, lanes: &mut [&mut Outgoing], mut packets: Vec<Packet>) -> Result<()> {
        let to_pack = packets.iter_mut().filter(|one| one.at.is_none());
        let messages = to_pack.map(|one| (one.chunk.moves.as_slice(), &mut one.message[..]));
        // SAFETY: the context is that of a running call.
        unsafe { packing::pack(messages, self.context.sources, self.dtype) };
        for Packet { lane, chunk, at, message } in packets {
            let to = &mut lanes[lane];
            let at = at.unwrap_or(message.as_ptr() as usize);
            let target = self.meeting.members()[to.rank as usize] as usize;
            if !self.meeting.world().may_be_told(target as u64) {
                let named = Rank::new(to.rank, target as u64);
                return Err(TeamError::Remote(death_of(named)));
            }
            let comm = self.meeting.world().data();
            // SAFETY: the memory stays, unchanged, until the request has finished: it is kept
            // beside it, or it is the source of the running call.
            let request = unsafe { comm.isend(at as *const _, chunk.n_bytes, target, to.tag) };
            to.under_way.push_back((request.map_err(broken)?, message));
        }
        Ok(())
    }

    fn starts_at(&self, chunk: &Chunk) -> Option<usize> {
        let [only] = chunk.moves.as_slice() else { return None };
        let buffer = self.context.sources.get(only.source_buffer)?;
        packing::lies_at(only, Side::Source, buffer, self.dtype)
    }

    fn lands_at(&self, chunk: &Chunk) -> Option<usize> {
        let [only] = chunk.moves.as_slice() else { return None };
        let buffer = self.context.targets.get(only.target_buffer)?;
        let at = packing::lies_at(only, Side::Target, buffer, self.dtype);
        at.filter(|_| !self.context.program.is_ordered())
    }

    /// Writes a chunk for others of this node, who take others for this rank.
    fn unpack_for(&self, others: &[Chunk], message: &[u8]) -> Result<()> {
        for chunk in others {
            let taker = chunk.moves.first().map_or(self.context.view.rank, |m| m.target_rank);
            let targets = self.context.view.targets(taker).ok_or_else(out_of_reach)?;
            self.unpack(chunk, message, &targets);
        }
        Ok(())
    }

    fn unpack(&self, chunk: &Chunk, message: &[u8], targets: &[Buffer]) {
        let moves: Vec<&Move> = chunk.moves.iter().collect();
        let how = if self.context.program.is_ordered() { Unpack::Add } else { Unpack::Copy };
        // SAFETY: the context is that of a running call; all ranks wait until all have copied.
        unsafe { packing::unpack(&moves, message, self.dtype, targets, how) };
    }

    /// Memory for a chunk, warm if there is some.
    fn spare(&mut self, n_bytes: usize) -> ChunkMemory {
        let at = self.spare.iter().position(|spare| spare.len() >= n_bytes);
        let kept = at.map(|at| self.spare.swap_remove(at));
        kept.unwrap_or_else(|| self.meeting.world().spare(n_bytes))
    }

    /// Leaves chunks under way behind, with the memory that MPI may still use.
    fn give_up(&mut self) {
        let kept = self.out.iter_mut().flat_map(|o| o.under_way.drain(..)).map(Abandoned::from);
        let mut abandoned: Vec<Abandoned> = kept.collect();
        // Waiting here for what has begun to arrive would keep this rank from telling the others.
        for (mut request, _, landing) in self.into.iter_mut().flat_map(|i| i.under_way.drain(..)) {
            request.cancel();
            let memory = match landing {
                Destination::Apart(memory) => Some(memory),
                Destination::Target(_) => None,
            };
            abandoned.push(Abandoned { request, memory });
        }
        self.meeting.world().keep_abandoned(abandoned);
    }
}

impl Drop for Transfer<'_> {
    fn drop(&mut self) {
        self.meeting.world().keep_spare(std::mem::take(&mut self.spare));
    }
}

/// Checks that a chunk is as long as both ranks know it to be.
fn check_chunk(rank: u64, n_bytes: usize, n_wanted: usize) -> Result<()> {
    if n_bytes == n_wanted {
        return Ok(());
    }
    let message = format!("rank {rank} sent {n_bytes} bytes in place of {n_wanted}");
    Err(TeamError::Engine { message })
}

/// The members that a call needs, with their ranks of the world: in a near call partners alone. Others
/// may have made all their calls, and ended.
fn needed<'a>(
    meeting: &'a MpiMeeting,
    awaited: Option<&'a [u64]>,
) -> impl Iterator<Item = (u64, u64)> + 'a {
    let is_awaited = move |rank: u64| awaited.is_none_or(|ranks| ranks.contains(&rank));
    (0..).zip(meeting.members().iter().copied()).filter(move |(rank, _)| is_awaited(*rank))
}

/// Looks whether a member that a call needs has died.
fn look_around(meeting: &MpiMeeting, awaited: Option<&[u64]>) -> std::result::Result<(), Stopped> {
    let has_ended = |member: u64| meeting.world().life(member) == Some(Life::Ended);
    let ended: Vec<(u64, u64)> =
        needed(meeting, awaited).filter(|(_, member)| has_ended(*member)).collect();
    if ended.is_empty() {
        return Ok(());
    }
    // What it said last is here by now.
    meeting.world().poll().map_err(|error| Stopped(broken(error)))?;
    let state = meeting.world().state();
    let is_missed = |world: u64| awaited.is_none() || !state.inbox.has_ended_well(world);
    let Some((team, world)) = ended.into_iter().find(|(_, world)| is_missed(*world)) else {
        return Ok(());
    };
    Err(Stopped(TeamError::Remote(death_of(Rank::new(team, world)))))
}

/// Looks whether a member has given up the call, or one that it needs has left.
fn check(
    meeting: &MpiMeeting,
    place: CallPlace,
    awaited: Option<&[u64]>,
) -> std::result::Result<(), Stopped> {
    meeting.world().poll().map_err(|error| Stopped(broken(error)))?;
    let state = meeting.world().state();
    let ended = match place {
        CallPlace::Round(round) => state.inbox.ended(meeting.key(), round),
        CallPlace::Near(near) => state.inbox.is_stuck(meeting.key(), near).then(|| {
            // All meet next, and find out what it was.
            Failure::new(meeting.own_rank(), FailureKind::Raised, "a rank gave the call up")
        }),
    };
    let left = needed(meeting, awaited).find_map(|(team, world)| {
        let message = state.inbox.departed(world)?;
        // A partner that has come to a near call, and then to its end, has sent all it had to.
        if awaited.is_some() && state.inbox.has_ended_well(world) {
            return None;
        }
        Some(Failure::new(Rank::new(team, world), FailureKind::Left, message))
    });
    match ended.or(left) {
        Some(failure) => Err(Stopped(TeamError::Remote(failure))),
        None => Ok(()),
    }
}

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
