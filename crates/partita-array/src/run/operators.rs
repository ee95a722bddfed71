//! Elementwise operations on arrays of any kind: local ones, distributed ones, both.

use std::rc::Rc;

use partita_ir::{DistEnv, Op, OpKind, Size, Value as Name};
use partita_kernel::Dtype;
use partita_layout::IndexBox;

use super::Runner;
use super::dist::{Cuts, DistArray, Places, sliced};
use super::movement::{projected, sizes};
use super::problem::{Outcome, problem};
use super::value::Value;
use crate::local::{Array, broadcast_shapes};

/// Something computed for each element from arrays of one shape.
pub(super) type Compute<'a> = &'a dyn Fn(&[&Array]) -> Outcome<Array>;

/// Pieces of an operand: their box in the result, and the elements.
type Pieces = Vec<(IndexBox, Array)>;

/// Where the result lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placing {
    /// Wherever is cheapest; operands are moved there.
    Free,
    /// Where the operands are: nothing moves.
    Fixed,
}

impl Runner<'_> {
    /// Computes for each element; `cuts` says how a distributed result is cut by default.
    pub(super) fn each(
        &mut self,
        operands: &[Value],
        compute: Compute<'_>,
        dtype: Dtype,
        cuts: Option<Cuts>,
        placing: Placing,
    ) -> Outcome<Value> {
        let Some(cuts) = cuts else {
            let arrays: Vec<Array> =
                operands.iter().map(|value| self.local(value)).collect::<Outcome<_>>()?;
            return Ok(Value::Array(compute(&arrays.iter().collect::<Vec<_>>())?));
        };
        let shape = global_shape(operands)?;
        if shape.is_empty() {
            let arrays: Vec<Array> = operands.iter().map(replicated).collect::<Outcome<_>>()?;
            let part = compute(&arrays.iter().collect::<Vec<_>>())?;
            return Ok(Value::Dist(Rc::new(DistArray::owned(&[], &cuts, &[], &part))));
        }
        let (operands, place, places, cuts) = match placing {
            Placing::Free => self.brought(operands, &shape, cuts)?,
            Placing::Fixed => fixed(operands, &shape, cuts)?,
        };
        let part = self.computed(&operands, &place, &shape, compute, dtype)?;
        let made = DistArray::owned(&shape, &cuts, &place.start, &part);
        Ok(Value::Dist(Rc::new(match places {
            Some(places) => made.known(places),
            None => made,
        })))
    }

    /// Operands with what each rank needs, and the boxes of the result.
    #[allow(clippy::type_complexity, reason = "the four go together once")]
    fn brought(
        &mut self,
        operands: &[Value],
        shape: &[u64],
        cuts: Cuts,
    ) -> Outcome<(Vec<Value>, IndexBox, Option<Rc<Places>>, Cuts)> {
        let wanted = match self.common_places(operands, shape, &cuts)? {
            Some(wanted) => wanted,
            None => cuts.default_boxes(shape, self.mover.n_ranks())?,
        };
        let operands = operands.iter().map(|one| self.aligned(one, &wanted, shape));
        let operands = operands.collect::<Outcome<_>>()?;
        let place = wanted[self.rank()].clone();
        Ok((operands, place, Some(Places::owned(wanted)), cuts))
    }

    /// Where all operands of the result's shape lie alike, cut as it is, each element once.
    fn common_places(
        &mut self,
        operands: &[Value],
        shape: &[u64],
        cuts: &Cuts,
    ) -> Outcome<Option<Vec<IndexBox>>> {
        let mut found: Option<Rc<Places>> = None;
        for operand in operands {
            let Value::Dist(array) = operand else { continue };
            if array.shape != shape {
                continue;
            }
            let places = self.places(array)?;
            let differs = |known: &Rc<Places>| known.owned != places.owned;
            let other = array.cuts() != *cuts || found.as_ref().is_some_and(differs);
            if other || !places.owned_once(shape) {
                return Ok(None);
            }
            found.get_or_insert(places);
        }
        Ok(found.map(|places| places.owned.clone()))
    }

    /// The result's box, cut where operands change from part to part.
    fn computed(
        &mut self,
        operands: &[Value],
        place: &IndexBox,
        shape: &[u64],
        compute: Compute<'_>,
        dtype: Dtype,
    ) -> Outcome<Array> {
        if place.n_elements() == 0 {
            return Ok(self.engine.empty(&sizes(place), dtype)?);
        }
        let pieces: Vec<Pieces> =
            operands.iter().map(|one| pieces(one, place, shape)).collect::<Outcome<_>>()?;
        let mut cells = vec![place.clone()];
        for own in &pieces {
            let cut = |cell: &IndexBox| -> Vec<IndexBox> {
                own.iter().filter_map(|(piece, _)| piece.intersection(cell)).collect()
            };
            cells = cells.iter().flat_map(cut).collect();
        }
        if let [_] = cells[..] {
            return compute_cell(&pieces, place, shape, compute);
        }
        let target = self.engine.empty(&sizes(place), dtype)?;
        for cell in &cells {
            let made = compute_cell(&pieces, cell, shape, compute)?;
            sliced(&target, place, cell)?.write(&made)?;
        }
        Ok(target)
    }

    /// Writes an operand into a view of a box of it; sizes of 1 repeat.
    pub(super) fn write_pieces(
        &mut self,
        target: &Array,
        operand: &Value,
        place: &IndexBox,
        shape: &[u64],
    ) -> Outcome<()> {
        if place.n_elements() == 0 {
            return Ok(());
        }
        for (cell, part) in pieces(operand, place, shape)? {
            let part = self.engine.cast(&part, target.dtype())?;
            sliced(target, place, &cell)?.write(&part)?;
        }
        Ok(())
    }

    /// A distributed result as its type has it: what is cut in another way goes to the default
    /// partition of the type. Views are never cut in another way than their sources.
    pub(super) fn typed(&mut self, op: Op, value: Value) -> Outcome<Value> {
        let Value::Dist(array) = &value else { return Ok(value) };
        let ty = self.module.ty(self.module.result(op));
        if array.shape.is_empty() {
            return Ok(value);
        }
        let grid = |name: Name| self.module.ty(name).dist().map(|env| &env.grid);
        let copies =
            matches!(self.module.kind(op), OpKind::NdarrayCopy | OpKind::NdarrayCastElemtype);
        // The types decide, as they do for passes, even if two grids turn out to be the same.
        let differs = copies && grid(self.module.operands(op)[0]) != grid(self.module.result(op));
        match self.cuts_of(ty)? {
            Some(cuts) if differs || array.cuts() != cuts => {
                Ok(Value::Dist(self.by_default(array, &cuts)?))
            }
            _ => Ok(value),
        }
    }

    /// Refuses a result that its type contradicts.
    pub(super) fn fit_types(&self, op: Op, values: &[Value]) -> Outcome<()> {
        for (name, value) in self.module.results(op).iter().zip(values) {
            if let (Value::Dist(array), Some(env)) = (value, self.module.ty(*name).dist()) {
                fits_env(array, env)?;
            }
            let wanted = self.module.ty(*name).shape().unwrap_or_default();
            if wanted.is_empty() || matches!(value, Value::Number(_) | Value::Handle(_)) {
                continue;
            }
            let shape = shape_of(value)?;
            let fits = |(size, n): (&Size, &usize)| size.known().is_none_or(|s| s == *n as u64);
            if wanted.len() != shape.len() || !wanted.iter().zip(&shape).all(fits) {
                let wanted = partita_ir::by_x(wanted);
                return Err(problem(format!(
                    "the result has the shape {shape:?} and its type says {wanted}; make them the same"
                )));
            }
        }
        Ok(())
    }

    /// A value as an array of this rank.
    pub(super) fn local(&mut self, value: &Value) -> Outcome<Array> {
        match value {
            Value::Array(array) => Ok(array.clone()),
            Value::Dist(array) => self.whole(array),
            _ => Err(problem("a number where an array is needed; use an array")),
        }
    }
}

