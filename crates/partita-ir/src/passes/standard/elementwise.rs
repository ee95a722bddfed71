//! Operators: a core and the edges around it.

use std::rc::Rc;

use super::Lowering;
use super::parts::{Parts, Window, stretch};
use crate::builder::{Entry, Slices};
use crate::kind::OpKind;
use crate::module::{NewOp, Op, Value};
use crate::passes::boxes::BoxOf;
use crate::types::{Scalar, Size};

/// How a part of a result is cut into regions.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Cuts {
    /// The part, in the index space of the result.
    at: BoxOf,
    /// Dimensions that are cut, and where the core begins and ends, counted from the part.
    core: Vec<(usize, Value, Value)>,
}

/// A result as its pieces, one per region, the core in the middle.
#[derive(Debug, Clone)]
pub(super) struct Tiled {
    pub(super) cuts: Rc<Cuts>,
    pub(super) pieces: Vec<Value>,
}

/// What an edge needs of an array: array, region, target, and the view if it is not for all.
pub(super) type EdgeKey = (Value, usize, Vec<Value>, Option<Op>);

/// What an edge needs of an array, in a buffer of its own.
#[derive(Debug, Clone)]
pub(super) struct Edge {
    pub(super) buffer: Value,
    pub(super) at: BoxOf,
    pub(super) views: Vec<Op>,
}

/// An operand of an operator.
enum Leaf {
    /// The same in every region: an array without dimensions.
    Single(Value),
    /// Pieces with the same cuts.
    Pieces(Vec<Value>),
    /// A view of an array with halos.
    View { op: Op, source: Value, from: Parts, slices: Slices, target: BoxOf },
    /// Any other array; in which dimensions it repeats.
    Plain { parts: Parts, repeats: Vec<bool> },
}

impl Cuts {
    fn n_regions(&self) -> usize {
        3_usize.pow(self.core.len() as u32)
    }

    fn dims(&self) -> Vec<usize> {
        self.core.iter().map(|(dim, ..)| *dim).collect()
    }
}

