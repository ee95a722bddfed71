//! Reductions: special values, digits, and the same bits for every tile.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use partita_kernel::math::Level;
use partita_kernel::{Builder, Call, Dtype, Machine, Reduction, Settings, View};

/// A reduction of a table of float64 over some axes, by a machine of these settings.
fn reduced(
    settings: Settings,
    reduction: Reduction,
    shape: [usize; 2],
    axes: &[usize],
    table: &[f64],
) -> Vec<f64> {
    let mut p = Builder::new(2);
    let x = p.input(Dtype::Float64);
    match reduction {
        Reduction::Variance => {
            let correction = p.scalar(Dtype::Float64);
            p.over(axes).variance(x, correction);
        }
        _ => {
            p.over(axes).reduce(x, reduction);
        }
    }
    let machine = Machine::new(settings);
    let kernel = machine.kernel(&p.finish()).unwrap();
    let kept = [0, 1].map(|axis| if axes.contains(&axis) { 1 } else { shape[axis] });
    let mut out = vec![0.0; kept[0] * kept[1]];
    let strides = [8 * shape[1] as isize, 8];
    let to = [0, 1].map(|axis| match (axes.contains(&axis), axis) {
        (true, _) => 0,
        (_, 0) => 8 * kept[1] as isize,
        _ => 8,
    });
    let inputs = [View::new(table.as_ptr(), &strides)];
    let outputs = [View { data: out.as_mut_ptr().cast(), strides: &to }];
    let scalars = [0.0.into()];
    let scalars = if reduction == Reduction::Variance { &scalars[..] } else { &[] };
    let call = Call { extents: &shape, inputs: &inputs, outputs: &outputs, scalars };
    // SAFETY: the table and the results have room.
    unsafe { machine.run(&kernel, &call).unwrap() };
    out
}

fn all_settings() -> Vec<Settings> {
    let mut all = Vec::new();
    for level in Level::all() {
        for (n_threads, tile) in [(1, 512), (3, 1024), (2, 65536)] {
            all.push(Settings { level, n_threads, tile, ..Settings::default() });
        }
    }
    all
}

/// The results of all settings, which must have the same bits.
fn by_all(reduction: Reduction, shape: [usize; 2], axes: &[usize], table: &[f64]) -> Vec<f64> {
    // Any NaN for any other.
    let word = |x: &f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
    let bits = |values: &[f64]| values.iter().map(word).collect::<Vec<_>>();
    let all = all_settings();
    let first = reduced(all[0], reduction, shape, axes, table);
    for settings in &all[1..] {
        let again = reduced(*settings, reduction, shape, axes, table);
        assert!(bits(&first) == bits(&again), "{reduction:?} of {shape:?}: {settings:?}");
    }
    first
}

/// Numbers of about the normal distribution with variance 1.
fn noise(n: usize) -> Vec<f64> {
    let mut state = 7_u64;
    let mut even = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (0..n).map(|_| (0..12).map(|_| even()).sum::<f64>() - 6.0).collect()
}

#[test]
fn rows_longer_than_a_leaf_have_the_same_bits_for_every_tile() {
    let table = noise(3 * 16500);
    for reduction in [Reduction::Sum, Reduction::Mean, Reduction::Product, Reduction::Variance] {
        by_all(reduction, [3, 16500], &[1], &table);
    }
}

/// A table whose every column, or every row, is one series.
fn repeated(series: &[f64], n: usize, down: bool) -> (Vec<f64>, [usize; 2], [usize; 1]) {
    if down {
        let table = series.iter().flat_map(|&x| vec![x; n]).collect();
        (table, [series.len(), n], [0])
    } else {
        (series.repeat(n), [n, series.len()], [1])
    }
}

