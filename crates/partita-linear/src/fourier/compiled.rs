//! Transforms compiled here, once, for float32 and float64.
//!
//! The others are generic, and would be compiled again by every crate that uses them.

use super::{Array, ArrayMut, Direction, Norm, Result};
use num_complex::Complex;

/// Numbers that are transformed here.
#[allow(clippy::missing_errors_doc, reason = "those of the functions that they name")]
pub trait Transformed: Copy + Sync + Send {
    /// As [`super::fft`].
    fn fft(
        input: Array<'_, Complex<Self>>,
        out: &mut ArrayMut<'_, Complex<Self>>,
        axes: &[usize],
        direction: Direction,
        norm: Norm,
        n_threads: usize,
    ) -> Result<()>;
    /// As [`super::rfft`].
    fn rfft(
        input: Array<'_, Self>,
        out: &mut ArrayMut<'_, Complex<Self>>,
        axes: &[usize],
        norm: Norm,
        n_threads: usize,
    ) -> Result<()>;
    /// As [`super::irfft`].
    fn irfft(
        input: Array<'_, Complex<Self>>,
        out: &mut ArrayMut<'_, Self>,
        axes: &[usize],
        norm: Norm,
        n_threads: usize,
    ) -> Result<()>;
}

macro_rules! transformed {
    ($($type:ty)*) => {$(
        impl Transformed for $type {
            fn fft(
                input: Array<'_, Complex<Self>>,
                out: &mut ArrayMut<'_, Complex<Self>>,
                axes: &[usize],
                direction: Direction,
                norm: Norm,
                n_threads: usize,
            ) -> Result<()> {
                super::fft(input, out, axes, direction, norm, n_threads)
            }

            fn rfft(
                input: Array<'_, Self>,
                out: &mut ArrayMut<'_, Complex<Self>>,
                axes: &[usize],
                norm: Norm,
                n_threads: usize,
            ) -> Result<()> {
                super::rfft(input, out, axes, norm, n_threads)
            }

            fn irfft(
                input: Array<'_, Complex<Self>>,
                out: &mut ArrayMut<'_, Self>,
                axes: &[usize],
                norm: Norm,
                n_threads: usize,
            ) -> Result<()> {
                super::irfft(input, out, axes, norm, n_threads)
            }
        }
    )*};
}
transformed! { f32 f64 }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwards_to_what_it_names() {
        let (input, mut half, mut back) = ([1.0, 2.0, 3.0, 4.0], [Complex::default(); 3], [0.0; 4]);
        // SAFETY: all are ours, with as many elements as are said.
        unsafe {
            let given = Array::new(input.as_ptr(), &[4], &[1]);
            let mut out = ArrayMut::new(half.as_mut_ptr(), &[3], &[1]);
            f64::rfft(given, &mut out, &[0], Norm::Backward, 1).expect("fits");
            let given = Array::new(half.as_ptr(), &[3], &[1]);
            let mut out = ArrayMut::new(back.as_mut_ptr(), &[4], &[1]);
            f64::irfft(given, &mut out, &[0], Norm::Backward, 1).expect("fits");
        }
        assert_eq!(half[0], Complex::new(10.0, 0.0));
        assert!(back.iter().zip(input).all(|(a, b)| (a - b).abs() < 1e-15), "{back:?}");
        let (ones, mut out) = ([Complex::new(1.0_f32, 0.0); 2], [Complex::default(); 2]);
        // SAFETY: as above.
        unsafe {
            let given = Array::new(ones.as_ptr(), &[2], &[1]);
            let mut out = ArrayMut::new(out.as_mut_ptr(), &[2], &[1]);
            f32::fft(given, &mut out, &[0], Direction::Forward, Norm::Backward, 1).expect("fits");
        }
        assert_eq!(out, [Complex::new(2.0, 0.0), Complex::new(0.0, 0.0)]);
    }
}
