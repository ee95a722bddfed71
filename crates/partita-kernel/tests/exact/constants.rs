//! Constants as sums of float64.

use super::Pair;
use std::f64::consts;

/// ln 2
pub const LN_2: Pair = Pair(consts::LN_2, 2.3190468138462996e-17);
/// ln 10
pub const LN_10: Pair = Pair(consts::LN_10, -2.1707562233822494e-16);
/// pi
pub const PI: Pair = Pair(consts::PI, 1.2246467991473532e-16);
/// 2 / sqrt(pi)
pub const TWO_OVER_ROOT_PI: Pair = Pair(consts::FRAC_2_SQRT_PI, 1.533545961316588e-17);
/// pi / 2 in parts, for angles that are large
pub const HALF_PI: [f64; 4] =
    [consts::FRAC_PI_2, 6.123233995736766e-17, -1.4973849048591698e-33, 5.562271104316826e-50];