/// Refuses an array of which this rank has other parts than a type says.
pub(super) fn fits_env(array: &DistArray, env: &DistEnv) -> Outcome<()> {
    let is_open = env.loffs.iter().chain(env.lparts.iter().flatten()).all(|n| *n == Size::Dynamic);
    if is_open {
        return Ok(());
    }
    let found: Vec<Vec<Size>> = array
        .parts
        .iter()
        .map(|part| part.shape().iter().map(|n| Size::Known(*n as u64)).collect())
        .collect();
    let alike = |a: &[Size], b: &[Size]| a.iter().zip(b).all(|(a, b)| a.may_equal(*b));
    let is_empty = |part: &[Size]| part.contains(&Size::Known(0));
    let part_fits = |(a, b): (&Vec<Size>, &Vec<Size>)| is_empty(a) && is_empty(b) || alike(a, b);
    let offsets: Vec<Size> = array.offsets.iter().map(|n| Size::Known(*n)).collect();
    // Where nothing is, nobody asks.
    let nowhere = found.iter().all(|part| is_empty(part));
    let parts_fit = found.len() == env.lparts.len() && found.iter().zip(&env.lparts).all(part_fits);
    if parts_fit && (nowhere || alike(&offsets, &env.loffs)) {
        return Ok(());
    }
    let parts = |parts: &[Vec<Size>]| {
        parts.iter().map(|part| partita_ir::by_x(part)).collect::<Vec<_>>().join(",")
    };
    let list = |sizes: &[Size]| sizes.iter().map(Size::to_string).collect::<Vec<_>>().join(",");
    Err(problem(format!(
        "has loffs = {} lparts = {} on this rank where its type says loffs = {} lparts = {}; write ? for \
         what differs between ranks",
        list(&offsets),
        parts(&found),
        list(&env.loffs),
        parts(&env.lparts)
    )))
}

