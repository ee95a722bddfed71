//! Instruction sets, and compiling one loop for all of them.

/// The widest vectors this processor has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::copy) enum Isa {
    /// Anything: no vectors named, no streaming stores.
    #[cfg_attr(target_arch = "x86_64", allow(dead_code))]
    Portable,
    #[cfg(target_arch = "x86_64")]
    Sse2,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Isa {
    /// Asks the processor; the answer is kept by the standard library.
    #[cfg(target_arch = "x86_64")]
    pub fn detect() -> Self {
        if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw") {
            Self::Avx512
        } else if is_x86_feature_detected!("avx2") {
            Self::Avx2
        } else {
            Self::Sse2
        }
    }

    /// Nothing to ask elsewhere.
    #[cfg(not(target_arch = "x86_64"))]
    pub fn detect() -> Self {
        Self::Portable
    }

    /// Whether eight vectors of eight items can be transposed in registers.
    #[inline(always)]
    pub fn turns_squares(self) -> bool {
        #[cfg(target_arch = "x86_64")]
        return self == Self::Avx512;
        #[cfg(not(target_arch = "x86_64"))]
        return false;
    }
}

/// A generic kernel compiled for every instruction set and way of storing; picks one of them.
///
/// `versions!(kernel, Item; isa, stores)` is `kernel::<Item, L>` with the [`Line`](super::Line)
/// that fits. Generic and inlined into each version, the body is compiled with its features.
macro_rules! versions {
    ($generic:ident $(, $item:ty)?; $isa:expr, $stores:expr) => {{
        use $crate::copy::kernels::line;
        #[cfg(target_arch = "x86_64")]
        use $crate::copy::{Stores, kernels::isa::{Isa, version}};
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
