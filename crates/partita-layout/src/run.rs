//! Runs: the shape of what two ranks have in common in one dimension.
//!
//! A [`Run`] pairs positions in a source buffer with positions in a target buffer by three nested
//! loops, outermost first. Block, cyclic and strided patterns of any size are a handful of runs, so
//! nothing ever lists elements.
//!
//! ```
//! use partita_layout::Run;
//! // Elements 10, 11, 12 of the source to 0, 1, 2 of the target.
//! let run = Run::contiguous(10, 0, 3);
//! assert_eq!(run.n_elements(), 3);
//! assert_eq!(run.pairs().collect::<Vec<_>>(), [(10, 0), (11, 1), (12, 2)]);
//! ```
//!
//! It deliberately knows nothing of global indices, ranks or bytes.

/// One of the nested loops of a [`Run`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Level {
    /// How often the loop turns.
    pub count: u64,
    /// Distance between two turns in the source buffer.
    pub source_step: i64,
    /// Distance between two turns in the target buffer.
    pub target_step: i64,
}

impl Level {
    /// A loop that turns once.
    pub const ONCE: Self = Self { count: 1, source_step: 0, target_step: 0 };

    fn reversed(self) -> Self {
        Self { count: self.count, source_step: self.target_step, target_step: self.source_step }
    }
}

/// Positions of a source and a target buffer that hold the same indices.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Run {
    /// First position in the source buffer.
    pub source: u64,
    /// First position in the target buffer.
    pub target: u64,
    /// Outer repeat, inner repeat, elements.
    pub levels: [Level; 3],
}

impl Run {
    /// `length` neighbouring elements on both sides.
    #[must_use]
    pub const fn contiguous(source: u64, target: u64, length: u64) -> Self {
        let elements = Level { count: length, source_step: 1, target_step: 1 };
        Self { source, target, levels: [Level::ONCE, Level::ONCE, elements] }
    }

    /// The same with the inner repeat set.
    #[must_use]
    pub(crate) const fn inner(mut self, count: u64, source_step: u64, target_step: u64) -> Self {
        self.levels[1] = repeat(count, source_step, target_step);
        self
    }

    /// The same with the outer repeat set.
    #[must_use]
    pub(crate) const fn outer(mut self, count: u64, source_step: u64, target_step: u64) -> Self {
        self.levels[0] = repeat(count, source_step, target_step);
        self
    }

    /// Number of pairs.
    #[must_use]
    pub fn n_elements(&self) -> u64 {
        self.levels.iter().map(|level| level.count).product()
    }

    /// The run seen from the other side: source and target exchanged.
    #[must_use]
    pub fn reversed(&self) -> Self {
        Self { source: self.target, target: self.source, levels: self.levels.map(Level::reversed) }
    }

    /// Appends the pairs `first..end` of this run, in order, as at most five runs.
    pub fn part(&self, first: u64, end: u64, out: &mut Vec<Self>) {
        self.part_of_level(0, first, end, out);
    }

    fn part_of_level(&self, at: usize, first: u64, end: u64, out: &mut Vec<Self>) {
        if first >= end {
            return;
        }
        let unit: u64 = self.levels[at + 1..].iter().map(|level| level.count).product();
        let (whole_first, whole_end) = (first.div_ceil(unit), end / unit);
        if whole_first > whole_end {
            let turn = self.turns(at, end / unit, 1);
            return turn.part_of_level(
                at + 1,
                first - whole_end * unit,
                end - whole_end * unit,
                out,
            );
        }
        if first < whole_first * unit {
            let turn = self.turns(at, whole_first - 1, 1);
            turn.part_of_level(at + 1, first + unit - whole_first * unit, unit, out);
        }
        if whole_first < whole_end {
            out.push(self.turns(at, whole_first, whole_end - whole_first));
        }
        if whole_end * unit < end {
            let turn = self.turns(at, whole_end, 1);
            turn.part_of_level(at + 1, 0, end - whole_end * unit, out);
        }
    }

    /// Some turns of one of the loops.
    fn turns(&self, at: usize, first: u64, count: u64) -> Self {
        let Level { source_step, target_step, .. } = self.levels[at];
        let mut next = *self;
        next.source = walk(self.source, [(source_step, first), (0, 0), (0, 0)]);
        next.target = walk(self.target, [(target_step, first), (0, 0), (0, 0)]);
        next.levels[at] = Level { count, ..self.levels[at] };
        if count == 1 && at < 2 {
            next.levels[at] = Level::ONCE;
        }
        next
    }

