//! Constants as sums of float64.

use super::Pair;

/// ln 2
pub const LN_2: Pair = Pair(0.6931471805599453, 2.3190468138462996e-17);
/// ln 10
pub const LN_10: Pair = Pair(2.302585092994046, -2.1707562233822494e-16);
/// pi
pub const PI: Pair = Pair(3.141592653589793, 1.2246467991473532e-16);
/// 2 / sqrt(pi)
pub const TWO_OVER_ROOT_PI: Pair = Pair(1.1283791670955126, 1.533545961316588e-17);
/// pi / 2 in parts, for angles that are large
pub const HALF_PI: [f64; 4] =
    [1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33, 5.562271104316826e-50];
