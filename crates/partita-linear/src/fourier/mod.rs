//! Discrete Fourier transforms along any axes.
//!
//! - [`fft`], [`fft_in_place`]: of complex numbers, forward and backward.
//! - [`rfft`], [`irfft`]: of real numbers, with half of the complex ones, and back.
//!
//! ```
//! use partita_linear::Complex;
//! use partita_linear::fourier::{ArrayMut, Direction, Norm, fft_in_place};
//! let mut points = [1.0, 2.0, 3.0, 4.0].map(|re| Complex::new(re, 0.0));
//! // SAFETY: four points, which nobody else uses.
//! let mut array = unsafe { ArrayMut::new(points.as_mut_ptr(), &[4], &[1]) };
//! fft_in_place(&mut array, &[0], Direction::Forward, Norm::Backward, 1)?;
//! assert_eq!(points[1], Complex::new(-2.0, 2.0));
//! # Ok::<(), partita_linear::fourier::FourierError>(())
//! ```
//!
//! Lines of any length are transformed by rustfft and realfft; `lines.rs` brings them to it, and
//! `plans.rs` keeps plans. A line is transformed by one thread, so results do not depend on how
//! many there are. Padding and cutting are the caller's.

mod array;
mod compiled;
mod error;
mod lines;
mod passes;
mod plans;

pub use array::{Array, ArrayMut};
pub use compiled::Transformed;
pub use error::{FourierError, Result};
pub use plans::{Direction, Real};

use lines::{Axis, Lines};
use num_complex::Complex;
use partita_kernel::math::Level;
use passes::{Pass, complex_lines, complex_to_real, real_to_complex};

/// Which transforms are divided by the number of points.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Norm {
    /// Backward ones.
    Backward,
    /// Both, by the square root.
    Ortho,
    /// Forward ones.
    Forward,
}

impl Norm {
    fn factor(self, direction: Direction, n_points: f64) -> f64 {
        match (self, direction) {
            (Norm::Ortho, _) => 1.0 / n_points.sqrt(),
            (Norm::Backward, Direction::Backward) | (Norm::Forward, Direction::Forward) => {
                1.0 / n_points
            }
            _ => 1.0,
        }
    }
}

/// Transforms an array into another of the same extents.
///
/// An axis that is named twice is transformed twice.
///
/// # Errors
/// See [`FourierError::reason`]; nothing is written then.
pub fn fft<T: Real>(
    input: Array<'_, Complex<T>>,
    out: &mut ArrayMut<'_, Complex<T>>,
    axes: &[usize],
    direction: Direction,
    norm: Norm,
    n_threads: usize,
) -> Result<()> {
    check_axes(input.extents, axes)?;
    if out.extents != input.extents {
        let (given, wanted) = (out.extents.to_vec(), input.extents.to_vec());
        return Err(FourierError::OutputExtents { given, wanted });
    }
    let how = How { direction, level: Level::best(), n_threads };
    along_axes(input, out, axes, how, norm_of(norm, direction, input.extents, axes));
    Ok(())
}

/// Transforms an array where it is; otherwise as [`fft`].
///
/// # Errors
/// As [`fft`].
pub fn fft_in_place<T: Real>(
    array: &mut ArrayMut<'_, Complex<T>>,
    axes: &[usize],
    direction: Direction,
    norm: Norm,
    n_threads: usize,
) -> Result<()> {
    // SAFETY: source and target may be the same: a line is read before it is written.
    let input = unsafe { Array::new(array.data.cast_const(), array.extents, array.strides) };
    fft(input, array, axes, direction, norm, n_threads)
}

/// Transforms real numbers forward: along the last of `axes` to half as many points and one, then
/// along the others.
///
/// # Errors
/// See [`FourierError::reason`]; nothing is written then.
pub fn rfft<T: Real>(
    input: Array<'_, T>,
    out: &mut ArrayMut<'_, Complex<T>>,
    axes: &[usize],
    norm: Norm,
    n_threads: usize,
) -> Result<()> {
    check_axes(input.extents, axes)?;
    let Some((&last, others)) = axes.split_last() else { return Err(FourierError::NoAxes) };
    let n = input.extents[last];
    expect_half(out.extents, input.extents, last, n / 2 + 1, out.extents)?;
    let factor = norm_of(norm, Direction::Forward, input.extents, axes);
    let here = if others.is_empty() { factor } else { 1.0 };
    let lines = Lines::new(&pair(input.extents, input.strides, out.strides), last, n / 2 + 1);
    // SAFETY: both arrays have these lines, and the output is lent to us.
    unsafe {
        let pass = Pass { lines: &lines, factor: T::from_f64_rounded(here), n_threads };
        real_to_complex(&pass, input.data, out.data);
    }
    // SAFETY: see `fft_in_place`.
    let half = unsafe { Array::new(out.data.cast_const(), out.extents, out.strides) };
    let how = How { direction: Direction::Forward, level: Level::best(), n_threads };
    if !others.is_empty() {
        along_axes(half, out, others, how, factor);
    }
    Ok(())
}

