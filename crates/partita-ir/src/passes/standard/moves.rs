//! Repartitions, writes, and the index operations that ask where an array is.

use super::Lowering;
use super::parts::{Parts, Window, stretch};
use crate::attr::Attr;
use crate::builder::{Entry, Slices};
use crate::kind::OpKind;
use crate::module::{Op, Value};
use crate::passes::boxes::BoxOf;
use crate::passes::failing::has_sizes_of_slice;
use crate::table::Traits;

impl Lowering<'_> {
    /// Fetch what is missing, look at what is there, wait.
    pub(super) fn repartition(&mut self, op: Op) -> Option<()> {
        let module = &*self.emit.module;
        let (source, result) = (module.operands(op)[0], module.result(op));
        let asked = BoxOf {
            offsets: module.operand_group(op, 1).to_vec(),
            sizes: module.operand_group(op, 2).to_vec(),
        };
        let env = self.env(result)?;
        if !self.has_global_shape(result) || !self.known.all_owned.contains(&source) {
            return None;
        }
        let from = self.parts_of(source).filter(Parts::is_alone)?;
        // Halos lie along the dimensions in which the array is cut.
        (from.cut == env.cut()).then_some(())?;
        let shape = self.emit.shape(source);
        let asked =
            if asked.offsets.is_empty() { self.emit.default_box(&env, &shape) } else { asked };
        let bounds = self.cut_box(&from, &asked, env.cut());
        let parts = self.fetch(op, &from, &shape, &asked, (&bounds, env.cut()));
        self.give(op, &Parts { bounds, parts, cut: env.cut().to_vec() });
        Some(())
    }

    /// Whether an array has dimensions, and its parts need not tell how large they are: boxes that
    /// were asked for may leave its end to nobody.
    fn has_global_shape(&self, array: Value) -> bool {
        let shape = self.emit.module.ty(array).shape().unwrap_or(&[]);
        !shape.is_empty() && shape.iter().all(|size| size.known().is_some())
    }

    /// A box cut at the borders of what is owned.
    fn cut_box(&mut self, from: &Parts, asked: &BoxOf, cut: &[usize]) -> Vec<[Value; 4]> {
        let stops = self.ends(asked);
        let mut bounds = Vec::with_capacity(stops.len());
        for (dim, stop) in stops.into_iter().enumerate() {
            let start = asked.offsets[dim];
            bounds.push(if cut.contains(&dim) {
                let [_, low, high, _] = from.bounds[dim];
                let low = self.emit.clamp(low, start, stop);
                let high = self.emit.clamp(high, start, stop);
                [start, low, high, stop]
            } else {
                [start, start, stop, stop]
            });
        }
        bounds
    }

    fn fetch(
        &mut self,
        op: Op,
        from: &Parts,
        shape: &[Value],
        asked: &BoxOf,
        (bounds, cut): (&[[Value; 4]], &[usize]),
    ) -> Vec<Value> {
        let element = self.element(from.own());
        let n_parts = 3_usize.pow(cut.len() as u32);
        let mut halos = Vec::new();
        for part in (0..n_parts).filter(|part| *part != n_parts / 2) {
            let sizes = self.sizes_of(bounds, &stretch(part, cut, bounds.len()));
            halos.push(self.local(&sizes, element));
        }
        let message = self.emit.module.attr(op, "message").cloned();
        let team = self.env(self.emit.module.result(op)).map(|env| env.team);
        let team = team.unwrap_or(Attr::i64(0));
        let groups = [shape, &from.own_offsets(), &asked.offsets, &asked.sizes];
        let (handle, mut parts) = self.emit.build().get_halo(team, from.own(), groups, &halos);
        if let Some(start) = self.emit.module.defining_op(handle) {
            let attrs = self.emit.module.attrs_mut(start);
            if let Some(message) = message {
                attrs.set("message", message);
            }
            if !cut.iter().copied().eq(0..cut.len()) {
                let dims: Vec<i64> = cut.iter().map(|dim| *dim as i64).collect();
                attrs.set("cut", Attr::i64s(&dims));
            }
        }
        let own = self.owned_window(from, bounds);
        self.emit.build().wait(handle);
        parts.insert(n_parts / 2, own);
        parts
    }

    fn sizes_of(&mut self, bounds: &[[Value; 4]], at: &[usize]) -> Vec<Value> {
        let pairs = bounds.iter().zip(at).map(|(marks, at)| (marks[*at], marks[*at + 1]));
        let pairs: Vec<(Value, Value)> = pairs.collect();
        pairs.into_iter().map(|(start, stop)| self.emit.sub(stop, start)).collect()
    }

    /// What is owned of a box.
    fn owned_window(&mut self, from: &Parts, bounds: &[[Value; 4]]) -> Value {
        let mut window = Window::default();
        for (marks, own) in bounds.iter().zip(&from.bounds) {
            let size = self.emit.sub(marks[2], marks[1]);
            let offset = self.within(marks[1], own[1], own[2]);
            window.push(offset, size, Entry::Known(1));
        }
        self.window(from.own(), &window, self.element(from.own()))
    }

    /// A write into what is owned of the destination.
    pub(super) fn insert_slice(&mut self, op: Op) -> Option<()> {
        let module = &*self.emit.module;
        let [destination, source] = [module.operands(op)[0], module.operands(op)[1]];
        module.attr(op, "placed")?;
        if !self.is_dist(destination) || !self.is_dist(source) {
            return None;
        }
        let slices = module.slices(op)?;
        let slices = self.emit.checked(destination, &slices);
        // Halos are copies, which a write must reach as well.
        let into = self.parts_of(destination).filter(Parts::is_alone)?;
        let owned = self.owned_box(&into);
        let target = self.emit.entries_in(&slices, &owned)?;
        let pieces = self.written_pieces(source, &target)?;
        for (piece, at) in pieces {
            self.write(&into, &slices, piece, &at);
        }
        self.emit.module.erase(op);
        None
    }

    /// What is written, with the entries of the slice it goes to; what is owned comes first,
    /// since it may look at the destination, and halos do not.
    fn written_pieces(&mut self, source: Value, target: &BoxOf) -> Option<Vec<(Value, BoxOf)>> {
        if self.emit.module.ty(source).shape() == Some(&[]) {
            let parts = self.parts_of(source)?;
            return Some(vec![(parts.own(), target.clone())]);
        }
        if let Some(tiled) = self.tiled.get(&source).cloned() {
            let regions = self.regions(&tiled.cuts);
            let mut found = Vec::with_capacity(regions.len());
            for (piece, region) in tiled.pieces.iter().zip(regions) {
                let offsets = self.shifted(&target.offsets, &region.offsets);
                found.push((*piece, BoxOf { offsets, sizes: region.sizes }));
            }
            return Some(found);
        }
        let parts = self.parts_of(source)?;
        let mut found = Vec::with_capacity(parts.parts.len());
        for (part, at) in parts.parts.iter().zip(parts.stretches()) {
            let starts = parts.bounds.iter().zip(&at).map(|(marks, at)| marks[*at]).collect();
            let sizes = self.sizes_of(&parts.bounds, &at);
            found.push((*part, BoxOf { offsets: starts, sizes }));
        }
        let middle = found.len() / 2;
        found.swap(0, middle);
        Some(found)
    }

    fn shifted(&mut self, a: &[Value], b: &[Value]) -> Vec<Value> {
        a.iter().zip(b).map(|(a, b)| self.emit.add(*a, *b)).collect()
    }

    fn write(&mut self, into: &Parts, slices: &Slices, piece: Value, at: &BoxOf) {
        let mut window = Window::default();
        for (dim, marks) in into.bounds.iter().enumerate() {
            let first = self.index_of(slices, dim, at.offsets[dim]);
            let offset = self.within(first, marks[1], marks[2]);
            window.push(offset, at.sizes[dim], slices.strides[dim]);
        }
        let slices = window.slices(&self.emit);
        self.emit.build().insert_slice(into.own(), piece, &slices);
    }

    pub(super) fn owned_box(&mut self, parts: &Parts) -> BoxOf {
        let sizes = parts.bounds.iter().map(|marks| (marks[1], marks[2])).collect::<Vec<_>>();
        let sizes = sizes.into_iter().map(|(start, stop)| self.emit.sub(stop, start)).collect();
        BoxOf { offsets: parts.own_offsets(), sizes }
    }

    /// Entries of a slice that are owned, in arithmetic.
    pub(super) fn local_target(&mut self, op: Op) -> Option<()> {
        let array = self.emit.module.operands(op)[0];
        let slices = self.slice_operands(op, 1);
        let slices = self.emit.checked(array, &slices);
        let parts = self.parts_of(array)?;
        let owned = self.owned_box(&parts);
        let found = self.emit.entries_in(&slices, &owned)?;
        self.answer(op, &found);
        Some(())
    }

    /// Entries of a target that are owned, in arithmetic.
    pub(super) fn local_core(&mut self, op: Op) -> Option<()> {
        let slices = self.slice_operands(op, 3);
        let group = |lowering: &Self, n: usize| lowering.emit.module.operand_group(op, n).to_vec();
        let (to, ts) = (group(self, 1), group(self, 2));
        let (co, cs) = (group(self, 6), group(self, 7));
        let parts = self.parts_of(self.emit.module.operands(op)[0])?;
        let owned = self.owned_box(&parts);
        let entries = self.emit.entries_in(&slices, &owned)?;
        let zero = self.emit.index(0);
        let mut core = BoxOf { offsets: Vec::new(), sizes: Vec::new() };
        for dim in 0..to.len() {
            let stop = self.emit.add(entries.offsets[dim], entries.sizes[dim]);
            let first = self.emit.sub(entries.offsets[dim], to[dim]);
            let last = self.emit.sub(stop, to[dim]);
            let mut low = self.emit.clamp(first, zero, ts[dim]);
            let mut high = self.emit.clamp(last, low, ts[dim]);
            if let (Some(offset), Some(size)) = (co.get(dim), cs.get(dim)) {
                let end = self.emit.add(*offset, *size);
                low = self.emit.max(low, *offset);
                let lower = self.emit.min(high, end);
                high = self.emit.max(lower, low);
            }
            core.offsets.push(low);
            core.sizes.push(self.emit.sub(high, low));
        }
        self.answer(op, &core);
        Some(())
    }

    fn slice_operands(&mut self, op: Op, first: usize) -> Slices {
        let list = |n: usize| -> Vec<Entry> {
            let values = self.emit.module.operand_group(op, n);
            values.iter().map(|value| self.emit.as_entry(*value)).collect()
        };
        Slices { offsets: list(first), sizes: list(first + 1), strides: list(first + 2) }
    }

    fn answer(&mut self, op: Op, found: &BoxOf) {
        let values: Vec<Value> = found.offsets.iter().chain(&found.sizes).copied().collect();
        for (old, new) in self.emit.module.results(op).to_vec().into_iter().zip(values) {
            self.emit.module.replace_uses(old, new);
        }
    }

    /// Checks the slice of a view where the view stands, used or not.
    fn check_view(&mut self, op: Op) -> Option<()> {
        let module = &*self.emit.module;
        let (source, slices) = (module.operands(op)[0], module.slices(op)?);
        has_sizes_of_slice(module, op).then_some(())?;
        let checked = self.emit.checked(source, &slices);
        if checked != slices {
            self.emit.module.set_slices(op, &checked);
        }
        Some(())
    }

    /// A view that somebody outside sees is put together where it stands; others are taken apart
    /// where they are used.
    pub(super) fn outside_view(&mut self, op: Op) -> Option<()> {
        self.check_view(op)?;
        let module = &*self.emit.module;
        let seen = module.uses(module.result(op)).iter().any(|u| {
            let kind = module.kind(u.op);
            let plain = matches!(
                kind,
                OpKind::DistEwBin
                    | OpKind::DistEwUny
                    | OpKind::DistWhere
                    | OpKind::DistSubview
                    | OpKind::DistRepartition
                    | OpKind::NdarrayInsertSlice
            );
            !plain || kind.traits().has(Traits::TERMINATOR)
        });
        if !seen {
            return Some(());
        }
        let targeted = !module.operand_group(op, 4).is_empty();
        if targeted && !self.has_global_shape(module.result(op)) {
            return None;
        }
        let parts = self.parts_of(self.emit.module.result(op))?;
        self.give(op, &parts);
        Some(())
    }
}
