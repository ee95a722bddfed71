//! Sizes and rank counts that no oracle can list: identities instead.

use partita_layout::{Layout, LayoutError};
use partita_oracle::{Rng, n_cases};
use partita_plan::{Dtype, Plan};

const TOP: u64 = 1 << 63;

/// A one-dimensional layout of an extent near 2^63.
fn notation(rng: &mut Rng, n_ranks: u64) -> String {
    let map = match rng.between(0, 5) {
        0 => "block".to_string(),
        1 => "block(last)".to_string(),
        2 => "block(ceil)".to_string(),
        3 => format!("cyclic({})", 1_u64 << rng.between(0, 62)),
        4 => format!("cyclic({})", rng.between(1 << 40, TOP)),
        _ => format!("block+halo({},{})", rng.between(0, 9), rng.between(0, 9)),
    };
    format!("{map} @ {n_ranks}")
}

#[test]
fn translation_round_trips_near_the_top() {
    for seed in 0..n_cases(2000) {
        let mut rng = Rng::new(seed);
        let extent = TOP - rng.between(0, 5);
        let bits = rng.between(0, 40);
        let n_ranks = rng.between(1, 1 << bits);
        let notation = notation(&mut rng, n_ranks);
        let layout = Layout::parse(&[extent], &notation).expect(&notation);
        for _ in 0..20 {
            let index = [[0, extent - 1, rng.next() % extent][rng.between(0, 2) as usize] as i64];
            let found = layout.locate_one(&index).expect("inside");
            let local = [found.local[0] as i64];
            let mut back = [0];
            layout.globalize((found.rank, 0), &local, &mut back).expect("inside");
            assert_eq!(back, index, "seed {seed} {extent} {notation}");
        }
    }
}

#[test]
fn every_element_has_one_owner_near_the_top() {
    for seed in 0..n_cases(500) {
        let mut rng = Rng::new(seed);
        let extent = TOP - rng.between(0, 5);
        let n_ranks = rng.between(1, 40);
        let notation = notation(&mut rng, n_ranks);
        let layout = Layout::parse(&[extent], &notation).expect(&notation);
        let sum: u64 = (0..n_ranks).map(|rank| layout.n_owned(rank).expect("a rank")).sum();
        assert_eq!(sum, extent, "seed {seed} {notation}");
    }
}

/// What all ranks take is what all ranks hold; the closed form and the sum over ranks agree.
#[test]
fn huge_plans_add_up() {
    for seed in 0..n_cases(500) {
        let mut rng = Rng::new(seed);
        let extent = TOP - rng.between(0, 5);
        // Coprime giant blocks meet in millions of runs; the answer itself would be that large.
        let side = |rng: &mut Rng| {
            let n_ranks = rng.between(1, 12);
            let map = match rng.between(0, 3) {
                0 => "block".to_string(),
                1 => "block(last)+halo(3,4)".to_string(),
                2 => format!("cyclic({})", 1_u64 << rng.between(0, 62)),
                _ => format!("cyclic({})", 3_u64 << rng.between(0, 61)),
            };
            Layout::parse(&[extent], &format!("{map} @ {n_ranks}")).expect("a layout")
        };
        let (source, target) = (side(&mut rng), side(&mut rng));
        let plan = Plan::new(&source, &target, Dtype::C128).expect("a plan");
        let totals = plan.totals();
        let (mut moved, mut kept, mut n_messages) = (0, 0, 0);
        for rank in 0..source.n_ranks().max(target.n_ranks()) {
            let one = plan.rank_totals(rank).expect("a rank");
            moved += one.recv_bytes;
            kept += one.keep_bytes;
            n_messages += u128::from(one.n_receives);
        }
        let held: u128 =
            (0..target.n_ranks()).map(|r| u128::from(target.n_held(r).expect("r"))).sum();
        let what = format!("seed {seed} {} -> {}", source.notation(), target.notation());
        assert_eq!(moved + kept, held * 16, "{what}");
        assert_eq!((totals.bytes_moved, totals.bytes_kept), (moved, kept), "{what}");
        assert_eq!(totals.n_messages, n_messages, "{what}");
    }
}

#[test]
fn products_of_sizes_never_wrap() {
    let refused = |shape: &[u64]| match Layout::parse(shape, &vec!["*"; shape.len()].join(", ")) {
        Err(error @ LayoutError::ShapeOverflow { .. }) => error.reason() == "shape-overflow",
        other => panic!("{shape:?}: {other:?}"),
    };
    assert!(refused(&[TOP + 1]));
    assert!(refused(&[u64::MAX]));
    assert!(refused(&[1 << 32, 1 << 32]));
    assert!(refused(&[1 << 40, 0, 1 << 40]), "a zero extent hides nothing");
    assert!(Layout::parse(&[TOP], "*").is_ok());
    assert!(Layout::parse(&[1 << 32, (1 << 32) - 1], "*, *").is_ok());
    let halo = Layout::parse(&[1 << 32, 1 << 31], "block+halo(4294967296,0)+periodic, * @ 2");
    assert_eq!(halo.expect_err("too large a buffer").reason(), "shape-overflow");
}

/// A million ranks: the totals are the sum of a sample's kind, and one rank's plan is small.
#[test]
fn a_million_ranks() {
    let shape = [1 << 20, 1 << 20];
    let source = Layout::parse(&shape, "block, block @ 1024x1024").expect("a layout");
    let target = Layout::parse(&shape, "cyclic(64), cyclic(64) @ 1024x1024").expect("a layout");
    let plan = Plan::new(&source, &target, Dtype::F64).expect("a plan");
    let totals = plan.totals();
    assert_eq!(totals.n_ranks, 1 << 20);
    assert_eq!(totals.bytes_moved + totals.bytes_kept, 8 << 40);
    // Every rank's 16 x 16 blocks go to 256 different ranks.
    assert_eq!(totals.n_moves, 256 << 20);
    assert_eq!(plan.rank_totals(777_777).expect("a rank").n_sends, 256);
}

/// One dimension, a million ranks: partners are counted, not listed.
#[test]
fn a_million_ranks_in_a_line() {
    let extent = [1 << 40];
    let source = Layout::parse(&extent, "block @ 1048576").expect("a layout");
    let target = Layout::parse(&extent, "cyclic(64) @ 1048576").expect("a layout");
    let plan = Plan::new(&source, &target, Dtype::F64).expect("a plan");
    assert_eq!(plan.totals().n_moves, 1 << 34);
    let other = Layout::parse(&extent, "cyclic(96) @ 1048576").expect("a layout");
    let plan = Plan::new(&target, &other, Dtype::F64).expect("a plan");
    assert_eq!(plan.totals().n_moves, 4 << 20);
}
