//! Adding and zeroing against the dense model, for every type.

mod common;

use common::{Case, Random, Sizes, in_every_form};
use partita_layout::{Level, Run};
use partita_team::copy::{Dtype, Stores, Sum, Target, add, fill_zero, sum_two};

/// The parts of an element: a complex number has two.
fn part_bytes(dtype: Dtype) -> usize {
    match dtype {
        Dtype::C64 => 4,
        Dtype::C128 => 8,
        other => other.n_bytes() as usize,
    }
}

fn half_value(half: u16) -> f64 {
    let (exponent, fraction) = (i32::from(half >> 10 & 31), f64::from(half & 0x3ff));
    let sign = if half & 0x8000 == 0 { 1.0 } else { -1.0 };
    match exponent {
        0 => sign * fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => sign * f64::INFINITY,
        31 => f64::NAN,
        _ => sign * (1024.0 + fraction) * 2f64.powi(exponent - 25),
    }
}

/// The half nearest to a number: the best of all candidates around it, even ones first.
fn nearest_half(wanted: f64) -> u16 {
    let sign = if wanted.is_sign_negative() { 0x8000u16 } else { 0 };
    if wanted.abs() >= 65520.0 {
        return sign | 0x7c00;
    }
    let (mut low, mut high) = (0u16, 0x7bffu16);
    while low < high {
        let middle = low + (high - low).div_ceil(2);
        if half_value(middle) <= wanted.abs() { low = middle } else { high = middle - 1 }
    }
    let distance = |half: u16| (half_value(half) - wanted.abs()).abs();
    let next = (low + 1).min(0x7bff);
    let is_next =
        distance(next) < distance(low) || (distance(next) == distance(low) && low & 1 == 1);
    sign | if is_next { next } else { low }
}

/// Whether `found` is the sum of two parts, NaN being as good as another NaN.
fn is_sum(dtype: Dtype, a: &[u8], b: &[u8], found: &[u8]) -> bool {
    macro_rules! parts {
        ($number:ty) => {
            [a, b, found].map(|bytes| <$number>::from_le_bytes(bytes.try_into().expect("a part")))
        };
    }
    macro_rules! wrapping {
        ($number:ty) => {{
            let [a, b, found] = parts!($number);
            found == a.wrapping_add(b)
        }};
    }
    macro_rules! floating {
        ($number:ty) => {{
            let [a, b, found] = parts!($number);
            found.to_bits() == (a + b).to_bits() || (found.is_nan() && (a + b).is_nan())
        }};
    }
    match dtype {
        Dtype::Bool => found[0] == a[0] | b[0],
        Dtype::I8 => wrapping!(i8),
        Dtype::I16 => wrapping!(i16),
        Dtype::I32 => wrapping!(i32),
        Dtype::I64 => wrapping!(i64),
        Dtype::U8 => wrapping!(u8),
        Dtype::U16 => wrapping!(u16),
        Dtype::U32 => wrapping!(u32),
        Dtype::U64 => wrapping!(u64),
        Dtype::F32 | Dtype::C64 => floating!(f32),
        Dtype::F64 | Dtype::C128 => floating!(f64),
        Dtype::F16 => {
            let [a, b, found] = parts!(u16);
            let exact = half_value(a) + half_value(b);
            let is_nan = half_value(found).is_nan() && exact.is_nan();
            is_nan || found == nearest_half(exact)
        }
        Dtype::Bf16 => {
            let [a, b, found] = parts!(u16).map(|bits| f32::from_bits(u32::from(bits) << 16));
            let exact = f64::from(a) + f64::from(b);
            let step = |by: i64| f32::from_bits((found.to_bits() as i64 + by) as u32);
            let distance = |of: f32| (f64::from(of) - exact).abs();
            // Beyond the largest number the neighbours are infinite or NaN: never nearer.
            (found.is_nan() && exact.is_nan())
                || f64::from(found) == exact
                || found.is_infinite() && exact.abs() > 3.389e38
                || [0x1_0000, -0x1_0000].iter().all(|&by| {
                    let (other, own) = (distance(step(by)), distance(found));
                    other > own || other.is_nan() || other == own && found.to_bits() & 0x1_0000 == 0
                })
        }
    }
}

/// Truth values are zero or one.
fn make_true(dtype: Dtype, bytes: &mut [u8]) {
    if dtype == Dtype::Bool {
        bytes.iter_mut().for_each(|byte| *byte &= 1);
    }
}

#[test]
fn random_regions_of_every_type() {
    in_every_form(|| {
        for dtype in Dtype::ALL {
            for seed in 0..200 {
                let mut random = Random::new(seed);
                let sizes = Sizes { n_elements: 400, n_bytes: 1 << 18 };
                let mut case = Case::random(&mut random, dtype.n_bytes() as usize, sizes);
                make_true(dtype, &mut case.source);
                make_true(dtype, &mut case.target);
                // SAFETY: the buffers hold every position of the region.
                let found = case.run(|region, source, target| unsafe {
                    add(region, source, target, dtype);
                });
                check(&case, &found, dtype, seed);
            }
        }
    });
}

