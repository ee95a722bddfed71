//! The office: one process's control messages, in and out.
//!
//! Notes to neighbours of the node go through rings in shared memory, notes to far processes by
//! MPI. Both keep the order of what one process sends to another.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use partita_mpi::{Comm, Datatype, Kind, MpiError, Request, Source, Tag};

use crate::callers::Callers;
use crate::error::TeamError;
use crate::meeting::Desk;
use crate::mpi::circles::Watch;
use crate::mpi::hall::Hall;
use crate::mpi::inbox::Inbox;
use crate::mpi::node::{Neighbour, Node};
use crate::mpi::stream::Stream;
use crate::mpi::wire::Note;
use crate::team::Team;
use crate::wait::Patience;

const CONTROL_TAG: i32 = 1;
/// Tags of data messages lie above the control tag.
const FIRST_DATA_TAG: u64 = 2;
/// Far processes are heard only when asked: no sleep is longer than this where there are some.
const LONGEST_SLEEP: Duration = Duration::from_micros(200);
/// How long a process that ends listens to the others.
const FAREWELL: Duration = Duration::from_millis(300);
/// Polls after which what MPI had is out.
const N_SETTLING_POLLS: u32 = 4;
/// Letters whose memory is kept.
const MOST_SHEETS: usize = 16;

/// Whether processes of one node use each other's memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sharing {
    /// Where the system allows it.
    Memory,
    /// Never: everything travels by messages.
    Nothing,
}

/// A process's side of all its teams.
#[derive(Debug)]
pub struct Office {
    control: Comm,
    data: Comm,
    node: Option<Node>,
    state: Mutex<State>,
    /// By the number that names a team in messages.
    desks: Mutex<HashMap<u64, Arc<Desk>>>,
    callers: Arc<Callers>,
    n_tags: u64,
    next_tag: AtomicU64,
    /// Warm memory for letters.
    paper: Mutex<Vec<Box<[u8]>>>,
}

/// What the office holds under its lock.
#[derive(Debug, Default)]
pub(crate) struct State {
    pub inbox: Inbox,
    pub watch: Watch,
    /// Notes to far processes under way, with the memory they are sent from.
    far: Vec<(Request, Box<[u8]>)>,
    /// Notes to and from each neighbour.
    near: Vec<Stream>,
    /// Messages that were given up, with their memory.
    orphans: Vec<(Request, Box<[u8]>)>,
}

