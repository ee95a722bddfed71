//! Largest errors.

use crate::arguments::{Random, pairs, ranges};
use crate::peers::Peers;
use libloading::Symbol;
use partita_kernel::math::{self, Binary, Level, Unary};

const BATCH: usize = 4096;
type Reference = unsafe extern "C" fn(*const f64, *mut f64, *mut f64, i64);
type Reference2 = unsafe extern "C" fn(*const f64, *const f64, *mut f64, *mut f64, i64);
type Reference32 = unsafe extern "C" fn(*const f32, *mut f64, i64);
type ReferenceComplex = unsafe extern "C" fn(*const f64, *mut f64, i64);

/// The worst argument found so far.
#[derive(Clone, Default)]
struct Worst {
    error: f64,
    at: String,
}

impl Worst {
    fn see(&mut self, error: f64, at: impl Fn() -> String) {
        if error > self.error || error.is_nan() {
            *self = Worst { error, at: at() };
        }
    }
    fn join(&mut self, other: Worst) {
        if other.error > self.error || other.error.is_nan() {
            *self = other;
        }
    }
}

/// The error of y in units of the last place of the value high + low.
fn ulps(y: f64, high: f64, low: f64) -> f64 {
    if y.is_nan() || high.is_nan() {
        return if y.is_nan() && high.is_nan() { 0.0 } else { f64::NAN };
    }
    if y == high {
        // Equal infinities and zeros have no error; others have what the quad value has more.
        return if high.is_infinite() || high == 0.0 { 0.0 } else { (low / unit(high)).abs() };
    }
    if high.is_infinite() || y.is_infinite() {
        return f64::INFINITY;
    }
    (((y - high) - low) / unit(high)).abs()
}

fn unit(x: f64) -> f64 {
    let exponent = ((x.to_bits() >> 52) & 0x7ff).max(1) as i32;
    if exponent > 52 {
        f64::from_bits((exponent as u64 - 52) << 52)
    } else {
        f64::from_bits(1 << (exponent - 1))
    }
}

/// The error of a function of two arguments. That of logaddexp is in units of at least log 2: its
/// result may be small while its arguments are not.
fn error(function: Binary, y: f64, high: f64, low: f64) -> f64 {
    if function == Binary::Logaddexp && high.abs() < std::f64::consts::LN_2 {
        return ((y - high) - low).abs() / unit(std::f64::consts::LN_2);
    }
    ulps(y, high, low)
}

/// Runs jobs 0..count on all cores and joins what they find.
fn on_all_cores(count: u64, job: impl Fn(u64) -> Worst + Sync) -> Worst {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = std::sync::atomic::AtomicU64::new(0);
    std::thread::scope(|scope| {
        let work = || {
            let mut worst = Worst::default();
            loop {
                let i = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                if i >= count {
                    return worst;
                }
                worst.join(job(i));
            }
        };
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let mut worst = Worst::default();
        for thread in threads {
            worst.join(thread.join().expect("no job panics"));
        }
        worst
    })
}

/// Float64, `count` arguments per function and range.
pub fn double(peers: &Peers, count: u64, wanted: impl Fn(&str) -> bool) {
    println!("| function | max ulp | worst argument |\n|---|---|---|");
    let batches = count.div_ceil(BATCH as u64);
    for &function in Unary::ALL.iter().filter(|f| wanted(f.name())) {
        for draw in ranges(function.name()) {
            let name = format!("ref_{}", function.name());
            // SAFETY: the library has this function with this signature.
            let f: Symbol<'_, Reference> =
                unsafe { peers.reference.get(&name).expect("reference") };
            let worst = on_all_cores(batches, |batch| {
                let mut random = Random::new(batch + 1);
                let x: Vec<f64> = (0..BATCH).map(|_| draw.one(&mut random)).collect();
                let (mut y, mut high, mut low) =
                    (vec![0.0; BATCH], vec![0.0; BATCH], vec![0.0; BATCH]);
                math::apply(Level::best(), function, &x, &mut y);
                // SAFETY: all have BATCH elements.
                unsafe { f(x.as_ptr(), high.as_mut_ptr(), low.as_mut_ptr(), BATCH as i64) };
                let mut worst = Worst::default();
                for i in 0..BATCH {
                    worst.see(ulps(y[i], high[i], low[i]), || format!("{:e} -> {:e}", x[i], y[i]));
                }
                worst
            });
            println!("| {} | {:.3} | {} |", function.name(), worst.error, worst.at);
        }
    }
    for &function in Binary::ALL.iter().filter(|f| wanted(f.name())) {
        for (left, right) in pairs(function.name()) {
            let name = format!("ref_{}", function.name());
            // SAFETY: the library has this function with this signature.
            let f: Symbol<'_, Reference2> =
                unsafe { peers.reference.get(&name).expect("reference") };
            let worst = on_all_cores(batches, |batch| {
                let mut random = Random::new(batch + 1);
                let x: Vec<f64> = (0..BATCH).map(|_| left.one(&mut random)).collect();
                let z: Vec<f64> = (0..BATCH).map(|_| right.one(&mut random)).collect();
                let (mut y, mut high, mut low) =
                    (vec![0.0; BATCH], vec![0.0; BATCH], vec![0.0; BATCH]);
                math::apply2(Level::best(), function, &x, &z, &mut y);
                // SAFETY: all have BATCH elements.
                unsafe {
                    f(x.as_ptr(), z.as_ptr(), high.as_mut_ptr(), low.as_mut_ptr(), BATCH as i64);
                };
                let mut worst = Worst::default();
                for i in 0..BATCH {
                    worst.see(error(function, y[i], high[i], low[i]), || {
                        format!("{:e}, {:e} -> {:e}", x[i], z[i], y[i])
                    });
                }
                worst
            });
            println!("| {} | {:.3} | {} |", function.name(), worst.error, worst.at);
        }
    }
}

