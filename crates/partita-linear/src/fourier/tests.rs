//! Transforms beside the sum that defines them.

use super::*;
use crate::sample::Sample;

/// Element types, and how far their transforms may be off.
trait Case: Real {
    fn to_f64(self) -> f64;
    fn epsilon() -> f64;
}
impl Case for f32 {
    fn to_f64(self) -> f64 {
        self.into()
    }
    fn epsilon() -> f64 {
        f32::EPSILON.into()
    }
}
impl Case for f64 {
    fn to_f64(self) -> f64 {
        self
    }
    fn epsilon() -> f64 {
        f64::EPSILON
    }
}

/// An array with its memory: axes in a random order, some reversed, with gaps.
#[derive(Clone)]
struct Stored<T> {
    memory: Vec<T>,
    start: usize,
    extents: Vec<usize>,
    strides: Vec<isize>,
}

impl<T: Copy> Stored<T> {
    fn new(
        extents: &[usize],
        sample: &mut Sample,
        mut element: impl FnMut(&mut Sample) -> T,
    ) -> Self {
        let ndim = extents.len();
        let mut order: Vec<usize> = (0..ndim).collect();
        if sample.below(2) == 0 {
            (1..ndim).for_each(|axis| order.swap(axis, sample.below(axis + 1)));
        }
        let gap = [1, 1, 2][sample.below(3)];
        let (mut strides, mut size, mut start) = (vec![0; ndim], gap, 0);
        for &axis in order.iter().rev() {
            let span = size * extents[axis].max(1);
            strides[axis] = size.cast_signed();
            if sample.below(4) == 0 {
                start += span - size;
                strides[axis] = -strides[axis];
            }
            size = span;
        }
        let memory = (0..size).map(|_| element(sample)).collect();
        Stored { memory, start, extents: extents.to_vec(), strides }
    }

    fn array(&self) -> Array<'_, T> {
        let data = self.memory.as_ptr().wrapping_add(self.start);
        // SAFETY: `new` made the memory as large as the strides reach.
        unsafe { Array::new(data, &self.extents, &self.strides) }
    }

    fn array_mut(&mut self) -> ArrayMut<'_, T> {
        let data = self.memory.as_mut_ptr().wrapping_add(self.start);
        // SAFETY: as above.
        unsafe { ArrayMut::new(data, &self.extents, &self.strides) }
    }

    fn elements(&self) -> Vec<T> {
        let n: usize = self.extents.iter().product();
        let position = |number: usize| {
            let mut rest = number;
            let axes = self.extents.iter().zip(&self.strides).rev();
            let offset: isize = axes
                .map(|(&extent, &stride)| {
                    let at = (rest % extent).cast_signed() * stride;
                    rest /= extent;
                    at
                })
                .sum();
            self.start.wrapping_add_signed(offset)
        };
        (0..n).map(|number| self.memory[position(number)]).collect()
    }
}

fn complex<T: Real>(sample: &mut Sample) -> Complex<T> {
    Complex::new(T::from_f64_rounded(sample.unit()), T::from_f64_rounded(sample.unit()))
}

/// The sums along one axis of an array in C order, in float64.
fn slow(x: &[Complex<f64>], extents: &[usize], axis: usize, sign: f64) -> Vec<Complex<f64>> {
    let n = extents[axis];
    let inner: usize = extents[axis + 1..].iter().product();
    let angle = |turns: usize| sign * std::f64::consts::TAU * (turns % n) as f64 / n as f64;
    (0..x.len())
        .map(|at| {
            let (outer, k, within) = (at / (n * inner), at / inner % n, at % inner);
            let term = |j: usize| x[(outer * n + j) * inner + within] * Complex::cis(angle(j * k));
            (0..n).map(term).sum()
        })
        .collect()
}

fn slow_along(
    x: &[Complex<f64>],
    extents: &[usize],
    axes: &[usize],
    sign: f64,
) -> Vec<Complex<f64>> {
    axes.iter().fold(x.to_vec(), |x, &axis| slow(&x, extents, axis, sign))
}

fn wide<T: Case>(x: &[Complex<T>]) -> Vec<Complex<f64>> {
    x.iter().map(|z| Complex::new(z.re.to_f64(), z.im.to_f64())).collect()
}

/// How large the error of `given` is, beside the largest element.
fn error_of(given: &[Complex<f64>], wanted: &[Complex<f64>], factor: f64) -> f64 {
    assert_eq!(given.len(), wanted.len());
    let largest = wanted.iter().map(|z| z.norm() * factor).fold(f64::MIN_POSITIVE, f64::max);
    let errors = given.iter().zip(wanted).map(|(z, w)| (z - w * factor).norm());
    errors.fold(0.0, f64::max) / largest
}

const NORMS: [Norm; 3] = [Norm::Backward, Norm::Ortho, Norm::Forward];
const LENGTHS: [usize; 14] = [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64];

