//! Which nodes become one loop.
//!
//! Nodes are placed in the order of the program, each into the first group of its space that
//! stands behind everything it depends on:
//!
//! - what it reads was written by an earlier group, or at the same point by its own;
//! - what it overwrites was read by an earlier group, or at the same point by its own;
//! - what it overwrites was written by an earlier group, or at the same point by its own (the
//!   earlier value is then never stored).
//!
//! So a node may overtake others, never what it depends on. Dropped temporaries keep their place:
//! they were computed from what was there when they were recorded.

use super::super::node::{Action, BaseFacts, Node, Operand};
use super::super::window::{Dims, Window};
use super::versions::{Found, Touch, Version, rest_of};

/// A loop that reads and writes more places than this is cut.
const MOST_STREAMS: usize = 40;
/// A loop of more operations is cut: each may turn out to be needed by a later loop, and a kernel
/// has at most 64 outputs.
const MOST_NODES: usize = 60;
/// A loop with more numbers is cut: a kernel has at most 64.
const MOST_NUMBERS: usize = 60;

/// Where an operand's value comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Source {
    /// An earlier node of the same group.
    Node(usize),
    /// Memory.
    Slot(usize, Window),
    /// A number of the work.
    Number(usize),
}

/// A node in its group.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub node: usize,
    pub sources: Vec<Source>,
    pub slot: usize,
    pub is_stored: bool,
}

/// Copies of what a new version of a base keeps of the old one.
#[derive(Debug, Clone)]
pub(super) struct Rest {
    pub base: usize,
    pub from_slot: usize,
    pub to_slot: usize,
    pub windows: Vec<Window>,
}

/// Nodes of one loop.
#[derive(Debug, Default)]
pub(super) struct Group {
    pub space: Dims<usize>,
    pub reduced: u16,
    pub scanned: Option<usize>,
    pub nodes: Vec<Placed>,
    pub rests: Vec<Rest>,
    /// Places of memory that are read, each once.
    read: Vec<(usize, Window)>,
    n_written: usize,
    n_numbers: usize,
}

/// All groups, in the order in which they run.
#[derive(Debug)]
pub(super) struct Grouped {
    pub groups: Vec<Group>,
    /// The base that each slot belongs to.
    pub slot_bases: Vec<usize>,
    /// The slot of each base's last version.
    pub last_slots: Vec<usize>,
}

struct Grouping<'a> {
    nodes: &'a [Node],
    bases: &'a [BaseFacts],
    groups: Vec<Group>,
    versions: Vec<Version>,
    slot_bases: Vec<usize>,
    /// Group and place in it of every node placed so far.
    places: Vec<Option<(usize, usize)>>,
}

/// Puts the needed nodes into groups.
pub(super) fn group(nodes: &[Node], bases: &[BaseFacts], needed: &[bool]) -> Grouped {
    let versions = (0..bases.len()).map(|slot| Version { slot, ..Version::default() }).collect();
    let mut grouping = Grouping {
        nodes,
        bases,
        groups: Vec::new(),
        versions,
        slot_bases: (0..bases.len()).collect(),
        places: vec![None; nodes.len()],
    };
    (0..nodes.len()).filter(|at| needed[*at]).for_each(|at| grouping.place(at));
    let last_slots = grouping.versions.iter().map(|version| version.slot).collect();
    Grouped { groups: grouping.groups, slot_bases: grouping.slot_bases, last_slots }
}

