//! x
use partita_numeric::{Cores, Scratch, sort};
fn seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}
fn main() {
    for m in [128, 256, 512, 1024, 4096, 32768, 262144, 2097152usize] {
        let n = (1 << 21) / m * m;
        let mut s = 88172645463325252u64;
        let a: Vec<f64> = (0..n).map(|_| { s ^= s << 13; s ^= s >> 7; s ^= s << 17; (s >> 11) as f64 / 9e15 }).collect();
        let mut b = a.clone();
        let mut scratch = Scratch::default();
        let mut best = f64::MAX;
        let cores = Cores::best().alone();
        for _ in 0..10 {
            b.copy_from_slice(&a);
            let q = seconds();
            for row in b.chunks_mut(m) { sort::sort(row, &mut scratch, cores); }
            best = best.min(seconds()-q);
        }
        println!("{m} {:.2} ns", best * 1e9 / n as f64);
    }

    let n = 10_000_000;
    let mut s = 88172645463325252u64;
    let a: Vec<f64> = (0..n).map(|_| { s ^= s << 13; s ^= s >> 7; s ^= s << 17; (s >> 11) as f64 / 9e15 }).collect();
    let mut want = a.clone();
    want.sort_by(f64::total_cmp);
    for t in [1] {
        for level in partita_kernel::math::Level::all() { if level.name()!="avx512" {continue;}
            let cores = Cores { n_threads: t, level };
            let mut scratch = Scratch::default();
            let mut best = f64::MAX;
            let mut mem = Scratch::default(); let b = unsafe { mem.take::<f64>(n).assume_init_mut() };
            for _ in 0..20 {
                b.copy_from_slice(&a);
                let q = seconds();
                sort::sort(&mut *b, &mut scratch, cores);
                best = best.min(seconds()-q);
                assert!(b == want);
            }
            println!("{t} {level:?} {:.1} ms", best * 1e3);
        }
    }
}
