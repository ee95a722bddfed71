//! Factorisations beside what defines them, multiplied out slowly in complex128.

use super::memory::{ORDERS, Order, Stored};
use super::*;
use crate::sample::Sample;
use num_complex::Complex;

type C = Complex<f64>;

/// A slow matrix in C order.
#[derive(Debug, Clone, PartialEq)]
struct Slow {
    shape: [usize; 2],
    elements: Vec<C>,
}

impl Slow {
    fn from_fn([m, n]: [usize; 2], element: impl Fn(usize, usize) -> C) -> Slow {
        let elements = (0..m * n).map(|at| element(at / n, at % n)).collect();
        Slow { shape: [m, n], elements }
    }
    fn at(&self, i: usize, j: usize) -> C {
        self.elements[i * self.shape[1] + j]
    }
    fn times(&self, other: &Slow) -> Slow {
        assert_eq!(self.shape[1], other.shape[0]);
        Slow::from_fn([self.shape[0], other.shape[1]], |i, j| {
            (0..self.shape[1]).map(|k| self.at(i, k) * other.at(k, j)).sum()
        })
    }
    fn adjoint(&self) -> Slow {
        Slow::from_fn([self.shape[1], self.shape[0]], |i, j| self.at(j, i).conj())
    }
    fn unit(n: usize) -> Slow {
        Slow::from_fn([n, n], |i, j| C::new(f64::from(u8::from(i == j)), 0.0))
    }
    fn largest(&self) -> f64 {
        self.elements.iter().map(|z| z.norm()).fold(0.0, f64::max)
    }
    fn off(&self, other: &Slow) -> f64 {
        assert_eq!(self.shape, other.shape);
        let pairs = self.elements.iter().zip(&other.elements);
        pairs
            .map(|(x, y)| (x - y).norm())
            .fold(0.0, |worst, x| if x > worst || x.is_nan() { x } else { worst })
    }
}

/// Types of the tests.
trait Case: Field {
    const EPSILON: f64;
    fn element(sample: &mut Sample) -> Self;
    fn slow(self) -> C;
    /// The square root of -1, where the type has it.
    fn imaginary_unit() -> Option<Self>;
}

macro_rules! cases {
    ($($type:ty)*) => {$(
        impl Case for $type {
            const EPSILON: f64 = <$type>::EPSILON as f64;
            fn element(sample: &mut Sample) -> $type {
                sample.unit() as $type
            }
            fn slow(self) -> C {
                C::new(self.into(), 0.0)
            }
            fn imaginary_unit() -> Option<$type> {
                None
            }
        }
        impl Case for Complex<$type> {
            const EPSILON: f64 = <$type>::EPSILON as f64;
            fn element(sample: &mut Sample) -> Self {
                Complex::new(sample.unit() as $type, sample.unit() as $type)
            }
            fn slow(self) -> C {
                C::new(self.re.into(), self.im.into())
            }
            fn imaginary_unit() -> Option<Self> {
                Some(Complex::new(0.0, 1.0))
            }
        }
    )*};
}
cases!(f32 f64);

fn slow<T: Case>(a: View<'_, T>) -> Slow {
    Slow::from_fn(a.shape(), |i, j| a.at(i, j).slow())
}

fn order(sample: &mut Sample) -> Order {
    ORDERS[sample.below(ORDERS.len())]
}

fn random<T: Case>(sample: &mut Sample, shape: [usize; 2]) -> Stored<T> {
    let order = order(sample);
    Stored::generated(shape, order, sample, T::element)
}

fn blank<T: Case>(sample: &mut Sample, shape: [usize; 2]) -> Stored<T> {
    random(sample, shape)
}

/// What may be lost with matrices of this size.
fn bound<T: Case>(shape: [usize; 2]) -> f64 {
    30.0 * (shape[0].max(shape[1]) + 3) as f64 * T::EPSILON
}

const SIZES: [usize; 11] = [0, 1, 2, 3, 5, 8, 16, 17, 33, 64, 130];

fn shapes(sample: &mut Sample) -> Vec<[usize; 2]> {
    let mut shapes: Vec<_> = SIZES.iter().map(|&n| [n, n]).collect();
    shapes.extend((0..10).map(|_| [0, 0].map(|_| SIZES[sample.below(10)])));
    shapes.extend([[200, 7], [7, 200], [1, 40], [40, 1]]);
    shapes
}

