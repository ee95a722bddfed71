//! How results are written.
//!
//! A line of memory that is written in part is read first. Large results are therefore written
//! past the caches, whole lines at a time: nobody reads them before the caches have seen the rest.

use super::Into;
use crate::number::Number;

const LINE_BYTES: usize = 64;
/// Work that touches so many bytes leaves nothing of a result in the caches of a core.
const LARGE_BYTES: usize = 64 << 20;

/// What becomes of sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Store {
    /// They replace what is there.
    Replace,
    /// The same, past the caches.
    Past,
    /// They are added to what is there.
    Add,
}

impl Store {
    /// The way for work that touches so many bytes.
    pub(super) fn of(into: Into, n_bytes: usize) -> Store {
        match into {
            Into::Add => Store::Add,
            Into::Replace if n_bytes >= LARGE_BYTES => Store::Past,
            Into::Replace => Store::Replace,
        }
    }

    /// Writes sums; as many as there is room for.
    #[inline(always)]
    pub(super) fn put<T: Number>(self, to: &mut [T], sums: &[T]) {
        match self {
            Store::Past => past(to, sums),
            Store::Replace => to.copy_from_slice(sums),
            Store::Add => to.iter_mut().zip(sums).for_each(|(to, sum)| *to = to.plus(*sum)),
        }
    }
}

/// Numbers before the first that starts a line, at most all of them.
pub(super) fn before_lines<T>(numbers: &[T]) -> usize {
    numbers.as_ptr().align_offset(LINE_BYTES).min(numbers.len())
}

/// Copies past the caches where both are whole lines.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn past<T: Number>(to: &mut [T], from: &[T]) {
    use std::arch::x86_64::{_mm_loadu_si128, _mm_stream_si128};
    const STEP: usize = 16;
    let n_bytes = size_of_val(from);
    assert_eq!(to.len(), from.len(), "as much room as there are sums");
    if ![to.as_ptr().addr(), n_bytes].iter().all(|n| n.is_multiple_of(LINE_BYTES)) {
        to.copy_from_slice(from);
        return;
    }
    let (to, from) = (to.as_mut_ptr().cast::<u8>(), from.as_ptr().cast::<u8>());
    for at in (0..n_bytes).step_by(STEP) {
        // SAFETY: both have so many bytes, those written start at a line, and numbers are bytes
        // without gaps.
        unsafe { _mm_stream_si128(to.add(at).cast(), _mm_loadu_si128(from.add(at).cast())) };
    }
}

#[cfg(not(target_arch = "x86_64"))]
fn past<T: Number>(to: &mut [T], from: &[T]) {
    to.copy_from_slice(from);
}

/// Lets other threads see what was written past the caches.
pub(super) fn finish() {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction.
    unsafe {
        std::arch::x86_64::_mm_sfence();
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_the_same_by_every_way_at_any_place() {
        let sums: Vec<f32> = (0..48_u8).map(f32::from).collect();
        for skip in 0..17 {
            for store in [Store::Replace, Store::Past, Store::Add] {
                let mut room = vec![100.0_f32; 80];
                store.put(&mut room[skip..skip + 48], &sums);
                finish();
                let base = if store == Store::Add { 100.0 } else { 0.0 };
                assert!((0..48).all(|i| room[skip + i] == base + sums[i]), "{store:?} {skip}");
                assert!(room[..skip].iter().chain(&room[skip + 48..]).all(|x| *x == 100.0));
            }
        }
    }
}
