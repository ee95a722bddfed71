//! Vector mathematics: elementary functions on contiguous tiles.
//!
//! [`unary`] and [`binary`] give a pointer to a function that computes a whole tile. Interpreted
//! programs and emitted machine code call the same pointers, and every level computes the same
//! bits (the sign and payload of a NaN excepted), so results do not depend on the path or the
//! processor.
//!
//! ```
//! use partita_kernel::math::{self, Level, Unary};
//! let x = [0.0f64, 1.0, f64::NEG_INFINITY];
//! let mut y = [0.0; 3];
//! math::apply(Level::best(), Unary::Exp, &x, &mut y);
//! assert_eq!(y, [1.0, std::f64::consts::E, 0.0]);
//! ```
//!
//! # How emitted code calls a tile function
//! The pointers have the C calling convention of the platform (System V on x86-64 Unix):
//! `(input, out, n)` or `(left, right, out, n)` in the integer registers, nothing returned. All
//! vector registers are the callee's to overwrite. Elements are contiguous and need only the
//! alignment of their type; n counts elements and may be any number, 0 too; nothing beyond the
//! n-th element is touched. `out` may equal an input but not overlap it otherwise.
//!
//! Complex elements are pairs (real, imaginary). Results have the type of the argument except
//! [`Unary::Signbit`] (one byte, 0 or 1) and [`Unary::Abs`] of complex numbers (real).
//!
//! Errors are at most what [`Unary::max_ulp`] and [`Binary::max_ulp`] say, mostly 1 ulp; special
//! values are those of C99 Annexes F and G, which the Array API asks for too.

mod atan;
mod bounds;
mod coefficients;
mod complex;
mod drive;
mod erf;
mod exp;
mod huge;
mod hyperbolic;
pub(crate) mod level;
mod log;
mod loops;
mod names;
mod native;
mod pairs;
mod poly;
mod pow;
mod rare;
mod roots;
mod round;
mod safe;
mod single;
mod table;
mod trig;

pub use level::{Kind as Instructions, Level};
pub use names::{Binary, Number, Unary};
pub use safe::{Element, apply, apply2};
pub use table::{binary, unary};

/// Computes n elements: `(input, out, n)`.
///
/// # Safety
/// `input` has n readable and `out` n writable elements of the types of the function, aligned for
/// them. `out` equals `input` or does not overlap it.
pub type UnaryTile = unsafe extern "C" fn(input: *const u8, out: *mut u8, n: usize);

/// Computes n elements: `(left, right, out, n)`.
///
/// # Safety
/// `left` and `right` have n readable and `out` n writable elements of the types of the function,
/// aligned for them. `out` equals an input or does not overlap it.
pub type BinaryTile =
    unsafe extern "C" fn(left: *const u8, right: *const u8, out: *mut u8, n: usize);
