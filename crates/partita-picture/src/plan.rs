//! Who sends how much to whom: a matrix of ranks by ranks.
//!
//! ```
//! use partita_layout::Layout;
//! use partita_picture::plan as picture;
//! use partita_plan::{Dtype, Plan};
//! let rows = Layout::parse(&[4, 4], "block, * @ 2x1")?;
//! let columns = Layout::parse(&[4, 4], "*, block @ 1x2")?;
//! let plan = Plan::new(&rows, &columns, Dtype::U8)?;
//! assert!(picture::svg(&plan).starts_with("<svg"));
//! assert_eq!(picture::text(&plan).lines().nth(1), Some("      0      [4 B]       4 B"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Only a window of the first ranks is drawn, so a plan of a million ranks has a picture too.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use partita_plan::{Plan, bytes_in_words};

/// Ranks drawn in an SVG.
const WIDEST_SVG: usize = 48;
/// Ranks printed in a terminal.
const WIDEST_TEXT: usize = 8;
/// Up to this many ranks the cells have room for their bytes.
const WIDEST_WITH_NUMBERS: usize = 12;

/// Bytes by giving and taking rank, for the first ranks.
struct Matrix {
    ranks: Vec<u64>,
    n_ranks: u64,
    cells: BTreeMap<(usize, usize), u128>,
}

impl Matrix {
    fn new(plan: &Plan, widest: usize) -> Self {
        let first = |ranks: &partita_layout::Ranks| -> Vec<u64> { smallest(ranks, widest) };
        let both: BTreeSet<u64> =
            first(plan.source().ranks()).into_iter().chain(first(plan.target().ranks())).collect();
        let ranks: Vec<u64> = both.into_iter().take(widest).collect();
        let n_bytes = u128::from(plan.dtype().n_bytes());
        let stages = plan.stages(&[]).map_or_else(|| vec![plan.clone()], Vec::from);
        let mut cells = BTreeMap::new();
        for (row, rank) in ranks.iter().enumerate() {
            for sent in stages.iter().flat_map(|stage| stage.sends(*rank)) {
                if let Ok(column) = ranks.binary_search(&sent.target_rank) {
                    *cells.entry((row, column)).or_insert(0) +=
                        u128::from(sent.n_elements()) * n_bytes;
                }
            }
        }
        Self { ranks, n_ranks: plan.totals().n_ranks, cells }
    }

    fn cell(&self, row: usize, column: usize) -> u128 {
        self.cells.get(&(row, column)).copied().unwrap_or(0)
    }

    fn largest(&self) -> u128 {
        self.cells.values().copied().max().unwrap_or(0).max(1)
    }

    /// What the window leaves out, if anything.
    fn note(&self) -> Option<String> {
        let n_shown = self.ranks.len() as u64;
        (n_shown < self.n_ranks).then(|| format!("the first {n_shown} of {} ranks", self.n_ranks))
    }
}

fn smallest(ranks: &partita_layout::Ranks, count: usize) -> Vec<u64> {
    match ranks {
        partita_layout::Ranks::Range { .. } => ranks.iter().take(count).collect(),
        partita_layout::Ranks::List { .. } => {
            let mut all: Vec<u64> = ranks.iter().collect();
            all.sort_unstable();
            all.truncate(count);
            all
        }
    }
}

