//! Generated layouts to both protocols and back, against the dense model of elements.

use std::collections::BTreeMap;

use partita_layout::{Form, Layout, Map};
use partita_oracle::case::pair;
use partita_protocol::distarray::{self, Dim, Distarray, Rule};
use partita_protocol::partitioned::Holders;
use partita_protocol::{Findings, Strictness};

fn n_cases() -> u64 {
    partita_oracle::n_cases(3000)
}

fn layouts() -> impl Iterator<Item = (u64, Layout)> {
    (0..n_cases()).map(|seed| (seed, pair(seed).0.layout().expect("a layout")))
}

/// Every index of a box.
fn indices(start: &[u64], shape: &[u64]) -> Vec<Vec<i64>> {
    let mut all = vec![vec![]];
    for (start, length) in start.iter().zip(shape) {
        let longer = |index: &Vec<i64>| {
            let index = index.clone();
            (*start..start + length).map(move |at| [index.clone(), vec![at as i64]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

#[test]
fn partitions_cover_every_element_once_and_lie_with_their_owners() {
    let mut n_tables = 0;
    for (seed, layout) in layouts() {
        let Ok(holders) = Holders::new(&layout) else { continue };
        n_tables += 1;
        let mut seen: BTreeMap<Vec<i64>, u64> = BTreeMap::new();
        for number in 0..holders.table.n_partitions() {
            let position = holders.table.position(number);
            let (start, shape) = holders.table.part(&position);
            let ranks = holders.ranks(&position);
            for index in indices(&start, &shape) {
                let owner = layout.owner(&index).expect("an owner");
                assert!(ranks.contains(&owner), "seed {seed}: {index:?}");
                *seen.entry(index).or_default() += 1;
            }
        }
        assert_eq!(seen.len() as u64, layout.n_elements(), "seed {seed}");
        assert!(seen.values().all(|count| *count == 1), "seed {seed}");
        check_own(&layout, &holders, seed);
    }
    assert!(n_tables > n_cases() / 4, "{n_tables}");
}

/// What a rank hands on lies in its buffer where the layout says.
fn check_own(layout: &Layout, holders: &Holders, seed: u64) {
    for rank in layout.ranks().iter() {
        for held in holders.of_rank(rank) {
            assert!(holders.ranks(&held.position).contains(&rank), "seed {seed}");
            let (start, shape) = holders.table.part(&held.position);
            assert_eq!(held.shape, shape, "seed {seed}");
            let Some(first) = indices(&start, &shape).into_iter().next() else { continue };
            let Form::Grid(form) = layout.form() else { continue };
            let place = form.place(rank).expect("a place");
            for (dim, map) in form.dims().iter().enumerate() {
                let at = map.globalize(place.coordinates[dim], held.local_start[dim]);
                assert_eq!(at, Some(first[dim]), "seed {seed}");
            }
        }
    }
}

fn has_lists(layout: &Layout) -> bool {
    match layout.form() {
        Form::Grid(form) => form.dims().iter().any(|d| matches!(d.map(), Map::Unstructured(_))),
        Form::Boxes(_) => false,
    }
}

#[test]
fn dimensions_make_a_layout_of_the_same_owners() {
    let mut n_made = 0;
    for (seed, layout) in layouts() {
        let n_ranks = layout.n_ranks();
        let dims: Result<Vec<_>, _> =
            (0..n_ranks).map(|rank| distarray::dims_of(&layout, rank, n_ranks)).collect();
        let Ok(dims) = dims else { continue };
        n_made += 1;
        let ranks: Vec<Distarray> =
            dims.into_iter().map(|dims| Distarray { dims, dtype: None, buffer: 0 }).collect();
        let mut found = Findings::new(Strictness::Lenient);
        let all: Vec<_> = ranks.iter().cloned().map(Some).collect();
        distarray::check_ranks(&all, &mut found);
        assert_eq!(found.into_list(), [], "seed {seed}: {}", layout.notation());
        let again = distarray::layouts(&ranks).expect("a layout").layout;
        assert_eq!(again.shape(), layout.shape(), "seed {seed}");
        for rank in 0..n_ranks {
            let (a, b) = (again.local_shape(rank, 0), layout.local_shape(rank, 0));
            let beyond = distarray::beyond_ends(&layout, rank);
            let inside =
                b.expect("a shape").iter().zip(beyond).map(|(n, (l, r))| n - l - r).collect();
            assert_eq!(
                a.expect("a shape"),
                Vec::<u64>::from_iter::<Vec<u64>>(inside),
                "seed {seed}"
            );
        }
        if has_lists(&layout) {
            continue;
        }
        let shape = layout.shape().to_vec();
        for index in indices(&vec![0; shape.len()], &shape) {
            assert_eq!(again.owner(&index), layout.owner(&index), "seed {seed}: {index:?}");
        }
    }
    assert!(n_made > n_cases() / 10, "{n_made}");
}

/// What a slice leaves of cycles: coordinate k has the blocks from the (k + turn)-th on.
fn turned(size: u64, n: u64, block: u64, turn: u64) -> Vec<Dim> {
    let start = |k: u64| ((k + turn) % n * block).min(size);
    let rule = |k: u64| Rule::Cyclic { block, start: start(k) };
    (0..n).map(|k| Dim { size, grid_size: n, grid_rank: k, rule: rule(k) }).collect()
}

#[test]
fn turned_cycles_lie_with_their_ranks_and_come_back() {
    for (size, n, block, turn) in
        [(9, 2, 1, 1), (10, 3, 2, 2), (2, 4, 1, 3), (13, 3, 4, 1), (0, 3, 2, 1), (7, 1, 2, 0)]
    {
        let (rows, columns) = (turned(size, n, block, turn), turned(5, 2, 2, 1));
        let dims = rows.iter().flat_map(|row| columns.iter().map(|c| vec![row.clone(), c.clone()]));
        let ranks: Vec<Distarray> =
            dims.map(|dims| Distarray { dims, dtype: None, buffer: 0 }).collect();
        let mut found = Findings::new(Strictness::Strict);
        distarray::check_ranks(&ranks.iter().cloned().map(Some).collect::<Vec<_>>(), &mut found);
        assert_eq!(found.into_list(), []);
        let layout = distarray::layouts(&ranks).expect("a layout").layout;
        for index in indices(&[0, 0], &[size, 5]) {
            let row = (index[0] as u64 / block + n - turn) % n;
            let column = (index[1] as u64 / 2 + 1) % 2;
            assert_eq!(layout.owner(&index), Ok(row * 2 + column), "{index:?} of {size} over {n}");
        }
        let n_ranks = ranks.len() as u64;
        for rank in 0..n_ranks {
            let again = distarray::dims_of(&layout, rank, n_ranks).expect("dimensions");
            for (a, b) in again.iter().zip(&ranks[rank as usize].dims) {
                assert_eq!((a.size, a.grid_size, a.grid_rank), (b.size, b.grid_size, b.grid_rank));
                let (Rule::Cyclic { start: a, .. }, Rule::Cyclic { start: b, .. }) =
                    (&a.rule, &b.rule)
                else {
                    panic!("no cycles");
                };
                assert!(a == b || (*a >= size && *b >= size), "{a} {b}");
            }
        }
    }
}
