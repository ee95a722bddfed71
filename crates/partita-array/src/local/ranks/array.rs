//! Arrays on several ranks: the whole on every rank, and what lies here.

use std::any::Any;
use std::rc::Rc;

use partita_kernel::{Dtype, Op, Scalar};
use partita_layout::IndexBox;
use partita_team::{Access, Buffer};

use super::super::array::Array;
use super::super::base::Storage;
use super::super::engine::Engine;
use super::super::record::Input;
use super::super::window::Dims;
use super::differ::notation;
use super::product::{Product, everything, nothing};
use super::spread::Spread;
use crate::boxes::tile;
use crate::error::Result;

/// What a rank has of an array.
#[derive(Debug)]
pub struct Here {
    /// The array whose memory it is: itself, or a copy.
    pub array: Array,
    /// Its memory.
    pub buffer: Buffer,
    /// Which elements each rank owns; none if every rank has all.
    pub boxes: Option<Vec<IndexBox>>,
}

impl Engine {
    /// Number of ranks that it computes with.
    #[must_use]
    pub fn n_ranks(&self) -> u64 {
        self.0.ranks.as_ref().map_or(1, |ranks| ranks.n_ranks)
    }

    /// An array whose elements nobody has set, all of it on every rank.
    ///
    /// # Errors
    /// As [`Engine::empty`].
    pub fn empty_whole(&self, shape: &[usize], dtype: Dtype) -> Result<Array> {
        let array = self.empty(shape, dtype)?;
        self.put_whole(&array);
        Ok(array)
    }

    /// Says where the elements of a new array shall be; false if they are somewhere already.
    ///
    /// # Errors
    /// As [`Engine::empty`].
    pub fn put(&self, array: &Array, spread: Spread) -> Result<bool> {
        let is_new = self.0.ranks.is_some()
            && array.base.storage.borrow().is_none()
            && array.base.spread.borrow().is_none()
            && array.window.is_all_of(array.base.shape());
        if is_new {
            *array.base.spread.borrow_mut() = Some(Rc::new(spread));
            // One number for all elements is nowhere: now it is there.
            self.unfill(array, None)?;
        }
        Ok(is_new)
    }

    /// An array like another, and where that is or will be, with the same number everywhere.
    ///
    /// # Errors
    /// As [`Engine::empty`].
    pub fn fill_like(&self, prototype: &Array, value: Scalar) -> Result<Array> {
        let made = self.fill(prototype.shape(), value)?;
        let base = &prototype.base;
        let is_nowhere = base.spread.borrow().is_none();
        if self.0.ranks.is_none() || is_nowhere && base.fill.get().is_some() {
            return Ok(made);
        }
        if !is_nowhere && prototype.window.is_all_of(base.shape()) {
            made.base.spread.borrow_mut().clone_from(&base.spread.borrow());
            self.unfill(&made, None)?;
            return Ok(made);
        }
        // Where the prototype will be is decided with what it meets: so it meets it.
        let elements = self.cast(prototype, value.dtype)?;
        let never = Input::Number(Scalar::from(false));
        self.apply_to(Op::Where, &[never, Input::Array(&elements), Input::Number(value)])
    }

    /// Gives an array that is nowhere yet the place that new arrays have.
    ///
    /// # Errors
    /// As [`Engine::empty`].
    pub fn settle_place(&self, array: &Array) -> Result<()> {
        let is_nowhere = array.base.spread.borrow().is_none();
        if let Some(ranks) = self.0.ranks.as_ref().filter(|_| is_nowhere) {
            let spread = Spread::of_new(array.base.shape(), ranks.n_ranks);
            *array.base.spread.borrow_mut() = Some(spread);
        }
        self.unfill(array, None)
    }

    /// Says that every rank has all of an array.
    pub(in super::super) fn put_whole(&self, array: &Array) {
        if self.0.ranks.is_some() {
            *array.base.spread.borrow_mut() = Some(Rc::new(Spread::Whole));
        }
    }

    /// An array of which this rank has a part in somebody else's memory, in C order.
    ///
    /// # Safety
    /// The memory has what the spread says this rank holds, may be written if the access says so,
    /// and stays where it is as long as the owner lives.
    ///
    /// # Errors
    /// As [`Engine::empty`].
    pub unsafe fn from_part(
        &self,
        shape: &[usize],
        dtype: Dtype,
        spread: Spread,
        address: usize,
        (access, owner): (Access, Box<dyn Any>),
    ) -> Result<Array> {
        let known = self.0.blocks.borrow().find(address, (shape, dtype), access, &spread);
        if let Some(base) = known {
            // Arrays of the same part see each other's writes.
            let all = base.all.clone();
            return Ok(Array::new(self, base, all));
        }
        let array = self.empty(shape, dtype)?;
        let rank = self.0.ranks.as_ref().map_or(0, |ranks| ranks.rank);
        let n_elements: u64 = spread.held(rank, shape).shape.iter().product();
        let n_bytes = n_elements as usize * dtype.size();
        *array.base.spread.borrow_mut() = Some(Rc::new(spread));
        // SAFETY: as the caller says.
        let storage = unsafe { Storage::foreign(address, n_bytes, owner) };
        array.base.lie_in(storage, access);
        self.0.blocks.borrow_mut().note(address, &array.base);
        Ok(array)
    }
}

