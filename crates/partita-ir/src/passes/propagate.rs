//! `dist-propagate`: keeps operands where they are instead of bringing them together blindly.
//!
//! **In**: what `ndarray-dist` leaves: operators whose operands are all brought to the default
//! partition of the result. **Out**: the same program with fewer repartitions. Operators that use
//! each other's results are looked at together, and get one place:
//! 1. where the result is written to, if it is written into a slice of an array: then it needs not
//!    be moved before the write;
//! 2. else where most of the arrays that come in are;
//! 3. else the default partition.
//!
//! Arrays that come in and are there already are used as they are; others are brought there, once
//! and not through the default partition; between the operators nothing is moved at all.
//!
//! **Why it is right.** A place is a tiling of the result (default parts, or the owned entries of
//! a slice), so every element is still computed by one rank. That an array is at a place is proven
//! ([`super::places`]), never assumed. A repartition that is brought nearer to its use crosses no
//! write to its array. Where anything about a group of operators is not understood (an operand
//! that was not brought by a repartition and is not proven to be there) the group stays as it is.

use std::collections::{HashMap, HashSet};

use crate::kind::OpKind;
use crate::module::{Block, Module, Op, Value};
use crate::passes::Options;
use crate::passes::boxes::BoxOf;
use crate::passes::emit::Emit;
use crate::passes::hoist::hoist;
use crate::passes::memory::{Epochs, Memory};
use crate::passes::places::{Place, Places, default_of, target_of};
use crate::passes::separate::separate;
use crate::table::Traits;
use crate::types::Size;

pub(super) fn run(module: &mut Module, options: &Options) {
    separate(module);
    settle(module, options, Eagerness::KeepInPlace);
}

/// How far places are thought through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Eagerness {
    /// Only where a result is written to, and between operators.
    TargetsOnly,
    /// Arrays that are there already are not brought.
    KeepInPlace,
}

/// Gives every group of operators one place.
pub(super) fn settle(module: &mut Module, options: &Options, eagerness: Eagerness) {
    let mut places = Places::of(module);
    let groups = groups(module);
    // Nobody knows where a group will be before its place is chosen.
    let results = groups.iter().flat_map(|group| &group.ops).map(|op| module.result(*op));
    places.pin(results.map(|result| (result, None)));
    let mut settled = Vec::new();
    let mut chosen = Vec::new();
    for group in groups {
        if let Some(place) = choose(module, &mut places, &group, options, eagerness) {
            for op in &group.ops {
                places.note(module.result(*op), &place.place);
            }
            let results = group.ops.iter().map(|op| module.result(*op));
            chosen.extend(results.map(|result| (result, Some(place.place.clone()))));
            settled.push((group, place));
        }
    }
    places.pin(chosen);
    let mut memory = Memory::of(module);
    let mut epochs: HashMap<Block, Epochs> = HashMap::new();
    for (group, place) in settled {
        let Some(block) = module.block_of(group.ops[0]) else { continue };
        let epochs = epochs.entry(block).or_insert_with(|| Epochs::of(module, &mut memory, block));
        let mut settling = Settling { module, places: &mut places, options, eagerness };
        settling.apply(&group, &place, &mut memory, epochs);
    }
    if eagerness == Eagerness::KeepInPlace {
        drop_idle(module, &mut places);
    }
}

/// Operators that use each other's results, in program order.
struct Group {
    ops: Vec<Op>,
    inputs: Vec<Input>,
}

/// An array that comes into a group.
#[derive(Debug, Clone, Copy)]
struct Input {
    user: Op,
    operand: usize,
    source: Value,
    brought: Option<Op>,
    repeats: bool,
}

struct Chosen {
    place: Place,
    at: Option<BoxOf>,
}

