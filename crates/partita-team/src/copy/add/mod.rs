//! Adding instead of copying: what the adjoint of a copy does.
//!
//! ```
//! use partita_layout::Run;
//! use partita_team::copy::{Dtype, Region, Source, Target, add};
//!
//! let (from, mut to) = ([1.0f32, 2.0, 3.0], [10.0f32, 20.0, 30.0]);
//! let runs = [Run::contiguous(0, 1, 2)];
//! let region = Region { runs: &[&runs], item_bytes: 4 };
//! let source = Source { pointer: from.as_ptr().cast(), strides: &[4] };
//! let target = Target { pointer: to.as_mut_ptr().cast(), strides: &[4] };
//! // SAFETY: both arrays hold every position of the region.
//! unsafe { add(region, source, target, Dtype::F32) };
//! assert_eq!(to, [10.0, 21.0, 32.0]);
//! ```

mod kernels;
mod number;
mod sum;

use super::{Move, Prepared, Region, Source, Target, run_all};

pub use partita_plan::Dtype;
pub use sum::{Sum, sum_two};

/// Adds the source elements of a region to their target elements.
///
/// Integers wrap, booleans are or-ed, half precision is added in single precision and rounded to
/// even. Target positions may repeat: each source element is added.
///
/// # Panics
/// If `region.item_bytes` is not the size of `dtype`, or the numbers of dimensions differ.
///
/// # Safety
/// As [`copy`](super::copy()), but target elements may repeat.
pub unsafe fn add(region: Region<'_>, source: Source<'_>, target: Target<'_>, dtype: Dtype) {
    assert_eq!(region.item_bytes, dtype.n_bytes() as usize, "the region's items are not {dtype:?}");
    let prepared = Prepared::new(region, source.strides, target.strides);
    let once = Move { prepared: &prepared, source: source.pointer, target: target.pointer };
    // SAFETY: the caller's promise.
    unsafe { add_all(&[once], dtype) }
}

/// Adds several regions side by side.
///
/// # Safety
/// As [`add`], for every move; all must have been prepared for items of this type.
pub unsafe fn add_all(moves: &[Move<'_>], dtype: Dtype) {
    // SAFETY: every block of a job lies in its region, which the caller vouches for.
    unsafe { run_all(moves, |_| true, |job| kernels::kernel(job.kind, dtype)) };
}
