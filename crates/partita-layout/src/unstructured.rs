//! Unstructured maps: an explicit list of indices per coordinate, and the look-up of its inverse.
//!
//! Indices are any integers in any order. An index that stands in several lists is owned by the
//! first of them. The inverse is a dense table when the indices are close together and an
//! open-addressing hash table otherwise; both answer with one memory access, which is what makes
//! ten million look-ups cheap.
//!
//! ```
//! use partita_layout::Unstructured;
//! let lists = Unstructured::new(&[vec![0, 5, 2], vec![1, 3, 4]]);
//! assert_eq!(lists.owner(5), Some((0, 1)));
//! assert_eq!(lists.owner(9), None);
//! ```

use std::hash::{Hash, Hasher};
use std::hint::black_box;
use std::sync::OnceLock;

use crate::bulk::Owners;

/// A list of global indices per coordinate, with its inverse.
#[derive(Debug)]
pub struct Unstructured {
    indices: Vec<i64>,
    offsets: Vec<usize>,
    one_to_one: bool,
    table: Table,
    local_bits: u32,
    n_distinct: u64,
    range: Option<(i64, i64)>,
    defect: Option<Defect>,
    fingerprint: u64,
    by_index: OnceLock<Vec<Entry>>,
}

/// One place where an index is held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Entry {
    pub index: i64,
    pub coordinate: u64,
    pub local: u64,
    pub is_owner: bool,
}

/// What is wrong with the lists; reported when the map meets its dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Defect {
    Duplicate { coordinate: u64, index: i64 },
    Shared { index: i64, first: u64, second: u64 },
}

const EMPTY: u64 = u64::MAX;
/// Empty in a small table: widened with its sign it is `EMPTY`.
const EMPTY_SMALL: i32 = -1;
/// Look-ups under way at once.
const BATCH: usize = 128;
const HASH_FACTOR_2: u64 = 0xBF58_476D_1CE4_E5B9;
const HASH_FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Entries of the hash table that share a cache line: (index, slot).
#[derive(Debug, Clone)]
#[repr(align(64))]
struct HashLine([(i64, u64); 4]);

impl HashLine {
    const FREE: Self = Self([(0, EMPTY); 4]);

    /// The slot of an index, without a branch; empty if it is not here.
    #[inline(always)]
    fn find(&self, index: i64) -> u64 {
        let fits = |at: usize| u32::from(self.0[at].0 == index) << at;
        // The first that fits, because free entries have a key too; the last if none does.
        let at = (fits(0) | fits(1) | fits(2) | 8).trailing_zeros() as usize;
        let (key, slot) = self.0[at & 3];
        slot | u64::from(key != index).wrapping_neg()
    }

    /// The first free place.
    #[inline(always)]
    fn free(&mut self) -> Option<&mut (i64, u64)> {
        self.0.iter_mut().find(|(_, slot)| *slot == EMPTY)
    }

    fn is_full(&self) -> bool {
        self.0[3].1 != EMPTY
    }
}

#[derive(Debug)]
enum Table {
    /// Half the memory is half the cache misses; most maps fit.
    Small {
        first: i64,
        slots: Vec<i32>,
    },
    Dense {
        first: i64,
        slots: Vec<u64>,
    },
    Hash {
        shift: u32,
        buckets: Vec<HashLine>,
    },
}

impl Unstructured {
    /// Lists that may share indices: the first list that has one owns it.
    #[must_use]
    pub fn new(lists: &[Vec<i64>]) -> Self {
        Self::build(lists, false)
    }

    /// Lists of which no two may share an index.
    #[must_use]
    pub fn one_to_one(lists: &[Vec<i64>]) -> Self {
        Self::build(lists, true)
    }