fn check_cholesky<T: Case>(sample: &mut Sample, n: usize, n_threads: usize) {
    let g = slow(random::<T>(sample, [n, n]).view());
    let mut definite = g.times(&g.adjoint());
    (0..n).for_each(|i| definite.elements[i * n + i] += 1.0);
    for triangle in [Triangle::Lower, Triangle::Upper] {
        let mut a = blank::<T>(sample, [n, n]);
        // The other half is NaN: it must not be read.
        a.view_mut().fill_with(|i, j| {
            let read = if triangle == Triangle::Lower { i >= j } else { i <= j };
            if read {
                narrow(definite.at(i, j))
            } else {
                T::from_part(<T::Real as Part>::nearest(f64::NAN))
            }
        });
        let mut out = blank::<T>(sample, [n, n]);
        cholesky(out.view_mut(), a.view(), triangle, n_threads).expect("definite");
        let factor = slow(out.view());
        let product = match triangle {
            Triangle::Lower => factor.times(&factor.adjoint()),
            Triangle::Upper => factor.adjoint().times(&factor),
        };
        let scale = 1.0 + definite.largest();
        assert!(product.off(&definite) < bound::<T>([n, n]) * scale, "{n} {triangle:?}");
        for i in 0..n {
            for j in 0..n {
                let zero = if triangle == Triangle::Lower { i < j } else { i > j };
                assert!(!zero || factor.at(i, j) == C::new(0.0, 0.0));
            }
        }
        // A minus on the diagonal is found at its minor.
        if n > 0 {
            let bad = sample.below(n);
            let mut broken = Stored::new([n, n], Order::C, T::ZERO);
            broken.view_mut().fill_with(|i, j| {
                if i != j {
                    T::ZERO
                } else if i == bad {
                    -T::ONE
                } else {
                    T::ONE
                }
            });
            let refused = cholesky(out.view_mut(), broken.view(), triangle, n_threads);
            assert_eq!(refused, Err(MatrixError::NotPositiveDefinite { minor: bad + 1 }));
        }
    }
}

fn narrow<T: Case>(z: C) -> T {
    let re = T::from_part(<T::Real as Part>::nearest(z.re));
    match T::imaginary_unit() {
        Some(i) => re + i * T::from_part(<T::Real as Part>::nearest(z.im)),
        None => re,
    }
}

fn check_lu<T: Case>(sample: &mut Sample, shape: [usize; 2], n_threads: usize) {
    let [m, n] = shape;
    let size = m.min(n);
    for singular in [false, true] {
        let mut a = random::<T>(sample, shape);
        if singular && size > 0 {
            // A column of zeros.
            let column = sample.below(n);
            (0..m).for_each(|i| a.view_mut().put(i, column, T::ZERO));
        }
        let lu = Lu::new(a.view(), n_threads);
        let (mut l, mut u) = (blank::<T>(sample, [m, size]), blank::<T>(sample, [size, n]));
        lu.lower(&mut l.view_mut()).expect("fits");
        lu.upper(&mut u.view_mut()).expect("fits");
        let mut packed = blank::<T>(sample, shape);
        lu.packed(&mut packed.view_mut()).expect("fits");
        let product = slow(l.view()).times(&slow(u.view()));
        let permuted = Slow::from_fn(shape, |i, j| a.view().at(lu.permutation()[i], j).slow());
        assert!(product.off(&permuted) < bound::<T>(shape), "{shape:?} {singular}");
        assert!(slow(l.view()).largest() <= 1.5, "pivots are the largest");
        for i in 0..m {
            for j in 0..n {
                let expected = if i > j { l.view().at(i, j) } else { u.view().at(i, j) };
                assert_eq!(packed.view().at(i, j), expected);
            }
        }
        let mut seen = lu.permutation().to_vec();
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..m));
        if m == n {
            check_solve(sample, &a, &lu, n_threads);
            check_determinant(&u, &lu);
        }
    }
}

fn check_solve<T: Case>(sample: &mut Sample, a: &Stored<T>, lu: &Lu<T>, n_threads: usize) {
    let n = a.view().shape()[0];
    for n_columns in [0, 1, 3] {
        let mut b = random::<T>(sample, [n, n_columns]);
        let before = slow(b.view());
        let outcome = solve(a.view(), &mut b.view_mut(), n_threads);
        let mut inverted = blank::<T>(sample, [n, n]);
        let inverse = inverse(&mut inverted.view_mut(), a.view(), n_threads);
        match lu.zero_pivot() {
            Some(pivot) => {
                assert_eq!(outcome, Err(MatrixError::Singular { pivot }));
                assert_eq!(inverse, Err(MatrixError::Singular { pivot }));
                assert_eq!(slow(b.view()), before, "nothing is written");
            }
            None => {
                outcome.and(inverse).expect("regular");
                let (a, x) = (slow(a.view()), slow(b.view()));
                let scale = 1.0 + x.largest();
                assert!(a.times(&x).off(&before) < bound::<T>([n, n]) * scale, "{n}");
                let inverted = slow(inverted.view());
                let scale = 1.0 + inverted.largest();
                assert!(a.times(&inverted).off(&Slow::unit(n)) < bound::<T>([n, n]) * scale);
            }
        }
    }
}

