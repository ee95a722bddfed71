//! Matrices and Fourier transforms beside NumPy and SciPy, in turns, as ratios.
//!
//! `PARTITA_PYTHON` names an interpreter with both (`python3` if it is not set), `PARTITA_BENCH`
//! what is measured (all if empty), `PARTITA_THREADS` the threads of both (2). The peer runs in
//! processes of its own: the threads of a BLAS that wait for work would take ours away.

use partita_linear::Complex;
use partita_linear::fourier::{Array, ArrayMut, Direction, Norm, Real, fft, fft_in_place};
use partita_linear::matrix::{
    Into, Lu, Multiply, Qr, Stack, StackMut, Svd, Triangle, Vectors, View, ViewMut, cholesky, eigh,
    matmul, matmul_stack,
};
use std::process::Command;
use std::time::Instant;

const ROUNDS: usize = 3;
const REPEATS: usize = 3;

fn n_threads() -> usize {
    std::env::var("PARTITA_THREADS").ok().and_then(|n| n.parse().ok()).unwrap_or(2)
}

/// Numbers in memory with huge pages, as NumPy has them.
fn numbers<T: Copy>(n: usize, element: impl Fn(f64) -> T) -> Vec<T> {
    let mut memory: Vec<T> = Vec::with_capacity(n);
    let bytes = n * size_of::<T>();
    if bytes >= 4 << 20 {
        let start = (memory.as_mut_ptr() as usize).next_multiple_of(4096);
        // SAFETY: advice about memory that is ours.
        unsafe { libc::madvise(start as *mut _, bytes - 4096, libc::MADV_HUGEPAGE) };
    }
    let mut state = 1_u64;
    memory.extend((0..n).map(|_| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        element((state >> 40) as f64 / (1_u64 << 24) as f64 - 0.5)
    }));
    memory
}

/// Seconds of the fastest of a few runs.
fn fastest(work: &mut dyn FnMut()) -> f64 {
    let times = (0..REPEATS).map(|_| {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64()
    });
    times.fold(f64::INFINITY, f64::min)
}

/// Seconds of the fastest of a few runs of a statement of Python.
fn peer(setup: &str, statement: &str) -> Option<f64> {
    let python = std::env::var("PARTITA_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let script = format!(
        "import time, numpy as np\nrng = np.random.default_rng(1)\n{setup}\n{statement}\n\
         times = []\nfor _ in range({REPEATS}):\n    start = time.perf_counter()\n    {statement}\n    \
         times.append(time.perf_counter() - start)\nprint(min(times))"
    );
    let threads = n_threads().to_string();
    let output = Command::new(python)
        .args(["-c", &script])
        .env("OPENBLAS_NUM_THREADS", threads)
        .stderr(std::process::Stdio::null())
        .output();
    String::from_utf8(output.ok()?.stdout).ok()?.trim().parse().ok()
}

/// Measures both in turns and prints the ratio.
fn beside(name: &str, setup: &str, statement: &str, work: &mut dyn FnMut()) {
    let wanted = std::env::var("PARTITA_BENCH").unwrap_or_default();
    if !name.contains(&wanted) {
        return;
    }
    let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
    work();
    for _ in 0..ROUNDS {
        theirs = theirs.min(peer(setup, statement).unwrap_or(f64::INFINITY));
        ours = ours.min(fastest(work));
    }
    let (ours, theirs) = (1e3 * ours, 1e3 * theirs);
    println!("{name:34} {ours:10.3} ms   peer {theirs:10.3} ms   ratio {:6.2}", theirs / ours);
}

