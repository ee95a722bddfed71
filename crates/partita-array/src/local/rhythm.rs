//! Where a loop that never reads a value begins anew.
//!
//! Every node has a mark, a number that says what it does to windows of which form, not to which
//! bases. As long as marks repeat those of the segment before, that segment's length is this
//! one's. Otherwise a period is looked for: marks that equal those one period earlier, for as long
//! as a segment is to be. Cutting by count alone would cut a loop at another place every time.

use rustc_hash::FxHashMap;

/// Shorter segments are not worth a look-up of their own: several periods make one.
const FEWEST_NODES: usize = 48;
/// Longer periods are not looked for.
const LONGEST_PERIOD: usize = 1024;

/// What is to be done before a node is recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cut {
    /// Nothing.
    Nowhere,
    /// The segment is complete: the node begins another.
    Here,
    /// The segment consists of two: the second begins with this node and is complete, too.
    At(usize),
}

/// The marks of the segment that is being recorded, and what is known of its period.
#[derive(Debug, Default)]
pub(super) struct Rhythm {
    marks: Vec<u64>,
    /// Marks of the segment before, while this one repeats them.
    before: Vec<u64>,
    last_at: FxHashMap<u64, usize>,
    period: usize,
    n_repeated: usize,
}

impl Rhythm {
    /// Notes the mark of the next node.
    pub fn note(&mut self, mark: u64) -> Cut {
        if !self.before.is_empty() {
            let at = self.marks.len();
            if at == self.before.len() && mark == self.before[0] {
                std::mem::swap(&mut self.before, &mut self.marks);
                self.marks.clear();
                self.marks.push(mark);
                return Cut::Here;
            }
            if self.before.get(at) == Some(&mark) {
                self.marks.push(mark);
                return Cut::Nowhere;
            }
            self.look_again();
        }
        self.look(mark)
    }

    /// Whether the segment repeats the marks of the one before it, so far.
    pub fn repeats(&self) -> bool {
        !self.before.is_empty()
    }

    /// A read has run everything: no segment stands before the next one.
    pub fn reset(&mut self) {
        self.marks.clear();
        self.before.clear();
        self.look_again();
    }

    /// Begins to look for a period, in what there is of the segment.
    fn look_again(&mut self) {
        self.before.clear();
        self.last_at.clear();
        (self.period, self.n_repeated) = (0, 0);
        self.last_at.extend(self.marks.iter().enumerate().map(|(at, mark)| (*mark, at)));
    }

    fn look(&mut self, mark: u64) -> Cut {
        let at = self.marks.len();
        // A complete second part was found with the node before.
        let wanted = self.wanted();
        if wanted > 0 && self.n_repeated == wanted {
            let start = at - wanted;
            self.before = self.marks.split_off(start);
            self.marks.clear();
            self.last_at.clear();
            (self.period, self.n_repeated) = (0, 0);
            self.marks.push(mark);
            if self.before[0] != mark {
                self.look_again();
            }
            return Cut::At(start);
        }
        if self.period > 0 && self.marks[at - self.period] == mark {
            self.n_repeated += 1;
        } else {
            let last = self.last_at.get(&mark).map_or(0, |last| at - last);
            self.period = if last <= LONGEST_PERIOD { last } else { 0 };
            self.n_repeated = self.n_before(at);
        }
        self.last_at.insert(mark, at);
        self.marks.push(mark);
        Cut::Nowhere
    }

    /// How many nodes up to this one repeat those one period earlier: the period may have begun
    /// with marks that stand in it several times.
    fn n_before(&self, at: usize) -> usize {
        if self.period == 0 {
            return 0;
        }
        let repeats = |k: &usize| self.marks[at - k] == self.marks[at - k - self.period];
        let n_possible = self.period.min(at + 1 - self.period);
        1 + (1..n_possible).take_while(repeats).count()
    }

    /// How many repeated nodes make a segment: whole periods.
    fn wanted(&self) -> usize {
        match self.period {
            0 => 0,
            period => FEWEST_NODES.next_multiple_of(period).max(period),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Where segments begin, for a list of marks.
    fn cuts(marks: impl Iterator<Item = u64>) -> Vec<usize> {
        let mut rhythm = Rhythm::default();
        let (mut begin, mut cuts) = (0, Vec::new());
        for (at, mark) in marks.enumerate() {
            match rhythm.note(mark) {
                Cut::Nowhere => continue,
                Cut::Here => cuts.push(at),
                Cut::At(node) => cuts.extend([begin + node, at]),
            }
            begin = at;
        }
        cuts
    }

    #[test]
    fn a_loop_is_cut_where_it_begins() {
        let step = [1, 2, 3, 2, 4];
        let marks = [7, 8, 9].into_iter().chain(step.into_iter().cycle().take(1000));
        let cuts = cuts(marks);
        assert!(cuts.len() > 15, "{cuts:?}");
        assert!(cuts.iter().all(|at| (at - 3) % 5 == 0), "{cuts:?}");
        assert!(cuts.windows(2).all(|pair| pair[1] - pair[0] == 50), "{cuts:?}");
    }

    #[test]
    fn a_loop_that_repeats_itself_inside_is_cut_where_it_begins() {
        let cuts = cuts([1, 2, 1, 2, 3].into_iter().cycle().take(500));
        assert!(cuts.len() > 5 && cuts.iter().all(|at| at % 5 == 0), "{cuts:?}");
    }

    #[test]
    fn what_does_not_repeat_is_not_cut() {
        assert!(cuts(0..5000).is_empty());
        assert!(cuts([1; 40].into_iter()).is_empty());
    }

    #[test]
    fn loops_inside_loops_are_cut_alike_each_time() {
        let inner = [1, 2, 3].into_iter().cycle().take(3 * 60);
        let outer = [11, 12, 13, 14].into_iter().chain(inner);
        let n_outer = outer.clone().count();
        let marks = std::iter::repeat_n(outer, 6).flatten();
        let cuts = cuts(marks);
        let phases = |turn: usize| -> Vec<usize> {
            let own = cuts.iter().filter(|at| **at / n_outer == turn);
            own.map(|at| at % n_outer).collect()
        };
        assert_eq!(phases(3), phases(4));
    }
}
