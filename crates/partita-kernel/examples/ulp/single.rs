//! Float32 beside double precision.

use crate::arguments::{Random, pairs};
use crate::peers::Peers;
use crate::units::ulps32;
use crate::worst::{Worst, head, on_all_cores};
use partita_kernel::math::{self, Binary, Level, Number, Unary};
use std::sync::atomic::{AtomicU32, Ordering};

type Reference = unsafe extern "C" fn(*const f32, *mut f64, i64);
type Reference2 = unsafe extern "C" fn(*const f32, *const f32, *mut f64, i64);

const CHUNK: u64 = 1 << 14;

/// Measures functions of one argument on every stride-th of all numbers, functions of two on
/// as many random ones as that is, 2^28 at most; false if a bound breaks.
pub fn all(peers: &Peers, stride: u64, wanted: impl Fn(&str) -> bool) -> bool {
    head("ulp");
    let n_chunks = ((1_u64 << 32) / stride).div_ceil(CHUNK);
    let mut holds = true;
    for &function in Unary::ALL.iter().filter(|f| wanted(f.name())) {
        if let Some(bound) = function.max_ulp(Number::F32) {
            let worst = one(peers, function, stride, n_chunks);
            holds &= worst.report(function.name(), Some(bound));
        }
    }
    for &function in Binary::ALL.iter().filter(|f| wanted(f.name())) {
        if let Some(bound) = function.max_ulp(Number::F32) {
            let worst = two(peers, function, n_chunks.min((1 << 28) / CHUNK));
            holds &= worst.report(function.name(), Some(bound));
        }
    }
    holds
}

fn one(peers: &Peers, function: Unary, stride: u64, n_chunks: u64) -> Worst {
    let name = format!("reff_{}", function.name());
    // SAFETY: the library has this function with this signature.
    let f = unsafe { peers.reference.get::<Reference>(&name).expect("reference") };
    let known = AtomicU32::new(0);
    on_all_cores(n_chunks, |chunk| {
        let bits = |i| ((chunk * CHUNK + i) * stride) as u32;
        let x: Vec<f32> = (0..CHUNK).map(|i| f32::from_bits(bits(i))).collect();
        let mut y = vec![0.0f32; x.len()];
        math::apply(Level::best(), function, &x, &mut y);
        let (x, y) = doubtful(function, x, y, f32::from_bits(known.load(Ordering::Relaxed)));
        let mut exact = vec![0.0; x.len()];
        // SAFETY: all have as many elements.
        unsafe { f(x.as_ptr(), exact.as_mut_ptr(), x.len() as i64) };
        let worst = judge(&y, &exact, |i| format!("{:e} -> {:e}", x[i], y[i]));
        // Of numbers that are not negative, the larger one has the larger bits.
        known.fetch_max((worst.error as f32).to_bits(), Ordering::Relaxed);
        worst
    })
}

/// The arguments worth asking the reference about, which takes most of the time: those that our
/// float64 function, which is another computation, finds nearly as bad as the worst known; and
/// always every 61st. Functions that are float64 ones, rounded, are asked about everywhere.
fn doubtful(function: Unary, x: Vec<f32>, y: Vec<f32>, known: f32) -> (Vec<f32>, Vec<f32>) {
    if function.max_ulp(Number::F32).is_none_or(|bound| bound < 0.51) {
        return (x, y);
    }
    let wide: Vec<f64> = x.iter().map(|&x| f64::from(x)).collect();
    let mut near = vec![0.0; wide.len()];
    math::apply(Level::best(), function, &wide, &mut near);
    let least = f64::from(known) - 0.001;
    let asked = |i: usize| {
        let error = ulps32(y[i], near[i]);
        i.is_multiple_of(61) || error >= least || error.is_nan()
    };
    (0..x.len()).filter(|&i| asked(i)).map(|i| (x[i], y[i])).unzip()
}

fn two(peers: &Peers, function: Binary, n_chunks: u64) -> Worst {
    let name = format!("reff_{}", function.name());
    // SAFETY: the library has this function with this signature.
    let f = unsafe { peers.reference.get::<Reference2>(&name).expect("reference") };
    let draws = pairs(function.name());
    on_all_cores(n_chunks, |chunk| {
        let mut random = Random::new(chunk + 1);
        let (left, right) = draws[chunk as usize % draws.len()];
        let x: Vec<f32> = (0..CHUNK).map(|_| left.one(&mut random) as f32).collect();
        let z: Vec<f32> = (0..CHUNK).map(|_| right.one(&mut random) as f32).collect();
        let (mut y, mut exact) = (vec![0.0f32; x.len()], vec![0.0; x.len()]);
        math::apply2(Level::best(), function, &x, &z, &mut y);
        // SAFETY: all have as many elements.
        unsafe { f(x.as_ptr(), z.as_ptr(), exact.as_mut_ptr(), x.len() as i64) };
        judge(&y, &exact, |i| format!("{:e}, {:e} -> {:e}", x[i], z[i], y[i]))
    })
}

fn judge(y: &[f32], exact: &[f64], at: impl Fn(usize) -> String) -> Worst {
    let mut worst = Worst::default();
    for i in 0..y.len() {
        // A rounded value errs by half a unit at most; once there is worse, it need not be looked at.
        if worst.error < 0.5 || y[i] != exact[i] as f32 {
            worst.see(ulps32(y[i], exact[i]), || at(i));
        }
    }
    worst
}
