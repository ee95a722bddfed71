//! The node: the processes of one machine that can touch each other's memory.
//!
//! Whoever opens a world tells all others where its arena is. Processes of one machine open each
//! other's arenas through `/proc`, map the rings, and say so; only where both have done so do they
//! share. Anything that fails on the way (another container, another user, no `/proc`) leaves the
//! pair with messages.

use std::sync::{Arc, Mutex, PoisonError};

use partita_mpi::{Comm, MpiError};
use rustc_hash::FxHashMap;

use crate::memory::arena::{Address, Arena, Block};
use crate::memory::other_arena::{Mapping, OtherArena};
use crate::memory::pool::Memory;
use crate::memory::process::{Life, life_of, machine};
use crate::mpi::meeting::key_of;
use crate::mpi::rings::{Incoming, Outgoing, Ring, Rings};
use crate::mpi::world::Sharing;

/// This process's neighbours.
#[derive(Debug)]
pub(crate) struct Node {
    rings: Rings,
    home: Retired,
    neighbours: Vec<Neighbour>,
    /// Rank of the world to place in the list.
    places: FxHashMap<u64, usize>,
}

/// Another process of the machine.
#[derive(Debug)]
pub(crate) struct Neighbour {
    pub rank: u64,
    arena: OtherArena,
    rings: Rings,
    /// Those of its rings.
    #[allow(dead_code, reason = "held for its drop")]
    pages: Arc<Mapping>,
    /// This process's place among the readers of its rings.
    at: usize,
    pub incoming: Incoming,
    pub outgoing: Outgoing,
}

/// Rings that are in use no more, and the processes that read them, by their places.
#[derive(Debug, Clone)]
struct Retired {
    block: Block,
    processes: Vec<u64>,
}

/// Rings whose memory some neighbour may still touch.
static RETIRED: Mutex<Vec<Retired>> = Mutex::new(Vec::new());

impl Retired {
    /// Whether all neighbours have let go of them, or have ended.
    fn is_left(&self, arena: &Arena) -> bool {
        // SAFETY: the block is given back only after this.
        let rings = unsafe { Rings::at(arena.at(self.block), self.processes.len()) };
        let is_here = |(at, process): (usize, &u64)| {
            rings.is_mapped_by(at) && life_of(*process) != Life::Ended
        };
        !self.processes.iter().enumerate().any(is_here)
    }
}

/// Gives back the memory of rings that nobody touches any more, and keeps one more for later.
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
const INFO_WORDS: usize = 6;
type NodeInfo = [u64; INFO_WORDS];

impl Node {
    /// Finds the neighbours. Collective over the communicator, whoever shares memory.
    pub(crate) fn meet(world: &Comm, sharing: Sharing) -> Result<Option<Self>, MpiError> {
        let most = match sharing {
            Sharing::Memory => u64::MAX,
            Sharing::Among(n_ranks) => n_ranks.max(1),
            Sharing::Nothing => 0,
        };
        let own = world.rank() as u64;
        let here = if most == 0 { 0 } else { machine() };
        // Neighbours number each other alike, so they must mean the same ranks.
        let all = gather(world, &[here, most])?;
        let is_near = |rank: u64, told: &[u64]| *told == [here, most] && rank / most == own / most;
        let told = (0..).zip(all.chunks(2)).filter(|_| here != 0);
        let ranks: Vec<u64> =
            told.filter(|(rank, told)| is_near(*rank, told)).map(|(rank, _)| rank).collect();
        let arena = (ranks.len() > 1 && Memory::share()).then(Arena::get).flatten();
        let rings = arena.and_then(|arena| {
            retire(arena, None);
            arena.take(Rings::n_bytes(ranks.len()))
        });
        let info = arena.zip(rings).and_then(|(arena, rings)| info(arena, rings));
        let infos = gather(world, &info.unwrap_or_default())?;
        let node = arena.zip(rings).map(|(arena, block)| {
            // SAFETY: the block was just taken, is zeroed, and is given back when nobody uses it.
            let rings = unsafe { Rings::at(arena.at(block), ranks.len()) };
            let process = |rank: &u64| infos[*rank as usize * INFO_WORDS];
            let home = Retired { block, processes: ranks.iter().map(process).collect() };
            Self::mark_mapped((rings, home), &ranks, own, &infos)
        });
        // Everybody has mapped before anybody counts the marks.
        world.barrier()?;
        Ok(node.map(|node| node.keep_mutual(&ranks)))
    }

