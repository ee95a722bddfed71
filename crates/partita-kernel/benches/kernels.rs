//! Times of kernels, written as lines `name TAB threads TAB seconds` to the file given.
//!
//! `benches/kernels.py` puts them beside the peers' times of the same run.

use partita_kernel::math::Level;
use partita_kernel::{
    Builder, Call, Dtype, Kernel, Machine, Op, Program, Reduction, Settings, Value, View,
};
use std::fmt::Write as _;
use std::time::{Duration, Instant};

const STEP: [isize; 1] = [8];

fn sqrt8() -> Program {
    let mut p = Builder::new(1);
    let [a, b, c] = [0; 3].map(|_| p.input(Dtype::Float64));
    let (half, aa, bb) = (p.constant(0.5), p.multiply(a, a), p.multiply(b, b));
    let sum = p.add(aa, bb);
    let root = p.square_root(sum);
    let left = p.multiply(root, half);
    let apart = p.subtract(c, a);
    let right = p.multiply(apart, b);
    let result = p.add(left, right);
    p.store(result);
    p.finish()
}

fn poly8() -> Program {
    let mut p = Builder::new(1);
    let [a, b, c] = [0; 3].map(|_| p.input(Dtype::Float64));
    let (quarter, three) = (p.constant(0.25), p.constant(3.0));
    let ab = p.multiply(a, b);
    let abc = p.add(ab, c);
    let grown = p.multiply(abc, a);
    let left = p.subtract(grown, quarter);
    let bc = p.multiply(b, c);
    let right = p.add(bc, three);
    let product = p.multiply(left, right);
    let result = p.add(product, a);
    p.store(result);
    p.finish()
}

fn jacobi() -> Program {
    let mut p = Builder::new(2);
    let [n, s, w, e] = [0; 4].map(|_| p.input(Dtype::Float64));
    let quarter = p.constant(0.25);
    let (ns, we) = (p.add(n, s), p.add(w, e));
    let all = p.add(ns, we);
    let mean = p.multiply(quarter, all);
    p.store(mean);
    p.finish()
}

fn triad() -> Program {
    let mut p = Builder::new(1);
    let [b, c] = [0; 2].map(|_| p.input(Dtype::Float64));
    let three = p.constant(3.0);
    let grown = p.fused_multiply_add(three, c, b);
    p.store(grown);
    p.finish()
}

/// Calls and puts by the error function; price, strike, time; rate and volatility are constants.
fn black_scholes() -> Program {
    let mut p = Builder::new(1);
    let [s, x, t] = [0; 3].map(|_| p.input(Dtype::Float64));
    let (rate, volatility, half, one, root_half) = (
        p.constant(0.1),
        p.constant(0.2),
        p.constant(0.5),
        p.constant(1.0),
        p.constant(std::f64::consts::FRAC_1_SQRT_2),
    );
    let drift = p.constant(0.1 + 0.02);
    let root = p.square_root(t);
    let spread = p.multiply(volatility, root);
    let ratio = p.divide(s, x);
    let log = p.log(ratio);
    let moved = p.multiply(drift, t);
    let sum = p.add(log, moved);
    let d1 = p.divide(sum, spread);
    let d2 = p.subtract(d1, spread);
    let normal = |p: &mut Builder, d: Value| {
        let scaled = p.multiply(d, root_half);
        let erf = p.erf(scaled);
        let halved = p.multiply(half, erf);
        p.add(half, halved)
    };
    let (n1, n2) = (normal(&mut p, d1), normal(&mut p, d2));
    let aged = p.multiply(rate, t);
    let aged = p.negative(aged);
    let discount = p.exp(aged);
    let strike = p.multiply(x, discount);
    let (gain, loss) = (p.multiply(s, n1), p.multiply(strike, n2));
    let call = p.subtract(gain, loss);
    let (m1, m2) = (p.subtract(one, n1), p.subtract(one, n2));
    let (loss, gain) = (p.multiply(s, m1), p.multiply(strike, m2));
    let put = p.subtract(gain, loss);
    p.store(call);
    p.store(put);
    p.finish()
}

fn reduction(reduction: Reduction) -> Program {
    let mut p = Builder::new(1);
    let x = p.input(Dtype::Float64);
    p.over(&[0]).reduce(x, reduction);
    p.finish()
}

fn thirty(seed: u64) -> Program {
    let mut p = Builder::new(1);
    let [a, b, c] = [0; 3].map(|_| p.input(Dtype::Float64));
    let mut last = p.multiply(a, b);
    for i in 0..29_u64 {
        let other = match i % 4 {
            0 => c,
            1 => p.constant((i + seed) as f64),
            _ => b,
        };
        last = p.apply([Op::Add, Op::Multiply, Op::Subtract][i as usize % 3], &[last, other]);
    }
    p.store(last);
    p.finish()
}

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

/// Numbers whose first lies at a place of its own within a page, so that buffers do not compete.
fn numbers(n: usize, place: usize) -> (Vec<f64>, usize) {
    let mut all = vec![0.0; n + 1024];
    let skip = (4096 - all.as_ptr() as usize % 4096) % 4096 / 8 + place * 8 * 9;
    for (i, x) in all.iter_mut().enumerate() {
        *x = (i % 1000) as f64 / 1000.0 + 0.5;
    }
    (all, skip)
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
