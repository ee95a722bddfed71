//! The world: one process's control messages, in and out.
//!
//! To neighbours of the node they go through rings in shared memory, to far processes by MPI. Both
//! keep the order of what one process sends to another.

use std::collections::HashMap;
use std::iter;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use partita_mpi::{Comm, MpiError, Request, Source, Tag, n_forks};

use crate::error::{Engine, Host, TeamError};
use crate::memory::arena::Block;
use crate::memory::other_arena::Mapping;
use crate::memory::process::Life;
use crate::mpi::chunk_memory::ChunkMemory;
use crate::mpi::circles::KnownWaits;
use crate::mpi::hosts::hosts;
use crate::mpi::inbox::Inbox;
use crate::mpi::meeting::{MpiMeeting, wire_offer};
use crate::mpi::node::{Neighbour, Node, nodes};
use crate::mpi::outflow::Unsent;
use crate::mpi::peers::Peers;
use crate::mpi::rings::written;
use crate::mpi::round::{Around, leave};
use crate::mpi::stream::Stream;
use crate::mpi::wire::{ControlMessage, WireOffer};
use crate::program::offer::Offer;
use crate::team::cache::TeamCache;
use crate::team::callers::Callers;
use crate::team::near::ENDED_WELL;
use crate::team::patience::Patience;
use crate::team::team::Team;

const CONTROL_TAG: i32 = 1;
/// Tags of data messages lie above the control tag.
const FIRST_DATA_TAG: u64 = 2;
/// Far processes are heard only when asked: no sleep is longer than this where there are some.
const LONGEST_SLEEP: Duration = Duration::from_micros(200);
/// How long a process listens to the others that ends, or has given up a call.
const LISTEN_MORE: Duration = Duration::from_millis(300);
/// How often a process that ends looks whether others have died, and how long it then takes MPI to
/// end at most.
const LOOK_FOR_DEATHS: Duration = Duration::from_millis(50);
const LONGEST_END: Duration = Duration::from_secs(3);
/// Polls in a row that bring nothing, after which what MPI had is out.
const N_SETTLING_POLLS: u32 = 4;
/// Chunks whose memory is kept.
const MOST_SPARE: usize = 16;

/// Whether processes of one node use each other's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Where the system allows it.
    Memory,
    /// The same among so many ranks that follow each other, as on nodes of so many cores.
    Among(u64),
    /// Never: everything travels by messages.
    Nothing,
}

/// A process's side of all its teams.
#[derive(Debug)]
pub struct World {
    control: Comm,
    data: Comm,
    node: Option<Node>,
    /// The node of each rank: those of one all share memory with each other.
    nodes: Vec<u64>,
    peers: Peers,
    /// By rank; none where all are on one host.
    hosts: Vec<Host>,
    /// Where it is another, the process that joined is a parent of this one.
    n_forks: u64,
    is_freed: AtomicBool,
    state: Mutex<State>,
    /// By the number that names a team in messages.
    caches: Mutex<HashMap<u64, Arc<TeamCache>>>,
    callers: Arc<Callers>,
    n_tags: u64,
    next_tag: AtomicU64,
    /// Warm memory for chunks.
    spare: Mutex<Vec<ChunkMemory>>,
}

/// What the world holds under its lock.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub inbox: Inbox,
    pub waits: KnownWaits,
    /// Control messages under way to far ranks of the world, with the memory they are sent from.
    far: Vec<(u64, Request, Box<[u8]>)>,
    /// Control messages that have come from far ranks.
    n_far_messages: u64,
    /// Control messages to and from each neighbour.
    near: Vec<Stream>,
    /// Those that have been sent something; empty in between.
    to_wake: Vec<usize>,
    /// Memory for a message that is being sent.
    message: Vec<u8>,
    abandoned: Vec<Abandoned>,
}

/// A message that was given up, but MPI may not be done with it.
#[derive(Debug)]
pub(crate) struct Abandoned {
    pub request: Request,
    /// Its memory; none if it arrives in a target, which belongs to the caller.
    pub memory: Option<ChunkMemory>,
}

