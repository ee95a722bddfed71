//! Where arrays are: which box of an array every rank holds, as far as the program says it.
//!
//! - Arguments whose type gives no offsets, and what `ndarray` operations make, lie in the default
//!   partition of their type.
//! - A view without a target lies where the elements of its source lie.
//! - A repartition lies where it was asked to be; an operator of `dist` where its operands are.
//! - What a loop carries lies in the default partition if what comes in and what every turn gives
//!   do so.
//!
//! Two arrays of the same shape with the same [`Place`] have the same box on every rank. What is
//! not known has no place.

use std::collections::{HashMap, HashSet};

use crate::builder::{Entry, Slices};
use crate::kind::OpKind;
use crate::module::{Module, Op, Source, Value};
use crate::types::{ArrayType, Grid, Size};

/// Where an array is.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Place {
    /// All of it on every rank: arrays without dimensions.
    Everywhere,
    /// The default partition of its shape.
    Default {
        /// The grid it is cut on.
        grid: Option<Grid>,
        /// Its shape, all of it known.
        shape: Vec<Size>,
    },
    /// Those entries of a slice whose elements lie here in the default partition of an array.
    Slice {
        /// The grid the array is cut on.
        grid: Option<Grid>,
        /// The array's shape.
        shape: Vec<Size>,
        /// The slice.
        slices: Slices,
    },
    /// A box by its offsets and sizes.
    Box {
        /// Offsets, one per dimension.
        offsets: Vec<Value>,
        /// Sizes, one per dimension.
        sizes: Vec<Value>,
    },
}

/// Places of the values of a module.
#[derive(Debug, Default)]
pub struct Places {
    known: HashMap<Value, Option<Place>>,
    /// What was said and not derived.
    pinned: HashMap<Value, Option<Place>>,
    /// What loops carry that is not in the default partition.
    elsewhere: HashSet<Value>,
}

impl Places {
    /// The places of a module's values.
    ///
    /// # Cost
    /// A few walks over the program.
    #[must_use]
    pub fn of(module: &Module) -> Self {
        let mut places = Self::default();
        let ops = module.walk(module.top());
        loop {
            places.known.clear();
            let before = places.elsewhere.len();
            for value in ops.iter().flat_map(|op| module.results(*op)) {
                places.get(module, *value);
            }
            for op in ops.iter().filter(|op| module.kind(**op) == OpKind::ScfFor) {
                places.judge_loop(module, *op);
            }
            if places.elsewhere.len() == before {
                return places;
            }
        }
    }

    /// Where a value is.
    pub fn get(&mut self, module: &Module, value: Value) -> Option<Place> {
        if let Some(place) = self.known.get(&value) {
            return place.clone();
        }
        // Values are asked for their operands first, without descending the whole program.
        let mut waiting = vec![value];
        while let Some(next) = waiting.last().copied() {
            let open: Vec<Value> = asks(module, next)
                .into_iter()
                .filter(|other| !self.known.contains_key(other) && !waiting.contains(other))
                .collect();
            if open.is_empty() || waiting.len() > module.n_values() {
                let place = self.derive(module, next);
                self.known.insert(next, place);
                waiting.pop();
            } else {
                waiting.extend(open);
            }
        }
        self.known.get(&value).cloned().flatten()
    }

    /// Says where values are from now on; what follows from them is thought through anew.
    pub fn pin(&mut self, pinned: impl IntoIterator<Item = (Value, Option<Place>)>) {
        self.pinned.extend(pinned);
        self.known.clone_from(&self.pinned);
    }

    /// Says where a value is; what was derived before stays as it was.
    pub fn note(&mut self, value: Value, place: &Place) {
        self.known.insert(value, Some(place.clone()));
    }

    /// Where the entries of a slice are that a rank owns of an array.
    pub fn of_slice(&mut self, module: &Module, array: Value, slices: &Slices) -> Option<Place> {
        match self.get(module, array)? {
            Place::Default { grid, shape } => Some(if takes_all(slices, &shape) {
                Place::Default { grid, shape }
            } else {
                Place::Slice { grid, shape, slices: slices.clone() }
            }),
            Place::Slice { grid, shape, slices: outer } => {
                let slices = composed(&outer, slices)?;
                Some(Place::Slice { grid, shape, slices })
            }
            _ => None,
        }
    }

    fn judge_loop(&mut self, module: &Module, op: Op) {
        let Some(block) = module.regions(op).first().copied() else { return };
        let carried = module.arguments(block).iter().skip(1);
        let first = module.operands(op).iter().skip(3);
        let last = module.last_op(block).map_or(&[][..], |last| module.operands(last));
        for ((argument, first), last) in carried.zip(first).zip(last) {
            let wanted = default_of(module, *argument);
            let mut stays = |value: Value| {
                self.get(module, value) == wanted && self.is_all_owned(module, value)
            };
            let here = stays(*first) && stays(*last);
            if wanted.is_some() && !here {
                self.elsewhere.insert(*argument);
            }
        }
    }