/// The matrix as text: a row per giving rank, what stays in brackets.
#[must_use]
pub fn text(plan: &Plan) -> String {
    let matrix = Matrix::new(plan, WIDEST_TEXT);
    let mut text = String::from("from\\to");
    for rank in &matrix.ranks {
        let _ = write!(text, " {rank:>10}");
    }
    text.push('\n');
    for (row, rank) in matrix.ranks.iter().enumerate() {
        let mut line = format!("{rank:>7}");
        for column in 0..matrix.ranks.len() {
            let count = matrix.cell(row, column);
            let word = match count {
                0 => ".".to_string(),
                _ if row == column => format!("[{}]", bytes_in_words(count)),
                _ => bytes_in_words(count),
            };
            // The bracket of what stays hangs over, so that the numbers line up.
            let tail = if word.ends_with(']') { "" } else { " " };
            let _ = write!(line, " {:>10}", word + tail);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    if let Some(note) = matrix.note() {
        let _ = writeln!(text, "({note})");
    }
    text
}

/// The matrix as SVG: darker is more, hatched stays on its rank.
#[must_use]
pub fn svg(plan: &Plan) -> String {
    let matrix = Matrix::new(plan, WIDEST_SVG);
    let n = matrix.ranks.len();
    let size = if n <= WIDEST_WITH_NUMBERS { 64 } else { (720 / n.max(1)).max(14) };
    let (left, top) = (86, 78);
    let (width, height) = ((left + n * size + 24).max(560), top + n * size + 46);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n\
         <defs><pattern id=\"kept\" width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" \
         patternTransform=\"rotate(45)\"><rect width=\"6\" height=\"6\" fill=\"#e6e6e6\"/>\
         <line x1=\"0\" y1=\"0\" x2=\"0\" y2=\"6\" stroke=\"#a0a0a0\" stroke-width=\"2\"/>\
         </pattern></defs>\n"
    );
    draw_heading(&mut svg, plan, left);
    for (at, rank) in matrix.ranks.iter().enumerate() {
        draw_labels(&mut svg, *rank, (at, size), (left, top));
    }
    for row in 0..n {
        for column in 0..n {
            draw_cell(
                &mut svg,
                &matrix,
                (row, column),
                (left + column * size, top + row * size),
                size,
            );
        }
    }
    draw_footer(&mut svg, &matrix, left, top + n * size + 22);
    svg.push_str("</svg>\n");
    svg
}

fn draw_heading(svg: &mut String, plan: &Plan, left: usize) {
    let totals = plan.totals();
    let moved = bytes_in_words(totals.bytes_moved);
    let title =
        format!("{}: {} messages, {moved} cross ranks", plan.pattern().name(), totals.n_messages);
    let _ = writeln!(
        svg,
        "<text x=\"14\" y=\"22\" font-size=\"15\" font-weight=\"bold\">{title}</text>"
    );
    let _ = writeln!(svg, "<text x=\"{left}\" y=\"44\" fill=\"#555555\">to rank</text>");
    let _ = writeln!(svg, "<text x=\"14\" y=\"66\" fill=\"#555555\">from rank</text>");
}

fn draw_labels(
    svg: &mut String,
    rank: u64,
    (at, size): (usize, usize),
    (left, top): (usize, usize),
) {
    let middle = at * size + size / 2;
    let (x, y) = (left + middle, top + middle + 4);
    let small = if size < 24 { " font-size=\"9\"" } else { "" };
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{}\" text-anchor=\"middle\"{small}>{rank}</text>",
        top - 10
    );
    let _ = writeln!(
        svg,
        "<text x=\"{}\" y=\"{y}\" text-anchor=\"end\"{small}>{rank}</text>",
        left - 8
    );
}

fn draw_cell(
    svg: &mut String,
    matrix: &Matrix,
    (row, column): (usize, usize),
    (x, y): (usize, usize),
    size: usize,
) {
    let count = matrix.cell(row, column);
    let (from, to) = (matrix.ranks[row], matrix.ranks[column]);
    let share = count as f64 / matrix.largest() as f64;
    let fill = match count {
        0 => "#fafafa".to_string(),
        _ if from == to => "url(#kept)".to_string(),
        _ => shade(share),
    };
    let title = if from == to {
        format!("rank {from} keeps {}", bytes_in_words(count))
    } else {
        format!("rank {from} sends {} to rank {to}", bytes_in_words(count))
    };
    let _ = write!(
        svg,
        "<rect x=\"{x}\" y=\"{y}\" width=\"{size}\" height=\"{size}\" fill=\"{fill}\" \
         stroke=\"#ffffff\"><title>{title}</title></rect>"
    );
    if count > 0 && matrix.ranks.len() <= WIDEST_WITH_NUMBERS {
        let ink = if share > 0.55 && from != to { "#ffffff" } else { "#111111" };
        let (x, y) = (x + size / 2, y + size / 2 + 4);
        let _ = write!(
            svg,
            "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" fill=\"{ink}\">{}</text>",
            bytes_in_words(count)
        );
    }
    svg.push('\n');
}

fn draw_footer(svg: &mut String, matrix: &Matrix, left: usize, y: usize) {
    let note = matrix.note().map(|note| format!("; {note}")).unwrap_or_default();
    let _ = writeln!(
        svg,
        "<rect x=\"{left}\" y=\"{}\" width=\"14\" height=\"14\" fill=\"url(#kept)\"/>\
         <text x=\"{}\" y=\"{y}\" fill=\"#555555\">stays on its rank{note}</text>",
        y - 12,
        left + 20
    );
}

/// From light to dark blue.
fn shade(share: f64) -> String {
    let mix = |light: f64, dark: f64| (light + (dark - light) * share.clamp(0.0, 1.0)) as u8;
    format!("#{:02x}{:02x}{:02x}", mix(222.0, 8.0), mix(235.0, 64.0), mix(247.0, 129.0))
}
