//! Operations of `dist`.

use super::{Builder, Slices};
use crate::attr::Attr;
use crate::enums::{EwBin, EwUny};
use crate::kind::OpKind;
use crate::module::{NewOp, Value};
use crate::types::Type;

/// Offsets and sizes, one value per dimension each.
pub type BoxValues = (Vec<Value>, Vec<Value>);

impl Builder<'_> {
    /// `dist.init_dist_array`
    pub fn init_dist_array(&mut self, offsets: &[Value], parts: &[Value], result: Type) -> Value {
        let new = NewOp::new(OpKind::DistInitDistArray).groups(&[offsets, parts]);
        self.value(new.result(result))
    }

    /// `dist.local_offsets_of`
    pub fn local_offsets_of(&mut self, array: Value) -> Vec<Value> {
        let ndim = self.module().ty(array).shape().map_or(0, <[_]>::len);
        let new = NewOp::new(OpKind::DistLocalOffsetsOf).operands(&[array]);
        let op = self.insert(new.results(vec![Type::INDEX; ndim]));
        self.module().results(op).to_vec()
    }

    /// `dist.parts_of`
    pub fn parts_of(&mut self, array: Value, parts: &[Type]) -> Vec<Value> {
        let new = NewOp::new(OpKind::DistPartsOf).operands(&[array]);
        let op = self.insert(new.results(parts.to_vec()));
        self.module().results(op).to_vec()
    }

    /// `dist.default_partition`
    pub fn default_partition(&mut self, size: Value, member: Value, shape: &[Value]) -> BoxValues {
        let new = NewOp::new(OpKind::DistDefaultPartition).operands(&[size, member]);
        self.boxed(new.operands(shape), shape.len())
    }

    /// `dist.local_target_of_slice`
    pub fn local_target_of_slice(&mut self, array: Value, slice: [&[Value]; 3]) -> BoxValues {
        let new = NewOp::new(OpKind::DistLocalTargetOfSlice);
        self.boxed(new.groups(&[&[array], slice[0], slice[1], slice[2]]), slice[0].len())
    }

    /// `dist.local_bounding_box`: slice, target, earlier box; the smallest box around both.
    pub fn local_bounding_box(
        &mut self,
        slice: [&[Value]; 3],
        target: (&[Value], &[Value]),
        before: Option<(&[Value], &[Value])>,
    ) -> BoxValues {
        let before = before.unwrap_or_default();
        let [offsets, sizes, strides] = slice;
        let new = NewOp::new(OpKind::DistLocalBoundingBox)
            .groups(&[offsets, sizes, strides, target.0, target.1, before.0, before.1])
            .attr("inner", Attr::Bool(false));
        self.boxed(new, offsets.len())
    }

    /// `dist.local_core`: slice, target, earlier core.
    pub fn local_core(
        &mut self,
        array: Value,
        slice: [&[Value]; 3],
        target: (&[Value], &[Value]),
        before: Option<(&[Value], &[Value])>,
    ) -> BoxValues {
        let before = before.unwrap_or_default();
        let [offsets, sizes, strides] = slice;
        let groups = [&[array], target.0, target.1, offsets, sizes, strides, before.0, before.1];
        self.boxed(NewOp::new(OpKind::DistLocalCore).groups(&groups), offsets.len())
    }

    /// `dist.repartition`; without a target, to the default partition.
    pub fn repartition(
        &mut self,
        array: Value,
        target: Option<(&[Value], &[Value])>,
        result: Type,
    ) -> Value {
        let (offsets, sizes) = target.unwrap_or_default();
        let new = NewOp::new(OpKind::DistRepartition).groups(&[&[array], offsets, sizes]);
        self.value(new.result(result))
    }

    /// `dist.subview`
    pub fn dist_subview(
        &mut self,
        source: Value,
        slices: &Slices,
        target: Option<(&[Value], &[Value])>,
        result: Type,
    ) -> Value {
        let view = self.subview(source, slices, result);
        let Some(op) = self.module().defining_op(view) else { return view };
        let (offsets, sizes) = target.unwrap_or_default();
        let module = self.module_mut();
        let mut groups: Vec<&[Value]> =
            (0..4).map(|group| module.operand_group(op, group)).collect();
        groups.extend([offsets, sizes]);
        let lengths: Vec<u32> = groups.iter().map(|group| group.len() as u32).collect();
        let operands = groups.concat();
        module.set_kind(op, OpKind::DistSubview);
        module.set_operands(op, &operands, Some(&lengths));
        view
    }

    /// `dist.ewbin` without a core.
    pub fn dist_ewbin(&mut self, op: EwBin, lhs: Value, rhs: Value, result: Type) -> Value {
        let new = NewOp::new(OpKind::DistEwBin).groups(&[&[lhs], &[rhs], &[], &[], &[]]);
        self.value(new.attr("op", Attr::i32(op as i32)).result(result))
    }

    /// `dist.ewuny` without a core.
    pub fn dist_ewuny(&mut self, op: EwUny, source: Value, result: Type) -> Value {
        let new = NewOp::new(OpKind::DistEwUny).groups(&[&[source], &[], &[], &[]]);
        self.value(new.attr("op", Attr::i32(op as i32)).result(result))
    }

    /// `dist.where` without a core.
    pub fn dist_where(&mut self, condition: Value, yes: Value, no: Value, result: Type) -> Value {
        let groups: [&[Value]; 6] = [&[condition], &[yes], &[no], &[], &[], &[]];
        self.value(NewOp::new(OpKind::DistWhere).groups(&groups).result(result))
    }

    fn boxed(&mut self, new: NewOp, ndim: usize) -> BoxValues {
        let op = self.insert(new.results(vec![Type::INDEX; 2 * ndim]));
        let (offsets, sizes) = self.module().results(op).split_at(ndim);
        (offsets.to_vec(), sizes.to_vec())
    }
}
