//! Offers: the buffers that ranks show each other for a call, and what one rank sees of them all.

use std::any::Any;
use std::sync::Arc;

use crate::memory::buffer::Buffer;

/// A rank's own buffers of a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CallBuffers<'a> {
    pub sources: &'a [Buffer],
    pub targets: &'a [Buffer],
    /// Where this rank has packed what it gives, if it has.
    pub packed_halo: Option<&'a Buffer>,
}

/// A rank's buffers of a call, as others may see them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Offer {
    pub sources: Vec<Offered>,
    pub targets: Vec<Offered>,
    /// Where this rank has packed what it gives, if it has.
    pub packed_halo: Option<Offered>,
}

/// A buffer that a rank offers.
#[derive(Debug, Clone)]
pub(crate) struct Offered {
    /// With its address in the memory of whoever looks, where it is open.
    pub buffer: Buffer,
    pub openness: Openness,
    /// Where another process's memory is mapped for it: first address and end.
    pub mapped: Option<(usize, usize)>,
    /// Keeps the address valid.
    #[allow(dead_code, reason = "held for its drop")]
    pub keep: Option<Arc<dyn Any + Send + Sync>>,
}

/// Whether other ranks may touch a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Openness {
    Open,
    Closed,
}

/// Which half of its packed halo a rank has packed: calls use them in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Half {
    #[default]
    First,
    Second,
}

impl Half {
    /// The half that a call uses, by how many came before it.
    pub(crate) fn in_turn(n_before: u64) -> Self {
        if n_before.is_multiple_of(2) { Self::First } else { Self::Second }
    }
}

impl Offered {
    pub(crate) fn new(buffer: &Buffer, openness: Openness) -> Self {
        Self { buffer: buffer.clone(), openness, mapped: None, keep: None }
    }

    /// Whether it has this shape and lies in the memory mapped for it, as its owner says it does.
    pub(crate) fn fits(&self, shape: &[u64], item_bytes: usize) -> bool {
        let Some((first, end)) = self.mapped else { return true };
        let span = (self.buffer.shape == shape).then(|| self.buffer.checked_span(item_bytes));
        span.flatten().is_some_and(|(low, high)| first <= low && high <= end)
    }
}

impl Offer {
    pub(crate) fn has(&self, buffers: CallBuffers<'_>) -> bool {
        let same = |offered: &[Offered], buffers: &[Buffer]| {
            offered.len() == buffers.len()
                && offered.iter().zip(buffers).all(|(offered, buffer)| offered.buffer == *buffer)
        };
        same(&self.sources, buffers.sources)
            && same(&self.targets, buffers.targets)
            && self.packed_halo.as_ref().map(|offered| &offered.buffer) == buffers.packed_halo
    }

    /// Whether every buffer is still as open as it was offered: memory may be withdrawn meanwhile.
    pub(crate) fn stands(&self, is_open: impl Fn(&Buffer) -> bool) -> bool {
        let stands =
            |offered: &Offered| is_open(&offered.buffer) == (offered.openness == Openness::Open);
        self.sources.iter().chain(&self.targets).all(stands)
    }

    /// Whether the buffers lie alike: the same strides, as open as the other's.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let alike = |a: &[Offered], b: &[Offered]| {
            let same = |(a, b): (&Offered, &Offered)| {
                a.openness == b.openness && a.buffer.strides == b.buffer.strides
            };
            a.len() == b.len() && a.iter().zip(b).all(same)
        };
        alike(&self.sources, &other.sources) && alike(&self.targets, &other.targets)
    }
}

/// What a member shows of itself in a call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ShownOffer<'a> {
    pub offer: Option<&'a Arc<Offer>>,
    pub half: Half,
    /// By which number it knows the messages of the call.
    pub tag: u64,
}

