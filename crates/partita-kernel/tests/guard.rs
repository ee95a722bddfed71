//! Nothing is read or written beyond the last element: buffers end where a forbidden page begins.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use partita_kernel::math::Level;
use partita_kernel::{Builder, Call, Dtype, Kernel, Machine, Program, Settings, View};

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

/// The sum of the four neighbours, as four shifted views.
fn neighbours() -> Program {
    let mut p = Builder::new(2);
    let [n, s, w, e] = [0; 4].map(|_| p.input(Dtype::Float64));
    let (ns, we) = (p.add(n, s), p.add(w, e));
    let sum = p.add(ns, we);
    p.store(sum);
    p.finish()
}

/// Tables whose last element ends at a forbidden page, and whose first begins behind one; every
/// width makes other heads and tails, and what is asked for ahead lies in the forbidden page.
#[test]
fn shifted_views_of_a_table_between_forbidden_pages() {
    let memory = [0; 2].map(|_| Guarded::new());
    for level in Level::all() {
        for n_threads in [1, 3] {
            let settings = Settings { level, n_threads, stream_from: 0, ..Settings::default() };
            let machine = Machine::new(settings);
            let kernel = machine.kernel(&neighbours()).unwrap();
            for (rows, columns) in [(3, 3), (6, 66), (7, 72), (11, 80), (10, 131), (14, 264)] {
                for at_end in [true, false] {
                    stencil(&machine, &kernel, &memory, [rows, columns], at_end);
                }
            }
        }
    }
}

fn stencil(
    machine: &Machine,
    kernel: &Kernel,
    memory: &[Guarded; 2],
    [rows, columns]: [usize; 2],
    at_end: bool,
) {
    let n_bytes = rows * columns * 8;
    let start = |m: &Guarded| if at_end { m.last(n_bytes) } else { m.first() }.cast::<f64>();
    let (from, to) = (start(&memory[0]), start(&memory[1]));
    // SAFETY: the tables lie between the forbidden pages.
    let (given, found) = unsafe {
        let n = rows * columns;
        (std::slice::from_raw_parts_mut(from, n), std::slice::from_raw_parts_mut(to, n))
    };
    given.iter_mut().enumerate().for_each(|(i, x)| *x = (i * i % 1009) as f64);
    found.fill(-1.0);
    let strides = [8 * columns as isize, 8];
    let at =
        |row: usize, column: usize| View::new(from.wrapping_add(row * columns + column), &strides);
    let inputs = [at(0, 1), at(2, 1), at(1, 0), at(1, 2)];
    let data = to.wrapping_add(columns + 1).cast();
    let outputs = [View { data, strides: &strides }];
    let extents = [rows - 2, columns - 2];
    let call = Call { extents: &extents, inputs: &inputs, outputs: &outputs, scalars: &[] };
    // SAFETY: all points lie in the tables.
    unsafe { machine.run(kernel, &call).unwrap() };
    for (i, &x) in found.iter().enumerate() {
        let (row, column) = (i / columns, i % columns);
        let inside = (1..rows - 1).contains(&row) && (1..columns - 1).contains(&column);
        let sum = || given[i - columns] + given[i + columns] + (given[i - 1] + given[i + 1]);
        let wanted = if inside { sum() } else { -1.0 };
        assert!(x == wanted, "{:?} at {row}, {column}: {x} for {wanted}", machine.settings());
    }
}

/// Long rows are folded into several that are gone through at once; one element serves a row.
#[test]
fn long_rows_between_forbidden_pages() {
    let memory = [0; 3].map(|_| Guarded::new());
    let mut p = Builder::new(1);
    let [x, y] = [0; 2].map(|_| p.input(Dtype::Float32));
    let sum = p.add(x, y);
    p.store(sum);
    let program = p.finish();
    for level in Level::all() {
        let machine = Machine::new(Settings { level, stream_from: 0, ..Settings::default() });
        let kernel = machine.kernel(&program).unwrap();
        for n in [8447, 8448, 8449, 16000] {
            for step in [0, 4] {
                let starts = [0, 1, 2].map(|i| memory[i].last(4 * n).cast::<f32>());
                // SAFETY: n numbers lie before the forbidden pages.
                let all = starts.map(|s| unsafe { std::slice::from_raw_parts_mut(s, n) });
                let [xs, ys, out] = all;
                (0..n).for_each(|i| (xs[i], ys[i], out[i]) = (i as f32, 0.5, -1.0));
                let (strides, steps) = ([4], [step]);
                let y = starts[1].wrapping_add(if step == 0 { n - 1 } else { 0 });
                let inputs = [View::new(starts[0], &strides), View::new(y, &steps)];
                let outputs = [View { data: starts[2].cast(), strides: &strides }];
                let extents = [n];
                let call =
                    Call { extents: &extents, inputs: &inputs, outputs: &outputs, scalars: &[] };
                // SAFETY: as above.
                unsafe { machine.run(&kernel, &call).unwrap() };
                assert!((0..n).all(|i| out[i] == i as f32 + 0.5), "{level:?}, {n} elements");
            }
        }
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