impl From<(Request, ChunkMemory)> for Abandoned {
    fn from((request, memory): (Request, ChunkMemory)) -> Self {
        Self { request, memory: Some(memory) }
    }
}

impl Drop for State {
    fn drop(&mut self) {
        // MPI may still read what has not been sent.
        for (_, request, memory) in self.far.drain(..) {
            keep_unless_sent(request, memory);
        }
        for Abandoned { request, memory } in self.abandoned.drain(..) {
            keep_unless_sent(request, memory);
        }
    }
}

/// Leaves memory where it is, for ever, if a message is still sent from there.
fn keep_unless_sent<T>(mut request: Request, memory: T) {
    if !matches!(request.test(), Ok(Some(_))) {
        std::mem::forget(memory);
    }
}

impl World {
    /// Opens a world on a communicator. Collective over it: the communicators are made here.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn new(world: &Comm, sharing: Sharing) -> Result<Self, MpiError> {
        let (control, data) = (world.dup()?, world.dup()?);
        let (peers, hosts) = (Peers::meet(&control)?, hosts(&control)?);
        let node = Node::meet(&control, sharing)?;
        let nodes = nodes(&control, node.as_ref())?;
        let n_near = node.as_ref().map_or(0, |node| node.neighbours().len());
        let mut state = State::default();
        state.inbox = Inbox::new(control.size() as u64);
        state.near.resize_with(n_near, Stream::default);
        Ok(Self {
            n_tags: (data.max_tag()?.max(32_767) as u64) - FIRST_DATA_TAG,
            control,
            data,
            node,
            nodes,
            peers,
            hosts,
            n_forks: n_forks(),
            is_freed: AtomicBool::new(false),
            state: Mutex::new(state),
            caches: Mutex::default(),
            callers: Arc::default(),
            next_tag: AtomicU64::new(0),
            spare: Mutex::default(),
        })
    }

    /// The team of all processes. Call it on the thread that makes this rank's calls.
    #[must_use]
    pub fn team(self: &Arc<Self>) -> Team {
        self.callers.enter();
        let members: Vec<u64> = (0..self.size()).collect();
        Team::new(
            Arc::new(MpiMeeting::new(self, &members)),
            Patience::for_ranks(self.peers.n_near()),
        )
    }

    /// Refuses in a forked child, and when the communicator has been freed.
    pub(crate) fn check(&self) -> Result<(), TeamError> {
        if self.is_forked() {
            return Err(TeamError::Forked { engine: Engine::Mpi });
        }
        if self.is_freed.load(Ordering::Relaxed) {
            return Err(TeamError::CommFreed);
        }
        Ok(())
    }

    /// Whether this process was forked from the one that joined, and is no rank.
    #[must_use]
    pub fn is_forked(&self) -> bool {
        self.n_forks != n_forks()
    }

    /// Frees the communicators; every process of them calls it when the user frees theirs.
    ///
    /// Teams that are left are refused from now on. The memory goes with the last of them.
    pub fn free(&self) {
        if self.is_forked() || self.is_freed.swap(true, Ordering::Relaxed) {
            return;
        }
        // The user's own communicator goes too, and hears of what is wrong with MPI.
        let _ = self.control.release();
        let _ = self.data.release();
    }

    /// This process's rank of the world.
    #[must_use]
    pub fn rank(&self) -> u64 {
        self.control.rank() as u64
    }

    /// Number of processes.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.control.size() as u64
    }

    /// Number of other processes whose memory is in reach.
    #[must_use]
    pub fn n_neighbours(&self) -> u64 {
        self.node.as_ref().map_or(0, |node| node.neighbours().len() as u64)
    }

    pub(crate) fn data(&self) -> &Comm {
        &self.data
    }

    pub(crate) fn node(&self) -> Option<&Node> {
        self.node.as_ref()
    }

    /// The nodes of ranks of the world.
    pub(crate) fn nodes_of(&self, ranks: &[u64]) -> Box<[u64]> {
        ranks.iter().map(|rank| self.nodes[*rank as usize]).collect()
    }

    /// How the process of a rank of the world is; none where that is unknown.
    pub(crate) fn life(&self, rank: u64) -> Option<Life> {
        self.peers.life(rank)
    }

    /// Whether something may be sent by MPI to a rank: it is not known to have ended.
    pub(crate) fn may_be_told(&self, rank: u64) -> bool {
        self.peers.may_be_told(rank)
    }

    /// Tries to find out whether some far ones of these ranks have ended; the first come first.
    pub(crate) fn ask_after_next(&self, ranks: &mut dyn Iterator<Item = u64>) {
        self.peers.ask_after_next(ranks);
    }

    /// Tries to find out whether ranks of far hosts have ended.
    pub(crate) fn ask_after(&self, ranks: &mut dyn Iterator<Item = u64>) {
        self.peers.ask_after(ranks);
    }

    /// Where a rank runs, if not all run on one host.
    pub(crate) fn host(&self, rank: u64) -> Option<Host> {
        self.hosts.get(rank as usize).copied()
    }

    pub(crate) fn neighbour(&self, rank: u64) -> Option<&Neighbour> {
        self.node.as_ref()?.neighbour(rank)
    }

    /// A block of a neighbour's memory; none of those that share none.
    fn map(&self, rank: u64, block: Block) -> Option<Arc<Mapping>> {
        self.neighbour(rank)?.map(block)
    }

    pub(crate) fn cache(&self, team: u64) -> Arc<TeamCache> {
        let mut caches = self.caches.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(caches.entry(team).or_default())
    }

    /// The threads that make calls for this rank.
    pub(crate) fn callers(&self) -> &Arc<Callers> {
        &self.callers
    }

    /// A tag that no message under way has.
    pub(crate) fn tag(&self) -> u64 {
        FIRST_DATA_TAG + self.next_tag.fetch_add(1, Ordering::Relaxed) % self.n_tags
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What this process has around it, for the rules of rounds.
    pub(crate) fn around(&self) -> Surroundings<'_> {
        Surroundings { world: self, state: self.state() }
    }

    /// Sends a message to some ranks of the world.
    pub(crate) fn send(
        &self,
        state: &mut State,
        message: &ControlMessage,
        to: impl Iterator<Item = u64>,
    ) -> Result<(), MpiError> {
        let sent = self.write(state, message, to);
        self.wake(state);
        sent
    }

    /// Sends each message to a rank of the world.
    pub(crate) fn send_each(
        &self,
        state: &mut State,
        messages: &mut dyn Iterator<Item = (u64, ControlMessage)>,
    ) -> Result<(), MpiError> {
        for (to, message) in messages {
            self.write(state, &message, iter::once(to))?;
        }
        self.wake(state);
        Ok(())
    }

    /// Writes a message for some ranks of the world; those of this node are to be woken.
    fn write(
        &self,
        state: &mut State,
        message: &ControlMessage,
        mut to: impl Iterator<Item = u64>,
    ) -> Result<(), MpiError> {
        let (node, own) = (self.node.as_ref(), self.rank());
        let mut bytes = std::mem::take(&mut state.message);
        bytes.clear();
        let bytes = message.encode_after(bytes);
        let sent = to.try_for_each(|rank| {
            if rank == own {
                return Ok(());
            }
            let Some((node, place)) = node.and_then(|node| Some((node, node.place(rank)?))) else {
                return self.send_far(state, &bytes, rank);
            };
            if state.near[place].send(&bytes, &node.neighbours()[place]) {
                state.to_wake.push(place);
            }
            Ok(())
        });
        state.message = bytes;
        sent
    }

    /// Wakes the neighbours that something was written for.
    fn wake(&self, state: &mut State) {
        let Some(node) = self.node.as_ref().filter(|_| !state.to_wake.is_empty()) else { return };
        written();
        state.to_wake.drain(..).for_each(|place| node.neighbours()[place].wake());
    }

    fn send_far(&self, state: &mut State, bytes: &[u8], rank: u64) -> Result<(), MpiError> {
        if !self.may_be_told(rank) {
            return Ok(());
        }
        let copy: Box<[u8]> = bytes.into();
        let (data, to) = (copy.as_ptr().cast(), rank as usize);
        // SAFETY: the copy is kept, unchanged, until the request has finished.
        let request = unsafe { self.control.isend(data, copy.len(), to, CONTROL_TAG)? };
        state.far.push((rank, request, copy));
        Ok(())
    }

    /// Tells every rank that this one comes to no meeting any more, and why if it has not come to its
    /// end.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn leave(&self, why: Option<&str>) -> Result<(), MpiError> {
        if self.is_over() {
            return Ok(());
        }
        leave(&mut self.around(), why.unwrap_or(ENDED_WELL), self.size())
    }

    /// Gives the others a moment to leave, too.
    ///
    /// Their last messages are taken in before MPI ends, which else complains of them.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn await_others(&self) -> Result<(), MpiError> {
        if self.is_over() {
            return Ok(());
        }
        let start = Instant::now();
        while start.elapsed() < LISTEN_MORE {
            self.poll()?;
            let state = self.state();
            let is_known = |rank: u64| rank == self.rank() || state.inbox.departed(rank).is_some();
            if (0..self.size()).all(is_known) && self.is_sent(&state) {
                break;
            }
            drop(state);
            self.rest(LONGEST_SLEEP);
        }
        Ok(())
    }

    /// Whether there is nobody to speak to, or nothing to speak by.
    fn is_over(&self) -> bool {
        self.check().is_err() || !self.control.library().is_active()
    }

    /// A rank of the world whose process has ended without a word, or to which messages are lost.
    #[must_use]
    pub fn died(&self) -> Option<u64> {
        self.hear_near(&mut self.state());
        self.ask_after(&mut (0..self.size()));
        // One may be known to have left because nothing reaches it.
        let is_out_of_reach = |rank: u64| self.state().inbox.departed(rank).is_some();
        let is_gone = |rank| self.life(rank) == Some(Life::Ended) || is_out_of_reach(rank);
        let has_said_so = |rank: u64| self.state().inbox.has_said_so(rank);
        (0..self.size()).find(|rank| is_gone(*rank) && !has_said_so(*rank))
    }

    /// A far rank of the world that a deadline gave up, and that stays silent: MPI would wait for it.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn lost(&self) -> Result<Option<u64>, MpiError> {
        let start = Instant::now();
        loop {
            let lost = self.state().inbox.lost();
            if lost.is_none() || start.elapsed() > LONGEST_END {
                return Ok(lost);
            }
            self.rest(LONGEST_SLEEP);
            self.poll()?;
        }
    }

    /// Ends this process if it is still in MPI some time after another has died.
    ///
    /// `MPI_Finalize` waits for all processes of the job, and for ever if one has died and the
    /// launcher lets the others live.
    pub fn end_if_another_dies(self: &Arc<Self>) {
        let world = Arc::clone(self);
        let watch = move || {
            let mut died_at = None;
            while world.control.library().is_active() {
                std::thread::sleep(LOOK_FOR_DEATHS);
                let Some(rank) = world.died().or_else(|| world.cut_off()) else { continue };
                let since: &mut Instant = died_at.get_or_insert_with(Instant::now);
                if since.elapsed() > LONGEST_END {
                    let why = match world.life(rank) {
                        Some(Life::Ended) => "has died",
                        _ => "is not reached",
                    };
                    eprintln!("partita: rank {rank} {why}, so this process ends without MPI");
                    // SAFETY: ends the process at once; its work is done, MPI alone is not.
                    unsafe { libc::_exit(1) };
                }
            }
        };
        // Without memory for a thread it goes without: launchers end most jobs in which a rank died.
        let _ = std::thread::Builder::new().name("partita-end".into()).spawn(watch);
    }

    /// A far rank that has not said that it leaves and is not reached any more.
    fn cut_off(&self) -> Option<u64> {
        let has_said_so = |rank: u64| self.state().inbox.has_said_so(rank);
        (0..self.size()).find(|rank| self.peers.is_cut_off(*rank) && !has_said_so(*rank))
    }

    fn hear_near(&self, state: &mut State) {
        let Some(node) = &self.node else { return };
        let map = |rank: u64, block: Block| self.map(rank, block);
        for (stream, neighbour) in state.near.iter_mut().zip(node.neighbours()) {
            let inbox = &mut state.inbox;
            let take = |message: &[u8]| inbox.take(message, neighbour.rank, &map);
            if stream.hear(neighbour, take).is_none() {
                inbox.depart(neighbour.rank, "the memory that its notes come by is damaged");
            }
        }
    }

    /// Takes in all messages that are there, and sends on what waits.
    pub(crate) fn poll(&self) -> Result<(), MpiError> {
        self.poll_into(&mut self.state())
    }

    /// The same for who holds the state.
    pub(crate) fn poll_into(&self, state: &mut State) -> Result<(), MpiError> {
        self.hear_near(state);
        if self.has_far() {
            self.hear_far(state)?;
        }
        if state.far.is_empty() && state.abandoned.is_empty() {
            return Ok(());
        }
        let failed = state.far.extract_if(.., |(_, request, _)| request.test().is_err());
        for (rank, mut request, memory) in failed.collect::<Vec<_>>() {
            let error = request.test().err().map(|error| error.to_string()).unwrap_or_default();
            state.inbox.depart(rank, &format!("messages to it are lost: {error}"));
            // What MPI still does with them it does not say.
            std::mem::forget((request, memory));
        }
        let is_finished = |request: &mut Request| matches!(request.test(), Ok(Some(_)));
        state.far.retain_mut(|(_, request, _)| !is_finished(request));
        state.abandoned.retain_mut(|one| !is_finished(&mut one.request));
        Ok(())
    }

    /// Listens a little longer: MPI may hold back a message that overrides one it has handed out.
    pub(crate) fn settle(&self, state: &mut State) -> Result<(), MpiError> {
        if !self.has_far() {
            return Ok(());
        }
        let mut n_silent = 0;
        while n_silent < N_SETTLING_POLLS {
            let n_before = state.n_far_messages;
            self.poll_into(state)?;
            n_silent = if state.n_far_messages == n_before { n_silent + 1 } else { 0 };
        }
        Ok(())
    }

    fn has_far(&self) -> bool {
        self.n_neighbours() + 1 < self.size()
    }

    /// Whether there may be something to take in.
    pub(crate) fn has_news(&self) -> bool {
        self.has_far() || self.node.as_ref().is_some_and(Node::has_news)
    }

    fn hear_far(&self, state: &mut State) -> Result<(), MpiError> {
        while let Some(message) = self.control.improbe(Source::Any, Tag::Is(CONTROL_TAG))? {
            let status = message.status();
            let mut bytes = vec![0_u8; status.n_bytes];
            message.recv(&mut bytes)?;
            let map = |rank: u64, block: Block| self.map(rank, block);
            state.inbox.take(&bytes, status.source as u64, &map);
            state.n_far_messages += 1;
        }
        Ok(())
    }

    /// Whether everything that was sent has left this process.
    pub(crate) fn is_sent(&self, state: &State) -> bool {
        state.far.is_empty() && state.near.iter().all(Stream::is_sent)
    }

    /// What was sent to ranks of the world and has not left this process. What goes to others may wait
    /// for a link that is down, and is not these ranks' business.
    pub(crate) fn unsent_to(&self, state: &State, ranks: &[u64]) -> Unsent {
        if self.is_sent(state) {
            return Unsent::default();
        }
        let near = self.node.as_ref().map_or(&[][..], Node::neighbours).iter().zip(&state.near);
        let near = near.filter(|(one, _)| ranks.contains(&one.rank));
        let far = state.far.iter().filter(|(rank, ..)| ranks.contains(rank));
        Unsent {
            near: near.map(|(_, stream)| stream.n_unsent()).sum(),
            far: far.map(|(_, _, bytes)| bytes.len()).sum(),
        }
    }

    /// Keeps messages that were given up, and their memory, until MPI is done with them.
    pub(crate) fn keep_abandoned(&self, abandoned: Vec<Abandoned>) {
        self.state().abandoned.extend(abandoned);
    }

    /// Waits a little for messages that were given up and arrive in targets all the same: these are
    /// their owner's again when the call returns.
    pub(crate) fn await_abandoned(&self) {
        let start = Instant::now();
        let arrives = || self.state().abandoned.iter().any(|one| one.memory.is_none());
        // The call has an error to tell already.
        while arrives() && start.elapsed() < LISTEN_MORE && self.poll().is_ok() {
            std::thread::yield_now();
        }
    }

    /// Memory for a chunk, that of an earlier one if it is large enough.
    pub(crate) fn spare(&self, n_bytes: usize) -> ChunkMemory {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = spare.iter().position(|one| one.len() >= n_bytes) {
            return spare.swap_remove(at);
        }
        let mut fresh = ChunkMemory::for_several(n_bytes);
        let one = fresh.pop().unwrap_or_default();
        spare.append(&mut fresh);
        one
    }

    /// Keeps memory of chunks for later ones.
    pub(crate) fn keep_spare(&self, memory: Vec<ChunkMemory>) {
        let mut spare = self.spare.lock().unwrap_or_else(PoisonError::into_inner);
        spare.extend(memory.into_iter().filter(|one| !one.is_empty()));
        spare.truncate(MOST_SPARE);
    }

    /// Sleeps a little, or until a neighbour writes.
    pub(crate) fn rest(&self, limit: Duration) {
        let limit = if self.has_far() { limit.min(LONGEST_SLEEP) } else { limit };
        let Some(node) = &self.node else {
            return std::thread::sleep(limit.min(LONGEST_SLEEP));
        };
        let waits_for_room = !self.is_sent(&self.state());
        let has_room = || waits_for_room && node.neighbours().iter().any(Neighbour::has_room);
        node.rings().sleep(limit, || node.has_news() || has_room());
    }
}