fn shape(sample: &mut Sample) -> Vec<usize> {
    let ndim = 1 + sample.below(3);
    (0..ndim).map(|_| LENGTHS[sample.below(if ndim == 3 { 9 } else { 14 })]).collect()
}

fn some_axes(sample: &mut Sample, ndim: usize) -> Vec<usize> {
    (0..=sample.below(ndim)).map(|_| sample.below(ndim)).collect()
}

fn check_complex<T: Case>(sample: &mut Sample, extents: &[usize], axes: &[usize]) {
    let input = Stored::new(extents, sample, complex::<T>);
    for (direction, sign) in [(Direction::Forward, -1.0), (Direction::Backward, 1.0)] {
        let wanted = slow_along(&wide(&input.elements()), extents, axes, sign);
        let n_points: f64 = axes.iter().map(|&axis| extents[axis] as f64).product();
        let norm = NORMS[sample.below(3)];
        let factor = norm.factor(direction, n_points);
        let mut results = Vec::new();
        for n_threads in [1, 2] {
            for in_place in [false, true] {
                let mut out = Stored::new(extents, sample, complex::<T>);
                if in_place {
                    out.clone_from(&input);
                    let outcome =
                        fft_in_place(&mut out.array_mut(), axes, direction, norm, n_threads);
                    outcome.expect("the axes are there");
                } else {
                    let mut target = out.array_mut();
                    let outcome = fft(input.array(), &mut target, axes, direction, norm, n_threads);
                    outcome.expect("the axes are there");
                }
                let error = error_of(&wide(&out.elements()), &wanted, factor);
                assert!(error < 40.0 * T::epsilon(), "{extents:?} {axes:?} {direction:?}: {error}");
                results.push(out.elements());
            }
        }
        assert!(results.iter().all(|r| *r == results[0]), "{extents:?}: threads change bits");
    }
}

fn check_real<T: Case>(sample: &mut Sample, extents: &[usize], axes: &[usize]) {
    let last = axes[axes.len() - 1];
    let norm = NORMS[sample.below(3)];
    let n_points: f64 = axes.iter().map(|&axis| extents[axis] as f64).product();
    let input = Stored::new(extents, sample, |s| T::from_f64_rounded(s.unit()));
    let as_complex: Vec<_> =
        input.elements().iter().map(|&x| Complex::new(x.to_f64(), 0.0)).collect();
    let whole = slow_along(&as_complex, extents, axes, -1.0);
    let mut half_extents = extents.to_vec();
    half_extents[last] = extents[last] / 2 + 1;
    let inner: usize = extents[last + 1..].iter().product();
    let kept = |at: &usize| at / inner % extents[last] < half_extents[last];
    let wanted: Vec<_> = (0..whole.len()).filter(kept).map(|at| whole[at]).collect();
    for n_threads in [1, 2] {
        let mut out = Stored::new(&half_extents, sample, complex::<T>);
        rfft(input.array(), &mut out.array_mut(), axes, norm, n_threads).expect("fits");
        let factor = norm.factor(Direction::Forward, n_points);
        let error = error_of(&wide(&out.elements()), &wanted, factor);
        assert!(error < 40.0 * T::epsilon(), "{extents:?} {axes:?}: {error}");

        let mut back = Stored::new(extents, sample, |s| T::from_f64_rounded(s.unit()));
        irfft(out.array(), &mut back.array_mut(), axes, norm, n_threads).expect("fits");
        let back: Vec<_> = back.elements().iter().map(|&x| Complex::new(x.to_f64(), 0.0)).collect();
        let error = error_of(&back, &as_complex, 1.0);
        assert!(error < 40.0 * T::epsilon(), "{extents:?} {axes:?} and back: {error}");
    }
}

fn check<T: Case>(seed: u64) {
    let mut sample = Sample::new(seed);
    for _ in 0..150 {
        let extents = shape(&mut sample);
        let axes = some_axes(&mut sample, extents.len());
        check_complex::<T>(&mut sample, &extents, &axes);
        let mut once = axes.clone();
        once.sort_unstable();
        once.dedup();
        check_real::<T>(&mut sample, &extents, &once);
    }
    for extents in [[97, 100], [1024, 17], [18, 1009]] {
        check_complex::<T>(&mut sample, &extents, &[0, 1]);
        check_real::<T>(&mut sample, &extents, &[1, 0]);
    }
}

#[test]
fn of_float32() {
    check::<f32>(31);
}

#[test]
fn of_float64() {
    check::<f64>(32);
}

#[test]
fn at_every_level() {
    let mut sample = Sample::new(33);
    for n in LENGTHS {
        let input = Stored::new(&[3, n], &mut sample, complex::<f64>);
        let wanted = slow(&input.elements(), &[3, n], 1, -1.0);
        for level in Level::all() {
            let mut out = Stored::new(&[3, n], &mut sample, complex::<f64>);
            let how = How { direction: Direction::Forward, level, n_threads: 1 };
            along_axes(input.array(), &mut out.array_mut(), &[1], how, 1.0);
            assert!(error_of(&out.elements(), &wanted, 1.0) < 1e-14, "{n} {level:?}");
        }
    }
}

