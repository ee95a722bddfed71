//! Loops compiled once per level of the processor.

use partita_kernel::math::Level;

/// A loop that the compiler vectorises; `run` must be inlined into the function of its level.
pub trait Loop {
    /// What the loop gives.
    type Result;

    /// Runs it. `WIDE` says that there are 32 vector registers.
    fn run<const WIDE: bool>(self) -> Self::Result;
}

/// Runs a loop with the instructions of a level.
pub fn at_level<L: Loop>(level: Level, work: L) -> L::Result {
    match level.name() {
        // SAFETY: a level exists only where the processor has it.
        #[cfg(target_arch = "x86_64")]
        "avx512" => unsafe { avx512(work) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        "avx2" => unsafe { avx2(work) },
        _ => work.run::<false>(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
fn avx512<L: Loop>(work: L) -> L::Result {
    work.run::<true>()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<L: Loop>(work: L) -> L::Result {
    work.run::<false>()
}
