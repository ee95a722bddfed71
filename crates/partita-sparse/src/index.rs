//! Types of row pointers and column indices.

use crate::error::{Result, SparseError};
use std::fmt::Debug;

/// An index of 32 or 64 bits.
pub trait Index: Copy + Ord + Debug + Send + Sync + 'static {
    /// As a position; a negative index becomes one that lies outside of every array.
    fn at(self) -> usize;
    /// As a number to show.
    fn number(self) -> i64;
    /// A position that is known to fit.
    fn from_position(position: usize) -> Self;
    /// The largest position that fits.
    const LARGEST: usize;

    /// A count of entries, if it fits.
    ///
    /// # Errors
    /// `too-many-entries`.
    fn from_count(n_entries: usize) -> Result<Self> {
        match n_entries <= Self::LARGEST {
            true => Ok(Self::from_position(n_entries)),
            false => Err(SparseError::TooManyEntries { n_entries }),
        }
    }
}

macro_rules! index {
    ($type:ty) => {
        impl Index for $type {
            const LARGEST: usize = <$type>::MAX as usize;

            #[inline(always)]
            fn at(self) -> usize {
                self as isize as usize
            }

            #[inline(always)]
            fn number(self) -> i64 {
                i64::from(self)
            }

            #[inline(always)]
            fn from_position(position: usize) -> $type {
                position as $type
            }
        }
    };
}
index!(i32);
index!(i64);