fn check(case: &Case, found: &[u8], dtype: Dtype, seed: u64) {
    let mut is_guard = vec![true; found.len()];
    case.each(|from, to| {
        for part in (0..dtype.n_bytes() as usize).step_by(part_bytes(dtype)) {
            let (from, to) = (from + part, to + part);
            let at = |bytes: &[u8], from: usize| bytes[from..from + part_bytes(dtype)].to_vec();
            let (a, b) = (at(&case.target, to), at(&case.source, from));
            let sum = at(found, to);
            assert!(is_sum(dtype, &a, &b, &sum), "{dtype:?}, seed {seed}: {a:?} + {b:?} = {sum:?}");
            is_guard[to..to + part_bytes(dtype)].fill(false);
        }
    });
    for (at, _) in is_guard.iter().enumerate().filter(|(_, is_guard)| **is_guard) {
        assert_eq!(found[at], case.target[at], "{dtype:?}, seed {seed}: guard byte {at}");
    }
}

/// The adjoint of a copy to many places: everything ends up in one.
#[test]
fn repeated_targets_add_up() {
    in_every_form(|| {
        let repeat = Level { count: 5, source_step: 2, target_step: 0 };
        let pair = Level { count: 2, source_step: 1, target_step: 1 };
        let runs = [Run { source: 0, target: 0, levels: [Level::ONCE, repeat, pair] }];
        let source: Vec<i32> = (0..10).collect();
        let mut target = [100, 200];
        let region = partita_team::copy::Region { runs: &[&runs], item_bytes: 4 };
        let from = partita_team::copy::Source { pointer: source.as_ptr().cast(), strides: &[4] };
        let to = Target { pointer: target.as_mut_ptr().cast(), strides: &[4] };
        // SAFETY: ten source and two target elements.
        unsafe { add(region, from, to, Dtype::I32) };
        assert_eq!(target, [120, 225]);
    });
}

#[test]
fn sums_of_two_rows_of_every_type() {
    in_every_form(|| {
        for dtype in Dtype::ALL {
            for (n_items, misfit) in [(0, 0), (1, 0), (7, 3), (1000, 0), (5000, 5), (9001, 60)] {
                let mut random = Random::new(n_items as u64);
                let n_bytes = n_items * dtype.n_bytes() as usize;
                let mut bytes = || -> Vec<u8> {
                    let mut bytes: Vec<u8> =
                        (0..n_bytes + 128).map(|_| random.next() as u8).collect();
                    make_true(dtype, &mut bytes);
                    bytes
                };
                let (first, second, guard) = (bytes(), bytes(), bytes());
                for stores in [Stores::Cached, Stores::Streaming] {
                    let mut target = guard.clone();
                    let rows = Sum {
                        first: first.as_ptr(),
                        second: second[1..].as_ptr(),
                        target: target[misfit..].as_mut_ptr(),
                        n_items,
                    };
                    // SAFETY: more than `n_items` elements in each.
                    unsafe { sum_two(rows, dtype, stores) };
                    let size = part_bytes(dtype);
                    for at in (0..n_bytes).step_by(size) {
                        let (a, b) = (&first[at..at + size], &second[1 + at..1 + at + size]);
                        let sum = &target[misfit + at..misfit + at + size];
                        assert!(is_sum(dtype, a, b, sum), "{dtype:?}: {a:?} + {b:?} = {sum:?}");
                    }
                    assert_eq!(target[..misfit], guard[..misfit]);
                    assert_eq!(target[misfit + n_bytes..], guard[misfit + n_bytes..]);
                }
            }
        }
    });
}

#[test]
fn zero_only_what_was_asked() {
    in_every_form(|| {
        for seed in 0..500 {
            let mut random = Random::new(seed);
            let item_bytes = random.pick(&[1, 2, 3, 4, 8, 16, 40]);
            let sizes = Sizes { n_elements: 3000, n_bytes: 1 << 20 };
            let mut case = Case::random(&mut random, item_bytes, sizes);
            let shape: Vec<u64> = case.runs.iter().map(|_| random.below(9)).collect();
            let whole = |&n: &u64| vec![Run::contiguous(0, 0, n)];
            let extents: Vec<u64> = case
                .runs
                .iter()
                .map(|runs| {
                    runs.iter().flat_map(Run::pairs).map(|pair| pair.1 + 1).max().unwrap_or(0)
                })
                .collect();
            let shape: Vec<u64> = shape.iter().zip(&extents).map(|(&a, &b)| a.min(b)).collect();
            case.runs = shape.iter().map(whole).collect();
            case.source_strides.clone_from(&case.target_strides);
            case.source_origin = case.target_origin;
            case.source = vec![0; case.target.len()];
            let wanted = case.copied();
            for stores in [Stores::Cached, Stores::Streaming] {
                // SAFETY: the shape lies in the buffer.
                let found = case.run(|_, _, target| unsafe {
                    fill_zero(target, &shape, item_bytes, stores);
                });
                assert_eq!(found, wanted, "seed {seed}");
            }
        }
    });
}

#[test]
fn zero_a_large_buffer() {
    in_every_form(|| {
        for misfit in [0, 1, 60] {
            let mut bytes = vec![1u8; 1_000_064];
            let target = Target { pointer: bytes[misfit..].as_mut_ptr(), strides: &[1000, 1] };
            // SAFETY: a million bytes from `misfit` on.
            unsafe { fill_zero(target, &[1000, 1000], 1, Stores::Streaming) };
            let n_ones = bytes.iter().filter(|&&byte| byte == 1).count();
            assert_eq!((n_ones, bytes[misfit..misfit + 1_000_000].contains(&1)), (64, false));
        }
    });
}