fn products<T: Multiply>(dtype: &str, element: impl Fn(f64) -> T + Copy) {
    for n in [1024, 4096] {
        let (a, b) = (numbers(n * n, element), numbers(n * n, element));
        let mut out = numbers(n * n, element);
        let setup = format!(
            "a = rng.random(({n}, {n})).astype('{dtype}'); b = a.copy(); c = np.empty_like(a)"
        );
        beside(&format!("matmul {n} {dtype}"), &setup, "np.matmul(a, b, out=c)", &mut || {
            let out = ViewMut::new(&mut out, n, n);
            let (a, b) = (View::new(&a, n, n), View::new(&b, n, n));
            matmul(out, a, b, Into::Overwrite, n_threads()).expect("shapes fit");
        });
    }
}

fn vectors() {
    let n = 8192;
    let (a, x) = (numbers(n * n, |x| x), numbers(n, |x| x));
    let mut out = vec![0.0; n];
    let setup = format!("a = rng.random(({n}, {n})); x = rng.random({n}); y = np.empty({n})");
    beside("matrix times vector 8192", &setup, "np.matmul(a, x, out=y)", &mut || {
        let (out, a, x) = (ViewMut::new(&mut out, n, 1), View::new(&a, n, n), View::new(&x, n, 1));
        matmul(out, a, x, Into::Overwrite, n_threads()).expect("shapes fit");
    });
    beside("vector times matrix 8192", &setup, "np.matmul(x, a, out=y)", &mut || {
        let (out, a, x) = (ViewMut::new(&mut out, 1, n), View::new(&a, n, n), View::new(&x, 1, n));
        matmul(out, x, a, Into::Overwrite, n_threads()).expect("shapes fit");
    });
}

fn stacks() {
    for (n, count) in [(2, 100_000), (4, 100_000), (8, 100_000), (16, 30_000), (32, 10_000)] {
        let (a, b) = (numbers(count * n * n, |x| x), numbers(count * n * n, |x| x));
        let mut out = vec![0.0; count * n * n];
        let setup = format!("a = rng.random(({count}, {n}, {n})); c = np.empty_like(a)");
        let (extents, strides) = ([count], [(n * n).cast_signed()]);
        beside(&format!("stack of {count} {n}x{n}"), &setup, "np.matmul(a, a, out=c)", &mut || {
            // SAFETY: the matrices lie behind each other.
            unsafe {
                let stack = |x| Stack::new(View::new(x, n, n), &extents, &strides);
                let first = ViewMut::new(&mut out[..n * n], n, n);
                let mut out = StackMut::new(first, &extents, &strides);
                let (a, b) = (stack(&a[..n * n]), stack(&b[..n * n]));
                matmul_stack(&mut out, a, b, Into::Overwrite, 1).expect("shapes fit");
            }
        });
    }
}

fn integers() {
    let n = 512;
    let (a, b) = (numbers(n * n, |x| (1e3 * x) as i64), numbers(n * n, |x| (1e3 * x) as i64));
    let mut out = vec![0_i64; n * n];
    let setup = format!("a = rng.integers(0, 1000, ({n}, {n})); c = np.empty_like(a)");
    beside("matmul 512 int64", &setup, "np.matmul(a, a, out=c)", &mut || {
        let out = ViewMut::new(&mut out, n, n);
        let (a, b) = (View::new(&a, n, n), View::new(&b, n, n));
        matmul(out, a, b, Into::Overwrite, n_threads()).expect("shapes fit");
    });
}

