//! Extremes of long rows and their places, where several leaves are filled at once: the same as a
//! plain loop finds, for every level, number of threads and tile.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use partita_kernel::math::Level;
use partita_kernel::{Builder, Call, Dtype, Machine, Program, Reduction, Settings, View};

/// Two groups of leaves, four leaves and a rest.
const N: usize = 2 * 16 * 16384 + 4 * 16384 + 777;

fn program(dtype: Dtype) -> Program {
    let mut p = Builder::new(1);
    let x = p.input(dtype);
    p.over(&[0])
        .reduce(x, Reduction::Minimum)
        .reduce(x, Reduction::Maximum)
        .reduce(x, Reduction::ArgMin)
        .reduce(x, Reduction::ArgMax)
        .reduce(x, Reduction::ArgMinValue)
        .reduce(x, Reduction::ArgMaxValue);
    p.finish()
}

/// Smallest, largest, and where they are.
type Extremes<T> = (T, T, i64, i64);

fn computed<T: Copy + Default + PartialOrd>(
    machine: &Machine,
    dtype: Dtype,
    items: &[T],
) -> Extremes<T> {
    let kernel = machine.kernel(&program(dtype)).unwrap();
    let (mut values, mut places) = ([T::default(); 4], [0_i64; 2]);
    let [low, high, low_too, high_too] =
        [0, 1, 2, 3].map(|i| values.as_mut_ptr().wrapping_add(i).cast());
    let [first, last] = [0, 1].map(|i| places.as_mut_ptr().wrapping_add(i).cast());
    let outputs =
        [low, high, first, last, low_too, high_too].map(|data| View { data, strides: &[0] });
    let strides = [size_of::<T>() as isize];
    let inputs = [View::new(items.as_ptr(), &strides)];
    let call = Call { extents: &[items.len()], inputs: &inputs, outputs: &outputs, scalars: &[] };
    // SAFETY: the views lie in the items, the values and the places.
    unsafe { machine.run(&kernel, &call).unwrap() };
    let same = |x: T, y: T| x == y || x.partial_cmp(&x).is_none() && y.partial_cmp(&y).is_none();
    assert!(same(values[0], values[2]) && same(values[1], values[3]), "values at the places");
    (values[0], values[1], places[0], places[1])
}

/// One element after another; a NaN wins and stays.
fn plain<T: Copy + PartialOrd>(items: &[T]) -> Extremes<T> {
    let nan = |i: usize| items[i].partial_cmp(&items[i]).is_none();
    let (mut low, mut high) = (0, 0);
    for i in 1..items.len() {
        if !nan(low) && (items[i] < items[low] || nan(i)) {
            low = i;
        }
        if !nan(high) && (items[i] > items[high] || nan(i)) {
            high = i;
        }
    }
    (items[low], items[high], low as i64, high as i64)
}

/// Compares on all machines; values as numbers, NaN with NaN.
fn check<T: Copy + Default + PartialOrd + std::fmt::Debug>(dtype: Dtype, items: &[T], what: &str) {
    let wanted = plain(items);
    let same = |x: T, y: T| x == y || x.partial_cmp(&x).is_none() && y.partial_cmp(&y).is_none();
    for level in Level::all() {
        for (n_threads, tile) in [(1, 512), (3, 2048)] {
            let machine = Machine::new(Settings { level, n_threads, tile, ..Settings::default() });
            let given = computed(&machine, dtype, items);
            assert!(
                same(given.0, wanted.0)
                    && same(given.1, wanted.1)
                    && (given.2, given.3) == (wanted.2, wanted.3),
                "{dtype}, {what}: {given:?} for {wanted:?} with {:?}",
                machine.settings()
            );
        }
    }
}

fn mixed(i: usize) -> u64 {
    (i as u64 ^ 0x9e37_79b9).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
}

/// Numbers that repeat often or hardly ever, in ascending and descending order, and all alike.
fn patterns() -> Vec<(&'static str, Vec<i64>)> {
    let numbers = |f: &dyn Fn(usize) -> i64| (0..N).map(f).collect();
    vec![
        ("few values", numbers(&|i| (mixed(i) % 1000) as i64 - 500)),
        ("many values", numbers(&|i| (mixed(i) % (1 << 23)) as i64 - (1 << 22))),
        ("ascending", numbers(&|i| i as i64)),
        ("descending", numbers(&|i| -(i as i64))),
        ("alike", numbers(&|_| -7)),
    ]
}

#[test]
fn numbers_of_all_sizes() {
    for (what, items) in patterns() {
        check(Dtype::Int64, &items, what);
        check(Dtype::Float64, &items.iter().map(|&x| x as f64).collect::<Vec<_>>(), what);
        check(Dtype::Float32, &items.iter().map(|&x| x as f32).collect::<Vec<_>>(), what);
        check(Dtype::Int32, &items.iter().map(|&x| x as i32).collect::<Vec<_>>(), what);
        check(Dtype::UInt64, &items.iter().map(|&x| x as u64).collect::<Vec<_>>(), what);
        check(Dtype::Int16, &items.iter().map(|&x| x as i16).collect::<Vec<_>>(), what);
        check(Dtype::UInt8, &items.iter().map(|&x| x as u8).collect::<Vec<_>>(), what);
    }
}

/// The first NaN wins wherever it is; infinities and both zeros are numbers like others.
#[test]
fn special_values_anywhere() {
    let places = [0, 16383, 16384, 3 * 16384 + 40, 4 * 16384, 16 * 16384 - 1, 20 * 16384, N - 1];
    for first in places {
        for second in [first, N - 5] {
            let mut items = vec![-0.0_f64; N];
            items.iter_mut().step_by(3).for_each(|x| *x = 0.0);
            items[first] = f64::NAN;
            items[second] = f64::NAN;
            check(Dtype::Float64, &items, "NaN");
            (items[first], items[second]) = (f64::INFINITY, f64::NEG_INFINITY);
            check(Dtype::Float64, &items, "infinities");
            let narrow: Vec<f32> = items.iter().map(|&x| x as f32).collect();
            check(Dtype::Float32, &narrow, "infinities");
        }
    }
    check(Dtype::Float64, &vec![f64::NEG_INFINITY; N], "infinities alone");
    check(Dtype::Float32, &vec![f32::NAN; N], "NaN alone");
}

/// Of zeros of both signs the same one is given by every machine.
#[test]
fn zeros_have_the_same_sign_everywhere() {
    let items: Vec<f64> =
        (0..N).map(|i| if mixed(i).is_multiple_of(3) { 0.0 } else { -0.0 }).collect();
    let mut first = None;
    for level in Level::all() {
        for (emit, n_threads, tile) in [(false, 1, 512), (true, 3, 4096)] {
            let settings = Settings { level, emit, n_threads, tile, ..Settings::default() };
            let (low, high, ..) = computed(&Machine::new(settings), Dtype::Float64, &items);
            let given = (low.to_bits(), high.to_bits());
            assert_eq!(*first.get_or_insert(given), given, "{settings:?}");
        }
    }
}