/// The result lies where the operands are, halos included.
#[allow(clippy::type_complexity, reason = "the four go together once")]
fn fixed(
    operands: &[Value],
    shape: &[u64],
    cuts: Cuts,
) -> Outcome<(Vec<Value>, IndexBox, Option<Rc<Places>>, Cuts)> {
    let full = |value: &&Value| matches!(value, Value::Dist(array) if array.shape == shape);
    let Some(Value::Dist(array)) = operands.iter().find(full) else {
        return Ok((operands.to_vec(), held_by_dims(operands, shape)?, None, cuts));
    };
    let places = array.places.borrow().as_ref().map(|places| Places::owned(places.held.clone()));
    Ok((operands.to_vec(), array.held_box(), places, cuts))
}

/// Where all operands repeat somewhere: along each dimension what one that does not has there.
fn held_by_dims(operands: &[Value], shape: &[u64]) -> Outcome<IndexBox> {
    let mut place = IndexBox { start: vec![0; shape.len()], shape: shape.to_vec() };
    for (dim, size) in shape.iter().enumerate() {
        let along = |value: &Value| match value {
            Value::Dist(array) => {
                let at = (dim + array.shape.len()).checked_sub(shape.len())?;
                let held = array.held_box();
                (array.shape[at] == *size).then(|| (held.start[at], held.shape[at]))
            }
            _ => None,
        };
        let found = operands.iter().find_map(along);
        (place.start[dim], place.shape[dim]) = found.ok_or_else(|| {
            problem(format!("no operand has the result's size {size} in dimension {dim}; repartition one to it first"))
        })?;
    }
    Ok(place)
}

