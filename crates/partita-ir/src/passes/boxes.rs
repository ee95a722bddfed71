//! Boxes as values: which part of an array a rank has by default, and slices of slices.

use crate::attr::Attr;
use crate::builder::{Entry, Slices};
use crate::kind::OpKind;
use crate::module::{NewOp, Value};
use crate::passes::emit::Emit;
use crate::passes::failing::is_checked;
use crate::slices::Reach;
use crate::types::{DistEnv, Grid, Size};

/// Offsets and sizes, one value per dimension each.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct BoxOf {
    pub(super) offsets: Vec<Value>,
    pub(super) sizes: Vec<Value>,
}

impl From<(Vec<Value>, Vec<Value>)> for BoxOf {
    fn from((offsets, sizes): (Vec<Value>, Vec<Value>)) -> Self {
        Self { offsets, sizes }
    }
}

impl Emit<'_> {
    /// What this rank owns by default of an array of a shape, distributed as an environment says.
    pub(super) fn default_box(&mut self, env: &DistEnv, shape: &[Value]) -> BoxOf {
        match &env.grid {
            None => {
                let size = self.of_team(OpKind::RuntimeTeamSize, &env.team);
                let member = self.of_team(OpKind::RuntimeTeamMember, &env.team);
                self.row_box(size, member, shape)
            }
            Some(grid) => self.grid_box(&env.team, grid, shape),
        }
    }

    fn row_box(&mut self, size: Value, member: Value, shape: &[Value]) -> BoxOf {
        let new = NewOp::new(OpKind::DistDefaultPartition).operands(&[size, member]);
        self.boxed(new.operands(shape), shape.len()).into()
    }

    /// Ranks stand on the grid in C order; each cut dimension is a row of its own.
    fn grid_box(&mut self, team: &Attr, grid: &Grid, shape: &[Value]) -> BoxOf {
        let zero = self.index(0);
        let mut found = BoxOf { offsets: vec![zero; shape.len()], sizes: shape.to_vec() };
        let extents = self.grid_extents(team, grid);
        let mut rest = self.of_team(OpKind::RuntimeTeamMember, team);
        for (extent, dim) in extents.iter().zip(&grid.cut).rev() {
            let coordinate = self.rem(rest, *extent);
            rest = self.floor_div(rest, *extent);
            let Some(size) = shape.get(*dim) else { continue };
            let row = self.row_box(*extent, coordinate, &[*size]);
            (found.offsets[*dim], found.sizes[*dim]) = (row.offsets[0], row.sizes[0]);
        }
        found
    }

    /// Ranks along each axis; one that is not known has what the others leave of the team.
    fn grid_extents(&mut self, team: &Attr, grid: &Grid) -> Vec<Value> {
        let known: i64 = grid.shape.iter().filter_map(|size| size.known()).product::<u64>() as i64;
        let mut extents = Vec::with_capacity(grid.shape.len());
        for size in &grid.shape {
            extents.push(match size {
                Size::Known(size) => self.index(*size as i64),
                Size::Dynamic => {
                    let all = self.of_team(OpKind::RuntimeTeamSize, team);
                    let others = self.index(known.max(1));
                    self.floor_div(all, others)
                }
            });
        }
        extents
    }

    /// Entries of a slice that this rank owns of an array.
    pub(super) fn target_of_slice(&mut self, array: Value, slices: &Slices) -> BoxOf {
        let [offsets, sizes, strides] = self.slice_values(slices);
        let groups = [&[array], &offsets[..], &sizes, &strides];
        let new = NewOp::new(OpKind::DistLocalTargetOfSlice).groups(&groups);
        self.boxed(new, offsets.len()).into()
    }

    /// A slice of an array that has been checked when it is used: the same, where it is certain to
    /// stay inside, else with numbers that come out of `dist.checked_slice`.
    ///
    /// Whatever depends on such a slice, and be it moved, comes after the check.
    pub(super) fn checked(&mut self, array: Value, slices: &Slices) -> Slices {
        let shape = self.module.ty(array).shape().unwrap_or(&[]).to_vec();
        if slices.reach(&shape) == Reach::Inside || is_checked(self.module, slices) {
            return slices.clone();
        }
        let extents = self.shape(array);
        let [offsets, sizes, strides] = self.slice_values(slices);
        let new = NewOp::new(OpKind::DistCheckedSlice);
        let new = new.groups(&[&extents, &offsets, &sizes, &strides]);
        let found = self.boxed(new, offsets.len());
        let mut checked = slices.clone();
        for (dim, extent) in shape.iter().enumerate() {
            if checked.sizes[dim].known().is_none() {
                checked.sizes[dim] = self.as_entry(found.1[dim]);
            }
            // Known sizes stay, since types are made of them; the offset then ties the slice.
            let open = *extent == Size::Dynamic || slices.strides[dim].known().is_none();
            let tied = open && slices.sizes[dim].known().is_some();
            if checked.offsets[dim].known().is_none() || tied {
                checked.offsets[dim] = self.as_entry(found.0[dim]);
            }
        }
        checked
    }

    /// The three lists of a slice as values.
    pub(super) fn slice_values(&mut self, slices: &Slices) -> [Vec<Value>; 3] {
        [&slices.offsets, &slices.sizes, &slices.strides].map(|list| self.entries(list))
    }

    /// A slice of everything.
    pub(super) fn whole(&mut self, array: Value) -> Slices {
        let shape = self.shape(array);
        let n = shape.len();
        Slices {
            offsets: vec![Entry::Known(0); n],
            sizes: shape.iter().map(|size| self.as_entry(*size)).collect(),
            strides: vec![Entry::Known(1); n],
        }
    }

    /// A slice of a slice as one slice.
    pub(super) fn compose(&mut self, outer: &Slices, inner: &Slices) -> Slices {
        let mut composed = inner.clone();
        for dim in 0..inner.offsets.len() {
            let stride = self.entry(outer.strides[dim]);
            let (first, step) = (self.entry(inner.offsets[dim]), self.entry(inner.strides[dim]));
            let shift = self.mul(first, stride);
            let start = self.entry(outer.offsets[dim]);
            let start = self.add(start, shift);
            let step = self.mul(step, stride);
            composed.offsets[dim] = self.as_entry(start);
            composed.strides[dim] = self.as_entry(step);
        }
        composed
    }

    /// The box a target needs of a slice, joined with an earlier box.
    pub(super) fn bounding_box(
        &mut self,
        slices: &Slices,
        target: &BoxOf,
        before: Option<&BoxOf>,
    ) -> BoxOf {
        let [offsets, sizes, strides] = self.slice_values(slices);
        let (bb_offsets, bb_sizes) = match before {
            Some(before) => (&before.offsets[..], &before.sizes[..]),
            None => (&[][..], &[][..]),
        };
        let new = NewOp::new(OpKind::DistLocalBoundingBox)
            .groups(&[
                &offsets,
                &sizes,
                &strides,
                &target.offsets,
                &target.sizes,
                bb_offsets,
                bb_sizes,
            ])
            .attr("inner", Attr::Bool(false));
        self.boxed(new, offsets.len()).into()
    }

    /// Entries of a slice up to an index; nothing where the stride is not known.
    pub(super) fn entries_before(
        &mut self,
        slices: &Slices,
        dim: usize,
        end: Value,
    ) -> Option<Value> {
        let Entry::Known(stride) = slices.strides[dim] else { return None };
        let (start, count) = (self.entry(slices.offsets[dim]), self.entry(slices.sizes[dim]));
        let zero = self.index(0);
        let reached = match stride {
            0 => return None,
            1.. => {
                let (distance, step) = (self.sub(end, start), self.index(stride));
                self.ceil_div(distance, step)
            }
            // Backwards, entries count from the far end: those whose index is not below `end`.
            _ => {
                let (distance, step) = (self.sub(start, end), self.index(stride.checked_neg()?));
                let whole = self.floor_div(distance, step);
                let one = self.index(1);
                self.add(whole, one)
            }
        };
        Some(self.clamp(reached, zero, count))
    }

    /// Entries of a slice whose elements lie in a box.
    pub(super) fn entries_in(&mut self, slices: &Slices, inside: &BoxOf) -> Option<BoxOf> {
        let mut found = BoxOf { offsets: Vec::new(), sizes: Vec::new() };
        for dim in 0..slices.offsets.len() {
            let stop = self.add(inside.offsets[dim], inside.sizes[dim]);
            let at_start = self.entries_before(slices, dim, inside.offsets[dim])?;
            let at_stop = self.entries_before(slices, dim, stop)?;
            let forward = matches!(slices.strides[dim], Entry::Known(1..));
            let (low, high) = if forward { (at_start, at_stop) } else { (at_stop, at_start) };
            let size = self.sub(high, low);
            found.offsets.push(low);
            found.sizes.push(size);
        }
        Some(found)
    }
}