/// A world and its state, for the rules of rounds.
pub(crate) struct Surroundings<'a> {
    world: &'a World,
    pub state: MutexGuard<'a, State>,
}

impl Around for Surroundings<'_> {
    fn inbox(&mut self) -> &mut Inbox {
        &mut self.state.inbox
    }

    fn send(
        &mut self,
        message: &ControlMessage,
        to: &mut dyn Iterator<Item = u64>,
    ) -> Result<(), MpiError> {
        self.world.send(&mut self.state, message, to)
    }

    fn send_each(
        &mut self,
        messages: &mut dyn Iterator<Item = (u64, ControlMessage)>,
    ) -> Result<(), MpiError> {
        self.world.send_each(&mut self.state, messages)
    }

    fn unsent_to(&self, members: &[u64]) -> Unsent {
        self.world.unsent_to(&self.state, members)
    }

    fn life(&self, member: u64) -> Option<Life> {
        self.world.life(member)
    }

    fn ask_after(&self, members: &mut dyn Iterator<Item = u64>) {
        self.world.ask_after(members);
    }

    fn shares(&self, member: u64) -> bool {
        self.world.neighbour(member).is_some()
    }

    fn wire_offer(&self, offer: &Offer) -> WireOffer {
        wire_offer(offer)
    }
}

/// What MPI reports, as an error of a team.
#[allow(clippy::needless_pass_by_value, reason = "made for `map_err`")]
pub(crate) fn broken(error: MpiError) -> TeamError {
    if matches!(error, MpiError::Forked { .. }) {
        return TeamError::Forked { engine: Engine::Mpi };
    }
    TeamError::Engine { message: error.to_string() }
}
