//! Kernels by structure: the number kept is bounded, the one unused longest goes first.

use crate::error::Result;
use crate::machine::Kernel;
use crate::program::{Instruction, Program};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, TryLockError, TryLockResult};

/// Kernels of one part of the cache.
const PER_SHELF: usize = 32;
/// How often a lock is asked for, and how often of these without giving way.
const N_TURNS: usize = 20_000;
const N_SPINS: usize = 1_000;
/// Parts that are locked apart; a power of two.
const N_SECTIONS: usize = 32;

/// Kernels that were asked for lately.
#[derive(Debug, Default)]
pub struct Cache {
    sections: [RwLock<Vec<Entry>>; N_SECTIONS],
    /// Counts look-ups; says which kernel was used last.
    now: AtomicU64,
}

#[derive(Debug)]
struct Entry {
    hash: u64,
    used: AtomicU64,
    kernel: Arc<Kernel>,
}

impl Cache {
    /// The kernel of a program's structure, or a new one, which is kept.
    pub fn find(
        &self,
        program: &Program,
        make: impl FnOnce() -> Result<Kernel>,
    ) -> Result<Arc<Kernel>> {
        let hash = hash(program);
        let section = &self.sections[hash as usize % N_SECTIONS];
        let now = self.now.fetch_add(1, Ordering::Relaxed);
        if let Some(entries) = patiently(|| section.try_read())
            && let Some(entry) = entries.iter().find(|e| e.holds(hash, program))
        {
            entry.used.store(now, Ordering::Relaxed);
            return Ok(entry.kernel.clone());
        }
        // Compiled outside the lock: two threads may do it at once, one result is kept.
        let kernel = Arc::new(make()?);
        let Some(mut entries) = patiently(|| section.try_write()) else { return Ok(kernel) };
        if let Some(entry) = entries.iter().find(|e| e.holds(hash, program)) {
            return Ok(entry.kernel.clone());
        }
        if entries.len() == PER_SHELF {
            let oldest = (0..PER_SHELF).min_by_key(|&i| entries[i].used.load(Ordering::Relaxed));
            entries.swap_remove(oldest.unwrap_or_default());
        }
        entries.push(Entry { hash, used: AtomicU64::new(now), kernel: kernel.clone() });
        Ok(kernel)
    }

    /// How many kernels are kept.
    pub fn len(&self) -> usize {
        let count = |s: &RwLock<Vec<Entry>>| s.read().unwrap_or_else(PoisonError::into_inner).len();
        self.sections.iter().map(count).sum()
    }
}

/// What a lock guards, unless nobody will ever give it back: a process that was forked while a
/// thread had the lock does not have that thread. It then goes without the cache.
fn patiently<G>(take: impl Fn() -> TryLockResult<G>) -> Option<G> {
    for turn in 0..N_TURNS {
        match take() {
            Ok(guard) => return Some(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
            // It is never held for longer than a look at a few entries takes.
            Err(TryLockError::WouldBlock) if turn < N_SPINS => std::hint::spin_loop(),
            Err(TryLockError::WouldBlock) => std::thread::yield_now(),
        }
    }
    None
}

impl Entry {
    fn holds(&self, hash: u64, program: &Program) -> bool {
        self.hash == hash && self.kernel.program() == program
    }
}

/// All of a program's words, mixed by multiplying.
fn hash(program: &Program) -> u64 {
    let mut hash = u64::from(program.ndim)
        | u64::from(program.reduced_axes) << 16
        | u64::from(program.scan_axis) << 32
        | (program.outputs.len() as u64) << 48;
    let mut mix =
        |word: u64| hash = (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    program.instructions.iter().for_each(|i| mix(word(i)));
    for output in &program.outputs {
        mix(u64::from(output.value.0) | u64::from(action(output.action)) << 32);
    }
    for constant in &program.constants {
        let bits = u128::from_le_bytes(constant.bytes);
        mix(bits as u64 ^ (bits >> 64) as u64);
    }
    // The section is chosen by the lowest bits, which must depend on all.
    let hash = (hash ^ hash >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    hash ^ hash >> 32
}

fn word(instruction: &Instruction) -> u64 {
    let [x, y, z] = instruction.operands.map(|v| u64::from(v.0));
    instruction.op as u64 | (instruction.dtype as u64) << 8 | x << 16 | y << 32 | z << 48
}

fn action(action: crate::program::Action) -> u8 {
    use crate::program::Action;
    match action {
        Action::Store => 0,
        Action::RunningSum => 1,
        Action::RunningProduct => 2,
        Action::Reduce(reduction) => 3 + reduction as u8,
    }
}
