//! `convert-dist-to-standard`: local arrays, index arithmetic and communication instead of `dist`.
//!
//! **In**: operations of `dist` (and the `ndarray` operations on distributed arrays that have a
//! local form). **Out**: what one rank does: operations of `ndarray` on its own parts, index
//! arithmetic in `arith`, and `distruntime` for what crosses ranks.
//! - An array is its parts: for k cut dimensions 3^k boxes, before, owned and after along each.
//!   `dist.parts_of` takes apart what comes from outside, `dist.init_dist_array` puts together
//!   what goes outside; between the two, arrays are only parts here.
//! - A repartition starts to fetch what is missing (`get_halo`), takes a view of what is there, and
//!   waits.
//! - An operator runs over the *core*, the entries whose elements the rank owns in all operands,
//!   and over the edges around it: along each cut dimension before, in and after the core. The
//!   core looks at the owned parts themselves; what an edge needs of an array is small, and is
//!   put together from its parts in a buffer of its own. So there are 3^k loops for any number of
//!   operators and views, and operators that share a core hand on their pieces as they are.
//! - Ranks without a share in something run the same program on arrays without elements.
//! - Reductions become local ones, with an allreduce where a cut dimension goes; reshapes and
//!   permutations become runtime copies; of new arrays every rank makes its own part.
//!
//! **Why it is right.** The pieces of an operator tile its part of the result. In the core every
//! element of every operand is owned, which the core's own computation says; for an edge the
//! buffer has the box around all that its views need there. Pieces are values of their own, made
//! before anything is written, so a source that looks at its destination is read first. What is
//! not understood (a stride that is not known, an array whose owned parts might not tile it) keeps
//! its operation of `dist` or `ndarray`, which has its meaning at this level too.

mod collective;
mod creation;
mod edges;
mod elementwise;
mod moves;
mod neutral;
mod parts;
mod reductions;

use std::collections::{HashMap, HashSet};

use crate::kind::OpKind;
use crate::module::{Module, Op, Value};
use crate::passes::dce::sweep;
use crate::passes::emit::Emit;
use crate::passes::places::{Place, Places, default_of};
use crate::passes::separate::separate;
use crate::passes::{Options, fold};
use crate::table::Traits;
use crate::types::Type;

use elementwise::{Edge, EdgeKey, Tiled};
use parts::Parts;

pub(super) fn run(module: &mut Module, options: &Options) {
    separate(module);
    for function in module.functions().collect::<Vec<_>>() {
        let Some(body) = module.body(function) else { continue };
        let known = Known::of(module, function);
        let Some(first) = module.ops(body).next() else { continue };
        let emit = Emit::before(module, first, options);
        let mut lowering = Lowering {
            emit,
            known,
            parts: HashMap::new(),
            tiled: HashMap::new(),
            edges: HashMap::new(),
            done: Vec::new(),
        };
        lowering.all(body);
    }
}

/// What was known of the arrays before anything was rewritten.
struct Known {
    all_owned: HashSet<Value>,
    by_default: HashSet<Value>,
    places: HashMap<Value, Place>,
}

impl Known {
    fn of(module: &Module, function: Op) -> Self {
        let mut places = Places::of(module);
        let mut known =
            Self { all_owned: HashSet::new(), by_default: HashSet::new(), places: HashMap::new() };
        let blocks = module.regions(function).to_vec();
        for block in blocks {
            let mut values = module.arguments(block).to_vec();
            for op in module.walk(block) {
                values.extend_from_slice(module.results(op));
                for inner in module.regions(op) {
                    values.extend_from_slice(module.arguments(*inner));
                }
            }
            for value in values.into_iter().filter(|value| module.ty(*value).dist().is_some()) {
                if places.is_all_owned(module, value) {
                    known.all_owned.insert(value);
                }
                let place = places.get(module, value);
                if place.is_some() && place == default_of(module, value) {
                    known.by_default.insert(value);
                }
                known.places.extend(place.map(|place| (value, place)));
            }
        }
        known
    }
}

