//! `canonicalise`: computes what is known, writes sizes into types, drops what changes nothing.
//!
//! **In**: any program. **Out**: the same, where
//! - arithmetic on constants, and the index operations of `dist` on constants, are constants, which
//!   stand at the start of their function, each once;
//! - `x + 0`, `x * 1` and their like are `x`; a choice whose condition is known is gone;
//! - numbers of slices that are constants stand in the attributes;
//! - types say the sizes and offsets that the operands say;
//! - casts, reshapes and views that change nothing are gone, and so are writes of no elements;
//! - what `dist.init_dist_array` put together is not taken apart again.
//!
//! With options, `distruntime.team_size` and `distruntime.team_member` are constants too: the
//! program is then for one team size, or for one rank, and all its boxes are numbers.
//!
//! **Why it is right.** A constant is computed as the program would compute it, and left alone
//! where the program would fail. A type is only made more precise, and only where no user of the
//! value has to have exactly the old type (returns, yields, calls, loops). A view that is replaced
//! by its source shows the same elements in the same order, so writing either still writes both.
//!
//! One walk in program order is enough for constants, since operands come before their users.

use std::collections::HashMap;

use crate::attr::Attr;
use crate::builder::{Builder, Entry, Slices};
use crate::kind::OpKind;
use crate::module::{Mapping, Module, Op, Value};
use crate::passes::{Options, fold};
use crate::slices::{Reach, kept_dims};
use crate::table::Traits;
use crate::types::{ArrayType, DistEnv, Size, Type};

pub(super) fn run(module: &mut Module, options: &Options) {
    for function in module.functions().collect::<Vec<_>>() {
        let Some(body) = module.body(function) else { continue };
        let mut pass = Canonicalise { module, function, options, constants: HashMap::new() };
        for op in pass.module.walk(body) {
            if !pass.module.is_erased(op) {
                pass.visit(op);
            }
        }
    }
}

struct Canonicalise<'m> {
    module: &'m mut Module,
    function: Op,
    options: &'m Options,
    constants: HashMap<Attr, Value>,
}

