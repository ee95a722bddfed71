//! The inside of an SVG picture: pieces, halos and labels of one panel.

use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;

use partita_layout::{Boxes, DimMap, Form, GridForm, IndexBox, Part};

use super::axis::{Axis, BlockSpan, Span};
use super::cells::{Cell, Owner, Scene, coordinate_of, n_groups};
use super::panels::Panel;
use super::{names, palette};

/// Most cells between the edges of boxes in a picture; shown boxes are never more.
pub(super) const MOST_BOXES: usize = 300;
/// Most dashed outlines of held boxes in a panel.
const MOST_OUTLINES: usize = 144;
/// Most characters of a label inside a piece.
pub(super) const LABEL_LENGTH: usize = 9;
/// Width of a character of a label, and of the text around the panels.
const CHARACTER: f64 = 6.8;
pub(super) const CHARACTER_SMALL: f64 = 6.7;

/// One panel with its axes.
pub(super) struct PanelDrawing<'a> {
    pub scene: &'a Scene<'a>,
    pub panel: &'a Panel,
    pub rows: &'a Axis<'a>,
    pub columns: &'a Axis<'a>,
}

/// Where a piece lies, and what is written on it.
struct Rect {
    rows: Span,
    columns: Span,
    /// Rows and columns to write the ranks on.
    label: (Span, Span),
    fill: &'static str,
    title: String,
    ranks: String,
}

/// What one group of ranks holds.
struct GroupArea {
    group: u64,
    lane: u64,
    rows: Span,
    columns: Span,
}

/// A number with at most one digit behind the point.
pub(super) fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").map_or(text.clone(), str::to_string)
}

/// Text that may stand between tags and in attributes.
pub(super) fn escaped(text: &str) -> String {
    let escaped = text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    escaped.replace('"', "&quot;")
}

