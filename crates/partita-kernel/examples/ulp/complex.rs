//! Complex128 beside quad precision; errors are relative to the value's size.

use crate::arguments::Random;
use crate::peers::Peers;
use crate::units::unit;
use crate::worst::{Worst, head, on_all_cores};
use libloading::Symbol;
use partita_kernel::math::{self, Level, Number, Unary};

const BATCH: usize = 4096;
type Reference = unsafe extern "C" fn(*const f64, *mut f64, i64);

/// Measures `count` arguments per function, a third with each range of exponents.
pub fn all(peers: &Peers, count: u64, wanted: impl Fn(&str) -> bool) -> bool {
    head("error / ulp of the size");
    let mut holds = true;
    for &function in Unary::ALL.iter().filter(|f| wanted(f.name())) {
        let name = format!("refc_{}", function.name());
        // SAFETY: where the library has this function it has this signature.
        let Ok(f) = (unsafe { peers.reference.get::<Reference>(&name) }) else { continue };
        let mut worst = Worst::default();
        for exponents in [2.0, 30.0, 300.0] {
            let n_batches = count.div_ceil(3 * BATCH as u64);
            worst.join(on_all_cores(n_batches, |batch| one(function, &f, exponents, batch)));
        }
        holds &= worst.report(function.name(), function.max_ulp(Number::C128));
    }
    holds
}

fn one(function: Unary, f: &Symbol<'_, Reference>, exponents: f64, batch: u64) -> Worst {
    let mut random = Random::new(batch + 1);
    let mut part = || random.power(-exponents, exponents.min(9.0), -1.0);
    let x: Vec<[f64; 2]> = (0..BATCH).map(|_| [part(), part()]).collect();
    let (mut y, mut exact) = (vec![[0.0; 2]; BATCH], vec![[0.0; 4]; BATCH]);
    math::apply(Level::best(), function, &x, &mut y);
    // SAFETY: all have BATCH elements.
    unsafe { f(x.as_ptr().cast(), exact.as_mut_ptr().cast(), BATCH as i64) };
    let mut worst = Worst::default();
    for i in 0..BATCH {
        worst.see(error(y[i], exact[i]), || format!("{:?} -> {:?}", x[i], y[i]));
    }
    worst
}

fn error(y: [f64; 2], [re, re_low, im, im_low]: [f64; 4]) -> f64 {
    let same = |y: f64, e: f64| y == e || y.is_nan() && e.is_nan();
    if same(y[0], re) && same(y[1], im) {
        return 0.0;
    }
    let (d, e) = ((y[0] - re) - re_low, (y[1] - im) - im_low);
    d.hypot(e) / unit(re.hypot(im))
}
