//! Errors in units of the last place, held to the bounds that the functions state.
//!
//! Hard cases have values from mpmath; samples are judged by the slow functions of `exact`, which
//! are held to the hard cases too. `examples/ulp` measures more arguments, the same way.

#[path = "../examples/ulp/arguments.rs"]
mod arguments;
mod exact;
#[path = "../examples/ulp/units.rs"]
mod units;

use arguments::{Random, pairs, ranges};
use exact::{Complex, Pair, complex, real};
use partita_kernel::math::{self, Binary, Level, Number, Unary};
use units::{ulps, ulps2, ulps32, unit};

/// Arguments per range.
const N: usize = 3000;
const SEED: u64 = 2026;

fn exact_of(function: Unary) -> Option<fn(Pair) -> Pair> {
    Some(match function {
        Unary::Exp => real::exp,
        Unary::Exp2 => real::exp2,
        Unary::Expm1 => real::expm1,
        Unary::Log => real::log,
        Unary::Log2 => real::log2,
        Unary::Log10 => real::log10,
        Unary::Log1p => real::log1p,
        Unary::Sin => real::sin,
        Unary::Cos => real::cos,
        Unary::Tan => real::tan,
        Unary::Asin => real::asin,
        Unary::Acos => real::acos,
        Unary::Atan => real::atan,
        Unary::Sinh => real::sinh,
        Unary::Cosh => real::cosh,
        Unary::Tanh => real::tanh,
        Unary::Asinh => real::asinh,
        Unary::Acosh => real::acosh,
        Unary::Atanh => real::atanh,
        Unary::Erf => real::erf,
        Unary::Erfc => real::erfc,
        Unary::Sqrt => real::sqrt,
        Unary::Cbrt => real::cbrt,
        _ => return None,
    })
}

fn exact_of_two(function: Binary) -> Option<fn(Pair, Pair) -> Pair> {
    Some(match function {
        Binary::Pow => real::pow,
        Binary::Atan2 => real::atan2,
        Binary::Hypot => real::hypot,
        Binary::Logaddexp => real::logaddexp,
        _ => return None,
    })
}

fn exact_of_complex(function: Unary) -> Option<fn(Complex) -> Complex> {
    Some(match function {
        Unary::Exp => complex::exp,
        Unary::Expm1 => complex::expm1,
        Unary::Log => complex::log,
        Unary::Log2 => complex::log2,
        Unary::Log10 => complex::log10,
        Unary::Log1p => complex::log1p,
        Unary::Sin => complex::sin,
        Unary::Cos => complex::cos,
        Unary::Tan => complex::tan,
        Unary::Asin => complex::asin,
        Unary::Acos => complex::acos,
        Unary::Atan => complex::atan,
        Unary::Sinh => complex::sinh,
        Unary::Cosh => complex::cosh,
        Unary::Tanh => complex::tanh,
        Unary::Asinh => complex::asinh,
        Unary::Acosh => complex::acosh,
        Unary::Atanh => complex::atanh,
        Unary::Sqrt => complex::sqrt,
        _ => return None,
    })
}

/// Numbers whose squares and second parts are float64 too. The hard cases have the others.
fn is_moderate(x: f64) -> bool {
    (1e-140..1e140).contains(&x.abs())
}

/// The exact value, where it is known to all bits.
fn known(function: Unary, x: f64) -> Option<Pair> {
    let turns = matches!(function, Unary::Sin | Unary::Cos | Unary::Tan);
    if !is_moderate(x) || turns && x.abs() > 1e12 {
        return None;
    }
    exact_of(function).map(|f| f(Pair::from(x))).filter(|value| is_moderate(value.0))
}

fn known2(function: Binary, x: f64, y: f64) -> Option<Pair> {
    if !is_moderate(x) || !is_moderate(y) {
        return None;
    }
    let f = exact_of_two(function)?;
    Some(f(Pair::from(x), Pair::from(y))).filter(|value| is_moderate(value.0))
}

/// What breaks bounds, and whether anything was looked at.
#[derive(Default)]
struct Verdict {
    n_judged: usize,
    broken: Vec<String>,
}

impl Verdict {
    fn see(&mut self, error: f64, bound: Option<f64>, at: impl FnOnce() -> String) {
        self.n_judged += 1;
        if !bound.is_some_and(|bound| error <= bound) {
            self.broken.push(format!("{} errs by {error:.4} ulp, bound {bound:?}", at()));
        }
    }