impl PanelDrawing<'_> {
    /// Pieces, halos, labels; indices stand outside of the drawing.
    pub(super) fn write(&self, svg: &mut String) {
        let (height, width) = (px(self.rows.size), px(self.columns.size));
        let _ = write!(svg, "<rect width=\"{width}\" height=\"{height}\" fill=\"#ececec\"/>");
        let rects = match self.scene.layout.form() {
            Form::Grid(_) => self.pieces_of_grid(),
            Form::Boxes(boxes) => self.pieces_of_boxes(boxes),
        };
        svg.push_str("<g stroke=\"#fff\">");
        rects.iter().for_each(|rect| rect.write(svg));
        svg.push_str("</g><g pointer-events=\"none\">");
        self.write_halos(svg);
        // A pale rim keeps labels readable where they cross a line.
        svg.push_str(
            "<g text-anchor=\"middle\" font-size=\"12\" fill=\"#111\" paint-order=\"stroke\" \
             stroke=\"#fff\" stroke-opacity=\".5\" stroke-width=\"2\">",
        );
        rects.iter().for_each(|rect| rect.write_label(svg));
        self.write_gaps(svg);
        svg.push_str("</g></g>");
        self.write_indices(svg);
    }

    fn pieces_of_grid(&self) -> Vec<Rect> {
        let (rows, columns) = (self.rows.blocks(), self.columns.blocks());
        let pairs = rows.iter().flat_map(|row| columns.iter().map(move |column| (row, column)));
        pairs.filter_map(|(row, column)| self.piece(row, column)).collect()
    }

    fn piece(&self, row: &BlockSpan, column: &BlockSpan) -> Option<Rect> {
        let bands = (&self.rows.track.bands[row.band], &self.columns.track.bands[column.band]);
        let Cell { owner: Owner::Group(group), .. } = self.scene.cell(self.panel, bands.0, bands.1)
        else {
            return None;
        };
        let layout = self.scene.layout;
        let leading = self.panel.at.iter().map(|index| index.to_string());
        let drawn = [row, column].map(|block| format!("{}:{}", block.first, block.stop));
        let drawn = drawn.into_iter().skip(2 - layout.ndim().min(2));
        Some(Rect {
            rows: row.span,
            columns: column.span,
            label: (row.widest, column.widest),
            fill: palette::of_group(layout, group).fill,
            title: self.title(group, &leading.chain(drawn).collect::<Vec<_>>().join(", ")),
            ranks: names::ranks(layout, group),
        })
    }

    fn title(&self, group: u64, region: &str) -> String {
        let layout = self.scene.layout;
        let ranks = names::ranks_in_words(layout, group);
        let place = names::place(layout, group);
        let local = names::local_shapes(layout, group);
        format!("{ranks}{place}: owns [{region}], local {local}")
    }

    fn pieces_of_boxes(&self, boxes: &Boxes) -> Vec<Rect> {
        let region = self.slice();
        let mut parts: Vec<(u64, &IndexBox)> = Vec::new();
        boxes.find_owned(&region, |hit| parts.push((hit.place, hit.found)));
        parts.sort_by_key(|(place, part)| (*place, &part.start));
        let drawn = parts.iter().filter_map(|(place, part)| {
            let (rows, columns) = self.spans(part)?;
            let layout = self.scene.layout;
            Some(Rect {
                rows,
                columns,
                label: (rows, columns),
                fill: palette::of_group(layout, *place).fill,
                title: self.title(*place, &in_words(part)),
                ranks: names::ranks(layout, *place),
            })
        });
        drawn.take(MOST_BOXES).collect()
    }

    /// The whole slice of a box layout that the panel shows.
    fn slice(&self) -> IndexBox {
        let shape = self.scene.layout.shape();
        let mut slice = IndexBox { start: vec![0; shape.len()], shape: shape.to_vec() };
        for (dim, index) in self.panel.at.iter().enumerate() {
            slice.start[dim] = *index as u64;
            slice.shape[dim] = 1;
        }
        slice
    }

    fn spans(&self, part: &IndexBox) -> Option<(Span, Span)> {
        let ndim = part.start.len();
        let span = |axis: &Axis, from_last: usize| match ndim.checked_sub(from_last) {
            Some(dim) => axis.span(part.start[dim].into(), part.stop(dim).into()),
            None => axis.span(0, 1),
        };
        Some((span(self.rows, 2)?, span(self.columns, 1)?))
    }

    /// A lighter tint where a halo lies, and a dashed outline around what each rank holds.
    fn write_halos(&self, svg: &mut String) {
        if !self.scene.layout.holds_more() {
            return;
        }
        svg.push_str("<g fill=\"#fff\" opacity=\".5\">");
        let tints = match self.scene.layout.form() {
            Form::Grid(_) => self.tints_of_grid(),
            Form::Boxes(_) => self.tints_of_boxes(),
        };
        for (rows, columns) in tints {
            let _ = write!(svg, "<path d=\"{}\"/>", outline(rows, columns, 0.0));
        }
        svg.push_str("</g><g fill=\"none\" stroke-width=\"1.5\" stroke-dasharray=\"4 2\">");
        let outlines = match self.scene.layout.form() {
            Form::Grid(form) => self.held_of_grid(form),
            Form::Boxes(boxes) => self.held_of_boxes(boxes),
        };
        for GroupArea { group, lane, rows, columns } in outlines {
            let line = palette::of_group(self.scene.layout, group).line;
            // Neighbours' outlines run side by side rather than on each other.
            let path = outline(rows, columns, 1.0 + 2.0 * (lane % 2) as f64);
            let _ = write!(svg, "<path stroke=\"{line}\" d=\"{path}\"/>");
        }
        svg.push_str("</g>");
    }

    /// Strips across the whole panel; a panel in a halo of the leading dimensions is one strip.
    fn tints_of_grid(&self) -> Vec<(Span, Span)> {
        let whole = |axis: &Axis| Span { from: 0.0, to: axis.size };
        let strips = |axis: &Axis| -> Vec<Span> {
            let bands = axis.track.bands.iter().zip(&axis.spans);
            bands.filter(|(band, _)| band.in_halo).map(|(_, span)| *span).collect()
        };
        let rows = strips(self.rows).into_iter().map(|span| (span, whole(self.columns)));
        let columns = strips(self.columns).into_iter().map(|span| (whole(self.rows), span));
        let mut tints: Vec<(Span, Span)> = rows.chain(columns).collect();
        if self.scene.is_in_halo(self.panel) {
            tints.push((whole(self.rows), whole(self.columns)));
        }
        tints
    }

    /// Cells that several boxes hold.
    fn tints_of_boxes(&self) -> Vec<(Span, Span)> {
        let mut tints = Vec::new();
        for (row, row_span) in self.rows.track.bands.iter().zip(&self.rows.spans) {
            for (column, span) in self.columns.track.bands.iter().zip(&self.columns.spans) {
                if self.scene.cell(self.panel, row, column).in_halo {
                    tints.push((*row_span, *span));
                }
            }
        }
        tints.truncate(MOST_BOXES);
        tints
    }

    /// Boxes that are not owned as a whole by the rank that holds them.
    fn held_of_boxes(&self, boxes: &Boxes) -> Vec<GroupArea> {
        let slice = self.slice();
        let n_shared = |part: &IndexBox| part.intersection(&slice).map_or(0, |p| p.n_elements());
        let mut n_owned: HashMap<(u64, usize), u64> = HashMap::new();
        boxes.find_owned(&slice, |hit| {
            *n_owned.entry((hit.place, hit.piece)).or_default() += n_shared(hit.found);
        });
        let mut held = Vec::new();
        boxes.find_held(&slice, |hit| {
            let is_owned = n_owned.get(&(hit.place, hit.piece)) == Some(&n_shared(hit.held));
            if held.len() < MOST_BOXES && !is_owned {
                let (group, lane) = (hit.place, hit.place);
                let spans = self.spans(hit.held);
                held.extend(spans.map(|(rows, columns)| GroupArea { group, lane, rows, columns }));
            }
        });
        held.sort_by_key(|held| held.group);
        held
    }

    /// What the ranks of this panel hold; only dimensions with halos have outlines.
    fn held_of_grid(&self, form: &GridForm) -> Vec<GroupArea> {
        let dims = form.dims();
        let (row_dim, column_dim) = (dims.len().checked_sub(2), dims.len().checked_sub(1));
        let rows = held_spans(row_dim.map(|dim| &dims[dim]), self.rows);
        let columns = held_spans(column_dim.map(|dim| &dims[dim]), self.columns);
        let base = self.panel.at.iter().zip(dims).fold(0, |group, (index, dim)| {
            group * dim.n_coordinates() + coordinate_of(dim, *index)
        });
        let n = |dim: Option<usize>| dim.map_or(1, |dim| dims[dim].n_coordinates());
        let mut held = Vec::new();
        for &(row, rows) in &rows {
            for &(column, columns) in &columns {
                let group = (base * n(row_dim) + row) * n(column_dim) + column;
                held.push(GroupArea { group, lane: row + column, rows, columns });
            }
        }
        held.truncate(MOST_OUTLINES);
        held
    }

    fn write_gaps(&self, svg: &mut String) {
        if let Some(gap) = self.columns.gap {
            let (x, y) = (px(gap.middle()), px(self.rows.size / 2.0 + 4.0));
            let _ = write!(svg, "<text x=\"{x}\" y=\"{y}\">…</text>");
        }
        if let Some(gap) = self.rows.gap {
            let (x, y) = (px(self.columns.size / 2.0), px(gap.middle() + 4.0));
            let _ = write!(svg, "<text x=\"{x}\" y=\"{y}\">⋮</text>");
        }
    }

    /// First indices of blocks above and left, as far as they do not touch.
    fn write_indices(&self, svg: &mut String) {
        let ndim = self.scene.layout.ndim();
        svg.push_str("<g font-size=\"10\" fill=\"#555\">");
        if ndim > 0 {
            let mut free = 0.0;
            for block in self.columns.blocks() {
                let label = block.first.to_string();
                if block.span.from >= free {
                    let x = px(block.span.from);
                    let _ = write!(svg, "<text x=\"{x}\" y=\"-4\">{label}</text>");
                    free = block.span.from + 6.0 * (label.chars().count() + 1) as f64;
                }
            }
        }
        if ndim > 1 {
            svg.push_str("<g text-anchor=\"end\">");
            let mut free = 0.0;
            for block in self.rows.blocks() {
                if block.span.from >= free {
                    let y = px(block.span.from + 9.0);
                    let _ = write!(svg, "<text x=\"-4\" y=\"{y}\">{}</text>", block.first);
                    free = block.span.from + 11.0;
                }
            }
            svg.push_str("</g>");
        }
        svg.push_str("</g>");
    }
}

