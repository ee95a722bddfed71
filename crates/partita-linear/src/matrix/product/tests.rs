//! Products beside a triple loop.

use super::*;
use crate::matrix::memory::{ORDERS, Order, Stored};
use crate::sample::Sample;

/// How elements are made and compared.
trait Case: Multiply {
    fn element(sample: &mut Sample) -> Self;
    /// Whether a sum of `k` products is near enough to the oracle's.
    fn near(self, other: Self, k: usize) -> bool;
}

macro_rules! exact {
    ($($type:ty)*) => {$(
        impl Case for $type {
            fn element(sample: &mut Sample) -> $type {
                sample.bits() as $type
            }
            fn near(self, other: $type, _: usize) -> bool {
                self == other
            }
        }
    )*};
}
exact!(i8 i16 i32 i64 u8 u16 u32 u64);

impl Case for Truth {
    fn element(sample: &mut Sample) -> Truth {
        Truth([0, 0, 0, 1, 2, 255][sample.below(6)])
    }
    fn near(self, other: Truth, _: usize) -> bool {
        self == other
    }
}

macro_rules! rounded {
    ($($type:ty)*) => {$(
        impl Case for $type {
            fn element(sample: &mut Sample) -> $type {
                sample.unit() as $type
            }
            fn near(self, other: $type, k: usize) -> bool {
                (self - other).abs() <= (k + 2) as $type * <$type>::EPSILON
            }
        }
        impl Case for Complex<$type> {
            fn element(sample: &mut Sample) -> Self {
                Complex::new(sample.unit() as $type, sample.unit() as $type)
            }
            fn near(self, other: Self, k: usize) -> bool {
                (self - other).norm() <= 4.0 * (k + 2) as $type * <$type>::EPSILON
            }
        }
    )*};
}
rounded!(f32 f64);

fn triple_loop<T: Number>(a: View<'_, T>, b: View<'_, T>, before: Option<&[T]>) -> Vec<T> {
    let ([m, k], n) = (a.shape(), b.shape()[1]);
    (0..m * n)
        .map(|at| {
            let terms = (0..k).map(|l| a.at(at / n, l).times(b.at(l, at % n)));
            let sum = terms.fold(T::ZERO, T::plus);
            before.map_or(sum, |before| before[at].plus(sum))
        })
        .collect()
}

fn check_one<T: Case>(sample: &mut Sample, [m, k, n]: [usize; 3], orders: [Order; 3]) {
    let a = Stored::generated([m, k], orders[0], sample, T::element);
    let b = Stored::generated([k, n], orders[1], sample, T::element);
    for into in [Into::Overwrite, Into::Add] {
        for level in Level::all() {
            for n_threads in [1, 2] {
                let mut out = Stored::generated([m, n], orders[2], sample, T::element);
                let before = out.elements();
                let expected =
                    triple_loop(a.view(), b.view(), (into == Into::Add).then_some(&before[..]));
                multiply_at(level, out.view_mut(), a.view(), b.view(), into, n_threads);
                for (at, (&given, &wanted)) in out.elements().iter().zip(&expected).enumerate() {
                    assert!(
                        given.near(wanted, k),
                        "{m}x{k}x{n} {orders:?} {into:?} {level:?} {n_threads}: element {at} is \
                         {given:?}, not {wanted:?}"
                    );
                }
            }
        }
    }
}

fn check_type<T: Case>(seed: u64) {
    let mut sample = Sample::new(seed);
    let sizes = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 65];
    for _ in 0..60 {
        let shape = std::array::from_fn(|_| sizes[sample.below(sizes.len())]);
        let orders = std::array::from_fn(|_| ORDERS[sample.below(ORDERS.len())]);
        check_one::<T>(&mut sample, shape, orders);
    }
    let orders = std::array::from_fn(|_| ORDERS[sample.below(ORDERS.len())]);
    for shape in [[90, 100, 120], [5, 257, 40], [258, 3, 35], [3, 1100, 2], [20, 4000, 21]] {
        check_one::<T>(&mut sample, shape, orders);
    }
}

/// Vectors around the sizes at which sums are cut.
fn check_vectors<T: Case>(seed: u64) {
    let mut sample = Sample::new(seed);
    for length in [1, 31, 32, 33, 511, 512, 513, 70_000] {
        for order in ORDERS {
            let orders = [order, Order::C, Order::C];
            check_one::<T>(&mut sample, [3, length, 1], orders);
            check_one::<T>(&mut sample, [length, 3, 1], orders);
            check_one::<T>(&mut sample, [1, 9, length], [Order::C, order, Order::Sparse]);
        }
    }
    check_one::<T>(&mut sample, [1, 140_000, 1], [Order::C, Order::C, Order::C]);
    check_one::<T>(&mut sample, [1, 40_000, 30], [Order::C, Order::C, Order::C]);
}

