//! Owners of many indices of one dimension.
//!
//! Each loop is entered with its rule known and asks nothing per index: not which rule it is, and
//! not whether the index lies inside, which is checked for all of them before.

use crate::cuts::Cuts;
use crate::dim::{DimMap, Rule};
use crate::divide::SmallDivider;
use crate::map::Halo;

/// The row of the first index that nobody owns.
type Outcome = Result<(), usize>;

/// Where the owners go: the coordinates times a stride, and the positions in their buffers.
pub(crate) struct Owners<'a> {
    pub stride: u64,
    pub places: &'a mut [i64],
    pub local: &'a mut [i64],
}

impl Owners<'_> {
    #[inline(always)]
    fn fill(self, indices: &[i64], owner: impl Fn(u64) -> (u64, u64)) {
        for ((&index, place), local) in indices.iter().zip(self.places).zip(self.local) {
            let (coordinate, at) = owner(index as u64);
            *place = (coordinate * self.stride) as i64;
            *local = at as i64;
        }
    }
}

impl DimMap {
    /// Owners of many indices, `put(row, coordinate, local)` for each.
    ///
    /// # Errors
    /// The row of the first index that nobody owns.
    #[inline(always)]
    pub(crate) fn owners(
        &self,
        indices: impl Iterator<Item = i64> + Clone,
        mut put: impl FnMut(usize, u64, u64),
    ) -> Outcome {
        if let Rule::Lists(map) = &self.rule {
            return map.owners(indices, put);
        }
        self.check_inside(indices.clone())?;
        for (row, index) in indices.enumerate() {
            let (coordinate, local) = self.owner_inside(index as u64);
            put(row, coordinate, local);
        }
        Ok(())
    }

    /// Owners of a dense list of indices.
    ///
    /// # Errors
    /// The row of the first index that nobody owns.
    pub(crate) fn owners_dense(&self, indices: &[i64], into: Owners<'_>) -> Outcome {
        if let Rule::Lists(map) = &self.rule {
            return map.owners_dense(indices, into);
        }
        self.check_inside(indices.iter().copied())?;
        match &self.rule {
            Rule::Cyclic { block, .. } if self.is_small() => {
                self.small_cyclic(*block, indices, into);
            }
            Rule::Block { cuts, halo: Halo::Same(0, 0), .. } => bare_blocks(cuts, indices, into),
            _ => into.fill(indices, |index| self.owner_inside(index)),
        }
        Ok(())
    }

    /// Whether all numbers of the dimension fit 32 bits.
    fn is_small(&self) -> bool {
        self.extent() <= 1 << 31 && self.n_coordinates() < 1 << 31
    }

    /// Block-cyclic owners in products of 32 bits, which become vector instructions.
    fn small_cyclic(&self, block: u64, indices: &[i64], into: Owners<'_>) {
        let n_coordinates = self.n_coordinates();
        let by_block = SmallDivider::new(block);
        let by_period = SmallDivider::new(block.saturating_mul(n_coordinates));
        let narrow = |number: u64| number & 0xFFFF_FFFF;
        let stride = into.stride;
        for ((&index, place), local) in indices.iter().zip(into.places).zip(into.local) {
            let index = index as u64;
            let (n_blocks, n_turns) = (by_block.divide(index), by_period.divide(index));
            let coordinate = n_blocks - narrow(n_turns) * narrow(n_coordinates);
            *place = (narrow(coordinate) * narrow(stride)) as i64;
            *local = (index - narrow(n_blocks - n_turns) * narrow(block)) as i64;
        }
    }

    /// Looks at all indices without a branch per index; only a failure is searched for.
    #[inline(always)]
    fn check_inside(&self, mut indices: impl Iterator<Item = i64> + Clone) -> Outcome {
        let last = (self.extent() as i64).wrapping_sub(1);
        let signs =
            indices.clone().fold(0, |signs, index| signs | index | last.wrapping_sub(index));
        if signs >= 0 {
            return Ok(());
        }
        match indices.position(|index| index < 0 || index > last) {
            Some(row) => Err(row),
            None => Ok(()),
        }
    }
}

/// Owners where blocks have no halo.
fn bare_blocks(cuts: &Cuts, indices: &[i64], into: Owners<'_>) {
    let owner = |cuts: &Cuts, index| {
        let coordinate = cuts.find(index);
        (coordinate, index - cuts.start(coordinate))
    };
    match cuts {
        // The usual kind is made anew in the loop, where its kind is then known and asked no more.
        &Cuts::First { size, n_larger, by_larger, by_size } => into.fill(indices, |index| {
            owner(&Cuts::First { size, n_larger, by_larger, by_size }, index)
        }),
        _ => into.fill(indices, |index| owner(cuts, index)),
    }
}
