//! The index arithmetic of `dist` on known numbers, one dimension at a time.
//!
//! The formulas are those of [`partita_layout::dist::wide`]; what makes no sense, or does not fit
//! the numbers of a program, gives nothing.

use partita_layout::dist::{self, Bound, wide};
use wide::{Interval, Steps};

use crate::builder::Slices;
use crate::kind::OpKind;
use crate::module::{Module, Op, Value};
use crate::slices::Reach;
use crate::types::{ArrayType, Size};

/// An interval of a program's numbers: its first index and its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Range {
    /// First index.
    pub offset: i64,
    /// Number of indices.
    pub size: i64,
}

impl Range {
    /// An interval.
    #[must_use]
    pub const fn new(offset: i64, size: i64) -> Self {
        Self { offset, size }
    }

    /// One more than the last index.
    #[must_use]
    pub fn stop(self) -> i64 {
        self.offset.saturating_add(self.size)
    }

    fn wide(self) -> Interval {
        Interval::new(self.offset, self.size)
    }

    fn of(interval: Interval) -> Option<Self> {
        let [offset, size] = [interval.offset, interval.size].map(|n| i64::try_from(n).ok());
        Some(Self { offset: offset?, size: size? })
    }
}

/// A rank's part of a dimension that is cut evenly, the extras with the last ranks.
#[must_use]
pub fn default_partition(n_ranks: i64, rank: i64, extent: i64) -> Option<Range> {
    let [n_ranks, rank, extent] = [n_ranks, rank, extent].map(|n| u64::try_from(n).ok());
    let part = dist::default_partition(n_ranks?, rank?, &[extent?]).ok()?;
    Some(Range::new(part[0].offset as i64, part[0].size as i64))
}

/// Entries of a slice whose index lies in an interval.
#[must_use]
pub fn entries(offset: i64, size: i64, stride: i64, inside: Range) -> Option<Range> {
    Range::of(Steps::new(offset, size, stride).entries_in(inside.wide())?)
}

/// Indices that a target needs of a slice.
#[must_use]
pub fn needed(offset: i64, size: i64, stride: i64, target: Range) -> Option<Range> {
    Range::of(Steps::new(offset, size, stride).needed(target.wide()))
}

/// What is needed, joined with an earlier box or cut with it.
#[must_use]
pub fn joined_box(needed: Range, before: Option<Range>, bound: Bound) -> Option<Range> {
    Range::of(wide::joined(needed.wide(), before.map(Range::wide), bound))
}

/// Entries of a target whose index is owned, counted from the target, cut with an earlier core.
#[must_use]
pub fn core(
    owned: Range,
    target: Range,
    slice: (i64, i64, i64),
    before: Option<Range>,
) -> Option<Range> {
    let slice = Steps::new(slice.0, slice.1, slice.2);
    Range::of(slice.core(owned.wide(), target.wide(), before.map(Range::wide))?)
}

/// How the boxes of an operation are joined.
#[must_use]
pub fn bound_of(module: &Module, op: Op) -> Bound {
    let inner = module.attr(op, "inner").and_then(crate::attr::Attr::as_bool);
    if inner == Some(true) { Bound::Inner } else { Bound::Outer }
}

