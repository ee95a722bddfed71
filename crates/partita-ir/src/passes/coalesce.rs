//! `dist-coalesce`: fetches what all views of an array need in one exchange.
//!
//! **In**: repartitions of arrays and of views of them. **Out**: per array, and per stretch of the
//! program in which the array is not written, one repartition of the array itself, to the smallest
//! box that has all that its views need on this rank; the views then look at what was fetched, and
//! are told which of their entries the rank is to have (their *target*).
//! - First, operators that use each other's results get the place where the last result is written
//!   to (as `dist-propagate` does), so that all views have the same target.
//! - Writes are barriers: what is read after a write to an array, or to one that may share memory
//!   with it, is fetched after it. The body of a loop is looked at by itself, so that every turn
//!   fetches anew what it reads.
//! - A view that lies far from the others would make the box large with rows that nobody needs. It
//!   is left out, and fetched by an exchange of its own; so is one at a distance that is not known
//!   before the program runs.
//! - Exchanges of several arrays that can begin at the same point begin there, and have the same
//!   `message` number: they may travel in one message.
//!
//! **Why it is right.** The box has every element that a target needs of its view, since it was
//! computed from both, and nothing writes the array between the exchange and the operators that
//! read the views. A view of the array that is itself returned or written is not touched: only
//! what was a repartition is replaced, and a repartition was a copy where it was not owned.

use std::collections::HashMap;

use crate::attr::Attr;
use crate::builder::{Entry, Slices};
use crate::kind::OpKind;
use crate::module::{Block, Module, Op, Value};
use crate::passes::Options;
use crate::passes::boxes::BoxOf;
use crate::passes::emit::Emit;
use crate::passes::failing::{has_sizes_of_slice, unchecked};
use crate::passes::hoist::hoist;
use crate::passes::memory::{Class, Epochs, Memory};
use crate::passes::places::Places;
use crate::passes::propagate::{Eagerness, settle};
use crate::passes::separate::separate;
use crate::table::Traits;
use crate::types::DistEnv;

/// Views this far apart are always fetched together: what lies between is small.
const NEAR: i64 = 16;
/// Ranks to reckon with where their number is not known.
const MANY_RANKS: u64 = 16;

pub(super) fn run(module: &mut Module, options: &Options) {
    separate(module);
    settle(module, options, Eagerness::TargetsOnly);
    let mut coalesce =
        Coalesce { places: Places::of(module), memory: Memory::of(module), options, n_messages: 0 };
    for block in blocks(module) {
        coalesce.block(module, block);
    }
}

fn blocks(module: &Module) -> Vec<Block> {
    let ops = module.walk(module.top());
    ops.into_iter().flat_map(|op| module.regions(op).to_vec()).collect()
}

fn repartitions(module: &Module, block: Block) -> Vec<Op> {
    module.ops(block).filter(|op| module.kind(*op) == OpKind::DistRepartition).collect()
}

struct Coalesce<'a> {
    places: Places,
    memory: Memory,
    options: &'a Options,
    n_messages: i64,
}

/// What an operator needs of an array.
#[derive(Debug, Clone)]
struct Request {
    op: Op,
    base: Value,
    slices: Slices,
    target: Option<BoxOf>,
}

