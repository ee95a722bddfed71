//! Special values: C99 Annex F for real numbers; `math_annex_g.rs` has complex ones.

use partita_kernel::math::{self, Binary, Level, Unary};
use std::f64::consts::{FRAC_PI_2, FRAC_PI_4, PI};

const INF: f64 = f64::INFINITY;
const NAN: f64 = f64::NAN;

/// Equal with the sign of zero; any NaN equals any.
fn same(x: f64, y: f64) -> bool {
    x.to_bits() == y.to_bits() || x.is_nan() && y.is_nan()
}

#[test]
fn real_functions_of_one_argument() {
    use Unary::*;
    let cases: &[(Unary, &[(f64, f64)])] = &[
        (
            Exp,
            &[
                (0.0, 1.0),
                (-0.0, 1.0),
                (INF, INF),
                (-INF, 0.0),
                (NAN, NAN),
                (1e300, INF),
                (-1e300, 0.0),
                (709.79, INF),
                (-745.14, 0.0),
            ],
        ),
        (
            Exp2,
            &[
                (0.0, 1.0),
                (3.0, 8.0),
                (INF, INF),
                (-INF, 0.0),
                (NAN, NAN),
                (1024.0, INF),
                (-1074.0, 5e-324),
                (-1e300, 0.0),
            ],
        ),
        (
            Expm1,
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (INF, INF),
                (-INF, -1.0),
                (NAN, NAN),
                (5e-324, 5e-324),
                (-5e-324, -5e-324),
                (-100.0, -1.0),
                (800.0, INF),
            ],
        ),
        (
            Log,
            &[
                (1.0, 0.0),
                (0.0, -INF),
                (-0.0, -INF),
                (INF, INF),
                (-1.0, NAN),
                (-INF, NAN),
                (NAN, NAN),
                (-5e-324, NAN),
            ],
        ),
        (
            Log2,
            &[
                (1.0, 0.0),
                (8.0, 3.0),
                (0.125, -3.0),
                (5e-324, -1074.0),
                (0.0, -INF),
                (INF, INF),
                (-1.0, NAN),
                (NAN, NAN),
            ],
        ),
        (
            Log10,
            &[
                (1.0, 0.0),
                (0.0, -INF),
                (-0.0, -INF),
                (INF, INF),
                (-1.0, NAN),
                (NAN, NAN),
                (1000.0, 3.0),
            ],
        ),
        (
            Log1p,
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (-1.0, -INF),
                (INF, INF),
                (-2.0, NAN),
                (NAN, NAN),
                (5e-324, 5e-324),
            ],
        ),
        (Sin, &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN), (5e-324, 5e-324)]),
        (Cos, &[(0.0, 1.0), (-0.0, 1.0), (INF, NAN), (-INF, NAN), (NAN, NAN)]),
        (Tan, &[(0.0, 0.0), (-0.0, -0.0), (INF, NAN), (-INF, NAN), (NAN, NAN), (-5e-324, -5e-324)]),
        (
            Asin,
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (1.0, FRAC_PI_2),
                (-1.0, -FRAC_PI_2),
                (1.1, NAN),
                (-INF, NAN),
                (NAN, NAN),
            ],
        ),
        (Acos, &[(1.0, 0.0), (-1.0, PI), (0.0, FRAC_PI_2), (1.1, NAN), (INF, NAN), (NAN, NAN)]),
        (
            Atan,
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (INF, FRAC_PI_2),
                (-INF, -FRAC_PI_2),
                (NAN, NAN),
                (1.0, FRAC_PI_4),
                (5e-324, 5e-324),
            ],
        ),
        (
            Sinh,
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (INF, INF),
                (-INF, -INF),
                (NAN, NAN),
                (711.0, INF),
                (5e-324, 5e-324),
            ],
        ),
        (Cosh, &[(0.0, 1.0), (-0.0, 1.0), (INF, INF), (-INF, INF), (NAN, NAN), (711.0, INF)]),
        (
            Tanh,
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (INF, 1.0),
                (-INF, -1.0),
                (NAN, NAN),
                (5e-324, 5e-324),
                (40.0, 1.0),
            ],
        ),
        (
            Asinh,
            &[(0.0, 0.0), (-0.0, -0.0), (INF, INF), (-INF, -INF), (NAN, NAN), (5e-324, 5e-324)],
        ),
        (Acosh, &[(1.0, 0.0), (0.9, NAN), (-INF, NAN), (INF, INF), (NAN, NAN)]),
        (
            Atanh,
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (1.0, INF),
                (-1.0, -INF),
                (1.1, NAN),
                (INF, NAN),
                (NAN, NAN),
                (5e-324, 5e-324),
            ],
        ),
        (Erf, &[(0.0, 0.0), (-0.0, -0.0), (INF, 1.0), (-INF, -1.0), (NAN, NAN), (-7.0, -1.0)]),
        (Erfc, &[(0.0, 1.0), (-0.0, 1.0), (INF, 0.0), (-INF, 2.0), (NAN, NAN), (30.0, 0.0)]),
        (Sqrt, &[(0.0, 0.0), (-0.0, -0.0), (4.0, 2.0), (INF, INF), (-1.0, NAN), (NAN, NAN)]),
        (
            Cbrt,
            &[
                (0.0, 0.0),
                (-0.0, -0.0),
                (27.0, 3.0),
                (-8.0, -2.0),
                (INF, INF),
                (-INF, -INF),
                (NAN, NAN),
            ],
        ),
        (Floor, &[(-0.0, -0.0), (-0.5, -1.0), (1.5, 1.0), (INF, INF), (NAN, NAN)]),
        (Ceil, &[(-0.5, -0.0), (0.5, 1.0), (-INF, -INF), (NAN, NAN)]),
        (Trunc, &[(-0.5, -0.0), (1.9, 1.0), (-1.9, -1.0), (NAN, NAN)]),
        (
            Round,
            &[
                (0.5, 0.0),
                (1.5, 2.0),
                (2.5, 2.0),
                (-0.5, -0.0),
                (NAN, NAN),
                (4503599627370497.0, 4503599627370497.0),
            ],
        ),
        (Sign, &[(0.0, 0.0), (-0.0, -0.0), (5e-324, 1.0), (-INF, -1.0), (NAN, NAN)]),
        (Abs, &[(-0.0, 0.0), (-INF, INF), (NAN, NAN)]),
        (Reciprocal, &[(0.0, INF), (-0.0, -INF), (-INF, -0.0), (4.0, 0.25)]),
        (Square, &[(-3.0, 9.0), (-INF, INF), (1e200, INF)]),
    ];
    for level in Level::all() {
        for (f, values) in cases {
            for &(x, want) in *values {
                let mut y = [0.0];
                math::apply(level, *f, &[x], &mut y);
                assert!(same(y[0], want), "{f:?}({x:e}) at {level:?} is {:e}, not {want:e}", y[0]);
                if f64::from(x as f32) != x && !x.is_nan() {
                    continue;
                }
                let mut single = [0.0f32];
                math::apply(level, *f, &[x as f32], &mut single);
                let (got, want) = (f64::from(single[0]), f64::from(want as f32));
                assert!(
                    same(got, want),
                    "float32 {f:?}({x:e}) at {level:?} is {got:e}, not {want:e}"
                );
            }
        }
    }
}