/// Whether an operation goes element by element on distributed arrays.
pub(super) fn is_elementwise(module: &Module, op: Op) -> bool {
    match module.kind(op) {
        OpKind::DistEwBin | OpKind::DistEwUny | OpKind::DistWhere => true,
        OpKind::NdarrayCopy | OpKind::NdarrayCastElemtype => {
            let operand = module.operands(op)[0];
            let result = module.result(op);
            module.ty(operand).dist().is_some() && module.ty(result).dist().is_some()
        }
        _ => false,
    }
}

fn static_shape(module: &Module, value: Value) -> Option<&[Size]> {
    let shape = module.ty(value).shape()?;
    shape.iter().all(|size| size.known().is_some()).then_some(shape)
}

/// The value before a repartition, and the repartition.
fn unbrought(module: &Module, value: Value) -> (Value, Option<Op>) {
    match module.defining_op(value) {
        Some(op) if module.kind(op) == OpKind::DistRepartition => {
            (module.operands(op)[0], Some(op))
        }
        _ => (value, None),
    }
}

fn groups(module: &Module) -> Vec<Group> {
    let ops: Vec<Op> = module.walk(module.top());
    let ops: Vec<Op> = ops.into_iter().filter(|op| is_elementwise(module, *op)).collect();
    let number: HashMap<Op, usize> = ops.iter().enumerate().map(|(n, op)| (*op, n)).collect();
    let mut parent: Vec<usize> = (0..ops.len()).collect();
    for (n, op) in ops.iter().enumerate() {
        for producer in producers(module, *op) {
            if let Some(other) = number.get(&producer) {
                let (a, b) = (find(&mut parent, n), find(&mut parent, *other));
                parent[a.max(b)] = a.min(b);
            }
        }
    }
    let mut groups: Vec<Group> = Vec::new();
    let mut of_root: HashMap<usize, usize> = HashMap::new();
    for (n, op) in ops.iter().enumerate() {
        let root = find(&mut parent, n);
        let at = *of_root.entry(root).or_insert_with(|| {
            groups.push(Group { ops: Vec::new(), inputs: Vec::new() });
            groups.len() - 1
        });
        groups[at].ops.push(*op);
        let inputs = inputs(module, *op, |other| {
            number.get(&other).is_some_and(|m| find(&mut parent, *m) == root)
        });
        groups[at].inputs.extend(inputs);
    }
    groups
}

fn find(parent: &mut [usize], mut n: usize) -> usize {
    while parent[n] != n {
        parent[n] = parent[parent[n]];
        n = parent[n];
    }
    n
}

fn arrays(module: &Module, op: Op) -> Vec<(usize, Value)> {
    let operands = module.operands(op).iter().copied().enumerate();
    operands.filter(|(_, value)| module.ty(*value).dist().is_some()).collect()
}

/// Operators of the same block and the same shape whose results an operator uses.
fn producers(module: &Module, op: Op) -> Vec<Op> {
    let shape = static_shape(module, module.result(op));
    let candidates = arrays(module, op).into_iter().filter_map(|(_, value)| {
        let (source, _) = unbrought(module, value);
        let producer = module.defining_op(source)?;
        let alike = shape.is_some_and(|shape| !shape.is_empty())
            && static_shape(module, source) == shape
            && module.block_of(producer) == module.block_of(op)
            && same_grid(module, source, module.result(op));
        (alike && is_elementwise(module, producer)).then_some(producer)
    });
    candidates.collect()
}

fn same_grid(module: &Module, a: Value, b: Value) -> bool {
    let grid = |value: Value| module.ty(value).dist().map(|env| &env.grid);
    grid(a) == grid(b)
}

fn inputs(module: &Module, op: Op, mut inside: impl FnMut(Op) -> bool) -> Vec<Input> {
    let shape = module.ty(module.result(op)).shape();
    let mut found = Vec::new();
    for (operand, value) in arrays(module, op) {
        let (source, brought) = unbrought(module, value);
        let within = module.defining_op(source).is_some_and(&mut inside);
        let own = module.ty(source).shape();
        if within || own == Some(&[]) {
            continue;
        }
        found.push(Input { user: op, operand, source, brought, repeats: own != shape });
    }
    found
}

