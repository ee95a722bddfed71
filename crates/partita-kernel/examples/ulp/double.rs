//! Float64 beside quad precision.

use crate::arguments::{Draw, Random, pairs, ranges};
use crate::peers::Peers;
use crate::units::{ulps, ulps2};
use crate::worst::{Worst, head, on_all_cores};
use libloading::Symbol;
use partita_kernel::math::{self, Binary, Level, Number, Unary};

const BATCH: usize = 4096;
type Reference = unsafe extern "C" fn(*const f64, *mut f64, *mut f64, i64);
type Reference2 = unsafe extern "C" fn(*const f64, *const f64, *mut f64, *mut f64, i64);

/// Measures `count` arguments per function, divided among its ranges; false if a bound breaks.
pub fn all(peers: &Peers, count: u64, wanted: impl Fn(&str) -> bool) -> bool {
    head("ulp");
    let mut holds = true;
    for &function in Unary::ALL.iter().filter(|f| wanted(f.name())) {
        let ranges = ranges(function.name());
        let share = count.div_ceil(ranges.len().max(1) as u64);
        let mut worst = Worst::default();
        for draw in &ranges {
            worst.join(one(peers, function, *draw, share));
        }
        if !ranges.is_empty() {
            holds &= worst.report(function.name(), function.max_ulp(Number::F64));
        }
    }
    for &function in Binary::ALL.iter().filter(|f| wanted(f.name())) {
        let pairs = pairs(function.name());
        let share = count.div_ceil(pairs.len().max(1) as u64);
        let mut worst = Worst::default();
        for draws in &pairs {
            worst.join(two(peers, function, *draws, share));
        }
        if !pairs.is_empty() {
            holds &= worst.report(function.name(), function.max_ulp(Number::F64));
        }
    }
    holds
}

/// Arguments of one batch: always the same ones for the same number.
fn batch_of(random: &mut Random, draw: Draw) -> Vec<f64> {
    (0..BATCH).map(|_| draw.one(random)).collect()
}

fn one(peers: &Peers, function: Unary, draw: Draw, count: u64) -> Worst {
    let name = format!("ref_{}", function.name());
    // SAFETY: the library has this function with this signature.
    let f: Symbol<'_, Reference> = unsafe { peers.reference.get(&name).expect("reference") };
    on_all_cores(count.div_ceil(BATCH as u64), |batch| {
        let x = batch_of(&mut Random::new(batch + 1), draw);
        let (mut y, mut high, mut low) = (vec![0.0; BATCH], vec![0.0; BATCH], vec![0.0; BATCH]);
        math::apply(Level::best(), function, &x, &mut y);
        // SAFETY: all have BATCH elements.
        unsafe { f(x.as_ptr(), high.as_mut_ptr(), low.as_mut_ptr(), BATCH as i64) };
        let mut worst = Worst::default();
        for i in 0..BATCH {
            worst.see(ulps(y[i], high[i], low[i]), || format!("{:e} -> {:e}", x[i], y[i]));
        }
        worst
    })
}

fn two(peers: &Peers, function: Binary, draws: (Draw, Draw), count: u64) -> Worst {
    let name = format!("ref_{}", function.name());
    // SAFETY: the library has this function with this signature.
    let f: Symbol<'_, Reference2> = unsafe { peers.reference.get(&name).expect("reference") };
    on_all_cores(count.div_ceil(BATCH as u64), |batch| {
        let mut random = Random::new(batch + 1);
        let (x, z) = (batch_of(&mut random, draws.0), batch_of(&mut random, draws.1));
        let (mut y, mut high, mut low) = (vec![0.0; BATCH], vec![0.0; BATCH], vec![0.0; BATCH]);
        math::apply2(Level::best(), function, &x, &z, &mut y);
        // SAFETY: all have BATCH elements.
        unsafe { f(x.as_ptr(), z.as_ptr(), high.as_mut_ptr(), low.as_mut_ptr(), BATCH as i64) };
        let mut worst = Worst::default();
        for i in 0..BATCH {
            let error = ulps2(function, y[i], high[i], low[i]);
            worst.see(error, || format!("{:e}, {:e} -> {:e}", x[i], z[i], y[i]));
        }
        worst
    })
}
