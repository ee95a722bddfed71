//! Nothing is read or written beyond the last element: buffers end where a forbidden page begins.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use partita_kernel::math::Level;
use partita_kernel::{Builder, Call, Dtype, Machine, Program, Settings, View};

/// Two forbidden pages around allowed ones.
struct Guarded {
    start: *mut u8,
    n_bytes: usize,
}

const PAGE: usize = 65536;

impl Guarded {
    fn new() -> Guarded {
        let n_bytes = 3 * PAGE;
        let (none, private) = (libc::PROT_NONE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, of which the middle is made usable.
        let start = unsafe {
            let start = libc::mmap(std::ptr::null_mut(), n_bytes, none, private, -1, 0);
            assert!(start != libc::MAP_FAILED);
            let middle = start.cast::<u8>().add(PAGE).cast();
            assert_eq!(libc::mprotect(middle, PAGE, libc::PROT_READ | libc::PROT_WRITE), 0);
            start.cast()
        };
        Guarded { start, n_bytes }
    }

    /// Where `n` bytes end at the forbidden page.
    fn last(&self, n: usize) -> *mut u8 {
        self.start.wrapping_add(2 * PAGE - n)
    }

    /// Where bytes begin behind the forbidden page.
    fn first(&self) -> *mut u8 {
        self.start.wrapping_add(PAGE)
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        // SAFETY: the mapping is this one's.
        unsafe { libc::munmap(self.start.cast(), self.n_bytes) };
    }
}

/// Bool and number in, bool and number out.
fn program(dtype: Dtype) -> Program {
    let mut p = Builder::new(1);
    let (x, flag) = (p.input(dtype), p.input(Dtype::Bool));
    let sum = p.add(x, x);
    let chosen = p.select(flag, sum, x);
    let less = p.less(chosen, sum);
    let both = p.logical_and(less, flag);
    p.store(chosen);
    p.store(both);
    p.finish()
}

#[test]
fn nothing_beyond_the_ends() {
    let memory = [0; 4].map(|_| Guarded::new());
    for dtype in [Dtype::Float64, Dtype::Float32, Dtype::Int64, Dtype::Int32, Dtype::Int8] {
        let size = dtype.size();
        let strides = [size as isize];
        for level in Level::all() {
            for emit in [false, true] {
                let settings =
                    Settings { level, emit, n_threads: 1, tile: 512, ..Settings::default() };
                let machine = Machine::new(settings);
                let kernel = machine.kernel(&program(dtype)).unwrap();
                for n in (0..70).chain([511, 512, 513, 1025]) {
                    for at_end in [true, false] {
                        let view = |i: usize, size: usize, strides| {
                            let guarded: &Guarded = &memory[i];
                            let data =
                                if at_end { guarded.last(n * size) } else { guarded.first() };
                            View { data, strides }
                        };
                        let inputs = [view(0, size, &strides), view(1, 1, &[1])];
                        let outputs = [view(2, size, &strides), view(3, 1, &[1])];
                        let call = Call {
                            extents: &[n],
                            inputs: &inputs,
                            outputs: &outputs,
                            scalars: &[],
                        };
                        // SAFETY: n elements fit between the forbidden pages.
                        unsafe { machine.run(&kernel, &call).unwrap() };
                    }
                }
            }
        }
    }
}