fn fourier<T: Real>(dtype: &str, element: impl Fn(f64) -> Complex<T> + Copy) {
    let scipy = |shape: &str| {
        format!("import scipy.fft\na = rng.random({shape}) + 1j\na = a.astype('{dtype}')")
    };
    let workers = format!("workers={}", n_threads());
    let n = 4096;
    let input = numbers(n * n, element);
    let mut out = numbers(n * n, element);
    let (extents, strides) = ([n, n], [n.cast_signed(), 1]);
    let statement = format!("scipy.fft.fft2(a, {workers})");
    beside(&format!("fft2 4096x4096 {dtype}"), &scipy("(4096, 4096)"), &statement, &mut || {
        // SAFETY: both have 4096 times 4096 points.
        let (input, mut out) = unsafe {
            (
                Array::new(input.as_ptr(), &extents, &strides),
                ArrayMut::new(out.as_mut_ptr(), &extents, &strides),
            )
        };
        let (forward, norm) = (Direction::Forward, Norm::Backward);
        fft(input, &mut out, &[0, 1], forward, norm, n_threads()).expect("axes");
    });
    for n in [1 << 20, 1_000_003] {
        let mut points = numbers(n, element);
        let name = format!("fft {n} {dtype}");
        let statement = format!("scipy.fft.fft(a, {workers})");
        beside(&name, &scipy(&n.to_string()), &statement, &mut || {
            let extents = [n];
            // SAFETY: as many points.
            let mut array = unsafe { ArrayMut::new(points.as_mut_ptr(), &extents, &[1]) };
            let (forward, norm) = (Direction::Forward, Norm::Ortho);
            fft_in_place(&mut array, &[0], forward, norm, n_threads()).expect("axes");
        });
    }
}

fn factors() {
    let n = 1024;
    let a = numbers(n * n, |x| x);
    let mut definite = a.clone();
    (0..n).for_each(|i| definite[i * n + i] += 100.0);
    let mut symmetric = definite.clone();
    for i in 0..n {
        (0..i).for_each(|j| symmetric[j * n + i] = symmetric[i * n + j]);
    }
    let mut out = vec![0.0; n * n];
    let setup = format!(
        "a = rng.random(({n}, {n})) - 0.5; s = a + a.T + 100 * np.eye({n}); b = rng.random({n})"
    );
    let view = View::new(&a, n, n);
    let definite = View::new(&symmetric, n, n);
    beside("cholesky 1024", &setup, "np.linalg.cholesky(s)", &mut || {
        let out = ViewMut::new(&mut out, n, n);
        cholesky(out, definite, Triangle::Lower, n_threads()).expect("definite");
    });
    beside("solve 1024", &setup, "np.linalg.solve(a, b)", &mut || {
        let mut b = vec![1.0; n];
        Lu::new(view, n_threads()).solve(&mut ViewMut::new(&mut b, n, 1)).expect("regular");
    });
    beside("inverse 1024", &setup, "np.linalg.inv(a)", &mut || {
        let mut out = ViewMut::new(&mut out, n, n);
        Lu::new(view, n_threads()).inverse(&mut out).expect("regular");
    });
    beside("qr 1024", &setup, "np.linalg.qr(a)", &mut || {
        let qr = Qr::new(view, n_threads());
        qr.upper(&mut ViewMut::new(&mut out, n, n)).expect("fits");
        qr.orthonormal(&mut ViewMut::new(&mut out, n, n)).expect("fits");
    });
    beside("svd 1024", &setup, "np.linalg.svd(a)", &mut || {
        Svd::new(view, Vectors::Full, n_threads()).expect("finite");
    });
    beside("eigh 1024", &setup, "np.linalg.eigh(s)", &mut || {
        let vectors = ViewMut::new(&mut out, n, n);
        eigh(definite, Triangle::Lower, Some(vectors), n_threads()).expect("finite");
    });
    let tall = numbers(200_000 * 32, |x| x);
    let setup = "a = rng.random((200000, 32))";
    beside("qr 200000x32, R alone", setup, "np.linalg.qr(a, mode='r')", &mut || {
        let mut r = vec![0.0; 32 * 32];
        let qr = Qr::new(View::new(&tall, 200_000, 32), n_threads());
        qr.upper(&mut ViewMut::new(&mut r, 32, 32)).expect("fits");
    });
}

fn main() {
    products("float64", |x| x);
    products("float32", |x| x as f32);
    products("complex128", |x| Complex::new(x, 1.0 - x));
    vectors();
    stacks();
    integers();
    fourier("complex128", |x| Complex::new(x, 1.0));
    fourier("complex64", |x| Complex::new(x as f32, 1.0));
    factors();
}
