//! Every error of the crate, provoked once, with its reason and the whole message.

use std::collections::BTreeSet;

use partita_layout::dist::default_partition;
use partita_layout::{
    Block, BlockRule, BoxPiece, GridSpec, Halo, IndexBox, Layout, LayoutError, Map,
    NotationProblem, RanksSpec, Slice, Unstructured,
};

type Outcome = Result<(), LayoutError>;

fn build(shape: &[u64], maps: Vec<Map>, grid: &[u64]) -> Outcome {
    let spec = GridSpec { maps, grid: Some(grid.to_vec()), ..GridSpec::default() };
    Layout::new(shape, &spec).map(drop)
}

fn parse(shape: &[u64], notation: &str) -> Outcome {
    Layout::parse(shape, notation).map(drop)
}

fn blocks() -> Layout {
    Layout::parse(&[4, 6], "block, block @ 2x3").expect("blocks")
}

fn lists(lists: &[Vec<i64>]) -> Map {
    Map::Unstructured(Unstructured::new(lists).into())
}

fn boxes(pieces: Vec<BoxPiece>) -> Outcome {
    Layout::from_boxes(&[8], vec![pieces], None).map(drop)
}

fn partial(axes: &[usize]) -> Outcome {
    let grid = Some(vec![2, 2]);
    let spec = GridSpec { maps: vec![Map::block()], grid, partial: axes.to_vec(), ranks: None };
    Layout::new(&[4], &spec).map(drop)
}

fn ranks(ranks: RanksSpec) -> Outcome {
    let (maps, grid) = (vec![Map::block()], Some(vec![2]));
    Layout::new(&[4], &GridSpec { maps, grid, ranks: Some(ranks), ..GridSpec::default() }).map(drop)
}

fn halo(halo: Halo) -> Outcome {
    let block = Block { rule: BlockRule::First, halo, periodic: false };
    build(&[8], vec![Map::Block(block)], &[2])
}

fn shapes_and_grids() -> Vec<(Outcome, &'static str)> {
    vec![
        (
            parse(&[1 << 40, 1 << 40], "*, *"),
            "the shape [1099511627776, 1099511627776] is too large; an extent is at most 2^63 and \
             the product of the extents at most 2^64 - 1",
        ),
        (
            parse(&[1 << 32, 1 << 31], "block+halo(1152921504606846976)+periodic, * @ 2x1"),
            "a local buffer of the shape [4294967296, 2147483648] with its halos is too large; use \
             narrower halos: at most 2^63 along a dimension and 2^64 - 1 elements",
        ),
        (
            parse(&[4, 4], "block @ 2"),
            "1 maps for 2 dimensions; give one map per dimension, * for a whole one",
        ),
        (
            parse(&[4], "block"),
            "no grid for 1 distributed dimensions; say how many ranks, such as `@ 4` or `@ 2x2`",
        ),
        (
            build(&[4], vec![Map::block()], &[0]),
            "axis 0 of the grid [0] is 0; every axis of a grid has at least one rank",
        ),
        (
            parse(&[4, 4], "block, block @ 4294967296x4294967296"),
            "the grid [4294967296, 4294967296] has more than 2^63 ranks; use a smaller grid",
        ),
        (
            parse(&[4, 4], "block, block @ 2"),
            "the grid [2] has too few axes for 2 distributed dimensions; give one axis per \
             distributed dimension besides the partial ones",
        ),
        (
            ranks(RanksSpec::Range(0, 3)),
            "3 ranks for the grid [2]; name as many ranks as the grid has places",
        ),
        (ranks(RanksSpec::List(vec![5, 5])), "rank 5 is named twice; name every rank once"),
        (
            ranks(RanksSpec::List(vec![0, u64::MAX])),
            "rank 18446744073709551615 is too large; use ranks below 2^63",
        ),
        (partial(&[2]), "partial axis 2 of a grid with 2 axes; use an axis below 2"),
        (partial(&[1, 1]), "partial axis 1 is named twice; name it once"),
        (
            parse(&[4, 4], "block, * @ 2x2 partial 0"),
            "grid axis 0 is partial but distributes dimension 0; make the dimension whole (*) or \
             add an axis to the grid",
        ),
        (default_partition(0, 0, &[4]).map(drop), "a team of 0 members; use at least 1"),
        (default_partition(2, 2, &[4]).map(drop), "member 2 of a team of 2; use a number below 2"),
    ]
}

fn maps() -> Vec<(Outcome, &'static str)> {
    vec![
        (
            parse(&[7], "block(3,4) @ 3"),
            "2 block sizes for dimension 0 on 3 ranks; give one size per rank of its grid axis",
        ),
        (
            parse(&[8], "block(3,4) @ 2"),
            "the block sizes of dimension 0 add up to 7, its extent is 8; make them equal",
        ),
        (
            build(&[4], vec![Map::Cyclic { block: 0 }], &[2]),
            "the cyclic block of dimension 0 is 0; use cyclic(1) or larger",
        ),
        (
            halo(Halo::Each([(1, 1); 3].into())),
            "3 halos for dimension 0 on 2 ranks; give one (l, r) for all or one per rank of its \
             grid axis",
        ),
        (
            halo(Halo::Same(0, (1 << 60) + 1)),
            "the halo width 1152921504606846977 of dimension 0 is too large; use at most 2^60",
        ),
        (
            build(&[3], vec![lists(&[vec![0, 1, 2]])], &[2]),
            "1 index lists for dimension 0 on 2 ranks; give one list per rank of its grid axis",
        ),
        (
            build(&[3], vec![lists(&[vec![0, 1], vec![7, 2, 7]])], &[2]),
            "index 7 stands twice in list 1 of dimension 0; list every index once per rank",
        ),
        (
            build(
                &[3],
                vec![Map::Unstructured(Unstructured::one_to_one(&[vec![0, 1], vec![1, 2]]).into())],
                &[2],
            ),
            "index 1 of dimension 0 stands in lists 0 and 1 but the map is one-to-one; list it \
             once or drop one_to_one",
        ),
        (
            build(&[4], vec![lists(&[vec![0, 1], vec![1, 2]])], &[2]),
            "the lists of dimension 0 hold 3 distinct indices, its extent is 4; make them equal",
        ),
    ]
}

