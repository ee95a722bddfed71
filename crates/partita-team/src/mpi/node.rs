//! The node: the processes of one machine that can touch each other's memory.
//!
//! Whoever opens an office tells all others where its arena is. Processes of one machine open each
//! other's arenas through `/proc`, map the boards, and greet; only where both have greeted do they
//! share. Anything that fails on the way (another container, another user, no `/proc`) leaves the
//! pair with messages.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use partita_mpi::{Comm, MpiError};

use crate::arena::{Address, Arena, Block};
use crate::foreign::{Foreign, Life, Mapping, life_of, machine};
use crate::memory::Memory;
use crate::mpi::board::{Board, Ring};

/// This process's neighbours.
#[derive(Debug)]
pub(crate) struct Node {
    board: Board,
    home: Retired,
    neighbours: Vec<Neighbour>,
    /// Rank of the world to place in the list.
    places: HashMap<u64, usize>,
}

/// Another process of the machine.
#[derive(Debug)]
pub(crate) struct Neighbour {
    pub rank: u64,
    arena: Foreign,
    board: Board,
    /// Those of its board.
    #[allow(dead_code, reason = "held for its drop")]
    pages: Arc<Mapping>,
    /// This process's place on that board.
    at: usize,
    pub incoming: Ring,
    pub outgoing: Ring,
}

/// A board that is in use no more, and the processes by their places on it.
#[derive(Debug, Clone)]
struct Retired {
    block: Block,
    processes: Vec<u64>,
}

/// Boards whose memory some neighbour may still touch.
static RETIRED: Mutex<Vec<Retired>> = Mutex::new(Vec::new());

impl Retired {
    /// Whether all neighbours have parted, or have ended.
    fn is_left(&self, arena: &Arena) -> bool {
        // SAFETY: the block is given back only after this.
        let board = unsafe { Board::at(arena.at(self.block), self.processes.len()) };
        let is_here = |(at, process): (usize, &u64)| {
            board.is_greeted_by(at) && life_of(*process) != Life::Ended
        };
        !self.processes.iter().enumerate().any(is_here)
    }
}

/// Gives back the memory of boards that nobody touches any more, and keeps one more for later.
fn retire(arena: &Arena, more: Option<Retired>) {
    let mut retired = RETIRED.lock().unwrap_or_else(PoisonError::into_inner);
    retired.extend(more);
    retired.retain(|one| {
        let is_left = one.is_left(arena);
        if is_left {
            arena.give(one.block);
        }
        !is_left
    });
}

/// What a process tells all others.
const CARD_WORDS: usize = 6;
type Card = [u64; CARD_WORDS];

impl Node {
    /// Finds the neighbours. Collective over the communicator.
    pub(crate) fn meet(world: &Comm) -> Result<Option<Self>, MpiError> {
        let machines = gather(world, &[machine()])?;
        let own = world.rank();
        let ranks: Vec<u64> =
            (0..).zip(&machines).filter(|(_, m)| **m == machines[own]).map(|(r, _)| r).collect();
        let arena =
            (machines[own] != 0 && ranks.len() > 1 && Memory::share()).then(Arena::get).flatten();
        let board = arena.and_then(|arena| {
            retire(arena, None);
            arena.take(Board::n_bytes(ranks.len()))
        });
        let card = arena.zip(board).and_then(|(arena, board)| card(arena, board));
        let cards = gather(world, &card.unwrap_or_default())?;
        let node = arena.zip(board).map(|(arena, block)| {
            // SAFETY: the block was just taken, is zeroed, and is given back when nobody uses it.
            let board = unsafe { Board::at(arena.at(block), ranks.len()) };
            let process = |rank: &u64| cards[*rank as usize * CARD_WORDS];
            let home = Retired { block, processes: ranks.iter().map(process).collect() };
            Self::greet((board, home), &ranks, own as u64, &cards)
        });
        // Everybody has greeted before anybody counts the greetings.
        world.barrier()?;
        Ok(node.map(|node| node.keep_greeted(&ranks)))
    }

    fn greet((board, home): (Board, Retired), ranks: &[u64], own: u64, cards: &[u64]) -> Self {
        let at = ranks.iter().position(|rank| *rank == own).unwrap_or_default();
        let others = ranks.iter().enumerate().filter(|(_, rank)| **rank != own);
        let neighbours = others.filter_map(|(place, &rank)| {
            let card = &cards[rank as usize * CARD_WORDS..][..CARD_WORDS];
            Neighbour::find(rank, card, ranks.len(), (at, board.ring(place)))
        });
        Self { board, home, neighbours: neighbours.collect(), places: HashMap::new() }
    }

    fn keep_greeted(mut self, ranks: &[u64]) -> Self {
        let board = self.board;
        let place = |rank: u64| ranks.iter().position(|other| *other == rank);
        self.neighbours.retain(|n| place(n.rank).is_some_and(|place| board.is_greeted_by(place)));
        self.places = self.neighbours.iter().enumerate().map(|(at, n)| (n.rank, at)).collect();
        self
    }

    pub(crate) fn board(&self) -> &Board {
        &self.board
    }

    pub(crate) fn neighbours(&self) -> &[Neighbour] {
        &self.neighbours
    }

    /// Where a rank of the world is among the neighbours.
    pub(crate) fn place(&self, rank: u64) -> Option<usize> {
        self.places.get(&rank).copied()
    }

    pub(crate) fn neighbour(&self, rank: u64) -> Option<&Neighbour> {
        self.place(rank).map(|place| &self.neighbours[place])
    }

    /// Whether any neighbour has written.
    pub(crate) fn has_news(&self) -> bool {
        self.neighbours.iter().any(|neighbour| neighbour.incoming.has_news())
    }
}

impl Neighbour {
    /// Opens a process's arena and maps its board; greets it if all went well.
    fn find(
        rank: u64,
        card: &[u64],
        n_places: usize,
        (at, outgoing): (usize, Ring),
    ) -> Option<Self> {
        let [process, file, device, inode, offset, n_bytes] = *card else { return None };
        let arena = Foreign::open(Address { process, file, device, inode })?;
        let block = Block { offset: offset as usize, n_bytes: n_bytes as usize };
        let pages = arena.map(block)?;
        // SAFETY: the neighbour's board, mapped for as long as this has its pages.
        let board = unsafe { Board::at(pages.address(), n_places) };
        board.greet(at);
        Some(Self { rank, arena, board, pages, at, incoming: board.ring(at), outgoing })
    }

    /// Whether a note to it can go on its way.
    pub(crate) fn has_room(&self) -> bool {
        self.outgoing.has_room()
    }

    /// Wakes the process if it sleeps.
    pub(crate) fn wake(&self) {
        self.board.wake();
    }

    /// Maps a block of its arena; the same mapping again if it is known.
    pub(crate) fn map(&self, block: Block) -> Option<Arc<Mapping>> {
        self.arena.map(block)
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        // A forked child has never greeted.
        if Arena::get().is_some() {
            self.board.part(self.at);
        }
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        if let Some(arena) = Arena::get() {
            retire(arena, Some(self.home.clone()));
        }
    }
}

fn card(arena: &Arena, board: Block) -> Option<Card> {
    let Address { process, file, device, inode } = arena.address()?;
    Some([process, file, device, inode, board.offset as u64, board.n_bytes as u64])
}

/// Numbers of all processes, by rank.
pub(crate) fn gather(world: &Comm, own: &[u64]) -> Result<Vec<u64>, MpiError> {
    let mut all = vec![0; own.len() * world.size()];
    world.allgather(own, &mut all)?;
    Ok(all)
}
