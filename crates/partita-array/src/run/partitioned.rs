//! Partitioned tensors while a program runs: this rank's slice, and how to reach the others'.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use partita_ir::{Attr, DialectAttr, Placement, TensorType, Type, Value as Name};
use partita_kernel::Dtype;
use partita_layout::IndexBox;

use super::Runner;
use super::arguments::Argument;
use super::dist::{Cuts, DistArray, Places};
use super::problem::{Outcome, problem};
use super::results::{ResultValue, SparsePart};
use super::value::{Value, dtype_of};
use crate::sparse::{Format, Slices, SparseTensor, grid_for};

/// One rank's view of a partitioned tensor.
#[derive(Debug)]
pub(super) struct Partitioned {
    pub slices: Slices,
    pub dtype: Dtype,
    pub format: Format,
    /// The slice that this rank holds.
    pub held: Rc<SparseTensor>,
    /// Bytes of the slice that each rank owns; none for ranks that own no slice.
    pub n_bytes: Vec<u64>,
}

/// The format of a sparsity encoding.
pub(super) fn format_of(encoding: &Attr) -> Outcome<Format> {
    match encoding {
        Attr::Other(text) => Ok(Format::of_encoding(text)?),
        _ => Err(problem("has no sparsity encoding; give its type #sparse_tensor.encoding<..>")),
    }
}

/// How a type is partitioned, if it is: its sparsity and where its dimensions are.
fn partition_of(ty: &Type) -> Option<(&Attr, &[Placement])> {
    let Type::Tensor(tensor) = ty else { return None };
    match &tensor.encoding {
        Some(Attr::Dialect(DialectAttr::Partition { sparse, dims })) => Some((sparse, dims)),
        _ => None,
    }
}