/// The place of a group; nothing where the group is to stay as it is.
fn choose(
    module: &mut Module,
    places: &mut Places,
    group: &Group,
    options: &Options,
    eagerness: Eagerness,
) -> Option<Chosen> {
    let first = *group.ops.first()?;
    let result = module.result(first);
    static_shape(module, result).filter(|shape| !shape.is_empty())?;
    // An array of which a size is not known may repeat or not: its box cannot be said here.
    let open = |input: &Input| static_shape(module, input.source).is_none();
    let unplaced = |input: &Input| input.brought.is_none() && input.repeats;
    if group.inputs.iter().any(|input| open(input) || unplaced(input)) {
        return None;
    }
    let chosen = written_to(module, places, group, first)
        .or_else(|| where_most_are(module, places, group, options, eagerness))
        .or_else(|| default_of(module, result).map(|place| Chosen { place, at: None }))?;
    // An operand may be brought anew if it came by default; one that was asked for elsewhere by
    // hand, or was not brought, has to be at the place already.
    let there = |module: &Module, places: &mut Places, input: &Input| match input.brought {
        Some(old) if input.repeats || module.operand_group(old, 1).is_empty() => true,
        Some(old) => places.get(module, module.result(old)).as_ref() == Some(&chosen.place),
        None => places.get(module, input.source).as_ref() == Some(&chosen.place),
    };
    group.inputs.iter().all(|input| there(module, places, input)).then_some(chosen)
}

/// Where a result of the group is written to, if that can be known before its first operator.
fn written_to(
    module: &mut Module,
    places: &mut Places,
    group: &Group,
    first: Op,
) -> Option<Chosen> {
    for op in &group.ops {
        for user in module.users(module.result(*op)) {
            if module.kind(user) != OpKind::DistRepartition
                || module.block_of(user) != module.block_of(first)
            {
                continue;
            }
            let at = BoxOf {
                offsets: module.operand_group(user, 1).to_vec(),
                sizes: module.operand_group(user, 2).to_vec(),
            };
            let Some((array, _)) = target_of(module, &at.offsets, &at.sizes) else { continue };
            let values: Vec<Value> = at.offsets.iter().chain(&at.sizes).copied().collect();
            let alike = same_grid(module, array, module.result(*op));
            if alike && places.is_all_owned(module, array) && hoist(module, &values, first) {
                let place = places.of_box(module, &at.offsets, &at.sizes)?;
                return Some(Chosen { place, at: Some(at) });
            }
        }
    }
    None
}

fn where_most_are(
    module: &mut Module,
    places: &mut Places,
    group: &Group,
    options: &Options,
    eagerness: Eagerness,
) -> Option<Chosen> {
    if eagerness == Eagerness::TargetsOnly {
        return None;
    }
    let mut votes: Vec<(Place, usize)> = Vec::new();
    for input in group.inputs.iter().filter(|input| !input.repeats) {
        let Some(place) = places.get(module, input.source) else { continue };
        match votes.iter_mut().find(|(other, _)| *other == place) {
            Some((_, n)) => *n += 1,
            None => votes.push((place, 1)),
        }
    }
    // Of equals the first: its array came first in the program.
    let most = votes.iter().map(|(_, n)| *n).max()?;
    let (place, _) = votes.into_iter().find(|(_, n)| *n == most)?;
    let first = *group.ops.first()?;
    let at = match &place {
        Place::Everywhere => return None,
        // The default partition on another grid is not where others are brought by default.
        Place::Default { .. } => {
            let result = module.result(first);
            (default_of(module, result).as_ref() == Some(&place)).then_some(())?;
            None
        }
        Place::Box { offsets, sizes } => {
            let values: Vec<Value> = offsets.iter().chain(sizes).copied().collect();
            let at = BoxOf { offsets: offsets.clone(), sizes: sizes.clone() };
            // A box that was asked for by hand may overlap others; only proven tilings are kept.
            let (array, _) = target_of(module, offsets, sizes)?;
            same_grid(module, array, module.result(first)).then_some(())?;
            hoist(module, &values, first).then_some(())?;
            Some(at)
        }
        Place::Slice { grid, shape, slices } => {
            let own = module.ty(module.result(first)).dist().map(|env| &env.grid);
            (own == Some(grid)).then_some(())?;
            let whole = group.inputs.iter().all(|input| {
                !input.repeats && places.get(module, input.source).as_ref() == Some(&place)
            });
            if whole {
                None
            } else {
                Some(slice_box(module, group, (grid, shape, slices), first, options)?)
            }
        }
    };
    Some(Chosen { place, at })
}