#[test]
fn long_lines_go_there_and_back() {
    let mut sample = Sample::new(34);
    for (extents, axis) in [([20_000, 5], 0), ([40_000, 3], 0), ([2, 1 << 16], 1)] {
        let input = Stored::new(&extents, &mut sample, complex::<f64>);
        let mut there = Stored::new(&extents, &mut sample, complex::<f64>);
        let (forward, backward) = (Direction::Forward, Direction::Backward);
        fft(input.array(), &mut there.array_mut(), &[axis], forward, Norm::Ortho, 2).expect("fits");
        let energy =
            |x: &Stored<Complex<f64>>| x.elements().iter().map(Complex::norm_sqr).sum::<f64>();
        assert!((energy(&there) / energy(&input) - 1.0).abs() < 1e-12);
        fft_in_place(&mut there.array_mut(), &[axis], backward, Norm::Ortho, 2).expect("fits");
        assert!(error_of(&there.elements(), &input.elements(), 1.0) < 1e-14);
    }
}

#[test]
fn imaginary_parts_that_real_lines_lack_are_ignored() {
    for n in [1, 2, 5, 6] {
        let mut half: Vec<_> = (0..n / 2 + 1).map(|i| Complex::new(1.0 + i as f64, 0.5)).collect();
        half[0].im = 0.0;
        if n % 2 == 0 {
            half[n / 2].im = 0.0;
        }
        let back = |half: &[Complex<f64>]| {
            let mut out = vec![0.0; n];
            let (given, wanted) = ([half.len()], [n]);
            // SAFETY: contiguous slices of these lengths.
            unsafe {
                let input = Array::new(half.as_ptr(), &given, &[1]);
                let mut out = ArrayMut::new(out.as_mut_ptr(), &wanted, &[1]);
                irfft(input, &mut out, &[0], Norm::Backward, 1).expect("fits");
            }
            out
        };
        let expected = back(&half);
        half[0].im = 3.0;
        if n % 2 == 0 {
            half[n / 2].im = f64::NAN;
        }
        assert_eq!(back(&half), expected, "{n}");
    }
}

#[test]
fn nan_stays_in_its_line() {
    let mut points = vec![Complex::new(1.0, -0.0); 3 * 40];
    points[45] = Complex::new(f64::NAN, 0.0);
    // SAFETY: three lines of 40 points.
    let mut array = unsafe { ArrayMut::new(points.as_mut_ptr(), &[3, 40], &[40, 1]) };
    fft_in_place(&mut array, &[1], Direction::Forward, Norm::Backward, 1).expect("fits");
    assert!(points[..40].iter().chain(&points[80..]).all(|z| z.is_finite()));
    assert!(points[40..80].iter().all(|z| z.is_nan()));
}

#[test]
fn no_axes_copy_and_no_lines_do_nothing() {
    let mut sample = Sample::new(35);
    let input = Stored::new(&[3, 4], &mut sample, complex::<f32>);
    let mut out = Stored::new(&[3, 4], &mut sample, complex::<f32>);
    fft(input.array(), &mut out.array_mut(), &[], Direction::Forward, Norm::Ortho, 1)
        .expect("fits");
    assert_eq!(out.elements(), input.elements());
    let mut none = Stored::new(&[0, 4], &mut sample, complex::<f32>);
    fft_in_place(&mut none.array_mut(), &[1], Direction::Forward, Norm::Ortho, 2).expect("fits");
}

#[test]
fn refuses_what_cannot_be_transformed() {
    let mut sample = Sample::new(36);
    let input = Stored::new(&[3, 0], &mut sample, complex::<f32>);
    let mut out = Stored::new(&[3, 0], &mut sample, complex::<f32>);
    let mut reason = |axes: &[usize]| {
        let forward = Direction::Forward;
        let refused = fft(input.array(), &mut out.array_mut(), axes, forward, Norm::Ortho, 1);
        refused.map_err(|error| error.reason())
    };
    assert_eq!(reason(&[2]), Err("axis-unknown"));
    assert_eq!(reason(&[1]), Err("no-points"));
    let real = Stored::new(&[3, 4], &mut sample, |s| s.unit());
    let mut half = Stored::new(&[3, 4], &mut sample, complex::<f64>);
    let refused = rfft(real.array(), &mut half.array_mut(), &[1], Norm::Ortho, 1);
    assert_eq!(refused.map_err(|error| error.reason()), Err("output-extents"));
    let refused = rfft(real.array(), &mut half.array_mut(), &[], Norm::Ortho, 1);
    assert_eq!(refused.map_err(|error| error.reason()), Err("no-axes"));
}