    fn build(lists: &[Vec<i64>], one_to_one: bool) -> Self {
        let indices: Vec<i64> = lists.concat();
        let mut offsets = vec![0];
        offsets.extend(lists.iter().scan(0, |at, list| {
            *at += list.len();
            Some(*at)
        }));
        let longest = lists.iter().map(Vec::len).max().unwrap_or(0) as u64;
        let local_bits = 64 - longest.leading_zeros();
        let range = indices.iter().min().copied().zip(indices.iter().max().copied());
        let mut this = Self {
            table: Table::new(range, &offsets, local_bits),
            fingerprint: fingerprint(&indices, &offsets, one_to_one),
            indices,
            offsets,
            one_to_one,
            local_bits,
            n_distinct: 0,
            range,
            defect: None,
            by_index: OnceLock::new(),
        };
        this.fill();
        this
    }

    fn fill(&mut self) {
        let mut shared = None;
        for coordinate in 0..self.n_coordinates() {
            let (start, stop) = self.bounds(coordinate);
            for at in start..stop {
                let index = self.indices[at];
                let slot = (coordinate << self.local_bits) | (at - start) as u64;
                match self.table.insert(index, slot) {
                    EMPTY => self.n_distinct += 1,
                    before if before >> self.local_bits == coordinate => {
                        self.defect.get_or_insert(Defect::Duplicate { coordinate, index });
                    }
                    before => {
                        let first = before >> self.local_bits;
                        shared.get_or_insert(Defect::Shared { index, first, second: coordinate });
                    }
                }
            }
        }
        if self.defect.is_none() {
            self.defect = match shared {
                Some(defect) if self.one_to_one => Some(defect),
                Some(_) => self.duplicate_in_later_list(),
                None => None,
            };
        }
    }

    /// The table keeps owners only, so a later list's own duplicates show in the sorted entries.
    fn duplicate_in_later_list(&self) -> Option<Defect> {
        self.by_index()
            .windows(2)
            .find(|pair| pair[0].index == pair[1].index && pair[0].coordinate == pair[1].coordinate)
            .map(|pair| Defect::Duplicate { coordinate: pair[0].coordinate, index: pair[0].index })
    }

    fn bounds(&self, coordinate: u64) -> (usize, usize) {
        (self.offsets[coordinate as usize], self.offsets[coordinate as usize + 1])
    }

    /// Number of lists.
    #[must_use]
    pub fn n_coordinates(&self) -> u64 {
        self.offsets.len() as u64 - 1
    }

    /// The list of one coordinate.
    #[must_use]
    pub fn list(&self, coordinate: u64) -> &[i64] {
        let (start, stop) = self.bounds(coordinate);
        &self.indices[start..stop]
    }

    /// Whether the lists were declared to share no index.
    #[must_use]
    pub fn is_one_to_one(&self) -> bool {
        self.one_to_one
    }

    /// Number of different indices.
    #[must_use]
    pub fn n_distinct(&self) -> u64 {
        self.n_distinct
    }

    /// Whether some index stands in several lists.
    #[must_use]
    pub fn has_shared(&self) -> bool {
        self.n_distinct != self.indices.len() as u64
    }

    /// Smallest and largest index, if there is any.
    #[must_use]
    pub fn range(&self) -> Option<(i64, i64)> {
        self.range
    }

    /// Coordinate that owns an index, and its place in that list.
    #[must_use]
    #[inline]
    pub fn owner(&self, index: i64) -> Option<(u64, u64)> {
        match self.table.find(index) {
            EMPTY => None,
            slot => Some(self.unpack(slot)),
        }
    }

    #[inline(always)]
    fn unpack(&self, slot: u64) -> (u64, u64) {
        (slot >> self.local_bits, slot & ((1 << self.local_bits) - 1))
    }

    /// Owners of many indices; gives the position of the first index that nobody holds.
    pub(crate) fn owners(
        &self,
        mut indices: impl Iterator<Item = i64>,
        mut put: impl FnMut(usize, u64, u64),
    ) -> Result<(), usize> {
        let mut batch = [0_i64; BATCH];
        let mut slots = [EMPTY; BATCH];
        for first_row in (0..).step_by(BATCH) {
            let mut n_given = 0;
            for (to, index) in batch.iter_mut().zip(indices.by_ref()) {
                *to = index;
                n_given += 1;
            }
            let (batch, slots) = (&batch[..n_given], &mut slots[..n_given]);
            self.table.find_all(batch, slots).map_err(|at| first_row + at)?;
            for (at, &slot) in slots.iter().enumerate() {
                let (coordinate, local) = self.unpack(slot);
                put(first_row + at, coordinate, local);
            }
            if n_given < BATCH {
                break;
            }
        }
        Ok(())
    }

