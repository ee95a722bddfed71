//! Sorting, choosing and random numbers beside NumPy, in turns: NumPy's time over ours.
//!
//! `PARTITA_PYTHON` names the interpreter (`python3` if it is not set), `PARTITA_BENCH` what is
//! measured (all if empty), `PARTITA_SIMD` the level. `PARTITA_CLOCK=processor` counts processor
//! time instead: the only fair one where others use the machine, and then threads gain nothing.

use partita_numeric::random::{Continuous, Stream};
use partita_numeric::sort::{self, Order};
use partita_numeric::{Cores, Scratch, choose};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

const N: usize = 10_000_000;
const ROUNDS: usize = 7;

/// Runs what it is sent, and answers with the seconds it took.
const SERVER: &str = r#"
import sys, time, os
import numpy as np
clock = time.process_time if os.environ.get("PARTITA_CLOCK") == "processor" else time.perf_counter
rng = np.random.default_rng(1)
n = int(sys.argv[1])
a = rng.random(n); i = rng.integers(-2**62, 2**62, n); f = a.astype(np.float32)
few = rng.integers(0, 16, n).astype(float); rows = a.reshape(-1, 100)
mask = a < 0.5; thin = a < 0.01; at = rng.permutation(n); out = np.empty(n)
x = np.empty(n)
print("ready", flush=True)
for line in sys.stdin:
    prepare, work = line.rstrip("\n").split("\t")
    exec(prepare)
    start = clock()
    exec(work)
    print(clock() - start, flush=True)
"#;