/// The determinant is that of the triangle and of the permutation, whose sign is counted here.
fn check_determinant<T: Case>(u: &Stored<T>, lu: &Lu<T>) {
    let n = lu.permutation().len();
    let inversions = (0..n)
        .flat_map(|i| (0..i).map(move |j| (i, j)))
        .filter(|&(i, j)| lu.permutation()[j] > lu.permutation()[i])
        .count();
    let sign = if inversions % 2 == 0 { 1.0 } else { -1.0 };
    let product = (0..n).fold(C::new(sign, 0.0), |product, i| product * u.view().at(i, i).slow());
    // Larger ones do not fit float32.
    if product.norm() < 1e30 {
        let given = lu.determinant().expect("square").slow();
        assert!((given - product).norm() <= 1e-3 * product.norm(), "{given} {product}");
    }
    let (unit, log) = lu.sign_and_log().expect("square");
    assert!((unit.slow() * log.wide().exp() - product).norm() <= 1e-3 * product.norm());
}

fn check_triangular<T: Case>(sample: &mut Sample, n: usize, n_threads: usize) {
    for triangle in [Triangle::Lower, Triangle::Upper] {
        for diagonal in [Diagonal::Given, Diagonal::Ones] {
            for side in [Side::Left, Side::Right] {
                let mut matrix = random::<T>(sample, [n, n]);
                let weight = T::from_part(<T::Real as Part>::nearest(2.0 + n as f64));
                for i in 0..n {
                    let strong = matrix.view().at(i, i) + weight;
                    matrix.view_mut().put(i, i, strong);
                }
                let scale = if diagonal == Diagonal::Ones { 1.0 / (1 + n) as f64 } else { 1.0 };
                if diagonal == Diagonal::Ones {
                    let elements: Vec<T> = matrix.elements();
                    let factor = T::from_part(<T::Real as Part>::nearest(scale));
                    matrix.view_mut().fill_with(|i, j| elements[i * n + j] * factor);
                }
                let full = matrix.view();
                let dense = Slow::from_fn([n, n], |i, j| {
                    let kept = if triangle == Triangle::Lower { i > j } else { i < j };
                    match (i == j, diagonal) {
                        (true, Diagonal::Ones) => C::new(1.0, 0.0),
                        (true, Diagonal::Given) => full.at(i, j).slow(),
                        _ if kept => full.at(i, j).slow(),
                        _ => C::new(0.0, 0.0),
                    }
                });
                let shape = if side == Side::Left { [n, 3] } else { [3, n] };
                let mut b = random::<T>(sample, shape);
                let before = slow(b.view());
                let t = Triangular { matrix: matrix.view(), triangle, diagonal };
                solve_triangular(t, side, &mut b.view_mut(), n_threads).expect("regular");
                let x = slow(b.view());
                let product = if side == Side::Left { dense.times(&x) } else { x.times(&dense) };
                assert!(product.off(&before) < bound::<T>([n, n]), "{n} {triangle:?} {side:?}");
                if n > 0 && diagonal == Diagonal::Given {
                    let pivot = sample.below(n);
                    matrix.view_mut().put(pivot, pivot, T::ZERO);
                    let t = Triangular { matrix: matrix.view(), triangle, diagonal };
                    let refused = solve_triangular(t, side, &mut b.view_mut(), n_threads);
                    assert_eq!(refused, Err(MatrixError::Singular { pivot }));
                }
            }
        }
    }
}

