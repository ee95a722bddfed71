//! Memory for tiles, kept by each thread from run to run.

use std::cell::Cell;

/// One cache line.
#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code, reason = "only its size and place matter")] [u8; 64]);

thread_local! {
    static KEPT: Cell<Vec<Line>> = const { Cell::new(Vec::new()) };
}

/// The most that a thread keeps, in lines: 4 MiB.
const MOST_KEPT: usize = 1 << 16;

/// Memory of one run on one thread; given back when dropped.
pub struct Scratch {
    lines: Vec<Line>,
}

impl Scratch {
    /// At least so many bytes, aligned to cache lines, of any content.
    pub fn new(n_bytes: usize) -> Scratch {
        let mut lines = KEPT.take();
        let wanted = n_bytes.div_ceil(64);
        if lines.len() < wanted {
            lines.resize(wanted, Line([0; 64]));
        }
        Scratch { lines }
    }

    /// Where it begins.
    pub fn as_mut_ptr(&mut self) -> *mut u8 {
        self.lines.as_mut_ptr().cast()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.lines.len() <= MOST_KEPT {
            KEPT.set(std::mem::take(&mut self.lines));
        }
    }
}