struct NumPy {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl NumPy {
    fn start() -> NumPy {
        let python = std::env::var("PARTITA_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let mut child = Command::new(python)
            .args(["-c", SERVER, &N.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("Python starts");
        let to = child.stdin.take().expect("its input is piped");
        let mut from = BufReader::new(child.stdout.take().expect("its output is piped"));
        let mut line = String::new();
        from.read_line(&mut line).expect("Python answers");
        assert_eq!(line, "ready\n", "NumPy is there");
        NumPy { child, to, from }
    }

    fn seconds(&mut self, prepare: &str, work: &str) -> f64 {
        writeln!(self.to, "{prepare}\t{work}").expect("Python listens");
        let mut line = String::new();
        self.from.read_line(&mut line).expect("Python answers");
        line.trim().parse().expect("seconds")
    }
}

impl Drop for NumPy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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

/// Warm memory with large pages, as results come from a pool.
struct Array<T: Copy> {
    memory: Scratch,
    n: usize,
    kind: std::marker::PhantomData<T>,
}

impl<T: Copy> Array<T> {
    fn new(n: usize, make: impl Fn(u64) -> T) -> Array<T> {
        let mut array = Array { memory: Scratch::default(), n, kind: std::marker::PhantomData };
        let mut words = vec![0; n];
        Stream { key: 1, number: 0 }.words(0, &mut words, Cores::best());
        for (to, word) in array.memory.take::<T>(n).iter_mut().zip(words) {
            to.write(make(word));
        }
        array
    }

    fn all(&mut self) -> &mut [T] {
        // SAFETY: everything was written when it was made.
        unsafe { &mut *(std::ptr::from_mut(self.memory.take::<T>(self.n)) as *mut [T]) }
    }
}

struct Bench {
    numpy: NumPy,
    only: String,
}

impl Bench {
    /// Prints the ratios of NumPy's time and ours on one and on two threads.
    fn beside(
        &mut self,
        name: &str,
        prepare: &str,
        work: &str,
        mut before: impl FnMut(),
        mut ours: impl FnMut(Cores),
    ) {
        if !name.contains(&self.only) {
            return;
        }
        let [mut peer, mut one, mut two] = [f64::INFINITY; 3];
        for _ in 0..ROUNDS {
            peer = peer.min(self.numpy.seconds(prepare, work));
            for (n_threads, best) in [(1, &mut one), (2, &mut two)] {
                before();
                let start = seconds();
                ours(Cores { n_threads, ..Cores::best() });
                *best = best.min(seconds() - start);
            }
        }
        let [p, a, b] = [peer, one, two].map(|seconds| seconds * 1e3);
        let (first, second) = (peer / one, peer / two);
        println!("{name:22} {p:8.1} ms, {a:7.1} ({first:5.2}), two threads {b:7.1} ({second:5.2})");
    }

    fn sorts<T: sort::Sortable>(&mut self, name: &str, prepare: &str, make: impl Fn(u64) -> T) {
        let mut data = Array::new(N, make);
        let copy = data.all().to_vec();
        let mut scratch = Scratch::default();
        let data = std::cell::RefCell::new(data);
        self.beside(
            name,
            prepare,
            "x.sort()",
            || data.borrow_mut().all().copy_from_slice(&copy),
            |cores| sort::sort(data.borrow_mut().all(), &mut scratch, cores),
        );
    }
}

fn unit(word: u64) -> f64 {
    (word >> 11) as f64 / (1_u64 << 53) as f64
}

fn main() {
    let only = std::env::var("PARTITA_BENCH").unwrap_or_default();
    let mut bench = Bench { numpy: NumPy::start(), only };
    println!("{:?}; NumPy, ours and their ratio", Cores::best().level);
    bench.sorts("sort float64", "x = a.copy()", unit);
    bench.sorts("sort int64", "x = i.copy()", |word| word as i64);
    bench.sorts("sort float32", "x = f.copy()", |word| unit(word) as f32);
    bench.sorts("sort 16 values", "x = few.copy()", |word| (word >> 60) as f64);

    let mut source = Array::new(N, unit);
    let copy = source.all().to_vec();
    let rows = std::cell::RefCell::new(Array::new(N, unit));
    bench.beside(
        "sort rows of 100",
        "x = rows.copy()",
        "x.sort()",
        || rows.borrow_mut().all().copy_from_slice(&copy),
        |cores| sort::sort_rows(rows.borrow_mut().all(), 100, cores),
    );
    let mut places = Array::new(N, |_| 0_i64);
    let mut scratch = Scratch::default();
    for (name, work) in [("argsort", "a.argsort()"), ("argsort stable", "a.argsort(stable=True)")] {
        bench.beside(
            name,
            "pass",
            work,
            || (),
            |cores| {
                sort::positions(source.all(), places.all(), Order::Ascending, &mut scratch, cores);
            },
        );
    }
    let sorted = {
        let mut sorted = copy.clone();
        sorted.sort_by(f64::total_cmp);
        sorted
    };
    bench.beside(
        "searchsorted",
        "s = np.sort(a)",
        "s.searchsorted(a[:1000000])",
        || (),
        |cores| {
            let places = &mut places.all()[..1_000_000];
            sort::search(&sorted, &copy[..1_000_000], sort::Side::Left, places, cores);
        },
    );

    let mut out = Array::new(N, |_| std::mem::MaybeUninit::new(0.0_f64));
    for (name, work, share) in [("mask 50 %", "a[mask]", 0.5), ("mask 1 %", "a[thin]", 0.01)] {
        let mask: Vec<bool> = copy.iter().map(|x| *x < share).collect();
        bench.beside(
            name,
            "pass",
            work,
            || (),
            |cores| {
                choose::pack(&mask, source.all(), out.all(), cores);
            },
        );
    }
    let mut at = Array::new(N, |_| 0_i64);
    Stream { key: 2, number: 0 }.permutation(N as u64, 0, at.all(), Cores::best());
    bench.beside(
        "gather",
        "pass",
        "np.take(a, at, out=out)",
        || (),
        |cores| {
            choose::gather(source.all(), at.all(), out.all(), cores).expect("all are inside");
        },
    );
    let mut target = Array::new(N, unit);
    bench.beside(
        "scatter add",
        "pass",
        "np.add.at(out, at, a)",
        || (),
        |cores| {
            choose::scatter_add(target.all(), at.all(), source.all(), cores).expect("all inside");
        },
    );

    let stream = Stream { key: 3, number: 0 };
    for (name, work, of) in [
        ("uniform", "rng.random(out=out)", Continuous::Uniform),
        ("normal", "rng.standard_normal(out=out)", Continuous::Normal),
        ("exponential", "rng.standard_exponential(out=out)", Continuous::Exponential),
        ("gamma 2", "rng.standard_gamma(2.0, out=out)", Continuous::Gamma { shape: 2.0 }),
    ] {
        bench.beside(
            name,
            "pass",
            work,
            || (),
            |cores| {
                stream.fill(of, 0, target.all(), cores).expect("good parameters");
            },
        );
    }
    bench.beside(
        "permutation",
        "pass",
        "rng.permutation(n)",
        || (),
        |cores| {
            stream.permutation(N as u64, 0, at.all(), cores);
        },
    );
}
