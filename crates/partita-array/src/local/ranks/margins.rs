//! How much of its neighbours' elements a rank holds around its own.

use std::rc::Rc;

use partita_layout::IndexBox;

use super::super::node::{Action, BaseFacts, Node};
use super::divide::{Points, needs};
use super::product::{Product, hull, lies_in};
use super::spread::Spread;

/// Margins of so many elements are held, however small the part is.
const MARGIN_ELEMENTS: u64 = 1024;

/// The bases that need wider margins than they have, with these.
pub(super) fn margins(
    nodes: &[Node],
    bases: &[BaseFacts],
    needed: &[bool],
    spreads: &[Rc<Spread>],
) -> Vec<(usize, Rc<Spread>)> {
    let mut wanted: Vec<Option<Vec<IndexBox>>> = vec![None; bases.len()];
    for (_, node) in nodes.iter().enumerate().filter(|(at, _)| needed[*at]) {
        if node.space().contains(&0) || matches!(node.action, Action::Reduce(..)) {
            continue;
        }
        let Some(points) = points_of(node, bases, spreads) else { continue };
        for place in node.places() {
            let Spread::Boxes { owned, held } = &*spreads[place.base] else { continue };
            if Product::of(&place.window, &bases[place.base].shape).is_none() {
                continue;
            }
            let needs = needs(place, &bases[place.base].shape, &points);
            if spreads[place.base].has(&needs) || bases[place.base].is_shared {
                continue;
            }
            let is_near = owned.iter().zip(&needs).all(|(own, need)| {
                let n_own = own.n_elements();
                hull(own, need).n_elements() - n_own <= (n_own / 4).max(MARGIN_ELEMENTS)
            });
            if is_near {
                let held = wanted[place.base].get_or_insert_with(|| held.clone());
                for (held, need) in held.iter_mut().zip(&needs) {
                    *held = hull(held, need);
                }
            }
        }
    }
    let mut wider = Vec::new();
    for (base, wanted) in wanted.into_iter().enumerate() {
        let (Some(wanted), Spread::Boxes { owned, held }) = (wanted, &*spreads[base]) else {
            continue;
        };
        if !wanted.iter().zip(held).all(|(wanted, held)| lies_in(wanted, held)) {
            let spread = Spread::Boxes { owned: owned.clone(), held: wanted };
            wider.push((base, Rc::new(spread)));
        }
    }
    wider
}

fn points_of(node: &Node, bases: &[BaseFacts], spreads: &[Rc<Spread>]) -> Option<Points> {
    let base = node.target.base;
    let Spread::Boxes { owned, .. } = &*spreads[base] else { return None };
    let product = Product::of(&node.target.window, &bases[base].shape)?;
    Some(owned.iter().map(|own| product.points_in(own)).collect())
}