    fn derive(&mut self, module: &Module, value: Value) -> Option<Place> {
        let array = module.ty(value).as_array()?;
        array.dist()?;
        if array.shape.is_empty() {
            return Some(Place::Everywhere);
        }
        match module.source(value) {
            Source::Argument { block, .. } => {
                let owner = module.owner(block)?;
                let default = matches!(module.kind(owner), OpKind::FuncFunc | OpKind::ScfFor)
                    && !self.elsewhere.contains(&value);
                default.then(|| default_of(module, value)).flatten()
            }
            Source::Result { op, number } => self.derive_result(module, op, number as usize),
        }
    }

    fn derive_result(&mut self, module: &Module, op: Op, number: usize) -> Option<Place> {
        let result = module.results(op)[number];
        let at = |value: &Value| self.known.get(value).cloned().flatten();
        match module.kind(op) {
            kind if makes_default(kind) => default_of(module, result),
            OpKind::NdarrayCast | OpKind::NdarrayCopy | OpKind::NdarrayCastElemtype => {
                let source = module.operands(op)[0];
                let grid = |value: Value| module.ty(value).dist().map(|env| &env.grid);
                // What is cut in another way is made in its default partition.
                if grid(source) != grid(result) {
                    return default_of(module, result);
                }
                let same = module.ty(source).shape() == module.ty(result).shape();
                same.then(|| at(&source)).flatten()
            }
            OpKind::DistSubview if module.operand_group(op, 4).is_empty() => {
                let slices = module.slices(op)?;
                self.of_slice(module, module.operands(op)[0], &slices)
            }
            OpKind::DistRepartition => match module.operand_group(op, 1) {
                [] => default_of(module, result),
                offsets => {
                    let sizes = module.operand_group(op, 2);
                    self.of_box(module, offsets, sizes)
                }
            },
            OpKind::DistEwBin | OpKind::DistEwUny | OpKind::DistWhere => {
                let shape = module.ty(result).shape()?;
                let same = |value: &&Value| module.ty(**value).shape() == Some(shape);
                let operand = module.operands(op).iter().find(same)?;
                at(operand)
            }
            OpKind::ScfFor => {
                let block = module.regions(op).first()?;
                at(module.arguments(*block).get(number + 1)?)
            }
            _ => None,
        }
    }

    /// Whether what a rank owns of a value is all that it holds, so that owned parts tile it.
    #[must_use]
    pub fn is_all_owned(&self, module: &Module, value: Value) -> bool {
        let mut value = value;
        loop {
            match module.source(value) {
                Source::Argument { block, .. } => {
                    return self.is_owned_argument(module, block, value);
                }
                Source::Result { op, number } => match module.kind(op) {
                    // One that was written by hand has what its operands hold, which may overlap.
                    OpKind::DistEwBin | OpKind::DistEwUny | OpKind::DistWhere => {
                        return module.attr(op, "tiled").is_some() || self.is_tiling(value);
                    }
                    OpKind::NdarrayEwBin | OpKind::NdarrayEwUny | OpKind::NdarrayWhere => {
                        return true;
                    }
                    kind if makes_default(kind) => return true,
                    OpKind::DistSubview if !module.operand_group(op, 4).is_empty() => return false,
                    OpKind::DistSubview
                    | OpKind::NdarrayCast
                    | OpKind::NdarrayCopy
                    | OpKind::NdarrayCastElemtype => value = module.operands(op)[0],
                    OpKind::ScfFor => match module.regions(op).first() {
                        Some(block) => value = module.arguments(*block)[number as usize + 1],
                        None => return false,
                    },
                    _ => return false,
                },
            }
        }
    }

    /// Whether a value is known to lie where boxes tile it.
    fn is_tiling(&self, value: Value) -> bool {
        let place = self.known.get(&value).and_then(Option::as_ref);
        place.is_some_and(|place| !matches!(place, Place::Box { .. }))
    }

    fn is_owned_argument(
        &self,
        module: &Module,
        block: crate::module::Block,
        value: Value,
    ) -> bool {
        match module.owner(block).map(|op| module.kind(op)) {
            Some(OpKind::FuncFunc) => gives_no_offsets(module, value),
            Some(OpKind::ScfFor) => {
                !self.elsewhere.contains(&value) && default_of(module, value).is_some()
            }
            _ => false,
        }
    }

