//! Plans against the dense oracle: coverage, totals, bound, both directions.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use partita_layout::Layout;
use partita_oracle::{Case, Dense, case, n_cases};
use partita_plan::{Combine, Dtype, Move, Plan};

/// Rank, buffer, position in C order.
type Cell = (u64, usize, usize);

/// All (source cell, target cell) pairs of a move.
fn pairs(m: &Move, source: &Dense, target: &Dense) -> Vec<(Cell, Cell)> {
    let shape = |dense: &Dense, rank: u64, buffer: usize| {
        dense.place(rank).expect("a place").buffers[buffer].shape.clone()
    };
    let from = shape(source, m.source_rank, m.source_buffer);
    let to = shape(target, m.target_rank, m.target_buffer);
    let mut flat = vec![(0, 0)];
    for (dim, runs) in m.runs.iter().enumerate() {
        let positions: Vec<(u64, u64)> = runs.iter().flat_map(|run| run.pairs()).collect();
        flat = flat
            .iter()
            .flat_map(|(a, b)| {
                let (n, k) = (from[dim], to[dim]);
                positions.iter().map(move |(x, y)| {
                    assert!(*x < n && *y < k, "a run leaves its buffer");
                    (a * n + x, b * k + y)
                })
            })
            .collect();
    }
    flat.into_iter()
        .map(|(a, b)| {
            let source = (m.source_rank, m.source_buffer, a as usize);
            (source, (m.target_rank, m.target_buffer, b as usize))
        })
        .collect()
}

struct Checked {
    plan: Plan,
    source: Dense,
    target: Dense,
    /// Target cell to the source cells that reach it.
    writers: HashMap<Cell, Vec<Cell>>,
    what: String,
}

fn ranks(layout: &Layout) -> Vec<u64> {
    layout.ranks().iter().collect()
}

fn build(source: &Case, target: &Case, seed: u64) -> Option<Checked> {
    let what = format!("seed {seed}\n source {source:?}\n target {target:?}");
    let layouts = (source.layout().expect("a layout"), target.layout().expect("a layout"));
    let (source, target) = (Dense::new(source), Dense::new(target));
    let is_covered = |cell: &(Vec<i64>, bool)| source.owner(&cell.0).is_some();
    let mut wanted = target.places.iter().flat_map(|p| &p.buffers).flat_map(|b| &b.elements);
    let covered = wanted.all(is_covered);
    let plan = match Plan::new(&layouts.0, &layouts.1, Dtype::I32) {
        Ok(plan) => plan,
        Err(error) => {
            assert_eq!(error.reason(), "source-not-covering", "{what}");
            assert!(!covered, "{what}: refused although covered");
            return None;
        }
    };
    assert!(covered, "{what}: accepted although not covered");
    let mut writers: HashMap<Cell, Vec<Cell>> = HashMap::new();
    for rank in ranks(plan.source()) {
        for m in plan.sends(rank) {
            assert_eq!(m.source_rank, rank);
            for (from, to) in pairs(&m, &source, &target) {
                writers.entry(to).or_default().push(from);
            }
        }
    }
    Some(Checked { plan, source, target, writers, what })
}

impl Checked {
    /// A rank takes part in what it gives and in what it takes, each once.
    fn moves(&self) {
        for rank in ranks(self.plan.source()).into_iter().chain(ranks(self.plan.target())) {
            let mut wanted = self.plan.sends(rank);
            let taken = self.plan.receives(rank);
            wanted.extend(taken.into_iter().filter(|m| m.source_rank != rank));
            assert_eq!(self.plan.moves(rank).expect("its rank"), wanted, "{}", self.what);
        }
    }

    /// Every target element is written once per summand, by an owner, by itself if it can.
    fn coverage(&self) {
        let n_summands = self.source.n_summands();
        let is_paired = n_summands == self.target.n_summands();
        for place in &self.target.places {
            for (number, buffer) in place.buffers.iter().enumerate() {
                for (flat, (index, _)) in buffer.elements.iter().enumerate() {
                    let cell = (place.rank, number, flat);
                    let wanted: Vec<u64> = match place.summand {
                        one if is_paired => vec![one],
                        0 => (0..n_summands).collect(),
                        _ => vec![],
                    };
                    self.cell(cell, index, &wanted);
                }
            }
        }
    }

