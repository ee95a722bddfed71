//! Layouts to draw: small and large ones of every kind.

mod looks;
mod properties;

use partita_layout::{BoxPiece, GridSpec, IndexBox, Layout, Map, Unstructured};

fn layout(shape: &[u64], notation: &str) -> Layout {
    Layout::parse(shape, notation).expect(notation)
}

fn lists(lists: &[Vec<i64>], extent: u64) -> Layout {
    let maps = vec![Map::Unstructured(Unstructured::new(lists).into())];
    let grid = Some(vec![lists.len() as u64]);
    Layout::new(&[extent], &GridSpec { maps, grid, ..GridSpec::default() }).expect("lists")
}

fn boxes(shape: &[u64], pieces: Vec<Vec<BoxPiece>>) -> Layout {
    Layout::from_boxes(shape, pieces, None).expect("boxes")
}

/// Small and large layouts of every kind, most of them odd.
fn odd_layouts() -> Vec<Layout> {
    let top = 1_u64 << 63;
    let cases: [(&[u64], &str); 33] = [
        (&[], ""),
        (&[], "@ 5"),
        (&[0], "block @ 3"),
        (&[1], "cyclic(9) @ 4"),
        (&[5], "block @ 9"),
        (&[13], "block(ceil) @ 6"),
        (&[40], "cyclic(3) @ 5"),
        (&[100], "cyclic @ 30"),
        (&[1000], "cyclic(7) @ 3 on 9,4,1"),
        (&[17], "block+halo(20,3)+periodic @ 3"),
        (&[17], "block+halo(3,20) @ 3"),
        (&[7], "block(3,0,4)+halo(1,1) @ 3"),
        (&[7], "block+halo(0,1;1,1;9,0) @ 3 on 4..7"),
        (&[50, 50], "block+halo(1,1)+periodic, block+halo(2,0) @ 7x9"),
        (&[300, 2], "block, cyclic @ 40x2"),
        (&[1000, 3], "block, * @ 8"),
        (&[3, 1000], "*, block(last) @ 6"),
        (&[0, 7], "block+halo(2,2)+periodic, * @ 3x2"),
        (&[6, 6], "*, * @ 3x2x2 partial 0,2"),
        (&[6, 6], "block, * @ 2x2x5 partial 2"),
        (&[9, 9], "*, * @ 100x100"),
        (&[2, 3, 4], "block, cyclic, * @ 2x2"),
        (&[5, 5, 5, 5], "cyclic, block+halo(1,1), cyclic(2), block @ 3x2x2x2"),
        (&[2, 2, 2, 2, 2, 2], "cyclic, *, *, *, *, block @ 2x2"),
        (&[4, 0, 4], "block, block, block @ 2x2x2"),
        (&[top], "block @ 3"),
        (&[top], "block+halo(1,1)+periodic @ 1048576"),
        (&[top], "cyclic(64) @ 1024"),
        (&[top], "cyclic @ 9223372036854775808"),
        (&[1 << 31, 1 << 32], "block(ceil), cyclic(1000) @ 1024x1024"),
        (&[1 << 20, 1 << 20, 1 << 20], "block, block, block @ 128x128x64"),
        (&[1 << 20, 4], "block+halo(3,3), * @ 1000000"),
        (&[8], "block @ 8 on 70,3,19,1000000,2,8,9,1"),
    ];
    let parsed = cases.iter().map(|(shape, notation)| layout(shape, notation));
    let mut layouts: Vec<Layout> = parsed.collect();
    layouts.extend(odd_lists());
    layouts.extend(odd_boxes());
    layouts
}

fn odd_lists() -> Vec<Layout> {
    let long: Vec<Vec<i64>> = (0..3).map(|k| (0..500).map(|i| i * 3 + k).collect()).collect();
    let runs: Vec<Vec<i64>> = (0..3).map(|k| (k * 500..k * 500 + 500).collect()).collect();
    let spread = vec![vec![i64::MIN, i64::MAX, 0], vec![-1], vec![]];
    vec![
        lists(&long, 1500),
        lists(&runs, 1500),
        lists(&spread, 4),
        lists(&[vec![], vec![]], 0),
        lists(&[vec![3, 1], vec![1, 2], vec![1]], 3),
    ]
}

fn odd_boxes() -> Vec<Layout> {
    let halo = |start: u64| BoxPiece {
        held: IndexBox::new(&[start.saturating_sub(1)], &[if start == 0 { 5 } else { 6 }]),
        owned: IndexBox::new(&[start], &[4]),
    };
    let speck = |k: u64| vec![BoxPiece::new(&[k * 7 % 100, k * 13 % 100], &[3, 2])];
    let deep = |k: u64| vec![BoxPiece::new(&[k, 0, k, 2], &[2, 3, 1, 2])];
    vec![
        boxes(&[], vec![vec![BoxPiece::new(&[], &[])], vec![]]),
        boxes(&[4], vec![]),
        boxes(&[0, 3], vec![vec![BoxPiece::new(&[0, 0], &[0, 3])]]),
        boxes(&[20], vec![vec![halo(0)], vec![halo(4), halo(12)], vec![halo(8)]]),
        boxes(&[103, 103], (0..700).map(speck).collect()),
        boxes(&[9, 9, 9, 9], (0..7).map(deep).collect()),
        boxes(&[1 << 63], vec![vec![BoxPiece::new(&[5], &[(1 << 63) - 5])]]),
    ]
}