    fn settle(&self, least: usize) {
        let few: Vec<&String> = self.broken.iter().take(20).collect();
        assert!(few.is_empty(), "{} of {}: {few:#?}", self.broken.len(), self.n_judged);
        assert!(self.n_judged >= least, "only {} were judged", self.n_judged);
    }
}

struct Hard {
    name: String,
    arguments: Vec<f64>,
    rounded: f64,
    /// How much more the exact value is, in units of the last place.
    more: f64,
}

fn float(word: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(word, 16).expect("16 hexadecimal digits"))
}

fn hard_cases() -> impl Iterator<Item = Hard> {
    include_str!("data/hard.txt").lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let n = words.len();
        Hard {
            name: words[0].to_owned(),
            arguments: words[1..n - 2].iter().map(|word| float(word)).collect(),
            rounded: float(words[n - 2]),
            more: words[n - 1].parse().expect("ulp"),
        }
    })
}

fn unary(name: &str) -> Option<Unary> {
    Unary::ALL.iter().copied().find(|f| f.name() == name)
}

fn binary(name: &str) -> Binary {
    Binary::ALL.iter().copied().find(|f| f.name() == name).expect("a function")
}

#[test]
fn hard_cases_are_within_bounds() {
    let mut verdict = Verdict::default();
    for case in hard_cases() {
        for level in Level::all() {
            let mut out = [0.0];
            let bound = if let Some(f) = unary(&case.name) {
                math::apply(level, f, &case.arguments, &mut out);
                f.max_ulp(Number::F64)
            } else {
                let f = binary(&case.name);
                math::apply2(level, f, &case.arguments[..1], &case.arguments[1..], &mut out);
                f.max_ulp(Number::F64)
            };
            // Beyond the largest number there is none to take a unit from.
            let unit = unit(case.rounded.clamp(-f64::MAX, f64::MAX));
            let error = if out[0] == case.rounded && out[0].is_infinite() {
                0.0
            } else {
                ((out[0] - case.rounded) / unit - case.more).abs()
            };
            let at = || format!("{} {:?} at {level:?}: {:e}", case.name, case.arguments, out[0]);
            verdict.see(error, bound, at);
        }
    }
    verdict.settle(1500);
}

#[test]
fn exact_values_are_those_of_the_hard_cases() {
    let mut verdict = Verdict::default();
    for case in hard_cases() {
        let value = match (unary(&case.name), &case.arguments[..]) {
            (Some(f), [x]) => known(f, *x),
            (_, [x, y]) => known2(binary(&case.name), *x, *y),
            _ => panic!("{} has too many arguments", case.name),
        };
        if let Some(Pair(high, low)) = value {
            let apart = ((high - case.rounded) + low) / unit(case.rounded) - case.more;
            // The file has four digits.
            verdict.see(apart.abs(), Some(1e-4), || format!("{} {:?}", case.name, case.arguments));
        }
    }
    verdict.settle(900);
}

#[test]
fn float64_is_within_bounds() {
    let mut verdict = Verdict::default();
    for &f in Unary::ALL {
        for draw in ranges(f.name()) {
            let mut random = Random::new(SEED);
            let x: Vec<f64> = (0..N).map(|_| draw.one(&mut random)).collect();
            let mut y = vec![0.0; N];
            math::apply(Level::best(), f, &x, &mut y);
            for (&x, &y) in x.iter().zip(&y) {
                if let Some(Pair(high, low)) = known(f, x) {
                    let error = ulps(y, high, low);
                    verdict.see(error, f.max_ulp(Number::F64), || format!("{f:?}({x:e}) = {y:e}"));
                }
            }
        }
    }
    verdict.settle(150_000);
}

#[test]
fn float32_is_within_bounds() {
    let mut verdict = Verdict::default();
    for &f in Unary::ALL {
        for draw in ranges(f.name()) {
            let mut random = Random::new(SEED);
            let x: Vec<f32> = (0..N).map(|_| draw.one(&mut random) as f32).collect();
            let mut y = vec![0.0; N];
            math::apply(Level::best(), f, &x, &mut y);
            for (&x, &y) in x.iter().zip(&y) {
                if let Some(value) = known(f, f64::from(x)) {
                    let error = ulps32(y, value.0);
                    verdict.see(error, f.max_ulp(Number::F32), || format!("{f:?}({x:e}) = {y:e}"));
                }
            }
        }
    }
    verdict.settle(150_000);
}

