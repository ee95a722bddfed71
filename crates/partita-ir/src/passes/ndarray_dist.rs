//! `ndarray-dist`: says of every operation on distributed arrays what each rank has to have.
//!
//! **In**: operations of `ndarray` on distributed arrays, which mean what they mean for whole
//! arrays. **Out**: operations of `dist`, each of which computes on a rank what that rank holds,
//! and `dist.repartition` in front of them, which brings the operands to one place:
//! - an operator of several arrays: each operand is brought to the default partition of the result;
//!   where its shape differs from the result's (dimensions of size 1 repeat), to what the rank's
//!   part of the result needs of it. 0-d operands are everywhere already.
//! - `x[slice] = v`: `v` is brought to the entries of the slice that the rank owns of `x`
//!   (`dist.local_target_of_slice`); the write is marked `placed`, and moves nothing.
//! - a view becomes `dist.subview`; a slice by value a copy of one; a functional insert a copy and
//!   a write.
//! - a slice that may leave its array is checked first (`dist.checked_slice`); what comes after uses
//!   numbers that were checked.
//!
//! What is brought where it already is costs nothing to think about here: `dist-propagate` and
//! `dist-coalesce` take it away again. Products of matrices, reductions, reshapes and what else
//! looks at more than single elements stay as they are; they have their meaning on distributed
//! arrays.
//!
//! **Why it is right.** A repartition gives the same array, only elsewhere. Default parts tile the
//! result, as the owned entries of a slice tile the slice, so that every element is computed, and
//! by one rank. A source that looks at the array it is written into is fetched before the write.

use crate::attr::Attr;
use crate::builder::{Builder, Entry, Slices};
use crate::kind::OpKind;
use crate::module::{Module, NewOp, Op, Value};
use crate::passes::Options;
use crate::passes::boxes::BoxOf;
use crate::passes::canonicalise::is_matmul;
use crate::passes::emit::Emit;
use crate::passes::failing::{has_sizes_of_slice, unchecked};
use crate::passes::places::Places;
use crate::passes::separate::separate;
use crate::types::{DistEnv, Grid, Size, Type};

pub(super) fn run(module: &mut Module, options: &Options) {
    separate(module);
    let places = Places::of(module);
    for op in module.walk(module.top()) {
        if !module.is_erased(op) {
            rewrite(module, op, &places, options);
        }
    }
}

fn rewrite(module: &mut Module, op: Op, places: &Places, options: &Options) {
    match module.kind(op) {
        OpKind::NdarraySubview => subview(module, op, options),
        OpKind::DistSubview => check_view(module, op, options),
        OpKind::NdarrayExtractSlice => extract(module, op, options),
        OpKind::NdarrayEwBin if !is_matmul(module, op) => {
            elementwise(module, op, OpKind::DistEwBin, places, options);
        }
        OpKind::NdarrayEwUny => elementwise(module, op, OpKind::DistEwUny, places, options),
        OpKind::NdarrayWhere => elementwise(module, op, OpKind::DistWhere, places, options),
        OpKind::NdarrayInsertSlice => insert(module, op, places, options),
        OpKind::NdarrayImmutableInsertSlice => insert_by_value(module, op, places, options),
        _ => {}
    }
}

/// The environment of a result, if it and all operands are distributed arrays.
fn all_dist(module: &Module, op: Op) -> Option<DistEnv> {
    let arrays = module.operands(op).iter().filter(|v| module.ty(**v).as_array().is_some());
    let mut arrays = arrays.chain(module.results(op));
    arrays.all(|value| module.ty(*value).dist().is_some()).then_some(())?;
    let first = module.results(op).first().or(module.operands(op).first())?;
    module.ty(*first).dist().cloned()
}

fn ndim(module: &Module, value: Value) -> usize {
    module.ty(value).shape().map_or(0, <[_]>::len)
}

/// A view that has its slice's dimensions and sizes; others stay as they are.
fn is_plain_view(module: &Module, op: Op) -> bool {
    let source = module.operands(op)[0];
    all_dist(module, op).is_some()
        && ndim(module, source) == ndim(module, module.result(op))
        && has_sizes_of_slice(module, op)
}

fn subview(module: &mut Module, op: Op, options: &Options) {
    if !is_plain_view(module, op) {
        return;
    }
    let groups: Vec<Vec<Value>> =
        (0..4).map(|group| module.operand_group(op, group).to_vec()).collect();
    let mut lengths: Vec<u32> = groups.iter().map(|group| group.len() as u32).collect();
    lengths.extend([0, 0]);
    module.set_kind(op, OpKind::DistSubview);
    module.set_operands(op, &groups.concat(), Some(&lengths));
    check_view(module, op, options);
}

/// Lets a view look at a slice that has been checked.
fn check_view(module: &mut Module, op: Op, options: &Options) {
    let (source, slices) = (module.operands(op)[0], module.slices(op));
    let Some(slices) = slices else { return };
    let checked = Emit::before(module, op, options).checked(source, &slices);
    if checked != slices {
        module.set_slices(op, &checked);
    }
}