impl Canonicalise<'_> {
    fn visit(&mut self, op: Op) {
        let kind = self.module.kind(op);
        if kind == OpKind::ArithConstant {
            return self.gather_constant(op);
        }
        if let Some(attrs) = self.known_results(op) {
            let values: Vec<Value> = attrs.into_iter().map(|attr| self.constant(attr)).collect();
            return self.module.replace_op(op, &values);
        }
        if let Some(values) = self.simpler(op) {
            return self.module.replace_op(op, &values);
        }
        match kind {
            OpKind::ScfIf => self.choose(op),
            OpKind::NdarrayInsertSlice if self.writes_nothing(op) => self.module.erase(op),
            _ => {
                self.fix_slice(op);
                self.refine(op);
            }
        }
    }

    fn known_results(&self, op: Op) -> Option<Vec<Attr>> {
        let number = |number: Option<u64>| {
            let number = i64::try_from(number?).ok()?;
            Some(vec![Attr::index(number)])
        };
        match self.module.kind(op) {
            OpKind::RuntimeTeamSize => number(self.options.n_ranks),
            OpKind::RuntimeTeamMember => number(self.options.rank),
            OpKind::NdarrayDim => self.known_dim(op),
            kind if !kind.traits().has(Traits::PURE) => None,
            _ => fold::results(self.module, op),
        }
    }

    fn known_dim(&self, op: Op) -> Option<Vec<Attr>> {
        let [array, dim] = *self.module.operands(op) else { return None };
        let dim = usize::try_from(self.module.known_index(dim)?).ok()?;
        let size = self.module.ty(array).shape()?.get(dim)?.known()?;
        Some(vec![Attr::index(i64::try_from(size).ok()?)])
    }

    /// Constants stand at the start of the function, so that later ones find them everywhere.
    fn gather_constant(&mut self, op: Op) {
        let Some(value) = self.module.attr(op, "value").cloned() else { return };
        if value.scalar().map(Type::Scalar).as_ref() != Some(self.module.ty(self.module.result(op)))
        {
            return;
        }
        let at_home = self.constants.get(&value).copied() == Some(self.module.result(op));
        if !at_home {
            let home = self.constant(value);
            if home != self.module.result(op) {
                self.module.replace_op(op, &[home]);
            }
        }
    }

    fn constant(&mut self, attr: Attr) -> Value {
        if let Some(value) = self.constants.get(&attr) {
            return *value;
        }
        let Some(body) = self.module.body(self.function) else {
            unreachable!("only bodies are walked")
        };
        let value = Builder::at_start(self.module, body).constant(attr.clone());
        self.constants.insert(attr, value);
        value
    }

    /// Values that are what an operation gives, if they are there already.
    fn simpler(&mut self, op: Op) -> Option<Vec<Value>> {
        let module = &*self.module;
        let operands = module.operands(op);
        let known = |place: usize| operands.get(place).and_then(|value| module.known_index(*value));
        let one = |place: usize| operands.get(place).map(|value| vec![*value]);
        match module.kind(op) {
            OpKind::ArithAddi | OpKind::ArithOri | OpKind::ArithXori => {
                match (known(0), known(1)) {
                    (Some(0), _) => one(1),
                    (_, Some(0)) => one(0),
                    _ => None,
                }
            }
            OpKind::ArithSubi if known(1) == Some(0) => one(0),
            OpKind::ArithMuli => match (known(0), known(1)) {
                (Some(1), _) => one(1),
                (_, Some(1)) => one(0),
                _ => None,
            },
            OpKind::ArithDivsi | OpKind::ArithCeildivsi | OpKind::ArithFloordivsi
                if known(1) == Some(1) =>
            {
                one(0)
            }
            OpKind::ArithMaxsi | OpKind::ArithMinsi if operands.first() == operands.get(1) => {
                one(0)
            }
            OpKind::ArithSelect if operands.get(1) == operands.get(2) => one(1),
            OpKind::ArithSelect => match module.constant_of(*operands.first()?)?.as_bool()? {
                true => one(1),
                false => one(2),
            },
            OpKind::NdarrayCast => self.unchanged(op).then(|| one(0)).flatten(),
            OpKind::NdarrayCastElemtype if self.copies(op) == Some(false) => {
                self.unchanged(op).then(|| one(0)).flatten()
            }
            OpKind::NdarrayReshape if self.copies(op) != Some(true) && !self.is_dist(op) => {
                let known = self.is_static(op) && self.unchanged(op);
                known.then(|| one(0)).flatten()
            }
            OpKind::NdarraySubview => {
                let whole = self.unchanged(op) && self.takes_everything(op);
                whole.then(|| one(0)).flatten()
            }
            OpKind::DistSubview if module.operand_group(op, 4).is_empty() => {
                let whole = module.attr(op, "final").is_none()
                    && self.unchanged(op)
                    && self.takes_everything(op);
                whole.then(|| one(0)).flatten()
            }
            OpKind::DistLocalOffsetsOf => {
                let init = self.defined_by(*operands.first()?, OpKind::DistInitDistArray)?;
                Some(module.operand_group(init, 0).to_vec())
            }
            OpKind::DistPartsOf => {
                let init = self.defined_by(*operands.first()?, OpKind::DistInitDistArray)?;
                let parts = module.operand_group(init, 1);
                let same = parts.len() == module.results(op).len()
                    && parts
                        .iter()
                        .zip(module.results(op))
                        .all(|(a, b)| module.ty(*a) == module.ty(*b) || !self.must_stay(*b));
                same.then(|| parts.to_vec())
            }
            _ => None,
        }
    }

    fn defined_by(&self, value: Value, kind: OpKind) -> Option<Op> {
        self.module.defining_op(value).filter(|op| self.module.kind(*op) == kind)
    }

    fn unchanged(&self, op: Op) -> bool {
        let operand = self.module.operands(op)[0];
        self.module.ty(operand) == self.module.ty(self.module.result(op))
    }

    fn copies(&self, op: Op) -> Option<bool> {
        self.module.attr(op, "copy").and_then(Attr::as_bool)
    }

    fn is_dist(&self, op: Op) -> bool {
        self.module.operands(op).iter().any(|value| self.module.ty(*value).dist().is_some())
    }

    fn is_static(&self, op: Op) -> bool {
        let shape = self.module.ty(self.module.result(op)).shape().unwrap_or(&[]);
        shape.iter().all(|size| size.known().is_some())
    }

    fn takes_everything(&self, op: Op) -> bool {
        let source = self.module.operands(op)[0];
        let shape = self.module.ty(source).shape().unwrap_or(&[]);
        self.module.slices(op).is_some_and(|slices| {
            let whole = |(dim, size): (usize, &Size)| {
                slices.offsets.get(dim) == Some(&Entry::Known(0))
                    && slices.strides.get(dim) == Some(&Entry::Known(1))
                    && size.known().is_some()
                    && slices.sizes.get(dim) == Some(&Entry::Known(size.as_i64()))
            };
            slices.offsets.len() == shape.len() && shape.iter().enumerate().all(whole)
        })
    }

    /// Whether a write has no elements, and is sure to be right about it.
    fn writes_nothing(&self, op: Op) -> bool {
        let slices = self.module.slices(op).unwrap_or_default();
        let [into, source] = [0, 1].map(|at| self.module.ty(self.module.operands(op)[at]).shape());
        let known = source.is_some_and(|shape| shape.iter().all(|size| size.known().is_some()));
        let inside = slices.reach(into.unwrap_or(&[])) == Reach::Inside;
        known && inside && slices.sizes.contains(&Entry::Known(0))
    }

    /// Puts the block that a known condition chooses in the place of the choice.
    fn choose(&mut self, op: Op) {
        let Some(condition) = self.module.operands(op).first().copied() else { return };
        let Some(truth) = self.module.constant_of(condition).and_then(Attr::as_bool) else {
            return;
        };
        let regions = self.module.regions(op).to_vec();
        let Some(block) = (if truth { regions.first() } else { regions.get(1) }) else {
            if self.module.results(op).is_empty() {
                self.module.erase(op);
            }
            return;
        };
        let mut mapping = Mapping::new();
        let inner: Vec<Op> = self.module.ops(*block).collect();
        let Some((last, rest)) = inner.split_last() else { return };
        let copies: Vec<Op> =
            rest.iter().map(|one| self.module.clone_before(*one, op, &mut mapping)).collect();
        let values: Vec<Value> =
            self.module.operands(*last).iter().map(|value| mapping.get(*value)).collect();
        self.module.replace_op(op, &values);
        for copy in copies {
            self.visit_all(copy);
        }
    }

    fn visit_all(&mut self, op: Op) {
        let regions = self.module.regions(op).to_vec();
        self.visit(op);
        for region in regions {
            for inner in self.module.walk(region) {
                if !self.module.is_erased(inner) {
                    self.visit(inner);
                }
            }
        }
    }

    /// Moves constants among a slice's operands into its attributes.
    fn fix_slice(&mut self, op: Op) {
        let Some(slices) = self.module.slices(op) else { return };
        let fixed = |entries: &[Entry]| -> Vec<Entry> {
            let known = |entry: &Entry| match entry {
                Entry::Value(value) => match self.module.known_index(*value) {
                    Some(number) if number != crate::types::DYNAMIC => Entry::Known(number),
                    _ => *entry,
                },
                Entry::Known(_) => *entry,
            };
            entries.iter().map(known).collect()
        };
        let new = Slices {
            offsets: fixed(&slices.offsets),
            sizes: fixed(&slices.sizes),
            strides: fixed(&slices.strides),
        };
        let array = self.module.operands(op).first();
        let shape = array.and_then(|array| self.module.ty(*array).shape()).unwrap_or(&[]);
        // What is wrong with a slice is said when the program runs, and not before.
        let wrong = matches!(new.reach(shape), Reach::Outside { .. })
            || new.strides.contains(&Entry::Known(0))
            || new.offsets.iter().any(|offset| offset.known().is_some_and(|n| n < 0));
        if new != slices && !wrong && self.keeps_dims(op, &new) {
            self.module.set_slices(op, &new);
        }
    }

    /// Whether a view with another slice has the same dimensions: a size that becomes known to be 1
    /// must not be taken for the one that is gone.
    fn keeps_dims(&self, op: Op, slices: &Slices) -> bool {
        let Some(result) = self.module.results(op).first() else { return true };
        let shape = self.module.ty(*result).shape().unwrap_or(&[]);
        shape.len() == slices.sizes.len()
            || kept_dims(&slices.static_sizes(), shape) == self.module.kept_dims(op)
    }

    /// Writes into a result's type what the operands say of it.
    fn refine(&mut self, op: Op) {
        let Some(result) = self.module.results(op).first().copied() else { return };
        let Some(old) = self.module.ty(result).as_array() else { return };
        let Some(new) = self.better(op, old) else { return };
        let better = old.shape.iter().zip(&new.shape).all(|(old, new)| old.may_equal(*new));
        if new != *old && better && old.shape.len() == new.shape.len() && !self.must_stay(result) {
            self.module.set_ty(result, new.into());
        }
    }

    /// Whether a user of a value has to have exactly its type.
    fn must_stay(&self, value: Value) -> bool {
        self.module.uses(value).iter().any(|u| {
            let kind = self.module.kind(u.op);
            kind.traits().has(Traits::TERMINATOR)
                || matches!(
                    kind,
                    OpKind::ScfFor
                        | OpKind::FuncCall
                        | OpKind::Unknown
                        | OpKind::ArithSelect
                        | OpKind::RegionEnvRegion
                        | OpKind::NdarrayImmutableInsertSlice
                )
        })
    }

    fn better(&self, op: Op, old: &ArrayType) -> Option<ArrayType> {
        let module = &*self.module;
        let from_values = |values: &[Value]| -> Vec<Size> {
            let size = |value: &Value| module.known_index(*value).and_then(Size::from_i64);
            values.iter().map(|value| size(value).unwrap_or(Size::Dynamic)).collect()
        };
        let shape = match module.kind(op) {
            OpKind::NdarraySubview | OpKind::NdarrayExtractSlice | OpKind::DistSubview => {
                let slices = module.slices(op)?;
                let size = |entry: &Entry| match entry {
                    Entry::Known(number) => Size::from_i64(*number),
                    Entry::Value(_) => Some(Size::Dynamic),
                };
                slices.sizes.iter().map(size).collect::<Option<Vec<_>>>()?
            }
            OpKind::NdarrayCreate | OpKind::NdarrayReshape | OpKind::NdarrayRandom => {
                let group = usize::from(module.kind(op) != OpKind::NdarrayCreate);
                from_values(module.operand_group(op, group))
            }
            OpKind::NdarrayEwUny | OpKind::NdarrayCopy | OpKind::NdarrayCastElemtype => {
                module.ty(module.operands(op)[0]).shape()?.to_vec()
            }
            OpKind::NdarrayEwBin if !is_matmul(module, op) => {
                broadcast(module, module.operands(op), old.shape.len())?
            }
            OpKind::DistInitDistArray => return self.put_together(op, old),
            _ => return None,
        };
        let known: Vec<Size> = old
            .shape
            .iter()
            .zip(&shape)
            .map(|(old, new)| if old.known().is_some() { *old } else { *new })
            .collect();
        (shape.len() == old.shape.len()).then(|| ArrayType { shape: known, ..old.clone() })
    }

    /// Offsets and parts that the operands of `dist.init_dist_array` say.
    fn put_together(&self, op: Op, old: &ArrayType) -> Option<ArrayType> {
        let env = old.dist()?;
        let size = |value: &Value| self.module.known_index(*value).and_then(Size::from_i64);
        let offsets = self.module.operand_group(op, 0).iter();
        let loffs: Vec<Size> = offsets.map(|v| size(v).unwrap_or(Size::Dynamic)).collect();
        let parts = self.module.operand_group(op, 1).iter();
        let lparts: Option<Vec<Vec<Size>>> =
            parts.map(|part| self.module.ty(*part).shape().map(<[_]>::to_vec)).collect();
        let lparts = lparts?;
        if lparts.len() != env.lparts.len() || loffs.len() != env.loffs.len() {
            return None;
        }
        let mut new = old.clone();
        new.set_dist(Some(DistEnv { loffs, lparts, ..env.clone() }));
        Some(new)
    }
}

