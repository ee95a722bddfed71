//! The node: the processes of one machine that can touch each other's memory.
//!
//! Whoever opens an office tells all others where its arena is. Processes of one machine open each
//! other's arenas through `/proc`, map the boards, and greet; only where both have greeted do they
//! share. Anything that fails on the way (another container, another user, no `/proc`) leaves the
//! pair with messages.

use std::collections::HashMap;
use std::fs::File;
use std::os::fd::AsRawFd;
use std::sync::{Arc, Mutex, PoisonError};

use partita_mpi::{Comm, MpiError};

use crate::arena::{self, Address, Arena, Block};
use crate::memory::Memory;
use crate::mpi::board::{Board, Ring};

/// Mappings that are kept per neighbour.
const MOST_MAPPINGS: usize = 64;

/// This process's neighbours.
#[derive(Debug)]
pub(crate) struct Node {
    board: Board,
    neighbours: Vec<Neighbour>,
    /// Rank of the world to place in the list.
    places: HashMap<u64, usize>,
}

/// Another process of the machine.
#[derive(Debug)]
pub(crate) struct Neighbour {
    pub rank: u64,
    process: u64,
    arena: File,
    board: Board,
    pub incoming: Ring,
    pub outgoing: Ring,
    mappings: Mutex<Vec<Arc<Mapping>>>,
}

/// A block of a neighbour's arena, mapped here.
#[derive(Debug)]
pub(crate) struct Mapping {
    block: Block,
    address: usize,
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: mapped in `Neighbour::map`, and nobody has its address any more.
        unsafe { libc::munmap(self.address as *mut libc::c_void, self.block.n_bytes) };
    }
}

/// How a process lives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Life {
    Runs,
    /// By a signal or a debugger.
    Stopped,
    Ended,
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
        let board = arena.and_then(|arena| arena.take(Board::n_bytes(ranks.len())));
        let card = arena.zip(board).and_then(|(arena, board)| card(arena, board));
        let cards = gather(world, &card.unwrap_or_default())?;
        let node = arena.zip(board).map(|(arena, block)| {
            // SAFETY: the block was just taken, is zeroed, and is never given back.
            let board = unsafe { Board::at(arena.at(block), ranks.len()) };
            Self::greet(board, &ranks, own as u64, &cards)
        });
        // Everybody has greeted before anybody counts the greetings.
        world.barrier()?;
        Ok(node.map(|node| node.keep_greeted(&ranks)))
    }

    fn greet(board: Board, ranks: &[u64], own: u64, cards: &[u64]) -> Self {
        let at = ranks.iter().position(|rank| *rank == own).unwrap_or_default();
        let others = ranks.iter().enumerate().filter(|(_, rank)| **rank != own);
        let neighbours = others.filter_map(|(place, &rank)| {
            let card = &cards[rank as usize * CARD_WORDS..][..CARD_WORDS];
            Neighbour::find(rank, card, ranks.len(), (at, board.ring(place)))
        });
        Self { board, neighbours: neighbours.collect(), places: HashMap::new() }
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
        if process == 0 {
            return None;
        }
        let path = format!("/proc/{process}/fd/{file}");
        let arena = File::options().read(true).write(true).open(path).ok()?;
        if arena::identity(arena.as_raw_fd())? != (device, inode) {
            return None;
        }
        let (offset, n_bytes) = (offset as usize, n_bytes as usize);
        let address = arena::map(arena.as_raw_fd(), offset, n_bytes)?;
        // SAFETY: the neighbour's board, mapped for as long as this process lives.
        let board = unsafe { Board::at(address, n_places) };
        board.greet(at);
        let (incoming, mappings) = (board.ring(at), Mutex::default());
        Some(Self { rank, process, arena, board, incoming, outgoing, mappings })
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
        let mut mappings = self.mappings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = mappings.iter().position(|mapping| mapping.block == block) {
            let known = mappings.remove(at);
            mappings.push(Arc::clone(&known));
            return Some(known);
        }
        let address = arena::map(self.arena.as_raw_fd(), block.offset, block.n_bytes)?;
        populate(address, block.n_bytes);
        let mapping = Arc::new(Mapping { block, address });
        if mappings.len() == MOST_MAPPINGS {
            mappings.remove(0);
        }
        mappings.push(Arc::clone(&mapping));
        Some(mapping)
    }

    /// Looks how the process is.
    pub(crate) fn life(&self) -> Life {
        let Ok(stat) = std::fs::read_to_string(format!("/proc/{}/stat", self.process)) else {
            return Life::Ended;
        };
        // The name of the program stands in brackets and may contain anything.
        let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
        match state {
            Some('Z' | 'X' | 'x') | None => Life::Ended,
            Some('T' | 't') => Life::Stopped,
            Some(_) => Life::Runs,
        }
    }
}

impl Mapping {
    pub(crate) fn address(&self) -> usize {
        self.address
    }
}

/// Makes the pages of a mapping present at once, which is cheaper than one by one.
fn populate(address: usize, n_bytes: usize) {
    #[cfg(target_os = "linux")]
    // SAFETY: a mapping of ours; the advice does not change its content.
    unsafe {
        libc::madvise(address as *mut libc::c_void, n_bytes, libc::MADV_POPULATE_WRITE);
    }
}

fn card(arena: &Arena, board: Block) -> Option<Card> {
    let Address { process, file, device, inode } = arena.address()?;
    Some([process, file, device, inode, board.offset as u64, board.n_bytes as u64])
}

/// A number that processes of one machine have in common; zero if it is unknown.
fn machine() -> u64 {
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    text.bytes().fold(0, |hash: u64, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3))
}

fn gather(world: &Comm, own: &[u64]) -> Result<Vec<u64>, MpiError> {
    let mut all = vec![0; own.len() * world.size()];
    world.allgather(own, &mut all)?;
    Ok(all)
}