fn check_qr<T: Case>(sample: &mut Sample, [m, n]: [usize; 2], n_threads: usize) {
    let a = random::<T>(sample, [m, n]);
    let qr = Qr::new(a.view(), n_threads);
    let size = m.min(n);
    let limit = bound::<T>([m, n]);
    for columns in [size, m] {
        let (mut q, mut r) = (blank::<T>(sample, [m, columns]), blank::<T>(sample, [columns, n]));
        qr.orthonormal(&mut q.view_mut()).expect("fits");
        qr.upper(&mut r.view_mut()).expect("fits");
        let (q, r) = (slow(q.view()), slow(r.view()));
        assert!(q.times(&r).off(&slow(a.view())) < limit, "{m}x{n}");
        assert!(q.adjoint().times(&q).off(&Slow::unit(columns)) < limit, "{m}x{n}");
        for i in 0..columns {
            assert!((0..i.min(n)).all(|j| r.at(i, j) == C::new(0.0, 0.0)));
            assert!(i >= size || r.at(i, i).im == 0.0, "the diagonal is real");
        }
        // The whole Q, applied and taken back.
        if columns == m {
            let mut b = random::<T>(sample, [m, 2]);
            let before = slow(b.view());
            qr.apply(&mut b.view_mut()).expect("fits");
            assert!(slow(b.view()).off(&q.times(&before)) < limit);
            qr.apply_adjoint(&mut b.view_mut()).expect("fits");
            assert!(slow(b.view()).off(&before) < limit);
        }
    }
}

fn check_svd<T: Case>(sample: &mut Sample, [m, n]: [usize; 2], n_threads: usize) {
    let a = random::<T>(sample, [m, n]);
    let dense = slow(a.view());
    let size = m.min(n);
    let limit = bound::<T>([m, n]) * (1.0 + dense.largest());
    let alone = Svd::new(a.view(), Vectors::None, n_threads).expect("finite");
    for (vectors, columns) in [(Vectors::Reduced, [size, size]), (Vectors::Full, [m, n])] {
        let svd = Svd::new(a.view(), vectors, n_threads).expect("finite");
        let (mut u, mut v) =
            (blank::<T>(sample, [m, columns[0]]), blank::<T>(sample, [columns[1], n]));
        svd.left(&mut u.view_mut()).expect("fits");
        svd.right_adjoint(&mut v.view_mut()).expect("fits");
        let (u, v) = (slow(u.view()), slow(v.view()));
        let values: Vec<f64> = svd.values().iter().map(|s| s.wide()).collect();
        assert!(values.is_sorted_by(|x, y| x >= y) && values.iter().all(|&s| s >= 0.0));
        let near = |(x, y): (&T::Real, &T::Real)| (x.wide() - y.wide()).abs() < limit;
        assert!(alone.values().iter().zip(svd.values()).all(near));
        let s = Slow::from_fn(columns, |i, j| {
            C::new(if i == j && i < size { values[i] } else { 0.0 }, 0.0)
        });
        assert!(u.times(&s).times(&v).off(&dense) < limit, "{m}x{n} {vectors:?}");
        assert!(u.adjoint().times(&u).off(&Slow::unit(columns[0])) < limit);
        assert!(v.times(&v.adjoint()).off(&Slow::unit(columns[1])) < limit);
    }
}

/// A pseudo-inverse is what Penrose's four equations say.
fn check_pinv<T: Case>(sample: &mut Sample, [m, n]: [usize; 2], n_threads: usize) {
    // Of rank two at most.
    let (x, y) =
        (slow(random::<T>(sample, [m, 2]).view()), slow(random::<T>(sample, [2, n]).view()));
    let product = x.times(&y);
    let mut a = blank::<T>(sample, [m, n]);
    a.view_mut().fill_with(|i, j| narrow(product.at(i, j)));
    let a_slow = slow(a.view());
    let mut out = blank::<T>(sample, [n, m]);
    let rcond = <T::Real as Part>::nearest(1e3 * T::EPSILON);
    pinv(out.view_mut(), a.view(), rcond, n_threads).expect("finite");
    let p = slow(out.view());
    let limit = bound::<T>([m, n]) * (1.0 + p.largest()).powi(2) * 20.0;
    assert!(a_slow.times(&p).times(&a_slow).off(&a_slow) < limit, "{m}x{n}");
    assert!(p.times(&a_slow).times(&p).off(&p) < limit);
    for hermitian in [a_slow.times(&p), p.times(&a_slow)] {
        assert!(hermitian.off(&hermitian.adjoint()) < limit);
    }
    let rank = matrix_rank(a.view(), Some(rcond), n_threads).expect("finite");
    assert_eq!(rank, m.min(n).min(2), "{m}x{n}");
    let full = random::<T>(sample, [m, n]);
    assert_eq!(matrix_rank(full.view(), None, n_threads), Ok(m.min(n)));
}