    /// As [`Unstructured::owners`], from and to dense arrays.
    pub(crate) fn owners_dense(&self, indices: &[i64], into: Owners<'_>) -> Result<(), usize> {
        let Owners { stride, places, local } = into;
        let mut slots = [EMPTY; BATCH];
        let outputs = places.chunks_mut(BATCH).zip(local.chunks_mut(BATCH));
        for (number, (batch, (places, local))) in indices.chunks(BATCH).zip(outputs).enumerate() {
            let slots = &mut slots[..batch.len()];
            self.table.find_all(batch, slots).map_err(|at| number * BATCH + at)?;
            for ((slot, place), local) in slots.iter().zip(places).zip(local) {
                let (coordinate, at) = self.unpack(*slot);
                *place = (coordinate * stride) as i64;
                *local = at as i64;
            }
        }
        Ok(())
    }

    pub(crate) fn defect(&self) -> Option<Defect> {
        self.defect
    }

    /// Identifies the lists' content.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Every place of every index, sorted by index, then coordinate.
    pub(crate) fn by_index(&self) -> &[Entry] {
        self.by_index.get_or_init(|| {
            let mut entries: Vec<Entry> = (0..self.n_coordinates())
                .flat_map(|coordinate| {
                    self.list(coordinate).iter().enumerate().map(move |(local, &index)| Entry {
                        index,
                        coordinate,
                        local: local as u64,
                        is_owner: false,
                    })
                })
                .collect();
            entries.sort_unstable();
            for entry in &mut entries {
                entry.is_owner = self.owner(entry.index) == Some((entry.coordinate, entry.local));
            }
            entries
        })
    }

    /// The entries with an index in `[start, stop)`.
    pub(crate) fn entries_in(&self, start: u64, stop: u64) -> &[Entry] {
        let entries = self.by_index();
        let below = |bound: u64| {
            entries.partition_point(|entry| i128::from(entry.index) < i128::from(bound))
        };
        &entries[below(start)..below(stop)]
    }
}

impl Table {
    fn new(range: Option<(i64, i64)>, offsets: &[usize], local_bits: u32) -> Self {
        let n_indices = offsets[offsets.len() - 1];
        let (first, last) = range.unwrap_or((0, 0));
        let span = i128::from(last) - i128::from(first) + 1;
        if span <= 4 * n_indices as i128 + 1024 {
            let largest_slot = (offsets.len() as u128) << local_bits;
            if largest_slot <= 1 << 31 {
                return Self::Small { first, slots: vec![EMPTY_SMALL; span as usize] };
            }
            return Self::Dense { first, slots: vec![EMPTY; span as usize] };
        }
        let n_buckets = (n_indices / 2 + 1).next_power_of_two().max(4);
        let shift = 64 - n_buckets.trailing_zeros();
        Self::Hash { shift, buckets: vec![HashLine::FREE; n_buckets] }
    }

    /// Puts a slot unless the index has one already; gives what was there.
    fn insert(&mut self, index: i64, slot: u64) -> u64 {
        match self {
            Self::Small { first, slots } => {
                let place = &mut slots[index.wrapping_sub(*first) as usize];
                let before = widened(*place);
                if before == EMPTY {
                    *place = slot as i32;
                }
                before
            }
            Self::Dense { first, slots } => {
                let place = &mut slots[index.wrapping_sub(*first) as usize];
                let before = *place;
                if before == EMPTY {
                    *place = slot;
                }
                before
            }
            Self::Hash { shift, buckets } => {
                let mut at = start_of(*shift, index);
                loop {
                    let before = buckets[at].find(index);
                    if before != EMPTY {
                        return before;
                    }
                    if let Some(free) = buckets[at].free() {
                        *free = (index, slot);
                        return EMPTY;
                    }
                    at = (at + 1) & (buckets.len() - 1);
                }
            }
        }
    }

