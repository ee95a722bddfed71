//! Nested loops over byte offsets: a region once strides are known.
//!
//! The order of the loops is free because no element is written from two places. So loops that
//! run backwards are turned, loops that continue each other are joined, and what is contiguous on
//! both sides becomes the `unit`, copied as one piece.

use std::sync::Arc;

/// A distance in the source and one in the target, in bytes.
pub(super) type Offset = (isize, isize);

/// A loop with a fixed step on each side, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Loop {
    pub count: usize,
    pub source: isize,
    pub target: isize,
}

impl Loop {
    pub const ONCE: Self = Self { count: 1, source: 0, target: 0 };

    /// Neighbouring bytes on both sides.
    pub const fn bytes(count: usize) -> Self {
        Self { count, source: 1, target: 1 }
    }

    /// Offset of a turn.
    pub const fn at(self, turn: usize) -> Offset {
        (self.source.wrapping_mul(turn as isize), self.target.wrapping_mul(turn as isize))
    }

    /// Whether a turn of `self` starts where a whole turn of `inner` ends, on both sides.
    fn continues(self, inner: Self) -> bool {
        inner.at(inner.count) == (self.source, self.target)
    }
}

/// Offsets that follow no rule, each a turn of a loop.
#[derive(Debug, Clone)]
pub(super) struct List {
    pub offsets: Arc<[Offset]>,
    /// Source stride of the dimension it comes from: says how far inside the loop belongs.
    pub stride: usize,
}

/// A contiguous unit, repeated by loops and at most one list.
#[derive(Debug, Clone)]
pub(super) struct Nest {
    pub start: Offset,
    pub unit: usize,
    /// Outermost first, by distance in the source.
    pub loops: Vec<Loop>,
    pub list: Option<List>,
}

impl Nest {
    /// Normalises loops over elements of `unit` bytes; `None` if there is nothing to copy.
    pub fn new(start: Offset, unit: usize, loops: Vec<Loop>, list: Option<List>) -> Option<Self> {
        if unit == 0 || loops.iter().any(|turn| turn.count == 0) {
            return None;
        }
        let mut nest = Self { start, unit, loops, list };
        nest.loops.retain(|turn| turn.count > 1);
        nest.turn_forward();
        nest.grow_unit();
        nest.join_loops();
        nest.loops.sort_by_key(|turn| std::cmp::Reverse(turn.source.unsigned_abs()));
        Some(nest)
    }

    /// Makes every step in the target positive, so that reversed rows are seen as contiguous.
    fn turn_forward(&mut self) {
        for turn in &mut self.loops {
            if turn.target < 0 {
                self.start = sum(self.start, turn.at(turn.count - 1));
                (turn.source, turn.target) = (-turn.source, -turn.target);
            }
        }
    }

    fn grow_unit(&mut self) {
        let is_next =
            |turn: &Loop, unit| turn.source == unit as isize && turn.target == unit as isize;
        while let Some(at) = self.loops.iter().position(|turn| is_next(turn, self.unit)) {
            self.unit *= self.loops.swap_remove(at).count;
        }
    }

    fn join_loops(&mut self) {
        while let Some((outer, inner)) = self.joinable() {
            self.loops[inner].count *= self.loops[outer].count;
            self.loops.swap_remove(outer);
        }
    }

    fn joinable(&self) -> Option<(usize, usize)> {
        let n_loops = self.loops.len();
        (0..n_loops).flat_map(|outer| (0..n_loops).map(move |inner| (outer, inner))).find(
            |&(outer, inner)| outer != inner && self.loops[outer].continues(self.loops[inner]),
        )
    }
}

pub(super) fn sum(a: Offset, b: Offset) -> Offset {
    (a.0.wrapping_add(b.0), a.1.wrapping_add(b.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn turn(count: usize, source: isize, target: isize) -> Loop {
        Loop { count, source, target }
    }

    #[test]
    fn whole_array_is_one_unit() {
        let loops = vec![turn(3, 320, 320), turn(5, 64, 64), turn(8, 8, 8)];
        let nest = Nest::new((0, 0), 8, loops, None).expect("not empty");
        assert_eq!((nest.unit, nest.loops.len()), (3 * 5 * 8 * 8, 0));
    }

    #[test]
    fn reversed_on_both_sides_is_contiguous() {
        let nest = Nest::new((72, 72), 8, vec![turn(10, -8, -8)], None).expect("not empty");
        assert_eq!((nest.start, nest.unit), ((0, 0), 80));
    }

    #[test]
    fn strided_rows_join() {
        let loops = vec![turn(4, 160, 80), turn(10, 16, 8)];
        let nest = Nest::new((0, 0), 8, loops, None).expect("not empty");
        assert_eq!(nest.loops, [turn(40, 16, 8)]);
    }
}