    fn mark_mapped(
        (rings, home): (Rings, Retired),
        ranks: &[u64],
        own: u64,
        infos: &[u64],
    ) -> Self {
        let at = ranks.iter().position(|rank| *rank == own).unwrap_or_default();
        let others = ranks.iter().enumerate().filter(|(_, rank)| **rank != own);
        let neighbours = others.filter_map(|(place, &rank)| {
            let info = &infos[rank as usize * INFO_WORDS..][..INFO_WORDS];
            Neighbour::find(rank, info, ranks.len(), (at, rings.ring(place)))
        });
        Self { rings, home, neighbours: neighbours.collect(), places: FxHashMap::default() }
    }

    fn keep_mutual(mut self, ranks: &[u64]) -> Self {
        let rings = self.rings;
        let place = |rank: u64| ranks.iter().position(|other| *other == rank);
        self.neighbours.retain(|n| place(n.rank).is_some_and(|place| rings.is_mapped_by(place)));
        self.places = self.neighbours.iter().enumerate().map(|(at, n)| (n.rank, at)).collect();
        self
    }

    pub(crate) fn rings(&self) -> &Rings {
        &self.rings
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
    /// Opens a process's arena and maps its rings; says so there if all went well.
    fn find(
        rank: u64,
        info: &[u64],
        n_places: usize,
        (at, outgoing): (usize, Ring),
    ) -> Option<Self> {
        let [process, file, device, inode, offset, n_bytes] = *info else { return None };
        let arena = OtherArena::open(Address { process, file, device, inode })?;
        let block = Block { offset: offset as usize, n_bytes: n_bytes as usize };
        // Beyond the end of the file nothing can be touched.
        if !arena.has(block) || block.n_bytes < Rings::n_bytes(n_places) {
            return None;
        }
        let pages = arena.map(block)?;
        // SAFETY: the neighbour's rings, mapped for as long as this has its pages.
        let rings = unsafe { Rings::at(pages.address(), n_places) };
        rings.mark_mapped(at);
        let (incoming, outgoing) = (Incoming::new(rings.ring(at)), Outgoing::new(outgoing));
        Some(Self { rank, arena, rings, pages, at, incoming, outgoing })
    }

    /// Whether a message to it can go on its way.
    pub(crate) fn has_room(&self) -> bool {
        self.outgoing.has_room()
    }

    /// Wakes the process if it sleeps; call it after writing, and [`written`](super::rings::written).
    pub(crate) fn wake(&self) {
        self.rings.wake();
    }

    /// Maps a block of its arena; the same mapping again if it is known.
    pub(crate) fn map(&self, block: Block) -> Option<Arc<Mapping>> {
        self.arena.map(block)
    }
}

impl Drop for Neighbour {
    fn drop(&mut self) {
        // A forked child has never said that it maps them.
        if Arena::get().is_some() {
            self.rings.mark_unmapped(self.at);
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

/// A number for the node of each rank: those that have the same all share memory with each other.
/// Collective over the communicator.
pub(crate) fn nodes(world: &Comm, node: Option<&Node>) -> Result<Vec<u64>, MpiError> {
    let mut here = vec![world.rank() as u64];
    here.extend(node.into_iter().flat_map(Node::neighbours).map(|neighbour| neighbour.rank));
    here.sort_unstable();
    let all = gather(world, &[here[0], key_of(&here)])?;
    // Whoever sees others than its neighbours do is a node of its own.
    let told: Vec<&[u64]> = all.chunks(2).collect();
    let first = |one: &&[u64]| told.iter().position(|other| other == one).unwrap_or_default();
    Ok(told.iter().map(|one| first(one) as u64).collect())
}

fn info(arena: &Arena, rings: Block) -> Option<NodeInfo> {
    let Address { process, file, device, inode } = arena.address()?;
    Some([process, file, device, inode, rings.offset as u64, rings.n_bytes as u64])
}

/// Numbers of all processes, by rank.
pub(crate) fn gather(world: &Comm, own: &[u64]) -> Result<Vec<u64>, MpiError> {
    let mut all = vec![0; own.len() * world.size()];
    world.allgather(own, &mut all)?;
    Ok(all)
}
