//! Times of kernels, written as lines `name TAB threads TAB seconds` to the file given.
//!
//! `benches/kernels.py` puts them beside the peers' times of the same run.

mod programs;

use partita_kernel::math::Level;
use partita_kernel::{Call, Kernel, Machine, Program, Reduction, Settings, View};
use programs::{black_scholes, jacobi, numbers, poly8, reduction, sqrt8, thirty, triad};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

const STEP: [isize; 1] = [8];

struct Bench {
    machine: Machine,
    report: String,
}

/// The best of several rounds that take half a second together, and at least three.
fn best(mut work: impl FnMut()) -> Duration {
    let (start, mut best, mut rounds) = (Instant::now(), Duration::MAX, 0);
    while rounds < 3 || start.elapsed() < Duration::from_millis(500) {
        let begin = Instant::now();
        work();
        best = best.min(begin.elapsed());
        rounds += 1;
    }
    best
}

impl Bench {
    fn note(&mut self, name: &str, seconds: f64) {
        let n_threads = self.machine.settings().n_threads;
        let _ = writeln!(self.report, "{name}\t{n_threads}\t{seconds:e}");
        println!("{name:24} {n_threads} {seconds:.4e}");
    }

    fn kernel(&self, program: &Program) -> std::sync::Arc<Kernel> {
        self.machine.kernel(program).expect("the program is sound")
    }

    fn run(&self, kernel: &Kernel, call: &Call<'_>) {
        // SAFETY: the views lie within the vectors they were made of.
        unsafe { self.machine.run(kernel, call).expect("the call fits") };
    }

    fn flat(&mut self, name: &str, program: &Program, n: usize, n_outputs: usize) {
        let kernel = self.kernel(program);
        let n_inputs = program.inputs.len();
        let inputs: Vec<_> = (0..n_inputs).map(|i| numbers(n, i)).collect();
        let mut outputs: Vec<_> = (0..n_outputs).map(|i| numbers(n, n_inputs + i)).collect();
        let read: Vec<_> =
            inputs.iter().map(|(x, skip)| View::new(x[*skip..].as_ptr(), &STEP)).collect();
        let written: Vec<_> = outputs
            .iter_mut()
            .map(|(x, skip)| View { data: x[*skip..].as_mut_ptr().cast(), strides: &STEP })
            .collect();
        let call = Call { extents: &[n], inputs: &read, outputs: &written, scalars: &[] };
        let repeats = (1_usize << 22).div_ceil(n);
        let time = best(|| (0..repeats).for_each(|_| self.run(&kernel, &call)));
        self.note(name, time.as_secs_f64() / repeats as f64);
    }

    fn jacobi(&mut self, n: usize) {
        let kernel = self.kernel(&jacobi());
        let ((from, a), (mut to, b)) = (numbers(n * n, 0), numbers(n * n, 1));
        let strides = [8 * n as isize, 8];
        let at =
            |row: usize, column: usize| View::new(from[a + row * n + column..].as_ptr(), &strides);
        let inputs = [at(0, 1), at(2, 1), at(1, 0), at(1, 2)];
        let outputs = [View { data: to[b + n + 1..].as_mut_ptr().cast(), strides: &strides }];
        let extents = [n - 2, n - 2];
        let call = Call { extents: &extents, inputs: &inputs, outputs: &outputs, scalars: &[] };
        let time = best(|| self.run(&kernel, &call));
        self.note(&format!("jacobi {n}"), time.as_secs_f64());
    }

    fn reduce(&mut self, name: &str, kind: Reduction, n: usize) {
        let kernel = self.kernel(&reduction(kind));
        let (x, skip) = numbers(n, 0);
        let mut out = [0.0_f64];
        let inputs = [View::new(x[skip..].as_ptr(), &STEP)];
        let outputs = [View { data: out.as_mut_ptr().cast(), strides: &[0] }];
        let call = Call { extents: &[n], inputs: &inputs, outputs: &outputs, scalars: &[] };
        let time = best(|| self.run(&kernel, &call));
        self.note(name, time.as_secs_f64());
    }

    fn small(&mut self) {
        let program = poly8();
        let kernel = self.kernel(&program);
        let inputs: Vec<_> = (0..3).map(|i| numbers(64, i)).collect();
        let (mut out, skip) = numbers(64, 3);
        let read: Vec<_> =
            inputs.iter().map(|(x, skip)| View::new(x[*skip..].as_ptr(), &STEP)).collect();
        let written = [View { data: out[skip..].as_mut_ptr().cast(), strides: &STEP }];
        let call = Call { extents: &[64], inputs: &read, outputs: &written, scalars: &[] };
        let time = best(|| (0..1000).for_each(|_| self.run(&kernel, &call)));
        self.note("call of 64", time.as_secs_f64() / 1000.0);
        let time = best(|| {
            for _ in 0..1000 {
                let kernel = self.kernel(std::hint::black_box(&program));
                self.run(&kernel, &call);
            }
        });
        self.note("look-up and call of 64", time.as_secs_f64() / 1000.0);
    }

    fn compile(&mut self) {
        let mut seed = 0;
        let time = best(|| {
            for _ in 0..20 {
                seed += 100;
                std::hint::black_box(self.kernel(&thirty(seed)));
            }
        });
        self.note("compile 30", time.as_secs_f64() / 20.0);
    }
}

fn main() {
    let path = std::env::args().skip(1).find(|a| !a.starts_with("--"));
    let only = std::env::var("PARTITA_BENCH").unwrap_or_default();
    let mut report = String::new();
    let _ = writeln!(report, "level\t0\t{}", Level::best().name());
    for n_threads in [1, 2] {
        let machine = Machine::new(Settings { n_threads, ..Settings::default() });
        let mut bench = Bench { machine, report: String::new() };
        let wanted = |name: &str| only.is_empty() || name.contains(&only);
        for (n, size) in [(1 << 14, "0.5 MB"), (1_000_000, "32 MB"), (30_000_000, "960 MB")] {
            for (name, program) in [("sqrt8", sqrt8()), ("poly8", poly8())] {
                if wanted(name) {
                    bench.flat(&format!("{name} {size}"), &program, n, 1);
                }
            }
        }
        if wanted("jacobi") {
            bench.jacobi(4096);
            bench.flat("triad", &triad(), 4096 * 4096, 1);
        }
        if wanted("scholes") {
            bench.flat("black-scholes", &black_scholes(), 10_000_000, 2);
        }
        if wanted("reduce") {
            let kinds = [
                ("sum", Reduction::Sum),
                ("min", Reduction::Minimum),
                ("max", Reduction::Maximum),
                ("argmax", Reduction::ArgMax),
            ];
            for (name, kind) in kinds {
                bench.reduce(name, kind, 100_000_000);
            }
        }
        if wanted("small") && n_threads == 1 {
            bench.small();
            bench.compile();
        }
        report += &bench.report;
    }
    if let Some(path) = path {
        std::fs::write(path, report).expect("the report can be written");
    }
}
