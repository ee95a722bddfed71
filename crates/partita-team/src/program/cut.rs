//! Cutting the moves between two ranks into chunks of limited size.
//!
//! Both ranks list the moves of a pair alike, so both cut alike, and no word about it is needed. A
//! move is cut along one dimension into slabs; the dimensions outside it are taken index by index.

use std::sync::Arc;

use partita_layout::Run;
use partita_plan::Move;

/// The chunks between two ranks, one after the other.
#[derive(Debug)]
pub(crate) struct Chunks {
    moves: Vec<Move>,
    item_bytes: u64,
    limit_bytes: u64,
    /// The move that is being cut, and how many of its slabs are gone.
    at: usize,
    slabs: Option<Slabs>,
}

/// A move that is being cut.
#[derive(Debug)]
struct Slabs {
    /// Where the runs of each dimension begin, in elements, and their end.
    starts: Vec<Vec<u64>>,
    /// The dimension that is cut.
    dim: usize,
    /// Elements of one index of that dimension.
    unit: u64,
    /// Indices at most per chunk.
    most: u64,
    n_gone: u64,
    n_slabs: u64,
}

/// What one message carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Chunk {
    pub moves: Vec<Move>,
    pub n_bytes: usize,
}

impl Chunks {
    pub(crate) fn new(moves: Vec<Move>, item_bytes: u64, limit_bytes: u64) -> Self {
        Self { moves, item_bytes, limit_bytes, at: 0, slabs: None }
    }

    /// The next slab, if it still fits.
    fn slab(&mut self, room_bytes: u64) -> Option<Move> {
        loop {
            let m = self.moves.get(self.at)?;
            let (item_bytes, limit_bytes) = (self.item_bytes, self.limit_bytes);
            let slabs = self.slabs.get_or_insert_with(|| Slabs::new(m, item_bytes, limit_bytes));
            if slabs.n_gone < slabs.n_slabs {
                let fits = room_bytes / (slabs.unit * item_bytes);
                return slabs.next(m, fits);
            }
            self.at += 1;
            self.slabs = None;
        }
    }
}

impl Iterator for Chunks {
    type Item = Chunk;

    fn next(&mut self) -> Option<Chunk> {
        let (mut moves, mut n_bytes) = (Vec::new(), 0);
        while let Some(slab) = self.slab(self.limit_bytes.max(self.item_bytes) - n_bytes) {
            n_bytes += slab.n_elements() * self.item_bytes;
            moves.push(slab);
            if n_bytes >= self.limit_bytes {
                break;
            }
        }
        (!moves.is_empty()).then_some(Chunk { moves, n_bytes: n_bytes as usize })
    }
}

impl Slabs {
    fn new(m: &Move, item_bytes: u64, limit_bytes: u64) -> Self {
        let starts: Vec<Vec<u64>> = m.runs.iter().map(|runs| starts(runs)).collect();
        let lengths: Vec<u64> = starts.iter().map(|starts| *starts.last().unwrap_or(&0)).collect();
        let unit = |dim: usize| lengths[(dim + 1).min(lengths.len())..].iter().product::<u64>();
        let fits = |dim: &usize| unit(*dim) * item_bytes <= limit_bytes;
        let dim = (0..lengths.len()).find(fits).unwrap_or(lengths.len().saturating_sub(1));
        let n_slabs = lengths.iter().take(dim + 1).product();
        let unit = unit(dim);
        let most = (limit_bytes / (unit * item_bytes).max(1)).max(1);
        Self { starts, dim, unit, most, n_gone: 0, n_slabs }
    }

    /// The next slab of at most so many indices; none if not even one fits.
    fn next(&mut self, m: &Move, fits: u64) -> Option<Move> {
        let fits = fits.min(self.most);
        if fits == 0 {
            return None;
        }
        let Some(length) = self.starts.get(self.dim).and_then(|starts| starts.last()).copied()
        else {
            // No dimension: one element.
            self.n_gone += 1;
            return Some(m.clone());
        };
        let first = self.n_gone % length;
        let n_taken = fits.min(length - first);
        let mut outer = self.n_gone / length;
        let mut runs: Vec<Arc<[Run]>> = m.runs.clone();
        runs[self.dim] = part(&m.runs[self.dim], &self.starts[self.dim], first, first + n_taken);
        for dim in (0..self.dim).rev() {
            let length = *self.starts[dim].last()?;
            let index = outer % length;
            outer /= length;
            runs[dim] = part(&m.runs[dim], &self.starts[dim], index, index + 1);
        }
        self.n_gone += n_taken;
        Some(Move { runs, ..m.clone() })
    }
}

fn starts(runs: &[Run]) -> Vec<u64> {
    let mut sum = 0;
    let mut starts = vec![0];
    for run in runs {
        sum += run.n_elements();
        starts.push(sum);
    }
    starts
}

/// The elements `first..end` of a list of runs.
fn part(runs: &Arc<[Run]>, starts: &[u64], first: u64, end: u64) -> Arc<[Run]> {
    if first == 0 && starts.last() == Some(&end) {
        return Arc::clone(runs);
    }
    let mut found = Vec::new();
    let mut at = starts.partition_point(|start| *start <= first) - 1;
    while at < runs.len() && starts[at] < end {
        let (from, to) = (first.max(starts[at]), end.min(starts[at + 1]));
        runs[at].part(from - starts[at], to - starts[at], &mut found);
        at += 1;
    }
    found.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn positions(m: &Move) -> Vec<Vec<(u64, u64)>> {
        let mut all = vec![vec![]];
        for runs in &m.runs {
            let pairs: Vec<_> = runs.iter().flat_map(Run::pairs).collect();
            let add = |head: &Vec<(u64, u64)>| -> Vec<Vec<(u64, u64)>> {
                pairs.iter().map(|pair| [head.as_slice(), &[*pair]].concat()).collect()
            };
            all = all.iter().flat_map(add).collect();
        }
        all
    }

    fn a_move(runs: Vec<Vec<Run>>) -> Move {
        let runs = runs.into_iter().map(Arc::from).collect();
        Move { source_rank: 0, target_rank: 1, source_buffer: 0, target_buffer: 0, runs }
    }

    #[test]
    fn chunks_are_small_and_carry_every_element_once_in_order() {
        let rows = vec![Run::contiguous(0, 3, 2), Run::contiguous(9, 5, 3)];
        let columns = vec![Run::contiguous(4, 0, 5), Run::contiguous(20, 5, 2)];
        let moves = vec![
            a_move(vec![rows.clone(), columns.clone(), vec![Run::contiguous(0, 0, 3)]]),
            a_move(vec![]),
            a_move(vec![columns, rows]),
        ];
        let wanted: Vec<_> = moves.iter().flat_map(positions).collect();
        for limit in [1, 8, 16, 24, 100, 160, 1000, 10_000] {
            let chunks: Vec<Chunk> = Chunks::new(moves.clone(), 8, limit).collect();
            let found: Vec<_> = chunks.iter().flat_map(|l| &l.moves).flat_map(positions).collect();
            assert_eq!(found, wanted, "limit {limit}");
            assert!(chunks.iter().all(|l| l.n_bytes as u64 <= limit.max(8)), "limit {limit}");
            let n_bytes: usize = chunks.iter().map(|l| l.n_bytes).sum();
            assert_eq!(n_bytes, wanted.len() * 8);
        }
        assert_eq!(Chunks::new(vec![], 8, 100).count(), 0);
    }
}