fn extract(module: &mut Module, op: Op, options: &Options) {
    let Some(slices) = module.slices(op).filter(|_| is_plain_view(module, op)) else { return };
    let source = module.operands(op)[0];
    let ty = module.ty(module.result(op)).clone();
    let mut emit = Emit::before(module, op, options);
    let slices = emit.checked(source, &slices);
    let from = emit.module.ty(source).dist().and_then(|env| env.grid.clone());
    let mut b = emit.build();
    let view = b.dist_subview(source, &slices, None, on_grid(&ty, from));
    let copy = b.copy(view, ty);
    module.replace_op(op, &[copy]);
}

fn elementwise(module: &mut Module, op: Op, kind: OpKind, places: &Places, options: &Options) {
    let Some(env) = all_dist(module, op) else { return };
    let result = module.result(op);
    if env.loffs.is_empty() && ndim(module, result) > 0 {
        return;
    }
    let operands = module.operands(op).to_vec();
    let alone = operands.iter().all(|operand| *operand == operands[0]);
    let same = module.ty(operands[0]).shape() == module.ty(result).shape()
        && is_same_grid(module.ty(operands[0]), &env)
        && places.is_all_owned(module, operands[0]);
    let mut brought = operands.clone();
    if !(alone && same) {
        let mut emit = Emit::before(module, op, options);
        brought = bring_all(&mut emit, &operands, result, &env);
    }
    let mut groups: Vec<&[Value]> = brought.iter().map(std::slice::from_ref).collect();
    groups.extend([&[][..]; 3]);
    let lengths: Vec<u32> = groups.iter().map(|group| group.len() as u32).collect();
    let operands = groups.concat();
    module.set_kind(op, kind);
    module.set_operands(op, &operands, Some(&lengths));
    module.attrs_mut(op).set("tiled", Attr::Unit);
}

/// Operands at the default partition of the result, each array once.
fn bring_all(emit: &mut Emit<'_>, operands: &[Value], result: Value, env: &DistEnv) -> Vec<Value> {
    let shape = emit.module.ty(result).shape().unwrap_or(&[]).to_vec();
    let mut target = None;
    let mut brought: Vec<(Value, Value)> = Vec::new();
    for operand in operands {
        if brought.iter().any(|(old, _)| old == operand) {
            continue;
        }
        let own = emit.module.ty(*operand).shape().unwrap_or(&[]).to_vec();
        let ty = emit.module.ty(*operand).clone();
        let new = if own.is_empty() {
            *operand
        } else if is_same_shape(&own, &shape) && is_same_grid(&ty, env) {
            emit.build().repartition(*operand, None, moved(&ty))
        } else {
            let target = target.get_or_insert_with(|| result_box(emit, operands, &shape, env));
            let part = needed(emit, *operand, target);
            let new_box = Some((&part.offsets[..], &part.sizes[..]));
            emit.build().repartition(*operand, new_box, moved(&ty))
        };
        brought.push((*operand, new));
    }
    let find = |operand: &Value| brought.iter().find(|(old, _)| old == operand).map(|pair| pair.1);
    operands.iter().filter_map(find).collect()
}

/// Equal for sure: where a size is not known, a dimension of size 1 may repeat.
fn is_same_shape(a: &[Size], b: &[Size]) -> bool {
    a == b && a.iter().all(|size| size.known().is_some())
}

fn is_same_grid(ty: &Type, env: &DistEnv) -> bool {
    ty.dist().is_some_and(|own| own.grid == env.grid)
}

/// Shape of the result and the default box in it.
struct ResultBox {
    shape: Vec<Value>,
    part: BoxOf,
}

fn result_box(emit: &mut Emit<'_>, operands: &[Value], shape: &[Size], env: &DistEnv) -> ResultBox {
    let mut sizes = Vec::with_capacity(shape.len());
    for (dim, size) in shape.iter().enumerate() {
        sizes.push(match size.known() {
            Some(size) => emit.index(size as i64),
            None => widest(emit, operands, dim, shape.len()),
        });
    }
    let part = emit.default_box(env, &sizes);
    ResultBox { shape: sizes, part }
}

/// The size of a result's dimension: that of an operand which does not repeat there.
fn widest(emit: &mut Emit<'_>, operands: &[Value], dim: usize, n_dims: usize) -> Value {
    let one = emit.index(1);
    let mut found = one;
    for operand in operands {
        let skip = n_dims - ndim(emit.module, *operand).min(n_dims);
        if dim >= skip && ndim(emit.module, *operand) > 0 {
            let size = emit.size(*operand, dim - skip);
            found = emit.if_equal(size, one, found, size);
        }
    }
    found
}

/// What a part of the result needs of an operand.
fn needed(emit: &mut Emit<'_>, operand: Value, result: &ResultBox) -> BoxOf {
    let shape = emit.shape(operand);
    let skip = result.shape.len() - shape.len();
    let zero = emit.index(0);
    let mut part = BoxOf { offsets: Vec::new(), sizes: Vec::new() };
    for (dim, size) in shape.iter().enumerate() {
        let whole = result.shape[skip + dim];
        let (offset, count) = (result.part.offsets[skip + dim], result.part.sizes[skip + dim]);
        part.offsets.push(emit.if_equal(*size, whole, offset, zero));
        part.sizes.push(emit.if_equal(*size, whole, count, *size));
    }
    part
}