fn check_lstsq<T: Case>(sample: &mut Sample, [m, n]: [usize; 2], n_threads: usize) {
    let (a, b) = (random::<T>(sample, [m, n]), random::<T>(sample, [m, 2]));
    let mut x = blank::<T>(sample, [n, 2]);
    let rcond = <T::Real as Part>::nearest(T::EPSILON);
    let outcome = lstsq(x.view_mut(), a.view(), b.view(), rcond, n_threads).expect("finite");
    let (a, b, x) = (slow(a.view()), slow(b.view()), slow(x.view()));
    let fit = a.times(&x);
    let rest = Slow::from_fn([m, 2], |i, j| b.at(i, j) - fit.at(i, j));
    // What is left stands at right angles to all columns.
    let right_angles = a.adjoint().times(&rest);
    let limit = bound::<T>([m, n]) * (1.0 + x.largest()).powi(2) * 10.0;
    assert!(right_angles.largest() < limit, "{m}x{n} {}", right_angles.largest());
    assert_eq!(outcome.rank, m.min(n));
    assert_eq!(outcome.values.len(), m.min(n));
    assert_eq!(outcome.residuals.len(), if m > n { 2 } else { 0 });
    for (j, residual) in outcome.residuals.iter().enumerate() {
        let wanted: f64 = (0..m).map(|i| rest.at(i, j).norm_sqr()).sum();
        assert!((residual.wide() - wanted).abs() < limit * (1.0 + wanted), "{m}x{n}");
    }
}

fn check_eigh<T: Case>(sample: &mut Sample, n: usize, n_threads: usize) {
    let g = slow(random::<T>(sample, [n, n]).view());
    let dense =
        Slow::from_fn([n, n], |i, j| narrow::<T>((g.at(i, j) + g.at(j, i).conj()) * 0.5).slow());
    for triangle in [Triangle::Lower, Triangle::Upper] {
        let mut a = blank::<T>(sample, [n, n]);
        a.view_mut().fill_with(|i, j| {
            let read = if triangle == Triangle::Lower { i >= j } else { i <= j };
            if read {
                narrow(dense.at(i, j))
            } else {
                T::from_part(<T::Real as Part>::nearest(f64::NAN))
            }
        });
        let mut vectors = blank::<T>(sample, [n, n]);
        let alone = eigh(a.view(), triangle, None, n_threads).expect("finite");
        let values = eigh(a.view(), triangle, Some(vectors.view_mut()), n_threads).expect("finite");
        let limit = bound::<T>([n, n]) * (1.0 + dense.largest());
        assert!(values.is_sorted());
        assert!(alone.iter().zip(&values).all(|(x, y)| (x.wide() - y.wide()).abs() < limit));
        let v = slow(vectors.view());
        let scaled = Slow::from_fn([n, n], |i, j| v.at(i, j) * values[j].wide());
        assert!(dense.times(&v).off(&scaled) < limit, "{n} {triangle:?}");
        assert!(v.adjoint().times(&v).off(&Slow::unit(n)) < limit);
    }
}

fn check_eig<T: Case>(sample: &mut Sample, n: usize, n_threads: usize)
where
    Complex<T::Real>: Case,
{
    let a = random::<T>(sample, [n, n]);
    let dense = slow(a.view());
    let mut vectors = blank::<Complex<T::Real>>(sample, [n, n]);
    let values = eig(a.view(), Some(vectors.view_mut()), n_threads).expect("finite");
    let alone = eig(a.view(), None, n_threads).expect("finite");
    let values: Vec<C> = values.iter().map(|z| C::new(z.re.wide(), z.im.wide())).collect();
    let v = slow(vectors.view());
    let limit = 10.0 * bound::<T>([n, n]) * (1.0 + dense.largest());
    let scaled = Slow::from_fn([n, n], |i, j| v.at(i, j) * values[j]);
    assert!(dense.times(&v).off(&scaled) < limit, "{n}: {}", dense.times(&v).off(&scaled));
    let trace: C = (0..n).map(|i| dense.at(i, i)).sum();
    assert!((values.iter().sum::<C>() - trace).norm() < limit);
    for value in alone.iter().map(|z| C::new(z.re.wide(), z.im.wide())) {
        assert!(values.iter().any(|other| (other - value).norm() < 30.0 * limit), "{n}: {value}");
    }
    for j in 0..n {
        let column: Vec<C> = (0..n).map(|i| v.at(i, j)).collect();
        let length: f64 = column.iter().map(|z| z.norm_sqr()).sum();
        assert!((length - 1.0).abs() < limit);
        let largest = column.iter().map(|z| z.norm()).fold(0.0, f64::max);
        let real = |z: &C| z.im == 0.0 && z.norm() > largest - limit;
        assert!(column.iter().any(real), "the largest element, or one as large, is real");
        if T::imaginary_unit().is_none() && values[j].im < 0.0 {
            assert_eq!(values[j - 1], values[j].conj(), "pairs, the positive one first");
        }
    }
}

