//! Errors in units of the last place: hard cases with known values, and samples beside std.

use partita_kernel::math::{self, Binary, Level, Unary};

fn unary(name: &str) -> Option<Unary> {
    Unary::ALL.iter().copied().find(|f| f.name() == name)
}

fn float(word: &str) -> f64 {
    f64::from_bits(u64::from_str_radix(word, 16).expect("16 hexadecimal digits"))
}

/// How many floats y is after x.
fn steps(x: f64, y: f64) -> i64 {
    let order = |x: f64| {
        let bits = x.to_bits() as i64;
        if bits < 0 { i64::MIN - bits } else { bits }
    };
    order(y).wrapping_sub(order(x))
}

fn evaluate(level: Level, name: &str, arguments: &[f64]) -> f64 {
    let mut out = [0.0];
    match (unary(name), arguments) {
        (Some(f), [x]) => math::apply(level, f, &[*x], &mut out),
        (_, [x, y]) => {
            let f = Binary::ALL.iter().copied().find(|f| f.name() == name).expect("a function");
            math::apply2(level, f, &[*x], &[*y], &mut out);
        }
        _ => panic!("{name} has too many arguments"),
    }
    out[0]
}

/// Each line: name, arguments, the rounded value, and how much more the exact one is, in ulp.
#[test]
fn hard_cases() {
    let mut wrong = Vec::new();
    for line in include_str!("data/hard.txt").lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let (name, n) = (words[0], words.len());
        let arguments: Vec<f64> = words[1..n - 2].iter().map(|word| float(word)).collect();
        let (rounded, more) = (float(words[n - 2]), words[n - 1].parse::<f64>().expect("ulp"));
        for level in Level::all() {
            let got = evaluate(level, name, &arguments);
            let error = (steps(rounded, got) as f64 - more).abs();
            if error > 1.0 || got.is_nan() {
                wrong.push(format!("{name} {arguments:?} at {level:?}: {got:e}, {error:.3} ulp"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

type Sample2 = (Binary, fn(f64, f64) -> f64);
type Sample = (Unary, fn(f64) -> f64, f64, f64);

/// The standard library errs by at most 1 ulp too, so 2 between both.
const SAMPLES: &[Sample] = &[
    (Unary::Exp, f64::exp, -745.0, 709.0),
    (Unary::Exp, f64::exp, -1.0, 1.0),
    (Unary::Exp2, f64::exp2, -1074.0, 1023.0),
    (Unary::Expm1, f64::exp_m1, -2.0, 2.0),
    (Unary::Expm1, f64::exp_m1, -40.0, 700.0),
    (Unary::Log, f64::ln, 0.5, 2.0),
    (Unary::Log, f64::ln, 0.0, 1e10),
    (Unary::Log2, f64::log2, 0.5, 2.0),
    (Unary::Log2, f64::log2, 0.0, 1e10),
    (Unary::Log10, f64::log10, 0.5, 2.0),
    (Unary::Log10, f64::log10, 0.0, 1e10),
    (Unary::Log1p, f64::ln_1p, -1.0, 1.0),
    (Unary::Log1p, f64::ln_1p, 0.0, 1e10),
    (Unary::Sin, f64::sin, -10.0, 10.0),
    (Unary::Sin, f64::sin, -1e9, 1e9),
    (Unary::Sin, f64::sin, -1e20, 1e20),
    (Unary::Cos, f64::cos, -10.0, 10.0),
    (Unary::Cos, f64::cos, -1e9, 1e9),
    (Unary::Cos, f64::cos, -1e20, 1e20),
    (Unary::Tan, f64::tan, -10.0, 10.0),
    (Unary::Tan, f64::tan, -1e20, 1e20),
    (Unary::Asin, f64::asin, -1.0, 1.0),
    (Unary::Acos, f64::acos, -1.0, 1.0),
    (Unary::Atan, f64::atan, -10.0, 10.0),
    (Unary::Sinh, f64::sinh, -3.0, 3.0),
    (Unary::Sinh, f64::sinh, -710.0, 710.0),
    (Unary::Cosh, f64::cosh, -3.0, 3.0),
    (Unary::Cosh, f64::cosh, -710.0, 710.0),
    (Unary::Tanh, f64::tanh, -3.0, 3.0),
    (Unary::Tanh, f64::tanh, -22.0, 22.0),
    (Unary::Cbrt, f64::cbrt, -1e5, 1e5),
    (Unary::Sqrt, f64::sqrt, 0.0, 1e5),
];

/// Evenly spread numbers, moved off round ones.
fn spread(low: f64, high: f64, n: usize) -> Vec<f64> {
    let step = (high - low) / n as f64;
    (0..n).map(|i| low + step * (i as f64 + 0.618_033_988_749_895)).collect()
}

#[test]
fn samples_stay_beside_the_standard_library() {
    for &(f, other, low, high) in SAMPLES {
        let x = spread(low, high, 100_000);
        let mut y = vec![0.0; x.len()];
        math::apply(Level::best(), f, &x, &mut y);
        for (&x, &y) in x.iter().zip(&y) {
            let apart = steps(other(x), y).abs();
            assert!(apart <= 2, "{f:?}({x:e}) is {y:e}, not {:e}", other(x));
        }
    }
}

#[test]
fn float32_rounds_the_float64_value() {
    for &(f, other, low, high) in SAMPLES {
        let x: Vec<f32> =
            spread(low.max(-1e9), high.min(1e9), 100_000).iter().map(|&x| x as f32).collect();
        let mut y = vec![0.0f32; x.len()];
        math::apply(Level::best(), f, &x, &mut y);
        for (&x, &y) in x.iter().zip(&y) {
            let exact = other(f64::from(x));
            let nearest = exact as f32;
            let neighbours = [nearest.next_down(), nearest, nearest.next_up()];
            assert!(
                neighbours.contains(&y) || exact.is_nan(),
                "{f:?}({x:e}) is {y:e}, not {exact:e}"
            );
        }
    }
}

#[test]
fn powers_and_their_kin() {
    let (x, y) = (spread(0.01, 50.0, 100_000), spread(-30.0, 30.0, 99_991));
    let pairs: Vec<(f64, f64)> = x.iter().zip(y.iter().cycle()).map(|(&x, &y)| (x, y)).collect();
    let (left, right): (Vec<f64>, Vec<f64>) = pairs.iter().copied().unzip();
    let others: [Sample2; 3] =
        [(Binary::Pow, f64::powf), (Binary::Atan2, f64::atan2), (Binary::Hypot, f64::hypot)];
    for (f, other) in others {
        let mut out = vec![0.0; left.len()];
        math::apply2(Level::best(), f, &left, &right, &mut out);
        for ((x, y), got) in pairs.iter().zip(&out) {
            let apart = steps(other(*x, *y), *got).abs();
            assert!(apart <= 2, "{f:?}({x:e}, {y:e}) is {got:e}, not {:e}", other(*x, *y));
        }
    }
}
