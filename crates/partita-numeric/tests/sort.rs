//! Sorting, positions, merging and searching against the order spelt out.

mod slow;

use partita_numeric::sort::{
    self, BFloat16, Float16, Order, Side, merge, positions, positions_of_rows, sort_rows,
};
use partita_numeric::{Cores, Scratch};
use slow::{Random, SHAPES, Tested, all_cores, generate};
use std::cmp::Ordering;
use std::mem::MaybeUninit;

const SEED: u64 = 88_172_645_463_325_252;

/// Around one, two, four, eight and sixteen registers of every width, and what is divided.
const SIZES: [usize; 32] = [
    0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 100, 127, 128, 129, 192, 255,
    256, 257, 300, 511, 513, 1000, 4096, 4097,
];
/// What threads share, and what is spread over buckets.
const LARGE: [usize; 3] = [16_384, 40_001, 131_073];

fn check_sorted<T: Tested>(before: &[T], after: &[T], what: &str) {
    for pair in after.windows(2) {
        let order = pair[0].slow().order(pair[1].slow());
        assert!(order != Ordering::Greater, "{what}: {:?} before {:?}", pair[0], pair[1]);
    }
    let bits = |data: &[T]| {
        let mut bits: Vec<u128> = data.iter().map(|x| x.bits()).collect();
        bits.sort_unstable();
        bits
    };
    assert!(bits(before) == bits(after), "{what}: other elements than before");
}

fn each_input<T: Tested>(mut check: impl FnMut(&[T], Cores, &str)) {
    let mut random = Random(SEED);
    for shape in SHAPES {
        for n in SIZES {
            let data = generate::<T>(shape, n, &mut random);
            for cores in all_cores() {
                let name = std::any::type_name::<T>();
                check(&data, cores, &format!("seed {SEED}: {shape} {n} {name} {cores:?}"));
            }
        }
    }
    for (i, n) in LARGE.into_iter().enumerate() {
        let shape = SHAPES[(i * 3 + size_of::<T>()) % 3 % SHAPES.len()];
        for shape in [shape, "random"] {
            let data = generate::<T>(shape, n, &mut random);
            for cores in all_cores() {
                let name = std::any::type_name::<T>();
                check(&data, cores, &format!("seed {SEED}: {shape} {n} {name} {cores:?}"));
            }
        }
    }
}

fn check_sort<T: Tested>() {
    let mut scratch = Scratch::default();
    each_input::<T>(|data, cores, what| {
        let mut sorted = data.to_vec();
        sort::sort(&mut sorted, &mut scratch, cores);
        check_sorted(data, &sorted, what);
    });
}

fn check_positions<T: Tested>() {
    let mut scratch = Scratch::default();
    each_input::<T>(|data, cores, what| {
        for order in [Order::Ascending, Order::Descending] {
            let mut got = vec![-1; data.len()];
            positions(data, &mut got, order, &mut scratch, cores);
            let mut want: Vec<i64> = (0..data.len() as i64).collect();
            want.sort_by(|a, b| {
                let order_of = data[*a as usize].slow().order(data[*b as usize].slow());
                if order == Order::Descending { order_of.reverse() } else { order_of }
            });
            // Descending, complex numbers with NaN come as the reverse of ascending, too.
            assert!(got == want, "{what} {order:?}");
        }
    });
}

