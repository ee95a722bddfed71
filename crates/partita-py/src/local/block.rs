//! A NumPy array's memory as elements of a type.

use std::mem::MaybeUninit;

use partita_linear::matrix::{View, ViewMut};
use partita_plan::Dtype;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::buffers::HeldMemory;
use crate::errors::layout_error;

/// An array of Python, held until dropped.
pub(super) struct Block {
    held: HeldMemory,
    pub dtype: Dtype,
    pub extents: Vec<usize>,
    /// Elements from one entry to the next, per dimension.
    pub strides: Vec<isize>,
}

impl Block {
    /// Takes hold of an array.
    pub(super) fn new(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        let (held, dtype) = HeldMemory::any(object, "given")?;
        let extents: Vec<usize> = held.buffer.shape.iter().map(|n| *n as usize).collect();
        let item = dtype.n_bytes() as isize;
        if held.buffer.strides.iter().any(|stride| stride % item != 0) {
            let message = "elements lie at odd addresses; copy the array first";
            return Err(layout_error(object.py(), message, "buffer-strides"));
        }
        let strides = held.buffer.strides.iter().map(|stride| stride / item).collect();
        Ok(Self { held, dtype, extents, strides })
    }

    /// The same, of an element type that is asked for.
    pub(super) fn of(object: &Bound<'_, PyAny>, dtype: Dtype) -> PyResult<Self> {
        let block = Self::new(object)?;
        match block.dtype == dtype {
            true => Ok(block),
            false => {
                Err(refused(&format!("elements are {}; use {}", block.dtype.name(), dtype.name())))
            }
        }
    }

    pub(super) fn n_elements(&self) -> usize {
        self.extents.iter().product()
    }

    pub(super) fn data<T>(&self) -> *mut T {
        self.held.buffer.address as *mut T
    }

    /// The addresses of elements that lie one behind the other.
    pub(super) fn addresses(&self) -> std::ops::Range<usize> {
        let start = self.held.buffer.address;
        start..start + self.n_elements() * self.dtype.n_bytes() as usize
    }

    fn expect_row(&self) -> PyResult<()> {
        let mut expected = 1;
        for (extent, stride) in self.extents.iter().zip(&self.strides).rev() {
            if *extent > 1 && *stride != expected {
                return Err(refused("elements do not lie one behind the other; copy the array"));
            }
            expected *= *extent as isize;
        }
        Ok(())
    }

    /// All elements; they lie one behind the other.
    pub(super) fn row<T>(&self) -> PyResult<&[T]> {
        self.expect_row()?;
        // SAFETY: the memory is held, has that many elements, and callers pair `T` with the dtype;
        // the caller in Python leaves it alone meanwhile.
        Ok(unsafe { std::slice::from_raw_parts(self.pointer(), self.n_elements()) })
    }

    /// All elements, to write.
    pub(super) fn row_mut<T>(&mut self) -> PyResult<&mut [T]> {
        self.expect_row()?;
        if self.held.buffer.access != partita_team::Access::Write {
            return Err(refused("the array is read-only; copy it first"));
        }
        // SAFETY: as for `row`, and the block is borrowed alone.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.pointer(), self.n_elements()) })
    }

    /// All elements, to write before they are read.
    pub(super) fn new_row<T>(&mut self) -> PyResult<&mut [MaybeUninit<T>]> {
        self.row_mut::<MaybeUninit<T>>()
    }

    /// Where elements begin; somewhere aligned if there are none.
    fn pointer<T>(&self) -> *mut T {
        if self.n_elements() == 0 { std::ptr::NonNull::dangling().as_ptr() } else { self.data() }
    }

    /// How many matrices the last two dimensions are repeated for.
    pub(super) fn n_matrices(&self) -> usize {
        self.extents[..self.extents.len() - 2].iter().product()
    }

    /// Extents of the last two dimensions.
    pub(super) fn shape(&self) -> [usize; 2] {
        let [.., m, n] = self.extents[..] else { return [1, 1] };
        [m, n]
    }