/// What one rank sees of all buffers of a call.
pub(crate) struct View<'a> {
    pub rank: u64,
    /// Whose offers it sees, ascending; those of all members if none.
    pub ranks: Option<&'a [u64]>,
    /// In the order of these ranks.
    pub members: Vec<ShownOffer<'a>>,
    /// Whether this rank and a member can touch each other's open memory.
    pub shares: &'a dyn Fn(u64) -> bool,
    /// The node of each member: those of one can all touch each other's open memory. None where all
    /// are on one, and where only some members are seen.
    pub nodes: &'a [u64],
}

impl View<'_> {
    fn shown(&self, rank: u64) -> Option<&ShownOffer<'_>> {
        let at = match self.ranks {
            None => rank as usize,
            Some(ranks) => ranks.binary_search(&rank).ok()?,
        };
        self.members.get(at)
    }

    fn offer(&self, rank: u64) -> Option<&Offer> {
        self.shown(rank)?.offer.map(|offer| &**offer)
    }

    /// The rank whose offer has a place in the view.
    fn rank_at(&self, at: usize) -> u64 {
        self.ranks.map_or(at as u64, |ranks| ranks[at])
    }

    pub(crate) fn source(&self, rank: u64, buffer: usize) -> Option<&Offered> {
        self.offer(rank)?.sources.get(buffer)
    }

    pub(crate) fn target(&self, rank: u64, buffer: usize) -> Option<&Offered> {
        self.offer(rank)?.targets.get(buffer)
    }

    pub(crate) fn packed_halo(&self, rank: u64) -> Option<&Offered> {
        self.offer(rank)?.packed_halo.as_ref()
    }

    /// Which half of its packed halo a member has packed.
    pub(crate) fn half(&self, rank: u64) -> Half {
        self.shown(rank).map_or(Half::First, |shown| shown.half)
    }

    /// By which number a member knows the messages of the call.
    pub(crate) fn tag(&self, rank: u64) -> u64 {
        self.shown(rank).map_or(0, |shown| shown.tag)
    }

    /// Whether every member has packed what it gives.
    pub(crate) fn is_all_packed(&self) -> bool {
        let has_packed = |offer: &Arc<Offer>| offer.packed_halo.is_some();
        self.members.iter().all(|shown| shown.offer.is_some_and(has_packed))
    }

    /// All offers that it sees, in the order of the ranks.
    pub(crate) fn offers(&self) -> impl Iterator<Item = Option<&Arc<Offer>>> {
        self.members.iter().map(|shown| shown.offer)
    }

    /// The same with the ranks.
    pub(crate) fn ranked_offers(&self) -> impl Iterator<Item = (u64, &Arc<Offer>)> {
        let shown = self.members.iter().enumerate();
        shown.filter_map(|(at, shown)| Some((self.rank_at(at), shown.offer?)))
    }

    /// Whether a member's targets can be reached by all of its node.
    pub(crate) fn has_open_targets(&self, rank: u64) -> bool {
        let is_open = |target: &Offered| target.openness == Openness::Open;
        self.offer(rank).is_some_and(|offer| offer.targets.iter().all(is_open))
    }

    /// A member's targets, where this rank can touch all of them.
    pub(crate) fn targets(&self, rank: u64) -> Option<Vec<Buffer>> {
        let in_reach = |target: &Offered| {
            (target.buffer.address != 0 || target.buffer.n_elements() == 0)
                .then(|| target.buffer.clone())
        };
        self.offer(rank)?.targets.iter().map(in_reach).collect()
    }

    /// Whether this rank's targets can be reached by all, so that all push.
    pub(crate) fn is_all_open(&self) -> bool {
        let own = self.offer(self.rank).into_iter().flat_map(|offer| &offer.targets);
        let ranks = (0..self.members.len()).map(|at| self.rank_at(at));
        own.into_iter().all(|target| target.openness == Openness::Open)
            && ranks.into_iter().all(|rank| rank == self.rank || (self.shares)(rank))
    }
}
