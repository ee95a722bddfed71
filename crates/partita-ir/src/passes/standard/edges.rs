//! Edges: what an array lacks in its owned part, put together in buffers of their own.

use super::Lowering;
use super::elementwise::Edge;
use super::parts::{Parts, Window};
use crate::builder::Entry;
use crate::kind::OpKind;
use crate::module::{Op, Value};
use crate::passes::boxes::BoxOf;
use crate::types::Scalar;

impl Lowering<'_> {
    /// The buffer that an edge looks at: what all views of the array with this target need there.
    pub(super) fn edge(
        &mut self,
        view: Op,
        source: Value,
        from: &Parts,
        (number, target, region): (usize, &BoxOf, &BoxOf),
    ) -> Edge {
        let targets: Vec<Value> =
            [&target.offsets[..], &target.sizes, &region.offsets, &region.sizes].concat();
        let key = (source, number, targets.clone(), None);
        if let Some(edge) = self.edges.get(&key)
            && edge.views.contains(&view)
            && self.emit.module.dominates(edge.buffer, self.emit.place())
        {
            return edge.clone();
        }
        let views = self.views_alike(source, target, view);
        let shifted = self.shifted_box(target, region);
        let mut around: Option<BoxOf> = None;
        for other in &views {
            if let Some(slices) = self.emit.module.slices(*other) {
                around = Some(self.emit.bounding_box(&slices, &shifted, around.as_ref()));
            }
        }
        let at = around.unwrap_or(shifted);
        let buffer = self.assembled(from, &at, self.element(from.own()));
        let edge = Edge { buffer, at, views };
        self.edges.insert(key, edge.clone());
        edge
    }

    /// Views of an array with the same target whose slices are known here.
    fn views_alike(&self, source: Value, target: &BoxOf, view: Op) -> Vec<Op> {
        let module = &*self.emit.module;
        let place = self.emit.place();
        let mut views: Vec<Op> = module
            .users(source)
            .into_iter()
            .filter(|op| {
                let alike = module.kind(*op) == OpKind::DistSubview
                    && module.operand_group(*op, 4) == target.offsets
                    && module.operand_group(*op, 5) == target.sizes;
                alike && module.operands(*op).iter().all(|value| module.dominates(*value, place))
            })
            .collect();
        if !views.contains(&view) {
            views = vec![view];
        }
        views
    }

    /// A box of an array, put together of its parts in a buffer of its own.
    pub(super) fn assembled(&mut self, parts: &Parts, at: &BoxOf, element: Scalar) -> Value {
        let ty = self.local(&at.sizes, element);
        let buffer = self.emit.build().create(&at.sizes, None, ty);
        let stops = self.ends(at);
        for (part, stretches) in parts.parts.iter().zip(parts.stretches()) {
            let (mut from, mut to) = (Window::default(), Window::default());
            for (dim, stretch) in stretches.iter().enumerate() {
                let marks = parts.bounds[dim];
                let (start, stop) = (marks[*stretch], marks[*stretch + 1]);
                let low = self.emit.max(start, at.offsets[dim]);
                let end = self.emit.min(stop, stops[dim]);
                let high = self.emit.max(low, end);
                let size = self.emit.sub(high, low);
                let offset = self.within(low, start, stop);
                from.push(offset, size, Entry::Known(1));
                let offset = self.within(low, at.offsets[dim], stops[dim]);
                to.push(offset, size, Entry::Known(1));
            }
            if from.sizes.iter().any(|size| self.emit.known(*size) == Some(0)) {
                continue;
            }
            let piece = self.window(*part, &from, element);
            let slices = to.slices(&self.emit);
            self.emit.build().insert_slice(buffer, piece, &slices);
        }
        buffer
    }

    /// All that a rank holds of an array as one part.
    pub(super) fn collected(&mut self, parts: &Parts) -> Parts {
        let element = self.element(parts.own());
        let marks: Vec<(Value, Value)> = parts.bounds.iter().map(|m| (m[0], m[3])).collect();
        let sizes = marks.iter().map(|(start, stop)| self.emit.sub(*stop, *start)).collect();
        let at = BoxOf { offsets: parts.offsets(), sizes };
        let buffer = self.assembled(parts, &at, element);
        let stops: Vec<Value> = marks.iter().map(|(_, stop)| *stop).collect();
        Parts::owned_alone(&at.offsets, &stops, buffer, &parts.cut)
    }
}