impl Rect {
    fn write(&self, svg: &mut String) {
        let (path, title) = (outline(self.rows, self.columns, 0.0), escaped(&self.title));
        let fill = self.fill;
        let _ = write!(svg, "<path fill=\"{fill}\" d=\"{path}\"><title>{title}</title></path>");
    }

    fn write_label(&self, svg: &mut String) {
        let (rows, columns) = self.label;
        let most = (columns.length() / CHARACTER) as usize;
        if most < self.ranks.chars().count().min(LABEL_LENGTH) || rows.length() < 12.0 {
            return;
        }
        let label = names::clip(&self.ranks, most);
        let (x, y) = (px(columns.middle()), px(rows.middle() + 4.0));
        let _ = write!(svg, "<text x=\"{x}\" y=\"{y}\">{}</text>", escaped(&label));
    }
}

fn outline(rows: Span, columns: Span, inset: f64) -> String {
    let (x, y) = (columns.from + inset, rows.from + inset);
    let width = (columns.length() - 2.0 * inset).max(1.0);
    let height = (rows.length() - 2.0 * inset).max(1.0);
    format!("M{} {}h{}v{}h-{}z", px(x), px(y), px(width), px(height), px(width))
}

fn in_words(part: &IndexBox) -> String {
    let ranges = part.start.iter().enumerate();
    let ranges = ranges.map(|(dim, start)| format!("{start}:{}", part.stop(dim)));
    ranges.collect::<Vec<_>>().join(", ")
}