fn boxes_and_slices() -> Vec<(Outcome, &'static str)> {
    let outside = BoxPiece { held: IndexBox::new(&[0], &[4]), owned: IndexBox::new(&[2], &[4]) };
    vec![
        (
            boxes(vec![BoxPiece::new(&[0, 0], &[1, 1])]),
            "piece 0 of rank 0 has 2 dimensions, the array 1; give as many starts and lengths as \
             the array has dimensions",
        ),
        (
            boxes(vec![BoxPiece::new(&[5], &[4])]),
            "piece 0 of rank 0 covers [5, 9) in dimension 0 of extent 8; keep it inside the array",
        ),
        (
            boxes(vec![outside]),
            "the owned box of piece 0 of rank 0 leaves the piece in dimension 0; keep it inside",
        ),
        (
            boxes(vec![BoxPiece::new(&[0], &[5]), BoxPiece::new(&[4], &[4])]),
            "pieces 0 and 1 of rank 0 overlap; cut one of them",
        ),
        (
            Slice::new(0, 2, 0).check(1, 8),
            "the slice's stride in dimension 1 is 0; use a positive or negative stride",
        ),
        (
            Slice::new(3, 3, -2).check(0, 8),
            "the slice reaches index -1 of dimension 0 of extent 8; keep it inside the array",
        ),
        // Made by the Python module, which is given slices of unknown length.
        (
            Err(LayoutError::SliceNdim { n_given: 1, ndim: 2 }),
            "1 numbers where 2 dimensions need one each; give 2",
        ),
    ]
}

fn questions() -> Vec<(Outcome, &'static str)> {
    let layout = blocks();
    let gap = Layout::from_boxes(&[8], vec![vec![BoxPiece::new(&[0], &[4])]], None).expect("boxes");
    vec![
        (
            layout.owner(&[1]).map(drop),
            "an index of 1 numbers for an array of 2 dimensions; give 2",
        ),
        (
            layout.owner(&[1, 6]).map(drop),
            "index 6 of dimension 1 (entry 0) is outside [0, 6); use an index inside",
        ),
        (
            gap.owner(&[6]).map(drop),
            "index 6 of dimension 0 (entry 0) is held by no rank; use an index that some rank holds",
        ),
        (
            layout.globalize((1, 0), &[0, 2], &mut [0, 0]),
            "local index 2 of dimension 1 (entry 0) is outside [0, 2) on rank 1; use a local index \
             inside",
        ),
        (
            layout.n_owned(6).map(drop),
            "rank 6 is not one of the 6 ranks of the layout; use one of them",
        ),
        (
            layout.local_shape(5, 1).map(drop),
            "piece 1 of rank 5, which has 1 buffers; use a number below",
        ),
    ]
}

#[test]
fn every_error_has_its_reason_and_its_message() {
    let groups = [shapes_and_grids(), maps(), boxes_and_slices(), questions()];
    let mut seen = BTreeSet::new();
    for (outcome, message) in groups.into_iter().flatten() {
        let error = outcome.expect_err(message);
        assert_eq!(error.to_string(), message);
        let name = variant(&error);
        let row = LayoutError::TABLE.iter().find(|row| row.0 == name).expect("in the table");
        assert_eq!(error.reason(), row.1, "{message}");
        seen.insert(name);
    }
    let missing: Vec<_> = LayoutError::TABLE.iter().filter(|row| !seen.contains(row.0)).collect();
    assert!(missing.is_empty(), "never provoked: {missing:?}");
}

#[test]
fn every_problem_of_the_notation_is_pointed_at() {
    let cases = [
        ("blok @ 2", "notation-unknown-map", 1),
        ("unstructured @ 2", "notation-objects-only", 1),
        ("block+rim @ 2", "notation-unknown-suffix", 6),
        ("block @", "notation-unexpected", 8),
        ("cyclic(99999999999999999999) @ 2", "notation-number-too-large", 8),
        ("cyclic+halo(1) @ 2", "notation-halo-needs-block", 7),
        ("*+periodic @ 2", "notation-periodic-needs-block", 2),
        ("block+halo(1)+halo(1) @ 2", "notation-repeated", 14),
        ("block @ 2 on 3..1", "notation-range-reversed", 14),
        ("cyclic(0) @ 2", "cyclic-block", 8),
        ("block @ 0", "grid-axis-zero", 9),
    ];
    let mut seen = BTreeSet::new();
    for (notation, reason, column) in cases {
        let Err(LayoutError::Notation(error)) = Layout::parse(&[4], notation) else {
            panic!("{notation} is no error of the notation");
        };
        assert_eq!((error.reason(), error.column), (reason, column), "{notation}");
        seen.insert(error.reason());
    }
    let missing: Vec<_> =
        NotationProblem::TABLE.iter().filter(|row| !seen.contains(row.1)).collect();
    assert!(missing.is_empty(), "never provoked: {missing:?}");
}

/// The variant's name, as `Debug` shows it.
fn variant(error: &LayoutError) -> String {
    let text = format!("{error:?}");
    text.split([' ', '(']).next().unwrap_or_default().to_string()
}
