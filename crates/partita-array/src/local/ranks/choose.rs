//! Where bases go that are nowhere yet.
//!
//! Temporaries of one expression form a family: bases of one shape that are computed from each
//! other point by point. A family is put where the data it meets are: for every place that one of
//! them suggests, what would have to travel is counted, and the cheapest wins. So a chain of
//! operations that ends in `u[1:-1] = ...` is computed where `u` is, and `a[1:] + b` where the
//! larger part lies already. Parts that are put together suggest places for the whole, too.
//!
//! What every rank has (an array of NumPy's) travels nowhere and decides only where all else is
//! numbers: what was made from nothing goes where it would go alone.

use std::rc::Rc;

use partita_layout::IndexBox;
use rustc_hash::FxHashMap;

use super::super::node::{Action, BaseFacts, Node, Operand, Place};
use super::product::{Product, everything, n_shared, nothing};
use super::spread::Spread;

/// What is computed now and would have to travel at once stops everything: it costs more.
const FRESH_WEIGHT: f64 = 8.0;
/// Reductions with fewer results are given to every rank.
const WHOLE_UP_TO: usize = 1 << 14;
/// Suggestions that are compared.
const MOST_SUGGESTIONS: usize = 8;

/// Data that a family meets: which points each rank has.
struct Meeting {
    boxes: Vec<IndexBox>,
    /// The points that it is met at, if not all.
    region: Option<IndexBox>,
    weight: f64,
    /// The place that it suggests for the family.
    suggests: Option<Vec<IndexBox>>,
}

impl Meeting {
    /// How many elements would travel to a family that is divided so.
    fn n_travelling(&self, boxes: &[IndexBox]) -> u64 {
        let n_met = |one: &IndexBox| match &self.region {
            Some(region) => n_shared(one, region),
            None => one.n_elements(),
        };
        let pairs = boxes.iter().zip(&self.boxes);
        pairs.map(|(one, has)| n_met(one) - n_shared(one, has)).sum()
    }
}

/// What is known of a family's surroundings.
#[derive(Default)]
struct Surroundings {
    meetings: Vec<Meeting>,
    /// Operands that every rank has.
    meets_whole: bool,
    /// Results of ranks that are put together.
    is_combined: bool,
    /// Members that were made from nothing.
    is_from_nothing: bool,
}

/// Finds a place for every base.
pub(super) fn choose(
    nodes: &[Node],
    bases: &[BaseFacts],
    needed: &[bool],
    n_ranks: u64,
) -> Vec<Rc<Spread>> {
    let mut choice = Choice::new(nodes, bases, needed, n_ranks);
    for (at, node) in nodes.iter().enumerate().filter(|(at, _)| needed[*at]) {
        let base = node.target.base;
        if choice.spreads[base].is_none() {
            choice.place_family(base);
        }
        debug_assert!(choice.spreads[base].is_some(), "node {at}");
    }
    let shapes = bases.iter().map(|base| &base.shape);
    let found = choice.spreads.into_iter().zip(shapes);
    found.map(|(one, shape)| one.unwrap_or_else(|| Spread::of_new(shape, n_ranks))).collect()
}

struct Choice<'a> {
    nodes: &'a [Node],
    bases: &'a [BaseFacts],
    n_ranks: u64,
    spreads: Vec<Option<Rc<Spread>>>,
    families: Vec<usize>,
    members: FxHashMap<usize, Vec<usize>>,
    /// Nodes that write or read members of a family.
    touching: FxHashMap<usize, Vec<usize>>,
    is_written: Vec<bool>,
}

impl<'a> Choice<'a> {
    fn new(nodes: &'a [Node], bases: &'a [BaseFacts], needed: &[bool], n_ranks: u64) -> Self {
        let spreads: Vec<Option<Rc<Spread>>> = bases.iter().map(|b| b.spread.clone()).collect();
        let mut families: Vec<usize> = (0..bases.len()).collect();
        let mut is_written = vec![false; bases.len()];
        let of_need = || nodes.iter().enumerate().filter(|(at, _)| needed[*at]);
        let is_open = |place: &Place| spreads[place.base].is_none() && is_all(place, bases);
        for (_, node) in of_need() {
            is_written[node.target.base] = true;
            if node.is_pointwise() && is_open(&node.target) {
                for place in node.places().filter(|place| is_open(place)) {
                    join(&mut families, node.target.base, place.base);
                }
            }
        }
        let mut members: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for base in 0..bases.len() {
            members.entry(head(&mut families, base)).or_default().push(base);
        }
        let mut touching: FxHashMap<usize, Vec<usize>> = FxHashMap::default();
        for (at, node) in of_need() {
            let mut touched: Vec<usize> = node.places().map(|place| place.base).collect();
            touched.push(node.target.base);
            touched.iter_mut().for_each(|base| *base = head(&mut families, *base));
            touched.sort_unstable();
            touched.dedup();
            touched.into_iter().for_each(|one| touching.entry(one).or_default().push(at));
        }
        Self { nodes, bases, n_ranks, spreads, families, members, touching, is_written }
    }

