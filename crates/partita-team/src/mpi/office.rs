//! The office: one process's control messages, in and out.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use partita_mpi::{Comm, Datatype, Kind, MpiError, Request, Source, Tag};

use crate::error::Failure;
use crate::mpi::wire::{Note, Parcel};

const CONTROL_TAG: i32 = 1;

/// What a rank posted.
pub(crate) type Post = Result<Parcel, Failure>;

/// A process's side of all its teams.
#[derive(Debug)]
pub struct Office {
    control: Comm,
    data: Comm,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Posts by team and round, then by rank of the team.
    inbox: HashMap<(u64, u64), HashMap<u64, Post>>,
    /// Rounds that this rank has come to, by team.
    rounds: HashMap<u64, u64>,
    /// Ranks of the world that have left, and why.
    departed: HashMap<u64, String>,
    /// Messages under way, with the memory they are sent from.
    outgoing: Vec<(Request, Box<[u8]>)>,
}

impl Office {
    /// Opens an office on a communicator. Collective over it: the communicators are made here.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn new(world: &Comm) -> Result<Self, MpiError> {
        Ok(Self { control: world.dup()?, data: world.dup()?, state: Mutex::default() })
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

    pub(crate) fn data(&self) -> &Comm {
        &self.data
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of this rank's next round of a team.
    pub(crate) fn next_round(&self, team: u64) -> u64 {
        let mut state = self.state();
        let rounds = state.rounds.entry(team).or_insert(0);
        *rounds += 1;
        *rounds - 1
    }

    /// Sends a note to some ranks of the world; it keeps its memory until it has gone out.
    pub(crate) fn send(&self, note: &Note, to: impl Iterator<Item = u64>) -> Result<(), MpiError> {
        let bytes: Box<[u8]> = note.encode().into();
        let datatype = Datatype::new(self.control.library(), Kind::Byte);
        for rank in to.filter(|rank| *rank != self.rank()) {
            let copy = bytes.clone();
            // SAFETY: the copy is kept, unchanged, until the request has finished.
            let request = unsafe {
                self.control.isend(
                    copy.as_ptr().cast(),
                    copy.len(),
                    &datatype,
                    rank as usize,
                    CONTROL_TAG,
                )?
            };
            self.state().outgoing.push((request, copy));
        }
        Ok(())
    }

    /// Tells every rank that this one comes to no meeting any more.
    ///
    /// # Errors
    /// What MPI reports.
    pub fn leave(&self, why: &str) -> Result<(), MpiError> {
        self.send(&Note::Left { why: why.to_string() }, 0..self.size())
    }

    /// Puts this rank's own post where the others' arrive.
    pub(crate) fn put(&self, team: u64, round: u64, rank: u64, post: Post) {
        self.state().inbox.entry((team, round)).or_default().insert(rank, post);
    }

    /// Takes in all messages that are there.
    pub(crate) fn poll(&self) -> Result<(), MpiError> {
        while let Some(message) = self.control.improbe(Source::Any, Tag::Is(CONTROL_TAG))? {
            let status = message.status();
            let mut bytes = vec![0_u8; status.n_bytes];
            message.recv(&mut bytes)?;
            self.dispatch(status.source as u64, &bytes);
        }
        self.state().outgoing.retain_mut(|(request, _)| !matches!(request.test(), Ok(Some(_))));
        Ok(())
    }

    fn dispatch(&self, source: u64, bytes: &[u8]) {
        let mut state = self.state();
        match Note::decode(bytes) {
            Some(Note::Post { team, round, rank, post }) => {
                // A failure overrides what the rank posted before: it gave the round up.
                let posts = state.inbox.entry((team, round)).or_default();
                if post.is_err() || !posts.contains_key(&rank) {
                    posts.insert(rank, post);
                }
            }
            Some(Note::Left { why }) => {
                state.departed.entry(source).or_insert(why);
            }
            None => {}
        }
    }

    /// Why a rank of the world has left, if it has.
    pub(crate) fn departed(&self, rank: u64) -> Option<String> {
        self.state().departed.get(&rank).cloned()
    }

    /// The posts of a round so far, by rank of the team.
    pub(crate) fn posts(&self, team: u64, round: u64) -> HashMap<u64, Post> {
        self.state().inbox.get(&(team, round)).cloned().unwrap_or_default()
    }

    /// Forgets a round that is over, and those before it.
    pub(crate) fn forget(&self, team: u64, round: u64) {
        self.state().inbox.retain(|(t, r), _| *t != team || *r > round);
    }
}
