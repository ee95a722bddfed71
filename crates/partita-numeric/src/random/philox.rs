//! Philox4x32 with ten rounds (Salmon, Moraes, Dror and Shaw, 2011).
//!
//! Lanes are 64 bits wide although numbers have 32: products need them.

use partita_kernel::math::{Instructions, Level};

const MULTIPLIERS: [u64; 2] = [0xd251_1f53, 0xcd9e_8d57];
const WEYL: [u32; 2] = [0x9e37_79b9, 0xbb67_ae85];
const LOW: u64 = 0xffff_ffff;

/// Blocks computed at once: two registers of the widest level.
const GROUP: usize = 16;

#[allow(clippy::needless_range_loop, reason = "four arrays are walked in step")]
/// The 128 bits of each counter: blocks `first` on of the stream with this number.
#[inline(always)]
fn group(key: u64, number: u64, first: u64) -> [[u64; GROUP]; 2] {
    let mut c = [[0; GROUP], [0; GROUP], [number & LOW; GROUP], [number >> 32; GROUP]];
    for i in 0..GROUP {
        let block = first.wrapping_add(i as u64);
        (c[0][i], c[1][i]) = (block & LOW, block >> 32);
    }
    let mut k = [key as u32, (key >> 32) as u32];
    for _ in 0..10 {
        for i in 0..GROUP {
            // What is above 32 bits has no meaning and is not looked at.
            let a = (c[0][i] & LOW) * MULTIPLIERS[0];
            let b = (c[2][i] & LOW) * MULTIPLIERS[1];
            c[0][i] = (b >> 32) ^ c[1][i] ^ u64::from(k[0]);
            c[2][i] = (a >> 32) ^ c[3][i] ^ u64::from(k[1]);
            c[1][i] = b;
            c[3][i] = a;
        }
        k = [k[0].wrapping_add(WEYL[0]), k[1].wrapping_add(WEYL[1])];
    }
    let mut words = [[0; GROUP]; 2];
    for i in 0..GROUP {
        words[0][i] = (c[0][i] & LOW) | c[1][i] << 32;
        words[1][i] = (c[2][i] & LOW) | c[3][i] << 32;
    }
    words
}

/// The two words of one block.
pub(super) fn block(key: u64, number: u64, block: u64) -> [u64; 2] {
    let (mut c, mut k) = (
        [block as u32, (block >> 32) as u32, number as u32, (number >> 32) as u32],
        [key as u32, (key >> 32) as u32],
    );
    for _ in 0..10 {
        let a = u64::from(c[0]) * MULTIPLIERS[0];
        let b = u64::from(c[2]) * MULTIPLIERS[1];
        c = [(b >> 32) as u32 ^ c[1] ^ k[0], b as u32, (a >> 32) as u32 ^ c[3] ^ k[1], a as u32];
        k = [k[0].wrapping_add(WEYL[0]), k[1].wrapping_add(WEYL[1])];
    }
    [u64::from(c[0]) | u64::from(c[1]) << 32, u64::from(c[2]) | u64::from(c[3]) << 32]
}

/// Writes words from an even place on, whole groups of them.
#[inline(always)]
fn groups(key: u64, number: u64, first: u64, out: &mut [u64]) {
    for (i, out) in out.chunks_exact_mut(2 * GROUP).enumerate() {
        let words = group(key, number, first / 2 + (i * GROUP) as u64);
        for i in 0..GROUP {
            out[2 * i] = words[0][i];
            out[2 * i + 1] = words[1][i];
        }
    }
}

/// Writes the words `first` to `first` + n of a stream.
pub(super) fn words(level: Level, key: u64, number: u64, first: u64, out: &mut [u64]) {
    let n_odd = ((first % 2) as usize).min(out.len());
    let (odd, rest) = out.split_at_mut(n_odd);
    odd.fill_with(|| block(key, number, first / 2)[1]);
    let first = first + n_odd as u64;
    let n_whole = rest.len() / (2 * GROUP) * (2 * GROUP);
    let (whole, rest) = rest.split_at_mut(n_whole);
    // SAFETY: the level has the instructions.
    unsafe {
        match level.kind() {
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx512 => avx512(key, number, first, whole),
            #[cfg(target_arch = "x86_64")]
            Instructions::Avx2 => avx2(key, number, first, whole),
            _ => groups(key, number, first, whole),
        }
    }
    for (i, pair) in rest.chunks_mut(2).enumerate() {
        let words = block(key, number, (first + n_whole as u64) / 2 + i as u64);
        pair.copy_from_slice(&words[..pair.len()]);
    }
}