impl Office {
    /// Opens an office on a communicator. Collective over it: the communicators are made here.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn new(world: &Comm, sharing: Sharing) -> Result<Self, MpiError> {
        let (control, data) = (world.dup()?, world.dup()?);
        let node = match sharing {
            Sharing::Memory => Node::meet(&control)?,
            Sharing::Nothing => None,
        };
        let n_near = node.as_ref().map_or(0, |node| node.neighbours().len());
        let near = (0..n_near).map(|_| Stream::default()).collect();
        Ok(Self {
            n_tags: (data.max_tag()?.max(32_767) as u64) - FIRST_DATA_TAG,
            control,
            data,
            node,
            state: Mutex::new(State { near, ..State::default() }),
            desks: Mutex::default(),
            callers: Arc::default(),
            next_tag: AtomicU64::new(0),
            paper: Mutex::default(),
        })
    }

    /// The team of all processes. Call it on the thread that makes this rank's calls.
    #[must_use]
    pub fn team(self: &Arc<Self>) -> Team {
        self.callers.enter();
        let members: Vec<u64> = (0..self.size()).collect();
        // Without shared memory it is unknown who is on the same machine: think of all.
        let n_near = self.node.as_ref().map_or(members.len(), |node| node.neighbours().len() + 1);
        Team::new(Arc::new(Hall::new(self, &members)), Patience::for_ranks(n_near))
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

    pub(crate) fn neighbour(&self, rank: u64) -> Option<&Neighbour> {
        self.node.as_ref()?.neighbour(rank)
    }

    pub(crate) fn desk(&self, team: u64) -> Arc<Desk> {
        let mut desks = self.desks.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(desks.entry(team).or_default())
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

    /// Sends a note to some ranks of the world.
    pub(crate) fn send(
        &self,
        state: &mut State,
        note: &Note,
        to: impl Iterator<Item = u64>,
    ) -> Result<(), MpiError> {
        let bytes = note.encode();
        let own = self.rank();
        for rank in to.filter(|rank| *rank != own) {
            match self.node.as_ref().and_then(|node| Some((node, node.place(rank)?))) {
                Some((node, place)) => {
                    state.near[place].send(&bytes, &node.neighbours()[place]);
                }
                None => self.send_far(state, &bytes, rank)?,
            }
        }
        Ok(())
    }

    fn send_far(&self, state: &mut State, bytes: &[u8], rank: u64) -> Result<(), MpiError> {
        let copy: Box<[u8]> = bytes.into();
        let datatype = Datatype::new(self.control.library(), Kind::Byte);
        let (data, to) = (copy.as_ptr().cast(), rank as usize);
        // SAFETY: the copy is kept, unchanged, until the request has finished.
        let request = unsafe { self.control.isend(data, copy.len(), &datatype, to, CONTROL_TAG)? };
        state.far.push((request, copy));
        Ok(())
    }

    /// Tells every rank that this one comes to no meeting any more.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn leave(&self, why: &str) -> Result<(), MpiError> {
        self.send(&mut self.state(), &Note::Left { why: why.to_string() }, 0..self.size())
    }

    /// Leaves, and gives the others a moment to say the same.
    ///
    /// Their last notes are taken in before MPI ends, which else complains of them.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn close(&self, why: &str) -> Result<(), MpiError> {
        self.leave(why)?;
        let start = Instant::now();
        while start.elapsed() < FAREWELL {
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

    /// Takes in all notes that are there, and sends on what waits.
    pub(crate) fn poll(&self) -> Result<(), MpiError> {
        let mut guard = self.state();
        let state = &mut *guard;
        if let Some(node) = &self.node {
            for (stream, neighbour) in state.near.iter_mut().zip(node.neighbours()) {
                let inbox = &mut state.inbox;
                let take = |note: &[u8]| inbox.take(note, neighbour.rank, Some(neighbour));
                if stream.hear(neighbour, take).is_none() {
                    inbox.depart(neighbour.rank, "the memory that its notes come by is damaged");
                }
            }
        }
        if self.has_far() {
            self.hear_far(state)?;
        }
        let is_finished = |request: &mut Request| matches!(request.test(), Ok(Some(_)));
        state.far.retain_mut(|(request, _)| !is_finished(request));
        state.orphans.retain_mut(|(request, _)| !is_finished(request));
        Ok(())
    }

    /// Listens a little longer: MPI may hold back a note that overrides one it has handed out.
    pub(crate) fn settle(&self) -> Result<(), MpiError> {
        let n_polls = if self.has_far() { N_SETTLING_POLLS } else { 0 };
        (0..n_polls).try_for_each(|_| self.poll())
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
            state.inbox.take(&bytes, status.source as u64, None);
        }
        Ok(())
    }

    /// Whether everything that was sent has left this process.
    pub(crate) fn is_sent(&self, state: &State) -> bool {
        state.far.is_empty() && state.near.iter().all(Stream::is_sent)
    }

    /// Keeps messages that were given up, and their memory, until MPI is done with them.
    pub(crate) fn adopt(&self, orphans: impl Iterator<Item = (Request, Box<[u8]>)>) {
        self.state().orphans.extend(orphans);
    }

    /// Memory of an earlier letter that is large enough.
    pub(crate) fn paper(&self, n_bytes: usize) -> Option<Box<[u8]>> {
        let mut paper = self.paper.lock().unwrap_or_else(PoisonError::into_inner);
        let at = paper.iter().position(|sheet| sheet.len() >= n_bytes)?;
        Some(paper.swap_remove(at))
    }

    /// Keeps memory of letters for later ones.
    pub(crate) fn keep_paper(&self, sheets: Vec<Box<[u8]>>) {
        let mut paper = self.paper.lock().unwrap_or_else(PoisonError::into_inner);
        paper.extend(sheets.into_iter().filter(|sheet| !sheet.is_empty()));
        paper.truncate(MOST_SHEETS);
    }

    /// Sleeps a little, or until a neighbour writes.
    pub(crate) fn rest(&self, limit: Duration) {
        let limit = if self.has_far() { limit.min(LONGEST_SLEEP) } else { limit };
        let Some(node) = &self.node else {
            return std::thread::sleep(limit.min(LONGEST_SLEEP));
        };
        let waits_for_room = !self.is_sent(&self.state());
        let has_room = || waits_for_room && node.neighbours().iter().any(Neighbour::has_room);
        node.board().sleep(limit, || node.has_news() || has_room());
    }
}

/// What MPI reports, as an error of a team.
#[allow(clippy::needless_pass_by_value, reason = "made for `map_err`")]
pub(crate) fn broken(error: MpiError) -> TeamError {
    TeamError::Engine { message: error.to_string() }
}