fn check_norms<T: Case>(sample: &mut Sample, shape: [usize; 2], n_threads: usize) {
    let a = random::<T>(sample, shape);
    let dense = slow(a.view());
    let [m, n] = shape;
    let rows: Vec<f64> = (0..m).map(|i| (0..n).map(|j| dense.at(i, j).norm()).sum()).collect();
    let columns: Vec<f64> = (0..n).map(|j| (0..m).map(|i| dense.at(i, j).norm()).sum()).collect();
    let values: Vec<f64> = match Svd::new(a.view(), Vectors::None, n_threads) {
        Ok(svd) => svd.values().iter().map(|s| s.wide()).collect(),
        Err(error) => panic!("{error}"),
    };
    let most = |x: &[f64]| Some(x.iter().copied().fold(0.0, f64::max));
    let least = |x: &[f64]| x.iter().copied().reduce(f64::min);
    let square: f64 = dense.elements.iter().map(|z| z.norm_sqr()).sum();
    for (which, wanted) in [
        (Norm::Frobenius, Some(square.sqrt())),
        (Norm::Nuclear, Some(values.iter().sum())),
        (Norm::One, most(&columns)),
        (Norm::MinusOne, least(&columns)),
        (Norm::Two, most(&values)),
        (Norm::MinusTwo, least(&values)),
        (Norm::Infinity, most(&rows)),
        (Norm::MinusInfinity, least(&rows)),
    ] {
        match (norm(a.view(), which, n_threads), wanted) {
            (Ok(given), Some(wanted)) => {
                assert!((given.wide() - wanted).abs() <= bound::<T>(shape) * wanted, "{which:?}");
            }
            (Err(error), None) => assert_eq!(error.reason(), "no-elements"),
            (given, wanted) => panic!("{shape:?} {which:?}: {given:?}, not {wanted:?}"),
        }
    }
}

fn of_squares(seed: u64, check: impl Fn(&mut Sample, usize, usize)) {
    let mut sample = Sample::new(seed);
    for n_threads in [1, 2] {
        SIZES.iter().for_each(|&n| check(&mut sample, n, n_threads));
    }
}

fn of_shapes(seed: u64, check: impl Fn(&mut Sample, [usize; 2], usize)) {
    let mut sample = Sample::new(seed);
    for n_threads in [1, 2] {
        for shape in shapes(&mut sample) {
            check(&mut sample, shape, n_threads);
        }
    }
}

fn of_equations(seed: u64, check: impl Fn(&mut Sample, [usize; 2], usize)) {
    let mut sample = Sample::new(seed);
    for shape in [[5, 2], [40, 7], [200, 3], [3, 8], [1, 1], [0, 3], [3, 0]] {
        check(&mut sample, shape, 2);
    }
}

/// Every check for one type.
macro_rules! tests_of {
    ($($module:ident $type:ty, $seed:literal;)*) => {$(
        mod $module {
            use super::*;

            #[test]
            fn cholesky_factors() {
                of_squares($seed, check_cholesky::<$type>);
            }
            #[test]
            fn triangles() {
                of_squares($seed, check_triangular::<$type>);
            }
            #[test]
            fn self_adjoint_eigenvalues() {
                of_squares($seed, check_eigh::<$type>);
            }
            #[test]
            fn general_eigenvalues() {
                of_squares($seed, check_eig::<$type>);
            }
            #[test]
            fn lu_factors() {
                of_shapes($seed, check_lu::<$type>);
            }
            #[test]
            fn qr_factors() {
                of_shapes($seed, check_qr::<$type>);
            }
            #[test]
            fn singular_values() {
                of_shapes($seed, check_svd::<$type>);
            }
            #[test]
            fn pseudo_inverses() {
                of_shapes($seed, check_pinv::<$type>);
            }
            #[test]
            fn norms() {
                of_shapes($seed, check_norms::<$type>);
            }
            #[test]
            fn least_squares() {
                of_equations($seed, check_lstsq::<$type>);
            }
        }
    )*};
}
tests_of! {
    float32 f32, 41;
    float64 f64, 42;
    complex64 Complex<f32>, 43;
    complex128 Complex<f64>, 44;
}

