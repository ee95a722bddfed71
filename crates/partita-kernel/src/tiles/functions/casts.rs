//! Casts between all pairs of types.

use super::{typed, unary};
use crate::dtype::Dtype;
use crate::element::{BFloat16, Bool, Cast, Complex, Float16};
use crate::math::{Level, UnaryTile};

/// The loop that converts one type to another.
pub fn find(from: Dtype, to: Dtype, level: Level) -> Option<UnaryTile> {
    typed!(from, From: all => to_any::<From>(to, level)?)
}

fn to_any<From: Cast>(to: Dtype, level: Level) -> Option<UnaryTile> {
    typed!(to, To: all => unary(level, |x: From| x.cast::<To>()))
}
