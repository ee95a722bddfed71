//! Arrays: windows of a base.

use std::rc::{Rc, Weak};

use partita_kernel::{Dtype, Scalar};
use partita_team::{Access, Buffer};

use super::base::{Base, Storage};
use super::engine::Engine;
use super::record::Input;
use super::window::Window;
use crate::error::{LocalError, Result};

/// An array of one rank. Clones and slices share its elements.
#[derive(Debug, Clone)]
pub struct Array {
    engine: Engine,
    pub(super) base: Rc<Base>,
    pub(super) window: Window,
    /// Why nobody may write through it, though its base may be written.
    lock: Option<Lock>,
}

/// Why an array is only to be read; so are views of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lock {
    /// One element is there several times: a write would have to choose a value for it.
    Repeats,
    /// It was computed from complex numbers, which would not see the write.
    Parts,
}

impl Lock {
    fn why(self) -> &'static str {
        match self {
            Self::Repeats => "it repeats elements, or may",
            Self::Parts => "it was computed from complex numbers, whose parts `z.real = x` sets",
        }
    }
}

/// The memory of an array, by which it is known even after it is gone.
#[derive(Debug, Clone)]
pub struct BaseId(Weak<Base>);

impl BaseId {
    /// Whether some array still has it.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }

    /// Whether it is that of an array.
    #[must_use]
    pub fn is_of(&self, array: &Array) -> bool {
        std::ptr::eq(self.0.as_ptr(), Rc::as_ptr(&array.base))
    }
}

/// A native type of elements.
///
/// # Safety
/// Its memory must be that of elements of `DTYPE`, and every pattern of bytes a value.
pub unsafe trait Element: Copy {
    /// The element type.
    const DTYPE: Dtype;
}

macro_rules! elements {
    ($($native:ty => $dtype:ident),*) => {$(
        // SAFETY: the sizes agree and numbers have no invalid patterns.
        unsafe impl Element for $native {
            const DTYPE: Dtype = Dtype::$dtype;
        }
    )*};
}

elements!(i8 => Int8, i16 => Int16, i32 => Int32, i64 => Int64, u8 => UInt8, u16 => UInt16,
    u32 => UInt32, u64 => UInt64, f32 => Float32, f64 => Float64);

impl Array {
    pub(super) fn new(engine: &Engine, base: Rc<Base>, window: Window) -> Self {
        Self { engine: engine.clone(), base, window, lock: None }
    }

    /// Elements per dimension.
    #[must_use]
    pub fn shape(&self) -> &[usize] {
        &self.window.shape
    }

    /// Number of dimensions.
    #[must_use]
    pub fn ndim(&self) -> usize {
        self.window.shape.len()
    }

    /// Number of elements.
    #[must_use]
    pub fn n_elements(&self) -> usize {
        self.window.n_elements()
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> Dtype {
        self.base.dtype
    }

    /// The engine.
    #[must_use]
    pub fn engine(&self) -> &Engine {
        &self.engine
    }

    /// Whether both look at the same base, so that a write to one may change the other.
    #[must_use]
    pub fn shares_base(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.base, &other.base)
    }

    /// What tells its memory apart from that of other arrays, without keeping it.
    #[must_use]
    pub fn base_id(&self) -> BaseId {
        BaseId(Rc::downgrade(&self.base))
    }

    /// Which elements of its base it looks at.
    #[must_use]
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// An array of the same base with another window, which must lie in its own.
    pub(crate) fn seen(&self, window: Window) -> Self {
        let (engine, base) = (self.engine.clone(), Rc::clone(&self.base));
        Self { engine, base, window, lock: self.lock }
    }

    /// The same elements, only to be read.
    #[must_use]
    pub fn locked(mut self, lock: Lock) -> Self {
        self.lock = Some(lock);
        self
    }

    /// A view of a strided slice.
    ///
    /// # Errors
    /// A slice that leaves the array.
    pub fn slice(&self, offsets: &[i64], sizes: &[i64], strides: &[i64]) -> Result<Self> {
        let mut checked: [Vec<usize>; 2] = Default::default();
        for (dim, &extent) in self.shape().iter().enumerate() {
            let (offset, size, stride) = (offsets[dim], sizes[dim], strides[dim]);
            let outside = LocalError::SliceOutside { dim, offset, size, stride, extent };
            let last = i128::from(offset) + (i128::from(size) - 1) * i128::from(stride);
            let inside = |at: i128| (0..extent as i128).contains(&at);
            let is_empty = size == 0 && (0..=extent as i64).contains(&offset);
            if size < 0 || !(is_empty || inside(offset.into()) && inside(last)) {
                return Err(outside);
            }
            checked[0].push(offset as usize);
            checked[1].push(size as usize);
        }
        let strides: Vec<isize> = strides.iter().map(|stride| *stride as isize).collect();
        Ok(self.seen(self.window.slice(&checked[0], &checked[1], &strides)))
    }

