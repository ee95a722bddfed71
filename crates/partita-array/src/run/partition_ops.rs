//! The operations of `partition`: slices of tensors, fetched and replaced.
//!
//! All ranks run them together. A rank names the slice it wants (or brings) and the grid that the
//! slice's owner follows from; who holds a slice already gets it without communication.

use std::hash::Hasher;
use std::rc::Rc;

use partita_ir::{Op, OpKind, Size, Type};
use partita_layout::IndexBox;
use rustc_hash::FxHasher;

use super::Runner;
use super::dist_ops::unsigned;
use super::interpret::Frame;
use super::partitioned::{Partitioned, format_of};
use super::problem::{Outcome, problem};
use super::value::{Number, Value};
use crate::sparse::SparseTensor;

impl Runner<'_> {
    pub(super) fn partition_op(&mut self, op: Op, kind: OpKind, frame: &mut Frame) -> Outcome<()> {
        let values = match kind {
            OpKind::PartitionGetGridSize => {
                let grid = self.grid_asked_for(self.module.results(op).len())?;
                grid.into_iter().map(|n| Value::Number(Number::Int(n as i64))).collect()
            }
            OpKind::PartitionGetSlice => vec![self.get_slice(op, frame)?],
            OpKind::PartitionSetSlice => vec![self.set_slice(op, frame)?],
            _ => return Err(problem("it cannot be run; use get_slice or set_slice")),
        };
        self.give(op, values, frame)
    }

    fn get_slice(&mut self, op: Op, frame: &Frame) -> Outcome<Value> {
        let tensor = self.partitioned_operand(op, frame)?;
        let own = self.slice_of(op, &tensor, frame)?;
        let asked = self.mover.gather_numbers("slices", &own)?;
        let slice = self.slice(&tensor, &asked)?;
        let Type::Tensor(ty) = self.module.ty(self.module.result(op)) else {
            return Err(problem("gives no tensor; verify the program"));
        };
        let fits = |(size, n): (&Size, &u64)| size.may_equal(Size::Known(*n));
        if ty.shape.len() != slice.shape.len() || !ty.shape.iter().zip(&slice.shape).all(fits) {
            let (found, wanted) = (&slice.shape, partita_ir::by_x(&ty.shape));
            return Err(problem(format!(
                "the slice has the shape {found:?} and its type says {wanted}; write ? for what \
                 differs between slices"
            )));
        }
        let format = format_of(ty.encoding.as_ref().unwrap_or(&partita_ir::Attr::Unit))?;
        match slice.format == format {
            true => Ok(Value::Sparse(slice)),
            false => Ok(Value::Sparse(Rc::new(slice.in_format(format)?))),
        }
    }

    fn set_slice(&mut self, op: Op, frame: &Frame) -> Outcome<Value> {
        let tensor = self.partitioned_operand(op, frame)?;
        let own = self.slice_of(op, &tensor, frame)?;
        let slice = match self.module.operands_named(op, "slice") {
            [name] => frame.get(*name)?.clone(),
            _ => return Err(problem("has no slice; verify the program")),
        };
        let Value::Sparse(slice) = slice else {
            return Err(problem("its slice is no sparse tensor; use one"));
        };
        let wanted = tensor.slices.box_of(&own)?.shape;
        if slice.shape != wanted {
            let found = &slice.shape;
            return Err(problem(format!(
                "a slice of {found:?} for slice {own:?}, which has {wanted:?}; use that shape"
            )));
        }
        self.replaced(&tensor, &own, &slice.in_format(tensor.format)?)
    }

    /// The tensor with the slice that every rank brings.
    fn replaced(
        &mut self,
        tensor: &Partitioned,
        own: &[u64],
        slice: &SparseTensor,
    ) -> Outcome<Value> {
        let bytes = slice.packed();
        let ndim = own.len();
        let told = [own, &[digest(&bytes), bytes.len() as u64]].concat();
        let all = self.mover.gather_numbers("slices", &told)?;
        let brings: Vec<&[u64]> = all.iter().map(|told| &told[..ndim.min(told.len())]).collect();
        let sizes: Vec<u64> = all.iter().map(|told| told.last().copied().unwrap_or(0)).collect();
        let slices = tensor.slices.clone();
        check_alike(&all, &brings)?;
        let bringer = |slice: &[u64]| brings.iter().position(|brought| *brought == slice);
        let row = self.in_a_row(&bytes, &sizes)?;
        let boxes = self.places(&row)?.owned.clone();
        let nothing = || IndexBox::new(&[0], &[0]);
        let ranks = 0..self.mover.n_ranks();
        let brought: Vec<Option<usize>> =
            ranks.map(|rank| bringer(&slices.held_by(rank))).collect();
        let wanted = brought.iter().map(|by| by.map_or_else(nothing, |by| boxes[by].clone()));
        let wanted: Vec<IndexBox> = wanted.collect();
        let bytes = self.fetch(&row, &wanted)?.to_bytes()?;
        let held = match brought[self.rank()] {
            None => Rc::clone(&tensor.held),
            Some(_) => {
                let (shape, format) = (&tensor.held.shape, tensor.format);
                Rc::new(SparseTensor::unpacked(shape, tensor.dtype, format, &bytes)?)
            }
        };
        let owns = |rank: usize| slices.owner(&slices.held_by(rank as u64)) == rank as u64;
        let size = |rank: usize| match brought[rank] {
            Some(by) if owns(rank) => sizes[by],
            _ => tensor.n_bytes[rank],
        };
        let n_bytes = (0..brought.len()).map(size).collect();
        let (dtype, format) = (tensor.dtype, tensor.format);
        Ok(Value::Partitioned(Rc::new(Partitioned { slices, dtype, format, held, n_bytes })))
    }

    fn partitioned_operand(&self, op: Op, frame: &Frame) -> Outcome<Rc<Partitioned>> {
        match frame.get(self.module.operands(op)[0])? {
            Value::Partitioned(tensor) => Ok(Rc::clone(tensor)),
            _ => Err(problem("its tensor is not partitioned; use an argument that is")),
        }
    }

    /// The slice an operation names; its grid and place are checked.
    fn slice_of(&self, op: Op, tensor: &Partitioned, frame: &Frame) -> Outcome<Vec<u64>> {
        let numbers = |name: &str| unsigned(frame, self.module.operands_named(op, name));
        let (slice, grid) = (numbers("slice_id")?, numbers("grid_size")?);
        let place = numbers("processor_id")?;
        let wanted = &tensor.slices.grid;
        if grid != *wanted {
            return Err(problem(format!(
                "a grid of {grid:?} for a tensor on a grid of {wanted:?}; ask for it with \
                 partition.get_grid_size"
            )));
        }
        if place.iter().zip(wanted).any(|(at, extent)| at >= extent) {
            return Err(problem(format!(
                "no rank stands at {place:?} of the grid {wanted:?}; count from 0 along each axis"
            )));
        }
        let (rank, own) = (self.rank(), tensor.slices.place_of(self.rank() as u64));
        if place != own {
            return Err(problem(format!(
                "rank {rank} says that it is at {place:?} of the grid {wanted:?}, and is at \
                 {own:?}; give its own place as processor_id"
            )));
        }
        if !tensor.slices.has(&slice) {
            let dims: Vec<&str> = tensor.slices.dims.iter().map(|dim| dim.name()).collect();
            return Err(problem(format!(
                "there is no slice {slice:?} of a tensor that is {} on a grid of {wanted:?}; use \
                 numbers below the grid's, and 0 where it is replicated",
                dims.join(", ")
            )));
        }
        Ok(slice)
    }
}

/// What is the same for the same content, on every rank.
fn digest(bytes: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(bytes);
    hasher.finish()
}

/// Ranks that bring one slice must bring the same, of which they have told digest and length.
fn check_alike(told: &[Vec<u64>], brings: &[&[u64]]) -> Outcome<()> {
    for (rank, slice) in brings.iter().enumerate() {
        let first = brings.iter().position(|other| other == slice).unwrap_or(rank);
        if told[first] != told[rank] {
            return Err(problem(format!(
                "ranks {first} and {rank} bring different content for slice {slice:?}; let them \
                 bring the same, or each its own slice"
            )));
        }
    }
    Ok(())
}