    fn cell(&self, cell: Cell, index: &[i64], summands: &[u64]) {
        let what = &self.what;
        let writers = self.writers.get(&cell).cloned().unwrap_or_default();
        let mut found = BTreeSet::new();
        for (rank, buffer, flat) in &writers {
            let place = self.source.place(*rank).expect("a source rank");
            let (at, owned) = &place.buffers[*buffer].elements[*flat];
            assert!(*owned && at == index, "{what}\n {cell:?} gets {at:?} for {index:?}");
            assert!(found.insert(place.summand), "{what}\n {cell:?} gets a summand twice");
            let own = self.source.place(cell.0);
            let own = own.filter(|own| own.summand == place.summand);
            let owns = own.is_some_and(|own| {
                own.buffers.iter().any(|b| b.elements.iter().any(|(i, o)| *o && i == index))
            });
            assert!(!owns || *rank == cell.0, "{what}\n {cell:?} takes from {rank}, has it itself");
        }
        assert_eq!(found, summands.iter().copied().collect(), "{what}\n {cell:?} {index:?}");
    }

    /// Senders and receivers agree, and the totals are what they add up to.
    fn totals(&self) {
        let (plan, what) = (&self.plan, &self.what);
        let mut by_pair: BTreeMap<(u64, u64), u128> = BTreeMap::new();
        // What goes from one rank to another, in the order in which it would be packed.
        let mut sent: BTreeMap<(u64, u64), Vec<(Cell, Cell)>> = BTreeMap::new();
        let mut taken = sent.clone();
        for rank in ranks(plan.source()) {
            for m in plan.sends(rank) {
                *by_pair.entry((rank, m.target_rank)).or_insert(0) += u128::from(m.n_elements());
                let cells = pairs(&m, &self.source, &self.target);
                sent.entry((rank, m.target_rank)).or_default().extend(cells);
            }
        }
        for rank in ranks(plan.target()) {
            for m in plan.receives(rank) {
                assert_eq!(m.target_rank, rank, "{what}");
                let cells = pairs(&m, &self.source, &self.target);
                taken.entry((m.source_rank, rank)).or_default().extend(cells);
            }
        }
        assert_eq!(sent, taken, "{what}\n senders and receivers disagree");
        let totals = plan.totals();
        let crossing: BTreeMap<_, _> = by_pair.iter().filter(|((a, b), _)| a != b).collect();
        let sum_by = |side: fn(&(u64, u64)) -> u64| {
            let mut sums: BTreeMap<u64, u128> = BTreeMap::new();
            for (pair, count) in &crossing {
                *sums.entry(side(pair)).or_insert(0) += *count * 4;
            }
            sums.values().copied().max().unwrap_or(0)
        };
        assert_eq!(totals.n_moves, by_pair.len() as u128, "{what}");
        assert_eq!(totals.n_messages, crossing.len() as u128, "{what}");
        assert_eq!(totals.bytes_moved, crossing.values().map(|n| **n * 4).sum(), "{what}");
        let all: u128 = by_pair.values().map(|n| n * 4).sum();
        assert_eq!(totals.bytes_moved + totals.bytes_kept, all, "{what}");
        assert_eq!(totals.max_send_bytes, sum_by(|pair| pair.0), "{what}");
        assert_eq!(totals.max_recv_bytes, sum_by(|pair| pair.1), "{what}");
        assert!(totals.bytes_lower_bound <= totals.bytes_moved, "{what}");
        let all: BTreeSet<u64> =
            ranks(plan.source()).into_iter().chain(ranks(plan.target())).collect();
        assert_eq!(totals.n_ranks, all.len() as u64, "{what}");
        self.lower_bound(totals.bytes_lower_bound);
    }

