//! What makes arrays, and what looks at more than single elements.

use super::Lowering;
use super::parts::Parts;
use crate::attr::Attr;
use crate::enums::Reduce;
use crate::module::{NewOp, Op, Value};
use crate::passes::boxes::BoxOf;
use crate::types::Type;

impl Lowering<'_> {
    /// Every rank makes its own part.
    pub(super) fn create(&mut self, op: Op) -> Option<()> {
        let module = &*self.emit.module;
        let result = module.result(op);
        let env = self.env(result)?;
        let shape = module.operand_group(op, 0).to_vec();
        let value = module.operand_group(op, 1).first().copied();
        if shape.len() != module.ty(result).shape()?.len() {
            return None;
        }
        let owned = match shape.as_slice() {
            [] => BoxOf { offsets: Vec::new(), sizes: Vec::new() },
            shape => self.emit.default_box(&env, shape),
        };
        let ty = self.local(&owned.sizes, self.element(result));
        let local = self.emit.build().create(&owned.sizes, value, ty);
        let stops = self.ends(&owned);
        self.give(op, &Parts::owned_alone(&owned.offsets, &stops, local, env.cut()));
        Some(())
    }

    /// Sums and products of everything: of what is owned, then of all ranks.
    pub(super) fn reduction(&mut self, op: Op) -> Option<()> {
        let module = &*self.emit.module;
        let (input, result) = (module.operands(op)[0], module.result(op));
        let reduce = Reduce::from_number(module.attr(op, "op")?.as_int()?)?;
        let whole = module.attr(op, "axes").is_none() && module.ty(result).shape() == Some(&[]);
        // Others have no answer for a rank that owns nothing.
        let divisible = matches!(reduce, Reduce::Sum | Reduce::Prod);
        let there = self.known.all_owned.contains(&input);
        if !whole || !divisible || !there || module.ty(input).shape() == Some(&[]) {
            return None;
        }
        let team = self.env(input)?.team;
        let parts = self.parts_of(input).filter(Parts::is_alone)?;
        let ty = Type::array(&[], self.element(result));
        let sum = self.emit.build().reduce(reduce, parts.own(), ty);
        self.emit.build().allreduce(reduce, sum, team);
        if self.is_dist(result) {
            self.give(op, &Parts { bounds: Vec::new(), parts: vec![sum], cut: Vec::new() });
        } else {
            self.emit.module.replace_uses(result, sum);
        }
        Some(())
    }

    /// The same elements in another shape, by a copy across ranks.
    pub(super) fn reshape(&mut self, op: Op) -> Option<()> {
        let module = &*self.emit.module;
        let source = module.operands(op)[0];
        let new_shape = module.operand_group(op, 1).to_vec();
        let (from, shape, owned, team, ty) = self.copied(op, source, &new_shape)?;
        let groups = [&shape[..], &from.own_offsets(), &new_shape, &owned.offsets, &owned.sizes];
        let (handle, new) = self.emit.build().copy_reshape(team, from.own(), groups, ty);
        self.arrive(op, handle, new, &owned)
    }

    /// Another order of the dimensions, by a copy across ranks.
    pub(super) fn permute(&mut self, op: Op) -> Option<()> {
        let module = &*self.emit.module;
        let source = module.operands(op)[0];
        let axes = module.attr(op, "axes").and_then(Attr::as_i64s)?.to_vec();
        if !self.is_dist(source) {
            return None;
        }
        let shape = self.emit.shape(source);
        let dims: Option<Vec<usize>> =
            axes.iter().map(|axis| usize::try_from(*axis).ok()).collect();
        let new_shape: Option<Vec<Value>> =
            dims?.into_iter().map(|dim| shape.get(dim).copied()).collect();
        let (from, shape, owned, team, ty) = self.copied(op, source, &new_shape?)?;
        let groups = [&shape[..], &from.own_offsets(), &owned.offsets, &owned.sizes];
        let (handle, new) = self.emit.build().copy_permute(team, &axes, from.own(), groups, ty);
        self.arrive(op, handle, new, &owned)
    }

    /// What a copy across ranks takes, and what it gives on this rank.
    fn copied(
        &mut self,
        op: Op,
        source: Value,
        new_shape: &[Value],
    ) -> Option<(Parts, Vec<Value>, BoxOf, Attr, Type)> {
        let result = self.emit.module.result(op);
        let env = self.env(result)?;
        if !self.is_dist(source) || !self.known.all_owned.contains(&source) || new_shape.is_empty()
        {
            return None;
        }
        let from = self.parts_of(source).filter(|parts| !parts.bounds.is_empty())?;
        let from = Some(from).filter(Parts::is_alone)?;
        let shape = self.emit.shape(source);
        let owned = self.emit.default_box(&env, new_shape);
        let ty = self.local(&owned.sizes, self.element(result));
        Some((from, shape, owned, env.team, ty))
    }

    fn arrive(&mut self, op: Op, handle: Value, new: Value, owned: &BoxOf) -> Option<()> {
        self.emit.build().insert(NewOp::new(crate::kind::OpKind::RuntimeWait).operands(&[handle]));
        let cut = self.env(self.emit.module.result(op))?.cut().to_vec();
        let stops = self.ends(owned);
        self.give(op, &Parts::owned_alone(&owned.offsets, &stops, new, &cut));
        Some(())
    }
}