#[test]
fn functions_of_two_arguments_are_within_bounds() {
    let mut verdict = Verdict::default();
    for &f in Binary::ALL {
        for (left, right) in pairs(f.name()) {
            let mut random = Random::new(SEED);
            let x: Vec<f64> = (0..N).map(|_| left.one(&mut random)).collect();
            let z: Vec<f64> = (0..N).map(|_| right.one(&mut random)).collect();
            let (x32, z32): (Vec<f32>, Vec<f32>) =
                (x.iter().map(|x| *x as f32).collect(), z.iter().map(|z| *z as f32).collect());
            let (mut y, mut y32) = (vec![0.0; N], vec![0.0; N]);
            math::apply2(Level::best(), f, &x, &z, &mut y);
            math::apply2(Level::best(), f, &x32, &z32, &mut y32);
            for i in 0..N {
                if let Some(Pair(high, low)) = known2(f, x[i], z[i]) {
                    let error = ulps2(f, y[i], high, low);
                    let at = || format!("{f:?}({:e}, {:e}) = {:e}", x[i], z[i], y[i]);
                    verdict.see(error, f.max_ulp(Number::F64), at);
                }
                if let Some(value) = known2(f, f64::from(x32[i]), f64::from(z32[i])) {
                    let error = ulps32(y32[i], value.0);
                    let at = || format!("{f:?}({:e}, {:e}) = {:e}", x32[i], z32[i], y32[i]);
                    verdict.see(error, f.max_ulp(Number::F32), at);
                }
            }
        }
    }
    verdict.settle(60_000);
}

/// The worst pairs of float32 that were found: subnormal ones, which are rounded once more.
#[test]
fn hard_pairs_of_float32_are_within_bounds() {
    let mut verdict = Verdict::default();
    let (x, y) = (f32::from_bits(2_966_607), f32::from_bits(5_384_755));
    for level in Level::all() {
        let mut out = [0.0_f32];
        math::apply2(level, Binary::Hypot, &[x], &[y], &mut out);
        let error = ulps32(out[0], f64::from(x).hypot(f64::from(y)));
        let at = || format!("hypot({x:e}, {y:e}) at {level:?} = {:e}", out[0]);
        verdict.see(error, Binary::Hypot.max_ulp(Number::F32), at);
    }
    verdict.settle(1);
}

#[test]
fn complex_numbers_are_within_bounds() {
    let mut verdict = Verdict::default();
    for &f in Unary::ALL {
        let Some(exact) = exact_of_complex(f) else { continue };
        let mut random = Random::new(SEED);
        // Of few bits, so that complex64 has the same arguments.
        let mut part = || f64::from(random.power(-8.0, 5.0, -1.0) as f32);
        let x: Vec<[f64; 2]> = (0..N).map(|_| [part(), part()]).collect();
        let x32: Vec<[f32; 2]> = x.iter().map(|z| z.map(|part| part as f32)).collect();
        let (mut y, mut y32) = (vec![[0.0; 2]; N], vec![[0.0f32; 2]; N]);
        math::apply(Level::best(), f, &x, &mut y);
        math::apply(Level::best(), f, &x32, &mut y32);
        for i in 0..N {
            let Complex(re, im) = exact(Complex(Pair::from(x[i][0]), Pair::from(x[i][1])));
            let size = unit(re.0.hypot(im.0));
            let error =
                |re_y: f64, im_y: f64| ((re_y - re.0) - re.1).hypot((im_y - im.0) - im.1) / size;
            let at = || format!("{f:?}({:?}) = {:?}", x[i], y[i]);
            verdict.see(error(y[i][0], y[i][1]), f.max_ulp(Number::C128), at);
            let [re, im] = y32[i].map(f64::from);
            let at = || format!("{f:?}({:?}) = {:?}", x32[i], y32[i]);
            // The unit of float32 is 2^29 times that of float64.
            verdict.see(error(re, im) / (1_u64 << 29) as f64, f.max_ulp(Number::C64), at);
        }
    }
    verdict.settle(50_000);
}

/// A bound for a type that the function lacks would never be tried, and none would excuse it.
#[test]
fn bounds_are_stated_where_functions_approximate() {
    for &f in Unary::ALL {
        let has_bounds = f.max_ulp(Number::F64).is_some();
        assert_eq!(has_bounds, exact_of(f).is_some(), "{f:?}");
        assert_eq!(has_bounds, f.max_ulp(Number::F32).is_some(), "{f:?} of float32");
        let is_complex = f.max_ulp(Number::C128).is_some();
        assert_eq!(is_complex, exact_of_complex(f).is_some(), "complex {f:?}");
    }
    for &f in Binary::ALL {
        assert_eq!(f.max_ulp(Number::F64).is_some(), exact_of_two(f).is_some(), "{f:?}");
    }
}