#[test]
fn the_variance_of_an_infinity_is_nan_and_of_huge_distances_infinite() {
    let inf = f64::INFINITY;
    let none: &[&[f64]] = &[&[1.0, inf, 2.0], &[inf, -inf], &[inf, inf], &[1.0, f64::NAN], &[-inf]];
    let huge: &[&[f64]] =
        &[&[1e308, -1e308], &[1e308, -1e308, 1e308, 0.0, 3.0], &[0.0, 1e308, 1e308, 1e308]];
    for n in [2, 8, 40] {
        for down in [false, true] {
            for series in none {
                let (table, shape, axes) = repeated(series, n, down);
                let variance = by_all(Reduction::Variance, shape, &axes, &table);
                assert!(variance.iter().all(|x| x.is_nan()), "{series:?}, {shape:?}: {variance:?}");
            }
            for series in huge {
                let (table, shape, axes) = repeated(series, n, down);
                let variance = by_all(Reduction::Variance, shape, &axes, &table);
                assert!(variance.iter().all(|x| *x == inf), "{series:?}, {shape:?}: {variance:?}");
            }
        }
    }
}

/// The variance of numbers and of the same far from zero, where all of them are still exact: the
/// noise has 2^-20 as its unit.
#[test]
fn variances_keep_their_digits_where_the_mean_is_large() {
    let unit = f64::from(1 << 20);
    for (shape, axes) in [
        ([1, 100_000], &[1][..]),
        ([100_000, 8], &[0]),
        ([1000, 100], &[0, 1]),
        ([300, 40], &[0]),
        ([40, 300], &[1]),
    ] {
        let noise: Vec<f64> =
            noise(shape[0] * shape[1]).iter().map(|x| (x * unit).round() / unit).collect();
        let far: Vec<f64> = noise.iter().map(|x| x + 1e8).collect();
        let wanted = by_all(Reduction::Variance, shape, axes, &noise);
        let given = by_all(Reduction::Variance, shape, axes, &far);
        for (wanted, given) in wanted.iter().zip(&given) {
            let error = (given / wanted - 1.0).abs() / f64::EPSILON;
            assert!(error < 100.0, "{shape:?} over {axes:?}: {error} epsilons");
        }
    }
}

/// Every addition of equal numbers may round the same way: what keeps the error small is that no
/// number is part of many sums.
#[test]
fn sums_of_equal_numbers_keep_their_digits() {
    for n in [1000, 16384, 100_000, 1_000_000] {
        let table = vec![0.1; n];
        let sum = by_all(Reduction::Sum, [1, n], &[1], &table)[0];
        // 0.1 is a multiple of 2^-55 below 2^52 of them: exact in 128 bits.
        let exact = (0.1 * (1_u64 << 55) as f64) as u128 * n as u128;
        let ulps = (sum / (exact as f64 / (1_u64 << 55) as f64) - 1.0).abs() / f64::EPSILON;
        assert!(ulps < 8.0, "{n} times 0.1 err by {ulps} epsilons");
    }
}

/// The mean that a variance finds, alone and beside it: the same bits, and near the mean.
#[test]
fn the_mean_of_a_variance() {
    let table: Vec<f64> = (0..300_000).map(|i| 1e6 + f64::from(i % 1013) * 0.37).collect();
    let shape = [1, table.len()];
    let alone = by_all(Reduction::VarianceMean, shape, &[0, 1], &table)[0];
    let mean = by_all(Reduction::Mean, shape, &[0, 1], &table)[0];
    assert!((alone - mean).abs() <= 1e-15 * mean, "{alone} and {mean}");
    let mut p = Builder::new(1);
    let x = p.input(Dtype::Float64);
    let correction = p.constant(0.0);
    p.over(&[0]).variance(x, correction).reduce(x, Reduction::VarianceMean);
    let machine = Machine::new(all_settings()[0]);
    let kernel = machine.kernel(&p.finish()).unwrap();
    let mut found = [0.0; 2];
    let outputs = [0, 1].map(|i| View { data: (&raw mut found[i]).cast(), strides: &[0] });
    let inputs = [View::new(table.as_ptr(), &[8])];
    let call = Call { extents: &[table.len()], inputs: &inputs, outputs: &outputs, scalars: &[] };
    // SAFETY: the table and the results have room.
    unsafe { machine.run(&kernel, &call).unwrap() };
    assert_eq!(found[0], by_all(Reduction::Variance, shape, &[0, 1], &table)[0]);
    assert_eq!(found[1].to_bits(), alone.to_bits());
}
