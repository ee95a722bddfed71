//! Several leaves filled in turns: memory gives more when several places are read.

use super::{LEAF, Reduce, STREAMS};

/// How far ahead items are asked for, in bytes.
const AHEAD: usize = 1024;

/// The results of as many leaves as are filled at once.
#[inline(always)]
pub fn in_turns<R: Reduce>(items: &[R::Item], at: u64) -> [R::Partial; STREAMS] {
    let mut states = [R::start(); STREAMS];
    for block in (0..LEAF).step_by(R::BLOCK) {
        for turn in (block..block + R::BLOCK).step_by(R::CHUNK) {
            for (i, state) in states.iter_mut().enumerate() {
                let first = i * LEAF + turn;
                let chunk = &items[first..first + R::CHUNK];
                ask_ahead(chunk.as_ptr(), R::CHUNK);
                R::add(state, chunk, at + first as u64);
            }
        }
        states.iter_mut().for_each(R::end_block);
    }
    states.map(|state| R::leaf(&state))
}

/// Asks memory for as many items as are read now, some way ahead of them: at least behind them.
#[inline(always)]
pub fn ask_ahead<T>(items: *const T, n: usize) {
    for line in (0..n * size_of::<T>()).step_by(64) {
        ask(items.wrapping_byte_add(line + AHEAD.max(n * size_of::<T>())));
    }
}

/// Asks memory for one line ahead of an item that is read now.
#[inline(always)]
pub fn ask_line<T>(item: *const T) {
    ask(item.wrapping_byte_add(AHEAD));
}

#[inline(always)]
fn ask<T>(item: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: every x86-64 processor has the instruction, which never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(item.cast());
    };
    #[cfg(not(target_arch = "x86_64"))]
    let _ = item;
}