    fn place_family(&mut self, base: usize) {
        let family = head(&mut self.families, base);
        let shape = self.bases[base].shape.clone();
        let surroundings = self.surroundings(family);
        let chosen = self.chosen(&shape, &surroundings);
        for member in self.members[&family].clone() {
            self.spreads[member].get_or_insert_with(|| Rc::clone(&chosen));
        }
    }

    fn surroundings(&mut self, family: usize) -> Surroundings {
        let mut found = Surroundings::default();
        let members = &self.members[&family];
        found.is_from_nothing = members.iter().any(|base| self.bases[*base].is_from_nothing);
        for at in self.touching.get(&family).cloned().unwrap_or_default() {
            let node = &self.nodes[at];
            if node.space().contains(&0) {
                continue;
            }
            let makes = head(&mut self.families, node.target.base) == family;
            match node.action {
                Action::Reduce(_, axes) if makes => self.meet_reduced(node, axes, &mut found),
                Action::Reduce(..) => {}
                _ if makes && is_all(&node.target, self.bases) => {
                    found.is_from_nothing |= node.places().next().is_none();
                    node.places().for_each(|place| self.meet(place, &mut found));
                }
                _ if makes => {
                    let parts = node.places().filter_map(|place| self.meeting_part(place, node));
                    found.meetings.extend(parts);
                }
                _ => {
                    let reads_all = node.places().any(|place| {
                        head(&mut self.families, place.base) == family && is_all(place, self.bases)
                    });
                    if reads_all && node.is_pointwise() {
                        // What the family is written into.
                        found.meetings.extend(self.meeting(&node.target));
                    }
                }
            }
        }
        found
    }

    /// An operand that is somewhere already.
    fn meet(&self, place: &Place, found: &mut Surroundings) {
        match self.spreads[place.base].as_deref() {
            None => {}
            // What is repeated is small beside what it becomes.
            Some(Spread::Whole) => found.meets_whole |= place.window.n_repeats() <= 1,
            Some(Spread::Boxes { .. }) => found.meetings.extend(self.meeting(place)),
        }
    }

    fn meeting(&self, place: &Place) -> Option<Meeting> {
        let Some(Spread::Boxes { owned, .. }) = self.spreads[place.base].as_deref() else {
            return None;
        };
        let product = Product::of(&place.window, &self.bases[place.base].shape)?;
        let none = nothing(place.window.shape.len());
        let points = owned.iter().map(|own| product.points_in(own));
        let boxes = points.map(|points| points.unwrap_or_else(|| none.clone())).collect();
        let n_repeats = place.window.n_repeats();
        let share = 1.0 / n_repeats.max(1) as f64;
        let fresh = if self.is_written[place.base] { FRESH_WEIGHT } else { 1.0 };
        // What is repeated often is small, and says little.
        let says = n_repeats as u64 <= self.n_ranks;
        let boxes: Vec<IndexBox> = boxes;
        let suggests = says.then(|| boxes.clone());
        Some(Meeting { boxes, region: None, weight: share * fresh, suggests })
    }