impl Lowering<'_> {
    pub(super) fn elementwise(&mut self, op: Op) -> Option<()> {
        let result = self.emit.module.result(op);
        let operands = self.array_operands(op)?;
        let shape = self.emit.module.ty(result).shape()?.to_vec();
        if shape.is_empty() {
            return self.single(op, &operands);
        }
        if !self.have_known_shapes(&operands) || shape.iter().any(|size| size.known().is_none()) {
            return None;
        }
        let at = self.held_box(&operands, &shape)?;
        self.are_together(op, &operands, &at).then_some(())?;
        let cuts = self.cuts(op, &operands, &shape, at)?;
        let leaves: Vec<Leaf> =
            operands.iter().map(|value| self.leaf(*value, &shape, &cuts)).collect::<Option<_>>()?;
        let regions = self.regions(&cuts);
        let mut pieces: Vec<Option<Value>> = vec![None; regions.len()];
        // The core first, so that it can run before what the edges need has come.
        let middle = regions.len() / 2;
        let order = std::iter::once(middle).chain((0..regions.len()).filter(|n| *n != middle));
        for number in order {
            let inputs: Vec<Value> = leaves
                .iter()
                .map(|leaf| self.piece(leaf, number, &regions[number], &cuts))
                .collect();
            pieces[number] = Some(self.local_op(op, &inputs, &regions[number].sizes));
        }
        let tiled = Tiled { cuts, pieces: pieces.into_iter().flatten().collect() };
        self.tiled.insert(result, tiled);
        if !self.is_only_combined(result) {
            let parts = self.joined(result)?;
            self.give(op, &parts);
        }
        Some(())
    }

    /// Distributed arrays among the operands; nothing if one of the arrays is not distributed.
    fn array_operands(&self, op: Op) -> Option<Vec<Value>> {
        let module = &*self.emit.module;
        if !self.is_dist(module.result(op)) {
            return None;
        }
        let changes = module.kind(op) != OpKind::NdarrayCastElemtype
            || module.ty(module.operands(op)[0]).element()
                != module.ty(module.result(op)).element();
        let copies = matches!(module.kind(op), OpKind::NdarrayCopy | OpKind::NdarrayCastElemtype);
        let grid = |value: Value| module.ty(value).dist().map(|env| &env.grid);
        if copies && grid(module.operands(op)[0]) != grid(module.result(op)) {
            return None;
        }
        let arrays: Vec<Value> = module
            .operands(op)
            .iter()
            .copied()
            .filter(|v| module.ty(*v).as_array().is_some())
            .collect();
        (changes && arrays.iter().all(|value| self.is_dist(*value))).then_some(arrays)
    }

    fn single(&mut self, op: Op, operands: &[Value]) -> Option<()> {
        let inputs: Option<Vec<Value>> =
            operands.iter().map(|value| self.parts_of(*value).map(|parts| parts.own())).collect();
        let piece = self.local_op(op, &inputs?, &[]);
        self.give(op, &Parts { bounds: Vec::new(), parts: vec![piece], cut: Vec::new() });
        Some(())
    }

    /// Whether every use of a result can take it in pieces.
    fn is_only_combined(&self, value: Value) -> bool {
        let module = &*self.emit.module;
        let block = module.defining_op(value).and_then(|op| module.block_of(op));
        module.uses(value).iter().all(|u| {
            let combined = match module.kind(u.op) {
                OpKind::DistEwBin | OpKind::DistEwUny | OpKind::DistWhere => true,
                OpKind::NdarrayInsertSlice => {
                    u.operand == 1 && module.attr(u.op, "placed").is_some()
                }
                _ => false,
            };
            combined && module.block_of(u.op) == block
        })
    }

    /// Whether it is known which dimensions of the operands repeat.
    fn have_known_shapes(&self, operands: &[Value]) -> bool {
        let known = |shape: &[Size]| shape.iter().all(|size| size.known().is_some());
        operands.iter().all(|value| self.emit.module.ty(*value).shape().is_some_and(known))
    }

    /// The box of the result that this rank has: along each dimension that of an operand which
    /// does not repeat there; of one operand, if one repeats nowhere.
    fn held_box(&mut self, operands: &[Value], shape: &[Size]) -> Option<BoxOf> {
        let shape_of = |lowering: &Self, value: Value| -> Vec<Size> {
            lowering.emit.module.ty(value).shape().unwrap_or(&[]).to_vec()
        };
        if let Some(operand) = operands.iter().find(|value| shape_of(self, **value) == shape) {
            return self.held_of(*operand);
        }
        let mut found = BoxOf { offsets: Vec::new(), sizes: Vec::new() };
        for (dim, size) in shape.iter().enumerate() {
            let counted = |own: &[Size]| (dim + own.len()).checked_sub(shape.len());
            let is_whole = |value: &&Value| {
                let own = shape_of(self, **value);
                counted(&own).is_some_and(|at| own[at] == *size)
            };
            let operand = *operands.iter().find(is_whole)?;
            let at = counted(&shape_of(self, operand))?;
            let held = self.held_of(operand)?;
            found.offsets.push(held.offsets[at]);
            found.sizes.push(held.sizes[at]);
        }
        Some(found)
    }

    /// Whether all operands are for sure where the result is. `ndarray-dist` brought them there;
    /// what was written by hand has to be judged, and is refused when it runs if it is not so.
    fn are_together(&mut self, op: Op, operands: &[Value], at: &BoxOf) -> bool {
        let module = &*self.emit.module;
        let kinds = [OpKind::NdarrayCopy, OpKind::NdarrayCastElemtype];
        let alone = operands.iter().all(|operand| *operand == operands[0]);
        if alone || kinds.contains(&module.kind(op)) || module.attr(op, "tiled").is_some() {
            return true;
        }
        let place = self.known.places.get(&operands[0]).cloned();
        let ndim = at.sizes.len();
        operands.iter().copied().all(|operand| {
            match self.emit.module.ty(operand).shape().map_or(0, <[_]>::len) {
                0 => true,
                own if own == ndim => {
                    let known = self.known.places.get(&operand).cloned();
                    known.is_some() && known == place
                        || self.held_of(operand).is_some_and(|held| held == *at)
                }
                _ => false,
            }
        })
    }

    /// The box of an operand that this rank has.
    fn held_of(&mut self, operand: Value) -> Option<BoxOf> {
        if let Some(tiled) = self.tiled.get(&operand) {
            return Some(tiled.cuts.at.clone());
        }
        if let Some((_, target)) = self.targeted(operand) {
            return Some(target);
        }
        let parts = self.parts_of(operand)?;
        let marks: Vec<(Value, Value)> = parts.bounds.iter().map(|m| (m[0], m[3])).collect();
        let sizes = marks.iter().map(|(start, stop)| self.emit.sub(*stop, *start)).collect();
        Some(BoxOf { offsets: parts.offsets(), sizes })
    }

    /// The view with a target that gives a value, and the target.
    fn targeted(&self, value: Value) -> Option<(Op, BoxOf)> {
        let module = &*self.emit.module;
        let op = module.defining_op(value)?;
        let target = BoxOf {
            offsets: module.operand_group(op, 4).to_vec(),
            sizes: module.operand_group(op, 5).to_vec(),
        };
        let view = module.kind(op) == OpKind::DistSubview && !target.offsets.is_empty();
        view.then_some((op, target))
    }

    /// Where an operator is cut: at its core if it has one, else where all operands are owned.
    fn cuts(&mut self, op: Op, operands: &[Value], shape: &[Size], at: BoxOf) -> Option<Rc<Cuts>> {
        let module = &*self.emit.module;
        let offsets = module.operands_named(op, "core_offsets").to_vec();
        let sizes = module.operands_named(op, "core_sizes").to_vec();
        let cut = self.cut_dims(module.result(op), operands, shape)?;
        let core = if offsets.is_empty() {
            self.owned_in_all(operands, shape, &at, &cut)?
        } else {
            self.given_core(&cut, (&offsets, &sizes), &at)
        };
        let cuts = Cuts { at, core };
        // Operators that are cut alike share their cuts, and so know it at a glance.
        let before = operands.iter().filter_map(|value| self.tiled.get(value));
        let same = before.map(|tiled| &tiled.cuts).find(|other| ***other == cuts).cloned();
        Some(same.unwrap_or_else(|| Rc::new(cuts)))
    }

    /// Dimensions in which an operator is cut: those of the result, and those of arrays with halos.
    fn cut_dims(
        &mut self,
        result: Value,
        operands: &[Value],
        shape: &[Size],
    ) -> Option<Vec<usize>> {
        let mut dims = self.env(result)?.cut().to_vec();
        for operand in operands {
            let module = &*self.emit.module;
            if self.tiled.contains_key(operand) || module.ty(*operand).shape() != Some(shape) {
                continue;
            }
            let source = self.targeted(*operand).map(|(view, _)| module.operands(view)[0]);
            let parts = self.parts_of(source.unwrap_or(*operand))?;
            if !parts.is_alone() {
                dims.extend(parts.cut);
            }
        }
        dims.sort_unstable();
        dims.dedup();
        Some(dims)
    }

    fn given_core(
        &mut self,
        cut: &[usize],
        (offsets, sizes): (&[Value], &[Value]),
        at: &BoxOf,
    ) -> Vec<(usize, Value, Value)> {
        let zero = self.emit.index(0);
        let mut core = Vec::with_capacity(cut.len());
        for dim in cut {
            let low = self.emit.clamp(offsets[*dim], zero, at.sizes[*dim]);
            let stop = self.emit.add(offsets[*dim], sizes[*dim]);
            let high = self.emit.clamp(stop, low, at.sizes[*dim]);
            core.push((*dim, low, high));
        }
        core
    }

    /// The entries that all operands own; no cuts where all own all they hold.
    fn owned_in_all(
        &mut self,
        operands: &[Value],
        shape: &[Size],
        at: &BoxOf,
        cut: &[usize],
    ) -> Option<Vec<(usize, Value, Value)>> {
        let mut pieces: Option<Rc<Cuts>> = None;
        let mut with_halos = Vec::new();
        for operand in operands {
            if let Some(tiled) = self.tiled.get(operand) {
                pieces = pieces.or_else(|| Some(tiled.cuts.clone()));
                continue;
            }
            let whole = self.emit.module.ty(*operand).shape() == Some(shape);
            let parts = self.parts_of(*operand)?;
            if whole && !parts.is_alone() {
                with_halos.push(parts);
            }
        }
        if let Some(pieces) = pieces
            && with_halos.is_empty()
        {
            return Some(pieces.core.clone());
        }
        if with_halos.is_empty() {
            return Some(Vec::new());
        }
        let mut core = Vec::with_capacity(cut.len());
        for dim in cut {
            let (mut low, mut high) = (self.emit.index(0), at.sizes[*dim]);
            for parts in &with_halos {
                let start = self.emit.sub(parts.bounds[*dim][1], parts.bounds[*dim][0]);
                let stop = self.emit.sub(parts.bounds[*dim][2], parts.bounds[*dim][0]);
                low = self.emit.max(low, start);
                high = self.emit.min(high, stop);
            }
            let low = self.emit.min(low, at.sizes[*dim]);
            let high = self.emit.max(high, low);
            core.push((*dim, low, high));
        }
        Some(core)
    }

    /// The regions of some cuts, counted from the part.
    pub(super) fn regions(&mut self, cuts: &Cuts) -> Vec<BoxOf> {
        let zero = self.emit.index(0);
        let (dims, ndim) = (cuts.dims(), cuts.at.sizes.len());
        let mut regions = Vec::with_capacity(cuts.n_regions());
        for number in 0..cuts.n_regions() {
            let at = stretch(number, &dims, ndim);
            let mut region = BoxOf { offsets: vec![zero; ndim], sizes: cuts.at.sizes.clone() };
            for (dim, low, high) in &cuts.core {
                let marks = [zero, *low, *high, cuts.at.sizes[*dim]];
                region.offsets[*dim] = marks[at[*dim]];
                region.sizes[*dim] = self.emit.sub(marks[at[*dim] + 1], marks[at[*dim]]);
            }
            regions.push(region);
        }
        regions
    }

    fn leaf(&mut self, value: Value, shape: &[Size], cuts: &Rc<Cuts>) -> Option<Leaf> {
        let own = self.emit.module.ty(value).shape()?.to_vec();
        if own.is_empty() {
            return Some(Leaf::Single(self.parts_of(value)?.own()));
        }
        if let Some(tiled) = self.tiled.get(&value)
            && tiled.cuts == *cuts
        {
            return Some(Leaf::Pieces(tiled.pieces.clone()));
        }
        if let Some((op, target)) = self.targeted(value).filter(|_| own == shape)
            && !self.tiled.contains_key(&value)
        {
            let source = self.emit.module.operands(op)[0];
            let from = self.parts_of(source)?;
            let slices = self.emit.module.slices(op)?;
            if !from.is_alone() && !cuts.core.is_empty() {
                return Some(Leaf::View { op, source, from, slices, target });
            }
        }
        let parts = self.parts_of(value)?;
        let skip = shape.len().checked_sub(own.len())?;
        let repeats = own.iter().zip(&shape[skip..]).map(|(own, whole)| own != whole).collect();
        // A part that repeats is whole where it is needed, or this is not ours to cut.
        let whole = parts.is_alone() || own == shape;
        if !whole {
            let parts = self.collected(&parts);
            return Some(Leaf::Plain { parts, repeats });
        }
        Some(Leaf::Plain { parts, repeats })
    }

    /// What a leaf gives for one region.
    fn piece(&mut self, leaf: &Leaf, number: usize, region: &BoxOf, cuts: &Cuts) -> Value {
        let is_core = number == cuts.n_regions() / 2;
        match leaf {
            Leaf::Single(value) => *value,
            Leaf::Pieces(pieces) => pieces[number],
            Leaf::View { op, source, from, slices, target } => {
                let shifted = self.shifted_box(target, region);
                let element = self.element(from.own());
                if is_core {
                    let owned = self.owned_box(from);
                    return self.slice_window(from.own(), &owned, slices, &shifted, element);
                }
                let edge = self.edge(*op, *source, from, (number, target, region));
                self.slice_window(edge.buffer, &edge.at, slices, &shifted, element)
            }
            Leaf::Plain { parts, repeats } => self.plain_piece(parts, repeats, region, is_core),
        }
    }

    pub(super) fn shifted_box(&mut self, target: &BoxOf, region: &BoxOf) -> BoxOf {
        let offsets = target.offsets.iter().zip(&region.offsets);
        let offsets = offsets.map(|(a, b)| self.emit.add(*a, *b)).collect();
        BoxOf { offsets, sizes: region.sizes.clone() }
    }

    /// Entries of a slice in a local array that has a box of the sliced array.
    fn slice_window(
        &mut self,
        array: Value,
        has: &BoxOf,
        slices: &Slices,
        entries: &BoxOf,
        element: Scalar,
    ) -> Value {
        let stops = self.ends(has);
        let mut window = Window::default();
        for (dim, stop) in stops.into_iter().enumerate() {
            let index = self.index_of(slices, dim, entries.offsets[dim]);
            let offset = self.within(index, has.offsets[dim], stop);
            window.push(offset, entries.sizes[dim], slices.strides[dim]);
        }
        self.window(array, &window, element)
    }

    fn plain_piece(
        &mut self,
        parts: &Parts,
        repeats: &[bool],
        region: &BoxOf,
        is_core: bool,
    ) -> Value {
        let skip = region.sizes.len() - parts.bounds.len();
        let element = self.element(parts.own());
        let mut asked = BoxOf { offsets: Vec::new(), sizes: Vec::new() };
        for (dim, marks) in parts.bounds.iter().enumerate() {
            // One that repeats is there wherever something is computed.
            let (offset, size) = if repeats[dim] {
                (marks[0], self.emit.index(1))
            } else {
                (self.emit.add(marks[0], region.offsets[skip + dim]), region.sizes[skip + dim])
            };
            asked.offsets.push(offset);
            asked.sizes.push(size);
        }
        if parts.is_alone() || is_core {
            let owned = self.owned_box(parts);
            let unit = self.unit_slices(parts.bounds.len());
            return self.slice_window(parts.own(), &owned, &unit, &asked, element);
        }
        self.assembled(parts, &asked, element)
    }

    fn unit_slices(&self, ndim: usize) -> Slices {
        Slices {
            offsets: vec![Entry::Known(0); ndim],
            sizes: vec![Entry::Known(i64::MAX); ndim],
            strides: vec![Entry::Known(1); ndim],
        }
    }

    /// The pieces of a result in one array.
    pub(super) fn joined(&mut self, value: Value) -> Option<Parts> {
        let tiled = self.tiled.remove(&value)?;
        let cut = self.env(value)?.cut().to_vec();
        let at = tiled.cuts.at.clone();
        let own = match tiled.pieces[..] {
            [piece] => piece,
            _ => {
                let ty = self.local(&at.sizes, self.element(value));
                let buffer = self.emit.build().create(&at.sizes, None, ty);
                let regions = self.regions(&tiled.cuts);
                for (piece, region) in tiled.pieces.iter().zip(regions) {
                    let mut window = Window::default();
                    for (offset, size) in region.offsets.iter().zip(&region.sizes) {
                        window.push(*offset, *size, Entry::Known(1));
                    }
                    let slices = window.slices(&self.emit);
                    self.emit.build().insert_slice(buffer, *piece, &slices);
                }
                buffer
            }
        };
        let stops = self.ends(&at);
        let parts = Parts::owned_alone(&at.offsets, &stops, own, &cut);
        self.parts.insert(value, parts.clone());
        Some(parts)
    }

    /// An operator on local arrays.
    fn local_op(&mut self, op: Op, inputs: &[Value], sizes: &[Value]) -> Value {
        let module = &*self.emit.module;
        let kind = match module.kind(op) {
            OpKind::DistEwBin => OpKind::NdarrayEwBin,
            OpKind::DistEwUny => OpKind::NdarrayEwUny,
            OpKind::DistWhere => OpKind::NdarrayWhere,
            other => other,
        };
        let mut new = NewOp::new(kind).operands(inputs);
        for name in ["op", "copy"] {
            if let Some(value) = module.attr(op, name) {
                new = new.attr(name, value.clone());
            }
        }
        let ty = self.local(sizes, self.element(module.result(op)));
        self.emit.build().value(new.result(ty))
    }
}