macro_rules! types {
    ($($name:ident $type:ty, $seed:literal;)*) => {$(
        #[test]
        fn $name() {
            check_type::<$type>($seed);
            check_vectors::<$type>($seed);
            check_vecdot::<$type>($seed);
            check_stack::<$type>($seed);
        }
    )*};
}
types! {
    of_int8 i8, 1; of_int16 i16, 2; of_int32 i32, 3; of_int64 i64, 4;
    of_uint8 u8, 5; of_uint16 u16, 6; of_uint32 u32, 7; of_uint64 u64, 8;
    of_truth Truth, 9; of_float32 f32, 10; of_float64 f64, 11;
    of_complex64 Complex<f32>, 12; of_complex128 Complex<f64>, 13;
}

fn check_vecdot<T: Case>(seed: u64) {
    let mut sample = Sample::new(seed);
    for [m, k] in [[0, 3], [3, 0], [1, 1], [5, 33], [2, 65_537], [70, 40]] {
        for order in ORDERS {
            let a = Stored::generated([m, k], order, &mut sample, T::element);
            let b = Stored::generated([m, k], Order::C, &mut sample, T::element);
            for n_threads in [1, 2] {
                let mut out = Stored::generated([m, 1], Order::C, &mut sample, T::element);
                vecdot(out.view_mut(), a.view(), b.view(), n_threads).expect("shapes fit");
                for (row, &given) in out.elements().iter().enumerate() {
                    let term = |l| a.view().at(row, l).conjugate().times(b.view().at(row, l));
                    let wanted = (0..k).map(term).fold(T::ZERO, T::plus);
                    assert!(given.near(wanted, k), "{m}x{k} {order:?}: {given:?}, not {wanted:?}");
                }
            }
        }
    }
}

fn check_stack<T: Case>(seed: u64) {
    let mut sample = Sample::new(seed);
    let mut numbers = || -> Vec<T> { (0..6 * 12).map(|_| T::element(&mut sample)).collect() };
    let (a, b, mut out) = (numbers(), numbers(), numbers());
    for n_threads in [1, 2] {
        // SAFETY: six matrices of 3 by 4, or two that are repeated, lie in 72 elements.
        unsafe {
            let extents = [2, 3];
            let a = Stack::new(View::new(&a[..12], 3, 4), &extents, &[36, 12]);
            let b = Stack::new(View::new(&b[..12], 4, 3), &extents, &[0, 12]);
            let first = ViewMut::new(&mut out[..9], 3, 3);
            let mut out = StackMut::new(first, &extents, &[27, 9]);
            matmul_stack(&mut out, a, b, Into::Overwrite, n_threads).expect("shapes fit");
        }
        for position in 0..6 {
            let first = View::new(&a[12 * position..][..12], 3, 4);
            let wanted = triple_loop(first, View::new(&b[position % 3 * 12..][..12], 4, 3), None);
            let near = |(&given, &wanted): (&T, &T)| given.near(wanted, 4);
            assert!(out[9 * position..].iter().zip(&wanted).all(near), "matrix {position}");
        }
    }
}

#[test]
fn what_was_there_is_not_read_when_overwritten() {
    for [m, k, n] in [[2, 2, 2], [1, 5, 1], [17, 1, 17], [40, 40, 40], [70, 1, 1], [3, 0, 3]] {
        let (a, b) = (vec![1.0; m * k], vec![1.0; k * n]);
        let mut out = vec![f64::NAN; m * n];
        let view = ViewMut::new(&mut out, m, n);
        matmul(view, View::new(&a, m, k), View::new(&b, k, n), Into::Overwrite, 2).expect("fits");
        assert_eq!(out, vec![k as f64; m * n]);
    }
}

#[test]
fn nan_and_infinities_reach_their_rows_only() {
    for n in [3, 20, 100] {
        let mut a = vec![1.0_f64; n * n];
        (a[0], a[n + 1]) = (f64::NAN, f64::INFINITY);
        let b = vec![1.0; n * n];
        let mut out = vec![0.0; n * n];
        let view = ViewMut::new(&mut out, n, n);
        matmul(view, View::new(&a, n, n), View::new(&b, n, n), Into::Overwrite, 1).expect("fits");
        assert!(out[..n].iter().all(|x| x.is_nan()));
        assert!(out[n..2 * n].iter().all(|&x| x == f64::INFINITY));
        assert!(out[2 * n..].iter().all(|&x| x == n as f64));
    }
}