    /// An operand that becomes a part of what is made, as arrays that are stacked do: dimensions
    /// that the part has in full may be cut as it is.
    fn meeting_part(&self, place: &Place, node: &Node) -> Option<Meeting> {
        let met = self.meeting(place).filter(|_| place.window.n_repeats() <= 1)?;
        let shape = &self.bases[node.target.base].shape;
        let target = Product::of(&node.target.window, shape)?;
        let region = target.reached(&everything(node.space()));
        if region.n_elements() != node.target.window.n_elements() as u64 {
            return None;
        }
        let none = nothing(shape.len());
        let lies = |points: &IndexBox| match points.n_elements() {
            0 => none.clone(),
            _ => target.reached(points),
        };
        let boxes: Vec<IndexBox> = met.boxes.iter().map(lies).collect();
        let in_part: Vec<usize> =
            (0..shape.len()).filter(|dim| region.shape[*dim] != shape[*dim] as u64).collect();
        let widened = |part: &IndexBox| {
            let mut part = part.clone();
            if part.n_elements() > 0 {
                for dim in &in_part {
                    (part.start[*dim], part.shape[*dim]) = (0, shape[*dim] as u64);
                }
            }
            part
        };
        let suggests = Some(boxes.iter().map(widened).collect());
        Some(Meeting { boxes, region: Some(region), weight: met.weight, suggests })
    }

    /// The operand of a reduction: where each rank has all that is combined, the result stays.
    fn meet_reduced(&self, node: &Node, axes: u16, found: &mut Surroundings) {
        let Some(Operand::Array(place)) = node.operands.first() else { return };
        match self.spreads[place.base].as_deref() {
            None => return,
            Some(Spread::Whole) => {
                found.meets_whole = true;
                return;
            }
            Some(Spread::Boxes { .. }) => {}
        }
        let Some(mut meeting) = self.meeting(place) else {
            found.is_combined = true;
            return;
        };
        for part in meeting.boxes.iter_mut().filter(|part| part.n_elements() > 0) {
            for axis in (0..part.start.len()).filter(|axis| axes >> axis & 1 == 1) {
                if part.shape[axis] != node.space()[axis] as u64 {
                    found.is_combined = true;
                    return;
                }
                (part.start[axis], part.shape[axis]) = (0, 1);
            }
        }
        meeting.suggests = Some(meeting.boxes.clone());
        found.meetings.push(meeting);
    }

    fn chosen(&self, shape: &[usize], found: &Surroundings) -> Rc<Spread> {
        if shape.is_empty() {
            return Rc::new(Spread::Whole);
        }
        let n_elements: usize = shape.iter().product();
        if found.meetings.is_empty() {
            let is_small = found.is_combined && n_elements <= WHOLE_UP_TO;
            let stays_whole = found.meets_whole && !found.is_from_nothing && !found.is_combined;
            return match is_small || stays_whole {
                true => Rc::new(Spread::Whole),
                false => Spread::of_new(shape, self.n_ranks),
            };
        }
        let total = n_elements as u64;
        let mut suggestions: Vec<Vec<IndexBox>> = Vec::new();
        if let Spread::Boxes { owned, .. } = &*Spread::of_new(shape, self.n_ranks) {
            suggestions.push(owned.clone());
        }
        for boxes in found.meetings.iter().filter_map(|meeting| meeting.suggests.as_ref()) {
            let n_covered: u64 = boxes.iter().map(IndexBox::n_elements).sum();
            let is_new = !suggestions.contains(boxes);
            if n_covered == total && is_new && suggestions.len() < MOST_SUGGESTIONS {
                suggestions.push(boxes.clone());
            }
        }
        let cost = |boxes: &Vec<IndexBox>| -> f64 {
            let travels = |meeting: &Meeting| meeting.n_travelling(boxes) as f64 * meeting.weight;
            let most = boxes.iter().map(IndexBox::n_elements).max().unwrap_or(0);
            let idle = (most * self.n_ranks).saturating_sub(total);
            found.meetings.iter().map(travels).sum::<f64>() + idle as f64
        };
        let mut best = (f64::INFINITY, Vec::new());
        for boxes in suggestions {
            let cost = cost(&boxes);
            if cost < best.0 {
                best = (cost, boxes);
            }
        }
        match best.1.is_empty() {
            true => Rc::new(Spread::Whole),
            false => Spread::owned(best.1),
        }
    }
}

fn is_all(place: &Place, bases: &[BaseFacts]) -> bool {
    place.window.is_all_of(&bases[place.base].shape)
}

fn head(families: &mut [usize], base: usize) -> usize {
    let mut at = base;
    while families[at] != at {
        families[at] = families[families[at]];
        at = families[at];
    }
    at
}

fn join(families: &mut [usize], a: usize, b: usize) {
    let (a, b) = (head(families, a), head(families, b));
    families[a.max(b)] = a.min(b);
}