    /// The slots of a batch of indices; else the position of the first that has none.
    ///
    /// Reading all slots before looking at any lets their cache misses overlap: a branch that is
    /// guessed wrong in between would throw the later reads away.
    fn find_all(&self, indices: &[i64], found: &mut [u64]) -> Result<(), usize> {
        self.probe_all(indices, found);
        if found.iter().fold(false, |any, slot| any | (*slot == EMPTY)) {
            return self.find_missed(indices, found);
        }
        Ok(())
    }

    /// The slot of each index if the first place to look has it, without a branch; else empty.
    fn probe_all(&self, indices: &[i64], found: &mut [u64]) {
        let rows = found.iter_mut().zip(indices);
        match self {
            Self::Small { first, slots } => {
                for (to, index) in rows {
                    let place = index.wrapping_sub(*first) as usize;
                    *to = slots.get(place).map_or(EMPTY, |slot| widened(*slot));
                }
            }
            Self::Dense { first, slots } => {
                for (to, index) in rows {
                    let place = index.wrapping_sub(*first) as usize;
                    *to = slots.get(place).copied().unwrap_or(EMPTY);
                }
            }
            Self::Hash { shift, buckets } => {
                let mask = buckets.len() - 1;
                let bucket_of = |index| &buckets[start_of(*shift, index) & mask];
                // A search is long for the processor, so that few of them are under way at once.
                // Touching the buckets first is short: it has many misses under way.
                let touched = indices.iter().fold(0, |any, &index| any | bucket_of(index).0[0].1);
                black_box(touched);
                for (to, &index) in rows {
                    *to = bucket_of(index).find(index);
                }
            }
        }
    }

