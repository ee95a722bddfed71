//! Our operations again, of operations that say which of ours they stand for.
//!
//! A text of this form may have been changed by others. What does not fit together any more stays
//! as it is, and whoever runs the program says that it cannot be run.

use std::collections::HashSet;

use super::lower::OWN;
use super::types::{change_all, to_own};
use super::{ATTRS, ENV, EXECUTE_REGION, FORM, GROUPS, HELPER, OP, SAME_VALUES, SEGMENTS};
use crate::attr::{Attr, Attrs};
use crate::kind::OpKind;
use crate::module::{Module, NewOp, Op, Value};
use crate::text::parse_attr;

/// Makes our operations of a program of the form; leaves any other program as it is.
pub(crate) fn raise(module: &mut Module) {
    if module.attrs.get(FORM) != Some(&Attr::text("builtin")) {
        return;
    }
    module.attrs.remove(FORM);
    change_all(module, to_own);
    drop_helping_loops(module);
    for op in module.walk(module.top()) {
        if !module.is_erased(op) && raise_region(module, op).is_none() {
            raise_op(module, op);
        }
    }
    drop_helpers(module);
    drop_declarations(module);
}

/// One of our operations as the form has it.
struct Found {
    operands: Vec<Value>,
    /// Lengths of the groups, where the form says them.
    groups: Option<Vec<u32>>,
    attrs: Attrs,
    /// The values that are its results.
    results: Vec<Value>,
}

fn raise_op(module: &mut Module, op: Op) -> Option<()> {
    let name = stands_for(module, op)?;
    let found = found(module, op, &name)?;
    let is_early = |value: &Value| !module.results(op).contains(value);
    let early: Vec<Value> = found.results.iter().copied().filter(is_early).collect();
    if !early.iter().all(|value| is_used_behind(module, *value, op)) {
        return None;
    }
    let types: Vec<_> = found.results.iter().map(|value| module.ty(*value).clone()).collect();
    let mut new = NewOp::named(&name).operands(&found.operands).results(types);
    new.segments = found.groups.map(Into::into);
    new.attrs = found.attrs;
    new.location = module.location(op);
    let new = module.insert_before(op, new);
    if module.operand_ranges(new).is_none() || module.result_ranges(new).is_none() {
        module.erase(new);
        return None;
    }
    let values: Vec<Value> = module.results(new).to_vec();
    for (old, value) in found.results.into_iter().zip(values) {
        let hint = module.hint(old).map(str::to_string);
        module.set_hint(value, hint.as_deref());
        module.replace_uses(old, value);
    }
    module.erase(op);
    Some(())
}

/// The name of our operation that this one, or the function it calls, stands for.
fn stands_for(module: &Module, op: Op) -> Option<String> {
    let marked = match module.attr(op, "callee") {
        Some(Attr::Symbol(callee)) if module.kind(op) == OpKind::FuncCall => {
            module.function(callee).filter(|function| module.body(*function).is_none())?
        }
        _ => op,
    };
    let name = module.attr(marked, OP)?.as_str()?;
    let is_own = OWN.contains(&OpKind::from_name(name).dialect());
    is_own.then(|| name.to_string())
}

fn found(module: &Module, op: Op, name: &str) -> Option<Found> {
    let operands = module.operands(op).to_vec();
    let results = module.results(op).to_vec();
    let groups = module.attr(op, GROUPS).and_then(numbers);
    let attrs = kept(module, op);
    let plain = Found { operands: operands.clone(), groups, attrs, results };
    match (module.name(op), name) {
        ("func.call" | "memref.dim" | "memref.load" | "memref.dealloc", _) => Some(plain),
        ("memref.subview", _) => behind_view(module, op, plain),
        ("memref.cast", "ndarray.subview") => {
            behind_view(module, module.defining_op(*operands.first()?)?, plain)
        }
        ("memref.cast", "ndarray.create") => {
            let operands = allocated(module, *operands.first()?)?;
            Some(Found { operands, ..plain })
        }
        ("memref.cast", _) => Some(plain),
        ("memref.copy" | "linalg.generic", "ndarray.insert_slice") => {
            let [source, view] = operands[..] else { return None };
            let view = behind_view(module, module.defining_op(view)?, plain)?;
            written(view, source)
        }
        ("memref.copy" | "linalg.generic", _) => {
            let (memory, inputs) = operands.split_last()?;
            let inputs = match name {
                "ndarray.create" => created(module, *memory, inputs)?,
                _ => inputs.to_vec(),
            };
            Some(Found { operands: inputs, results: vec![*memory], ..plain })
        }
        _ => None,
    }
}

fn numbers(attr: &Attr) -> Option<Vec<u32>> {
    let Attr::I32s(numbers) = attr else { return None };
    numbers.iter().map(|number| u32::try_from(*number).ok()).collect()
}

fn kept(module: &Module, op: Op) -> Attrs {
    match module.attr(op, ATTRS) {
        Some(Attr::Dict(attrs)) => (**attrs).clone(),
        _ => Attrs::new(),
    }
}