    /// A view with the dimensions in another order.
    #[must_use]
    pub fn permute(&self, axes: &[usize]) -> Self {
        self.seen(self.window.permute(axes))
    }

    /// A view with one more dimension, of size 1.
    #[must_use]
    pub fn with_axis(&self, axis: usize) -> Self {
        let mut window = self.window.clone();
        window.shape.insert(axis, 1);
        window.strides.insert(axis, 0);
        self.seen(window)
    }

    /// A view without some dimensions of size 1.
    #[must_use]
    pub fn without_axes(&self, axes: &[usize]) -> Self {
        let mut window = self.window.clone();
        for axis in (0..self.ndim()).rev().filter(|axis| axes.contains(axis)) {
            window.shape.remove(axis);
            window.strides.remove(axis);
        }
        self.seen(window)
    }

    /// A view with elements repeated.
    ///
    /// # Errors
    /// Shapes that do not fit.
    pub fn broadcast(&self, shape: &[usize]) -> Result<Self> {
        let window = self.fit(shape)?;
        let repeats = window.n_repeats() > 1;
        let view = self.seen(window);
        Ok(if repeats { view.locked(Lock::Repeats) } else { view })
    }

    /// Its window with elements repeated to a shape.
    pub(super) fn fit(&self, shape: &[usize]) -> Result<Window> {
        self.window.broadcast(shape).ok_or_else(|| LocalError::ShapesDiffer {
            first: shape.to_vec(),
            second: self.shape().to_vec(),
            about: format!(" (the second is of {})", self.in_words()),
        })
    }

    /// The elements in another shape: a view where that is possible, else a copy.
    ///
    /// # Errors
    /// Another number of elements.
    pub fn reshape(&self, shape: &[usize]) -> Result<Self> {
        if shape.iter().product::<usize>() != self.n_elements() {
            let (from, to) = (self.shape().to_vec(), shape.to_vec());
            return Err(LocalError::ReshapeSize { from, to });
        }
        if let Some(window) = self.window.reshape(shape) {
            return Ok(self.seen(window));
        }
        self.engine.copy(self)?.reshape(shape)
    }

    /// Whether both see one memory: what is written to one may change the other.
    #[must_use]
    pub fn is_of(&self, other: &Array) -> bool {
        Rc::ptr_eq(&self.base, &other.base)
    }

    /// Refuses where nobody may write.
    ///
    /// # Errors
    /// Memory of somebody else that is not to be written; a lock.
    pub fn check_writable(&self) -> Result<()> {
        let why = match self.lock {
            Some(lock) => lock.why(),
            None if self.base.is_read_only.get() => "its memory may not be written",
            None => return Ok(()),
        };
        Err(LocalError::ReadOnly { shape: self.shape().to_vec(), why })
    }

    /// How often its memory was written so far, or will have been by what is pending.
    #[must_use]
    pub fn n_writes(&self) -> u64 {
        self.base.n_writes.get()
    }

    /// Writes another array's elements here; sizes of 1 are repeated.
    ///
    /// # Errors
    /// Shapes or types that do not fit.
    pub fn write(&self, source: &Self) -> Result<()> {
        self.engine.write(self, Input::Array(source))
    }

    /// Computes what is pending and gives the memory, which lives as long as the storage. On
    /// several ranks it is that of a copy, unless every rank has the whole array.
    ///
    /// # Errors
    /// As [`Engine::flush`].
    pub fn buffer(&self) -> Result<(Buffer, Rc<Storage>)> {
        self.engine.unfill(self, None)?;
        if self.engine.n_ranks() > 1 {
            let whole = self.whole()?;
            whole.engine.flush()?;
            return whole.buffer_here();
        }
        self.engine.flush()?;
        self.buffer_here()
    }

    /// The memory of an array that is computed and whole.
    fn buffer_here(&self) -> Result<(Buffer, Rc<Storage>)> {
        self.check_kept()?;
        let n_bytes = self.base.n_bytes().unwrap_or(0);
        let storage = self.base.memory(n_bytes, &self.engine.0.meter)?;
        let size = self.dtype().size() as isize;
        let offset = if self.n_elements() == 0 { 0 } else { self.window.offset * size };
        let buffer = Buffer {
            address: storage.address().wrapping_add_signed(offset),
            shape: self.shape().iter().map(|n| *n as u64).collect(),
            strides: self.window.strides.iter().map(|stride| stride * size).collect(),
            access: Access::Write,
        };
        Ok((buffer, storage))
    }

