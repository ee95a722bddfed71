//! The inner loops of sorting, compiled for every level.

use super::classify;
use super::network::{MAX_ROWS, sort_few};
use super::partition::{Left, partition};
use super::vector::Vector;
use partita_kernel::math::{Instructions, Level};

/// Sorts few keys: `(from, to, n)`.
type Few<K> = unsafe fn(*const K, *mut K, usize);
/// Divides keys by a pivot: `(keys, n, pivot, left)`.
type Partition<K> = unsafe fn(*mut K, usize, K, Left) -> usize;
/// The bucket of every key: see [`classify`].
type Classify<K> = unsafe fn(*const K, *mut u8, usize, &[K]);

/// How many keys need care.
type Count<K> = unsafe fn(&[K]) -> Apart;

/// What is set apart before keys are sorted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Apart {
    pub(super) n_nan: usize,
    pub(super) n_negative_zeros: usize,
}

/// The loops for one type of keys and one level.
pub(super) struct Kernels<K: 'static> {
    /// How many keys `sort_few` takes.
    pub(super) few: usize,
    pub(super) sort_few: Few<K>,
    pub(super) partition: Partition<K>,
    pub(super) classify: Classify<K>,
    pub(super) count: Count<K>,
}

/// A type of keys with loops of its own.
pub(super) trait Wide: Copy + PartialOrd + Send + Sync + 'static {
    /// The loops of a level; none if it has no vectors.
    fn kernels(level: Level) -> Option<&'static Kernels<Self>>;
    /// How many keys need care.
    fn count(keys: &[Self]) -> Apart;
}

/// Integers need none.
#[inline(always)]
fn none<K>(_keys: &[K]) -> Apart {
    Apart::default()
}

macro_rules! count_floats {
    ($($name:ident $key:ident)*) => {$(
        #[inline(always)]
        fn $name(keys: &[$key]) -> Apart {
            let negative_zero = $key::to_bits(-0.0);
            let mut apart = Apart::default();
            // Blocks let the compiler count in registers as narrow as the keys.
            for block in keys.chunks(4096) {
                let (mut n_nan, mut n_zeros) = (0, 0);
                for key in block {
                    n_nan += u32::from(key.is_nan());
                    n_zeros += u32::from(key.to_bits() == negative_zero);
                }
                apart.n_nan += n_nan as usize;
                apart.n_negative_zeros += n_zeros as usize;
            }
            apart
        }
    )*};
}
count_floats!(count_f64 f64 count_f32 f32);

#[cfg(target_arch = "x86_64")]
macro_rules! wide {
    ($($key:ident $vector:ident $count:ident $classify:path),*) => {$(
        impl Wide for $key {
            fn kernels(level: Level) -> Option<&'static Kernels<$key>> {
                match level.kind() {
                    Instructions::Avx512 => Some(&$key::AVX512),
                    Instructions::Avx2 => Some(&$key::AVX2),
                    _ => None,
                }
            }
            fn count(keys: &[$key]) -> Apart {
                $count(keys)
            }
        }

        mod $key {
            use super::*;
            use super::super::vector::{avx2, avx512};

            wide!(@level AVX512, few_512 divide_512 classify_512 count_512 $count, $key, avx512::$vector, $classify,
                "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma,popcnt,bmi1,bmi2,lzcnt");
            wide!(@level AVX2, few_256 divide_256 classify_256 count_256 $count, $key,
                avx2::$vector, classify::one_by_one, "avx2,fma,popcnt,bmi1,bmi2,lzcnt");
        }
    )*};
    (@level $name:ident, $few:ident $divide:ident $sort:ident $count:ident $care:ident, $key:ident, $vector:path,
     $classify:path, $features:literal) => {
        pub(super) static $name: Kernels<$key> = Kernels {
            few: MAX_ROWS * <$vector>::W,
            sort_few: $few,
            partition: $divide,
            classify: $sort,
            count: $count,
        };

        #[target_feature(enable = $features)]
        unsafe fn $count(keys: &[$key]) -> Apart {
            $care(keys)
        }

        #[target_feature(enable = $features)]
        unsafe fn $few(from: *const $key, to: *mut $key, n: usize) {
            // SAFETY: the caller's.
            unsafe { sort_few::<$vector>(from, to, n) }
        }

        #[target_feature(enable = $features)]
        unsafe fn $divide(
            keys: *mut $key,
            n: usize,
            pivot: $key,
            left: Left,
        ) -> usize {
            // SAFETY: the caller's.
            unsafe { partition::<$vector>(keys, n, pivot, left) }
        }

        #[target_feature(enable = $features)]
        unsafe fn $sort(from: *const $key, to: *mut u8, n: usize, tree: &[$key]) {
            // SAFETY: the caller's.
            unsafe { $classify(from, to, n, tree) }
        }
    };
}

#[cfg(target_arch = "x86_64")]
wide!(f64 F64 count_f64 classify::one_by_one, i64 I64 none classify::one_by_one,
    u64 U64 none classify::one_by_one, f32 F32 count_f32 classify::one_by_one,
    i32 I32 none classify::one_by_one, u32 U32 none classify::one_by_one);

#[cfg(not(target_arch = "x86_64"))]
macro_rules! portable {
    ($($key:ident $count:ident)*) => {$(
        impl Wide for $key {
            fn kernels(_level: Level) -> Option<&'static Kernels<$key>> {
                None
            }
            fn count(keys: &[$key]) -> Apart {
                $count(keys)
            }
        }
    )*};
}

#[cfg(not(target_arch = "x86_64"))]
portable!(f64 count_f64 i64 none u64 none f32 count_f32 i32 none u32 none);
