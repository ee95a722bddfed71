//! Operands and results in the groups the table names.

use std::ops::Range;

use super::{Module, Op, Value};
use crate::table::{Count, Group};

impl Module {
    /// The operands of one group, by its place in the table's list.
    ///
    /// Nothing for a group that is not there, and for an operation whose operands do not fit its
    /// groups; the verifier says so.
    #[must_use]
    pub fn operand_group(&self, op: Op, group: usize) -> &[Value] {
        let range = self.operand_ranges(op).and_then(|ranges| ranges.get(group).cloned());
        range.map_or(&[], |range| &self.operands(op)[range])
    }

    /// The operands of the group of a name.
    #[must_use]
    pub fn operands_named(&self, op: Op, name: &str) -> &[Value] {
        let groups = self.info(op).map_or(&[][..], |info| info.operands);
        let place = groups.iter().position(|group| group.name == name);
        place.map_or(&[], |place| self.operand_group(op, place))
    }

    /// The results of one group.
    #[must_use]
    pub fn result_group(&self, op: Op, group: usize) -> &[Value] {
        let range = self.result_ranges(op).and_then(|ranges| ranges.get(group).cloned());
        range.map_or(&[], |range| &self.results(op)[range])
    }

    /// Replaces the operands of one group.
    ///
    /// # Panics
    /// If the operation's operands do not fit its groups.
    pub fn set_operand_group(&mut self, op: Op, group: usize, values: &[Value]) {
        let ranges = self.operand_ranges(op).expect("operands that fit their groups");
        let mut groups: Vec<&[Value]> =
            ranges.iter().map(|range| &self.operands(op)[range.clone()]).collect();
        groups[group] = values;
        let lengths: Vec<u32> = groups.iter().map(|g| g.len() as u32).collect();
        let operands = groups.concat();
        self.set_operands(op, &operands, Some(&lengths));
    }

    /// Where each operand group lies; nothing if the operands do not fit.
    #[must_use]
    pub fn operand_ranges(&self, op: Op) -> Option<Vec<Range<usize>>> {
        let info = self.info(op)?;
        let n_operands = self.operands(op).len();
        match &self.ops[op.index()].segments {
            Some(lengths) => given(info.operands, lengths, n_operands),
            None => derived(info.operands, n_operands),
        }
    }

    /// Where each result group lies; groups of any length are equally long.
    #[must_use]
    pub fn result_ranges(&self, op: Op) -> Option<Vec<Range<usize>>> {
        derived(self.info(op)?.results, self.results(op).len())
    }

    /// Lengths of the operand groups as they were given.
    #[must_use]
    pub fn segments(&self, op: Op) -> Option<&[u32]> {
        self.ops[op.index()].segments.as_deref()
    }
}

fn given(groups: &[Group], lengths: &[u32], n: usize) -> Option<Vec<Range<usize>>> {
    let fits = groups.len() == lengths.len()
        && groups.iter().zip(lengths).all(|(group, length)| group.count.allows(*length as usize));
    let ranges = cut(lengths.iter().map(|length| *length as usize));
    let end = ranges.last().map_or(0, |range| range.end);
    (fits && end == n).then_some(ranges)
}

/// Groups of one have one; the others share the rest equally.
fn derived(groups: &[Group], n: usize) -> Option<Vec<Range<usize>>> {
    let n_single = groups.iter().filter(|group| group.count == Count::One).count();
    let n_open = groups.len() - n_single;
    let rest = n.checked_sub(n_single)?;
    let each = rest.checked_div(n_open).unwrap_or(0);
    let length = |group: &Group| if group.count == Count::One { 1 } else { each };
    let fits =
        each * n_open == rest && groups.iter().all(|group| group.count.allows(length(group)));
    fits.then(|| cut(groups.iter().map(length)))
}

fn cut(lengths: impl Iterator<Item = usize>) -> Vec<Range<usize>> {
    let mut start = 0_usize;
    lengths
        .map(|length| {
            let range = start..start.saturating_add(length);
            start = range.end;
            range
        })
        .collect()
}
