//! Colours: Paul Tol's light scheme, made for labelled cells and safe for colour-blind readers.

use partita_layout::{Form, Layout};

use super::cells::group_at;

/// A colour of a group of ranks in each medium; black text is readable on all of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Colour {
    /// Fill of cells.
    pub fill: &'static str,
    /// The same hue, dark enough for lines.
    pub line: &'static str,
    /// Nearest colour of the 256 of a terminal.
    pub ansi: u8,
}

const fn colour(fill: &'static str, line: &'static str, ansi: u8) -> Colour {
    Colour { fill, line, ansi }
}

const COLOURS: [Colour; 8] = [
    colour("#77aadd", "#1f5a94", 110),
    colour("#ee8866", "#a83a14", 209),
    colour("#eedd88", "#8a6d00", 222),
    colour("#44bb99", "#0b6b50", 72),
    colour("#ffaabb", "#b03060", 217),
    colour("#bbcc33", "#5f6b00", 149),
    colour("#99ddff", "#0b73a8", 153),
    colour("#aaaa00", "#5c5c00", 142),
];

/// The colour of a group: all different up to eight, else different from its neighbours'.
pub(super) fn of_group(layout: &Layout, group: u64) -> Colour {
    let number = match layout.form() {
        Form::Grid(form) if super::cells::n_groups(layout) > COLOURS.len() as u64 => {
            // Steps of 1 and 3 keep neighbours along rows, columns and diagonals apart.
            let coordinates = group_at(form, group).coordinates;
            let steps = [1, 3, 2, 5].into_iter().cycle();
            coordinates.iter().rev().zip(steps).map(|(at, step)| at % 8 * step).sum()
        }
        _ => group,
    };
    COLOURS[(number % COLOURS.len() as u64) as usize]
}
