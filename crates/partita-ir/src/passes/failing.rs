//! Which operations may end the program with an error.
//!
//! What a program says is wrong is part of what it means: a load outside its array ends the program
//! with passes as it does without them, even if nobody uses the element. So no pass drops an
//! operation that may fail, unless it is certain that this one does not.

use crate::attr::Attr;
use crate::builder::{Entry, Slices};
use crate::kind::OpKind;
use crate::module::{Module, Op, Value};
use crate::slices::Reach;
use crate::types::Size;

/// Whether an operation may fail, as far as its operands and types say.
pub(super) fn may_fail(module: &Module, op: Op) -> bool {
    match module.kind(op) {
        OpKind::NdarrayLoad => load_may_fail(module, op),
        OpKind::NdarraySubview
        | OpKind::NdarrayExtractSlice
        | OpKind::NdarrayImmutableInsertSlice
        | OpKind::DistSubview => slice_may_fail(module, op),
        OpKind::DistCheckedSlice | OpKind::PartitionGetSlice | OpKind::PartitionSetSlice => true,
        OpKind::NdarrayCreate
        | OpKind::NdarrayIota
        | OpKind::NdarrayRandom
        | OpKind::NdarrayReshape => shape_may_fail(module, op),
        OpKind::RuntimeCopyReshape => !keeps_count(module, op),
        OpKind::NdarrayLinspace => !is_count(module, module.operands(op)[2]),
        OpKind::NdarrayCast => !is_static_like_its_source(module, op),
        OpKind::NdarrayDim => !is_dimension(module, op),
        OpKind::ArithDivsi
        | OpKind::ArithDivui
        | OpKind::ArithCeildivsi
        | OpKind::ArithFloordivsi
        | OpKind::ArithRemsi
        | OpKind::ArithRemui => division_may_fail(module, op),
        OpKind::NdarrayEwBin
        | OpKind::NdarrayEwUny
        | OpKind::NdarrayWhere
        | OpKind::NdarrayCopy
        | OpKind::NdarrayCastElemtype
        | OpKind::NdarrayCumulative
        | OpKind::NdarrayPermuteDims
        | OpKind::DistEwBin
        | OpKind::DistEwUny
        | OpKind::DistWhere => is_dist(module, op) && !has_known_shapes(module, op),
        OpKind::NdarrayReduction => !has_known_elements(module, op),
        _ => false,
    }
}

/// Whether a slice was checked when the program ran: one of its numbers comes from that.
pub(super) fn is_checked(module: &Module, slices: &Slices) -> bool {
    let values = slices.offsets.iter().chain(&slices.sizes);
    let checks = |entry: &Entry| match entry {
        Entry::Value(value) => check_of(module, *value).is_some(),
        Entry::Known(_) => false,
    };
    values.into_iter().any(checks)
}

/// The check that gives a number, and the number that was checked.
fn check_of(module: &Module, value: Value) -> Option<(Op, Value)> {
    let op = module.defining_op(value)?;
    if module.kind(op) != OpKind::DistCheckedSlice {
        return None;
    }
    let place = module.results(op).iter().position(|result| *result == value)?;
    let numbers = [module.operand_group(op, 1), module.operand_group(op, 2)].concat();
    Some((op, *numbers.get(place)?))
}

/// A number as it was before it was checked.
pub(super) fn unchecked(module: &Module, entry: Entry) -> Entry {
    let Entry::Value(value) = entry else { return entry };
    let Some((_, number)) = check_of(module, value) else { return entry };
    module.known_index(number).map_or(Entry::Value(number), Entry::Known)
}

/// Whether the type of a view says no more of its sizes than its slice does.
pub(super) fn has_sizes_of_slice(module: &Module, op: Op) -> bool {
    let Some(slices) = module.slices(op) else { return false };
    let shape = module.ty(module.result(op)).shape().unwrap_or(&[]);
    shape.len() == slices.sizes.len()
        && shape.iter().zip(&slices.sizes).all(|(size, entry)| match size {
            Size::Known(_) => unchecked(module, *entry) == Entry::Known(size.as_i64()),
            Size::Dynamic => true,
        })
}

