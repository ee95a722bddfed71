//! Random numbers: the same however divided, and distributed as they should be.

mod slow;

use partita_kernel::math::{Level, Unary, apply};
use partita_numeric::Cores;
use partita_numeric::random::{Continuous, Discrete, Stream};
use slow::all_cores;
use std::f64::consts::{PI, SQRT_2};

const STREAM: Stream = Stream { key: 0x5eed, number: 7 };

fn continuous() -> Vec<Continuous> {
    use Continuous::*;
    vec![
        Uniform,
        Normal,
        Exponential,
        Laplace,
        Logistic,
        Gumbel,
        Cauchy,
        Rayleigh,
        Weibull { a: 1.7 },
        Lognormal { mean: 0.3, sigma: 0.5 },
        Triangular { left: -1.0, mode: 0.5, right: 2.0 },
        Triangular { left: 0.0, mode: 0.0, right: 1.0 },
        Gamma { shape: 1.0 },
        Gamma { shape: 2.0 },
        Gamma { shape: 0.5 },
        Beta { a: 2.0, b: 1.0 },
        Beta { a: 0.5, b: 0.5 },
        ChiSquare { df: 2.0 },
        StandardT { df: 1.0 },
        StandardT { df: 2.0 },
    ]
}

fn erf(x: f64) -> f64 {
    let mut y = [0.0];
    apply(Level::PORTABLE, Unary::Erf, &[x], &mut y);
    y[0]
}

/// The chance of at most x.
fn chance(of: Continuous, x: f64) -> f64 {
    use Continuous::*;
    match of {
        Uniform => x,
        Normal => 0.5 * (1.0 + erf(x / SQRT_2)),
        Exponential => 1.0 - (-x).exp(),
        Laplace if x < 0.0 => 0.5 * x.exp(),
        Laplace => 1.0 - 0.5 * (-x).exp(),
        Logistic => 1.0 / (1.0 + (-x).exp()),
        Gumbel => (-(-x).exp()).exp(),
        Cauchy => 0.5 + x.atan() / PI,
        Rayleigh => 1.0 - (-x * x / 2.0).exp(),
        Weibull { a } => 1.0 - (-x.powf(a)).exp(),
        Lognormal { mean, sigma } => chance(Normal, (x.ln() - mean) / sigma),
        Triangular { left, mode, right } if x < mode => {
            (x - left).powi(2) / (right - left) / (mode - left)
        }
        Triangular { left, mode, right } => {
            1.0 - (right - x).powi(2) / (right - left) / (right - mode)
        }
        Gamma { shape: 1.0 } => 1.0 - (-x).exp(),
        Gamma { shape: 2.0 } => 1.0 - (-x).exp() * (1.0 + x),
        Gamma { .. } => erf(x.sqrt()),
        Beta { a: 2.0, .. } => x * x,
        Beta { .. } => 2.0 / PI * x.sqrt().asin(),
        ChiSquare { .. } => 1.0 - (-x / 2.0).exp(),
        StandardT { df: 1.0 } => 0.5 + x.atan() / PI,
        StandardT { .. } => 0.5 + x / (2.0 * (2.0 + x * x).sqrt()),
        _ => unreachable!("every distribution is listed"),
    }
}

/// Kolmogorov and Smirnov: the largest distance to the distribution, times the root of the count.
fn distance(of: Continuous, data: &mut [f64]) -> f64 {
    let n = data.len() as f64;
    data.sort_by(f64::total_cmp);
    let far = |(i, x): (usize, &f64)| {
        let want = chance(of, *x);
        (want - i as f64 / n).abs().max((want - (i + 1) as f64 / n).abs())
    };
    data.iter().enumerate().map(far).fold(0.0, f64::max) * n.sqrt()
}

#[test]
fn distributions_have_their_shape() {
    for of in continuous() {
        let mut data = vec![0.0; 200_000];
        STREAM.fill(of, 0, &mut data, Cores::best()).expect("good parameters");
        let distance = distance(of, &mut data);
        // Exceeded by one of a thousand streams.
        assert!(distance < 1.95, "{of:?}: {distance}");
        assert!(distance > 0.2, "{of:?} is too regular: {distance}");
    }
}