impl Coalesce<'_> {
    fn block(&mut self, module: &mut Module, block: Block) {
        let epochs = Epochs::of(module, &mut self.memory, block);
        let ops: Vec<Op> = module.ops(block).collect();
        let mut groups: Vec<Vec<Request>> = Vec::new();
        let mut of_key: HashMap<(Value, Class, usize), usize> = HashMap::new();
        for op in repartitions(module, block) {
            let Some((request, class, epoch)) = self.request(module, block, &epochs, op) else {
                continue;
            };
            let at = *of_key.entry((request.base, class, epoch)).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[at].push(request);
        }
        let mut keys: Vec<((Value, Class, usize), usize)> = of_key.into_iter().collect();
        keys.sort_unstable_by_key(|(_, at)| *at);
        for ((base, class, epoch), at) in keys {
            let group = std::mem::take(&mut groups[at]);
            if group.len() < 2 {
                continue;
            }
            let early = self.earliest(module, &ops, base, epochs.start(class, epoch));
            for near in clusters(module, group, self.options) {
                if near.len() > 1 {
                    fetch_once(module, &near, early, self.options);
                }
            }
        }
        self.share_messages(module, block);
    }

    /// The first operation before which an array is there and has its last write behind it.
    fn earliest(&self, module: &Module, ops: &[Op], base: Value, start: usize) -> Option<Op> {
        let standing = ops[start..]
            .iter()
            .copied()
            .filter(|op| !module.is_erased(*op) && !module.kind(*op).traits().has(Traits::PURE));
        let made = module.defining_op(base);
        match made.and_then(|made| module.block_of(made)) {
            Some(block) if ops.first().is_some_and(|op| module.block_of(*op) == Some(block)) => {
                let mut standing = standing;
                standing.find(|op| made.is_some_and(|made| module.is_before(made, *op)))
            }
            _ => standing.into_iter().next(),
        }
    }

    /// What a repartition asks for, if all its uses see the array as it is now.
    fn request(
        &mut self,
        module: &mut Module,
        block: Block,
        epochs: &Epochs,
        op: Op,
    ) -> Option<(Request, Class, usize)> {
        let source = module.operands(op)[0];
        let (base, slices) = viewed(module, source, op, self.options)?;
        if !self.places.is_all_owned(module, base) {
            return None;
        }
        let class = self.memory.class(module, base);
        let epoch = epochs.epoch(class, op)?;
        let mut users = module.uses(module.result(op)).iter();
        let unwritten =
            users.all(|u| epochs.epoch_of_user(module, block, class, u.op) == Some(epoch));
        let target = match module.operand_group(op, 1) {
            [] => None,
            offsets => Some(BoxOf {
                offsets: offsets.to_vec(),
                sizes: module.operand_group(op, 2).to_vec(),
            }),
        };
        unwritten.then_some((Request { op, base, slices, target }, class, epoch))
    }

    /// Lets exchanges begin together where nothing is written between.
    fn share_messages(&mut self, module: &mut Module, block: Block) {
        let epochs = Epochs::of(module, &mut self.memory, block);
        // Where the message begins, and its last exchange so far.
        let mut last: Option<Op> = None;
        let mut tail: Option<Op> = None;
        for op in repartitions(module, block) {
            let array = module.operands(op)[0];
            let class = self.memory.class(module, array);
            let together = last.is_some_and(|last| {
                let indices = module.operands(op)[1..].to_vec();
                epochs.epoch(class, last) == epochs.epoch(class, op)
                    && module.dominates(array, last)
                    && hoist(module, &indices, last)
            });
            match last {
                Some(previous) if together => {
                    module.move_after(op, tail.unwrap_or(previous));
                    tail = Some(op);
                    let number = module.attr(previous, "message").cloned();
                    let number = number.unwrap_or_else(|| {
                        let number = Attr::i64(self.n_messages);
                        self.n_messages += 1;
                        module.attrs_mut(previous).set("message", number.clone());
                        number
                    });
                    module.attrs_mut(op).set("message", number);
                }
                _ => (last, tail) = (Some(op), None),
            }
        }
    }
}

/// The array that a value is a view of, and the slice, through any number of views.
fn viewed(
    module: &mut Module,
    value: Value,
    place: Op,
    options: &Options,
) -> Option<(Value, Slices)> {
    let mut found: Option<Slices> = None;
    let mut at = value;
    while let Some(op) = module.defining_op(at) {
        let plain = module.kind(op) == OpKind::DistSubview
            && module.operand_group(op, 4).is_empty()
            && module.attr(op, "final").is_none()
            && has_sizes_of_slice(module, op);
        if !plain {
            break;
        }
        let outer = module.slices(op)?;
        found = Some(match found {
            None => outer,
            Some(inner) => Emit::before(module, place, options).compose(&outer, &inner),
        });
        at = module.operands(op)[0];
    }
    let slices = match found {
        Some(slices) => slices,
        None => Emit::before(module, place, options).whole(at),
    };
    Some((at, slices))
}

/// Requests that are better fetched together: those whose slices begin near each other along the
/// cut dimensions. What lies at a distance that is not known gets a box of its own.
fn clusters(module: &Module, requests: Vec<Request>, options: &Options) -> Vec<Vec<Request>> {
    let cut = module.ty(requests[0].base).dist().map_or(Vec::new(), |env| env.cut().to_vec());
    let mut clusters: Vec<Vec<Request>> = Vec::new();
    for request in requests {
        let near = |cluster: &&mut Vec<Request>| {
            let (a, b) = (&cluster[0].slices, &request.slices);
            cut.iter().all(|dim| is_near(module, a, b, *dim, options))
        };
        match clusters.iter_mut().find(near) {
            Some(cluster) => cluster.push(request),
            None => clusters.push(vec![request]),
        }
    }
    clusters
}

/// A box around both has at most as many rows between them as a rank's part has itself.
fn is_near(module: &Module, a: &Slices, b: &Slices, dim: usize, options: &Options) -> bool {
    let (first, second) = (start(module, a.offsets[dim]), start(module, b.offsets[dim]));
    if first.0 != second.0 {
        return false;
    }
    let n_ranks = i64::try_from(options.n_ranks.unwrap_or(MANY_RANKS)).unwrap_or(i64::MAX).max(1);
    let known = |entry: Entry| unchecked(module, entry).known();
    let stride = known(a.strides[dim]).unwrap_or(1).saturating_abs();
    let rows = known(a.sizes[dim]).unwrap_or(0).saturating_mul(stride) / n_ranks;
    first.1.abs_diff(second.1) <= rows.max(NEAR).unsigned_abs()
}

