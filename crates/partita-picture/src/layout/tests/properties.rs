//! What holds for the picture of every layout.

use super::{layout, odd_layouts};
use crate::layout::cells::{Cell, Limits, Owner, Scene, first_rank};
use crate::layout::{Colour, TextStyle, html, names, svg, text};
use partita_layout::{Layout, Piece};

#[test]
fn colour_keeps_the_letters() {
    let style = TextStyle { colour: Colour::Ansi256, ..TextStyle::default() };
    for layout in odd_layouts() {
        let coloured = text(&layout, style);
        let mut plain = String::new();
        for part in coloured.split('\x1b') {
            plain.push_str(
                part.strip_prefix('[')
                    .map_or(part, |code| code.split_once('m').expect("an escape has an end").1),
            );
        }
        let trimmed: Vec<&str> = plain.lines().map(str::trim_end).collect();
        let letters = text(&layout, TextStyle::default());
        if names::has_letters(&layout) {
            assert_eq!(trimmed.join("\n"), letters, "{}", layout.notation());
        }
    }
}

/// The letter of every cell belongs to the owner of its first element.
#[test]
fn cells_belong_to_the_owners_of_their_first_elements() {
    let mut n_cells = 0;
    for layout in odd_layouts() {
        for most in [2, 5, 36] {
            let limits = Limits { rows: most, columns: most, panels: 4 };
            let Some(mut scene) = Scene::new(&layout, limits) else { continue };
            scene.rows = scene.rows.spread(most as u64, most / 2);
            scene.columns = scene.columns.spread(most as u64, most);
            n_cells += check_owners(&scene);
        }
    }
    assert!(n_cells > 5000, "{n_cells}");
}

fn check_owners(scene: &Scene) -> usize {
    let layout = scene.layout;
    let mut n_cells = 0;
    for panel in &scene.panels.shown {
        for row in &scene.rows.bands {
            for column in &scene.columns.bands {
                let drawn = [row.first, column.first];
                let drawn = &drawn[2 - layout.ndim().min(2)..];
                let index = panel.at.iter().chain(drawn).map(|index| *index as i64);
                let owner = layout.owner(&index.collect::<Vec<_>>());
                match scene.cell(panel, row, column) {
                    Cell { owner: Owner::Group(group), .. } => {
                        assert_eq!(owner, Ok(first_rank(layout, group)), "{}", layout.notation());
                    }
                    Cell { owner: Owner::Nobody, .. } => assert!(owner.is_err()),
                }
                n_cells += 1;
            }
        }
    }
    n_cells
}

/// A cell is marked exactly if a rank that is not of its group holds some of it.
#[test]
fn marks_agree_with_what_ranks_hold() {
    let cases: [(&[u64], &str); 6] = [
        (&[17], "block+halo(3,20) @ 3"),
        (&[17], "block+halo(2,1)+periodic @ 4"),
        (&[7], "block(3,0,4)+halo(1,1) @ 3"),
        (&[7], "block+halo(0,1;1,1;9,0) @ 3"),
        (&[6, 9], "block+halo(1,0), block(2,0,7)+halo(0,2) @ 2x3"),
        (&[4, 6, 9], "block+halo(1,1)+periodic, *, block+halo(0,2) @ 2x3"),
    ];
    for (shape, notation) in cases {
        let layout = layout(shape, notation);
        let limits = Limits { rows: 36, columns: 36, panels: 6 };
        let mut scene = Scene::new(&layout, limits).expect("elements");
        scene.rows = scene.rows.spread(36, 36);
        scene.columns = scene.columns.spread(36, 36);
        for panel in &scene.panels.shown {
            for row in &scene.rows.bands {
                for column in &scene.columns.bands {
                    let drawn = [row.first, column.first];
                    let drawn = &drawn[2 - layout.ndim().min(2)..];
                    let index = panel.at.iter().chain(drawn).map(|at| *at as i64);
                    let wanted = n_copies(&layout, &index.collect::<Vec<_>>()) > 1;
                    let found = scene.cell(panel, row, column).in_halo;
                    assert_eq!(found, wanted, "{notation} at {row:?} {column:?}");
                }
            }
        }
    }
}