/// The type of an array that is brought elsewhere: cut as before, in places that are not known.
fn moved(ty: &Type) -> Type {
    on_grid(ty, ty.dist().and_then(|env| env.grid.clone()))
}

/// The type of an array on a grid, in places that are not known.
fn on_grid(ty: &Type, grid: Option<Grid>) -> Type {
    let (Some(array), Some(env)) = (ty.as_array(), ty.dist()) else { return ty.clone() };
    let (team, ndim) = (env.team.clone(), array.shape.len());
    let mut new = array.clone();
    new.set_dist(Some(match grid {
        Some(grid) => DistEnv::unknown_on(team, ndim, grid),
        None => DistEnv::unknown(team, ndim),
    }));
    new.into()
}

fn insert(module: &mut Module, op: Op, places: &Places, options: &Options) {
    let [destination, source] = [module.operands(op)[0], module.operands(op)[1]];
    if all_dist(module, op).is_none() || module.attr(op, "placed").is_some() {
        return;
    }
    // A write goes to every copy of an element; where there may be several, it is left alone.
    if !places.is_all_owned(module, destination) {
        return;
    }
    let Some(slices) = module.slices(op) else { return };
    if ndim(module, source) == 0 {
        let slices = Emit::before(module, op, options).checked(destination, &slices);
        module.set_slices(op, &slices);
        module.attrs_mut(op).set("placed", Attr::Unit);
        return;
    }
    if !fits(module, source, &slices) {
        return;
    }
    let mut emit = Emit::before(module, op, options);
    let slices = emit.checked(destination, &slices);
    let target = emit.target_of_slice(destination, &slices);
    let ty = emit.module.ty(source).clone();
    let new_box = Some((&target.offsets[..], &target.sizes[..]));
    let brought = emit.build().repartition(source, new_box, moved(&ty));
    module.set_slices(op, &slices);
    module.set_operand(op, 1, brought);
    module.attrs_mut(op).set("placed", Attr::Unit);
}

/// Whether a source has for sure the shape of the slice it is written into.
fn fits(module: &Module, source: Value, slices: &Slices) -> bool {
    let n_dims = ndim(module, source);
    let same =
        |dim: usize| size_of(module, source, dim, 8) == Some(unchecked(module, slices.sizes[dim]));
    n_dims == slices.sizes.len() && (0..n_dims).all(same)
}

/// The size of a dimension as the program has it: a number, or the value it was made with.
fn size_of(module: &Module, array: Value, dim: usize, depth: usize) -> Option<Entry> {
    if let Some(size) = module.ty(array).shape()?.get(dim)?.known() {
        return i64::try_from(size).ok().map(Entry::Known);
    }
    let op = module.defining_op(array)?;
    let given =
        |value: &Value| module.known_index(*value).map_or(Entry::Value(*value), Entry::Known);
    match module.kind(op) {
        OpKind::NdarraySubview | OpKind::NdarrayExtractSlice | OpKind::DistSubview => {
            let sizes = module.slices(op)?.sizes;
            (sizes.len() == ndim(module, array)).then(|| unchecked(module, sizes[dim]))
        }
        OpKind::NdarrayCreate => module.operand_group(op, 0).get(dim).map(given),
        OpKind::NdarrayCopy
        | OpKind::NdarrayCastElemtype
        | OpKind::DistRepartition
        | OpKind::NdarrayEwBin
        | OpKind::NdarrayEwUny
        | OpKind::DistEwBin
        | OpKind::DistEwUny => common_size(module, op, dim, depth.checked_sub(1)?),
        _ => None,
    }
}

/// The size that all operands with dimensions have alike.
fn common_size(module: &Module, op: Op, dim: usize, depth: usize) -> Option<Entry> {
    let n_dims = ndim(module, module.result(op));
    let arrays = module.operands(op).iter().filter(|value| ndim(module, **value) > 0);
    let mut found = None;
    for array in arrays {
        let size =
            size_of(module, *array, dim, depth).filter(|_| ndim(module, *array) == n_dims)?;
        if found.is_some_and(|other| other != size) {
            return None;
        }
        found = Some(size);
    }
    found
}

fn insert_by_value(module: &mut Module, op: Op, places: &Places, options: &Options) {
    if all_dist(module, op).is_none() {
        return;
    }
    let [destination, source] = [module.operands(op)[0], module.operands(op)[1]];
    let Some(slices) = module.slices(op) else { return };
    let ty = module.ty(module.result(op)).clone();
    let mut b = Builder::before(module, op);
    let copy = b.value(NewOp::new(OpKind::NdarrayCopy).operands(&[destination]).result(ty));
    let write = b.insert_slice(copy, source, &slices);
    insert(module, write, places, options);
    module.replace_op(op, &[copy]);
}