fn moments(data: &[f64]) -> (f64, f64) {
    let n = data.len() as f64;
    let mean = data.iter().sum::<f64>() / n;
    (mean, data.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n)
}

#[test]
fn moments_are_those_of_the_distributions() {
    use Continuous::*;
    let cases = [
        (Uniform, 0.5, 1.0 / 12.0),
        (Normal, 0.0, 1.0),
        (Exponential, 1.0, 1.0),
        (Gamma { shape: 7.3 }, 7.3, 7.3),
        (Beta { a: 2.0, b: 3.0 }, 0.4, 0.04),
        (Beta { a: 0.2, b: 0.7 }, 2.0 / 9.0, 0.14 / (0.81 * 1.9)),
        (ChiSquare { df: 5.0 }, 5.0, 10.0),
        (StandardT { df: 12.0 }, 0.0, 1.2),
        (Logistic, 0.0, PI * PI / 3.0),
        (Laplace, 0.0, 2.0),
    ];
    for (of, mean, variance) in cases {
        let mut data = vec![0.0; 400_000];
        STREAM.fill(of, 1000, &mut data, Cores::best()).expect("good parameters");
        let (got_mean, got_variance) = moments(&data);
        let error = 4.5 * (variance / 4e5).sqrt();
        assert!((got_mean - mean).abs() < error, "{of:?}: mean {got_mean}");
        assert!((got_variance / variance - 1.0).abs() < 0.02, "{of:?}: variance {got_variance}");
    }
}

/// Neighbours are independent: normal numbers come in pairs.
#[test]
fn neighbours_are_not_correlated() {
    let mut data = vec![0.0; 400_000];
    STREAM.fill(Continuous::Normal, 0, &mut data, Cores::best()).expect("good parameters");
    for gap in [1, 2, 3, 512, 1024] {
        let sum: f64 = data.iter().zip(&data[gap..]).map(|(a, b)| a * b).sum();
        let squares: f64 = data.iter().zip(&data[gap..]).map(|(a, b)| a * a * b * b).sum();
        let n = (data.len() - gap) as f64;
        assert!((sum / n.sqrt()).abs() < 4.0, "{gap}: {}", sum / n.sqrt());
        assert!((squares / n - 1.0).abs() < 0.03, "{gap}: {}", squares / n);
    }
}

fn discrete() -> Vec<Discrete> {
    use Discrete::*;
    vec![
        Uniform { low: -3, span: 7 },
        Poisson { mean: 0.0 },
        Poisson { mean: 3.0 },
        Poisson { mean: 40.0 },
        Binomial { n: 0, p: 0.5 },
        Binomial { n: 20, p: 0.3 },
        Binomial { n: 20, p: 0.0 },
        Binomial { n: 20, p: 1.0 },
        Binomial { n: 200, p: 0.4 },
        Binomial { n: 100, p: 0.9 },
        Geometric { p: 0.2 },
        Geometric { p: 1.0 },
    ]
}

/// The chance of exactly k, by recursion.
fn chances(of: Discrete, first: i64, n: usize) -> Vec<f64> {
    let one = |k: i64| match of {
        Discrete::Uniform { low, span } => {
            if k >= low && k < low + span as i64 {
                1.0 / span as f64
            } else {
                0.0
            }
        }
        Discrete::Poisson { mean } => {
            (1..=k).fold((-mean).exp(), |p, i| p * mean / i as f64) * f64::from(k >= 0)
        }
        Discrete::Binomial { n, p } => {
            let ways = |p: f64, i: i64| p * (n - i + 1) as f64 / i as f64;
            let inside = f64::from(k >= 0 && k <= n);
            inside * (1..=k).fold(1.0, ways) * p.powi(k as i32) * (1.0 - p).powi((n - k) as i32)
        }
        Discrete::Geometric { p } => {
            if k >= 1 {
                p * (1.0 - p).powi(k as i32 - 1)
            } else {
                0.0
            }
        }
        _ => unreachable!("every distribution is listed"),
    };
    (first..first + n as i64).map(one).collect()
}

