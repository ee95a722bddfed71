//! Merging two sorted slices, four elements at a time.
//!
//! Which of two elements comes next is anybody's guess, so nothing branches on it; but each step
//! then waits for the one before. The result is therefore cut in the middle, and both halves are
//! written from both ends: four steps are on their way at once.

use super::element::Sortable;
use crate::scratch::copy;
use std::hint::select_unpredictable;
use std::mem::MaybeUninit;

/// So few steps are not worth doing four at a time.
const FEW: usize = 8;

/// Merges two sorted slices; of equal elements, those of the first come first.
///
/// # Panics
/// If `out` has another length than both together.
pub(super) fn merge_two<T: Sortable>(first: &[T], second: &[T], out: &mut [MaybeUninit<T>]) {
    assert_eq!(out.len(), first.len() + second.len(), "the result has room for both");
    // NaN comes last. Without it, elements can be compared as numbers are.
    let (first, first_nan) = first.split_at(first.partition_point(|x| !x.is_nan()));
    let (second, second_nan) = second.split_at(second.partition_point(|x| !x.is_nan()));
    let (numbers, nan) = out.split_at_mut(first.len() + second.len());
    let (nan, more_nan) = nan.split_at_mut(first_nan.len());
    copy(first_nan, nan);
    copy(second_nan, more_nan);

    let middle = numbers.len() / 2;
    let cut = cut(first, second, middle);
    let (a, c) = first.split_at(cut);
    let (b, d) = second.split_at(middle - cut);
    let (front, back) = numbers.split_at_mut(middle);
    let (mut early, mut late) = (Ends::new(a, b, front), Ends::new(c, d, back));
    loop {
        let n_steps = early.n_steps().min(late.n_steps());
        if n_steps < FEW {
            break;
        }
        for _ in 0..n_steps {
            // SAFETY: each half has so many steps.
            unsafe {
                early.step();
                late.step();
            }
        }
    }
    early.finish();
    late.finish();
}

/// How many of the first `n` elements of the result are those of the first slice.
fn cut<T: Sortable>(first: &[T], second: &[T], n: usize) -> usize {
    let (mut low, mut high) = (n.saturating_sub(second.len()), n.min(first.len()));
    while low < high {
        let middle = usize::midpoint(low, high);
        if second[n - 1 - middle].less(first[middle]) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

/// What is left of two slices between their ends, and the room for it.
struct Ends<'a, T> {
    first: &'a [T],
    second: &'a [T],
    out: &'a mut [MaybeUninit<T>],
    /// Elements written at the front and at the back, and how many of them are of the first slice.
    n_written: usize,
    front: usize,
    back: usize,
}

impl<'a, T: Sortable> Ends<'a, T> {
    fn new(first: &'a [T], second: &'a [T], out: &'a mut [MaybeUninit<T>]) -> Self {
        Ends { first, second, out, n_written: 0, front: 0, back: 0 }
    }

    /// Steps after which neither slice can be at its end.
    fn n_steps(&mut self) -> usize {
        self.shrink();
        self.first.len().min(self.second.len()) / 2
    }

    /// Forgets what has been written.
    fn shrink(&mut self) {
        let (n, front, back) = (self.n_written, self.front, self.back);
        self.first = &self.first[front..self.first.len() - back];
        self.second = &self.second[n - front..self.second.len() - (n - back)];
        let length = self.out.len();
        self.out = &mut std::mem::take(&mut self.out)[n..length - n];
        (self.n_written, self.front, self.back) = (0, 0, 0);
    }

    /// Writes an element at the front and one at the back.
    ///
    /// # Safety
    /// No more than [`Self::n_steps`] since that was asked.
    #[inline(always)]
    unsafe fn step(&mut self) {
        let (first, second, out) = (self.first.as_ptr(), self.second.as_ptr(), &mut self.out);
        let (n_first, n_second, n_out) = (self.first.len(), self.second.len(), out.len());
        let n = self.n_written;
        // SAFETY: at most n elements are gone from either end of either slice, and each has twice
        // as many, and two more.
        unsafe {
            let (a, b) = (first.add(self.front), second.add(n - self.front));
            let is_second = (*b).less(*a);
            out.get_unchecked_mut(n).write(*select_unpredictable(is_second, b, a));
            self.front += usize::from(!is_second);

            let (a, b) =
                (first.add(n_first - 1 - self.back), second.add(n_second - 1 - (n - self.back)));
            let is_first = (*b).less(*a);
            out.get_unchecked_mut(n_out - 1 - n).write(*select_unpredictable(is_first, a, b));
            self.back += usize::from(is_first);
        }
        self.n_written = n + 1;
    }

    /// Writes what is left.
    fn finish(mut self) {
        loop {
            let n_steps = self.n_steps();
            if n_steps < FEW {
                break;
            }
            for _ in 0..n_steps {
                // SAFETY: there are so many steps.
                unsafe { self.step() };
            }
        }
        let (first, second, out) = (self.first, self.second, self.out);
        let (mut i, mut j) = (0, 0);
        while i < first.len() && j < second.len() {
            let is_second = second[j].less(first[i]);
            out[i + j].write(select_unpredictable(is_second, second[j], first[i]));
            i += usize::from(!is_second);
            j += usize::from(is_second);
        }
        let (end_of_first, end_of_second) = out[i + j..].split_at_mut(first.len() - i);
        copy(&first[i..], end_of_first);
        copy(&second[j..], end_of_second);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::written;

    /// Compares with the library's sort, which is stable.
    fn check(first: &[f64], second: &[f64]) {
        let mut out = vec![MaybeUninit::uninit(); first.len() + second.len()];
        merge_two(first, second, &mut out);
        // SAFETY: merging writes everything.
        let out = unsafe { written(&out) };
        let mut want = [first, second].concat();
        want.sort_by_key(|x| x.key());
        let bits = |all: &[f64]| all.iter().map(|x| x.to_bits()).collect::<Vec<_>>();
        assert_eq!(bits(out), bits(&want), "{} and {}", first.len(), second.len());
    }

    #[test]
    fn merges_all_lengths_and_distributions() {
        let lengths = [0, 1, 2, 7, 15, 16, 17, 33, 100, 1000];
        for n_first in lengths {
            for n_second in lengths {
                for modulus in [1, 2, 5, 1 << 20] {
                    let run = |n: usize, seed: usize| {
                        let at = |i: usize| ((i * 7919 + seed * 104_729) % modulus) as f64 - 2.0;
                        let mut run: Vec<f64> = (0..n).map(at).collect();
                        // Both zeros and NaN with different bits show who came first.
                        for (i, x) in run.iter_mut().enumerate() {
                            if *x == 0.0 && (i + seed) % 2 == 1 {
                                *x = -0.0;
                            }
                            if i % 11 == 10 {
                                *x = f64::from_bits(f64::NAN.to_bits() | (seed << 8 | i) as u64);
                            }
                        }
                        run.sort_by_key(|x| x.key());
                        run
                    };
                    check(&run(n_first, 1), &run(n_second, 2));
                }
            }
        }
    }

    #[test]
    fn merges_runs_that_follow_each_other() {
        let early: Vec<f64> = (0..500).map(f64::from).collect();
        let late: Vec<f64> = (500..1200).map(f64::from).collect();
        check(&early, &late);
        check(&late, &early);
    }
}