/// Where the indices that each shown coordinate holds lie on an axis.
fn held_spans(dim: Option<&DimMap>, axis: &Axis) -> Vec<(u64, Span)> {
    let whole = || vec![(0, Span { from: 0.0, to: axis.size })];
    let Some(dim) = dim else { return whole() };
    let mut coordinates: BTreeSet<u64> =
        axis.track.bands.iter().map(|band| band.coordinate).collect();
    if dim.n_coordinates() <= 16 {
        // Coordinates that own nothing may hold a halo.
        coordinates.extend(0..dim.n_coordinates());
    }
    let held = coordinates.into_iter().flat_map(|coordinate| {
        let ranges = dim.indices(coordinate, Part::Held).ranges().unwrap_or_default();
        let ranges = ranges.into_iter().filter(|range| !range.is_empty());
        let spans = ranges
            .filter_map(|held| axis.span(held.start.into(), held.end.into()))
            .map(move |span| (coordinate, span));
        spans.collect::<Vec<_>>()
    });
    held.collect()
}

/// Characters of the longest label of a scene's groups.
pub(super) fn label_length(scene: &Scene) -> usize {
    let layout = scene.layout;
    let ends = [0, n_groups(layout).saturating_sub(1)];
    let lengths = ends.map(|group| names::ranks(layout, group).chars().count());
    lengths.into_iter().max().unwrap_or(1).min(LABEL_LENGTH)
}
