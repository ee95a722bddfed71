//! The worst argument, searched by all cores.

use std::sync::atomic::{AtomicU64, Ordering};

/// The worst argument found so far.
#[derive(Clone, Default)]
pub struct Worst {
    /// In units of the last place.
    pub error: f64,
    /// The argument and its value.
    pub at: String,
}

impl Worst {
    /// Takes note of an error, described only if it is the largest.
    pub fn see(&mut self, error: f64, at: impl FnOnce() -> String) {
        if error > self.error || error.is_nan() {
            *self = Worst { error, at: at() };
        }
    }

    /// The worse of two; NaN, a result that has no error to speak of, is the worst.
    pub fn join(&mut self, other: Worst) {
        if other.error > self.error || other.error.is_nan() {
            *self = other;
        }
    }

    /// A row beside the bound; false if the bound is exceeded.
    pub fn report(&self, name: &str, bound: Option<f64>) -> bool {
        let holds = bound.is_none_or(|bound| self.error <= bound);
        let bound = bound.map_or_else(String::new, |bound| format!("{bound}"));
        let verdict = if holds { "" } else { " **exceeded**" };
        println!("| {name} | {:.4} | {bound}{verdict} | {} |", self.error, self.at);
        holds
    }
}

/// The head of a table of such rows.
pub fn head(unit: &str) {
    println!("| function | max {unit} | bound | worst argument |\n|---|---|---|---|");
}

/// Runs jobs 0..count on all cores and joins what they find.
pub fn on_all_cores(count: u64, job: impl Fn(u64) -> Worst + Sync) -> Worst {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let next = AtomicU64::new(0);
    let work = || {
        let mut worst = Worst::default();
        loop {
            let i = next.fetch_add(1, Ordering::Relaxed);
            if i >= count {
                return worst;
            }
            worst.join(job(i));
        }
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        let mut worst = Worst::default();
        for thread in threads {
            worst.join(thread.join().expect("no job panics"));
        }
        worst
    })
}
