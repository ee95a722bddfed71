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
    fn find(&self, block: usize, shape: &[usize], dtype: Dtype) -> Option<Rc<Base>> {
        let base = self.0.get(&block)?.upgrade()?;
        let is_there = base.storage.borrow().as_ref().is_some_and(|one| one.address() == block);
        (is_there && base.dtype == dtype && base.shape() == shape).then_some(base)
    }

    fn note(&mut self, block: usize, base: &Rc<Base>) {
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
        let known = self.0.blocks.borrow().find(given.block, given.block_shape, dtype);
        let all = match known.filter(|base| base.is_read_only.get() == (access == Access::Read)) {
            Some(base) => Array::new(self, Rc::clone(&base), base.all.clone()),
            None => {
                let all = self.empty(given.block_shape, dtype)?;
                // SAFETY: as the caller says.
                let storage = unsafe { Storage::foreign(given.block, owner) };
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
}
