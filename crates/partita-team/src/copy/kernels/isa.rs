//! Instruction sets, and compiling one loop for all of them.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

/// The widest vectors that kernels use.
///
/// They are chosen by what the processor has; the variable `PARTITA_SIMD` names the widest wanted.
/// [`Isa::limit`] is there to test and to compare.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// No vectors named, no streaming stores.
    Portable,
    /// 16 bytes; every 64-bit ARM has them.
    Neon,
    /// 16 bytes; every x86-64 has them.
    Sse2,
    /// 32 bytes.
    Avx2,
    /// 64 bytes, a whole cache line.
    Avx512,
}

/// The widest that may be used, as a number.
static LIMIT: AtomicU8 = AtomicU8::new(Isa::Avx512 as u8);

impl Isa {
    /// What kernels use from now on.
    #[must_use]
    #[inline]
    pub fn detect() -> Self {
        let limit = LIMIT.load(Ordering::Relaxed);
        if limit == Self::Avx512 as u8 {
            return Self::named().min(Self::of_processor());
        }
        let limits = [Self::Portable, Self::Neon, Self::Sse2, Self::Avx2];
        limits[usize::from(limit)].min(Self::of_processor())
    }

    /// What the environment allows; read once. Kernels that compute tell of names they do not know.
    #[inline]
    fn named() -> Self {
        static NAMED: OnceLock<Isa> = OnceLock::new();
        *NAMED.get_or_init(|| Self::of_name(&std::env::var("PARTITA_SIMD").unwrap_or_default()))
    }

    fn of_name(name: &str) -> Self {
        match name.trim().to_ascii_lowercase().as_str() {
            "portable" | "scalar" => Self::Portable,
            "avx2" => Self::Avx2,
            _ => Self::Avx512,
        }
    }

    /// Lets kernels of this process use nothing wider.
    pub fn limit(self) {
        LIMIT.store(self as u8, Ordering::Relaxed);
    }

    /// Asks the processor; the answer is kept by the standard library.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn of_processor() -> Self {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
            Self::Avx512
        } else if is_x86_feature_detected!("avx2") {
            Self::Avx2
        } else {
            Self::Sse2
        }
    }

    /// Every 64-bit ARM has them.
    #[cfg(target_arch = "aarch64")]
    #[inline]
    fn of_processor() -> Self {
        Self::Neon
    }

    /// Nothing to ask elsewhere.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    fn of_processor() -> Self {
        Self::Portable
    }
}

/// A generic kernel compiled for every instruction set and way of storing; picks one of them.
///
/// `versions!(kernel, Item; isa, stores)` is `kernel::<Item, L>` with the [`Line`](super::Line)
/// that fits. Generic and inlined into each version, the body is compiled with its features.
macro_rules! versions {
    ($generic:ident $(, $item:ty)?; $isa:expr, $stores:expr) => {{
        use $crate::copy::kernels::line;
        #[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
        use $crate::copy::{Stores, kernels::isa::Isa};
        #[cfg(target_arch = "x86_64")]
        use $crate::copy::kernels::isa::version;
        match ($isa, $stores) {
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, Stores::Streaming) => {
                version!("avx512f,avx512bw", $generic::<$($item,)? line::Avx512>)
            }
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx512, Stores::Cached) => {
                version!("avx512f,avx512bw", $generic::<$($item,)? line::Cached>)
            }
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2, Stores::Streaming) => {
                version!("avx2", $generic::<$($item,)? line::Avx2>)
            }
            #[cfg(target_arch = "x86_64")]
            (Isa::Avx2, Stores::Cached) => {
                version!("avx2", $generic::<$($item,)? line::Cached>)
            }
            #[cfg(target_arch = "x86_64")]
            (Isa::Sse2, Stores::Streaming) => $generic::<$($item,)? line::Sse2>,
            #[cfg(target_arch = "aarch64")]
            (Isa::Neon, Stores::Streaming) => $generic::<$($item,)? line::Neon>,
            _ => $generic::<$($item,)? line::Cached>,
        }
    }};
}
pub(in crate::copy) use versions;

/// One version: the body compiled with more features than the rest of the crate.
#[cfg(target_arch = "x86_64")]
macro_rules! version {
    ($features:literal, $body:expr) => {{
        #[target_feature(enable = $features)]
        unsafe fn version(blocks: &[$crate::copy::job::Block<'_>]) {
            // SAFETY: handed on from the caller; the features were detected.
            unsafe { $body(blocks) }
        }
        version as $crate::copy::job::Kernel
    }};
}
#[cfg(target_arch = "x86_64")]
pub(in crate::copy) use version;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_limit_what_is_used() {
        let names = ["portable", "Scalar", " AVX2 ", "avx512", "neon", ""];
        let limits =
            [Isa::Portable, Isa::Portable, Isa::Avx2, Isa::Avx512, Isa::Avx512, Isa::Avx512];
        assert_eq!(names.map(Isa::of_name), limits);
    }
}
