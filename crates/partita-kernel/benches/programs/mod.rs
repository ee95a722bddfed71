//! The programs that are measured, and memory for them.
#![allow(dead_code, reason = "every bench takes what it needs")]

use partita_kernel::{Builder, Dtype, Op, Program, Reduction, Value};

pub fn sqrt8() -> Program {
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

pub fn poly8() -> Program {
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

pub fn jacobi() -> Program {
    let mut p = Builder::new(2);
    let [n, s, w, e] = [0; 4].map(|_| p.input(Dtype::Float64));
    let quarter = p.constant(0.25);
    let (ns, we) = (p.add(n, s), p.add(w, e));
    let all = p.add(ns, we);
    let mean = p.multiply(quarter, all);
    p.store(mean);
    p.finish()
}

pub fn triad() -> Program {
    let mut p = Builder::new(1);
    let [b, c] = [0; 2].map(|_| p.input(Dtype::Float64));
    let three = p.constant(3.0);
    let grown = p.fused_multiply_add(three, c, b);
    p.store(grown);
    p.finish()
}

/// Calls and puts by the error function; price, strike, time; rate and volatility are constants.
pub fn black_scholes() -> Program {
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

pub fn reduction(reduction: Reduction) -> Program {
    reduction_of(reduction, Dtype::Float64)
}

pub fn reduction_of(reduction: Reduction, dtype: Dtype) -> Program {
    let mut p = Builder::new(1);
    let x = p.input(dtype);
    if reduction == Reduction::Variance {
        let correction = p.constant(0.0);
        p.over(&[0]).variance(x, correction);
    } else {
        p.over(&[0]).reduce(x, reduction);
    }
    p.finish()
}

pub fn thirty(seed: u64) -> Program {
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

/// Numbers whose first lies at a place of its own within a page, so that buffers do not compete.
pub fn numbers(n: usize, place: usize) -> (Vec<f64>, usize) {
    let mut all = vec![0.0; n + 1024];
    let skip = (4096 - all.as_ptr() as usize % 4096) % 4096 / 8 + place * 8 * 9;
    for (i, x) in all.iter_mut().enumerate() {
        *x = (i % 1000) as f64 / 1000.0 + 0.5;
    }
    (all, skip)
}