/// Transforms backward to real numbers: along all but the last of `axes`, then along it.
///
/// How many points there are along the last axis, even or odd, is the output's; the input has half
/// of them and one. What the imaginary parts of the first point, and of the last of an even
/// number, are does not matter.
///
/// # Errors
/// See [`FourierError::reason`]; nothing is written then.
pub fn irfft<T: Real>(
    input: Array<'_, Complex<T>>,
    out: &mut ArrayMut<'_, T>,
    axes: &[usize],
    norm: Norm,
    n_threads: usize,
) -> Result<()> {
    check_axes(out.extents, axes)?;
    let Some((&last, others)) = axes.split_last() else { return Err(FourierError::NoAxes) };
    let n = out.extents[last];
    expect_half(input.extents, out.extents, last, n / 2 + 1, input.extents)?;
    let factor = norm_of(norm, Direction::Backward, out.extents, axes);
    // The other axes are transformed in memory of their own: the input stays as it is.
    let mut memory = Vec::new();
    let strides = c_order(input.extents);
    let mut half = input;
    if !others.is_empty() {
        memory.resize(input.extents.iter().product(), Complex::default());
        // SAFETY: the memory has an element per point.
        let mut between = unsafe { ArrayMut::new(memory.as_mut_ptr(), input.extents, &strides) };
        let how = How { direction: Direction::Backward, level: Level::best(), n_threads };
        along_axes(input, &mut between, others, how, 1.0);
        // SAFETY: as above, and nobody writes any more.
        half = unsafe { Array::new(memory.as_ptr(), input.extents, &strides) };
    }
    let lines = Lines::new(&pair(half.extents, half.strides, out.strides), last, n);
    // SAFETY: both arrays have these lines, and the output is lent to us.
    unsafe {
        let pass = Pass { lines: &lines, factor: T::from_f64_rounded(factor), n_threads };
        complex_to_real(&pass, half.data, out.data);
    }
    Ok(())
}

#[derive(Debug, Clone, Copy)]
struct How {
    direction: Direction,
    level: Level,
    n_threads: usize,
}

/// The last axis first, from input to output; then the others, where they are.
fn along_axes<T: Real>(
    input: Array<'_, Complex<T>>,
    out: &mut ArrayMut<'_, Complex<T>>,
    axes: &[usize],
    how: How,
    factor: f64,
) {
    let n_passes = axes.len();
    let mut source = (input.data, input.strides);
    for (number, &axis) in axes.iter().rev().enumerate() {
        let lines =
            Lines::new(&pair(input.extents, source.1, out.strides), axis, input.extents[axis]);
        let factor = if number + 1 == n_passes { T::from_f64_rounded(factor) } else { T::one() };
        let pass = Pass { lines: &lines, factor, n_threads: how.n_threads };
        // SAFETY: both arrays have these lines, and the output is lent to us.
        unsafe { complex_lines(&pass, source.0, out.data, how.direction, how.level) };
        source = (out.data.cast_const(), out.strides);
    }
    if n_passes == 0 {
        copy(input, out);
    }
}

/// A transform along no axis.
fn copy<T: Copy>(input: Array<'_, T>, out: &mut ArrayMut<'_, T>) {
    let n: usize = input.extents.iter().product();
    for number in 0..n {
        let (mut rest, mut from, mut to) = (number, 0, 0);
        for axis in (0..input.extents.len()).rev() {
            let position = (rest % input.extents[axis]).cast_signed();
            rest /= input.extents[axis];
            from += position * input.strides[axis];
            to += position * out.strides[axis];
        }
        // SAFETY: the position lies in both arrays.
        unsafe { *out.data.offset(to) = *input.data.offset(from) };
    }
}

fn norm_of(norm: Norm, direction: Direction, extents: &[usize], axes: &[usize]) -> f64 {
    norm.factor(direction, axes.iter().map(|&axis| extents[axis] as f64).product())
}

fn check_axes(extents: &[usize], axes: &[usize]) -> Result<()> {
    for &axis in axes {
        match extents.get(axis) {
            None => return Err(FourierError::AxisUnknown { axis, ndim: extents.len() }),
            Some(0) => return Err(FourierError::NoPoints { axis }),
            Some(_) => {}
        }
    }
    Ok(())
}

/// `half` must have the extents of `whole` but for `n_half` along `axis`.
fn expect_half(
    half: &[usize],
    whole: &[usize],
    axis: usize,
    n_half: usize,
    given: &[usize],
) -> Result<()> {
    let mut wanted = whole.to_vec();
    wanted[axis] = n_half;
    if half == wanted {
        return Ok(());
    }
    Err(FourierError::OutputExtents { given: given.to_vec(), wanted })
}

fn pair(extents: &[usize], source: &[isize], target: &[isize]) -> Vec<Axis> {
    let axis = |at: usize| Axis { extent: extents[at], source: source[at], target: target[at] };
    (0..extents.len()).map(axis).collect()
}

fn c_order(extents: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; extents.len()];
    for axis in (1..extents.len()).rev() {
        strides[axis - 1] = strides[axis] * extents[axis].cast_signed();
    }
    strides
}

#[cfg(test)]
mod tests;
