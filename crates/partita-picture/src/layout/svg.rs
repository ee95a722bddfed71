//! The SVG picture: panels of pieces with a headline above and notes below.
//!
//! It needs nothing from outside: no script, no style sheet, no font. It stands on its own light
//! ground, so that it reads the same on a dark page. Every piece has a label and a tooltip.

use std::fmt::Write;

use partita_layout::{Form, Layout};

use super::axis::Axis;
use super::cells::{Limits, Scene, n_groups};
use super::draw::{CHARACTER_SMALL, MOST_BOXES, PanelDrawing, escaped, label_length, px};
use super::{legend, names};

/// Most pieces of a picture that is not made of boxes.
const MOST_PIECES: usize = 160;
/// Bands per dimension to try, until the pieces are few enough.
const BANDS: [usize; 7] = [40, 24, 16, 12, 8, 6, 5];
const MOST_PANELS: usize = 6;
const PANELS_ABREAST: usize = 3;
const PADDING: f64 = 12.0;
const LINE: f64 = 15.0;
/// Most characters of the headline and of a note.
const MOST_CHARACTERS: usize = 76;

/// A picture of a layout as a self-contained SVG document.
///
/// ```
/// use partita_layout::Layout;
/// use partita_picture::layout;
/// let layout = Layout::parse(&[16, 16], "block, cyclic(2) @ 2x2")?;
/// let svg = layout::svg(&layout);
/// assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>"));
/// assert!(svg.contains("<title>rank 1 at (0, 1): owns [0:8, 2:4], local 8x8</title>"));
/// # Ok::<(), partita_layout::LayoutError>(())
/// ```
///
/// # Cost
/// Bounded by the size of the picture; lists and boxes are read once.
#[must_use]
pub fn svg(layout: &Layout) -> String {
    let headline = legend::headline(layout, " · ", MOST_CHARACTERS);
    let mut page = Page { body: String::new(), width: text_width(&headline) * 1.13, y: LINE };
    let _ = write!(page.body, "<text y=\"11\" font-weight=\"600\">{}</text>", escaped(&headline));
    match scene(layout) {
        None => {
            page.note(&legend::empty(layout));
            let groups = 0..n_groups(layout).min(legend::MOST_LINES);
            groups.for_each(|group| page.note(&legend::line(layout, group)));
            legend::more(layout).iter().for_each(|more| page.note(more));
        }
        Some(scene) => {
            page.panels(&scene);
            notes(&scene).iter().for_each(|note| page.note(note));
        }
    }
    page.finish(&headline)
}

/// The scene with the most bands whose pieces are few enough.
fn scene(layout: &Layout) -> Option<Scene<'_>> {
    let mut found = None;
    for bands in BANDS {
        let limits = Limits { rows: bands, columns: bands, panels: MOST_PANELS };
        let scene = Scene::new(layout, limits)?;
        let n_panels = scene.panels.shown.len();
        let n_pieces = scene.rows.n_blocks() * scene.columns.n_blocks() * n_panels;
        let most = match layout.form() {
            Form::Grid(_) => MOST_PIECES,
            // Boxes seldom fill all the cells between their edges.
            Form::Boxes(_) => MOST_BOXES,
        };
        let is_enough = n_pieces <= most;
        found = Some(scene);
        if is_enough {
            break;
        }
    }
    found
}

/// Lengths of the two axes: to scale, but never a thread.
fn lengths(scene: &Scene) -> (f64, f64) {
    let longest = if scene.panels.shown.len() > 1 { 190.0 } else { 340.0 };
    if scene.layout.ndim() < 2 {
        return (44.0, if scene.layout.ndim() == 0 { 44.0 } else { 480.0 });
    }
    let (height, width) = (scene.rows.extent as f64, scene.columns.extent as f64);
    let scale = longest / height.max(width);
    ((height * scale).max(longest / 3.0), (width * scale).max(longest / 3.0))
}

fn text_width(text: &str) -> f64 {
    text.chars().count() as f64 * CHARACTER_SMALL
}

fn notes(scene: &Scene) -> Vec<String> {
    let layout = scene.layout;
    let mut notes = legend::left_out(scene);
    notes.extend(legend::about_ranks(layout).into_iter().map(str::to_string));
    if layout.holds_more() {
        // Outlines are drawn around intervals only: a cyclic dimension or a list has too many.
        let has_outlines = match layout.form() {
            Form::Boxes(_) => true,
            Form::Grid(form) => form.dims().iter().all(|dim| {
                matches!(dim.map(), partita_layout::Map::Block(_) | partita_layout::Map::Whole)
            }),
        };
        let dashed = if has_outlines { "dashed: what a rank holds; " } else { "" };
        notes.push(format!("{dashed}lighter: {}", legend::about_halo(layout)));
    }
    if !layout.covers() {
        notes.push("grey: owned by nobody".to_string());
    }
    notes
}

/// A picture in the making: what is drawn so far and how far down it reaches.
struct Page {
    body: String,
    width: f64,
    y: f64,
}

impl Page {
    fn note(&mut self, note: &str) {
        let note = names::clip(note, MOST_CHARACTERS);
        self.y += LINE;
        let y = px(self.y - 4.0);
        let _ = write!(
            self.body,
            "<text y=\"{y}\" font-size=\"11\" fill=\"#444\">{}</text>",
            escaped(&note)
        );
        self.width = self.width.max(text_width(&note) * 0.95);
    }

    fn panels(&mut self, scene: &Scene) {
        let (height, width) = lengths(scene);
        let room = 8.0 + label_length(scene) as f64 * 7.0;
        let rows = Axis::new(&scene.rows, height, 18.0);
        let columns = Axis::new(&scene.columns, width, room.max(20.0));
        let margin = if scene.layout.ndim() > 1 { index_width(&rows) + 6.0 } else { 0.0 };
        let has_titles = scene.layout.ndim() > 2;
        let above = if has_titles { 34.0 } else { 18.0 };
        for line in scene.panels.shown.chunks(PANELS_ABREAST) {
            for (number, panel) in line.iter().enumerate() {
                let x = margin + number as f64 * (columns.size + margin + 18.0);
                let y = self.y + above;
                let _ = write!(self.body, "<g transform=\"translate({},{})\">", px(x), px(y));
                if has_titles {
                    let _ = write!(self.body, "<text y=\"-20\">{}</text>", panel.title());
                }
                PanelDrawing { scene, panel, rows: &rows, columns: &columns }.write(&mut self.body);
                self.body.push_str("</g>");
                self.width = self.width.max(x + columns.size);
            }
            self.y += above + rows.size + 6.0;
        }
        self.y += 2.0;
    }

    fn finish(self, headline: &str) -> String {
        let (width, height) = (px(self.width + 2.0 * PADDING), px(self.y + 2.0 * PADDING));
        let padding = px(PADDING);
        format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
             viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{}\" \
             style=\"max-width:100%;height:auto\" \
             font-family=\"system-ui,-apple-system,'Segoe UI','DejaVu Sans',sans-serif\" \
             font-size=\"12\"><rect width=\"{width}\" height=\"{height}\" rx=\"6\" \
             fill=\"#fcfcfc\" stroke=\"#d0d0d0\"/>\
             <g transform=\"translate({padding},{padding})\" fill=\"#111\">{}</g></svg>",
            escaped(headline),
            self.body,
        )
    }
}

fn index_width(rows: &Axis) -> f64 {
    let widths = rows.track.bands.iter().map(|band| band.first.to_string().len());
    widths.max().unwrap_or(1) as f64 * 6.0
}