    fn matrix_at<T>(&self, mut position: usize) -> (*mut T, [isize; 2]) {
        let n_leading = self.extents.len() - 2;
        let mut offset = 0;
        let leading = self.extents.iter().zip(&self.strides).take(n_leading);
        for (extent, stride) in leading.rev() {
            offset += (position % extent) as isize * stride;
            position /= extent;
        }
        let strides = [self.strides[n_leading], self.strides[n_leading + 1]];
        (self.pointer::<T>().wrapping_offset(offset), strides)
    }

    /// One of the matrices.
    pub(super) fn matrix<T>(&self, position: usize) -> View<'_, T> {
        let (data, strides) = self.matrix_at(position);
        // SAFETY: the memory is held, and callers pair `T` with the dtype.
        unsafe { View::from_raw(data, self.shape(), strides) }
    }

    /// One of the matrices, to write.
    ///
    /// # Safety
    /// No other view of this matrix is used meanwhile.
    pub(super) unsafe fn matrix_mut<T>(&self, position: usize) -> ViewMut<'_, T> {
        let (data, strides) = self.matrix_at(position);
        // SAFETY: the memory is held, callers pair `T` with the dtype, and the matrix is theirs.
        unsafe { ViewMut::from_raw(data, self.shape(), strides) }
    }
}

/// A `ValueError` of Python.
pub(super) fn refused(message: &str) -> PyErr {
    PyValueError::new_err(message.to_string())
}

/// Runs code with `$T` as the type of sortable elements.
macro_rules! with_sortable {
    ($dtype:expr, $T:ident => $code:expr) => {{
        use partita_numeric::sort::{BFloat16, Float16};
        use partita_plan::Dtype;
        match $dtype {
            Dtype::Bool => {
                type $T = bool;
                $code
            }
            Dtype::I8 => {
                type $T = i8;
                $code
            }
            Dtype::I16 => {
                type $T = i16;
                $code
            }
            Dtype::I32 => {
                type $T = i32;
                $code
            }
            Dtype::I64 => {
                type $T = i64;
                $code
            }
            Dtype::U8 => {
                type $T = u8;
                $code
            }
            Dtype::U16 => {
                type $T = u16;
                $code
            }
            Dtype::U32 => {
                type $T = u32;
                $code
            }
            Dtype::U64 => {
                type $T = u64;
                $code
            }
            Dtype::F16 => {
                type $T = Float16;
                $code
            }
            Dtype::Bf16 => {
                type $T = BFloat16;
                $code
            }
            Dtype::F32 => {
                type $T = f32;
                $code
            }
            Dtype::F64 => {
                type $T = f64;
                $code
            }
            Dtype::C64 => {
                type $T = [f32; 2];
                $code
            }
            Dtype::C128 => {
                type $T = [f64; 2];
                $code
            }
        }
    }};
}

/// Runs code with `$T` as a type of as many bytes.
macro_rules! with_bytes {
    ($n_bytes:expr, $T:ident => $code:expr) => {
        match $n_bytes {
            1 => {
                type $T = u8;
                $code
            }
            2 => {
                type $T = u16;
                $code
            }
            4 => {
                type $T = u32;
                $code
            }
            8 => {
                type $T = u64;
                $code
            }
            _ => {
                type $T = [u64; 2];
                $code
            }
        }
    };
}

/// Runs code with `$T` as the type of elements that are factorised.
macro_rules! with_field {
    ($dtype:expr, $T:ident => $code:expr) => {{
        use partita_linear::Complex64;
        use partita_plan::Dtype;
        match $dtype {
            Dtype::F64 => {
                type $T = f64;
                $code
            }
            Dtype::C128 => {
                type $T = Complex64;
                $code
            }
            other => Err(crate::local::block::refused(&format!(
                "elements are {}; use float64 or complex128",
                other.name()
            ))),
        }
    }};
}

pub(super) use {with_bytes, with_field, with_sortable};
