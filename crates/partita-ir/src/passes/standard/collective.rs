//! Reshapes and permutations: copies across ranks.

use super::Lowering;
use super::parts::Parts;
use crate::attr::Attr;
use crate::module::{NewOp, Op, Value};
use crate::passes::boxes::BoxOf;
use crate::types::Type;

impl Lowering<'_> {
    /// The same elements in another shape, by a copy across ranks.
    pub(super) fn reshape(&mut self, op: Op) -> Option<()> {
        let module = &*self.emit.module;
        let source = module.operands(op)[0];
        let new_shape = module.operand_group(op, 1).to_vec();
        let copies = module.attr(op, "copy").and_then(Attr::as_bool) != Some(false);
        if !copies || !self.is_of_sizes(module.result(op), &new_shape) {
            return None;
        }
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