/// Whether an element-by-element operator is in truth a product of matrices.
pub(super) fn is_matmul(module: &Module, op: Op) -> bool {
    let number = module.attr(op, "op").and_then(Attr::as_int);
    number == Some(crate::enums::EwBin::MatMul.number())
}

/// The shape of operands that are combined element by element; unknown where they do not say.
fn broadcast(module: &Module, operands: &[Value], ndim: usize) -> Option<Vec<Size>> {
    let mut shape = vec![Size::Known(1); ndim];
    for operand in operands {
        let own = module.ty(*operand).shape()?;
        let skip = ndim.checked_sub(own.len())?;
        for (found, size) in shape.iter_mut().skip(skip).zip(own) {
            *found = match (*found, *size) {
                (Size::Known(1), size) => size,
                (found, Size::Known(1)) => found,
                (Size::Known(n), _) | (_, Size::Known(n)) => Size::Known(n),
                _ => Size::Dynamic,
            };
        }
    }
    Some(shape)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Scalar;

    fn function(inputs: &[Type]) -> (Module, crate::Block) {
        let mut module = Module::new();
        let f = module.add_function("f", inputs, &[]);
        let body = module.body(f).expect("a body");
        (module, body)
    }

    #[test]
    fn boxes_become_numbers_for_one_rank() {
        let (mut module, body) = function(&[]);
        let mut b = Builder::at_end(&mut module, body);
        let (size, member) = (b.team_size(Attr::i64(1)), b.team_member(Attr::i64(1)));
        let n = b.index(8);
        let (offsets, sizes) = b.default_partition(size, member, &[n]);
        let end = b.addi(offsets[0], sizes[0]);
        b.ret(&[offsets[0], sizes[0], end]);
        run(&mut module, &Options { n_ranks: Some(3), rank: Some(1) });
        let last = module.last_op(body).expect("a return");
        assert_eq!(module.known_indices(module.operands(last)), Some(vec![2, 3, 5]));
    }

    #[test]
    fn slices_and_types_take_constants() {
        let ty = Type::array(&[Size::Known(9)], Scalar::F64);
        let unknown = Type::array(&[Size::Dynamic], Scalar::F64);
        let (mut module, body) = function(&[ty]);
        let array = module.arguments(body)[0];
        let mut b = Builder::at_end(&mut module, body);
        let (two, three) = (b.index(2), b.index(3));
        let slices = Slices {
            offsets: vec![Entry::Value(two)],
            sizes: vec![Entry::Value(three)],
            strides: vec![Entry::Known(1)],
        };
        let view = b.subview(array, &slices, unknown.clone());
        let sum = b.ewbin(crate::EwBin::Add, view, view, unknown);
        let zero = b.index(0);
        let size = b.dim(sum, zero);
        b.ret(&[size]);
        run(&mut module, &Options::default());
        let op = module.defining_op(view).expect("a view");
        assert_eq!(module.slices(op), Some(Slices::known(&[2], &[3], &[1])));
        assert_eq!(module.ty(sum).shape(), Some(&[Size::Known(3)][..]));
        let last = module.last_op(body).expect("a return");
        assert_eq!(module.known_indices(module.operands(last)), Some(vec![3]));
    }

    #[test]
    fn a_known_choice_is_made() {
        let (mut module, body) = function(&[Type::INDEX]);
        let n = module.arguments(body)[0];
        let mut b = Builder::at_end(&mut module, body);
        let truth = b.constant(Attr::Bool(false));
        let (op, yes, no) = b.if_else(truth, &[Type::INDEX]);
        b.move_to_end(yes);
        b.yield_(&[n]);
        b.move_to_end(no);
        let (one, two) = (b.index(1), b.index(2));
        let three = b.addi(one, two);
        b.yield_(&[three]);
        b.move_to_end(body);
        let result = b.module().result(op);
        b.ret(&[result]);
        run(&mut module, &Options::default());
        let last = module.last_op(body).expect("a return");
        assert_eq!(module.known_indices(module.operands(last)), Some(vec![3]));
    }
}