    /// Looks further for the indices that probing did not find; else gives the first's position.
    #[cold]
    fn find_missed(&self, indices: &[i64], found: &mut [u64]) -> Result<(), usize> {
        for (at, (slot, &index)) in found.iter_mut().zip(indices).enumerate() {
            if *slot == EMPTY {
                *slot = self.find(index);
            }
            if *slot == EMPTY {
                return Err(at);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn find(&self, index: i64) -> u64 {
        match self {
            Self::Small { first, slots } => {
                let place = index.wrapping_sub(*first) as u64;
                slots.get(place as usize).map_or(EMPTY, |slot| widened(*slot))
            }
            Self::Dense { first, slots } => {
                let place = index.wrapping_sub(*first) as u64;
                slots.get(place as usize).copied().unwrap_or(EMPTY)
            }
            Self::Hash { shift, buckets } => {
                let mut at = start_of(*shift, index);
                loop {
                    let found = buckets[at].find(index);
                    if found != EMPTY || !buckets[at].is_full() {
                        return found;
                    }
                    at = (at + 1) & (buckets.len() - 1);
                }
            }
        }
    }
}

#[inline(always)]
fn widened(slot: i32) -> u64 {
    i64::from(slot) as u64
}

#[inline(always)]
fn start_of(shift: u32, index: i64) -> usize {
    // One multiplication would do for random indices; evenly spaced ones pile up under some
    // spacings unless their high bits are folded in first.
    let folded = (index as u64) ^ ((index as u64) >> 32);
    let mixed = folded.wrapping_mul(HASH_FACTOR);
    ((mixed ^ (mixed >> 29)).wrapping_mul(HASH_FACTOR_2) >> shift) as usize
}

fn fingerprint(indices: &[i64], offsets: &[usize], one_to_one: bool) -> u64 {
    let words = indices.iter().map(|index| *index as u64);
    let words = words.chain(offsets.iter().map(|offset| *offset as u64));
    words.chain([u64::from(one_to_one)]).fold(HASH_FACTOR, |hash, word| {
        (hash ^ word).wrapping_mul(0xD6E8_FEB8_6659_FD93).rotate_left(29)
    })
}

impl PartialEq for Unstructured {
    fn eq(&self, other: &Self) -> bool {
        self.fingerprint == other.fingerprint
            && self.one_to_one == other.one_to_one
            && self.offsets == other.offsets
            && self.indices == other.indices
    }
}

impl Eq for Unstructured {}

impl Hash for Unstructured {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.fingerprint.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_owners_dense_and_hashed() {
        let dense = vec![vec![3, -1, 7], vec![], vec![0, 3]];
        let sparse = vec![vec![i64::MIN, 5], vec![i64::MAX, 0, -9_000_000_000]];
        for lists in [dense, sparse] {
            let map = Unstructured::new(&lists);
            for (coordinate, list) in lists.iter().enumerate() {
                for (local, &index) in list.iter().enumerate() {
                    let first = lists.iter().position(|list| list.contains(&index));
                    if first == Some(coordinate) {
                        assert_eq!(map.owner(index), Some((coordinate as u64, local as u64)));
                    }
                }
            }
            assert_eq!(map.owner(123), None);
        }
    }

    /// Free entries have a key like any other: a held 0 is found, and no other 0.
    #[test]
    fn finds_the_key_of_free_entries() {
        for (lists, expected) in [
            (vec![vec![1 << 40, 0, -5]], Some((0, 1))),
            (vec![vec![1 << 40, 7]], None),
            (vec![(0..1000).map(|k| k << 40).collect()], Some((0, 0))),
            (vec![(1..1000).map(|k| k << 40).collect()], None),
        ] {
            let map = Unstructured::new(&lists);
            assert!(matches!(map.table, Table::Hash { .. }));
            assert_eq!(map.owner(0), expected);
        }
    }

    /// Batches answer as single look-ups do, and name the first index that nobody holds.
    #[test]
    fn batches_agree_with_single_look_ups() {
        let spread = |k: i64| k.wrapping_mul(0x1234_5678_9ABC_DEF1);
        let sparse: Vec<i64> = (0..10_000).map(spread).collect();
        let dense: Vec<i64> = (0..10_000).map(|k| (k * 7) % 10_000).collect();
        for list in [sparse, dense] {
            let map = Unstructured::new(&[list[..3000].to_vec(), list[3000..].to_vec()]);
            let mut n_found = 0;
            let answer = map.owners(list.iter().copied(), |row, coordinate, local| {
                assert_eq!(map.owner(list[row]), Some((coordinate, local)));
                n_found += 1;
            });
            assert_eq!((answer, n_found), (Ok(()), list.len()));
            let (mut places, mut local) = (vec![0; list.len()], vec![0; list.len()]);
            let into = Owners { stride: 3, places: &mut places, local: &mut local };
            assert_eq!(map.owners_dense(&list, into), Ok(()));
            for (row, index) in list.iter().enumerate() {
                let found = ((places[row] / 3) as u64, local[row] as u64);
                assert_eq!(map.owner(*index), Some(found));
            }
            for stranger in [0, 127, 128, 300] {
                let mut asked = list[..400].to_vec();
                asked[stranger] = -3;
                asked[399] = -4;
                let answer = map.owners(asked.iter().copied(), |_, _, _| {});
                assert_eq!(answer, Err(stranger));
                let into = Owners { stride: 1, places: &mut places, local: &mut local };
                assert_eq!(map.owners_dense(&asked, into), Err(stranger));
            }
        }
    }

    #[test]
    fn reports_duplicates() {
        let twice = Unstructured::new(&[vec![1, 2], vec![4, 4]]);
        assert_eq!(twice.defect(), Some(Defect::Duplicate { coordinate: 1, index: 4 }));
        let later = Unstructured::new(&[vec![1, 4], vec![4, 5, 4]]);
        assert_eq!(later.defect(), Some(Defect::Duplicate { coordinate: 1, index: 4 }));
        let shared = Unstructured::one_to_one(&[vec![1, 2], vec![2]]);
        assert_eq!(shared.defect(), Some(Defect::Shared { index: 2, first: 0, second: 1 }));
        assert_eq!(Unstructured::new(&[vec![1, 2], vec![2]]).defect(), None);
    }
}
