//! `dist-infer-elementwise-cores`: tells operators which entries they can compute at once.
//!
//! **In**: operators on views of fetched arrays, as `dist-coalesce` leaves them. **Out**: the same
//! operators with a core: those entries of their common target whose elements the rank owns in
//! every view. Operators that use each other's results get the same core, so that their loops have
//! the same bounds and can be fused.
//!
//! **Why it is right.** A core says what is true anyway, and changes no result. It is computed by a
//! chain of `dist.local_core`, one per view, each of which cuts away what its view does not own;
//! arrays that are wholly owned cut away nothing. Where a view of the group has another target, or
//! its numbers are not known before the first operator, the group gets no core, and each operator
//! finds its own when it is lowered.

use std::collections::{BTreeSet, HashMap, HashSet};

use crate::kind::OpKind;
use crate::module::{Module, NewOp, Op, Value};
use crate::passes::Options;
use crate::passes::boxes::BoxOf;
use crate::passes::emit::Emit;
use crate::passes::hoist::hoist;

pub(super) fn run(module: &mut Module, options: &Options) {
    for group in groups(module) {
        attach(module, &group, options);
    }
}

fn is_operator(module: &Module, op: Op) -> bool {
    matches!(module.kind(op), OpKind::DistEwBin | OpKind::DistEwUny | OpKind::DistWhere)
}

/// Operators without a core that use each other's results, in program order.
fn groups(module: &Module) -> Vec<Vec<Op>> {
    let mut of: HashMap<Op, usize> = HashMap::new();
    let mut groups: Vec<Vec<Op>> = Vec::new();
    for op in module.walk(module.top()) {
        if !is_operator(module, op) || !module.operands_named(op, "core_offsets").is_empty() {
            continue;
        }
        let producers = module.operands(op).iter().filter_map(|value| module.defining_op(*value));
        let shape = module.ty(module.result(op)).shape();
        // Ordered, so that every process writes the same program.
        let near: BTreeSet<usize> = producers
            .filter(|other| {
                module.block_of(*other) == module.block_of(op)
                    && module.results(*other).first().and_then(|r| module.ty(*r).shape()) == shape
            })
            .filter_map(|other| of.get(&other).copied())
            .collect();
        let into = near.iter().copied().max_by_key(|group| groups[*group].len());
        let into = into.unwrap_or_else(|| {
            groups.push(Vec::new());
            groups.len() - 1
        });
        for other in near.into_iter().filter(|other| *other != into) {
            for moved in std::mem::take(&mut groups[other]) {
                of.insert(moved, into);
                groups[into].push(moved);
            }
        }
        of.insert(op, into);
        groups[into].push(op);
    }
    groups.retain(|group| !group.is_empty());
    groups
}

/// A view of a fetched array among the operands of a group.
struct View {
    op: Op,
    target: BoxOf,
}

/// Views that are as large as the results; those that repeat are put together as a whole.
fn views(module: &Module, group: &[Op]) -> Vec<View> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for op in group {
        for operand in module.operands(*op) {
            let Some(view) = module.defining_op(*operand) else { continue };
            if module.ty(*operand).shape() != module.ty(module.result(*op)).shape() {
                continue;
            }
            let target = BoxOf {
                offsets: module.operand_group(view, 4).to_vec(),
                sizes: module.operand_group(view, 5).to_vec(),
            };
            let targeted = module.kind(view) == OpKind::DistSubview && !target.offsets.is_empty();
            if targeted && seen.insert(view) {
                found.push(View { op: view, target });
            }
        }
    }
    found
}

fn attach(module: &mut Module, group: &[Op], options: &Options) -> Option<()> {
    let views = views(module, group);
    let first = group.iter().copied().reduce(|a, b| if module.is_before(b, a) { b } else { a })?;
    let target = views.first()?.target.clone();
    let alike = views.iter().all(|view| view.target == target);
    let known = |module: &mut Module, view: &View| {
        let numbers: Vec<Value> = module.operands(view.op)[1..].to_vec();
        module.dominates(module.operands(view.op)[0], first) && hoist(module, &numbers, first)
    };
    if !alike || !views.iter().all(|view| known(module, view)) || has_other_halos(module, group) {
        return None;
    }
    let mut emit = Emit::before(module, first, options);
    let mut core: Option<BoxOf> = None;
    for view in &views {
        let source = emit.module.operands(view.op)[0];
        let slices = emit.module.slices(view.op)?;
        let [offsets, sizes, strides] = emit.slice_values(&slices);
        let before = core.take();
        let (c_offsets, c_sizes) = match &before {
            Some(before) => (&before.offsets[..], &before.sizes[..]),
            None => (&[][..], &[][..]),
        };
        let new = NewOp::new(OpKind::DistLocalCore).groups(&[
            &[source],
            &target.offsets,
            &target.sizes,
            &offsets,
            &sizes,
            &strides,
            c_offsets,
            c_sizes,
        ]);
        core = Some(emit.boxed(new, offsets.len()).into());
    }
    let core = core?;
    for op in group {
        let n_arrays = module.operand_ranges(*op)?.len() - 3;
        module.set_operand_group(*op, n_arrays, &core.offsets);
        module.set_operand_group(*op, n_arrays + 1, &core.sizes);
        module.set_operand_group(*op, n_arrays + 2, &target.offsets);
    }
    Some(())
}

/// Whether a group uses an array with halos that is not a view with a target.
fn has_other_halos(module: &Module, group: &[Op]) -> bool {
    group.iter().flat_map(|op| module.operands(*op)).any(|operand| {
        let Some(op) = module.defining_op(*operand) else { return false };
        let same = module.ty(*operand).shape() == module.ty(module.result(group[0])).shape();
        same && matches!(module.kind(op), OpKind::DistRepartition | OpKind::DistInitDistArray)
    })
}
