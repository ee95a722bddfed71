//! The operations of `dist`: index arithmetic for each dimension, and arrays of parts.

use std::rc::Rc;

use partita_ir::{Attr, Op, OpKind, Value as Name};
use partita_layout::dist::{
    Bound, Extent, default_partition, local_bounding_box, local_core, local_target_of_slice,
};
use partita_layout::{IndexBox, Slice};

use super::Runner;
use super::dist::{Cuts, DistArray};
use super::interpret::Frame;
use super::operators::Placing;
use super::problem::{Outcome, problem};
use super::value::{Number, Value};
use super::views::{Reading, Slicing, held_view};
use crate::local::Array;

impl Runner<'_> {
    pub(super) fn dist_op(&mut self, op: Op, kind: OpKind, frame: &mut Frame) -> Outcome<()> {
        let values = match kind {
            OpKind::DistInitDistArray => vec![self.init_dist_array(op, frame)?],
            OpKind::DistLocalOffsetsOf => {
                let array = self.dist_operand(op, frame)?;
                numbers(&array.offsets)
            }
            OpKind::DistPartsOf => self.parts_of(op, frame)?,
            OpKind::DistDefaultPartition => self.default_partition(op, frame)?,
            OpKind::DistLocalTargetOfSlice => self.local_target(op, frame)?,
            OpKind::DistCheckedSlice => self.checked_slice(op, frame)?,
            OpKind::DistLocalBoundingBox => self.bounding_box(op, frame)?,
            OpKind::DistLocalCore => self.core(op, frame)?,
            OpKind::DistRepartition => vec![self.repartition_op(op, frame)?],
            OpKind::DistSubview => vec![self.dist_subview(op, frame)?],
            OpKind::DistEwBin | OpKind::DistEwUny | OpKind::DistWhere => {
                let names = (0..3).flat_map(|group| match group {
                    0 => self.module.operand_group(op, 0),
                    1 if kind != OpKind::DistEwUny => self.module.operand_group(op, 1),
                    2 if kind == OpKind::DistWhere => self.module.operand_group(op, 2),
                    _ => &[],
                });
                let values = names.map(|name| frame.get(*name).cloned());
                let values: Vec<Value> = values.collect::<Outcome<_>>()?;
                vec![match kind {
                    OpKind::DistEwBin => self.binary(op, &values, Placing::Fixed)?,
                    OpKind::DistEwUny => self.unary(op, &values, Placing::Fixed)?,
                    _ => self.choice(op, &values, Placing::Fixed)?,
                }]
            }
            _ => return Err(problem("it cannot be run; use another operation")),
        };
        self.fit_types(op, &values)?;
        self.give(op, values, frame)
    }

    fn dist_operand(&self, op: Op, frame: &Frame) -> Outcome<Rc<DistArray>> {
        let first = self.module.operands(op).first();
        let first = first.ok_or_else(|| problem("its array is missing; verify the program"))?;
        match frame.get(*first)? {
            Value::Dist(array) => Ok(Rc::clone(array)),
            _ => Err(problem("its array is not distributed; use dist.init_dist_array")),
        }
    }

    /// A group of index operands as numbers that are not negative.
    fn group(&self, op: Op, name: &str, frame: &Frame) -> Outcome<Vec<u64>> {
        unsigned(frame, self.module.operands_named(op, name))
    }

    fn init_dist_array(&mut self, op: Op, frame: &Frame) -> Outcome<Value> {
        let result = self.module.result(op);
        let ty = self.module.ty(result);
        let sizes = ty.shape().unwrap_or_default().to_vec();
        let cuts = self.result_cuts(op)?;
        let cuts = cuts.ok_or_else(|| problem("its result is not distributed; give it a team"))?;
        let offsets = self.group(op, "l_offset", frame)?;
        let mut parts: Vec<Array> = Vec::new();
        for name in self.module.operands_named(op, "parts") {
            match frame.get(*name)? {
                Value::Array(array) => parts.push(array.clone()),
                _ => return Err(problem("a part is not local; use arrays of this rank")),
            }
        }
        let shape = self.global_shape_of(&sizes, &cuts, &offsets, &parts)?;
        let n_parts = 3_usize.pow(cuts.dims.len() as u32);
        if let ([own], true) = (&parts[..], n_parts > 1) {
            let made = DistArray::owned(&shape, &cuts, &offsets, own);
            return Ok(Value::Dist(Rc::new(made)));
        }
        if parts.len() != n_parts || offsets.len() != shape.len() {
            let (n_given, ndim) = (parts.len(), shape.len());
            return Err(problem(format!(
                "{n_given} parts and {} offsets for an array of {ndim} dimensions; give {n_parts} parts and {ndim} offsets",
                offsets.len()
            )));
        }
        Ok(Value::Dist(Rc::new(DistArray {
            shape,
            cuts: cuts.dims,
            grid: cuts.grid,
            offsets,
            parts,
            places: Default::default(),
        })))
    }

    /// The global shape; what the type leaves open is where the last rank's part ends.
    fn global_shape_of(
        &mut self,
        sizes: &[partita_ir::Size],
        cuts: &Cuts,
        offsets: &[u64],
        parts: &[Array],
    ) -> Outcome<Vec<u64>> {
        let known: Option<Vec<u64>> = sizes.iter().map(|size| size.known()).collect();
        if let Some(shape) = known {
            return Ok(shape);
        }
        let middle = parts.len() / 2;
        let reach = |dim: usize| {
            let axis = cuts.dims.iter().position(|cut| *cut == dim);
            // Before, owned and after along the dimension, the owned part of all others.
            let step = axis.map(|axis| 3_usize.pow((cuts.dims.len() - 1 - axis) as u32));
            let places = match step.filter(|_| parts.len() > 1) {
                Some(step) => vec![middle.wrapping_sub(step), middle, middle + step],
                None => vec![middle],
            };
            let sizes = places.into_iter().filter_map(|place| parts.get(place)?.shape().get(dim));
            offsets.get(dim).copied().unwrap_or(0) + sizes.map(|n| *n as u64).sum::<u64>()
        };
        let own: Vec<u64> = (0..sizes.len()).map(reach).collect();
        let all = self.mover.gather_numbers("shape", &own)?;
        let most = |dim: usize| all.iter().filter_map(|one| one.get(dim)).max().copied();
        let size = |(dim, size): (usize, &partita_ir::Size)| {
            size.known().or_else(|| most(dim)).unwrap_or(0)
        };
        Ok(sizes.iter().enumerate().map(size).collect())
    }

    fn parts_of(&mut self, op: Op, frame: &Frame) -> Outcome<Vec<Value>> {
        let array = self.dist_operand(op, frame)?;
        let n_results = self.module.results(op).len();
        if n_results == 1 {
            return Ok(vec![Value::Array(array.own().clone())]);
        }
        Ok(array.parts.iter().map(|part| Value::Array(part.clone())).collect())
    }

    fn default_partition(&mut self, op: Op, frame: &Frame) -> Outcome<Vec<Value>> {
        let operands = unsigned(frame, self.module.operands(op))?;
        let parts = default_partition(operands[0], operands[1], &operands[2..])?;
        Ok(extents(&parts))
    }

    /// The slice that an operation is given as three groups of operands.
    fn slices(&self, op: Op, names: [&str; 3], frame: &Frame) -> Outcome<Vec<Slice>> {
        let offsets = self.group(op, names[0], frame)?;
        let sizes = self.group(op, names[1], frame)?;
        let strides = frame.ints(self.module.operands_named(op, names[2]))?;
        let all = offsets.iter().zip(&sizes).zip(&strides);
        Ok(all.map(|((offset, size), stride)| Slice::new(*offset, *size, *stride)).collect())
    }

    /// Two groups of operands as intervals; none if they are not given.
    fn intervals(&self, op: Op, names: [&str; 2], frame: &Frame) -> Outcome<Option<Vec<Extent>>> {
        let offsets = self.group(op, names[0], frame)?;
        let sizes = self.group(op, names[1], frame)?;
        let all = offsets.iter().zip(&sizes).map(|(o, s)| Extent::new(*o, *s)).collect();
        Ok(if offsets.is_empty() { None } else { Some(all) })
    }

    fn local_target(&mut self, op: Op, frame: &Frame) -> Outcome<Vec<Value>> {
        let array = self.dist_operand(op, frame)?;
        let own = array.owned_box();
        let slices = self.slices(op, ["offsets", "sizes", "strides"], frame)?;
        let mut targets = Vec::new();
        for (dim, slice) in slices.iter().enumerate() {
            let owned = Extent::new(own.start[dim], own.shape[dim]);
            targets.push(local_target_of_slice(array.shape[dim], owned, slice)?);
        }
        Ok(extents(&targets))
    }

    /// The numbers of a slice that stays inside.
    fn checked_slice(&mut self, op: Op, frame: &Frame) -> Outcome<Vec<Value>> {
        let shape = self.group(op, "shape", frame)?;
        let list = |name: &str| frame.ints(self.module.operands_named(op, name));
        let of = (&shape[..], Reading::Array);
        let slicing = Slicing::new(&list("offsets")?, &list("sizes")?, &list("strides")?, of)?;
        let extent = |slice: &Slice| Extent::new(slice.offset, slice.size);
        Ok(extents(&slicing.0.iter().map(extent).collect::<Vec<_>>()))
    }

    fn bounding_box(&mut self, op: Op, frame: &Frame) -> Outcome<Vec<Value>> {
        let slices = self.slices(op, ["offsets", "sizes", "strides"], frame)?;
        let targets = self.intervals(op, ["t_offsets", "t_sizes"], frame)?.unwrap_or_default();
        let before = self.intervals(op, ["bb_offsets", "bb_sizes"], frame)?;
        let inner = self.module.attr(op, "inner").and_then(Attr::as_bool) == Some(true);
        let bound = if inner { Bound::Inner } else { Bound::Outer };
        // A target without entries needs nothing, along no dimension.
        let is_empty = targets.iter().any(|target| target.size == 0);
        let mut boxes = Vec::new();
        for (dim, slice) in slices.iter().enumerate() {
            let mut target = targets.get(dim).copied().unwrap_or(Extent::new(0, slice.size));
            if is_empty && bound == Bound::Outer {
                target.size = 0;
            }
            let before = before.as_ref().and_then(|before| before.get(dim)).copied();
            boxes.push(local_bounding_box(slice, target, before, bound)?);
        }
        Ok(extents(&boxes))
    }

    fn core(&mut self, op: Op, frame: &Frame) -> Outcome<Vec<Value>> {
        let array = self.dist_operand(op, frame)?;
        let own = array.owned_box();
        let slices = self.slices(op, ["s_offsets", "s_sizes", "s_strides"], frame)?;
        let targets = self.intervals(op, ["t_offsets", "t_sizes"], frame)?.unwrap_or_default();
        let before = self.intervals(op, ["c_offsets", "c_sizes"], frame)?;
        let mut cores = Vec::new();
        for (dim, slice) in slices.iter().enumerate() {
            let owned = Extent::new(own.start[dim], own.shape[dim]);
            let target = targets.get(dim).copied().unwrap_or(Extent::new(0, slice.size));
            let before = before.as_ref().and_then(|before| before.get(dim)).copied();
            cores.push(local_core(owned, target, slice, before)?);
        }
        Ok(extents(&cores))
    }

    fn repartition_op(&mut self, op: Op, frame: &Frame) -> Outcome<Value> {
        let array = self.dist_operand(op, frame)?;
        if array.shape.is_empty() {
            return Ok(Value::Dist(self.copied_spread(&array)?));
        }
        let target = self.intervals(op, ["target_offsets", "target_sizes"], frame)?;
        let Some(target) = target else {
            let cuts = self.result_cuts(op)?.unwrap_or_else(|| array.cuts());
            let moved = self.by_default(&array, &cuts)?;
            return Ok(Value::Dist(self.apart_from(&array, moved)?));
        };
        let wanted = self.asked(op, &[box_of(&target)], frame)?;
        Ok(Value::Dist(self.repartition(&array, &wanted[0])?))
    }

    fn dist_subview(&mut self, op: Op, frame: &Frame) -> Outcome<Value> {
        let array = self.dist_operand(op, frame)?;
        let slicing = self.slicing(op, (&array.shape, Reading::Array), frame)?;
        let target = self.intervals(op, ["target_offsets", "target_sizes"], frame)?;
        let target = target.as_deref().map(box_of);
        Ok(Value::Dist(Rc::new(held_view(&array, &slicing, target.as_ref())?)))
    }
}

/// Operands as numbers that are not negative.
pub(super) fn unsigned(frame: &Frame, names: &[Name]) -> Outcome<Vec<u64>> {
    let number = |number: i64| {
        u64::try_from(number)
            .map_err(|_| problem(format!("{number} is negative; offsets and sizes are 0 or more")))
    };
    frame.ints(names)?.into_iter().map(number).collect()
}

fn box_of(extents: &[Extent]) -> IndexBox {
    IndexBox {
        start: extents.iter().map(|one| one.offset).collect(),
        shape: extents.iter().map(|one| one.size).collect(),
    }
}

fn numbers(all: &[u64]) -> Vec<Value> {
    all.iter().map(|number| Value::Number(Number::Int(*number as i64))).collect()
}

/// Offsets, then sizes.
fn extents(all: &[Extent]) -> Vec<Value> {
    let offsets: Vec<u64> = all.iter().map(|one| one.offset).collect();
    let sizes: Vec<u64> = all.iter().map(|one| one.size).collect();
    [numbers(&offsets), numbers(&sizes)].concat()
}