macro_rules! every_type {
    ($($name:ident $type:ty),*) => {
        mod sorts {
            $(#[test] fn $name() { super::check_sort::<$type>(); })*
            use super::*;
        }
        mod positions_that_sort {
            $(#[test] fn $name() { super::check_positions::<$type>(); })*
            use super::*;
        }
        mod rows_merges_and_searches {
            $(#[test] fn $name() {
                super::check_rows::<$type>();
                super::check_merge::<$type>();
                super::check_search::<$type>();
            })*
            use super::*;
        }
    };
}
every_type!(bool bool, int8 i8, int16 i16, int32 i32, int64 i64, uint8 u8, uint16 u16, uint32 u32,
    uint64 u64, float16 Float16, bfloat16 BFloat16, float32 f32, float64 f64, complex64 [f32; 2],
    complex128 [f64; 2]);

fn check_rows<T: Tested>() {
    let mut random = Random(SEED);
    for row_length in [1, 2, 16, 17, 100, 129, 1000] {
        for n_rows in [0, 1, 3, 64] {
            let data = generate::<T>("random", row_length * n_rows, &mut random);
            for cores in all_cores() {
                let what = format!("seed {SEED}: {n_rows} rows of {row_length} {cores:?}");
                let mut sorted = data.clone();
                sort_rows(&mut sorted, row_length, cores);
                let mut places = vec![-1; data.len()];
                let order = Order::Ascending;
                positions_of_rows(&data, row_length, &mut places, order, cores);
                for i in 0..n_rows {
                    let row = i * row_length..(i + 1) * row_length;
                    check_sorted(&data[row.clone()], &sorted[row.clone()], &what);
                    let mut want = vec![-1; row_length];
                    let scratch = &mut Scratch::default();
                    positions(&data[row.clone()], &mut want, order, scratch, cores);
                    assert_eq!(places[row], want, "{what}");
                }
            }
        }
    }
}

fn check_merge<T: Tested>() {
    let mut random = Random(SEED);
    for lengths in [&[][..], &[0], &[5], &[3, 0], &[1, 1], &[100, 7, 0, 50], &[9000, 20_000, 4000]]
    {
        for shape in ["sorted", "few"] {
            let mut runs: Vec<Vec<T>> =
                lengths.iter().map(|n| generate(shape, *n, &mut random)).collect();
            runs.iter_mut().for_each(|run| run.sort_by(|a, b| a.slow().order(b.slow())));
            // The library's sort is stable, so that equal elements keep the order of the runs.
            let mut want = runs.concat();
            want.sort_by(|a, b| a.slow().order(b.slow()));
            for cores in all_cores() {
                let mut out = vec![MaybeUninit::uninit(); want.len()];
                let parts: Vec<&[T]> = runs.iter().map(|run| &run[..]).collect();
                merge(&parts, &mut out, &mut Scratch::default(), cores);
                // SAFETY: merging writes every element.
                let got: Vec<u128> =
                    out.iter().map(|x| unsafe { x.assume_init() }.bits()).collect();
                let want: Vec<u128> = want.iter().map(|x| x.bits()).collect();
                assert!(got == want, "seed {SEED}: {lengths:?} {shape} {cores:?}");
            }
        }
    }
}

fn check_search<T: Tested>() {
    let mut random = Random(SEED);
    for n in [0, 1, 2, 3, 15, 16, 17, 1000] {
        for shape in ["sorted", "few"] {
            let mut sorted = generate::<T>(shape, n, &mut random);
            sorted.sort_by(|a, b| a.slow().order(b.slow()));
            let mut values = generate::<T>("random", 9000, &mut random);
            values.extend(&sorted);
            for (cores, side) in
                all_cores().into_iter().flat_map(|c| [(c, Side::Left), (c, Side::Right)])
            {
                let mut places = vec![-1; values.len()];
                sort::search(&sorted, &values, side, &mut places, cores);
                for (value, place) in values.iter().zip(&places) {
                    let is_before = |x: &T| match x.slow().order(value.slow()) {
                        Ordering::Less => true,
                        Ordering::Equal => side == Side::Right,
                        Ordering::Greater => false,
                    };
                    let want = sorted.partition_point(is_before) as i64;
                    assert_eq!(*place, want, "seed {SEED}: {value:?} of {n} {shape} {side:?}");
                }
            }
        }
    }
}

/// What defeats pivots of fixed places takes no longer than it should: see the passes of quicksort.
#[test]
fn hard_patterns_are_sorted() {
    let n = 50_000_i64;
    let patterns: [fn(i64, i64) -> i64; 4] = [
        |i, n| if i % 2 == 0 { i } else { n - i },
        |i, n| (i * 7919) % n,
        |i, _| i & 1,
        |i, n| if i < n / 2 { i } else { n - i },
    ];
    for pattern in patterns {
        let data: Vec<i64> = (0..n).map(|i| pattern(i, n)).collect();
        for cores in all_cores() {
            let mut sorted = data.clone();
            sort::sort(&mut sorted, &mut Scratch::default(), cores);
            check_sorted(&data, &sorted, "a pattern");
        }
    }
}

#[test]
fn keys_that_need_all_bits_are_told_apart() {
    // Positions take bits from the packed numbers: here the lowest bit of the key decides.
    let data: Vec<u64> = (0..70_000_u64).map(|i| ((i * 48_271) % 7) << 61 | (i % 2)).collect();
    for cores in all_cores() {
        let mut got = vec![0; data.len()];
        positions(&data, &mut got, Order::Ascending, &mut Scratch::default(), cores);
        let mut want: Vec<i64> = (0..data.len() as i64).collect();
        want.sort_by_key(|i| data[*i as usize]);
        assert!(got == want, "{cores:?}");
    }
}