    /// All (source, target) positions, for tests and small arrays.
    pub fn pairs(&self) -> impl Iterator<Item = (u64, u64)> + use<> {
        let run = *self;
        let [outer, inner, elements] = run.levels;
        (0..outer.count).flat_map(move |i| {
            (0..inner.count).flat_map(move |j| {
                (0..elements.count).map(move |k| {
                    let turns = [(outer, i), (inner, j), (elements, k)];
                    (
                        walk(run.source, turns.map(|(level, turn)| (level.source_step, turn))),
                        walk(run.target, turns.map(|(level, turn)| (level.target_step, turn))),
                    )
                })
            })
        })
    }
}

const fn repeat(count: u64, source_step: u64, target_step: u64) -> Level {
    if count == 1 {
        return Level::ONCE;
    }
    // Steps stay below the extent, which is at most 2^63, whenever there is a second turn.
    Level { count, source_step: source_step as i64, target_step: target_step as i64 }
}

fn walk(start: u64, turns: [(i64, u64); 3]) -> u64 {
    turns.iter().fold(start, |at, (step, turn)| at.wrapping_add((*step as u64).wrapping_mul(*turn)))
}

/// Number of elements of a list of runs.
#[must_use]
pub fn n_elements(runs: &[Run]) -> u64 {
    runs.iter().map(Run::n_elements).sum()
}

/// Joins position pairs into as few strided runs as a single pass finds.
pub(crate) fn compress(pairs: &[(u64, u64)]) -> Vec<Run> {
    let mut runs = Vec::new();
    let mut rest = pairs;
    while let Some((&first, tail)) = rest.split_first() {
        let Some(&second) = tail.first() else {
            runs.push(Run::contiguous(first.0, first.1, 1));
            break;
        };
        let step = difference(first, second);
        let length = 1 + tail
            .iter()
            .zip(rest)
            .take_while(|(next, at)| difference(**at, **next) == step)
            .count();
        // Two lone elements are more often the end of one run and the start of the next.
        let length = if length == 2 && step != (1, 1) { 1 } else { length };
        runs.push(strided(first, step, length as u64));
        rest = &rest[length..];
    }
    runs
}

fn difference(a: (u64, u64), b: (u64, u64)) -> (i64, i64) {
    (b.0.wrapping_sub(a.0) as i64, b.1.wrapping_sub(a.1) as i64)
}

fn strided(first: (u64, u64), step: (i64, i64), count: u64) -> Run {
    let mut run = Run::contiguous(first.0, first.1, 1);
    let level = Level { count, source_step: step.0, target_step: step.1 };
    match (count, step) {
        (1, _) => {}
        (_, (1, 1)) => run.levels[2] = level,
        _ => run.levels[1] = level,
    }
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compress_keeps_every_pair() {
        let pairs = [(0, 5), (1, 6), (2, 7), (9, 0), (11, 1), (13, 2), (4, 4)];
        let runs = compress(&pairs);
        let again: Vec<_> = runs.iter().flat_map(Run::pairs).collect();
        assert_eq!(again, pairs);
        assert_eq!(runs.len(), 3);
    }

    #[test]
    fn reversed_twice_is_itself() {
        let run = Run::contiguous(3, 9, 4).inner(2, 10, 20).outer(3, 100, 200);
        assert_eq!(run.reversed().reversed(), run);
        assert_eq!(run.n_elements(), 24);
        assert!(run.pairs().zip(run.reversed().pairs()).all(|((a, b), (c, d))| (a, b) == (d, c)));
    }

    #[test]
    fn parts_of_a_run_are_its_pairs_in_order() {
        let run = Run::contiguous(5, 100, 4).inner(3, 7, 9).outer(2, 50, 40);
        let all: Vec<_> = run.pairs().collect();
        for first in 0..=24 {
            for end in first..=24 {
                let mut parts = Vec::new();
                run.part(first, end, &mut parts);
                let found: Vec<_> = parts.iter().flat_map(Run::pairs).collect();
                assert_eq!(found, all[first as usize..end as usize], "{first}..{end}");
                assert!(parts.len() <= 5, "{first}..{end}: {parts:?}");
            }
        }
    }
}
