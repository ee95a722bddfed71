//! Memory of somebody else: arrays that lie in one block of it are windows of one base.
//!
//! Two arrays made of the same NumPy array, or of two views of it, must see each other's writes.
//! So the base is the whole block that the views belong to, and as long as somebody looks at it,
//! whoever comes with another view of the block gets a window of the same base.

use std::any::Any;
use std::collections::HashMap;
use std::rc::{Rc, Weak};

use partita_kernel::Dtype;
use partita_team::Access;

use super::array::Array;
use super::base::{Base, Storage};
use super::engine::Engine;
use super::ranks::Spread;
use super::segment::Segment;
use super::window::Window;
use crate::error::Result;

/// Blocks are looked through for those that are gone when there are so many.
const TIDY_FROM: usize = 64;

/// Strided elements in a block of memory in C order.
#[derive(Debug)]
pub struct Foreign<'a> {
    /// Where the block begins.
    pub block: usize,
    /// Elements of the block per dimension.
    pub block_shape: &'a [usize],
    /// Where the first element is.
    pub address: usize,
    /// Elements per dimension.
    pub shape: &'a [usize],
    /// Steps in elements.
    pub strides: &'a [isize],
}

/// The bases of blocks, by where they begin.
#[derive(Debug, Default)]
pub(super) struct Blocks(HashMap<usize, Weak<Base>>);

impl Blocks {
    /// The base of a block that lies on ranks as is said, if somebody looks at it.
    pub fn find(
        &self,
        block: usize,
        (shape, dtype): (&[usize], Dtype),
        access: Access,
        spread: &Spread,
    ) -> Option<Rc<Base>> {
        let base = self.0.get(&block)?.upgrade()?;
        let is_there = base.storage.borrow().as_ref().is_some_and(|one| one.address() == block);
        let is_same = base.dtype == dtype
            && base.shape() == shape
            && base.is_read_only.get() == (access == Access::Read)
            && base.spread.borrow().as_deref().is_none_or(|known| known == spread);
        (is_there && is_same).then_some(base)
    }

    pub fn note(&mut self, block: usize, base: &Rc<Base>) {
        // Where nothing lies nobody writes, and another block may begin there.
        if base.n_bytes() == Some(0) {
            return;
        }
        if self.0.len() >= TIDY_FROM {
            self.0.retain(|_, base| base.strong_count() > 0);
        }
        self.0.insert(block, Rc::downgrade(base));
    }
}

impl Engine {
    /// An array in somebody else's memory, of which every rank has all.
    ///
    /// # Safety
    /// The block has these elements, may be written if the access says so, and stays where it is
    /// as long as the owner lives; the elements lie in the block.
    ///
    /// # Errors
    /// As [`Engine::empty`].
    pub unsafe fn from_memory(
        &self,
        given: &Foreign<'_>,
        dtype: Dtype,
        (access, owner): (Access, Box<dyn Any>),
    ) -> Result<Array> {
        let kind = (given.block_shape, dtype);
        let known = self.0.blocks.borrow().find(given.block, kind, access, &Spread::Whole);
        let all = match known {
            Some(base) => Array::new(self, Rc::clone(&base), base.all.clone()),
            None => {
                let all = self.empty(given.block_shape, dtype)?;
                let n_bytes = all.base.n_bytes().unwrap_or(0);
                // SAFETY: as the caller says.
                let storage = unsafe { Storage::foreign(given.block, n_bytes, owner) };
                all.base.lie_in(storage, access);
                self.put_whole(&all);
                self.0.blocks.borrow_mut().note(given.block, &all.base);
                all
            }
        };
        let offset = given.address.wrapping_sub(given.block) as isize / dtype.size() as isize;
        let window = Window::new(offset, given.shape.into(), given.strides.into());
        // The base's own window, where it is that: results then take it, too.
        let is_all = offset == 0 && window.shape == all.window.shape && window.is_dense();
        Ok(if is_all { all } else { all.seen(window) })
    }

    /// Whether something is pending that writes somebody else's memory from one address to another,
    /// which whoever looks at that memory must not miss.
    #[must_use]
    pub fn is_written(&self, first: usize, end: usize) -> bool {
        let is_in = |segment: &Segment| {
            let mut targets = segment.work.nodes.iter().map(|node| node.target.base);
            targets.any(|number| {
                let storage = segment.bases[number].storage.borrow();
                storage.as_ref().is_some_and(|one| one.is_foreign_in(first, end))
            })
        };
        let state = &self.0;
        is_in(&state.current.borrow())
            || state.before.borrow().as_ref().is_some_and(is_in)
            || state.ready.borrow().iter().any(is_in)
    }
}