/// The error of y in units of the last place of float32.
fn ulps32(y: f32, exact: f64) -> f64 {
    let rounded = exact as f32;
    if y.is_nan() || exact.is_nan() {
        return if y.is_nan() && exact.is_nan() { 0.0 } else { f64::NAN };
    }
    if y == rounded && (y == 0.0 && exact == 0.0 || y.is_infinite()) {
        return 0.0;
    }
    if y.is_infinite() || rounded.is_infinite() {
        return f64::INFINITY;
    }
    let exponent = ((exact.abs().to_bits() >> 52) as i64 - 1023).max(-126);
    let unit = f64::from_bits(((exponent - 23 + 1023) as u64) << 52);
    ((f64::from(y) - exact) / unit).abs()
}

/// Float32, every stride-th of all numbers.
pub fn single(peers: &Peers, stride: u64, wanted: impl Fn(&str) -> bool) {
    const CHUNK: u64 = 1 << 16;
    println!("| function | max ulp | worst argument |\n|---|---|---|");
    for &function in Unary::ALL.iter().filter(|f| wanted(f.name())) {
        let name = format!("reff_{}", function.name());
        // SAFETY: where the library has this function it has this signature.
        let Ok(f) = (unsafe { peers.reference.get::<Reference32>(&name) }) else { continue };
        let worst = on_all_cores((1 << 32) / stride / CHUNK, |chunk| {
            let bits = |i| ((chunk * CHUNK + i) * stride) as u32;
            let x: Vec<f32> = (0..CHUNK).map(|i| f32::from_bits(bits(i))).collect();
            let (mut y, mut exact) = (vec![0.0f32; x.len()], vec![0.0; x.len()]);
            math::apply(Level::best(), function, &x, &mut y);
            // SAFETY: all have as many elements.
            unsafe { f(x.as_ptr(), exact.as_mut_ptr(), x.len() as i64) };
            let mut worst = Worst::default();
            for i in 0..x.len() {
                worst.see(ulps32(y[i], exact[i]), || format!("{:e} -> {:e}", x[i], y[i]));
            }
            worst
        });
        println!("| {} | {:.4} | {} |", function.name(), worst.error, worst.at);
    }
}

/// Complex128, `count` arguments per function; errors relative to the value's size.
pub fn complex(peers: &Peers, count: u64, wanted: impl Fn(&str) -> bool) {
    println!("| function | max error / ulp of the size | worst argument |\n|---|---|---|");
    for &function in Unary::ALL.iter().filter(|f| wanted(f.name())) {
        let name = format!("refc_{}", function.name());
        // SAFETY: where the library has this function it has this signature.
        let Ok(f) = (unsafe { peers.reference.get::<ReferenceComplex>(&name) }) else { continue };
        for exponents in [2.0, 30.0, 300.0] {
            let worst = on_all_cores(count.div_ceil(BATCH as u64), |batch| {
                let mut random = Random::new(batch + 1);
                let mut part = || random.power(-exponents, exponents.min(9.0), -1.0);
                let x: Vec<[f64; 2]> = (0..BATCH).map(|_| [part(), part()]).collect();
                let (mut y, mut exact) = (vec![[0.0; 2]; BATCH], vec![[0.0; 4]; BATCH]);
                math::apply(Level::best(), function, &x, &mut y);
                // SAFETY: all have BATCH elements.
                unsafe { f(x.as_ptr().cast(), exact.as_mut_ptr().cast(), BATCH as i64) };
                let mut worst = Worst::default();
                for i in 0..BATCH {
                    let [re, re_low, im, im_low] = exact[i];
                    let (d, e) = ((y[i][0] - re) - re_low, (y[i][1] - im) - im_low);
                    let size = unit(re.hypot(im));
                    let same = |y: f64, e: f64| y == e || y.is_nan() && e.is_nan();
                    let exact = same(y[i][0], re) && same(y[i][1], im);
                    let error = if exact { 0.0 } else { d.hypot(e) / size };
                    worst.see(error, || {
                        format!(
                            "{:e} {:e}i -> {:e} {:e}i, not {re:e} {im:e}i",
                            x[i][0], x[i][1], y[i][0], y[i][1]
                        )
                    });
                }
                worst
            });
            println!("| {} | {:.3} | {} |", function.name(), worst.error, worst.at);
        }
    }
}
