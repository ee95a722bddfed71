//! Writes pictures of layouts, as SVG and HTML, into the folder given as argument.
//!
//! `cargo run -p partita-picture --example pictures -- /tmp/pictures`

use std::path::PathBuf;

use partita_layout::{BoxPiece, GridSpec, Layout, LayoutError, Map, Unstructured};
use partita_picture::layout::{Colour, TextStyle, html, svg, text};

const CASES: [(&str, &[u64], &str); 18] = [
    ("block-2d", &[16, 16], "block, block @ 2x2"),
    ("block-cyclic", &[16, 16], "block, cyclic(2) @ 2x2"),
    ("cyclic", &[12, 12], "cyclic, cyclic @ 2x3"),
    ("uneven", &[7, 20], "block(3,0,4), block(2,11,7) @ 3x3"),
    ("halo", &[12, 12], "block+halo(1,1), block+halo(1,1) @ 2x2"),
    ("periodic", &[24], "block+halo(2,1)+periodic @ 3"),
    ("thin-halo", &[4096, 4096], "block+halo(1,1), block+halo(1,1)+periodic @ 2x4"),
    ("strip", &[100], "block @ 7"),
    ("tall", &[1000, 3], "block, * @ 8"),
    ("wide", &[3, 1000], "*, block(ceil) @ 6"),
    ("replicated", &[8, 8], "block, * @ 2x4"),
    ("partial", &[8, 8], "block, * @ 2x2x3 partial 2"),
    ("three", &[4, 6, 8], "block, block, block @ 2x2x2"),
    ("four", &[4, 4, 6, 8], "cyclic, block, block+halo(1), * @ 3x2x2"),
    ("many", &[1 << 40, 1 << 20], "block, cyclic(64) @ 1024x1024"),
    ("wide-grid", &[64, 64], "block, block @ 10x10"),
    ("empty", &[0, 8], "block, block @ 2x2"),
    ("scalar", &[], "@ 4"),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder = std::env::args().nth(1).ok_or("give the folder to write into")?;
    let folder = PathBuf::from(folder);
    std::fs::create_dir_all(&folder)?;
    for (name, layout) in layouts()? {
        std::fs::write(folder.join(name).with_extension("svg"), svg(&layout))?;
        std::fs::write(folder.join(name).with_extension("html"), html(&layout))?;
        let style = TextStyle { colour: Colour::Ansi256, ..TextStyle::default() };
        std::fs::write(folder.join(name).with_extension("ansi"), text(&layout, style))?;
        println!("{}\n", text(&layout, TextStyle::default()));
    }
    Ok(())
}

fn layouts() -> Result<Vec<(&'static str, Layout)>, LayoutError> {
    let mut layouts = vec![("boxes", boxes()?), ("lists", lists()?)];
    for (name, shape, notation) in CASES {
        layouts.push((name, Layout::parse(shape, notation)?));
    }
    Ok(layouts)
}

/// A hole in the middle, and two pieces that overlap.
fn boxes() -> Result<Layout, LayoutError> {
    let pieces = vec![
        vec![BoxPiece::new(&[0, 0], &[4, 6]), BoxPiece::new(&[6, 8], &[4, 4])],
        vec![BoxPiece::new(&[0, 5], &[4, 7])],
        vec![BoxPiece::new(&[4, 0], &[6, 5])],
        vec![],
    ];
    Layout::from_boxes(&[10, 12], pieces, None)
}

fn lists() -> Result<Layout, LayoutError> {
    let lists = Unstructured::new(&[vec![7, -3, 100], vec![8, 9, 7, 41], vec![0]]);
    let maps = vec![Map::Unstructured(lists.into())];
    let spec = GridSpec { maps, grid: Some(vec![3]), ..GridSpec::default() };
    Layout::new(&[7], &spec)
}