/// With the operands and the slice of a `memref.subview`.
fn behind_view(module: &Module, view: Op, mut found: Found) -> Option<Found> {
    if module.name(view) != "memref.subview" {
        return None;
    }
    for name in ["static_offsets", "static_sizes", "static_strides"] {
        found.attrs.set(name, module.attr(view, name)?.clone());
    }
    found.operands = module.operands(view).to_vec();
    found.groups = Some(numbers(module.attr(view, SEGMENTS)?)?);
    Some(found)
}

/// A write through a view: the source comes behind the destination.
fn written(mut view: Found, source: Value) -> Option<Found> {
    if view.operands.is_empty() {
        return None;
    }
    view.operands.insert(1, source);
    view.groups.as_mut()?.insert(1, 1);
    Some(view)
}

/// The sizes that memory was allocated with.
fn allocated(module: &Module, memory: Value) -> Option<Vec<Value>> {
    let alloc = module.defining_op(memory)?;
    (module.name(alloc) == "memref.alloc").then(|| module.operands(alloc).to_vec())
}

fn created(module: &Module, memory: Value, value: &[Value]) -> Option<Vec<Value>> {
    let cast = module.defining_op(memory)?;
    let sizes = allocated(module, *module.operands(cast).first()?)?;
    Some([&sizes, value].concat())
}

/// Whether nothing but an operation and what follows it uses a helper's value.
fn is_used_behind(module: &Module, value: Value, op: Op) -> bool {
    let is_helper = module.defining_op(value).is_some_and(|op| module.attr(op, HELPER).is_some());
    let Some(block) = module.block_of(op) else { return false };
    let behind = |user: Op| {
        let place = module.ancestor_in(user, block);
        place.is_some_and(|place| place == op || module.is_before(op, place))
    };
    is_helper && module.users(value).into_iter().all(behind)
}

/// An environment with what is nested in it.
fn raise_region(module: &mut Module, op: Op) -> Option<()> {
    let is_region = module.name(op) == EXECUTE_REGION
        && stands_for(module, op).as_deref() == Some(OpKind::RegionEnvRegion.name());
    let [body] = *module.regions(op) else { return None };
    let last = module.last_op(body)?;
    if !is_region || module.kind(last) != OpKind::ScfYield || !module.arguments(body).is_empty() {
        return None;
    }
    let mut attrs = Attrs::new();
    for (name, value) in kept(module, op).iter() {
        attrs.set(name.to_string(), read(value)?);
    }
    let mut operands = Vec::new();
    let same = module.ops(body).next().filter(|first| module.name(*first) == SAME_VALUES);
    if let Some(same) = same.filter(|same| module.attr(*same, HELPER).is_some()) {
        operands = module.operands(same).to_vec();
        let has_arguments = module.attr(same, HELPER) == Some(&Attr::Unit);
        for value in module.results(same).to_vec().into_iter().filter(|_| has_arguments) {
            let argument = module.add_argument(body, module.ty(value).clone());
            let hint = module.hint(value).map(str::to_string);
            module.set_hint(argument, hint.as_deref());
            module.replace_uses(value, argument);
        }
        module.erase(same);
    }
    module.set_kind(last, OpKind::RegionEnvRegionYield);
    module.set_kind(op, OpKind::RegionEnvRegion);
    module.set_operands(op, &operands, None);
    *module.attrs_mut(op) = attrs;
    Some(())
}

/// An environment of its text; any other attribute as it is.
fn read(attr: &Attr) -> Option<Attr> {
    let text = match attr {
        Attr::Dict(dict) => dict.get(ENV).and_then(Attr::as_str),
        _ => None,
    };
    text.map_or_else(|| Some(attr.clone()), |text| parse_attr(text).ok())
}

fn drop_helping_loops(module: &mut Module) {
    for op in module.walk(module.top()) {
        let is_loop = !module.is_erased(op) && module.name(op) == "linalg.generic";
        if is_loop && module.attr(op, HELPER).is_some() && module.results(op).is_empty() {
            module.erase(op);
        }
    }
}

fn drop_helpers(module: &mut Module) {
    let names = ["memref.alloc", "memref.cast", "memref.dim", "memref.subview", "arith.constant"];
    for op in module.walk(module.top()).into_iter().rev() {
        let is_helper = module.attr(op, HELPER).is_some() && names.contains(&module.name(op));
        let is_unused = module.results(op).iter().all(|value| module.is_unused(*value));
        if is_helper && is_unused && module.regions(op).is_empty() {
            module.erase(op);
        }
    }
}

/// Functions that only stood for operations.
fn drop_declarations(module: &mut Module) {
    let calls = module.walk(module.top()).into_iter();
    let called: HashSet<Attr> = calls.filter_map(|op| module.attr(op, "callee").cloned()).collect();
    for function in module.functions().collect::<Vec<_>>() {
        let name = module.function_name(function).map(|name| Attr::Symbol(name.into()));
        let is_ours = module.attr(function, OP).is_some() && module.body(function).is_none();
        if is_ours && name.is_some_and(|name| !called.contains(&name)) {
            module.erase(function);
        }
    }
}
