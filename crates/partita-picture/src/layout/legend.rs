//! Legends: what the labels of a picture stand for, and the figures of a layout.

use partita_layout::{BlockRule, DimMap, Form, Layout, Map, Part};

use super::cells::{Scene, first_rank, n_groups};
use super::names;
use super::track::Track;

/// Most lines of a legend.
pub(super) const MOST_LINES: u64 = 12;

/// Shape, notation and number of ranks, in at most `most` characters.
pub(super) fn headline(layout: &Layout, separator: &str, most: usize) -> String {
    let shape = names::shape(layout.shape());
    let ranks = names::count(layout.n_ranks().into(), "rank");
    let taken = shape.len() + ranks.len() + 2 * separator.chars().count();
    let notation = names::clip(&layout.notation(), most.saturating_sub(taken).max(8));
    let parts = [shape, notation, ranks];
    let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join(separator)
}

/// What one group of ranks holds and owns.
pub(super) fn line(layout: &Layout, group: u64) -> String {
    let n_owned = layout.n_owned(first_rank(layout, group)).unwrap_or(0);
    format!(
        "{}{}  local {}  owns {n_owned}",
        names::ranks_in_words(layout, group),
        names::place(layout, group),
        names::local_shapes(layout, group),
    )
}

/// `… and 4 more ranks`, if a legend leaves groups out.
pub(super) fn more(layout: &Layout) -> Option<String> {
    let n_more = n_groups(layout).saturating_sub(MOST_LINES);
    let is_single = n_groups(layout) == layout.n_ranks();
    let word = if is_single { "rank" } else { "group" };
    let rest = if is_single { "" } else { " of ranks" };
    (n_more > 0).then(|| {
        let count = names::count(n_more.into(), word).replacen(' ', " more ", 1);
        format!("… and {count}{rest}")
    })
}

/// Why nothing is drawn of an array without elements.
pub(super) fn empty(layout: &Layout) -> String {
    let dim = layout.shape().iter().position(|extent| *extent == 0).unwrap_or(0);
    format!("empty: dimension {dim} has extent 0")
}

/// What replicas and summands look like, if the layout has any.
pub(super) fn about_ranks(layout: &Layout) -> Vec<&'static str> {
    let Form::Grid(form) = layout.form() else { return Vec::new() };
    let mut notes = Vec::new();
    if form.grid().n_replicas() > 1 {
        notes.push("ranks joined by , or - hold the same elements");
    }
    if form.grid().n_summands() > 1 {
        notes.push("ranks joined by + hold summands of the same elements");
    }
    notes
}

/// Whether elements are held twice because boxes or lists share them, not because of halos.
pub(super) fn has_shared(layout: &Layout) -> bool {
    let Form::Grid(form) = layout.form() else { return layout.holds_more() };
    let is_list = |dim: &&DimMap| matches!(dim.map(), Map::Unstructured(_));
    form.dims().iter().filter(is_list).any(DimMap::holds_more)
}

/// What the mark of a cell that is held twice says.
pub(super) fn about_halo(layout: &Layout) -> &'static str {
    if has_shared(layout) { "held by another rank too" } else { "in a halo too" }
}

/// What a picture leaves out.
pub(super) fn left_out(scene: &Scene) -> Vec<String> {
    let ndim = scene.layout.ndim();
    let tracks = [(2, &scene.rows), (1, &scene.columns)];
    let mut notes: Vec<String> = tracks
        .iter()
        .filter_map(|(from_last, track)| left_out_of(track, ndim.checked_sub(*from_last)?))
        .collect();
    let n_shown = scene.panels.shown.len();
    if scene.panels.n_panels > n_shown as u128 {
        notes.push(format!("{n_shown} of {} different slices shown", scene.panels.n_panels));
    }
    notes
}

fn left_out_of(track: &Track, dim: usize) -> Option<String> {
    let n_indices = track.gap?.n_indices;
    Some(format!("… stands for {n_indices} of {} indices of dimension {dim}", track.extent))
}

/// Fewest and most elements that any rank owns.
pub(super) fn owned_range(layout: &Layout) -> (u64, u64) {
    match layout.form() {
        Form::Grid(form) => {
            let ranges = form.dims().iter().map(owned_range_of);
            ranges.fold((1, 1), |(low, high), (l, h)| (low * l, high * h))
        }
        Form::Boxes(boxes) => {
            let ranks = boxes.ranks().iter();
            range(ranks.map(|rank| layout.n_owned(rank).unwrap_or(0)))
        }
    }
}

/// The rules put their largest and smallest blocks at the ends; only given sizes are looked at.
fn owned_range_of(dim: &DimMap) -> (u64, u64) {
    let n = dim.n_coordinates();
    let is_listed = match dim.map() {
        Map::Block(block) => matches!(block.rule, BlockRule::Sizes(_)),
        map => matches!(map, Map::Unstructured(_)),
    };
    let count = |coordinate| dim.count(coordinate, Part::Owned);
    if is_listed { range((0..n).map(count)) } else { range([0, n - 1].into_iter().map(count)) }
}

fn range(counts: impl Iterator<Item = u64>) -> (u64, u64) {
    let range = counts.fold(None, |range: Option<(u64, u64)>, count| {
        let (low, high) = range.unwrap_or((count, count));
        Some((low.min(count), high.max(count)))
    });
    range.unwrap_or((0, 0))
}