impl Array {
    /// Its element type, and where its elements are if that is known.
    pub(crate) fn in_words(&self) -> String {
        let spread = self.base.spread.borrow();
        let spread = spread.as_deref().filter(|_| self.engine().n_ranks() > 1);
        let place =
            spread.map(|spread| format!(" in {}", notation(spread, self.base.all.shape.len())));
        format!("{}{}", self.dtype(), place.unwrap_or_default())
    }

    /// An array with the same elements, all of them on every rank. Collective.
    ///
    /// # Errors
    /// As [`Engine::flush`].
    pub fn whole(&self) -> Result<Self> {
        let engine = self.engine();
        if self.is_all_here() {
            return Ok(self.clone());
        }
        let whole = engine.empty_whole(self.shape(), self.dtype())?;
        whole.write(self)?;
        Ok(whole)
    }

    /// Whether this rank has all elements.
    pub(in super::super) fn is_all_here(&self) -> bool {
        self.engine().n_ranks() == 1 || self.is_whole()
    }

    fn is_whole(&self) -> bool {
        self.base.spread.borrow().as_deref() == Some(&Spread::Whole)
    }

    /// Computes what is pending and gives the memory of what this rank owns; others may go on to
    /// look at it. Collective.
    ///
    /// # Errors
    /// As [`Engine::flush`].
    pub fn share_here(&self) -> Result<Here> {
        let engine = self.engine();
        engine.unfill(self, None)?;
        engine.flush()?;
        if self.is_all_here() {
            let (buffer, _) = self.share()?;
            return Ok(Here { array: self.clone(), buffer, boxes: None });
        }
        // An element alone has no box of its own: every rank gets it.
        if self.ndim() == 0 {
            return self.whole()?.share_here();
        }
        let known = self.base.spread.borrow().clone();
        let spread = known.unwrap_or_else(|| Spread::of_new(self.base.shape(), engine.n_ranks()));
        let product = Product::of(&self.window, self.base.shape());
        let is_empty = self.n_elements() == 0;
        let (Spread::Boxes { owned, held }, true) = (&*spread, product.is_some() || is_empty)
        else {
            return engine.copy(self)?.share_here();
        };
        let rank = self.rank();
        let none = nothing(self.ndim());
        let points = owned.iter().map(|own| product.as_ref().and_then(|p| p.points_in(own)));
        let points: Vec<IndexBox> = points.map(|one| one.unwrap_or_else(|| none.clone())).collect();
        let held_shape: Dims<usize> = held[rank].shape.iter().map(|n| *n as usize).collect();
        let n_bytes = held_shape.iter().product::<usize>() * self.dtype().size();
        let storage = self.base.memory(n_bytes, &engine.0.meter)?;
        *self.base.spread.borrow_mut() = Some(Rc::clone(&spread));
        self.base.is_shared.set(true);
        let size = self.dtype().size() as isize;
        let own = &points[rank];
        let window = product.as_ref().filter(|_| own.n_elements() > 0);
        let window = window.map(|product| product.window(own, &held[rank]));
        let (offset, strides) = match &window {
            Some(window) => {
                (window.offset * size, window.strides.iter().map(|s| s * size).collect())
            }
            None => (0, vec![size; own.shape.len()]),
        };
        let address = storage.address().wrapping_add_signed(offset);
        let shape = own.shape.clone();
        let buffer = Buffer { address, shape, strides, access: Access::Write };
        Ok(Here { array: self.clone(), buffer, boxes: Some(points) })
    }

    fn rank(&self) -> usize {
        self.engine().0.ranks.as_ref().map_or(0, |ranks| ranks.rank as usize)
    }
}

/// The spread of a layout, given what each rank owns and holds; none if that is no such.
#[must_use]
pub fn spread_of(shape: &[usize], owned: Vec<IndexBox>, held: Vec<IndexBox>) -> Option<Spread> {
    let all = everything(shape);
    if owned.iter().all(|own| *own == all) {
        return Some(Spread::Whole);
    }
    tile(&owned, &all.shape).then_some(Spread::Boxes { owned, held })
}
