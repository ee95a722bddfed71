//! Machine code for x86-64: segments of steps become loops whose values stay in registers.
//!
//! What cannot be emitted stays a step of the tile machine between segments.

mod access;
mod assemble;
mod codes;
mod pages;
mod segment;
mod versions;

pub use access::{Access, GROUP};

use crate::math::Level;
use crate::math::level::Kind;
use crate::tiles::Code;
use pages::Pages;
use segment::{Form, Operand, Segment};
use std::sync::Arc;
use versions::Versions;

/// A loop over rows: pointers by slot, elements of a row, rows, steps in bytes from row to row by
/// slot, which are looked at only if there are several rows.
type Entry =
    unsafe extern "C" fn(slots: *const *mut u8, n: usize, n_rows: usize, steps: *const isize);

/// A segment with its code.
#[derive(Debug)]
pub struct Fused {
    segment: Segment,
    versions: Versions,
}

/// One version of a loop, kept while it is used.
#[derive(Debug)]
pub struct Loop<'a> {
    fused: &'a Fused,
    other: Option<Arc<Pages>>,
}

/// One piece of work: a loop, or a step by its number.
#[derive(Debug)]
pub enum Work {
    /// Emitted code.
    Fused(Fused),
    /// A tile function.
    Step(usize),
}

/// The steps of a program, as many of them as possible in emitted loops; nothing where the level
/// or the system does not allow any.
pub fn fuse(code: &Code, level: Level) -> Option<Vec<Work>> {
    let wide = match level.0 {
        Kind::Avx2 => false,
        Kind::Avx512 => true,
        Kind::Portable => return None,
    };
    let mut work = Vec::new();
    let mut at = 0;
    while at < code.steps.len() {
        match Segment::grow(code, at, wide) {
            // One step alone is as fast as a tile function; code is worth it for outputs too.
            Some((segment, end)) => {
                work.push(Work::Fused(Fused::new(segment)?));
                at = end;
            }
            None => {
                work.push(Work::Step(at));
                at += 1;
            }
        }
    }
    Some(work)
}

impl Loop<'_> {
    /// Computes `n_rows` rows of `n` elements; [`fence`] must follow on the same thread if results
    /// go past the cache.
    ///
    /// # Safety
    /// `slots` has a pointer to `n` elements for every slot of the segment, and so at every step
    /// of `steps` from there; of repeated slots one element is enough. Tiles of truth values have
    /// room for a vector more with AVX2. Slots are the same memory or do not overlap. Results that
    /// go past the cache are all at the same distance from a cache line, a multiple of their size.
    /// Grouped rows are a multiple of [`GROUP`], and those of results that go past the cache a
    /// multiple of a line apart.
    #[inline]
    pub unsafe fn call(&self, slots: *const *mut u8, n: usize, n_rows: usize, steps: *const isize) {
        let start = match &self.other {
            None => self.fused.versions.plain(),
            Some(pages) => pages.start(),
        };
        // SAFETY: the pages hold a function of this type; the caller's.
        unsafe { std::mem::transmute::<*const u8, Entry>(start)(slots, n, n_rows, steps) };
    }
}

impl Fused {
    fn new(segment: Segment) -> Option<Fused> {
        let versions = Versions::new(&segment)?;
        Some(Fused { segment, versions })
    }

    /// Computes `n` elements.
    ///
    /// # Safety
    /// As [`Loop::call`].
    #[inline]
    pub unsafe fn call(&self, slots: *const *mut u8, n: usize) {
        // SAFETY: the caller's; one row has no steps.
        unsafe { Loop { fused: self, other: None }.call(slots, n, 1, std::ptr::null()) };
    }

    /// The version for an access; nothing where the system forbids more code.
    #[inline]
    pub fn version(&self, access: Access) -> Option<Loop<'_>> {
        if access == Access::default() {
            return Some(Loop { fused: self, other: None });
        }
        let other = self.versions.find(&self.segment, access)?;
        Some(Loop { fused: self, other: Some(other) })
    }

    /// Whether it writes only numbers of its lanes, so that it can stream.
    pub fn can_stream(&self) -> bool {
        !self.segment.stores.is_empty() && self.segment.stores.iter().all(|s| s.2 == Form::Lanes)
    }

    /// Whether registers suffice for several rows at once, with so many different steps.
    pub fn can_group(&self, n_steps: usize) -> bool {
        self.segment.slots().len() + 2 * n_steps <= segment::N_POINTERS
    }

    /// Whether one element of a slot can serve a whole row.
    pub fn can_repeat(&self, slot: u16) -> bool {
        self.segment.read_form(slot) == Form::Lanes
    }

    /// The slots it writes.
    pub fn written(&self) -> impl Iterator<Item = u16> + '_ {
        self.segment.stores.iter().map(|s| s.0)
    }

    /// Whether it reads or writes beyond the last truth value.
    pub fn pads_bytes(&self) -> bool {
        !self.segment.shape.wide
    }

    /// Whether any tile it reads or writes holds truth values.
    pub fn has_bytes(&self) -> bool {
        !self.segment.byte_slots.is_empty()
            || self.segment.stores.iter().any(|s| s.2 == Form::Bytes)
    }

    /// The slots it reads or writes element by element, and those whose first element it repeats.
    pub fn slots(&self) -> (Vec<u16>, Vec<u16>) {
        let scalar = |operand: Operand| match operand {
            Operand::Scalar(slot) => Some(slot),
            _ => None,
        };
        (self.segment.slots(), self.segment.residents().into_iter().filter_map(scalar).collect())
    }

    /// The code of a version, for those who look at it.
    pub fn bytes(&self, access: Access) -> Vec<u8> {
        assemble::assemble(&self.segment, access).unwrap_or_default()
    }
}

/// Makes what was written past the cache visible to other threads.
pub fn fence() {
    // SAFETY: every x86-64 processor has the instruction.
    unsafe { std::arch::x86_64::_mm_sfence() };
}
