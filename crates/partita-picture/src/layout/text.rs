//! The picture for a terminal: a letter per cell, and a legend.

use partita_layout::{Form, Layout, Map};

use super::cells::{Cell, Limits, Owner, Scene, n_groups};
use super::panels::Panel;
use super::track::{Band, Track};
use super::{legend, names, palette};

const MOST_ROWS: usize = 32;
/// Cells of a dimension that is too long for a cell per index.
const TARGET_ROWS: usize = 12;
const TARGET_COLUMNS: usize = 24;
const MOST_PANELS: usize = 4;
/// Below this the legend says nothing any more.
const FEWEST_COLUMNS: usize = 40;

/// Whether a text picture has colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Colour {
    /// Letters only.
    #[default]
    Never,
    /// Letters on a coloured ground, for terminals with 256 colours.
    Ansi256,
}

/// How a text picture looks.
///
/// ```
/// use partita_picture::layout::{Colour, TextStyle};
/// let style = TextStyle { colour: Colour::Ansi256, ..TextStyle::default() };
/// assert_eq!(style.columns, 80);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TextStyle {
    /// Colours or letters only.
    pub colour: Colour,
    /// Most characters of a line; fewer than 40 count as 40.
    pub columns: usize,
}

impl Default for TextStyle {
    fn default() -> Self {
        Self { colour: Colour::Never, columns: 80 }
    }
}

/// A picture of a layout for a terminal, without a line break at its end.
///
/// ```
/// use partita_layout::Layout;
/// use partita_picture::layout;
/// let layout = Layout::parse(&[10], "block+halo(1,1) @ 3")?;
/// let picture = "\
/// 10  block+halo(1,1) @ 3  3 ranks
///
/// 0       4     7
/// A A A A'B'B B'C'C C
///
/// A  rank 0 at (0)  local 5  owns 4
/// B  rank 1 at (1)  local 5  owns 3
/// C  rank 2 at (2)  local 4  owns 3
/// '  in a halo too";
/// assert_eq!(layout::text(&layout, Default::default()), picture);
/// # Ok::<(), partita_layout::LayoutError>(())
/// ```
///
/// # Cost
/// Bounded by the size of the picture; lists and boxes are read once.
#[must_use]
pub fn text(layout: &Layout, style: TextStyle) -> String {
    let columns = style.columns.max(FEWEST_COLUMNS);
    let mut lines = vec![legend::headline(layout, "  ", columns), String::new()];
    let mut marks = Marks::default();
    match scene(layout, columns) {
        None => lines.push(legend::empty(layout)),
        Some(scene) => {
            let cell_width = cell_width(&scene, columns);
            let drawing = Drawing { scene: &scene, colour: style.colour, columns, cell_width };
            lines.extend(drawing.lines(&mut marks));
            let notes = notes(&scene);
            if !notes.is_empty() {
                lines.push(String::new());
                lines.extend(notes.iter().map(|note| names::clip(note, columns)));
            }
        }
    }
    let about = legend_lines(layout, &marks, style.colour);
    if !about.is_empty() {
        lines.push(String::new());
        lines.extend(about.into_iter().map(|(key, line)| {
            let width = columns.saturating_sub(key.width);
            format!("{}{}", key.text, names::clip(&line, width)).trim_end().to_string()
        }));
    }
    lines.join("\n")
}

fn scene(layout: &Layout, columns: usize) -> Option<Scene<'_>> {
    let margin = layout.ndim().checked_sub(2).map_or(0, |_| 2 + row_label_width(layout));
    let most = columns.saturating_sub(margin) / (names::letter_width(layout) + 1);
    let most = most.max(2);
    let limits = Limits { rows: MOST_ROWS, columns: most, panels: MOST_PANELS };
    let mut scene = Scene::new(layout, limits)?;
    let (rows, target) = match scene.panels.shown.len() {
        1 => (MOST_ROWS, TARGET_ROWS),
        n_panels => (2 + MOST_ROWS / n_panels, TARGET_ROWS / 2),
    };
    if scene.rows.gap.is_some() || scene.rows.bands.len() > rows {
        // A part of the rows says no more than a smaller part of them.
        scene = Scene::new(layout, Limits { rows: target, ..limits })?;
    }
    scene.rows = scene.rows.spread(rows as u64, target);
    scene.columns = scene.columns.spread(most as u64, TARGET_COLUMNS.min(most));
    Some(scene)
}

