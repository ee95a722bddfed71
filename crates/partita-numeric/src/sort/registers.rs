//! Packing with the registers of sorting: the lanes of a mask first.

use super::vector::Vector;
use partita_kernel::math::{Instructions, Level};
use std::mem::MaybeUninit;

/// How far a loop over registers came.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Done {
    pub(crate) read: usize,
    pub(crate) written: usize,
}

/// Loops over registers that are of use elsewhere.
pub(crate) struct Registers;

impl Registers {
    /// Writes elements of 4 or 8 bytes where the mask is true, as far as whole registers reach.
    ///
    /// A whole register is written, so it stops where `out` has no room for one.
    pub(crate) fn pack<T: Copy>(
        level: Level,
        mask: &[bool],
        values: &[T],
        out: &mut [MaybeUninit<T>],
    ) -> Done {
        assert_eq!(mask.len(), values.len());
        let (mask, n) = (mask.as_ptr().cast::<u8>(), mask.len());
        let (values, out, room) = (values.as_ptr(), out.as_mut_ptr(), out.len());
        // SAFETY: the level has the instructions; the slices have as many elements.
        unsafe {
            match (level.kind(), size_of::<T>()) {
                #[cfg(target_arch = "x86_64")]
                (Instructions::Avx512, 8) => wide512(mask, n, values.cast(), out.cast(), room),
                #[cfg(target_arch = "x86_64")]
                (Instructions::Avx512, 4) => narrow512(mask, n, values.cast(), out.cast(), room),
                #[cfg(target_arch = "x86_64")]
                (Instructions::Avx2, 8) => wide256(mask, n, values.cast(), out.cast(), room),
                #[cfg(target_arch = "x86_64")]
                (Instructions::Avx2, 4) => narrow256(mask, n, values.cast(), out.cast(), room),
                _ => Done::default(),
            }
        }
    }
}

/// # Safety
/// The mask and the values have n elements, `out` has room for `room`.
#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
unsafe fn pack<V: Vector>(
    mask: *const u8,
    n: usize,
    values: *const V::Key,
    out: *mut V::Key,
    room: usize,
) -> Done {
    let Done { mut read, mut written } = Done::default();
    // SAFETY: eight elements are left, and there is room for as many; W is 4, 8 or 16.
    unsafe {
        while read + 16 <= n && written + 16 <= room {
            let low = mask.add(read).cast::<u64>().read_unaligned();
            let high = mask.add(read + 8).cast::<u64>().read_unaligned();
            // Moves the lowest bit of byte i to bit 56 + i.
            let bits = |bytes: u64| bytes.wrapping_mul(0x0102_0408_1020_4080) >> 56;
            let mut chosen = (bits(low) | bits(high) << 8) as u32;
            let mut part = 0;
            while part < 16 {
                let lanes = chosen & ((1_u32 << V::W) - 1);
                if lanes != 0 {
                    V::load(values.add(read + part)).divide(lanes).store(out.add(written));
                }
                written += lanes.count_ones() as usize;
                chosen >>= V::W;
                part += V::W;
            }
            read += 16;
        }
    }
    Done { read, written }
}

#[cfg(target_arch = "x86_64")]
macro_rules! levels {
    ($($name:ident $key:ty, $vector:path, $features:literal;)*) => {$(
        #[target_feature(enable = $features)]
        unsafe fn $name(
            mask: *const u8,
            n: usize,
            values: *const $key,
            out: *mut $key,
            room: usize,
        ) -> Done {
            // SAFETY: the caller's.
            unsafe { pack::<$vector>(mask, n, values, out, room) }
        }
    )*};
}

#[cfg(target_arch = "x86_64")]
levels! {
    wide512 u64, super::vector::avx512::U64, "avx512f,avx512dq,avx512vl,avx512bw,avx2,popcnt";
    narrow512 u32, super::vector::avx512::U32, "avx512f,avx512dq,avx512vl,avx512bw,avx2,popcnt";
    wide256 u64, super::vector::avx2::U64, "avx2,popcnt";
    narrow256 u32, super::vector::avx2::U32, "avx2,popcnt";
}