/// What an operation of `dist` on indices gives, if its operands are known.
pub(super) fn results(module: &Module, op: Op) -> Option<Vec<i64>> {
    let known = |group: usize| module.known_indices(module.operand_group(op, group));
    let ranges = match module.kind(op) {
        OpKind::DistDefaultPartition => {
            let [n_ranks, rank] = [known(0)?[0], known(1)?[0]];
            let shape = known(2)?;
            let first = shape.first().map(|n| default_partition(n_ranks, rank, *n));
            let rest = shape.iter().skip(1).map(|n| Some(Range::new(0, *n)));
            first.into_iter().chain(rest).collect::<Option<Vec<_>>>()?
        }
        OpKind::DistCheckedSlice => {
            checked_slice(&known(0)?, [&known(1)?, &known(2)?, &known(3)?])?
        }
        OpKind::DistLocalBoundingBox => {
            let bound = bound_of(module, op);
            let slices = triples(&known(0)?, &known(1)?, &known(2)?);
            let targets = pairs(&known(3)?, &known(4)?);
            let before = pairs(&known(5)?, &known(6)?);
            let one = |(dim, (slice, target)): (usize, (&(i64, i64, i64), &Range))| {
                let needed = needed(slice.0, slice.1, slice.2, *target)?;
                joined_box(needed, before.get(dim).copied(), bound)
            };
            slices.iter().zip(&targets).enumerate().map(one).collect::<Option<Vec<_>>>()?
        }
        OpKind::DistLocalTargetOfSlice => {
            let array = *module.operands(op).first()?;
            let (offsets, sizes, strides) = (known(1)?, known(2)?, known(3)?);
            // A slice that leaves the array is refused when the program runs.
            let inside = Slices::known(&offsets, &sizes, &strides).reach(module.ty(array).shape()?);
            (inside == Reach::Inside).then_some(())?;
            let owned = owned_box(module, array)?;
            let slices = triples(&offsets, &sizes, &strides);
            let one = |(slice, owned): (&(i64, i64, i64), &Range)| {
                entries(slice.0, slice.1, slice.2, *owned)
            };
            slices.iter().zip(&owned).map(one).collect::<Option<Vec<_>>>()?
        }
        OpKind::DistLocalCore => {
            let owned = owned_box(module, *module.operands(op).first()?)?;
            let targets = pairs(&known(1)?, &known(2)?);
            let slices = triples(&known(3)?, &known(4)?, &known(5)?);
            let before = pairs(&known(6)?, &known(7)?);
            let one =
                |dim: usize| core(owned[dim], targets[dim], slices[dim], before.get(dim).copied());
            let n = owned.len().min(targets.len()).min(slices.len());
            (0..n).map(one).collect::<Option<Vec<_>>>()?
        }
        _ => return None,
    };
    let (offsets, sizes) = (ranges.iter().map(|r| r.offset), ranges.iter().map(|r| r.size));
    let numbers: Vec<i64> = offsets.chain(sizes).collect();
    (numbers.len() == module.results(op).len()).then_some(numbers)
}

/// Offsets and sizes of a slice that stays inside a shape.
#[must_use]
pub fn checked_slice(shape: &[i64], [offsets, sizes, strides]: [&[i64]; 3]) -> Option<Vec<Range>> {
    let extents: Option<Vec<Size>> = shape.iter().map(|n| Size::from_i64(*n)).collect();
    let slices = Slices::known(offsets, sizes, strides);
    (slices.reach(&extents?) == Reach::Inside).then_some(())?;
    Some(pairs(&offsets.iter().map(|offset| (*offset).max(0)).collect::<Vec<_>>(), sizes))
}

fn pairs(offsets: &[i64], sizes: &[i64]) -> Vec<Range> {
    offsets.iter().zip(sizes).map(|(offset, size)| Range::new(*offset, *size)).collect()
}

fn triples(a: &[i64], b: &[i64], c: &[i64]) -> Vec<(i64, i64, i64)> {
    a.iter().zip(b).zip(c).map(|((a, b), c)| (*a, *b, *c)).collect()
}

/// What a rank owns of an array, if the type says it.
fn owned_box(module: &Module, array: Value) -> Option<Vec<Range>> {
    module.ty(array).as_array().and_then(owned_by_type)
}