/// Digits of the longest index of the rows, before anything is known of their track.
fn row_label_width(layout: &Layout) -> usize {
    let dim = layout.ndim() - 2;
    if let Form::Grid(form) = layout.form()
        && let Map::Unstructured(lists) = form.dims()[dim].map()
    {
        let (first, last) = lists.range().unwrap_or((0, 0));
        return first.to_string().len().max(last.to_string().len());
    }
    layout.shape()[dim].saturating_sub(1).to_string().len()
}

/// Width of a cell with its mark; lists get room for every index if there is any.
fn cell_width(scene: &Scene, columns: usize) -> usize {
    let layout = scene.layout;
    let narrow = names::letter_width(layout) + 1;
    let (Form::Grid(form), Some(dim)) = (layout.form(), layout.ndim().checked_sub(1)) else {
        return narrow;
    };
    if !matches!(form.dims()[dim].map(), Map::Unstructured(_)) {
        return narrow;
    }
    let labels = scene.columns.bands.iter().map(|band| band.first.to_string().len());
    let wide = labels.max().unwrap_or(0) + 1;
    let margin = dim.checked_sub(1).map_or(0, |_| 2 + row_label_width(layout));
    let n_cells = scene.columns.bands.len() + usize::from(scene.columns.gap.is_some());
    if margin + n_cells * wide <= columns { wide.max(narrow) } else { narrow }
}

/// Marks that a picture used and its legend explains.
#[derive(Debug, Default)]
struct Marks {
    halo: bool,
    nobody: bool,
}

struct Drawing<'a> {
    scene: &'a Scene<'a>,
    colour: Colour,
    columns: usize,
    cell_width: usize,
}

impl Drawing<'_> {
    fn lines(&self, marks: &mut Marks) -> Vec<String> {
        let mut lines = Vec::new();
        for (number, panel) in self.scene.panels.shown.iter().enumerate() {
            if self.scene.layout.ndim() > 2 {
                if number > 0 {
                    lines.push(String::new());
                }
                lines.push(panel.title());
            }
            lines.extend(self.panel(panel, marks));
        }
        lines
    }

    fn panel(&self, panel: &Panel, marks: &mut Marks) -> Vec<String> {
        let labels = row_labels(self.scene);
        let width = labels.iter().map(String::len).max().unwrap_or(0);
        let margin = if width == 0 { String::new() } else { " ".repeat(width + 2) };
        let mut lines = Vec::new();
        if self.scene.layout.ndim() > 0 {
            lines.push(self.header(&margin));
        }
        let gap = self.scene.rows.gap.map(|gap| gap.before);
        for (number, (row, label)) in self.scene.rows.bands.iter().zip(&labels).enumerate() {
            if gap == Some(number) {
                lines.push(format!("{:>width$}", "…"));
            }
            let label = if width == 0 { String::new() } else { format!("{label:>width$}  ") };
            lines.push(format!("{label}{}", self.row(panel, row, marks)).trim_end().to_string());
        }
        if gap == Some(self.scene.rows.bands.len()) {
            lines.push(format!("{:>width$}", "…"));
        }
        lines
    }

    /// Indices above the columns where blocks begin, as far as there is room.
    fn header(&self, margin: &str) -> String {
        let mut header = margin.to_string();
        let gap = self.scene.columns.gap.map(|gap| gap.before);
        for (number, band) in self.scene.columns.bands.iter().enumerate() {
            let shift = usize::from(gap.is_some_and(|before| before <= number));
            let at = margin.len() + (number + shift) * self.cell_width;
            let label = band.first.to_string();
            let is_free = number == 0 || header.len() < at;
            if band.is_start && is_free && at + label.len() <= self.columns {
                header = format!("{header:at$}{label}");
            }
        }
        header.trim_end().to_string()
    }

    fn row(&self, panel: &Panel, row: &Band, marks: &mut Marks) -> String {
        let Track { bands, gap, .. } = &self.scene.columns;
        let width = self.cell_width;
        let mut line = String::new();
        for (number, column) in bands.iter().enumerate() {
            if gap.is_some_and(|gap| gap.before == number) {
                line.push_str(&format!("{:<width$}", "…"));
            }
            line.push_str(&self.cell(self.scene.cell(panel, row, column), marks));
        }
        if gap.is_some_and(|gap| gap.before == bands.len()) {
            line.push('…');
        }
        line
    }

    fn cell(&self, cell: Cell, marks: &mut Marks) -> String {
        let layout = self.scene.layout;
        let label = match cell.owner {
            Owner::Group(group) => names::letter(layout, group),
            Owner::Nobody => ".".to_string(),
        };
        marks.nobody |= cell.owner == Owner::Nobody;
        marks.halo |= cell.in_halo;
        let mark = if cell.in_halo { "'" } else { "" };
        let text = format!("{:<width$}", label + mark, width = self.cell_width);
        match cell.owner {
            Owner::Group(group) => painted(layout, group, &text, self.colour),
            _ => text,
        }
    }
}

