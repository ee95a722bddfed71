//! Arrays as their parts.

use super::Lowering;
use crate::builder::{Entry, Slices};
use crate::kind::OpKind;
use crate::module::{Op, Value};
use crate::passes::boxes::BoxOf;
use crate::passes::failing::has_sizes_of_slice;
use crate::types::{DistEnv, Scalar, Size, Type};

/// The local parts of an array.
#[derive(Debug, Clone)]
pub(super) struct Parts {
    /// For each dimension where the parts begin and end, as global indices: before from the first
    /// to the second, owned to the third, after to the fourth.
    pub(super) bounds: Vec<[Value; 4]>,
    /// 3^k parts in C order, or the owned one alone.
    pub(super) parts: Vec<Value>,
    pub(super) cut: Vec<usize>,
}

impl Parts {
    /// Nothing but an owned part.
    pub(super) fn owned_alone(start: &[Value], stop: &[Value], own: Value, cut: &[usize]) -> Self {
        let bounds = start.iter().zip(stop).map(|(a, b)| [*a, *a, *b, *b]).collect();
        Self { bounds, parts: vec![own], cut: cut.to_vec() }
    }

    pub(super) fn is_alone(&self) -> bool {
        self.parts.len() == 1
    }

    pub(super) fn own(&self) -> Value {
        self.parts[self.parts.len() / 2]
    }

    /// Offset of the first part.
    pub(super) fn offsets(&self) -> Vec<Value> {
        self.bounds.iter().map(|bounds| bounds[0]).collect()
    }

    /// Offset of the owned part.
    pub(super) fn own_offsets(&self) -> Vec<Value> {
        self.bounds.iter().map(|bounds| bounds[1]).collect()
    }

    /// For each part its number and, per dimension, which of the three stretches it is.
    pub(super) fn stretches(&self) -> Vec<Vec<usize>> {
        if self.is_alone() {
            return vec![vec![1; self.bounds.len()]];
        }
        let n = self.parts.len();
        (0..n).map(|part| stretch(part, &self.cut, self.bounds.len())).collect()
    }
}

/// Which stretch of each dimension a part is; dimensions that are not cut have one.
pub(super) fn stretch(part: usize, cut: &[usize], ndim: usize) -> Vec<usize> {
    let mut found = vec![1; ndim];
    let mut rest = part;
    for dim in cut.iter().rev() {
        found[*dim] = rest % 3;
        rest /= 3;
    }
    found
}

