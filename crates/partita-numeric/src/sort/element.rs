//! The types that can be sorted, and their order.

use super::{complex, narrow, wide};
use crate::{Cores, Scratch};

/// A float16 by its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct Float16(pub u16);

/// A bfloat16 by its bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(transparent)]
pub struct BFloat16(pub u16);

mod sealed {
    pub trait Sealed {}
}

/// An element type that can be sorted: numbers, `bool`, and pairs that are complex numbers.
///
/// The order is NumPy's: NaN comes last, both zeros are equal, complex numbers are compared by
/// their real parts first, and those with NaN come last: those with a NaN in the imaginary part
/// alone, then in the real part alone, then in both.
pub trait Sortable: sealed::Sealed + Copy + Send + Sync + std::fmt::Debug + 'static {
    /// A number, or numbers, in the same order; equal where the elements are.
    type Key: Ord + Copy + Send + Sync;

    /// The key of an element.
    fn key(self) -> Self::Key;
    /// The keys' complement, in the reverse order.
    fn reverse(key: Self::Key) -> Self::Key;
    /// A key as one number, if it is one.
    fn number(key: Self::Key) -> Option<u64>;
    /// Whether this comes before another and is not equal to it.
    #[inline(always)]
    fn before(self, other: Self) -> bool {
        self.key() < other.key()
    }
    /// Whether this is a number that comes after all others and equals none.
    #[doc(hidden)]
    #[inline(always)]
    fn is_nan(self) -> bool {
        false
    }
    /// As `before`, where neither [`Sortable::is_nan`].
    #[doc(hidden)]
    #[inline(always)]
    fn less(self, other: Self) -> bool {
        self.before(other)
    }
    #[doc(hidden)]
    fn sort_alone(data: &mut [Self], cores: Cores);
    #[doc(hidden)]
    fn sort_shared(data: &mut [Self], scratch: &mut Scratch, cores: Cores);
}

macro_rules! real_key {
    ($key:ident $element:ident => $code:expr) => {
        type Key = u64;
        #[inline(always)]
        fn key(self) -> u64 {
            let $element = self;
            $code
        }
        #[inline(always)]
        fn reverse(key: u64) -> u64 {
            !key
        }
        #[inline(always)]
        fn number(key: u64) -> Option<u64> {
            Some(key)
        }
    };
}

macro_rules! narrow {
    ($($type:ty, $element:ident => $code:expr;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Sortable for $type {
            real_key!(key $element => $code);
            fn sort_alone(data: &mut [Self], cores: Cores) {
                narrow::sort_alone(data, cores);
            }
            fn sort_shared(data: &mut [Self], _scratch: &mut Scratch, cores: Cores) {
                narrow::sort(data, cores);
            }
        }
    )*};
}

narrow! {
    bool, x => u64::from(x);
    u8, x => u64::from(x);
    u16, x => u64::from(x);
    i8, x => u64::from(x as u8 ^ 0x80);
    i16, x => u64::from(x as u16 ^ 0x8000);
    Float16, x => half_key(x.0, 0x7c00);
    BFloat16, x => half_key(x.0, 0x7f80);
}

/// The key of a float of 16 bits, given those of infinity.
#[inline(always)]
fn half_key(bits: u16, infinity: u16) -> u64 {
    let size = bits & 0x7fff;
    let key = match (size > infinity, bits >> 15) {
        (true, _) => u16::MAX,
        // The negative zero is equal to the other.
        (_, 1) => 0x8000 - size,
        _ => 0x8000 + size,
    };
    u64::from(key)
}

macro_rules! wide {
    ($($type:ident, $element:ident => $code:expr, $before:expr, $is_nan:expr;)*) => {$(
        impl sealed::Sealed for $type {}
        impl Sortable for $type {
            real_key!(key $element => $code);
            #[inline(always)]
            fn before(self, other: Self) -> bool {
                $before(self, other)
            }
            #[inline(always)]
            fn is_nan(self) -> bool {
                $is_nan(self)
            }
            #[inline(always)]
            fn less(self, other: Self) -> bool {
                self < other
            }
            fn sort_alone(data: &mut [Self], cores: Cores) {
                wide::sort_alone(data, cores);
            }
            fn sort_shared(data: &mut [Self], _scratch: &mut Scratch, cores: Cores) {
                wide::sort(data, cores);
            }
        }
    )*};
}

wide! {
    u32, x => u64::from(x), |a, b| a < b, |_| false;
    u64, x => x, |a, b| a < b, |_| false;
    i32, x => u64::from(x as u32 ^ 0x8000_0000), |a, b| a < b, |_| false;
    i64, x => x as u64 ^ 1 << 63, |a, b| a < b, |_| false;
    f32, x => single_key(x), |a: f32, b: f32| a < b || (b.is_nan() && !a.is_nan()), f32::is_nan;
    f64, x => double_key(x), |a: f64, b: f64| a < b || (b.is_nan() && !a.is_nan()), f64::is_nan;
}

#[inline(always)]
fn single_key(x: f32) -> u64 {
    // Adding zero makes the negative zero the other one.
    let bits = (x + 0.0).to_bits();
    let flip = ((bits as i32 >> 31) as u32) | 0x8000_0000;
    u64::from(if x.is_nan() { u32::MAX } else { bits ^ flip })
}

#[inline(always)]
fn double_key(x: f64) -> u64 {
    let bits = (x + 0.0).to_bits();
    let flip = ((bits as i64 >> 63) as u64) | 1 << 63;
    if x.is_nan() { u64::MAX } else { bits ^ flip }
}

macro_rules! complex {
    ($($part:ident $key:ident)*) => {$(
        impl sealed::Sealed for [$part; 2] {}
        impl Sortable for [$part; 2] {
            /// NaN of the real part, of the imaginary part, then both parts.
            type Key = (bool, bool, u64, u64);

            #[inline(always)]
            fn key(self) -> Self::Key {
                let [real, imaginary] = self;
                (real.is_nan(), imaginary.is_nan(), $key(real), $key(imaginary))
            }
            #[inline(always)]
            fn reverse((a, b, real, imaginary): Self::Key) -> Self::Key {
                (!a, !b, !real, !imaginary)
            }
            #[inline(always)]
            fn number(_key: Self::Key) -> Option<u64> {
                None
            }
            fn sort_alone(data: &mut [Self], _cores: Cores) {
                complex::sort_alone(data);
            }
            fn sort_shared(data: &mut [Self], scratch: &mut Scratch, cores: Cores) {
                complex::sort(data, scratch, cores);
            }
        }
    )*};
}
complex!(f32 single_key f64 double_key);