/// Writes whole groups with registers of N lanes, two blocks' words in turns.
#[cfg(target_arch = "x86_64")]
macro_rules! with_registers {
    ($name:ident, $features:literal, $lanes:literal, $splat:ident $load:ident $store:ident $and:ident
     $mul:ident $shr:ident $shl:ident $xor:ident $add:ident $or:ident) => {
        #[target_feature(enable = $features)]
        unsafe fn $name(key: u64, number: u64, first: u64, out: &mut [u64]) {
            use std::arch::x86_64::*;
            const IOTA: [u64; 8] = [0, 1, 2, 3, 4, 5, 6, 7];
            let splat = |x: u64| $splat(x as i64);
            let low = splat(LOW);
            let multipliers = MULTIPLIERS.map(splat);
            // SAFETY: the table has as many lanes.
            let iota = unsafe { $load(IOTA.as_ptr().cast()) };
            let n_at_once = 2 * $lanes;
            for (i, out) in out.chunks_exact_mut(2 * n_at_once).enumerate() {
                let block = (first / 2).wrapping_add((i * n_at_once) as u64);
                let blocks = [0, $lanes].map(|more| $add(splat(block.wrapping_add(more)), iota));
                let mut c = blocks.map(|b| [b, $shr::<32>(b), splat(number), splat(number >> 32)]);
                let mut k = [key as u32, (key >> 32) as u32];
                for _ in 0..10 {
                    let keys = k.map(|k| splat(u64::from(k)));
                    for c in &mut c {
                        let (a, b) = ($mul(c[0], multipliers[0]), $mul(c[2], multipliers[1]));
                        c[0] = $xor($xor($shr::<32>(b), c[1]), keys[0]);
                        c[2] = $xor($xor($shr::<32>(a), c[3]), keys[1]);
                        (c[1], c[3]) = (b, a);
                    }
                    k = [k[0].wrapping_add(WEYL[0]), k[1].wrapping_add(WEYL[1])];
                }
                for (c, out) in c.iter().zip(out.chunks_exact_mut(2 * $lanes)) {
                    let words =
                        [[c[0], c[1]], [c[2], c[3]]].map(|[l, h]| $or($and(l, low), $shl::<32>(h)));
                    let mut apart = [[0_u64; $lanes]; 2];
                    for (to, words) in apart.iter_mut().zip(words) {
                        // SAFETY: there is room for all lanes.
                        unsafe { $store(to.as_mut_ptr().cast(), words) };
                    }
                    for i in 0..$lanes {
                        (out[2 * i], out[2 * i + 1]) = (apart[0][i], apart[1][i]);
                    }
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
with_registers!(avx512, "avx512f,avx512dq,avx512vl,avx512bw,avx2,fma", 8,
    _mm512_set1_epi64 _mm512_loadu_si512 _mm512_storeu_si512 _mm512_and_si512 _mm512_mul_epu32
    _mm512_srli_epi64 _mm512_slli_epi64 _mm512_xor_si512 _mm512_add_epi64 _mm512_or_si512);
#[cfg(target_arch = "x86_64")]
with_registers!(avx2, "avx2,fma", 4,
    _mm256_set1_epi64x _mm256_loadu_si256 _mm256_storeu_si256 _mm256_and_si256 _mm256_mul_epu32
    _mm256_srli_epi64 _mm256_slli_epi64 _mm256_xor_si256 _mm256_add_epi64 _mm256_or_si256);

#[cfg(test)]
mod tests {
    use super::*;

    /// Counter, key and answer as published with the generator (Random123, philox4x32 10).
    #[test]
    fn known_answers() {
        let pack = |low: u64, high: u64| low | high << 32;
        let cases = [
            ([0; 4], [0; 2], [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]),
            ([LOW; 4], [LOW; 2], [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]),
            (
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0],
                [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1],
            ),
        ];
        for (c, k, want) in cases {
            let (key, number) = (pack(k[0], k[1]), pack(c[2], c[3]));
            let first = pack(c[0], c[1]);
            let want = [pack(want[0], want[1]), pack(want[2], want[3])];
            assert_eq!(block(key, number, first), want);
            let words = group(key, number, first);
            assert_eq!([words[0][0], words[1][0]], want);
        }
    }

    #[test]
    fn every_level_and_every_division_gives_the_same_words() {
        let (key, number) = (0x1234_5678_9abc_def0, 0xfeed_f00d_dead_beef);
        let want: Vec<u64> =
            (0..200_u64).map(|i| block(key, number, i / 2)[i as usize % 2]).collect();
        for level in Level::all() {
            for first in 0..40 {
                for n in [0, 1, 2, 31, 32, 33, 64, 65, 97, 160] {
                    let mut got = vec![0; n];
                    words(level, key, number, first as u64, &mut got);
                    assert_eq!(got, want[first..first + n], "{level:?} {first} {n}");
                }
            }
        }
    }
}