/// Where a slice begins: a value that is not known, if there is one, and a number added to it.
fn start(module: &Module, entry: Entry) -> (Option<Value>, i64) {
    let mut at = unchecked(module, entry);
    let mut shift = 0_i64;
    loop {
        let value = match at {
            Entry::Known(number) => return (None, shift.saturating_add(number)),
            Entry::Value(value) => value,
        };
        let Some((rest, number)) = added(module, value) else { return (Some(value), shift) };
        shift = shift.saturating_add(number);
        at = unchecked(module, Entry::Value(rest));
    }
}

/// A value as another one and a constant that is added.
fn added(module: &Module, value: Value) -> Option<(Value, i64)> {
    let op = module.defining_op(value)?;
    let [a, b] = *module.operands(op) else { return None };
    match (module.kind(op), module.known_index(a), module.known_index(b)) {
        (OpKind::ArithAddi, _, Some(number)) => Some((a, number)),
        (OpKind::ArithAddi, Some(number), _) => Some((b, number)),
        (OpKind::ArithSubi, _, Some(number)) => Some((a, number.checked_neg()?)),
        _ => None,
    }
}

/// One repartition to the box around all requests, and views of it in their place.
///
/// It begins as early as it can, so that more can be computed before it is waited for.
fn fetch_once(module: &mut Module, requests: &[Request], early: Option<Op>, options: &Options) {
    let all = |module: &mut Module, place: Op| {
        let mut requests = requests.iter();
        requests.all(|request| hoist(module, &indices(request), place))
    };
    let first = early.filter(|early| all(module, *early)).unwrap_or(requests[0].op);
    let ready: Vec<&Request> =
        requests.iter().filter(|request| hoist(module, &indices(request), first)).collect();
    if ready.len() < 2 {
        return;
    }
    let base = ready[0].base;
    let mut emit = Emit::before(module, first, options);
    let mut targets = Vec::with_capacity(ready.len());
    for request in &ready {
        targets.push(match &request.target {
            Some(target) => target.clone(),
            None => default_target(&mut emit, request),
        });
    }
    let mut around: Option<BoxOf> = None;
    for (request, target) in ready.iter().zip(&targets) {
        around = Some(emit.bounding_box(&request.slices, target, around.as_ref()));
    }
    let Some(around) = around else { return };
    let ty = unknown_place(emit.module, base);
    let fetched = emit.build().repartition(base, Some((&around.offsets, &around.sizes)), ty);
    located(emit.module, fetched, ready[0].op);
    let mut views = Vec::with_capacity(ready.len());
    for (request, target) in ready.iter().zip(&targets) {
        let ty = emit.module.ty(emit.module.result(request.op)).clone();
        let target = Some((&target.offsets[..], &target.sizes[..]));
        let view = emit.build().dist_subview(fetched, &request.slices, target, ty);
        located(emit.module, view, request.op);
        views.push(view);
    }
    for (request, view) in ready.iter().zip(views) {
        let source = module.operands(request.op)[0];
        module.replace_op(request.op, &[view]);
        drop_unused_views(module, source);
    }
}

/// Lets errors of what gives a value point at the operation that it stands for.
fn located(module: &mut Module, value: Value, place: Op) {
    if let Some(op) = module.defining_op(value) {
        module.set_location(op, module.location(place));
    }
}

fn indices(request: &Request) -> Vec<Value> {
    let lists = [&request.slices.offsets, &request.slices.sizes, &request.slices.strides];
    let entries = lists.into_iter().flatten().filter_map(|entry| match entry {
        Entry::Value(value) => Some(*value),
        Entry::Known(_) => None,
    });
    let target =
        request.target.iter().flat_map(|target| target.offsets.iter().chain(&target.sizes));
    entries.chain(target.copied()).collect()
}

/// Without a target, a repartition asks for the default partition of the view.
fn default_target(emit: &mut Emit<'_>, request: &Request) -> BoxOf {
    let shape = emit.entries(&request.slices.sizes);
    let result = emit.module.result(request.op);
    match emit.module.ty(result).dist().cloned() {
        Some(env) => emit.default_box(&env, &shape),
        None => BoxOf { offsets: vec![emit.index(0); shape.len()], sizes: shape },
    }
}

fn unknown_place(module: &Module, base: Value) -> crate::types::Type {
    let ty = module.ty(base).clone();
    let Some(array) = ty.as_array() else { return ty };
    let mut new = array.clone();
    let env = array.dist().map(|env| {
        let unknown = DistEnv::unknown(env.team.clone(), array.shape.len());
        match &env.grid {
            Some(grid) => DistEnv::unknown_on(env.team.clone(), array.shape.len(), grid.clone()),
            None => unknown,
        }
    });
    new.set_dist(env);
    new.into()
}

fn drop_unused_views(module: &mut Module, value: Value) {
    let mut at = value;
    while let Some(op) = module.defining_op(at) {
        if module.kind(op) != OpKind::DistSubview || !module.is_unused(at) {
            return;
        }
        at = module.operands(op)[0];
        module.erase(op);
    }
}