type SliceOf<'a> = (&'a Option<crate::types::Grid>, &'a Vec<Size>, &'a crate::builder::Slices);

/// The box of a slice of an array in the default partition: its owned entries.
fn slice_box(
    module: &mut Module,
    group: &Group,
    (grid, shape, slices): SliceOf<'_>,
    first: Op,
    options: &Options,
) -> Option<BoxOf> {
    let lists = [&slices.offsets, &slices.sizes, &slices.strides];
    let values: Vec<Value> = lists
        .into_iter()
        .flatten()
        .filter_map(|entry| match entry {
            crate::builder::Entry::Value(value) => Some(*value),
            crate::builder::Entry::Known(_) => None,
        })
        .collect();
    if !hoist(module, &values, first) {
        return None;
    }
    let env = module.ty(module.result(*group.ops.first()?)).dist()?.clone();
    (env.grid == *grid).then_some(())?;
    let mut emit = Emit::before(module, first, options);
    let sizes: Vec<Value> = shape.iter().map(|size| emit.index(size.as_i64())).collect();
    let owned = emit.default_box(&env, &sizes);
    emit.entries_in(slices, &owned)
}

/// What bringing a group to its place needs.
struct Settling<'a> {
    module: &'a mut Module,
    places: &'a mut Places,
    options: &'a Options,
    eagerness: Eagerness,
}

impl Settling<'_> {
    fn apply(&mut self, group: &Group, chosen: &Chosen, memory: &mut Memory, epochs: &Epochs) {
        let mut brought: HashMap<(Value, Op), Value> = HashMap::new();
        for input in &group.inputs {
            let Some(old) = input.brought else { continue };
            if self.is_there(input, chosen) {
                self.module.set_operand(input.user, input.operand, input.source);
                continue;
            }
            let Some(at) = &chosen.at else { continue };
            let class = memory.class(self.module, input.source);
            // An array that is written in between is brought at its old time to its old place,
            // and from there to the new one.
            let crosses = epochs.epoch(class, old) != epochs.epoch(class, input.user);
            let source = if crosses { self.module.result(old) } else { input.source };
            let new = match brought.get(&(source, old)) {
                Some(new) if self.module.dominates(*new, input.user) => *new,
                _ => bring(self.module, source, input, group, at, self.options),
            };
            brought.insert((source, old), new);
            self.module.set_operand(input.user, input.operand, new);
        }
        within(self.module, group);
        written(self.module, self.places, group, chosen);
        clean(self.module, group);
    }

    fn is_there(&mut self, input: &Input, chosen: &Chosen) -> bool {
        self.eagerness == Eagerness::KeepInPlace
            && !input.repeats
            && self.places.get(self.module, input.source).as_ref() == Some(&chosen.place)
    }
}

