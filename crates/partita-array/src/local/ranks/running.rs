//! Running sums and products along an axis that ranks have in parts.

use std::rc::Rc;

use partita_kernel::{Op, Reduction};
use partita_layout::IndexBox;
use smallvec::smallvec;

use super::super::node::{Action, Node, Operand, Place};
use super::super::window::{Dims, Window};
use super::divide::Dividing;
use super::product::nothing;
use super::shares::{Shares, combined_into, sizes};
use super::spread::Spread;
use crate::error::{LocalError, Result};

impl Dividing {
    /// Running sums and products: each rank's own, then what came before it.
    pub(super) fn running(&mut self, node: &Node, axis: usize) -> Result<()> {
        let Some(points) = self.points_of(&node.target) else {
            return Err(LocalError::Unplanned { problem: "results that are no boxes".into() });
        };
        let n_all = node.space()[axis] as u64;
        let is_cut = points.iter().flatten().any(|part| part.shape[axis] != n_all);
        let shares = Shares::new(&points, |one| one == axis);
        let (true, Some(shares)) = (is_cut, shares) else {
            return self.at_points(node, &points);
        };
        self.at_points(node, &points)?;
        let (how, op) = match node.action {
            Action::RunningSum(_) => (Reduction::Sum, Op::Add),
            _ => (Reduction::Product, Op::Multiply),
        };
        let mut shape: Dims<usize> = node.space().into();
        shape[axis] = shares.n_shares;
        let ndim = shape.len();
        let boxes = shares.boxes(ndim, Some(axis));
        let totals = self.add(node.dtype, &shape, Spread::owned(boxes));
        let Some(Operand::Array(place)) = node.operands.first() else { return Ok(()) };
        let operand = self.read(place, &points)?;
        let own = points[self.rank].clone().zip(shares.places[self.rank].clone());
        if let Some((part, (_, results))) = &own {
            let window = combined_into(&sizes(part), &sizes(results), 1 << axis);
            self.push(Node::derived(
                Action::Reduce(how, 1 << axis),
                node.dtype,
                smallvec![Operand::Array(operand)],
                Place { base: totals, window },
            ));
        } else {
            self.mark_written(totals);
        }
        let before = shares.places.iter().map(|place| match place {
            Some((at, results)) if *at > 0 => {
                let mut before = results.clone();
                (before.start[axis], before.shape[axis]) = (0, *at as u64);
                before
            }
            _ => nothing(ndim),
        });
        let before: Vec<IndexBox> = before.collect();
        let fetched = self.fetch(totals, before.clone())?;
        // All ranks take the same notes, also those that have nothing to add.
        self.mark_written(node.target.base);
        let Some((part, (_, results))) = own.filter(|(_, (at, _))| *at > 0) else {
            return Ok(());
        };
        let one = self.add(node.dtype, &sizes(&results), Rc::new(Spread::Whole));
        let earlier = sizes(&before[self.rank]);
        self.push(Node::derived(
            Action::Reduce(how, 1 << axis),
            node.dtype,
            smallvec![Operand::Array(Place { base: fetched, window: Window::dense(&earlier) })],
            Place { base: one, window: combined_into(&earlier, &sizes(&results), 1 << axis) },
        ));
        let held = self.held(node.target.base);
        let target = self.seen(&node.target, &part, &held);
        let offset = Window::dense(&sizes(&results)).broadcast(&sizes(&part));
        let offset = offset.unwrap_or_else(|| Window::dense(&sizes(&part)));
        self.push(Node::derived(
            Action::Apply(op),
            node.dtype,
            smallvec![
                Operand::Array(target.clone()),
                Operand::Array(Place { base: one, window: offset })
            ],
            target,
        ));
        Ok(())
    }
}