#[test]
fn the_same_bits_again_wherever_the_matrix_lies() {
    let mut sample = Sample::new(45);
    let n = 150;
    let numbers: Vec<f64> = (0..n * n).map(|_| sample.unit()).collect();
    for n_threads in [1, 2] {
        let results: Vec<_> = ORDERS
            .iter()
            .map(|&order| {
                let mut a = Stored::new([n, n], order, 0.0);
                a.view_mut().fill_with(|i, j| numbers[i * n + j]);
                let mut r = vec![0.0; n * n];
                Qr::new(a.view(), n_threads).upper(&mut ViewMut::new(&mut r, n, n)).expect("fits");
                let mut x: Vec<f64> = numbers[..n].to_vec();
                solve(a.view(), &mut ViewMut::new(&mut x, n, 1), n_threads).expect("regular");
                let s =
                    Svd::new(a.view(), Vectors::None, n_threads).expect("finite").values().to_vec();
                let w = eigh(a.view(), Triangle::Lower, None, n_threads).expect("finite");
                let e = eig(a.view(), None, n_threads).expect("finite");
                (r, x, s, w, e)
            })
            .collect();
        assert!(results.iter().all(|result| *result == results[0]), "{n_threads} threads");
    }
}

#[test]
fn refuses_what_is_not_finite_where_numpy_does() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let a = [1.0, 2.0, bad, 4.0];
        let a = View::new(&a, 2, 2);
        let reason = |outcome: Result<()>| outcome.map_err(|error| error.reason());
        let refused = Err("not-finite");
        assert_eq!(reason(Svd::new(a, Vectors::None, 1).map(|_| ())), refused);
        assert_eq!(reason(eigh(a, Triangle::Lower, None, 1).map(|_| ())), refused);
        assert_eq!(reason(eig(a, None, 1).map(|_| ())), refused);
        assert_eq!(reason(matrix_rank(a, None, 1).map(|_| ())), refused);
        assert_eq!(reason(norm(a, Norm::Two, 1).map(|_| ())), refused);
    }
    let nan = [1.0, f64::NAN, 2.0, 3.0];
    let nan = View::new(&nan, 2, 2);
    // What NumPy answers with NaN.
    assert!(Lu::new(nan, 1).determinant().expect("square").is_nan());
    for which in [Norm::Frobenius, Norm::One, Norm::MinusOne, Norm::Infinity, Norm::MinusInfinity] {
        assert!(norm(nan, which, 1).expect("a norm").is_nan(), "{which:?}");
    }
    let mut out = [0.0; 4];
    let refused = cholesky(ViewMut::new(&mut out, 2, 2), nan.transposed(), Triangle::Lower, 1);
    assert_eq!(refused.map_err(|error| error.reason()), Err("not-positive-definite"));
}

#[test]
fn refuses_shapes() {
    let six = [1.0; 6];
    let wide = View::new(&six, 2, 3);
    let mut four = [0.0; 4];
    let mut out = ViewMut::new(&mut four, 2, 2);
    let reasons = [
        cholesky(out.lend(), wide, Triangle::Lower, 1),
        solve(wide, &mut out, 1),
        inverse(&mut out, wide, 1),
        Lu::new(wide, 1).determinant().map(|_| ()),
        Lu::new(wide, 1).sign_and_log().map(|_| ()),
        eigh(wide, Triangle::Lower, None, 1).map(|_| ()),
        eig(wide, None, 1).map(|_| ()),
        matrix_power(&mut out, wide, 2, 1),
    ]
    .map(|outcome| outcome.map_err(|error| error.reason()));
    assert_eq!(reasons, [Err("not-square"); 8]);
    let square = View::new(&six[..1], 1, 1);
    let reasons = [
        cholesky(out.lend(), square, Triangle::Lower, 1),
        inverse(&mut out, square, 1),
        Qr::new(square, 1).upper(&mut out),
        Qr::new(square, 1).orthonormal(&mut out),
        pinv(out.lend(), square, 0.0, 1),
        matrix_power(&mut out, square, 2, 1),
    ]
    .map(|outcome| outcome.map_err(|error| error.reason()));
    assert_eq!(reasons, [Err("output-shape"); 6]);
    let reasons = [
        solve(square, &mut out, 1),
        Qr::new(square, 1).apply(&mut out),
        Qr::new(square, 1).apply_adjoint(&mut out),
        lstsq(out.lend(), square, wide, 0.0, 1).map(|_| ()),
    ]
    .map(|outcome| outcome.map_err(|error| error.reason()));
    assert_eq!(reasons, [Err("shapes-differ"); 4]);
}