impl Lowering<'_> {
    /// The type of a local array of some sizes.
    pub(super) fn local(&self, sizes: &[Value], element: Scalar) -> Type {
        let size = |value: &Value| {
            self.emit.known(*value).and_then(Size::from_i64).unwrap_or(Size::Dynamic)
        };
        Type::array(&sizes.iter().map(size).collect::<Vec<_>>(), element)
    }

    pub(super) fn env(&self, value: Value) -> Option<DistEnv> {
        self.emit.module.ty(value).dist().cloned()
    }

    pub(super) fn element(&self, value: Value) -> Scalar {
        self.emit.module.ty(value).element().unwrap_or(Scalar::F64)
    }

    /// The parts of a distributed array; nothing where they cannot be said.
    pub(super) fn parts_of(&mut self, value: Value) -> Option<Parts> {
        if let Some(parts) = self.parts.get(&value)
            && self.is_visible(parts)
        {
            return Some(parts.clone());
        }
        if self.tiled.contains_key(&value) {
            return self.joined(value);
        }
        let view = self
            .emit
            .module
            .defining_op(value)
            .filter(|op| self.emit.module.kind(*op) == OpKind::DistSubview);
        let parts = match view {
            Some(view) => self.view_parts(view)?,
            None => self.asked_parts(value)?,
        };
        self.parts.insert(value, parts.clone());
        Some(parts)
    }

    fn is_visible(&self, parts: &Parts) -> bool {
        let place = self.emit.place();
        let mut values = parts.parts.iter().chain(parts.bounds.iter().flatten());
        values.all(|value| self.emit.module.dominates(*value, place))
    }

    /// Takes an array apart that comes from outside.
    fn asked_parts(&mut self, value: Value) -> Option<Parts> {
        let env = self.env(value)?;
        let ndim = self.emit.module.ty(value).shape()?.len();
        let (element, n_parts) = (self.element(value), env.n_parts());
        let ty = Type::array(&vec![Size::Dynamic; ndim], element);
        let mut parts = self.emit.build().parts_of(value, &vec![ty; n_parts]);
        if self.known.all_owned.contains(&value) {
            parts = vec![parts[n_parts / 2]];
        }
        let by_default = self.known.by_default.contains(&value) && parts.len() == 1;
        if by_default {
            let shape = self.emit.shape(value);
            let owned = self.emit.default_box(&env, &shape);
            let stop = self.ends(&owned);
            return Some(Parts::owned_alone(&owned.offsets, &stop, parts[0], env.cut()));
        }
        let start = self.emit.build().local_offsets_of(value);
        let mut bounds = Vec::with_capacity(ndim);
        for (dim, start) in start.into_iter().enumerate() {
            bounds.push(self.measured(&parts, env.cut(), dim, start));
        }
        Some(Parts { bounds, parts, cut: env.cut().to_vec() })
    }

    /// Where parts begin and end along a dimension, by their sizes.
    fn measured(&mut self, parts: &[Value], cut: &[usize], dim: usize, start: Value) -> [Value; 4] {
        let middle = parts.len() / 2;
        let own = self.emit.size(parts[middle], dim);
        let axis = cut.iter().position(|cut| *cut == dim);
        let Some(axis) = axis.filter(|_| parts.len() > 1) else {
            let stop = self.emit.add(start, own);
            return [start, start, stop, stop];
        };
        let step = 3_usize.pow((cut.len() - 1 - axis) as u32);
        let before = self.emit.size(parts[middle - step], dim);
        let after = self.emit.size(parts[middle + step], dim);
        let first = self.emit.add(start, before);
        let second = self.emit.add(first, own);
        let third = self.emit.add(second, after);
        [start, first, second, third]
    }

    pub(super) fn ends(&mut self, at: &BoxOf) -> Vec<Value> {
        let pairs: Vec<(Value, Value)> =
            at.offsets.iter().copied().zip(at.sizes.iter().copied()).collect();
        pairs.into_iter().map(|(offset, size)| self.emit.add(offset, size)).collect()
    }

    /// The parts of a view: of each part of its source the entries that lie there.
    fn view_parts(&mut self, op: Op) -> Option<Parts> {
        let module = &*self.emit.module;
        let (source, result) = (module.operands(op)[0], module.result(op));
        let slices = module.slices(op)?;
        has_sizes_of_slice(module, op).then_some(())?;
        let target = (module.operand_group(op, 4).to_vec(), module.operand_group(op, 5).to_vec());
        let element = self.element(result);
        let from = self.parts_of(source)?;
        let mut bounds = Vec::with_capacity(from.bounds.len());
        for (dim, marks) in from.bounds.iter().enumerate() {
            let mut entries = [marks[0]; 4];
            for (entry, mark) in entries.iter_mut().zip(marks) {
                *entry = self.emit.entries_before(&slices, dim, *mark)?;
                if let (Some(offset), Some(size)) = (target.0.get(dim), target.1.get(dim)) {
                    let stop = self.emit.add(*offset, *size);
                    *entry = self.emit.clamp(*entry, *offset, stop);
                }
            }
            if matches!(slices.strides[dim], Entry::Known(..=-1)) {
                entries.reverse();
            }
            bounds.push(entries);
        }
        let view = Parts { bounds, parts: Vec::new(), cut: from.cut.clone() };
        let mut parts = Vec::with_capacity(from.parts.len());
        for (number, at) in from.stretches().iter().enumerate() {
            let number = mirrored(number, at, &slices, &from);
            parts.push(self.part_view(&from, number, at, (&slices, &view), element));
        }
        Some(Parts { parts, ..view })
    }

    fn part_view(
        &mut self,
        from: &Parts,
        number: usize,
        at: &[usize],
        (slices, view): (&Slices, &Parts),
        element: Scalar,
    ) -> Value {
        let mut window = Window::default();
        for (dim, stretch) in at.iter().enumerate() {
            let [low, high] = [view.bounds[dim][*stretch], view.bounds[dim][*stretch + 1]];
            let backwards = matches!(slices.strides[dim], Entry::Known(..=-1));
            let there = if backwards { 2 - *stretch } else { *stretch };
            let [start, stop] = [from.bounds[dim][there], from.bounds[dim][there + 1]];
            let size = self.emit.sub(high, low);
            let offset = self.index_of(slices, dim, low);
            let offset = self.within(offset, start, stop);
            window.push(offset, size, slices.strides[dim]);
        }
        self.window(from.parts[number], &window, element)
    }

    /// The global index of an entry of a slice.
    pub(super) fn index_of(&mut self, slices: &Slices, dim: usize, entry: Value) -> Value {
        let (start, stride) =
            (self.emit.entry(slices.offsets[dim]), self.emit.entry(slices.strides[dim]));
        let shift = self.emit.mul(entry, stride);
        self.emit.add(start, shift)
    }

    /// An index counted from `start`; one that lies outside, where nothing is taken, is moved in.
    pub(super) fn within(&mut self, index: Value, start: Value, stop: Value) -> Value {
        let (offset, size) = (self.emit.sub(index, start), self.emit.sub(stop, start));
        let zero = self.emit.index(0);
        self.emit.clamp(offset, zero, size)
    }

    /// A view of a local array.
    pub(super) fn window(&mut self, array: Value, window: &Window, element: Scalar) -> Value {
        let ty = self.local(&window.sizes, element);
        if window.is_whole(&self.emit, array) {
            return array;
        }
        let slices = window.slices(&self.emit);
        self.emit.build().subview(array, &slices, ty)
    }

    /// An array for those who do not look at parts.
    pub(super) fn put_together(&mut self, parts: &Parts, ty: Type) -> Value {
        let n_parts = ty.dist().map_or(1, DistEnv::n_parts);
        let fits = parts.is_alone() || parts.parts.len() == n_parts;
        let parts = &if fits { parts.clone() } else { self.collected(parts) };
        let all = if parts.parts.len() == n_parts {
            parts.parts.clone()
        } else {
            let zero = self.emit.index(0);
            let zeros = vec![zero; parts.bounds.len()];
            let empty = self.local(&zeros, self.element(parts.own()));
            let empty = self.emit.build().create(&zeros, None, empty);
            let mut all = vec![empty; n_parts];
            all[n_parts / 2] = parts.own();
            all
        };
        let offsets = parts.offsets();
        self.emit.build().init_dist_array(&offsets, &all, ty)
    }
}