/// Brings an array to the group's place, right before its user.
fn bring(
    module: &mut Module,
    source: Value,
    input: &Input,
    group: &Group,
    at: &BoxOf,
    options: &Options,
) -> Value {
    let old_ty = input.brought.map(|old| module.ty(module.result(old)).clone());
    let ty = old_ty.unwrap_or_else(|| module.ty(source).clone());
    let result = module.result(group.ops[0]);
    let whole: Vec<Size> = module.ty(result).shape().unwrap_or(&[]).to_vec();
    let own: Vec<Size> = module.ty(source).shape().unwrap_or(&[]).to_vec();
    let mut emit = Emit::before(module, input.user, options);
    let skip = whole.len() - own.len().min(whole.len());
    let zero = emit.index(0);
    let mut part = BoxOf { offsets: Vec::new(), sizes: Vec::new() };
    for (dim, size) in own.iter().enumerate() {
        let same = whole.get(skip + dim) == Some(size);
        let count = emit.index(size.as_i64());
        part.offsets.push(if same { at.offsets[skip + dim] } else { zero });
        part.sizes.push(if same { at.sizes[skip + dim] } else { count });
    }
    emit.build().repartition(source, Some((&part.offsets, &part.sizes)), ty)
}

/// Between operators of a group nothing is moved.
fn within(module: &mut Module, group: &Group) {
    let members: HashSet<Op> = group.ops.iter().copied().collect();
    for op in &group.ops {
        for (operand, value) in arrays(module, *op) {
            let (source, brought) = unbrought(module, value);
            let inner = module.defining_op(source).is_some_and(|op| members.contains(&op));
            let same = module.ty(source).shape() == module.ty(module.result(*op)).shape();
            if brought.is_some() && inner && same {
                module.set_operand(*op, operand, source);
            }
        }
    }
}

/// A result that is written where it is needs not be brought there.
fn written(module: &mut Module, places: &mut Places, group: &Group, chosen: &Chosen) {
    for op in &group.ops {
        for user in module.users(module.result(*op)) {
            if module.kind(user) != OpKind::DistRepartition
                || module.operand_group(user, 1).is_empty()
            {
                continue;
            }
            let target =
                (module.operand_group(user, 1).to_vec(), module.operand_group(user, 2).to_vec());
            if places.of_box(module, &target.0, &target.1).as_ref() == Some(&chosen.place) {
                module.replace_op(user, &[module.result(*op)]);
            }
        }
    }
}

/// Repartitions that nobody uses any more.
fn clean(module: &mut Module, group: &Group) {
    for input in &group.inputs {
        if let Some(old) = input.brought
            && !module.is_erased(old)
            && module.is_unused(module.result(old))
        {
            module.erase(old);
        }
    }
    for op in &group.ops {
        for user in module.users(module.result(*op)) {
            if module.kind(user) == OpKind::DistRepartition && module.is_unused(module.result(user))
            {
                module.erase(user);
            }
        }
    }
}

/// Repartitions that bring arrays where they are.
fn drop_idle(module: &mut Module, places: &mut Places) {
    for op in module.walk(module.top()) {
        if module.is_erased(op) || module.kind(op) != OpKind::DistRepartition {
            continue;
        }
        let (source, result) = (module.operands(op)[0], module.result(op));
        let here = places.get(module, source);
        let target = (module.operand_group(op, 1).to_vec(), module.operand_group(op, 2).to_vec());
        let there = match target.0.as_slice() {
            [] => default_of(module, result),
            _ => places.of_box(module, &target.0, &target.1),
        };
        let exact = module.ty(source) != module.ty(result)
            && module.uses(result).iter().any(|u| needs_type(module, u.op));
        if here.is_some() && here == there && static_shape(module, source).is_some() && !exact {
            module.replace_op(op, &[source]);
        }
    }
}

/// Whether an operation's operands must have exactly their types.
fn needs_type(module: &Module, op: Op) -> bool {
    let kind = module.kind(op);
    kind.traits().has(Traits::TERMINATOR)
        || matches!(kind, OpKind::ScfFor | OpKind::FuncCall | OpKind::Unknown | OpKind::ArithSelect)
}