/// How often an element is held, by any rank, wrapped copies counted one by one.
fn n_copies(layout: &Layout, index: &[i64]) -> usize {
    let pieces = layout
        .ranks()
        .iter()
        .flat_map(|rank| layout.pieces(rank).expect("a rank").iter().collect::<Vec<_>>());
    let holds = |piece: &Piece| {
        let ranges = piece.start.iter().zip(&piece.shape);
        ranges.zip(index).all(|((start, length), at)| (*start..start + *length as i64).contains(at))
    };
    pieces.filter(holds).count()
}

#[test]
fn lines_fit_the_columns() {
    for layout in odd_layouts().iter().filter(|layout| layout.n_ranks() < 1 << 40) {
        for columns in [60, 80, 200] {
            let picture = text(layout, TextStyle { columns, ..TextStyle::default() });
            for line in picture.lines() {
                assert!(line.chars().count() <= columns, "{columns}: {line}");
            }
            assert!(picture.lines().count() < 90, "{picture}");
        }
    }
}

#[test]
fn documents_are_well_formed_and_bounded() {
    for layout in odd_layouts() {
        for document in [svg(&layout), html(&layout)] {
            check_balance(&document);
            let n_shapes = document.matches("<path").count() + document.matches("<rect").count();
            assert!(n_shapes < 2000, "{n_shapes} of {}", layout.notation());
            assert!(document.len() < 150_000, "{} of {}", document.len(), layout.notation());
            assert!(!document.contains("NaN") && !document.contains("inf\""));
        }
    }
}

#[test]
fn usual_pictures_are_small() {
    let cases: [(&[u64], &str); 3] = [
        (&[4096, 4096], "block+halo(1,1), block+halo(1,1) @ 4x4"),
        (&[64, 64], "cyclic(8), cyclic(8) @ 2x4"),
        (&[64, 64, 64], "block, block, block @ 2x2x2"),
    ];
    for (shape, notation) in cases {
        assert!(html(&layout(shape, notation)).len() < 20_000, "{notation}");
    }
}

/// Every pair of maps on several shapes and grids.
#[test]
fn generated_layouts_are_drawn() {
    let maps = ["*", "block", "block(ceil)+halo(1,2)", "cyclic", "cyclic(3)"];
    let maps = maps.into_iter().chain(["block(last)+halo(2,1)+periodic"]);
    let maps: Vec<&str> = maps.collect();
    for (first, second) in maps.iter().flat_map(|a| maps.iter().map(move |b| (a, b))) {
        for shape in [[0, 2], [1, 1], [2, 40], [7, 1000], [1 << 40, 5]] {
            for grid in ["1x1", "3x2", "30x4"] {
                let layout = layout(&shape, &format!("{first}, {second} @ {grid}"));
                let limits = Limits { rows: 9, columns: 9, panels: 4 };
                Scene::new(&layout, limits).iter().for_each(|scene| {
                    check_owners(scene);
                });
                check_balance(&svg(&layout));
                assert!(text(&layout, TextStyle::default()).lines().count() < 60);
            }
        }
    }
}

/// Every tag that opens closes in order, and attributes have both quotes.
fn check_balance(document: &str) {
    let mut open = Vec::new();
    for part in document.split('<').skip(1) {
        let (tag, text) = part.split_once('>').expect("a tag ends");
        assert!(!text.contains('>') && tag.matches('"').count() % 2 == 0, "<{part}");
        assert!(!text.replace("&amp;", "").replace("&lt;", "").replace("&gt;", "").contains('&'));
        let name = tag.split([' ', '/']).find(|name| !name.is_empty()).expect("a name");
        if tag.starts_with('/') {
            assert_eq!(open.pop(), Some(name), "<{part}");
        } else if !tag.ends_with('/') {
            open.push(name);
        }
    }
    assert_eq!(open, Vec::<&str>::new());
}