struct Lowering<'m> {
    emit: Emit<'m>,
    known: Known,
    parts: HashMap<Value, Parts>,
    tiled: HashMap<Value, Tiled>,
    edges: HashMap<EdgeKey, Edge>,
    /// Operations that have been rewritten and may go once nobody uses them.
    done: Vec<Op>,
}

impl Lowering<'_> {
    fn all(&mut self, body: crate::module::Block) {
        let n_before = self.emit.module.n_ops();
        for op in self.emit.module.walk(body) {
            self.emit.move_before(op);
            if self.lower(op).is_some() {
                self.done.push(op);
            }
        }
        for op in std::mem::take(&mut self.done).into_iter().rev() {
            let module = &mut *self.emit.module;
            let unused = module.results(op).iter().all(|result| module.is_unused(*result));
            if unused {
                module.erase(op);
            }
        }
        let written = (n_before..self.emit.module.n_ops()).map(Op::at);
        sweep(self.emit.module, written);
    }

    /// Rewrites an operation; nothing if it stays.
    fn lower(&mut self, op: Op) -> Option<()> {
        match self.emit.module.kind(op) {
            OpKind::DistRepartition => self.repartition(op),
            OpKind::DistEwBin
            | OpKind::DistEwUny
            | OpKind::DistWhere
            | OpKind::NdarrayCopy
            | OpKind::NdarrayCastElemtype => self.elementwise(op),
            OpKind::NdarrayInsertSlice => self.insert_slice(op),
            OpKind::NdarrayCreate => self.create(op),
            OpKind::NdarrayIota => self.iota(op),
            OpKind::NdarrayLinspace => self.linspace(op),
            OpKind::NdarrayReduction => self.reduction(op),
            OpKind::NdarrayCumulative => self.cumulative(op),
            OpKind::NdarrayReshape => self.reshape(op),
            OpKind::NdarrayPermuteDims => self.permute(op),
            OpKind::DistLocalTargetOfSlice => self.local_target(op),
            OpKind::DistLocalCore => self.local_core(op),
            OpKind::DistSubview => self.outside_view(op),
            kind if kind.traits().has(Traits::PURE) => self.number(op),
            _ => None,
        }
    }

    /// Index arithmetic whose operands have become known.
    fn number(&mut self, op: Op) -> Option<()> {
        let results = self.emit.module.results(op).to_vec();
        let index = |value: &Value| *self.emit.module.ty(*value) == Type::INDEX;
        let constant = self.emit.module.kind(op) == OpKind::ArithConstant;
        if constant || results.is_empty() || !results.iter().all(index) {
            return None;
        }
        let found = fold::results(self.emit.module, op)?;
        for (old, new) in results.into_iter().zip(found) {
            let new = self.emit.index(new.as_int()?);
            self.emit.module.replace_uses(old, new);
        }
        Some(())
    }

    /// Whether a value is a distributed array.
    fn is_dist(&self, value: Value) -> bool {
        self.emit.module.ty(value).dist().is_some()
    }

    /// Lets everything that uses an operation's array use one that is put together of parts.
    fn give(&mut self, op: Op, parts: &Parts) {
        let result = self.emit.module.result(op);
        let ty = self.emit.module.ty(result).clone();
        let whole = self.put_together(parts, ty);
        self.emit.module.replace_uses(result, whole);
        self.parts.insert(whole, parts.clone());
        if let Some(init) = self.emit.module.defining_op(whole) {
            self.done.push(init);
        }
        for set in [&mut self.known.all_owned, &mut self.known.by_default] {
            if set.contains(&result) {
                set.insert(whole);
            }
        }
        if let Some(place) = self.known.places.get(&result).cloned() {
            self.known.places.insert(whole, place);
        }
    }
}