#[test]
fn whole_numbers_are_as_frequent_as_they_should_be() {
    for of in discrete() {
        let n = 200_000;
        let mut data = vec![0; n];
        STREAM.fill_integers(of, 0, &mut data, Cores::best()).expect("good parameters");
        let (first, length) = (-5, 300);
        let mut counts = vec![0.0; length];
        data.iter().for_each(|k| counts[(k - first) as usize] += 1.0);
        let (mut chi, mut freedom) = (0.0, 0.0_f64);
        for (count, chance) in counts.iter().zip(chances(of, first, length)) {
            let want = chance * n as f64;
            if want > 20.0 {
                chi += (count - want).powi(2) / want;
                freedom += 1.0;
            }
            assert!(*count == 0.0 || chance > 0.0, "{of:?} cannot have this");
        }
        let most = freedom + 4.0 * (2.0 * freedom).sqrt();
        assert!(chi <= most, "{of:?}: {chi} with {freedom} numbers");
    }
}

#[test]
fn every_division_level_and_count_of_threads_gives_the_same() {
    const N: usize = 20_011;
    for of in continuous() {
        let mut want = vec![0.0; N];
        let slow = Cores { level: Level::PORTABLE, n_threads: 1 };
        STREAM.fill(of, 5, &mut want, slow).expect("good parameters");
        for cores in all_cores() {
            for cut in [0, 1, 2, 1023, 1024, 1025, 9001, N] {
                let mut got = vec![0.0; N];
                let (early, late) = got.split_at_mut(cut);
                STREAM.fill(of, 5, early, cores).expect("good parameters");
                STREAM.fill(of, 5 + cut as u64, late, cores).expect("good parameters");
                let same = got.iter().zip(&want).all(|(a, b)| a.to_bits() == b.to_bits());
                assert!(same, "{of:?} {cut} {cores:?}");
            }
        }
    }
    for of in discrete() {
        let mut want = vec![0; 3000];
        STREAM.fill_integers(of, 9, &mut want, Cores::best()).expect("good parameters");
        for cores in all_cores() {
            let mut got = vec![0; 3000];
            let (early, late) = got.split_at_mut(1001);
            STREAM.fill_integers(of, 9, early, cores).expect("good parameters");
            STREAM.fill_integers(of, 9 + 1001, late, cores).expect("good parameters");
            assert_eq!(got, want, "{of:?} {cores:?}");
        }
    }
}

#[test]
fn each_element_may_have_parameters_of_its_own() {
    const N: usize = 20_011;
    let (real, whole) = (continuous(), discrete());
    for cores in all_cores() {
        let mut got = vec![0.0; N];
        STREAM.fill_each(|i| real[i % real.len()], 3, &mut got, cores).expect("good parameters");
        for (k, of) in real.iter().enumerate() {
            let mut want = vec![0.0; N];
            STREAM.fill(*of, 3, &mut want, cores).expect("good parameters");
            let mut own = (k..N).step_by(real.len());
            assert!(own.all(|i| got[i].to_bits() == want[i].to_bits()), "{of:?} {cores:?}");
        }
        let mut got = vec![0; N];
        let of = |i: usize| whole[i % whole.len()];
        STREAM.fill_integers_each(of, 3, &mut got, cores).expect("good parameters");
        for (k, of) in whole.iter().enumerate() {
            let mut want = vec![0; N];
            STREAM.fill_integers(*of, 3, &mut want, cores).expect("good parameters");
            let mut own = (k..N).step_by(whole.len());
            assert!(own.all(|i| got[i] == want[i]), "{of:?} {cores:?}");
        }
    }
    let mut kept = [7.0; 3];
    let of = |i: usize| Continuous::Gamma { shape: 1.0 - i as f64 };
    STREAM.fill_each(of, 0, &mut kept, Cores::best()).expect_err("refused");
    assert_eq!(kept, [7.0; 3]);
}