#[test]
fn signs_of_real_qr_are_lapacks() {
    // numpy.linalg.qr of [[1, 2], [3, 4]] and of its negative.
    for (factor, wanted) in [
        (1.0, [-3.162_277_66, -4.427_188_72, -0.632_455_53]),
        (-1.0, [3.162_277_66, 4.427_188_72, 0.632_455_53]),
    ] {
        let a = [1.0, 2.0, 3.0, 4.0].map(|x| factor * x);
        let mut r = [0.0_f64; 4];
        Qr::new(View::new(&a, 2, 2), 1).upper(&mut ViewMut::new(&mut r, 2, 2)).expect("fits");
        for (given, wanted) in [r[0], r[1], r[3]].into_iter().zip(wanted) {
            assert!((given - wanted).abs() < 1e-8, "{r:?}");
        }
    }
}

#[test]
fn powers_of_integers_wrap_and_power_zero_is_the_unit() {
    let a = [1_i8, 1, 1, 0];
    let mut out = [9_i8; 4];
    matrix_power(&mut ViewMut::new(&mut out, 2, 2), View::new(&a, 2, 2), 0, 1).expect("square");
    assert_eq!(out, [1, 0, 0, 1]);
    let mut slow = [1_i8, 0, 0, 1];
    for exponent in 1..40 {
        let [p, q, r, s] = slow;
        slow = [p.wrapping_add(q), p, r.wrapping_add(s), r];
        matrix_power(&mut ViewMut::new(&mut out, 2, 2), View::new(&a, 2, 2), exponent, 1)
            .expect("square");
        assert_eq!(out, slow, "{exponent}");
    }
}

#[test]
fn stacks_are_solved_matrix_by_matrix() {
    let mut sample = Sample::new(46);
    let n_matrices = 20;
    let a: Vec<f64> = (0..n_matrices * 9).map(|_| sample.unit()).collect();
    let b: Vec<f64> = (0..n_matrices * 6).map(|_| sample.unit()).collect();
    for n_threads in [1, 2] {
        let mut x = b.clone();
        // SAFETY: twenty matrices lie behind each other.
        let outcome = unsafe {
            let a = Stack::new(View::new(&a[..9], 3, 3), &[4, 5], &[45, 9]);
            let x = StackMut::new(ViewMut::new(&mut x[..6], 3, 2), &[4, 5], &[30, 6]);
            solve_stack(a, &x, n_threads)
        };
        outcome.expect("regular");
        for at in 0..n_matrices {
            let mut alone = b[6 * at..][..6].to_vec();
            let a = View::new(&a[9 * at..][..9], 3, 3);
            solve(a, &mut ViewMut::new(&mut alone, 3, 2), 1).expect("regular");
            assert_eq!(alone, x[6 * at..][..6], "matrix {at}");
        }
    }
    let zeros = vec![0.0; 9];
    let mut x = b.clone();
    // SAFETY: one matrix, repeated.
    let refused = unsafe {
        let zeros = Stack::new(View::new(&zeros, 3, 3), &[4, 5], &[0, 0]);
        let x = StackMut::new(ViewMut::new(&mut x[..6], 3, 2), &[4, 5], &[30, 6]);
        solve_stack(zeros, &x, 2)
    };
    assert_eq!(refused, Err(MatrixError::Singular { pivot: 0 }));
}

#[test]
fn numbers_of_any_size_are_factorised() {
    for scale in [1e-300, 1e-160, 1.0, 1e160, 1e300] {
        let a = [4.0 * scale, scale, scale, 3.0 * scale];
        let a = View::new(&a, 2, 2);
        let near = |x: f64, y: f64| (x / scale - y).abs() < 1e-13;
        let values = eigh(a, Triangle::Lower, None, 1).expect("converges");
        assert!(near(values[0] + values[1], 7.0), "{values:?}");
        let singular = Svd::new(a, Vectors::Reduced, 1).expect("converges");
        assert!(near(singular.values()[0], values[1] / scale), "{singular:?}");
        let any = eig(a, None, 1).expect("converges");
        assert!(near(any[0].re + any[1].re, 7.0), "{any:?}");
    }
}

#[test]
fn imaginary_parts_of_the_diagonal_are_not_read() {
    let a = [Complex::new(4.0, 3.0)];
    let mut out = [Complex::new(0.0, 0.0)];
    let a = View::new(&a, 1, 1);
    cholesky(ViewMut::new(&mut out, 1, 1), a, Triangle::Lower, 1).expect("positive");
    assert_eq!(out, [Complex::new(2.0, 0.0)]);
    assert_eq!(eigh(a, Triangle::Lower, None, 1).expect("finite"), [4.0]);
}