impl Runner<'_> {
    /// One grid for each number of dimensions: where any argument is distributed, ranks stand.
    pub(super) fn grids_of(&self, arguments: &[Name]) -> Vec<Vec<u64>> {
        let mut spread: Vec<Vec<Placement>> = Vec::new();
        for name in arguments {
            let Some((_, dims)) = partition_of(self.module.ty(*name)) else { continue };
            match spread.iter_mut().find(|known| known.len() == dims.len()) {
                Some(known) => known.iter_mut().zip(dims).for_each(|(known, dim)| {
                    if *dim == Placement::Distributed {
                        *known = *dim;
                    }
                }),
                None => spread.push(dims.to_vec()),
            }
        }
        spread.iter().map(|dims| grid_for(dims, self.mover.n_ranks())).collect()
    }

    /// The grid of ranks with so many axes.
    pub(super) fn grid(&self, n_axes: usize) -> Vec<u64> {
        let known = self.grids.iter().find(|grid| grid.len() == n_axes);
        let row = || grid_for(&vec![Placement::Replicated; n_axes], self.mover.n_ranks());
        known.cloned().unwrap_or_else(row)
    }

    /// The grid with as many axes as an operation asks for, if some argument lies on such a one.
    pub(super) fn grid_asked_for(&self, n_axes: usize) -> Outcome<Vec<u64>> {
        if self.grids.is_empty() || self.grids.iter().any(|grid| grid.len() == n_axes) {
            return Ok(self.grid(n_axes));
        }
        let known: Vec<String> = self.grids.iter().map(|grid| grid.len().to_string()).collect();
        Err(problem(format!(
            "{n_axes} results where tensors have {} dimensions; ask for one extent per dimension",
            known.join(" or ")
        )))
    }

    /// A sparse tensor, or a partitioned one, of what the caller gave.
    pub(super) fn tensor_argument(
        &mut self,
        tensor: &TensorType,
        argument: &Argument,
    ) -> Outcome<Value> {
        let ty = Type::from(tensor.clone());
        let parts = partition_of(&ty);
        let sparse = parts.map(|(sparse, _)| sparse).or(tensor.encoding.as_ref());
        let format = format_of(sparse.unwrap_or(&Attr::Unit))?;
        let mut whole = given(argument, format)?;
        let (found, wanted) = (whole.dtype, dtype_of(tensor.element)?);
        if found != wanted {
            let n = [whole.n_elements()];
            whole.values = self.elements(&n, (found, wanted), &whole.values)?.to_bytes()?;
            whole.dtype = wanted;
        }
        let fits = tensor.shape.len() == whole.shape.len()
            && tensor
                .shape
                .iter()
                .zip(&whole.shape)
                .all(|(s, n)| s.known().is_none_or(|s| s == *n));
        if !fits {
            let (given, wanted) = (&whole.shape, partita_ir::by_x(&tensor.shape));
            return Err(problem(format!(
                "has the shape {given:?} where {wanted} is wanted; give that shape"
            )));
        }
        if let Some(Attr::Other(encoding)) = sparse {
            check_widths(&whole, encoding)?;
        }
        match parts {
            None => Ok(Value::Sparse(Rc::new(whole))),
            Some((_, dims)) => Ok(Value::Partitioned(Rc::new(self.partitioned(&whole, dims)?))),
        }
    }

    /// This rank's slice of a tensor that all ranks have whole.
    fn partitioned(&mut self, whole: &SparseTensor, dims: &[Placement]) -> Outcome<Partitioned> {
        let grid = self.grid(dims.len());
        let slices = Slices { shape: whole.shape.clone(), dims: dims.to_vec(), grid };
        let slice = slices.held_by(self.mover.rank);
        let held = Rc::new(whole.block(&slices.box_of(&slice)?)?);
        let is_owner = slices.owner(&slice) == self.mover.rank;
        let own = if is_owner { held.n_packed_bytes() as u64 } else { 0 };
        let n_bytes = self.mover.gather_numbers("sizes", &[own])?.concat();
        Ok(Partitioned { slices, dtype: whole.dtype, format: whole.format, held, n_bytes })
    }

    /// Slices as bytes, one after another in the order of their owners.
    pub(super) fn in_a_row(&mut self, own: &[u8], n_bytes: &[u64]) -> Outcome<DistArray> {
        let mut start = 0;
        let mut boxes = Vec::new();
        for size in n_bytes {
            boxes.push(IndexBox::new(&[start], &[*size]));
            start += size;
        }
        let part = self.engine.from_bytes(&[own.len()], Dtype::UInt8, own)?;
        let cuts = Cuts::rows(1, self.mover.n_ranks());
        let row = DistArray::owned(&[start], &cuts, &boxes[self.rank()].start, &part);
        Ok(row.known(Places::owned(boxes)))
    }

    /// The bytes of what this rank owns of a tensor.
    fn owned_bytes(&self, tensor: &Partitioned) -> Vec<u8> {
        let is_owner =
            tensor.slices.owner(&tensor.slices.held_by(self.mover.rank)) == self.mover.rank;
        if is_owner { tensor.held.packed() } else { Vec::new() }
    }

    /// Brings every rank the slice it asks for; gives this rank's.
    pub(super) fn slice(
        &mut self,
        tensor: &Partitioned,
        asked: &[Vec<u64>],
    ) -> Outcome<Rc<SparseTensor>> {
        let slices = &tensor.slices;
        let holds = |(rank, slice): (usize, &Vec<u64>)| slices.held_by(rank as u64) == *slice;
        if asked.iter().enumerate().all(holds) {
            return Ok(Rc::clone(&tensor.held));
        }
        let row = self.in_a_row(&self.owned_bytes(tensor), &tensor.n_bytes)?;
        let owned = self.places(&row)?.owned.clone();
        let wanted = |(rank, slice): (usize, &Vec<u64>)| match holds((rank, slice)) {
            true => IndexBox::new(&[0], &[0]),
            false => owned[slices.owner(slice) as usize].clone(),
        };
        let wanted: Vec<IndexBox> = asked.iter().enumerate().map(wanted).collect();
        let bytes = self.fetch(&row, &wanted)?.to_bytes()?;
        let own = &asked[self.rank()];
        if holds((self.rank(), own)) {
            return Ok(Rc::clone(&tensor.held));
        }
        let shape = slices.box_of(own)?.shape;
        Ok(Rc::new(SparseTensor::unpacked(&shape, tensor.dtype, tensor.format, &bytes)?))
    }

    /// The whole tensor, on every rank.
    pub(super) fn whole_sparse(&mut self, tensor: &Partitioned) -> Outcome<SparseTensor> {
        let row = self.in_a_row(&self.owned_bytes(tensor), &tensor.n_bytes)?;
        let bytes = self.whole(&row)?.to_bytes()?;
        let mut rest = bytes.as_slice();
        let mut blocks = Vec::new();
        for (rank, size) in tensor.n_bytes.iter().enumerate() {
            let slice = tensor.slices.held_by(rank as u64);
            let (own, behind) = rest.split_at((*size as usize).min(rest.len()));
            rest = behind;
            if tensor.slices.owner(&slice) == rank as u64 {
                let place = tensor.slices.box_of(&slice)?;
                let block = SparseTensor::unpacked(&place.shape, tensor.dtype, tensor.format, own)?;
                blocks.push((place.start, block));
            }
        }
        let shape = &tensor.slices.shape;
        Ok(SparseTensor::joined(shape, tensor.dtype, tensor.format, &blocks)?)
    }

    /// What this rank owns of a tensor.
    pub(super) fn sparse_parts(&self, tensor: &Partitioned) -> Outcome<ResultValue> {
        let slice = tensor.slices.held_by(self.mover.rank);
        let shape = tensor.slices.shape.clone();
        if tensor.slices.owner(&slice) != self.mover.rank {
            return Ok(ResultValue::SparseParts { shape, parts: Vec::new() });
        }
        let offsets = tensor.slices.box_of(&slice)?.start;
        let parts = vec![SparsePart { offsets, elements: (*tensor.held).clone() }];
        Ok(ResultValue::SparseParts { shape, parts })
    }

    /// Refuses a result of which ranks have different ones, where one is to be shown.
    pub(super) fn check_alike(&mut self, number: usize, tensor: &SparseTensor) -> Outcome<()> {
        let mut hasher = DefaultHasher::new();
        tensor.hash(&mut hasher);
        let all = self.mover.gather_numbers("alike", &[hasher.finish()])?;
        match all.iter().position(|other| *other != all[0]) {
            None => Ok(()),
            Some(rank) => Err(problem(format!(
                "result {number} is a slice of its own on every rank, another on rank {rank} than \
                 on rank 0; ask for what each rank holds (--local)"
            ))),
        }
    }
}

/// Refuses a tensor whose coordinates or positions an encoding has no bits for.
fn check_widths(whole: &SparseTensor, encoding: &str) -> Outcome<()> {
    let most = Format::most_of_encoding(encoding);
    let found = whole.shape.iter().copied().chain([whole.n_elements() as u64]).max();
    match found.filter(|found| *found > most) {
        None => Ok(()),
        Some(found) => Err(problem(format!(
            "has {found} rows, columns or elements, more than 32 bits can count; give its encoding \
             posWidth = 64 and crdWidth = 64"
        ))),
    }
}

/// A whole tensor of an argument, in the format of its type.
fn given(argument: &Argument, format: Format) -> Outcome<SparseTensor> {
    match argument {
        Argument::Sparse(tensor) => Ok(tensor.in_format(format)?),
        Argument::Array { shape, dtype, bytes } => {
            let shape: Vec<u64> = shape.iter().map(|n| *n as u64).collect();
            Ok(SparseTensor::from_dense(&shape, *dtype, format, bytes)?)
        }
        Argument::Number(number) => {
            Err(problem(format!("is {number} where a sparse tensor is wanted; give its elements")))
        }
    }
}
