//! Loops compiled once per level of the processor.
//!
//! Products and sums are never fused, so that every level gives the same bits.

use partita_kernel::math::Level;

/// A loop that the compiler vectorises; `run` must be inlined into the function of its level.
pub(crate) trait Loop {
    /// What the loop gives.
    type Result;

    fn run(self) -> Self::Result;
}

/// Runs a loop with the instructions of a level.
pub(crate) fn at_level<L: Loop>(level: Level, work: L) -> L::Result {
    match level.name() {
        // SAFETY: a level exists only where the processor has it.
        #[cfg(target_arch = "x86_64")]
        "avx512" => unsafe { avx512(work) },
        // SAFETY: as above.
        #[cfg(target_arch = "x86_64")]
        "avx2" => unsafe { avx2(work) },
        _ => work.run(),
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq,avx512vl,avx512bw")]
fn avx512<L: Loop>(work: L) -> L::Result {
    work.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2<L: Loop>(work: L) -> L::Result {
    work.run()
}

/// Asks for memory that will be read soon; any address may be asked for.
#[inline(always)]
pub(crate) fn prefetch<T>(address: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: asking for memory never fails, whatever the address.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(address.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = address;
}