    /// Without summands: the distinct elements each rank wants and does not own.
    fn lower_bound(&self, found: u128) {
        let is_paired = self.source.n_summands() == self.target.n_summands();
        if !is_paired && self.source.n_summands() > 1 {
            return self.lower_bound_of_sums(found);
        }
        let mut least = 0;
        for place in self.target.places.iter().filter(|place| is_paired || place.summand == 0) {
            let wanted: BTreeSet<&Vec<i64>> =
                place.buffers.iter().flat_map(|b| &b.elements).map(|(index, _)| index).collect();
            let own = self.source.place(place.rank);
            let own = own.filter(|own| !is_paired || own.summand == place.summand);
            let owned: BTreeSet<&Vec<i64>> = own
                .into_iter()
                .flat_map(|own| &own.buffers)
                .flat_map(|b| &b.elements)
                .filter(|(_, owned)| *owned)
                .map(|(index, _)| index)
                .collect();
            least += wanted.difference(&owned).count() as u128 * 4;
        }
        assert_eq!(found, least, "{}", self.what);
    }

    /// With summands: gathering takes one transfer less than there are summands, every further
    /// taker one more. The plan's figure may be lower, for it counts roots generously.
    fn lower_bound_of_sums(&self, found: u128) {
        let n_summands = u128::from(self.source.n_summands());
        let mut takers: BTreeMap<&Vec<i64>, BTreeSet<u64>> = BTreeMap::new();
        for place in self.target.places.iter().filter(|place| place.summand == 0) {
            for (index, _) in place.buffers.iter().flat_map(|b| &b.elements) {
                takers.entry(index).or_default().insert(place.rank);
            }
        }
        let owns = |rank: &u64, index: &Vec<i64>| {
            self.source.place(*rank).is_some_and(|own| {
                own.buffers.iter().any(|b| b.elements.iter().any(|(i, o)| *o && i == index))
            })
        };
        let least: u128 = takers
            .iter()
            .map(|(index, ranks)| {
                let rooted = u128::from(ranks.iter().any(|rank| owns(rank, index)));
                (n_summands - 1 + ranks.len() as u128 - rooted) * 4
            })
            .sum();
        assert!(found <= least, "{}\n bound {found} above {least}", self.what);
    }

    /// <F x, y> = <x, F* y>, exactly, in integers.
    fn adjoint(&self) {
        let mut rng = partita_oracle::Rng::new(17);
        let mut values = |dense: &Dense| -> HashMap<Cell, i64> {
            let cells = dense.places.iter().flat_map(|place| {
                place.buffers.iter().enumerate().flat_map(move |(number, buffer)| {
                    (0..buffer.elements.len()).map(move |flat| (place.rank, number, flat))
                })
            });
            cells.map(|cell| (cell, rng.between(0, 2000) as i64 - 1000)).collect()
        };
        let (x, y) = (values(&self.source), values(&self.target));
        let forward = apply(&self.plan, &x, &self.source, &self.target);
        let back = apply(&self.plan.adjoint(), &y, &self.target, &self.source);
        let dot = |a: &HashMap<Cell, i64>, b: &HashMap<Cell, i64>| -> i64 {
            a.iter().map(|(cell, value)| value * b.get(cell).copied().unwrap_or(0)).sum()
        };
        assert_eq!(dot(&forward, &y), dot(&back, &x), "{}", self.what);
        assert_eq!(self.plan.adjoint().adjoint(), self.plan);
        assert_ne!(self.plan.adjoint().fingerprint(), self.plan.fingerprint());
    }
}

/// Runs a plan on dense values, by what each rank receives.
fn apply(
    plan: &Plan,
    from: &HashMap<Cell, i64>,
    source: &Dense,
    target: &Dense,
) -> HashMap<Cell, i64> {
    let mut into: HashMap<Cell, i64> = HashMap::new();
    for rank in ranks(plan.target()) {
        for m in plan.receives(rank) {
            for (a, b) in pairs(&m, source, target) {
                match plan.combine() {
                    Combine::Copy => assert_eq!(into.insert(b, from[&a]), None, "written twice"),
                    Combine::Sum => *into.entry(b).or_insert(0) += from[&a],
                }
            }
        }
    }
    into
}

#[test]
fn generated_plans_agree_with_the_oracle() {
    let (mut n_planned, mut n_refused) = (0, 0);
    for seed in 0..n_cases(6000) {
        let (source, target) = case::pair(seed);
        match build(&source, &target, seed) {
            None => n_refused += 1,
            Some(checked) => {
                checked.coverage();
                checked.moves();
                checked.totals();
                checked.adjoint();
                n_planned += 1;
            }
        }
    }
    println!("{n_planned} planned, {n_refused} refused");
    assert!(n_planned > n_refused);
}
