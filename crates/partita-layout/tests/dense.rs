//! Layouts against the dense oracle: owners, translation both ways, pieces, counts.

use partita_layout::Layout;
use partita_oracle::{Case, Dense, case, n_cases};

fn signed(at: &[u64]) -> Vec<i64> {
    at.iter().map(|x| *x as i64).collect()
}

fn check(case: &Case, seed: u64) {
    let layout = case.layout().unwrap_or_else(|error| panic!("seed {seed} {case:?}: {error}"));
    let dense = Dense::new(case);
    for place in &dense.places {
        check_place(case, seed, &layout, &dense, place);
    }
    check_translation(case, seed, &layout, &dense);
}

fn check_place(
    case: &Case,
    seed: u64,
    layout: &Layout,
    dense: &Dense,
    place: &partita_oracle::DensePlace,
) {
    let what = || format!("seed {seed} rank {} of {case:?}", place.rank);
    let rank = place.rank;
    let elements = || place.buffers.iter().flat_map(|buffer| &buffer.elements);
    assert_eq!(layout.n_buffers(rank), Ok(place.buffers.len()), "{}", what());
    let n_owned = elements().filter(|(_, owned)| *owned).count() as u64;
    assert_eq!(layout.n_owned(rank), Ok(n_owned), "{}", what());
    assert_eq!(layout.n_held(rank), Ok(elements().count() as u64), "{}", what());
    for (number, buffer) in place.buffers.iter().enumerate() {
        assert_eq!(layout.local_shape(rank, number), Ok(buffer.shape.clone()), "{}", what());
        for (flat, (index, _)) in buffer.elements.iter().enumerate() {
            let local = signed(&partita_oracle::coords(flat as u64, &buffer.shape));
            let mut global = vec![0; local.len()];
            layout.globalize((rank, number), &local, &mut global).unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(&global, index, "{} local {local:?}", what());
        }
    }
    check_pieces(seed, case, layout, place, dense);
}

/// The pieces of a rank cover its buffers exactly once, and say what is owned.
fn check_pieces(
    seed: u64,
    case: &Case,
    layout: &Layout,
    place: &partita_oracle::DensePlace,
    _: &Dense,
) {
    let mut found: Vec<Vec<Option<bool>>> =
        place.buffers.iter().map(|buffer| vec![None; buffer.elements.len()]).collect();
    for piece in layout.pieces(place.rank).expect("a rank").iter() {
        let buffer = &place.buffers[piece.buffer];
        let n_elements: u64 = piece.shape.iter().product();
        for number in 0..n_elements {
            let at = partita_oracle::coords(number, &piece.shape);
            let index: Vec<i64> = at.iter().zip(&piece.start).map(|(a, s)| *a as i64 + s).collect();
            let local = at.iter().zip(&piece.local_start).map(|(a, s)| a + s);
            let flat = local.zip(&buffer.shape).fold(0, |flat, (l, n)| flat * n + l) as usize;
            assert_eq!(buffer.elements[flat].0, index, "seed {seed} {case:?}");
            let owned = index.iter().zip(&piece.owned_start).zip(&piece.owned_shape);
            let owned = owned.into_iter().all(|((i, s), n)| (*s..*s + *n as i64).contains(i));
            assert_eq!(found[piece.buffer][flat].replace(owned), None, "seed {seed} {case:?}");
        }
    }
    for (buffer, found) in place.buffers.iter().zip(found) {
        for ((_, owned), found) in buffer.elements.iter().zip(found) {
            let is_grid = matches!(case.form, partita_oracle::CaseForm::Grid { .. });
            assert!(found.is_some(), "seed {seed} {case:?}");
            if is_grid {
                assert_eq!(found, Some(*owned), "seed {seed} {case:?}");
            }
        }
    }
}

/// Every index that exists, one at a time and all at once.
fn check_translation(case: &Case, seed: u64, layout: &Layout, dense: &Dense) {
    let ndim = layout.ndim();
    let mut indices: Vec<Vec<i64>> = dense
        .places
        .iter()
        .flat_map(|place| &place.buffers)
        .flat_map(|buffer| buffer.elements.iter().map(|(index, _)| index.clone()))
        .collect();
    indices.sort();
    indices.dedup();
    let flat: Vec<i64> = indices.concat();
    let mut ranks = vec![-1; indices.len()];
    let mut local = vec![-1; flat.len()];
    layout.locate(&flat, &mut ranks, &mut local).unwrap_or_else(|error| panic!("{error}"));
    for (row, index) in indices.iter().enumerate() {
        let (rank, buffer, at) = dense.owner(index).expect("an owner");
        let found = layout.locate_one(index).expect("an owner");
        assert_eq!(
            (found.rank, found.buffer, &found.local),
            (rank, buffer, &at),
            "seed {seed} {case:?}"
        );
        assert_eq!(layout.owner(index), Ok(rank));
        assert_eq!(ranks[row] as u64, rank, "seed {seed} {case:?} {index:?}");
        assert_eq!(local[row * ndim..(row + 1) * ndim], signed(&at)[..], "seed {seed} {case:?}");
    }
}

#[test]
fn generated_layouts_agree_with_the_oracle() {
    for seed in 0..n_cases(4000) {
        let (source, target) = case::pair(seed);
        check(&source, seed);
        check(&target, seed);
    }
}

#[test]
fn notations_of_generated_layouts_round_trip() {
    let mut n_checked = 0;
    for seed in 0..n_cases(4000) {
        let (source, _) = case::pair(seed);
        let layout = source.layout().expect("a layout");
        let notation = layout.notation();
        if notation.contains("unstructured") || notation.contains("boxes") {
            assert!(Layout::parse(layout.shape(), &notation).is_err(), "{notation}");
            continue;
        }
        assert_eq!(Layout::parse(layout.shape(), &notation), Ok(layout), "seed {seed} {notation}");
        n_checked += 1;
    }
    assert!(n_checked > 0);
}

#[test]
fn block_cyclic_counts_are_right_for_every_small_case() {
    for size in 0..=39_u64 {
        for n_ranks in 1..=5_u64 {
            for block in 1..=7_u64 {
                let notation = format!("cyclic({block}) @ {n_ranks}");
                let layout = Layout::parse(&[size], &notation).expect("a layout");
                for rank in 0..n_ranks {
                    let wanted = (0..size).filter(|i| (i / block) % n_ranks == rank).count() as u64;
                    assert_eq!(layout.n_owned(rank), Ok(wanted), "{size} {notation} {rank}");
                }
            }
        }
    }
}

#[test]
fn an_index_that_nobody_owns_is_named_with_its_row() {
    let layout = Layout::parse(&[4, 6], "block, block @ 2x3").expect("blocks");
    let (mut ranks, mut local) = ([0; 3], [0; 6]);
    let error = layout.locate(&[0, 0, 3, 5, 1, 77], &mut ranks, &mut local);
    let message = error.expect_err("77 is outside").to_string();
    assert!(message.contains("77") && message.contains('2'), "{message}");
}