/// Offsets and sizes of the owned part, if the type has them all.
fn owned_by_type(array: &ArrayType) -> Option<Vec<Range>> {
    let env = array.dist()?;
    let known = |size: &Size| size.known().and_then(|n| i64::try_from(n).ok());
    let owned = env.owned()?;
    let middle = env.lparts.len() / 2;
    let mut ranges = Vec::with_capacity(owned.len());
    for (dim, (offset, size)) in env.loffs.iter().zip(owned).enumerate() {
        let mut offset = known(offset)?;
        if let Some(axis) = env.cut().iter().position(|cut| *cut == dim) {
            // One step back along this axis in the list of parts, all others in the middle.
            let step = 3_usize.checked_pow((env.cut().len() - 1 - axis) as u32)?;
            offset += known(env.lparts.get(middle.checked_sub(step)?)?.get(dim)?)?;
        }
        ranges.push(Range::new(offset, known(size)?));
    }
    Some(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn box_of(view: (i64, i64, i64), target: (i64, i64), before: Option<(i64, i64)>) -> (i64, i64) {
        let needed = needed(view.0, view.1, view.2, Range::new(target.0, target.1)).expect("a box");
        let found = joined_box(needed, before.map(|(o, s)| Range::new(o, s)), Bound::Outer);
        let found = found.expect("a box");
        (found.offset, found.size)
    }

    #[test]
    fn parts_are_even_and_the_last_ranks_have_the_extras() {
        let parts = |n, extent| -> Vec<(i64, i64)> {
            let part = |rank| default_partition(n, rank, extent).expect("a part");
            (0..n).map(part).map(|part| (part.offset, part.size)).collect()
        };
        assert_eq!(parts(3, 8), [(0, 2), (2, 3), (5, 3)]);
        assert_eq!(parts(4, 8), [(0, 2), (2, 2), (4, 2), (6, 2)]);
        let of_31 = parts(8, 31);
        assert_eq!([of_31[7], of_31[2], of_31[1], of_31[0]], [(27, 4), (7, 4), (3, 4), (0, 3)]);
        assert_eq!((parts(8, 32)[7], parts(8, 33)[7]), ((28, 4), (28, 5)));
        assert_eq!((parts(2, 8)[1], parts(2, 1)[0]), ((4, 4), (0, 0)));
        assert_eq!(default_partition(0, 0, 4), None);
        assert_eq!(default_partition(2, 2, 4), None);
    }

    #[test]
    fn boxes_of_single_views() {
        let cases = [
            ((0, 8, 1), (4, 4), (4, 4)),
            ((1, 7, 1), (4, 4), (5, 3)),
            ((0, 8, 1), (4, 0), (4, 0)),
            ((1, 7, 1), (0, 0), (1, 0)),
            ((1, 7, 1), (2, 2), (3, 2)),
            ((0, 0, 1), (4, 4), (4, 0)),
            ((1, 3, 1), (0, 4), (1, 3)),
        ];
        for (view, target, wanted) in cases {
            assert_eq!(box_of(view, target, None), wanted, "{view:?} {target:?}");
        }
    }

    #[test]
    fn boxes_grow_one_after_the_other() {
        assert_eq!(box_of((1, 7, 1), (4, 4), Some((4, 4))), (4, 4));
        assert_eq!(box_of((0, 8, 1), (4, 0), Some((4, 4))), (4, 4));
        assert_eq!(box_of((1, 3, 1), (0, 4), Some((0, 5))), (0, 5));
        let third = box_of((1, 7, 1), (2, 2), Some((1, 0)));
        assert_eq!(third, (3, 2));
        let fourth = box_of((0, 1, 1), (0, 1), Some(third));
        assert_eq!(fourth, (0, 5));
        assert_eq!(box_of((7, 8, 1), (0, 1), Some(fourth)), (0, 8));
    }

    #[test]
    fn inner_boxes_share() {
        let needed = needed(1, 10, 1, Range::new(2, 5)).expect("a box");
        let before = Some(Range::new(2, 5));
        assert_eq!(joined_box(needed, before, Bound::Inner), Some(Range::new(3, 4)));
        assert_eq!(joined_box(needed, before, Bound::Outer), Some(Range::new(2, 6)));
    }

    #[test]
    fn entries_agree_with_the_layout_crate() {
        for stride in [-3_i64, -2, -1, 1, 2, 5] {
            let offset = if stride < 0 { 20 } else { 3 };
            let slice = partita_layout::Slice::new(offset as u64, 6, stride);
            for (start, size) in (0..30).flat_map(|start| (0..9).map(move |size| (start, size))) {
                let (first, count) = slice.entries_in(start, start + size);
                let inside = Range::new(start as i64, size as i64);
                let found = entries(offset, 6, stride, inside).expect("entries");
                assert_eq!(found.size, count as i64, "{stride} {start} {size}");
                if count > 0 {
                    assert_eq!(found.offset, first as i64);
                }
            }
        }
    }

    #[test]
    fn targets_count_in_the_slice() {
        let of = |rank| {
            let owned = default_partition(3, rank, 16).expect("a part");
            let found = entries(3, 10, 1, owned).expect("entries");
            (found.offset, found.size)
        };
        assert_eq!([of(0), of(1), of(2)], [(0, 2), (2, 5), (7, 3)]);
    }
}