/// The part of a source whose entries a part of a view has: backwards, the last comes first.
fn mirrored(number: usize, at: &[usize], slices: &Slices, from: &Parts) -> usize {
    if from.is_alone() {
        return number;
    }
    let step = |dim: &usize| {
        let backwards = matches!(slices.strides[*dim], Entry::Known(..=-1));
        if backwards { 2 - at[*dim] } else { at[*dim] }
    };
    from.cut.iter().fold(0, |found, dim| found * 3 + step(dim))
}

/// A window on a local array.
#[derive(Debug, Clone, Default)]
pub(super) struct Window {
    pub(super) offsets: Vec<Value>,
    pub(super) sizes: Vec<Value>,
    strides: Vec<Entry>,
}

impl Window {
    pub(super) fn push(&mut self, offset: Value, size: Value, stride: Entry) {
        self.offsets.push(offset);
        self.sizes.push(size);
        self.strides.push(stride);
    }

    pub(super) fn slices(&self, emit: &crate::passes::emit::Emit<'_>) -> Slices {
        let entries = |values: &[Value]| values.iter().map(|value| emit.as_entry(*value)).collect();
        Slices {
            offsets: entries(&self.offsets),
            sizes: entries(&self.sizes),
            strides: self.strides.clone(),
        }
    }

    /// Whether it shows all of an array, as far as the array's type says.
    fn is_whole(&self, emit: &crate::passes::emit::Emit<'_>, array: Value) -> bool {
        let shape = emit.module.ty(array).shape().unwrap_or(&[]);
        self.offsets.len() == shape.len()
            && self.strides.iter().all(|stride| *stride == Entry::Known(1))
            && self.offsets.iter().all(|offset| emit.known(*offset) == Some(0))
            && self.sizes.iter().zip(shape).all(|(size, known)| {
                known.known().is_some() && emit.known(*size) == Some(known.as_i64())
            })
    }
}