fn painted(layout: &Layout, group: u64, text: &str, colour: Colour) -> String {
    match colour {
        Colour::Never => text.to_string(),
        Colour::Ansi256 => {
            let ground = palette::of_group(layout, group).ansi;
            format!("\x1b[38;5;16;48;5;{ground}m{text}\x1b[0m")
        }
    }
}

fn row_labels(scene: &Scene) -> Vec<String> {
    if scene.layout.ndim() < 2 {
        return vec![String::new(); scene.rows.bands.len()];
    }
    scene.rows.bands.iter().map(|band| band.first.to_string()).collect()
}

/// What a cell stands for, and what is left out.
fn notes(scene: &Scene) -> Vec<String> {
    let mut notes = Vec::new();
    let (height, width) = (scene.rows.longest(), scene.columns.longest());
    if height.max(width) > 1 {
        let cell = if scene.layout.ndim() < 2 {
            names::count(width.into(), "element")
        } else {
            format!("{height}x{width} elements")
        };
        notes.push(format!("a cell is up to {cell}"));
    }
    notes.extend(legend::left_out(scene));
    notes
}

/// The start of a legend line, with its width on the screen.
struct Key {
    text: String,
    width: usize,
}

impl Key {
    fn plain(text: &str) -> Self {
        Self { text: text.to_string(), width: text.chars().count() }
    }
}

fn legend_lines(layout: &Layout, marks: &Marks, colour: Colour) -> Vec<(Key, String)> {
    let mut lines: Vec<(Key, String)> = (0..n_groups(layout).min(legend::MOST_LINES))
        .map(|group| (key(layout, group, colour), legend::line(layout, group)))
        .collect();
    let more = legend::more(layout);
    lines.extend(more.map(|more| (Key::plain(""), more)));
    let explained =
        [(marks.halo, "'", legend::about_halo(layout)), (marks.nobody, ".", "owned by nobody")];
    let used = explained.into_iter().filter(|(is_used, ..)| *is_used);
    lines.extend(used.map(|(_, mark, text)| (Key::plain(&format!("{mark}  ")), text.to_string())));
    let about = legend::about_ranks(layout).into_iter();
    lines.extend(about.map(|note| (Key::plain(""), note.to_string())));
    lines
}

fn key(layout: &Layout, group: u64, colour: Colour) -> Key {
    let width = names::letter_width(layout);
    let letter = format!("{:>width$}", names::letter(layout, group));
    if !names::has_letters(layout) && colour == Colour::Never {
        return Key::plain("");
    }
    let text = match colour {
        Colour::Never => letter,
        Colour::Ansi256 => painted(layout, group, &letter, colour),
    };
    Key { text: text + "  ", width: width + 2 }
}