#[test]
fn vectors_have_the_same_bits_at_every_level_and_on_any_threads() {
    let mut sample = Sample::new(21);
    for ([m, k], order) in
        [([300, 700], Order::C), ([700, 300], Order::Fortran), ([40, 90_000], Order::Fortran)]
            .into_iter()
            .chain([([9000, 7], Order::C), ([7, 9000], Order::Fortran)])
    {
        let a = Stored::generated([m, k], order, &mut sample, f64::element);
        let x = Stored::generated([k, 1], Order::C, &mut sample, f64::element);
        let mut all = Vec::new();
        for level in Level::all() {
            for n_threads in [1, 2, 3] {
                let mut out = Stored::new([m, 1], Order::C, 0.0);
                let how = How { level, into: Into::Overwrite, n_threads };
                vector::times_vector(out.view_mut(), a.view(), x.view(), how);
                all.push(out.elements());
            }
        }
        assert!(all.iter().all(|bits| *bits == all[0]), "{m}x{k}");
    }
}

#[test]
fn the_same_bits_for_the_same_threads_wherever_the_numbers_lie() {
    let mut sample = Sample::new(22);
    let n = 130;
    let numbers: Vec<f64> = (0..n * n + 8).map(|_| sample.unit()).collect();
    for n_threads in [1, 2] {
        let results: Vec<_> = (0..8)
            .map(|shift| {
                let mut memory = vec![0.0; n * n + 8];
                memory[shift..][..n * n].copy_from_slice(&numbers[..n * n]);
                let a = View::new(&memory[shift..][..n * n], n, n);
                let mut out = vec![0.0; n * n];
                matmul(ViewMut::new(&mut out, n, n), a, a, Into::Overwrite, n_threads)
                    .expect("fits");
                out
            })
            .collect();
        assert!(results.iter().all(|result| *result == results[0]));
    }
}

#[test]
fn what_lies_between_the_elements_is_not_touched() {
    let mut out = Stored::new([20, 20], Order::Sparse, 7.0);
    let ones = vec![1.0; 400];
    let a = View::new(&ones, 20, 20);
    matmul(out.view_mut(), a, a, Into::Overwrite, 2).expect("fits");
    let n_sevens = out.memory().iter().filter(|&&x| x == 7.0).count();
    assert_eq!(n_sevens, out.memory().len() - 400);
}

#[test]
fn refuses_shapes_that_do_not_fit() {
    let (six, mut four) = ([1; 6], [0; 4]);
    let a = View::new(&six, 2, 3);
    let refused = matmul(ViewMut::new(&mut four, 2, 2), a, a, Into::Overwrite, 1);
    assert_eq!(refused.map_err(|error| error.reason()), Err("shapes-differ"));
    let refused = matmul(ViewMut::new(&mut four, 4, 1), a, a.transposed(), Into::Overwrite, 1);
    assert_eq!(refused.map_err(|error| error.reason()), Err("output-shape"));
    let refused = vecdot(ViewMut::new(&mut four, 4, 1), a, a, 1);
    assert_eq!(refused.map_err(|error| error.reason()), Err("output-shape"));
    // SAFETY: one matrix each.
    unsafe {
        let one = Stack::new(View::new(&six[..4], 2, 2), &[1], &[4]);
        let none = Stack::new(View::new(&six[..4], 2, 2), &[], &[]);
        let mut out = StackMut::new(ViewMut::new(&mut four, 2, 2), &[1], &[4]);
        let refused = matmul_stack(&mut out, one, none, Into::Overwrite, 1);
        assert_eq!(refused.map_err(|error| error.reason()), Err("stacks-differ"));
    }
}

#[test]
fn pieces_cover_results_of_every_shape() {
    for (m, n, n_threads) in [(4096, 4096, 2), (100, 10_000, 3), (10_000, 2, 7), (2, 2, 16)] {
        let [down, across] = divide_result(m, n, n_threads);
        assert!((1..=m).contains(&down) && (1..=n).contains(&across), "{down} by {across}");
    }
    assert_eq!(divide_result(4096, 4096, 2), [2, 2]);
    assert_eq!(divide_result(10_000, 100, 2), [2, 1]);
}
