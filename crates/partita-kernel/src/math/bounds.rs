//! What the functions promise: their largest errors, in units of the last place.
//!
//! The numbers were measured, then rounded up. `tests/math_accuracy.rs` holds the functions to them
//! on samples, `examples/ulp` on as many arguments as one likes and on all of float32.

use super::{Binary, Number, Unary};

/// Float32 results of float64 arithmetic are exactly rounded but for ties that float64 cannot see.
const WIDE: f64 = 0.501;
/// The same in both parts of a complex number.
const WIDE_PARTS: f64 = 0.72;
/// The function has no such type.
const NONE: f64 = f64::NAN;

/// Bounds for float32, float64, complex64 and complex128.
type Bounds = [f64; 4];

#[rustfmt::skip]
const UNARY: &[(Unary, Bounds)] = &[
    (Unary::Exp,        [0.90, 1.00, WIDE_PARTS, 2.0]),
    (Unary::Exp2,       [0.88, 1.00, NONE,       NONE]),
    (Unary::Expm1,      [0.76, 1.00, WIDE_PARTS, 3.0]),
    (Unary::Log,        [0.98, 0.75, WIDE_PARTS, 2.0]),
    (Unary::Log2,       [0.99, 0.80, WIDE_PARTS, 3.0]),
    (Unary::Log10,      [0.98, 0.75, WIDE_PARTS, 3.0]),
    (Unary::Log1p,      [0.80, 0.80, WIDE_PARTS, 2.0]),
    (Unary::Sin,        [0.91, 0.90, WIDE_PARTS, 3.0]),
    (Unary::Cos,        [0.92, 0.90, WIDE_PARTS, 3.0]),
    (Unary::Tan,        [0.99, 1.20, WIDE_PARTS, 4.5]),
    (Unary::Asin,       [0.63, 0.75, WIDE_PARTS, 3.0]),
    (Unary::Acos,       [0.61, 0.75, WIDE_PARTS, 3.0]),
    (Unary::Atan,       [0.99, 0.80, WIDE_PARTS, 3.0]),
    (Unary::Sinh,       [WIDE, 1.00, WIDE_PARTS, 3.0]),
    (Unary::Cosh,       [WIDE, 1.00, WIDE_PARTS, 3.0]),
    (Unary::Tanh,       [0.87, 0.80, WIDE_PARTS, 4.5]),
    (Unary::Asinh,      [WIDE, 0.85, WIDE_PARTS, 3.0]),
    (Unary::Acosh,      [WIDE, 0.80, WIDE_PARTS, 3.0]),
    (Unary::Atanh,      [WIDE, 0.85, WIDE_PARTS, 3.0]),
    (Unary::Erf,        [0.87, 1.00, NONE,       NONE]),
    (Unary::Erfc,       [WIDE, 1.50, NONE,       NONE]),
    (Unary::Sqrt,       [0.50, 0.50, WIDE_PARTS, 2.0]),
    (Unary::Cbrt,       [WIDE, 0.51, NONE,       NONE]),
];

#[rustfmt::skip]
const BINARY: &[(Binary, Bounds)] = &[
    (Binary::Pow,       [0.80, 1.00, NONE, NONE]),
    (Binary::Atan2,     [WIDE, 0.95, NONE, NONE]),
    (Binary::Hypot,     [0.99, 1.00, NONE, NONE]),
    (Binary::Logaddexp, [WIDE, 0.80, NONE, NONE]),
];

impl Unary {
    /// The largest error, in units of the last place of the exact value.
    ///
    /// Of complex numbers: of the exact value's size, since one part may be arbitrarily small
    /// beside the other. None where results are exact or single operations, or there is no such
    /// type.
    ///
    /// ```
    /// use partita_kernel::math::{Number, Unary};
    /// assert!(Unary::Exp.max_ulp(Number::F64) <= Some(1.0));
    /// assert_eq!(Unary::Floor.max_ulp(Number::F64), None);
    /// ```
    pub fn max_ulp(self, number: Number) -> Option<f64> {
        find(UNARY, self, number)
    }
}

impl Binary {
    /// The largest error, in units of the last place of the exact value.
    ///
    /// That of logaddexp is in units of at least those of log 2: its value may be small while its
    /// arguments are not. None where results are exact or single operations, or there is no such
    /// type; a complex power errs as its exponent is large.
    pub fn max_ulp(self, number: Number) -> Option<f64> {
        find(BINARY, self, number)
    }
}

fn find<F: PartialEq + Copy>(table: &[(F, Bounds)], function: F, number: Number) -> Option<f64> {
    let (_, bounds) = table.iter().find(|(other, _)| *other == function)?;
    let place = Number::ALL.iter().position(|other| *other == number)?;
    Some(bounds[place]).filter(|bound| !bound.is_nan())
}
