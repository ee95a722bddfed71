//! Kernels beside the C programs of `benches/kernels.c`, in turns, in one process: ratios.
//!
//! `PARTITA_BENCH` names what is measured (all if empty), `PARTITA_SIMD` the level. On a machine
//! that others use too, `PARTITA_CLOCK=processor` counts the time of this process alone, that of
//! all its threads together.

mod programs;

use libloading::Library;
use partita_kernel::math::Level;
use partita_kernel::{Call, Dtype, Kernel, Machine, Program, Reduction, Settings, View};
use programs::{black_scholes, jacobi, numbers, poly8, reduction_of, sqrt8};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

const SIDE: usize = 4096;
const LONG: usize = 100_000_000;
const OPTIONS: usize = 10_000_000;
const ROUNDS: usize = 12;

/// Compiles the C programs as `benches/kernels.py` does, and loads them.
fn peers() -> Library {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/kernels.c");
    let [object, shared] =
        ["o", "so"].map(|end| std::env::temp_dir().join(format!("partita-beside.{end}")));
    let options = ["-O3", "-march=native", "-ffast-math", "-fopenmp", "-fPIC", "-c", "-o"];
    let compiled = Command::new("cc").args(options).arg(&object).arg(source).status();
    assert!(compiled.is_ok_and(|s| s.success()), "cc compiles benches/kernels.c");
    let link = ["-shared", "-fopenmp", "-o"];
    let linked =
        Command::new("cc").args(link).arg(&shared).arg(&object).args(["-lmvec", "-lm"]).status();
    assert!(linked.is_ok_and(|s| s.success()), "cc links it");
    // SAFETY: the library is ours and does nothing when it is loaded.
    unsafe { Library::new(&shared).expect("the compiled library loads") }
}