    /// Where a box is: the place its values were computed for.
    pub fn of_box(&mut self, module: &Module, offsets: &[Value], sizes: &[Value]) -> Option<Place> {
        let plain = || Some(Place::Box { offsets: offsets.to_vec(), sizes: sizes.to_vec() });
        let Some((array, slices)) = target_of(module, offsets, sizes) else { return plain() };
        self.of_slice(module, array, &slices).or_else(plain)
    }
}

/// The array and slice whose owned entries a box is, if one operation computed it so.
#[must_use]
pub fn target_of(module: &Module, offsets: &[Value], sizes: &[Value]) -> Option<(Value, Slices)> {
    let op = module.defining_op(*offsets.first()?)?;
    let all: Vec<Value> = offsets.iter().chain(sizes).copied().collect();
    if module.kind(op) != OpKind::DistLocalTargetOfSlice || module.results(op) != all {
        return None;
    }
    let list = |group: usize| -> Vec<Entry> {
        let known =
            |value: &Value| module.known_index(*value).map_or(Entry::Value(*value), Entry::Known);
        module.operand_group(op, group).iter().map(known).collect()
    };
    let slices = Slices { offsets: list(1), sizes: list(2), strides: list(3) };
    Some((module.operands(op)[0], slices))
}

/// Operations that make an array in the default partition of its type.
fn makes_default(kind: OpKind) -> bool {
    matches!(
        kind,
        OpKind::NdarrayCreate
            | OpKind::NdarrayLinspace
            | OpKind::NdarrayIota
            | OpKind::NdarrayRandom
            | OpKind::NdarrayReshape
            | OpKind::NdarrayPermuteDims
            | OpKind::NdarrayReduction
            | OpKind::NdarrayCumulative
    )
}

fn gives_no_offsets(module: &Module, value: Value) -> bool {
    let env = module.ty(value).dist();
    env.is_some_and(|env| env.loffs.iter().all(|offset| *offset == Size::Dynamic))
}

/// The default place of a value's type, if its shape is known and its type gives no offsets.
#[must_use]
pub fn default_of(module: &Module, value: Value) -> Option<Place> {
    let array: &ArrayType = module.ty(value).as_array()?;
    let env = array.dist()?;
    if array.shape.is_empty() {
        return Some(Place::Everywhere);
    }
    let known = array.shape.iter().all(|size| size.known().is_some());
    (known && gives_no_offsets(module, value))
        .then(|| Place::Default { grid: env.grid.clone(), shape: array.shape.clone() })
}

fn asks(module: &Module, value: Value) -> Vec<Value> {
    let Some(op) = module.defining_op(value) else { return Vec::new() };
    let arrays = |op: Op| {
        let operands = module.operands(op).iter().copied();
        operands.filter(|value| module.ty(*value).dist().is_some())
    };
    match module.kind(op) {
        OpKind::NdarrayCast
        | OpKind::NdarrayCopy
        | OpKind::NdarrayCastElemtype
        | OpKind::DistSubview
        | OpKind::DistEwBin
        | OpKind::DistEwUny
        | OpKind::DistWhere => arrays(op).collect(),
        OpKind::DistRepartition => {
            let target = (module.operand_group(op, 1), module.operand_group(op, 2));
            target_of(module, target.0, target.1).map(|(array, _)| array).into_iter().collect()
        }
        OpKind::ScfFor => {
            let block = module.regions(op).first();
            block.map_or(Vec::new(), |block| module.arguments(*block)[1..].to_vec())
        }
        _ => Vec::new(),
    }
}

fn takes_all(slices: &Slices, shape: &[Size]) -> bool {
    shape.len() == slices.offsets.len()
        && shape.iter().enumerate().all(|(dim, size)| {
            slices.offsets[dim] == Entry::Known(0)
                && slices.strides[dim] == Entry::Known(1)
                && slices.sizes[dim] == Entry::Known(size.as_i64())
        })
}

/// A slice of a slice, where all numbers but the sizes are known.
fn composed(outer: &Slices, inner: &Slices) -> Option<Slices> {
    let number = |entry: &Entry| match entry {
        Entry::Known(number) => Some(*number),
        Entry::Value(_) => None,
    };
    let mut slices = inner.clone();
    for dim in 0..inner.offsets.len() {
        let step = number(outer.strides.get(dim)?)?;
        let start = number(outer.offsets.get(dim)?)?;
        let first = number(&inner.offsets[dim])?.checked_mul(step)?.checked_add(start)?;
        slices.offsets[dim] = Entry::Known(first);
        slices.strides[dim] = Entry::Known(number(&inner.strides[dim])?.checked_mul(step)?);
    }
    Some(slices)
}