#[test]
fn words_and_single_numbers_are_divided_alike() {
    const N: usize = 20_000;
    let (mut words, mut singles) = (vec![0; N], vec![0.0; N]);
    STREAM.words(3, &mut words, Cores::best());
    STREAM.uniform_f32(3, &mut singles, Cores::best());
    for cores in all_cores() {
        let (mut a, mut b) = (vec![0; N], vec![0.0; N]);
        for (first, end) in [(0, 7), (7, 5000), (5000, N)] {
            STREAM.words(3 + first as u64, &mut a[first..end], cores);
            STREAM.uniform_f32(3 + first as u64, &mut b[first..end], cores);
        }
        assert!(a == words && b == singles, "{cores:?}");
    }
    let mut wide: Vec<f64> = singles.iter().map(|x| f64::from(*x)).collect();
    assert!(distance(Continuous::Uniform, &mut wide) < 1.95);
    assert!(singles.iter().all(|x| (0.0..1.0).contains(x)));
    let mut other = vec![0; N];
    Stream { number: 8, ..STREAM }.words(3, &mut other, Cores::best());
    assert!(other.iter().zip(&words).all(|(a, b)| a != b), "streams differ");
}

#[test]
fn permutations_are_bijections_however_divided() {
    for n in [0, 1, 2, 3, 100, 4096, 4097, 5000, 65_537, 100_000_u64] {
        let mut want = vec![-1; n as usize];
        STREAM.permutation(n, 0, &mut want, Cores::best());
        let mut sorted = want.clone();
        sorted.sort_unstable();
        assert!(sorted.iter().copied().eq(0..n as i64), "{n} is not a bijection");
        for cores in all_cores() {
            let mut got = vec![-1; n as usize];
            let cut = n as usize / 3;
            let (early, late) = got.split_at_mut(cut);
            STREAM.permutation(n, 0, early, cores);
            STREAM.permutation(n, cut as u64, late, cores);
            assert!(got == want, "{n} {cores:?}");
        }
    }
    // About one position in n stays where it is, whatever n; neighbours are torn apart.
    for n in [4000, 50_000_u64] {
        let (mut stay, mut near) = (0, 0);
        for key in 0..40 {
            let mut places = vec![0; n as usize];
            Stream { key, number: 1 }.permutation(n, 0, &mut places, Cores::best());
            stay += places.iter().enumerate().filter(|(i, p)| *i as i64 == **p).count();
            near += places.windows(2).filter(|pair| pair[1] == pair[0] + 1).count();
        }
        assert!((15..=70).contains(&stay), "{n}: {stay} stay in 40 permutations");
        assert!((15..=70).contains(&near), "{n}: {near} neighbours in 40 permutations");
    }
}

/// All orders of four are about as frequent.
#[test]
fn small_permutations_are_all_possible() {
    let mut counts = std::collections::BTreeMap::new();
    for key in 0..24_000 {
        let mut places = [0; 4];
        Stream { key, number: 0 }.permutation(4, 0, &mut places, Cores::best().alone());
        *counts.entry(places).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 24);
    assert!(counts.values().all(|count| (860..1140).contains(count)), "{counts:?}");
}

#[test]
fn wrong_parameters_are_refused() {
    use Continuous::*;
    let wrong = [
        Gamma { shape: 0.0 },
        Gamma { shape: f64::NAN },
        Beta { a: 1.0, b: -1.0 },
        ChiSquare { df: -2.0 },
        StandardT { df: 0.0 },
        Weibull { a: f64::INFINITY },
        Lognormal { mean: 0.0, sigma: -1.0 },
        Triangular { left: 0.0, mode: 2.0, right: 1.0 },
        Triangular { left: 1.0, mode: 1.0, right: 1.0 },
    ];
    for of in wrong {
        let error = STREAM.fill(of, 0, &mut [0.0], Cores::best()).expect_err("refused");
        assert_eq!(error.reason(), "parameter-out-of-range", "{of:?}");
    }
    let wrong = [
        Discrete::Poisson { mean: -1.0 },
        Discrete::Poisson { mean: f64::NAN },
        Discrete::Binomial { n: -1, p: 0.5 },
        Discrete::Binomial { n: 1, p: 1.5 },
        Discrete::Geometric { p: 0.0 },
    ];
    for of in wrong {
        let error = STREAM.fill_integers(of, 0, &mut [0], Cores::best()).expect_err("refused");
        assert_eq!(error.reason(), "parameter-out-of-range", "{of:?}");
    }
}
