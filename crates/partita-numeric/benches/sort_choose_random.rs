//! x
use partita_numeric::{Cores, Scratch, sort};
fn seconds() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + 1e-9 * time.tv_nsec as f64
}
fn main() {
    for m in [/*128, 256, 512, 1024, 4096, 32768, 262144, 2097152*/usize::MAX; 0] {
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
    let mut mem3 = Scratch::default(); let a = unsafe { mem3.take::<f64>(n).assume_init_mut() }; for x in a.iter_mut() { s ^= s << 13; s ^= s >> 7; s ^= s << 17; *x = (s >> 11) as f64 / 9e15 };
    let mut want = a.to_vec();
    want.sort_by(f64::total_cmp);
    for t in [1,2] {
        for level in partita_kernel::math::Level::all() { if level.name()!="avx512" {continue;}
            let cores = Cores { n_threads: t, level };
            let mut scratch = Scratch::default();
            let mut best = f64::MAX; let mut wall = f64::MAX;
            let mut mem = Scratch::default(); let b = unsafe { mem.take::<f64>(n).assume_init_mut() };
            for _ in 0..7 {
                b.copy_from_slice(&a);
                let q = seconds(); let w = std::time::Instant::now();
                sort::sort(&mut *b, &mut scratch, cores); wall = wall.min(w.elapsed().as_secs_f64());
                best = best.min(seconds()-q);
                assert!(*b == *want);
            }
            let mut mem2 = Scratch::default(); let pos = unsafe { mem2.take::<i64>(n).assume_init_mut() };
            let (mut ab, mut aw) = (f64::MAX, f64::MAX);
            for _ in 0..3 {
                let q = seconds(); let w = std::time::Instant::now();
                sort::positions(&a, pos, sort::Order::Ascending, &mut scratch, cores);
                aw = aw.min(w.elapsed().as_secs_f64());
                ab = ab.min(seconds()-q);
            }
            println!("argsort {:.1} wall {:.1}", ab * 1e3, aw*1e3);
            println!("{t} {level:?} {:.1} ms wall {:.1}", best * 1e3, wall*1e3);
        }
    }
}
