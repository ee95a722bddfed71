//! Where the programs of ranks differ.
//!
//! The ranks compare one number for all of a segment's work. Only where these differ is more
//! exchanged: a number for each operation, then what the first that differs is on every rank, and
//! from which of the user's lines it came.

use std::hash::{Hash, Hasher};

use partita_kernel::Scalar;
use rustc_hash::FxHasher;

use super::super::kept::Structure;
use super::super::node::{Action, BaseFacts, Node, Operand, Place};
use super::super::segment::{Filled, Segment};
use super::super::window::{Walk, Window};
use super::run::{CALL, Ranks};
use super::spread::Spread;
use crate::api::Number;
use crate::error::{LocalError, Result};

impl Ranks {
    /// Why the ranks do not agree. `segment` has the numbers of the work, `line_of` says where a
    /// node, or its kind, was recorded, if that is known, and `here` where this rank is now.
    pub(super) fn difference(
        &self,
        structure: (&Structure, &[u64]),
        segment: &Segment,
        line_of: impl Fn(usize, u64) -> Option<String>,
        here: impl Fn() -> String,
    ) -> LocalError {
        self.compared(structure, segment, line_of, here).unwrap_or_else(|error| error)
    }

    fn compared(
        &self,
        (structure, serials): (&Structure, &[u64]),
        segment: &Segment,
        line_of: impl Fn(usize, u64) -> Option<String>,
        here: impl Fn() -> String,
    ) -> Result<LocalError> {
        let numbers = &segment.work.numbers;
        let keys = keys(structure, serials).into_iter().flat_map(u64::to_le_bytes).collect();
        let all = self.team.allgather(CALL, keys)?;
        let rank = all.iter().position(|other| *other != all[0]).unwrap_or(0);
        let pairs = all[0].chunks(8).zip(all[rank].chunks(8));
        let at = pairs.take_while(|(first, other)| first == other).count();
        // What it looks like without its numbers, which may differ.
        let own = match structure.nodes.get(at) {
            Some(node) => [
                in_words(node, &structure.bases, &[]),
                format!("computes {}", in_words(node, &structure.bases, numbers)),
                which_arrays(node, (&structure.bases, serials), segment.filled(at)),
                with_source(line_of(at, node.mark).unwrap_or_else(&here)),
            ],
            None => [
                String::new(),
                nothing_more(structure, numbers, at),
                String::new(),
                with_source(here()),
            ],
        };
        let all = self.team.allgather(CALL, own.join("\n").into_bytes())?;
        let told = |rank: usize| {
            let words = String::from_utf8_lossy(&all[rank]).into_owned();
            let mut parts = words.split('\n').map(str::to_string);
            [(); 4].map(|()| parts.next().unwrap_or_default())
        };
        let (first, other) = (told(0), told(rank));
        let looks_alike = first[0] == other[0];
        let sentence = |[_, does, which, line]: [String; 4]| match looks_alike {
            true => format!("{does} ({which}) at {line}"),
            false => format!("{does} at {line}"),
        };
        let (first, other) = (sentence(first), sentence(other));
        Ok(LocalError::ProgramsDiffer { at: at + 1, first, rank, other })
    }
}

/// What a rank does that has no further operation.
fn nothing_more(structure: &Structure, numbers: &[Scalar], at: usize) -> String {
    let last = structure.nodes.last().map(|node| in_words(node, &structure.bases, numbers));
    let last = last.map_or_else(String::new, |words| format!(" (its last computes {words})"));
    format!("has no operation {}{last}", at + 1)
}

/// A line of the user's with what stands there, if its file can be read.
fn with_source(line: String) -> String {
    let source = || {
        let (file, number) = line.rsplit_once(", line ")?;
        let text = std::fs::read_to_string(file).ok()?;
        let words = text.lines().nth(number.parse::<usize>().ok()?.checked_sub(1)?)?.trim();
        (!words.is_empty()).then(|| words.to_string())
    };
    match source() {
        Some(words) => format!("{line} (`{words}`)"),
        None => line,
    }
}

/// A number for each operation: what it is, and what is known of bases that it is the first to
/// touch, and which they are.
fn keys(structure: &Structure, serials: &[u64]) -> Vec<u64> {
    let mut is_known = vec![false; structure.bases.len()];
    let mut key = |node: &Node| {
        let mut hasher = FxHasher::default();
        node.hash(&mut hasher);
        for base in node.places().chain([&node.target]).map(|place| place.base) {
            if !std::mem::replace(&mut is_known[base], true) {
                (&structure.bases[base], serials[base]).hash(&mut hasher);
            }
        }
        hasher.finish()
    };
    structure.nodes.iter().map(&mut key).collect()
}

