//! One pass: every line along one axis, from source to target.

use super::lines::{Copies, Lines, Panel};
use super::plans::{Direction, Kind, Plan, Real};
use num_complex::Complex;
use partita_kernel::math::Level;
use partita_kernel::room::vec_of;
use partita_kernel::threads;
use rustfft::Fft;

/// Points that are worth another thread.
const WORTH: usize = 1 << 13;

/// What a pass has to do, beside the plan.
pub struct Pass<'a, T> {
    pub lines: &'a Lines,
    pub factor: T,
    pub n_threads: usize,
}

impl<T: Sync> Pass<'_, T> {
    /// Calls `work` with panels of its own for every piece of the work; pieces run on threads.
    fn divide(&self, work: impl Fn(&mut dyn Iterator<Item = Panel>) + Sync) {
        let n_panels = self.lines.n_panels();
        let n_points = n_panels * self.lines.width * self.lines.n_points[0];
        let n_threads = self.n_threads.clamp(1, n_points / WORTH + 1);
        // Each piece allocates; several per thread, so that one held up does not hold up others.
        let n_pieces = if n_threads == 1 { 1 } else { n_panels.min(8 * n_threads) };
        threads::divide(n_threads, n_pieces, &|piece| {
            let bound = |piece: usize| piece * n_panels / n_pieces;
            let panels = bound(piece)..bound(piece + 1);
            work(&mut panels.map(|number| self.lines.panel(number)));
        });
    }
}

/// Pointers that threads share; they use different lines behind them.
struct Ends<A, B>(*const A, *mut B);
// SAFETY: see above.
unsafe impl<A: Sync, B: Send> Sync for Ends<A, B> {}
impl<A, B> Ends<A, B> {
    fn source(&self, panel: Panel) -> *const A {
        self.0.wrapping_offset(panel.source)
    }
    fn target(&self, panel: Panel) -> *mut B {
        self.1.wrapping_offset(panel.target)
    }
}

/// Transforms complex lines; source and target may be the same memory.
///
/// # Safety
/// Both arrays have these lines, and nobody else uses them.
pub unsafe fn complex_lines<T: Real>(
    pass: &Pass<'_, T>,
    source: *const Complex<T>,
    target: *mut Complex<T>,
    direction: Direction,
    level: Level,
) {
    let kind = Kind::Complex(direction, level);
    let Plan::Complex(plan) = T::plans().find(kind, pass.lines.n_points[0]) else { return };
    let (lines, ends) = (pass.lines, Ends(source, target));
    let direct = lines.along == [1, 1] || lines.n_points[0] == 1;
    pass.divide(|panels| {
        let mut scratch = vec_of(Complex::default(), plan.get_inplace_scratch_len());
        let mut copies = Copies::new(if direct { 0 } else { lines.width }, lines.n_points[0]);
        for panel in panels {
            // SAFETY: the caller's; every panel is worked on once.
            unsafe {
                if direct {
                    rows(pass, &*plan, &ends, panel, &mut scratch);
                } else {
                    let [along, across] = [lines.along, lines.across()];
                    copies.gather(ends.source(panel), along[0], across[0], panel.n_lines);
                    for line in 0..panel.n_lines {
                        plan.process_with_scratch(copies.line(line), &mut scratch);
                    }
                    let strides = [along[1], across[1]];
                    let factor = pass.factor;
                    copies.scatter(ends.target(panel), strides, panel.n_lines, |z| z * factor);
                }
            }
        }
    });
}

/// Contiguous lines, transformed where the target has them.
///
/// # Safety
/// As [`complex_lines`].
unsafe fn rows<T: Real>(
    pass: &Pass<'_, T>,
    plan: &dyn Fft<T>,
    ends: &Ends<Complex<T>, Complex<T>>,
    panel: Panel,
    scratch: &mut [Complex<T>],
) {
    let n = pass.lines.n_points[0];
    for line in 0..panel.n_lines {
        let across = pass.lines.across().map(|stride| stride * line.cast_signed());
        let from = ends.source(panel).wrapping_offset(across[0]);
        let to = ends.target(panel).wrapping_offset(across[1]);
        // SAFETY: the caller's; if the line is in place it is not copied.
        let row = unsafe {
            if !std::ptr::eq(from, to.cast_const()) {
                std::ptr::copy(from, to, n);
            }
            std::slice::from_raw_parts_mut(to, n)
        };
        plan.process_with_scratch(row, scratch);
        if pass.factor != T::one() {
            for z in row {
                *z = *z * pass.factor;
            }
        }
    }
}

/// Transforms real lines to half as many complex points and one.
///
/// # Safety
/// Both arrays have these lines, and nobody else uses the target.
pub unsafe fn real_to_complex<T: Real>(
    pass: &Pass<'_, T>,
    source: *const T,
    target: *mut Complex<T>,
) {
    let [n, n_half] = pass.lines.n_points;
    let Plan::FromReal(plan) = T::plans().find(Kind::FromReal, n) else { return };
    let (lines, ends) = (pass.lines, Ends(source, target));
    pass.divide(|panels| {
        let mut scratch = vec_of(Complex::default(), plan.get_scratch_len());
        let mut inputs = Copies::new(lines.width, n);
        let mut outputs = Copies::new(lines.width, n_half);
        for panel in panels {
            let [along, across] = [lines.along, lines.across()];
            // SAFETY: the caller's; every panel is worked on once.
            unsafe {
                inputs.gather(ends.source(panel), along[0], across[0], panel.n_lines);
                for line in 0..panel.n_lines {
                    let (input, output) = (inputs.line(line), outputs.line(line));
                    let outcome = plan.process_with_scratch(input, output, &mut scratch);
                    debug_assert!(outcome.is_ok(), "the lines have the plan's lengths");
                }
                let strides = [along[1], across[1]];
                let factor = pass.factor;
                outputs.scatter(ends.target(panel), strides, panel.n_lines, |z| z * factor);
            }
        }
    });
}

/// Transforms half of the complex points back to real lines.
///
/// # Safety
/// As [`real_to_complex`].
pub unsafe fn complex_to_real<T: Real>(
    pass: &Pass<'_, T>,
    source: *const Complex<T>,
    target: *mut T,
) {
    let [n_half, n] = pass.lines.n_points;
    let Plan::ToReal(plan) = T::plans().find(Kind::ToReal, n) else { return };
    let (lines, ends) = (pass.lines, Ends(source, target));
    pass.divide(|panels| {
        let mut scratch = vec_of(Complex::default(), plan.get_scratch_len());
        let mut inputs = Copies::new(lines.width, n_half);
        let mut outputs = Copies::new(lines.width, n);
        for panel in panels {
            let [along, across] = [lines.along, lines.across()];
            // SAFETY: the caller's; every panel is worked on once.
            unsafe {
                inputs.gather(ends.source(panel), along[0], across[0], panel.n_lines);
                for line in 0..panel.n_lines {
                    let (input, output) = (inputs.line(line), outputs.line(line));
                    forget_imaginary(input, n);
                    let outcome = plan.process_with_scratch(input, output, &mut scratch);
                    debug_assert!(outcome.is_ok(), "the lines have the plan's lengths");
                }
                let strides = [along[1], across[1]];
                let factor = pass.factor;
                outputs.scatter(ends.target(panel), strides, panel.n_lines, |x| x * factor);
            }
        }
    });
}

/// A real line has no imaginary part at frequency zero, nor at half of an even number of points.
fn forget_imaginary<T: Real>(half: &mut [Complex<T>], n: usize) {
    half[0].im = T::zero();
    if n.is_multiple_of(2) {
        half[n / 2].im = T::zero();
    }
}