fn compute_cell(
    pieces: &[Pieces],
    cell: &IndexBox,
    shape: &[u64],
    compute: Compute<'_>,
) -> Outcome<Array> {
    let mut arrays = Vec::with_capacity(pieces.len());
    for own in pieces {
        let meets = |(piece, _): &&(IndexBox, Array)| piece.meets(cell);
        let Some((piece, array)) = own.iter().find(meets) else {
            return Err(problem("an operand lacks elements; repartition it first"));
        };
        arrays.push(part_of(array, piece, cell, shape)?);
    }
    compute(&arrays.iter().collect::<Vec<_>>())
}

/// The elements for a cell inside a piece; dimensions that repeat stay as they are.
fn part_of(array: &Array, piece: &IndexBox, cell: &IndexBox, shape: &[u64]) -> Outcome<Array> {
    let skipped = shape.len() - array.ndim();
    let (mut offsets, mut sizes) = (Vec::new(), Vec::new());
    for (dim, &size) in array.shape().iter().enumerate() {
        let repeats = size == 1 && piece.shape[dim + skipped] != 1;
        let offset = cell.start[dim + skipped] - piece.start[dim + skipped];
        offsets.push(if repeats { 0 } else { offset as i64 });
        sizes.push(if repeats { 1 } else { cell.shape[dim + skipped] as i64 });
    }
    Ok(array.slice(&offsets, &sizes, &vec![1; array.ndim()])?)
}

/// An operand's pieces for a box of the result, in the result's indices.
fn pieces(operand: &Value, place: &IndexBox, shape: &[u64]) -> Outcome<Pieces> {
    match operand {
        Value::Array(array) => {
            let own: Vec<u64> = array.shape().iter().map(|n| *n as u64).collect();
            let needed = projected(place, shape, &own);
            let all = IndexBox { start: vec![0; own.len()], shape: own };
            Ok(vec![(place.clone(), sliced(array, &all, &needed)?)])
        }
        Value::Dist(array) if array.shape.is_empty() => {
            Ok(vec![(place.clone(), array.own().clone())])
        }
        Value::Dist(array) => {
            let needed = projected(place, shape, &array.shape);
            let skipped = shape.len() - array.shape.len();
            let widened = |own: IndexBox| {
                let mut piece = place.clone();
                for (dim, &size) in array.shape.iter().enumerate() {
                    if size == shape[dim + skipped] {
                        piece.start[dim + skipped] = own.start[dim];
                        piece.shape[dim + skipped] = own.shape[dim];
                    }
                }
                piece
            };
            let found = array.pieces_of(&needed)?.into_iter();
            Ok(found.map(|(own, part)| (widened(own), part)).collect())
        }
        _ => Err(problem("a number where an array is needed; use an array")),
    }
}

fn replicated(value: &Value) -> Outcome<Array> {
    match value {
        Value::Array(array) => Ok(array.clone()),
        Value::Dist(array) => Ok(array.own().clone()),
        _ => Err(problem("a number where an array is needed; use an array")),
    }
}

/// The shape that all operands have together.
pub(super) fn global_shape(operands: &[Value]) -> Outcome<Vec<u64>> {
    let mut shape: Vec<usize> = Vec::new();
    for operand in operands {
        let own = shape_of(operand)?;
        shape = broadcast_shapes(&shape, &own)
            .ok_or_else(|| {
                problem(format!(
                    "the shapes {shape:?} and {own:?} do not fit; use equal sizes or 1"
                ))
            })?
            .to_vec();
    }
    Ok(shape.into_iter().map(|n| n as u64).collect())
}

/// The (global) shape of an array.
pub(super) fn shape_of(value: &Value) -> Outcome<Vec<usize>> {
    match value {
        Value::Array(array) => Ok(array.shape().to_vec()),
        Value::Dist(array) => Ok(array.shape.iter().map(|n| *n as usize).collect()),
        _ => Err(problem("a number where an array is needed; use an array")),
    }
}
