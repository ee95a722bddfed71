//! Fourier transforms along one axis, without a factor.

#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use partita_linear::Complex;
use partita_linear::fourier::{Array, ArrayMut, Direction, FourierError, Norm, Transformed};
use partita_plan::Dtype;
use pyo3::prelude::*;

use super::block::{Block, refused};
use super::detached;

/// Transforms complex numbers along an axis; the result may be the same memory.
#[pyfunction]
fn local_fft(
    py: Python<'_>,
    block: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    axis: usize,
    inverse: bool,
    n_threads: usize,
) -> PyResult<()> {
    let block = Block::new(block)?;
    let out = Block::of(out, block.dtype)?;
    // Without a factor: what is divided is the other direction.
    let (direction, norm) = match inverse {
        true => (Direction::Backward, Norm::Forward),
        false => (Direction::Forward, Norm::Backward),
    };
    macro_rules! transformed {
        ($R:ty) => {{
            type C = Complex<$R>;
            // SAFETY: both are held as long as this runs, and their caller leaves them alone.
            let (input, mut out) = unsafe { (input_of::<C>(&block), output_of::<C>(&out)) };
            detached(py, || <$R>::fft(input, &mut out, &[axis], direction, norm, n_threads))?
        }};
    }
    let outcome = match block.dtype {
        Dtype::C64 => transformed!(f32),
        Dtype::C128 => transformed!(f64),
        other => return Err(wrong(other, "complex64 or complex128")),
    };
    outcome.map_err(|error| fourier_error(&error))
}

/// Transforms real numbers along an axis to half as many complex ones and one.
#[pyfunction]
fn local_rfft(
    py: Python<'_>,
    block: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    axis: usize,
    n_threads: usize,
) -> PyResult<()> {
    let (block, out) = (Block::new(block)?, Block::new(out)?);
    macro_rules! transformed {
        ($R:ty) => {{
            type C = Complex<$R>;
            // SAFETY: both are held as long as this runs, and their caller leaves them alone.
            let (input, mut out) = unsafe { (input_of::<$R>(&block), output_of::<C>(&out)) };
            detached(py, || <$R>::rfft(input, &mut out, &[axis], Norm::Backward, n_threads))?
        }};
    }
    let outcome = match (block.dtype, out.dtype) {
        (Dtype::F32, Dtype::C64) => transformed!(f32),
        (Dtype::F64, Dtype::C128) => transformed!(f64),
        (other, _) => return Err(wrong(other, "float32 to complex64 or float64 to complex128")),
    };
    outcome.map_err(|error| fourier_error(&error))
}

/// The inverse but for a factor: the result says how many real numbers there are.
#[pyfunction]
fn local_irfft(
    py: Python<'_>,
    block: &Bound<'_, PyAny>,
    out: &Bound<'_, PyAny>,
    axis: usize,
    n_threads: usize,
) -> PyResult<()> {
    let (block, out) = (Block::new(block)?, Block::new(out)?);
    macro_rules! transformed {
        ($R:ty) => {{
            type C = Complex<$R>;
            // SAFETY: both are held as long as this runs, and their caller leaves them alone.
            let (input, mut out) = unsafe { (input_of::<C>(&block), output_of::<$R>(&out)) };
            detached(py, || <$R>::irfft(input, &mut out, &[axis], Norm::Forward, n_threads))?
        }};
    }
    let outcome = match (block.dtype, out.dtype) {
        (Dtype::C64, Dtype::F32) => transformed!(f32),
        (Dtype::C128, Dtype::F64) => transformed!(f64),
        (other, _) => return Err(wrong(other, "complex64 to float32 or complex128 to float64")),
    };
    outcome.map_err(|error| fourier_error(&error))
}

/// # Safety
/// `T` is the block's type, and nobody writes it meanwhile.
unsafe fn input_of<T>(block: &Block) -> Array<'_, T> {
    // SAFETY: the caller's.
    unsafe { Array::new(block.data::<T>(), &block.extents, &block.strides) }
}

/// # Safety
/// `T` is the block's type, and nobody else touches it meanwhile.
unsafe fn output_of<T>(block: &Block) -> ArrayMut<'_, T> {
    // SAFETY: the caller's.
    unsafe { ArrayMut::new(block.data::<T>(), &block.extents, &block.strides) }
}

fn wrong(found: Dtype, wanted: &str) -> PyErr {
    refused(&format!("elements are {}; use {wanted}", found.name()))
}

fn fourier_error(error: &FourierError) -> PyErr {
    refused(&error.to_string())
}

pub(super) fn add(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(local_fft, module)?)?;
    module.add_function(wrap_pyfunction!(local_rfft, module)?)?;
    module.add_function(wrap_pyfunction!(local_irfft, module)?)
}
