//! Names: ranks, coordinates, shapes and boxes as short text.

use partita_layout::{AxisRole, Form, GridForm, Layout, Place, Ranks};

use super::cells::{first_rank, group_at, n_groups};

/// Replicas that are looked at to name them; a range of more is found by its ends.
const MOST_REPLICAS: u64 = 64;

/// Such as `8x8`; `()` for a scalar.
pub(super) fn shape(shape: &[u64]) -> String {
    let lengths: Vec<String> = shape.iter().map(u64::to_string).collect();
    if shape.is_empty() { "()".to_string() } else { lengths.join("x") }
}

/// `1 rank` or `4 ranks`.
pub(super) fn count(n: u128, word: &str) -> String {
    if n == 1 { format!("1 {word}") } else { format!("{n} {word}s") }
}

/// A letter if there are few groups, else the group's first rank.
pub(super) fn letter(layout: &Layout, group: u64) -> String {
    if has_letters(layout) {
        return char::from(b'A' + group as u8).to_string();
    }
    first_rank(layout, group).to_string()
}

/// Whether letters suffice for the groups.
pub(super) fn has_letters(layout: &Layout) -> bool {
    n_groups(layout) <= 26
}

/// Longest text that [`letter`] gives.
pub(super) fn letter_width(layout: &Layout) -> usize {
    if has_letters(layout) {
        return 1;
    }
    let largest = match layout.ranks() {
        Ranks::Range { first, count } => first + count - 1,
        Ranks::List { ranks, .. } => ranks.iter().copied().max().unwrap_or(0),
    };
    largest.to_string().len()
}

/// The ranks of a group: `3`, replicas as `0,2` or `0-3`, summands as `0+1`.
pub(super) fn ranks(layout: &Layout, group: u64) -> String {
    let Form::Grid(form) = layout.form() else { return first_rank(layout, group).to_string() };
    let n_replicas = form.grid().n_replicas();
    if form.grid().n_summands() == 1 {
        return replicas(form, &group_at(form, group), n_replicas);
    }
    let sums: Vec<String> =
        (0..n_replicas.min(2)).map(|replica| summands(form, group, replica)).collect();
    sums.join(", ") + if n_replicas > 2 { ", …" } else { "" }
}

fn rank_of(form: &GridForm, at: &Place, replica: u64, summand: u64) -> u64 {
    let at = Place { coordinates: at.coordinates.clone(), replica, summand };
    form.ranks().rank_at(form.grid().place_of(&at))
}

fn summands(form: &GridForm, group: u64, replica: u64) -> String {
    let at = group_at(form, group);
    let n_summands = form.grid().n_summands();
    let rank = |summand| rank_of(form, &at, replica, summand).to_string();
    if n_summands <= 4 {
        return (0..n_summands).map(rank).collect::<Vec<_>>().join("+");
    }
    format!("{}+{}+…+{}", rank(0), rank(1), rank(n_summands - 1))
}

fn replicas(form: &GridForm, at: &Place, n_replicas: u64) -> String {
    let rank = |replica| rank_of(form, at, replica, 0);
    let (first, last) = (rank(0), rank(n_replicas - 1));
    // Places of replicas increase, so the ends tell a range where ranks follow places.
    let is_range = matches!(form.ranks(), Ranks::Range { .. }) && last - first == n_replicas - 1;
    if is_range && n_replicas > MOST_REPLICAS {
        return format!("{first}-{last}");
    }
    let listed: Vec<u64> = (0..n_replicas.min(MOST_REPLICAS)).map(rank).collect();
    let runs = runs(&listed);
    let shown = runs[..runs.len().min(3)].join(",");
    if runs.len() > 3 || n_replicas > MOST_REPLICAS { shown + ",…" } else { shown }
}

/// Numbers with three and more neighbours written as `0-3`.
fn runs(numbers: &[u64]) -> Vec<String> {
    let mut runs = Vec::new();
    let mut rest = numbers;
    while let Some(&first) = rest.first() {
        let length = rest.iter().zip(first..).take_while(|(a, b)| **a == *b).count();
        match length {
            1 | 2 => runs.push(first.to_string()),
            _ => runs.push(format!("{first}-{}", rest[length - 1])),
        }
        rest = &rest[if length == 2 { 1 } else { length }..];
    }
    runs
}

/// `rank 3` or `ranks 0,2`.
pub(super) fn ranks_in_words(layout: &Layout, group: u64) -> String {
    let ranks = ranks(layout, group);
    let is_one = ranks.bytes().all(|byte| byte.is_ascii_digit());
    if is_one { format!("rank {ranks}") } else { format!("ranks {ranks}") }
}

/// ` at (0, 0-1)`: place on the grid, whole axes of replicas as `0-1`, of summands as `0+1`.
pub(super) fn place(layout: &Layout, group: u64) -> String {
    let Form::Grid(form) = layout.form() else { return String::new() };
    if form.grid().shape().is_empty() {
        return String::new();
    }
    let at = group_at(form, group);
    let axes = form.grid().shape().iter().zip(form.grid().roles());
    let axes: Vec<String> = axes.map(|(length, role)| axis(&at, *length, *role)).collect();
    format!(" at ({})", axes.join(", "))
}

fn axis(at: &Place, length: u64, role: AxisRole) -> String {
    match role {
        AxisRole::Dim(dim) => at.coordinates[dim].to_string(),
        _ if length == 1 => "0".to_string(),
        AxisRole::Replicated => format!("0-{}", length - 1),
        AxisRole::Partial if length == 2 => "0+1".to_string(),
        AxisRole::Partial => format!("0+…+{}", length - 1),
    }
}

/// Shapes of a group's local buffers: `4x4`, or `4x4, 2x2, …` of boxes.
pub(super) fn local_shapes(layout: &Layout, group: u64) -> String {
    const MOST: usize = 3;
    let buffers = layout.local_shapes(first_rank(layout, group));
    let mut shapes: Vec<String> = buffers.take(MOST + 1).map(|buffer| shape(&buffer)).collect();
    match shapes.len() {
        0 => return "none".to_string(),
        n if n > MOST => shapes[MOST] = "…".to_string(),
        _ => {}
    }
    shapes.join(", ")
}

/// At most `most` characters, the end cut off with `…`.
pub(super) fn clip(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_string();
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}