/// Seconds of the clock that `PARTITA_CLOCK` names, from some point on.
fn seconds() -> f64 {
    let processor = std::env::var("PARTITA_CLOCK").is_ok_and(|name| name == "processor");
    let clock = if processor { libc::CLOCK_PROCESS_CPUTIME_ID } else { libc::CLOCK_MONOTONIC };
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time may be written.
    unsafe { libc::clock_gettime(clock, &raw mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}

/// The best time of each piece of work, done in turns.
fn in_turns(work: &mut [&mut dyn FnMut()]) -> Vec<f64> {
    let mut best = vec![f64::INFINITY; work.len()];
    for _ in 0..ROUNDS {
        for (time, work) in best.iter_mut().zip(work.iter_mut()) {
            let start = seconds();
            work();
            *time = (seconds() - start).min(*time);
        }
    }
    best
}

/// A plain loop on one thread or, from a million elements on, on two.
///
/// # Safety
/// The processor has AVX2.
unsafe fn halves(
    plain: unsafe fn([&[f64]; 3], &mut [f64]),
    n_threads: usize,
    inputs: [&[f64]; 3],
    out: &mut [f64],
) {
    if n_threads == 1 || out.len() < 1_000_000 {
        // SAFETY: the caller's.
        return unsafe { plain(inputs, out) };
    }
    let middle = out.len() / 2;
    let (first, second) = out.split_at_mut(middle);
    std::thread::scope(|scope| {
        // SAFETY: the caller's.
        scope.spawn(move || unsafe { plain(inputs.map(|x| &x[..middle]), first) });
        // SAFETY: the caller's.
        unsafe { plain(inputs.map(|x| &x[middle..]), second) };
    });
}

#[target_feature(enable = "avx2,fma")]
unsafe fn sqrt8_loop([a, b, c]: [&[f64]; 3], out: &mut [f64]) {
    for (((out, a), b), c) in out.iter_mut().zip(a).zip(b).zip(c) {
        *out = (a * a + b * b).sqrt() * 0.5 + (c - a) * b;
    }
}

#[target_feature(enable = "avx2,fma")]
unsafe fn poly8_loop([a, b, c]: [&[f64]; 3], out: &mut [f64]) {
    for (((out, a), b), c) in out.iter_mut().zip(a).zip(b).zip(c) {
        *out = ((a * b + c) * a - 0.25) * (b * c + 3.0) + a;
    }
}

struct Beside {
    machine: Machine,
    peers: Library,
    n_threads: usize,
}

impl Beside {
    fn kernel(&self, program: &Program) -> Arc<Kernel> {
        self.machine.kernel(program).expect("the program is sound")
    }

    fn run(&self, kernel: &Kernel, call: &Call<'_>) {
        // SAFETY: the views lie within the vectors they were made of.
        unsafe { self.machine.run(kernel, call).expect("the call fits") };
    }

    /// A C function of three pointers (unused ones are not looked at) and a length.
    fn peer<T: Copy>(&self, name: &str) -> T {
        // SAFETY: the types are those of benches/kernels.c.
        unsafe { *self.peers.get::<T>(name.as_bytes()).expect("the function is there") }
    }

    /// Output and input lie at different places within a page.
    fn jacobi(&self) {
        type Triad = unsafe extern "C" fn(*mut f64, *const f64, *const f64, i64);
        type Sweep = unsafe extern "C" fn(*mut f64, *const f64, i64);
        let (triad, sweep) = (self.peer::<Triad>("triad"), self.peer::<Sweep>("jacobi"));
        let n = SIDE;
        let [(from, a), (mut to, b), (third, c)] = [0, 1, 2].map(|place| numbers(n * n, place));
        let kernel = self.kernel(&jacobi());
        let strides = [8 * n as isize, 8];
        let at =
            |row: usize, column: usize| View::new(from[a + row * n + column..].as_ptr(), &strides);
        let inputs = [at(0, 1), at(2, 1), at(1, 0), at(1, 2)];
        let target = to[b..].as_mut_ptr();
        let outputs = [View { data: target.wrapping_add(n + 1).cast(), strides: &strides }];
        let extents = [n - 2, n - 2];
        let call = Call { extents: &extents, inputs: &inputs, outputs: &outputs, scalars: &[] };
        let source = from[a..].as_ptr();
        let third = third[c..].as_ptr();
        let times = in_turns(&mut [
            &mut || self.run(&kernel, &call),
            // SAFETY: the buffers have as many elements.
            &mut || unsafe { sweep(target, source, n as i64) },
            // SAFETY: as above.
            &mut || unsafe { triad(target, source, third, (n * n) as i64) },
        ]);
        let (threads, [mine, c, triad]) = (self.n_threads, [times[0], times[1], times[2]]);
        let share = 2.0 / 3.0 * triad / mine;
        println!(
            "jacobi, {threads} threads: {:.2} ms, {:.2} times C, {share:.2} of the triad",
            1e3 * mine,
            c / mine
        );
    }

    /// The two expressions beside a plain loop of LLVM's, which is what numba compiles too.
    fn expressions(&self) {
        type Loop = unsafe fn([&[f64]; 3], &mut [f64]);
        let both: [(&str, Program, Loop); 2] =
            [("sqrt8", sqrt8(), sqrt8_loop), ("poly8", poly8(), poly8_loop)];
        for n in [1 << 14, 1_000_000, 30_000_000] {
            for (name, program, plain) in &both {
                let inputs = [0, 1, 2].map(|place| numbers(n, place));
                let (mut out, skip) = numbers(n, 3);
                let read = [0, 1, 2].map(|i| &inputs[i].0[inputs[i].1..][..n]);
                let target = &mut out[skip..][..n];
                let kernel = self.kernel(program);
                let views = read.map(|x| View::new(x.as_ptr(), &[8]));
                let outputs = [View { data: target.as_mut_ptr().cast(), strides: &[8] }];
                let extents = [n];
                let call =
                    Call { extents: &extents, inputs: &views, outputs: &outputs, scalars: &[] };
                let repeats = (1_usize << 20).div_ceil(n);
                let times = in_turns(&mut [
                    &mut || (0..repeats).for_each(|_| self.run(&kernel, &call)),
                    &mut || {
                        for _ in 0..repeats {
                            // SAFETY: the processor has AVX2, which emitted code needs too.
                            unsafe { halves(*plain, self.n_threads, read, target) };
                        }
                    },
                ]);
                let threads = self.n_threads;
                println!(
                    "{name} of {n}, {threads} threads: {:.3} ns, {:.2} of a plain loop's time",
                    1e9 * times[0] / (n * repeats) as f64,
                    times[0] / times[1]
                );
            }
        }
    }

    fn reductions(&self) {
        type Read = unsafe extern "C" fn(*const f64, i64) -> f64;
        let read = self.peer::<Read>("read4");
        let (x, skip) = numbers(LONG, 0);
        let data = x[skip..].as_ptr();
        let kinds = [
            ("sum", Reduction::Sum),
            ("min", Reduction::Minimum),
            ("max", Reduction::Maximum),
            ("argmax", Reduction::ArgMax),
            ("variance", Reduction::Variance),
        ];
        for dtype in [Dtype::Float64, Dtype::Float32, Dtype::Int64, Dtype::Int32] {
            let is_whole = matches!(dtype, Dtype::Int64 | Dtype::Int32);
            for (name, kind) in kinds {
                if is_whole && kind == Reduction::Variance {
                    continue;
                }
                let kernel = self.kernel(&reduction_of(kind, dtype));
                let size = dtype.size();
                let mut out = [0.0_f64];
                let strides = [size as isize];
                let inputs = [View::new(data, &strides)];
                let outputs = [View { data: out.as_mut_ptr().cast(), strides: &[0] }];
                let extents = [LONG * 8 / size];
                let call =
                    Call { extents: &extents, inputs: &inputs, outputs: &outputs, scalars: &[] };
                let times = in_turns(&mut [
                    &mut || self.run(&kernel, &call),
                    // SAFETY: the buffer has as many elements.
                    &mut || unsafe {
                        std::hint::black_box(read(data, LONG as i64));
                    },
                ]);
                let bandwidth = 8.0 * LONG as f64 / times[0] / 1e9;
                let threads = self.n_threads;
                println!(
                    "{name} of {dtype}, {threads} threads: {bandwidth:.1} GB/s, {:.2} of four streams",
                    times[1] / times[0]
                );
            }
        }
    }

    fn options(&self) {
        type Price =
            unsafe extern "C" fn(*mut f64, *mut f64, *const f64, *const f64, *const f64, i64);
        let price = self.peer::<Price>("black_scholes");
        let inputs = [0, 1, 2].map(|place| numbers(OPTIONS, place));
        let mut outputs = [3, 4].map(|place| numbers(OPTIONS, place));
        let read = [0, 1, 2].map(|i| inputs[i].0[inputs[i].1..].as_ptr());
        let written = [0, 1].map(|i| outputs[i].0.as_mut_ptr().wrapping_add(outputs[i].1));
        let kernel = self.kernel(&black_scholes());
        let views = read.map(|x| View::new(x, &[8]));
        let targets = written.map(|x| View { data: x.cast(), strides: &[8] });
        let call = Call { extents: &[OPTIONS], inputs: &views, outputs: &targets, scalars: &[] };
        let times = in_turns(&mut [
            &mut || self.run(&kernel, &call),
            // SAFETY: the buffers have as many elements.
            &mut || unsafe {
                price(written[0], written[1], read[0], read[1], read[2], OPTIONS as i64);
            },
        ]);
        let threads = self.n_threads;
        println!(
            "black-scholes, {threads} threads: {:.1} ms, {:.2} of C's time",
            1e3 * times[0],
            times[0] / times[1]
        );
    }
}

fn main() {
    let only = std::env::var("PARTITA_BENCH").unwrap_or_default();
    let wanted = |name: &str| only.is_empty() || name.contains(&only);
    // SAFETY: no thread runs yet. OpenMP's threads would spin on the cores that kernels need.
    unsafe { std::env::set_var("OMP_WAIT_POLICY", "passive") };
    println!("level {}", Level::best().name());
    for n_threads in [1, 2] {
        let machine = Machine::new(Settings { n_threads, ..Settings::default() });
        let beside = Beside { machine, peers: peers(), n_threads };
        let threads = beside.peer::<unsafe extern "C" fn(i32)>("threads");
        // SAFETY: it takes a number.
        unsafe { threads(n_threads as i32) };
        if wanted("jacobi") {
            beside.jacobi();
        }
        if wanted("expressions") {
            beside.expressions();
        }
        if wanted("scholes") {
            beside.options();
        }
        if wanted("reduce") {
            beside.reductions();
        }
    }
}