impl Grouping<'_> {
    fn place(&mut self, at: usize) {
        let node = &self.nodes[at];
        let base = node.target.base;
        let found: Vec<Option<Found>> = node.operands.iter().map(|o| self.find(o)).collect();
        let read_from = found.iter().flatten().map(|found| found.from).max().unwrap_or(0);
        let version = &self.versions[base];
        let in_place_from = version.in_place_from(node, &self.bases[base], self.nodes);
        let renewed_from = read_from.max(version.renewed_from());
        let group = self.choose(node, read_from.max(in_place_from));
        let renewed = self.choose(node, renewed_from);
        let can_renew = !self.bases[base].is_shared && renewed < group.min(self.groups.len());
        let rest = can_renew.then(|| rest_of(&node.target.window, &self.bases[base])).flatten();
        match rest {
            Some(rest) => self.join(at, renewed, &found, Some(rest)),
            None => self.join(at, group, &found, None),
        }
    }

    fn find(&self, operand: &Operand) -> Option<Found> {
        let Operand::Array(place) = operand else { return None };
        let (version, base) = (&self.versions[place.base], &self.bases[place.base]);
        Some(version.find(&place.window, base, self.nodes))
    }

    /// The first group from `from` on that the node can join; a new one if there is none.
    fn choose(&self, node: &Node, from: usize) -> usize {
        let groups = self.groups.iter().enumerate().skip(from);
        let mut fitting = groups.filter(|(_, group)| group.takes(node));
        fitting.next().map_or(self.groups.len(), |(at, _)| at)
    }

    /// Gives a base a new version in a group.
    fn renew(&mut self, base: usize, group: usize, windows: Vec<Window>) {
        let from_slot = self.versions[base].slot;
        let to_slot = self.slot_bases.len();
        self.slot_bases.push(base);
        if !windows.is_empty() {
            self.store(base, |_| true);
            self.groups[group].rests.push(Rest { base, from_slot, to_slot, windows });
        }
        self.versions[base] = Version { slot: to_slot, made_in: Some(group), ..Version::default() };
    }

    fn join(
        &mut self,
        at: usize,
        group: usize,
        found: &[Option<Found>],
        renewed_rest: Option<Vec<Window>>,
    ) {
        let node = &self.nodes[at];
        if group == self.groups.len() {
            self.groups.push(Group { space: node.space().into(), ..Group::default() });
        }
        let sources = node.operands.iter().zip(found);
        let sources = sources.map(|(operand, found)| self.source(at, operand, *found, group));
        let sources: Vec<Source> = sources.collect();
        // Only now: what the node reads is the version before its own.
        if let Some(windows) = renewed_rest {
            self.renew(node.target.base, group, windows);
        }
        self.write(at, group);
        let slot = self.versions[node.target.base].slot;
        let is_stored = self.bases[node.target.base].is_alive;
        let joined = &mut self.groups[group];
        joined.admit(node, &sources, is_stored);
        self.places[at] = Some((group, joined.nodes.len()));
        joined.nodes.push(Placed { node: at, sources, slot, is_stored });
    }

    fn source(
        &mut self,
        at: usize,
        operand: &Operand,
        found: Option<Found>,
        group: usize,
    ) -> Source {
        let place = match operand {
            Operand::Number(number, _) => return Source::Number(*number),
            Operand::Array(place) => place,
        };
        if let Some((node, _)) =
            found.and_then(|found| found.made_by).filter(|(_, made_in)| *made_in == group)
        {
            return Source::Node(node);
        }
        let shape = &self.bases[place.base].shape;
        self.store(place.base, |touch| touch.window.meets(&place.window, shape));
        let version = &mut self.versions[place.base];
        version.reads.push(Touch { node: at, group, window: place.window.clone() });
        Source::Slot(version.slot, place.window.clone())
    }

    /// Says that writes to a base must reach memory.
    fn store(&mut self, base: usize, which: impl Fn(&Touch) -> bool) {
        for touch in self.versions[base].writes.iter().filter(|touch| which(touch)) {
            if let Some((group, at)) = self.places[touch.node] {
                self.groups[group].nodes[at].is_stored = true;
            }
        }
    }

    /// Notes a write; what it overwrites at the same points of its group is not stored.
    fn write(&mut self, at: usize, group: usize) {
        let base = self.nodes[at].target.base;
        let window = self.nodes[at].written();
        let version = &mut self.versions[base];
        let (groups, places) = (&mut self.groups, &self.places);
        version.writes.retain(|touch| {
            let is_replaced = touch.group == group && touch.window == window;
            if let Some((group, at)) = places[touch.node].filter(|_| is_replaced) {
                groups[group].nodes[at].is_stored = false;
            }
            !is_replaced
        });
        version.writes.push(Touch { node: at, group, window });
    }
}

impl Group {
    fn takes(&self, node: &Node) -> bool {
        let n_streams = self.read.len() + self.n_written + node.operands.len() + 1;
        let fits = self.space[..] == *node.space()
            && n_streams <= MOST_STREAMS
            && self.nodes.len() < MOST_NODES
            && self.n_numbers + n_numbers(node) <= MOST_NUMBERS;
        fits && match node.action {
            Action::Reduce(_, axes) => {
                self.scanned.is_none() && (self.reduced == 0 || self.reduced == axes)
            }
            Action::RunningSum(axis) | Action::RunningProduct(axis) => {
                self.reduced == 0 && self.scanned.is_none_or(|scanned| scanned == axis)
            }
            _ => true,
        }
    }

    fn admit(&mut self, node: &Node, sources: &[Source], is_stored: bool) {
        for source in sources {
            if let Source::Slot(slot, window) = source
                && !self.read.iter().any(|(at, known)| at == slot && known == window)
            {
                self.read.push((*slot, window.clone()));
            }
        }
        self.n_written += usize::from(is_stored);
        self.n_numbers += n_numbers(node);
        match node.action {
            Action::Reduce(_, axes) => self.reduced = axes,
            Action::RunningSum(axis) | Action::RunningProduct(axis) => self.scanned = Some(axis),
            _ => {}
        }
    }
}

fn n_numbers(node: &Node) -> usize {
    node.operands.iter().filter(|operand| matches!(operand, Operand::Number(..))).count()
}
