//! Reach: whose memory a rank can touch, and who therefore carries out a move.
//!
//! Copies are pushed where the target is open, since then every source line is read once; else
//! they are pulled where the source is open. Sums are pulled. What neither side can reach travels
//! by messages. Both ranks of a move come to the same verdict from what both have posted.

use std::any::Any;
use std::sync::Arc;

use partita_plan::{Combine, Move};

use crate::buffer::Buffer;
use crate::meeting::{Meeting, Parcel, Round};

/// Set in a tag where the second half of the porch is packed; tags of messages are far smaller.
pub(crate) const SECOND_HALF: u64 = 1 << 62;

/// Sources, targets and the porch of a call.
pub(crate) type Buffers<'a> = (&'a [Buffer], &'a [Buffer], Option<&'a Buffer>);

/// A rank's buffers of a call.
#[derive(Debug, Clone, Default)]
pub(crate) struct Offer {
    pub sources: Vec<Offered>,
    pub targets: Vec<Offered>,
    /// Where this rank has packed what it gives, if it has.
    pub porch: Option<Offered>,
}

/// A buffer that a rank offers.
#[derive(Debug, Clone)]
pub(crate) struct Offered {
    /// With its address in the memory of whoever looks, where `access` is open.
    pub buffer: Buffer,
    pub door: Door,
    /// Where another process's memory is mapped for it: first address and end.
    pub room: Option<(usize, usize)>,
    /// Keeps the address valid.
    #[allow(dead_code, reason = "held for its drop")]
    pub keep: Option<Arc<dyn Any + Send + Sync>>,
}

/// Whether other ranks may touch a buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    Open,
    Closed,
}

impl Offered {
    pub(crate) fn new(buffer: &Buffer, door: Door) -> Self {
        Self { buffer: buffer.clone(), door, room: None, keep: None }
    }

    /// Whether it has this shape and lies in the memory mapped for it, as its owner says it does.
    pub(crate) fn fits(&self, shape: &[u64], item_bytes: usize) -> bool {
        let Some((first, end)) = self.room else { return true };
        let span = (self.buffer.shape == shape).then(|| self.buffer.checked_span(item_bytes));
        span.flatten().is_some_and(|(low, high)| first <= low && high <= end)
    }
}

impl Offer {
    pub(crate) fn has(&self, (sources, targets, porch): Buffers<'_>) -> bool {
        let same = |offered: &[Offered], buffers: &[Buffer]| {
            offered.len() == buffers.len()
                && offered.iter().zip(buffers).all(|(offered, buffer)| offered.buffer == *buffer)
        };
        same(&self.sources, sources)
            && same(&self.targets, targets)
            && self.porch.as_ref().map(|offered| &offered.buffer) == porch
    }

    /// Whether every buffer is still as open as it was offered: memory may be withdrawn meanwhile.
    pub(crate) fn stands(&self, is_open: impl Fn(&Buffer) -> bool) -> bool {
        let stands = |offered: &Offered| is_open(&offered.buffer) == (offered.door == Door::Open);
        self.sources.iter().chain(&self.targets).all(stands)
    }

    /// Whether the buffers lie alike: the same strides, as open as the other's.
    pub(crate) fn is_like(&self, other: &Self) -> bool {
        let alike = |a: &[Offered], b: &[Offered]| {
            let same = |(a, b): (&Offered, &Offered)| {
                a.door == b.door && a.buffer.strides == b.buffer.strides
            };
            a.len() == b.len() && a.iter().zip(b).all(same)
        };
        alike(&self.sources, &other.sources) && alike(&self.targets, &other.targets)
    }
}

/// Who carries out a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Route {
    /// The rank that has the source.
    Push,
    /// The rank that has the target.
    Pull,
    /// Both, by messages.
    Mail,
}

/// What one rank sees of all buffers of a call.
pub(crate) struct View<'a> {
    pub posts: &'a Round<Parcel>,
    pub meeting: &'a dyn Meeting,
    pub rank: u64,
}

impl View<'_> {
    fn offer(&self, rank: u64) -> Option<&Offer> {
        self.posts.get(rank as usize)?.as_ref().ok()?.offer.as_deref()
    }

    pub(crate) fn source(&self, rank: u64, buffer: usize) -> Option<&Offered> {
        self.offer(rank)?.sources.get(buffer)
    }

    pub(crate) fn target(&self, rank: u64, buffer: usize) -> Option<&Offered> {
        self.offer(rank)?.targets.get(buffer)
    }

    pub(crate) fn porch(&self, rank: u64) -> Option<&Offered> {
        self.offer(rank)?.porch.as_ref()
    }

    /// Which half of its porch a member has packed.
    pub(crate) fn half(&self, rank: u64) -> usize {
        let parcel = self.posts.get(rank as usize).and_then(|post| post.as_ref().ok());
        parcel.map_or(0, |parcel| usize::from(parcel.tag & SECOND_HALF != 0))
    }

    /// Whether every member has packed what it gives.
    pub(crate) fn is_all_packed(&self) -> bool {
        (0..self.posts.len() as u64).all(|rank| self.porch(rank).is_some())
    }

    /// All offers, in the order of the members.
    pub(crate) fn offers(&self) -> impl Iterator<Item = Option<&Arc<Offer>>> {
        self.posts.iter().map(|post| post.as_ref().ok().and_then(|parcel| parcel.offer.as_ref()))
    }

    /// Whether this rank's targets can be reached by all, so that all push.
    pub(crate) fn is_all_open(&self) -> bool {
        let own = self.offer(self.rank).into_iter().flat_map(|offer| &offer.targets);
        let ranks = 0..self.posts.len() as u64;
        own.into_iter().all(|target| target.door == Door::Open)
            && ranks.into_iter().all(|rank| rank == self.rank || self.meeting.shares(rank))
    }

    /// Who carries out a move of this rank.
    pub(crate) fn route(&self, m: &Move, combine: Combine) -> Route {
        let is_open = |offered: Option<&Offered>| offered.is_some_and(|o| o.door == Door::Open);
        let other = if m.source_rank == self.rank { m.target_rank } else { m.source_rank };
        let is_own = other == self.rank;
        let shares = is_own || self.meeting.shares(other);
        let is_target_open = is_own || is_open(self.target(m.target_rank, m.target_buffer));
        let is_source_open = is_own || is_open(self.source(m.source_rank, m.source_buffer));
        match combine {
            Combine::Copy if shares && is_target_open => Route::Push,
            _ if shares && is_source_open => Route::Pull,
            _ => Route::Mail,
        }
    }
}