    /// The elements as bytes, in C order.
    ///
    /// # Errors
    /// As [`Engine::flush`].
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let dense = if self.window.is_dense() { self.clone() } else { self.engine.copy(self)? };
        let (buffer, _storage) = dense.buffer()?;
        let n_bytes = self.n_elements() * self.dtype().size();
        let mut bytes = vec![0; n_bytes];
        if n_bytes > 0 {
            // SAFETY: a dense window of so many elements inside its storage, which is held.
            unsafe {
                std::ptr::copy_nonoverlapping(
                    buffer.address as *const u8,
                    bytes.as_mut_ptr(),
                    n_bytes,
                );
            }
        }
        Ok(bytes)
    }

    /// The elements, in C order.
    ///
    /// # Errors
    /// Another element type; as [`Engine::flush`].
    pub fn to_vec<T: Element>(&self) -> Result<Vec<T>> {
        if T::DTYPE != self.dtype() {
            return Err(LocalError::DtypesDiffer { first: self.dtype(), second: T::DTYPE });
        }
        let bytes = self.to_bytes()?;
        let read = |chunk: &[u8]| {
            // SAFETY: a chunk has the bytes of one element; every pattern is a value.
            unsafe { chunk.as_ptr().cast::<T>().read_unaligned() }
        };
        Ok(bytes.chunks_exact(size_of::<T>()).map(read).collect())
    }

    /// The only element.
    ///
    /// # Errors
    /// As [`Engine::flush`].
    pub fn to_scalar(&self) -> Result<Scalar> {
        if let Some(value) = self.base.fill.get() {
            return Ok(value);
        }
        self.engine.flush()?;
        self.check_kept()?;
        let size = self.dtype().size();
        let storage = self.base.storage.borrow();
        let is_here = self.n_elements() == 1 && self.is_all_here();
        let Some(storage) = storage.as_ref().filter(|_| is_here) else {
            drop(storage);
            return Ok(Scalar::from_bytes(self.dtype(), &self.to_bytes()?));
        };
        let address = storage.address().wrapping_add_signed(self.window.offset * size as isize);
        // SAFETY: the window has one element, which lies in the storage that is held.
        let bytes = unsafe { std::slice::from_raw_parts(address as *const u8, size) };
        Ok(Scalar::from_bytes(self.dtype(), bytes))
    }
}

impl Array {
    /// As [`Array::buffer`], for others who go on to look at the memory: it stays the array's.
    ///
    /// # Errors
    /// As [`Engine::flush`].
    pub fn share(&self) -> Result<(Buffer, Rc<Storage>)> {
        let shared = self.buffer()?;
        self.base.is_shared.set(true);
        Ok(shared)
    }
}

impl Engine {
    /// An array of bytes in C order.
    ///
    /// # Errors
    /// Memory that is not there; too few or too many bytes.
    pub fn from_bytes(&self, shape: &[usize], dtype: Dtype, bytes: &[u8]) -> Result<Array> {
        let array = self.empty(shape, dtype)?;
        if array.n_elements() * dtype.size() != bytes.len() {
            let (from, to) = (vec![bytes.len() / dtype.size()], shape.to_vec());
            return Err(LocalError::ReshapeSize { from, to });
        }
        let storage = Storage::new(bytes.len(), &self.0.meter)?;
        // SAFETY: the storage is new, nobody else knows it, and it has as many bytes.
        unsafe {
            let target = storage.address() as *mut u8;
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), target, bytes.len());
        }
        *array.base.storage.borrow_mut() = Some(storage);
        self.put_whole(&array);
        Ok(array)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_repeats_elements_is_read_only_and_so_are_its_views() {
        let engine = Engine::new();
        let fill = |shape: &[usize], value: f64| engine.fill(shape, Scalar::from(value));
        let row = fill(&[4], 1.0).expect("an array");
        let two = fill(&[], 2.0).expect("a number");
        let wide = row.broadcast(&[2, 4]).expect("fits");
        let one = wide.slice(&[1, 0], &[1, 4], &[1, 1]).expect("inside");
        let views = [wide.permute(&[1, 0]), one.without_axes(&[0]), wide.with_axis(0), wide];
        for view in views {
            assert_eq!(view.write(&two).expect_err("refused").reason(), "read-only");
        }
        let narrow = row.broadcast(&[1, 4]).expect("fits");
        narrow.write(&two).expect("nothing is repeated");
        assert_eq!(row.to_vec::<f64>().expect("values"), [2.0; 4]);
    }
}