fn in_words(node: &Node, bases: &[BaseFacts], numbers: &[Scalar]) -> String {
    let name = match node.action {
        Action::Copy => "a write".to_string(),
        Action::Cast => "a cast".to_string(),
        Action::Apply(op) => snake_case(&format!("{op:?}")),
        Action::Index(axis) => format!("positions along axis {axis}"),
        Action::Reduce(how, axes) => {
            let axes: Vec<usize> = (0..16).filter(|axis| axes >> axis & 1 == 1).collect();
            format!("{} over axes {axes:?}", snake_case(&format!("{how:?}")))
        }
        Action::RunningSum(axis) => format!("running sums along axis {axis}"),
        Action::RunningProduct(axis) => format!("running products along axis {axis}"),
    };
    let operand = |operand: &Operand| match operand {
        Operand::Array(place) => place_in_words(place, bases),
        Operand::Number(at, dtype) => number_in_words(node, numbers.get(*at), &dtype.to_string()),
    };
    let operands: Vec<String> = node.operands.iter().map(operand).collect();
    let of =
        if operands.is_empty() { String::new() } else { format!(" of {}", operands.join(", ")) };
    format!("{name}{of} into {}", place_in_words(&node.target, bases))
}

/// A number that an operation reads. Arrays filled with one are recorded as that number: what is
/// reduced was such an array, elsewhere it may have been either.
fn number_in_words(node: &Node, number: Option<&Scalar>, dtype: &str) -> String {
    let number = number.map_or_else(String::new, |one| Number::from_scalar(*one).to_string());
    match node.is_pointwise() {
        true => format!("{number} everywhere ({dtype})"),
        false => format!("{dtype} {} filled with {number}", tuple(node.space())),
    }
}

fn place_in_words(place: &Place, bases: &[BaseFacts]) -> String {
    let BaseFacts { dtype, shape, spread, .. } = &bases[place.base];
    let part = part(&place.window, shape);
    let spread = spread
        .as_ref()
        .map_or_else(String::new, |spread| format!(" ({})", notation(spread, shape.len())));
    format!("{dtype} {}{part}{spread}", tuple(shape))
}

/// Which part of its base a window is, as Python writes slices, and how its axes lie.
fn part(window: &Window, shape: &[usize]) -> String {
    if window.is_all_of(shape) {
        return String::new();
    }
    let (own, strides, offset) = (&window.shape, &window.strides, window.offset);
    let Some((walks, along)) = window.walked(shape) else {
        return format!(" seen as {} from element {offset} by steps of {strides:?}", tuple(own));
    };
    let slice = |walk: &Walk| match (walk.count, walk.step) {
        (1, _) => walk.start.to_string(),
        (n, 1) => format!("{}:{}", walk.start, walk.start + n),
        (n, step) => format!("{} entries from {} by {step}", n, walk.start),
    };
    let slices: Vec<String> = walks.iter().map(slice).collect();
    let mut words = format!("[{}]", slices.join(", "));
    let order: Vec<usize> = along.iter().flatten().copied().collect();
    if !order.is_sorted() {
        words += &format!(" with axes in the order {order:?}");
    }
    let repeats = own.iter().zip(&along).any(|(size, dim)| *size > 1 && dim.is_none());
    if repeats || own.len() != shape.len() {
        words += &format!(" as {}", tuple(own));
    }
    words
}

/// Where elements are, in the words of layouts.
pub(super) fn notation(spread: &Spread, ndim: usize) -> String {
    let Spread::Boxes { owned, .. } = spread else { return "all on every rank".to_string() };
    let map = |dim: usize| {
        let mut sides: Vec<(u64, u64)> =
            owned.iter().map(|own| (own.start[dim], own.shape[dim])).collect();
        sides.sort_unstable();
        sides.dedup();
        let sizes: Vec<String> = sides.iter().map(|(_, size)| size.to_string()).collect();
        if sizes.len() == 1 { "*".to_string() } else { format!("block({})", sizes.join(",")) }
    };
    (0..ndim).map(map).collect::<Vec<_>>().join(", ")
}

/// Which arrays these are, in the order of their first use: told where all else looks alike.
fn which_arrays<'a>(
    node: &Node,
    (bases, serials): (&[BaseFacts], &[u64]),
    filled: impl Iterator<Item = &'a Filled>,
) -> String {
    let named = |place: &Place| {
        let facts = &bases[place.base];
        let mut words = format!("array {}", place.base + 1);
        if serials[place.base] > 0 {
            words += &format!(", number {} of all", serials[place.base]);
        }
        for (is_so, what) in [
            (facts.has_storage, ", computed before"),
            (facts.is_fresh, ", with what is beside it"),
            (facts.is_from_nothing, ", made from nothing"),
        ] {
            words += if is_so { what } else { "" };
        }
        words
    };
    let filled = filled.map(|Filled { window, shape }| {
        format!("{}{} that has one number everywhere", tuple(shape), part(window, shape))
    });
    let read: Vec<String> = node.places().map(named).chain(filled).collect();
    let of = if read.is_empty() { String::new() } else { format!("{} ", read.join(" and ")) };
    format!("{of}into {}", named(&node.target))
}

fn tuple(shape: &[usize]) -> String {
    let sizes: Vec<String> = shape.iter().map(usize::to_string).collect();
    format!("({}{})", sizes.join(", "), if sizes.len() == 1 { "," } else { "" })
}

fn snake_case(name: &str) -> String {
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push('_');
        }
        words.extend(letter.to_lowercase());
    }
    words
}
