//! What a call brings: extents, strided buffers, scalars; and the loops they make.

mod check;
mod loops;
mod overlap;
mod walk;

pub use check::check;
pub use loops::Space;
pub use walk::Position;

use crate::program::Scalar;

/// A strided buffer: where the element of point zero lies, and the step along each axis in bytes.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    /// The element of point zero.
    pub data: *mut u8,
    /// Bytes from one point to the next, per axis of the iteration space; zero broadcasts.
    /// Strides of an output's reduced axes are not looked at.
    pub strides: &'a [isize],
}

impl<'a> View<'a> {
    /// A buffer that is only read.
    #[must_use]
    pub fn new<T>(data: *const T, strides: &'a [isize]) -> View<'a> {
        View { data: data.cast_mut().cast(), strides }
    }
}

/// Everything one run of a kernel needs beyond its program.
#[derive(Debug, Clone, Copy)]
pub struct Call<'a> {
    /// Extents of the iteration space.
    pub extents: &'a [usize],
    /// One view per input.
    pub inputs: &'a [View<'a>],
    /// One view per output.
    pub outputs: &'a [View<'a>],
    /// One number per scalar.
    pub scalars: &'a [Scalar],
}