fn load_may_fail(module: &Module, op: Op) -> bool {
    let shape = module.ty(module.operands(op)[0]).shape().unwrap_or(&[]);
    let indices = module.operand_group(op, 1);
    let inside = |(index, size): (&Value, &Size)| {
        let index = module.known_index(*index).and_then(|index| u64::try_from(index).ok());
        index.zip(size.known()).is_some_and(|(index, size)| index < size)
    };
    !indices.iter().zip(shape).all(inside)
}

fn slice_may_fail(module: &Module, op: Op) -> bool {
    let Some(slices) = module.slices(op) else { return true };
    let shape = module.ty(module.operands(op)[0]).shape().unwrap_or(&[]);
    let inside = slices.reach(shape) == Reach::Inside || is_checked(module, &slices);
    let is_view = module.kind(op) != OpKind::NdarrayImmutableInsertSlice;
    !inside || is_view && !may_be_reduced(module, op, &slices)
}

/// The sizes of a view are those of its slice, or its type says nothing of them.
fn may_be_reduced(module: &Module, op: Op, slices: &Slices) -> bool {
    let all_known = slices.sizes.iter().all(|size| size.known().is_some());
    all_known || has_sizes_of_slice(module, op)
}

fn shape_may_fail(module: &Module, op: Op) -> bool {
    let sizes = module.operands_named(op, "shape");
    let reshape = module.kind(op) == OpKind::NdarrayReshape;
    let copies = module.attr(op, "copy").and_then(Attr::as_bool) != Some(false);
    let known = |value: Value| module.ty(value).shape().is_some_and(is_static);
    let kept = !reshape || copies && known(module.operands(op)[0]);
    !kept || !sizes.iter().all(|size| is_count(module, *size))
}

/// Whether a reshape across ranks is known to keep the number of elements.
fn keeps_count(module: &Module, op: Op) -> bool {
    let count = |group: usize| {
        let sizes = module.known_indices(module.operand_group(op, group))?;
        sizes.iter().try_fold(1_i64, |n, size| n.checked_mul(*size))
    };
    count(1).is_some_and(|n| n >= 0 && count(3) == Some(n))
}

fn is_count(module: &Module, value: Value) -> bool {
    module.known_index(value).is_some_and(|number| number >= 0)
}

fn is_static(shape: &[Size]) -> bool {
    shape.iter().all(|size| size.known().is_some())
}

fn is_static_like_its_source(module: &Module, op: Op) -> bool {
    let (from, to) = (module.ty(module.operands(op)[0]), module.ty(module.result(op)));
    let (from, to) = (from.shape().unwrap_or(&[]), to.shape().unwrap_or(&[]));
    from.len() == to.len()
        && from.iter().zip(to).all(|(from, to)| *to == Size::Dynamic || from == to)
}

fn is_dimension(module: &Module, op: Op) -> bool {
    let [array, dim] = *module.operands(op) else { return false };
    let ndim = module.ty(array).shape().map_or(0, <[_]>::len);
    let dim = module.known_index(dim).and_then(|dim| usize::try_from(dim).ok());
    dim.is_some_and(|dim| dim < ndim)
}

fn division_may_fail(module: &Module, op: Op) -> bool {
    let divisor = module.operands(op).get(1).and_then(|value| module.known_index(*value));
    divisor.is_none_or(|number| number == 0)
}

/// Of local arrays, passes write operations themselves, with sizes that are not known but right.
fn is_dist(module: &Module, op: Op) -> bool {
    module.ty(module.result(op)).dist().is_some()
}

/// Some reductions have no answer for no elements.
fn has_known_elements(module: &Module, op: Op) -> bool {
    let shape = module.ty(module.operands(op)[0]).shape().unwrap_or(&[]);
    shape.iter().all(|size| size.known().is_some_and(|size| size > 0))
}

fn has_known_shapes(module: &Module, op: Op) -> bool {
    let mut operands = module.operands(op).iter().filter_map(|value| module.ty(*value).shape());
    operands.all(is_static)
}