/// The low bits of a NaN must not be taken for a number's.
#[test]
fn every_nan_stays_nan() {
    for level in Level::all() {
        for &f in Unary::ALL.iter().filter(|f| **f != Unary::Signbit) {
            for payload in [1u32, 0x12345, 0x3f_ffff, 0x2a_aaaa] {
                for sign in [0, 1 << 31] {
                    let mut single = [0.0f32];
                    let nan = f32::from_bits(0x7fc0_0000 | payload | sign);
                    math::apply(level, f, &[nan], &mut single);
                    assert!(single[0].is_nan(), "float32 {f:?} at {level:?} of {payload:x}");
                    let bits = 0x7ff8_0000_0000_0000 | u64::from(payload) | u64::from(sign) << 32;
                    let mut double = [0.0f64];
                    math::apply(level, f, &[f64::from_bits(bits)], &mut double);
                    assert!(double[0].is_nan(), "{f:?} at {level:?} of {payload:x}");
                }
            }
        }
    }
}

#[test]
fn real_functions_of_two_arguments() {
    use Binary::*;
    let cases: &[(Binary, PairCases<'_>)] = &[
        (
            Pow,
            &[
                (0.0, -1.0, INF),
                (-0.0, -1.0, -INF),
                (-0.0, -2.0, INF),
                (-0.0, -INF, INF),
                (-0.0, 3.0, -0.0),
                (-0.0, 2.0, 0.0),
                (-1.0, INF, 1.0),
                (-1.0, -INF, 1.0),
                (1.0, NAN, 1.0),
                (NAN, 0.0, 1.0),
                (NAN, -0.0, 1.0),
                (NAN, 1.0, NAN),
                (2.0, NAN, NAN),
                (-8.0, 1.0 / 3.0, NAN),
                (0.5, -INF, INF),
                (2.0, -INF, 0.0),
                (0.5, INF, 0.0),
                (2.0, INF, INF),
                (-INF, -3.0, -0.0),
                (-INF, -2.0, 0.0),
                (-INF, 3.0, -INF),
                (-INF, 2.5, INF),
                (INF, -1.0, 0.0),
                (INF, 0.5, INF),
                (-2.0, 3.0, -8.0),
                (2.0, 1e300, INF),
                (-3.0, -1e300, 0.0),
                (5e-324, 1.0, 5e-324),
                (-5e-324, 1.0, -5e-324),
                (3.0, 2.0, 9.0),
            ],
        ),
        (
            Atan2,
            &[
                (0.0, -0.0, PI),
                (-0.0, -0.0, -PI),
                (0.0, 0.0, 0.0),
                (-0.0, 0.0, -0.0),
                (0.0, -1.0, PI),
                (-0.0, -1.0, -PI),
                (0.0, 1.0, 0.0),
                (-1.0, 0.0, -FRAC_PI_2),
                (1.0, -0.0, FRAC_PI_2),
                (1.0, -INF, PI),
                (-1.0, INF, -0.0),
                (INF, 1.0, FRAC_PI_2),
                (-INF, -1.0, -FRAC_PI_2),
                (INF, -INF, 3.0 * FRAC_PI_4),
                (-INF, INF, -FRAC_PI_4),
                (NAN, 1.0, NAN),
                (1.0, NAN, NAN),
                (5e-324, -5e-324, 3.0 * FRAC_PI_4),
                (1e308, 1e308, FRAC_PI_4),
            ],
        ),
        (
            Hypot,
            &[
                (INF, NAN, INF),
                (NAN, -INF, INF),
                (NAN, 1.0, NAN),
                (0.0, -0.0, 0.0),
                (3.0, -4.0, 5.0),
                (5e-324, 0.0, 5e-324),
                (1e308, 1e308, 1.4142135623730951e308),
            ],
        ),
        (
            Logaddexp,
            &[
                (INF, INF, INF),
                (-INF, -INF, -INF),
                (-INF, 1.0, 1.0),
                (INF, -INF, INF),
                (NAN, INF, NAN),
                (1.0, NAN, NAN),
            ],
        ),
        (Copysign, &[(1.0, -0.0, -1.0), (-INF, 0.0, INF), (0.0, -3.0, -0.0)]),
        (
            Nextafter,
            &[
                (0.0, 1.0, 5e-324),
                (1.0, INF, 1.0000000000000002),
                (0.0, -0.0, -0.0),
                (NAN, 1.0, NAN),
                (f64::MAX, INF, INF),
            ],
        ),
        (
            FloorDivide,
            &[
                (7.0, 2.0, 3.0),
                (-7.0, 2.0, -4.0),
                (7.0, -2.0, -4.0),
                (1.0, 0.0, INF),
                (0.0, 0.0, NAN),
                (0.0, -3.0, -0.0),
                (1.0, INF, 0.0),
                (-1.0, INF, -1.0),
                (INF, 1.0, NAN),
                (0.3, 0.1, 2.0),
            ],
        ),
        (
            Remainder,
            &[
                (7.0, 2.0, 1.0),
                (-7.0, 2.0, 1.0),
                (7.0, -2.0, -1.0),
                (1.0, 0.0, NAN),
                (-6.0, 2.0, 0.0),
                (6.0, -2.0, -0.0),
                (1.0, INF, 1.0),
                (-1.0, INF, INF),
                (INF, 1.0, NAN),
                (1e300, 7.0, 1.0),
            ],
        ),
        (Maximum, &[(1.0, 2.0, 2.0), (NAN, 1.0, NAN), (1.0, NAN, NAN), (-INF, INF, INF)]),
        (Minimum, &[(1.0, 2.0, 1.0), (NAN, 1.0, NAN), (1.0, NAN, NAN), (-INF, INF, -INF)]),
    ];
    for level in Level::all() {
        for (f, values) in cases {
            for &(x, y, want) in *values {
                let mut z = [0.0];
                math::apply2(level, *f, &[x], &[y], &mut z);
                assert!(
                    same(z[0], want),
                    "{f:?}({x:e}, {y:e}) at {level:?} is {:e}, not {want:e}",
                    z[0]
                );
            }
        }
    }
}

type PairCases<'a> = &'a [(f64, f64, f64)];
#[test]
fn complex_values() {
    // f(z) from mpmath at z = 0.75 - 1.25i, as complex128 and complex64.
    use Unary::*;
    let cases: &[(Unary, [f64; 2])] = include!("data/complex.in");
    for level in Level::all() {
        for (f, [re, im]) in cases {
            let mut z = [[0.0; 2]];
            math::apply(level, *f, &[[0.75, -1.25]], &mut z);
            let size = re.hypot(*im) * 2.0 * f64::EPSILON;
            let error = (z[0][0] - re).hypot(z[0][1] - im);
            assert!(error <= size, "{f:?} at {level:?} is {:?}, not {re}, {im}", z[0]);
            let mut single = [[0.0f32; 2]];
            math::apply(level, *f, &[[0.75, -1.25]], &mut single);
            assert_eq!(single, [[*re as f32, *im as f32]], "{f:?} of complex64 at {level:?}");
        }
    }
}

#[test]
fn complex_powers_and_sizes() {
    let mut z = [[0.0f64; 2]; 4];
    let base = [[0.0, 0.0], [0.0, 0.0], [-1.0, 0.0], [3.0, -4.0]];
    let power = [[0.0, 0.0], [2.0, 1.0], [0.5, 0.0], [2.0, 0.0]];
    math::apply2(Level::best(), Binary::Pow, &base, &power, &mut z);
    assert_eq!(z[..2], [[1.0, 0.0], [0.0, 0.0]]);
    assert!(z[2][0].abs() < 1e-15 && (z[2][1] - 1.0).abs() < 1e-15, "{:?}", z[2]);
    assert!((z[3][0] + 7.0).abs() < 1e-13 && (z[3][1] + 24.0).abs() < 1e-13, "{:?}", z[3]);

    let tile = math::unary(Level::best(), Unary::Abs, math::Number::C128).expect("sizes");
    let mut sizes = [0.0f64; 4];
    // SAFETY: four complex numbers in, four real ones out.
    unsafe { tile(base.as_ptr().cast(), sizes.as_mut_ptr().cast(), 4) };
    assert_eq!(sizes, [0.0, 0.0, 1.0, 5.0]);
}

/// The largest error of both parts of some complex results, in every lane and at every level.
fn check_complex(name: &str, given: &[[f64; 2]], wanted: &[[f64; 2]], most: f64, level: Level) {
    for (given, wanted) in given.iter().zip(wanted) {
        for (given, wanted) in given.iter().zip(wanted) {
            let near = (given - wanted).abs() <= most * f64::EPSILON;
            assert!(
                near || given.is_nan() && wanted.is_nan(),
                "{name} at {level:?}: {given:e} for {wanted:e}"
            );
        }
    }
}

#[test]
fn complex_signs_of_any_size() {
    const INF: f64 = f64::INFINITY;
    let root = 0.5_f64.sqrt();
    let unit = [1.0 / 5_f64.sqrt(), 2.0 / 5_f64.sqrt()];
    let cases = [
        ([1.5e308, 1.5e308], [root, root]),
        ([-1.7e308, 1.7e308], [-root, root]),
        ([5e-324, 5e-324], [root, root]),
        ([1e-310, 2e-310], unit),
        ([1e-160, -1e-160], [root, -root]),
        ([3.0, -4.0], [0.6, -0.8]),
        ([0.0, 0.0], [0.0, 0.0]),
        ([INF, 0.0], [1.0, 0.0]),
        ([-INF, 3.0], [-1.0, 0.0]),
        ([2.0, -INF], [0.0, -1.0]),
        ([INF, f64::NAN], [f64::NAN, f64::NAN]),
        ([f64::NAN, -INF], [f64::NAN, f64::NAN]),
        ([INF, INF], [f64::NAN, f64::NAN]),
        ([f64::NAN, 0.0], [f64::NAN, f64::NAN]),
    ];
    let (z, wanted): (Vec<_>, Vec<_>) = cases.into_iter().unzip();
    for level in Level::all() {
        let mut out = vec![[0.0; 2]; z.len()];
        math::apply(level, Unary::Sign, &z, &mut out);
        // Nearly: 1e-310 itself is known to 44 bits only.
        check_complex("sign", &out[..3], &wanted[..3], 2.0, level);
        check_complex("sign", &out[4..], &wanted[4..], 2.0, level);
        check_complex("sign of subnormals", &out[3..4], &wanted[3..4], 1e3, level);
    }
}

#[test]
fn zero_has_no_complex_sign() {
    let z = [[0.0, 0.0], [-0.0, 0.0], [0.0, -0.0], [-0.0, -0.0]];
    for level in Level::all() {
        let mut out = [[1.0f64; 2]; 4];
        math::apply(level, Unary::Sign, &z, &mut out);
        assert!(out.iter().flatten().all(|part| part.to_bits() == 0), "{out:?} at {level:?}");
    }
}

/// Whole exponents are multiplied out, as in NumPy.
#[test]
fn complex_powers_with_small_whole_exponents_are_exact() {
    let cases = [
        ([2.0, 0.0], 3.0, [8.0, 0.0]),
        ([0.0, 1.0], 2.0, [-1.0, 0.0]),
        ([0.0, 1.0], 99.0, [0.0, -1.0]),
        ([0.0, 1.0], -1.0, [0.0, -1.0]),
        ([1.0, 2.0], 2.0, [-3.0, 4.0]),
        ([1.0, 2.0], 3.0, [-11.0, -2.0]),
        ([-0.0, -2.0], 1.0, [-0.0, -2.0]),
        ([2.0, 0.0], -3.0, [0.125, 0.0]),
        ([2.0, 0.0], 100.0, [2_f64.powi(100), 0.0]),
        ([2.0, 0.0], -100.0, [2_f64.powi(-100), 0.0]),
        ([1.0, 1.0], 96.0, [2_f64.powi(48), 0.0]),
        ([3.0, 4.0], 0.0, [1.0, 0.0]),
        ([0.0, 0.0], 2.0, [0.0, 0.0]),
    ];
    let z: Vec<[f64; 2]> = cases.iter().map(|case| case.0).collect();
    let w: Vec<[f64; 2]> = cases.iter().map(|case| [case.1, 0.0]).collect();
    for level in Level::all() {
        let mut out = vec![[0.0; 2]; z.len()];
        math::apply2(level, Binary::Pow, &z, &w, &mut out);
        for (given, (base, exponent, wanted)) in out.iter().zip(&cases) {
            assert_eq!(given, wanted, "{base:?}^{exponent} at {level:?}");
        }
        let z32: Vec<[f32; 2]> = z.iter().map(|z| z.map(|part| part as f32)).collect();
        let w32: Vec<[f32; 2]> = w.iter().map(|w| w.map(|part| part as f32)).collect();
        let mut out = vec![[0.0_f32; 2]; z.len()];
        math::apply2(level, Binary::Pow, &z32, &w32, &mut out);
        for (given, (base, exponent, wanted)) in out.iter().zip(&cases) {
            assert_eq!(given.map(f64::from), *wanted, "{base:?}^{exponent} of complex64");
        }
        // Where products overflow, as before: sizes are infinite.
        let mut out = [[0.0; 2]];
        math::apply2(level, Binary::Pow, &[[1e200, 1e200]], &[[2.0, 0.0]], &mut out);
        assert!(out[0][1] == f64::INFINITY, "{out:?}");
        // A fraction is no whole exponent.
        math::apply2(level, Binary::Pow, &[[4.0, 0.0]], &[[2.5, 0.0]], &mut out);
        assert!((out[0][0] - 32.0).abs() < 1e-13, "{out:?}");
    }
}
