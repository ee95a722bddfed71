//! Random permutations that can be asked for any place.
//!
//! A keyed bijection: positions are pairs (row, column) of a table that is nearly square, and in
//! turns one of both is moved by an amount that depends on the other (a Feistel network over a
//! table, as Black and Rogaway have it). What falls behind the last position is sent through again
//! until it is inside. Small permutations are sorted by random words instead: there are not enough
//! different networks for them.

use super::{Stream, philox};

/// Up to here, all positions are sorted by random words.
const SMALL: u64 = 4096;
const ROUNDS: usize = 8;

pub(super) enum Permutation {
    Listed(Vec<u64>),
    Network { n: u64, rows: u64, columns: u64, keys: [u64; ROUNDS] },
}

impl Permutation {
    pub(super) fn new(stream: Stream, n: u64) -> Permutation {
        let word = |i: u64| philox::block(stream.key, stream.number, i / 2)[(i % 2) as usize];
        if n <= SMALL {
            let mut positions: Vec<u64> = (0..n).collect();
            positions.sort_by_key(|position| word(*position));
            return Permutation::Listed(positions);
        }
        let rows = (n as f64).sqrt().ceil() as u64;
        let keys = std::array::from_fn(|i| word(i as u64));
        Permutation::Network { n, rows, columns: n.div_ceil(rows), keys }
    }

    /// The position at a place below n.
    pub(super) fn at(&self, place: u64) -> u64 {
        match self {
            Permutation::Listed(positions) => positions[place as usize],
            Permutation::Network { n, rows, columns, keys } => {
                let mut at = place;
                loop {
                    at = network(at, *rows, *columns, keys);
                    if at < *n {
                        return at;
                    }
                }
            }
        }
    }
}

fn network(at: u64, rows: u64, columns: u64, keys: &[u64; ROUNDS]) -> u64 {
    let (mut row, mut column) = (at / columns, at % columns);
    for pair in keys.chunks_exact(2) {
        row = moved(row, column, rows, pair[0]);
        column = moved(column, row, columns, pair[1]);
    }
    row * columns + column
}

/// Moves a number below `end` by what the other says.
#[inline(always)]
fn moved(number: u64, other: u64, end: u64, key: u64) -> u64 {
    // The mixer of SplitMix64.
    let mut z = other ^ key;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    let by = ((u128::from(z) * u128::from(end)) >> 64) as u64;
    let sum = number + by;
    if sum < end { sum } else { sum - end }
}
