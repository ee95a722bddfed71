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
use crate::builder::{Builder, Slices};
use crate::kind::OpKind;
use crate::module::{Module, NewOp, Op, Value};
use crate::passes::Options;
use crate::passes::boxes::BoxOf;
use crate::passes::canonicalise::is_matmul;
use crate::passes::emit::Emit;
use crate::types::{DistEnv, Size, Type};

pub(super) fn run(module: &mut Module, options: &Options) {
    for op in module.walk(module.top()) {
        if !module.is_erased(op) {
            rewrite(module, op, options);
        }
    }
}

fn rewrite(module: &mut Module, op: Op, options: &Options) {
    match module.kind(op) {
        OpKind::NdarraySubview => subview(module, op),
        OpKind::NdarrayExtractSlice => extract(module, op),
        OpKind::NdarrayEwBin if !is_matmul(module, op) => {
            elementwise(module, op, OpKind::DistEwBin, options);
        }
        OpKind::NdarrayEwUny => elementwise(module, op, OpKind::DistEwUny, options),
        OpKind::NdarrayWhere => elementwise(module, op, OpKind::DistWhere, options),
        OpKind::NdarrayInsertSlice => insert(module, op, options),
        OpKind::NdarrayImmutableInsertSlice => insert_by_value(module, op, options),
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

/// A view keeps its number of dimensions here; others stay as they are.
fn subview(module: &mut Module, op: Op) {
    let source = module.operands(op)[0];
    if all_dist(module, op).is_none() || ndim(module, source) != ndim(module, module.result(op)) {
        return;
    }
    let groups: Vec<Vec<Value>> =
        (0..4).map(|group| module.operand_group(op, group).to_vec()).collect();
    let mut lengths: Vec<u32> = groups.iter().map(|group| group.len() as u32).collect();
    lengths.extend([0, 0]);
    module.set_kind(op, OpKind::DistSubview);
    module.set_operands(op, &groups.concat(), Some(&lengths));
}

fn extract(module: &mut Module, op: Op) {
    let source = module.operands(op)[0];
    if all_dist(module, op).is_none() || ndim(module, source) != ndim(module, module.result(op)) {
        return;
    }
    let Some(slices) = module.slices(op) else { return };
    let ty = module.ty(module.result(op)).clone();
    let mut b = Builder::before(module, op);
    let view = b.dist_subview(source, &slices, None, ty.clone());
    let copy = b.copy(view, ty);
    module.replace_op(op, &[copy]);
}

fn elementwise(module: &mut Module, op: Op, kind: OpKind, options: &Options) {
    let Some(env) = all_dist(module, op) else { return };
    let result = module.result(op);
    if env.loffs.is_empty() && ndim(module, result) > 0 {
        return;
    }
    let operands = module.operands(op).to_vec();
    let alone = operands.iter().all(|operand| *operand == operands[0]);
    let same = module.ty(operands[0]).shape() == module.ty(result).shape();
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
        } else if is_same_shape(&own, &shape) {
            emit.build().repartition(*operand, None, moved(&ty, env))
        } else {
            let target = target.get_or_insert_with(|| result_box(emit, operands, &shape, env));
            let part = needed(emit, *operand, target);
            let new_box = Some((&part.offsets[..], &part.sizes[..]));
            emit.build().repartition(*operand, new_box, moved(&ty, env))
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

/// The type of an array that is brought elsewhere.
///
/// Its grid has to cut the dimensions in which it is told apart from the result's part; for an
/// array that repeats, all ranks may hold the same, and any grid will do.
fn moved(ty: &Type, _env: &DistEnv) -> Type {
    match ty.as_array() {
        Some(array) => {
            let mut new = array.clone();
            let env = array.dist().map(|env| match &env.grid {
                Some(grid) => {
                    DistEnv::unknown_on(env.team.clone(), array.shape.len(), grid.clone())
                }
                None => DistEnv::unknown(env.team.clone(), array.shape.len()),
            });
            new.set_dist(env);
            new.into()
        }
        None => ty.clone(),
    }
}

fn insert(module: &mut Module, op: Op, options: &Options) {
    let [destination, source] = [module.operands(op)[0], module.operands(op)[1]];
    if all_dist(module, op).is_none() || module.attr(op, "placed").is_some() {
        return;
    }
    let Some(slices) = module.slices(op) else { return };
    if ndim(module, source) == 0 {
        module.attrs_mut(op).set("placed", Attr::Unit);
        return;
    }
    if !fits(module, source, &slices) {
        return;
    }
    let mut emit = Emit::before(module, op, options);
    let target = emit.target_of_slice(destination, &slices);
    let ty = emit.module.ty(source).clone();
    let env = ty.dist().cloned();
    let Some(env) = env else { return };
    let new_box = Some((&target.offsets[..], &target.sizes[..]));
    let brought = emit.build().repartition(source, new_box, moved(&ty, &env));
    module.set_operand(op, 1, brought);
    module.attrs_mut(op).set("placed", Attr::Unit);
}

/// Whether a source has for sure the shape of the slice it is written into.
fn fits(module: &Module, source: Value, slices: &Slices) -> bool {
    let shape = module.ty(source).shape().unwrap_or(&[]);
    let size = |size: &Size| size.known().map(|_| crate::builder::Entry::Known(size.as_i64()));
    shape.len() == slices.sizes.len()
        && shape.iter().zip(&slices.sizes).all(|(own, wanted)| match size(own) {
            Some(own) => own == *wanted,
            None => matches!(wanted, crate::builder::Entry::Value(_)),
        })
}

fn insert_by_value(module: &mut Module, op: Op, options: &Options) {
    if all_dist(module, op).is_none() {
        return;
    }
    let [destination, source] = [module.operands(op)[0], module.operands(op)[1]];
    let Some(slices) = module.slices(op) else { return };
    let ty = module.ty(module.result(op)).clone();
    let mut b = Builder::before(module, op);
    let copy = b.value(NewOp::new(OpKind::NdarrayCopy).operands(&[destination]).result(ty));
    let write = b.insert_slice(copy, source, &slices);
    insert(module, write, options);
    module.replace_op(op, &[copy]);
}
