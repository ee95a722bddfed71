//! The operations of `ndarray`, on local and on distributed arrays.

use std::rc::Rc;

use partita_ir::{Attr, Entry, EwBin, EwUny, Op, OpKind, Reduce, Size, Type, Value as Name};
use partita_kernel::Dtype;
use partita_layout::IndexBox;

use super::Runner;
use super::dist::{Cuts, DistArray};
use super::elementwise;
use super::interpret::Frame;
use super::operators::{Placing, shape_of};
use super::problem::{Outcome, Problem, problem};
use super::reduce::Reducing;
use super::scans::Scanning;
use super::value::{Value, dtype_of, to_number};
use super::views::{Reading, Slicing, held_view, owned_view, reduced, targets};
use crate::local::Array;

impl Runner<'_> {
    pub(super) fn array_op(&mut self, op: Op, kind: OpKind, frame: &mut Frame) -> Outcome<()> {
        let operands = self.module.operands(op);
        let first = operands.first().copied();
        let source = || first.ok_or_else(|| problem("an operand is missing; verify the program"));
        let value = match kind {
            OpKind::NdarrayDelete => {
                let value = frame.get(source()?)?;
                self.deleted.note(value, self.module.location(op).line);
                return Ok(());
            }
            OpKind::NdarrayInsertSlice => return self.insert_slice(op, frame),
            OpKind::NdarrayFromMemref | OpKind::NdarrayCast => {
                self.cast_shape(op, frame.get(source()?)?)?
            }
            OpKind::NdarrayToTensor => {
                let value = frame.get(source()?)?.clone();
                let array = self.local(&value)?;
                Value::Array(self.engine.copy(&array)?)
            }
            OpKind::NdarrayDim => self.dim(op, frame)?,
            OpKind::NdarraySubview => self.view(op, frame)?,
            OpKind::NdarrayExtractSlice => {
                let view = self.view(op, frame)?;
                self.copied(&view)?
            }
            OpKind::NdarrayImmutableInsertSlice => {
                let copy = self.copied(&frame.get(source()?)?.clone())?;
                self.insert(op, &copy, frame)?;
                copy
            }
            OpKind::NdarrayLoad => self.load(op, frame)?,
            OpKind::NdarrayCopy => self.copied(&frame.get(source()?)?.clone())?,
            OpKind::NdarrayCastElemtype => self.cast_elements(op, frame)?,
            OpKind::NdarrayEwBin => {
                let values = [frame.get(operands[0])?.clone(), frame.get(operands[1])?.clone()];
                self.binary(op, &values, Placing::Free)?
            }
            OpKind::NdarrayEwUny => {
                let values = [frame.get(operands[0])?.clone()];
                self.unary(op, &values, Placing::Free)?
            }
            OpKind::NdarrayWhere => {
                let values = operands.iter().map(|name| frame.get(*name).cloned());
                let values: Vec<Value> = values.collect::<Outcome<_>>()?;
                self.choice(op, &values, Placing::Free)?
            }
            OpKind::NdarrayReduction => self.reduce_op(op, frame)?,
            OpKind::NdarrayCumulative => self.cumulative_op(op, frame)?,
            OpKind::NdarrayReshape => self.reshape_op(op, frame)?,
            OpKind::NdarrayPermuteDims => self.permute_op(op, frame)?,
            OpKind::NdarrayLinspace
            | OpKind::NdarrayCreate
            | OpKind::NdarrayIota
            | OpKind::NdarrayRandom => self.create(op, kind, frame)?,
            _ => return Err(problem("it cannot be run; use another operation")),
        };
        let value = self.typed(op, value)?;
        self.fit_types(op, std::slice::from_ref(&value))?;
        let value = self.placed(op, value, frame)?;
        frame.set(self.module.result(op), value);
        Ok(())
    }

    /// The element type of an operation's result.
    pub(super) fn result_dtype(&self, op: Op) -> Outcome<Dtype> {
        let ty = self.module.ty(self.module.result(op));
        let element = ty.element().ok_or_else(|| problem("its result is no array; use one"))?;
        dtype_of(element)
    }

    /// How a distributed result is cut; none if it is not distributed.
    pub(super) fn result_cuts(&self, op: Op) -> Outcome<Option<Cuts>> {
        self.cuts_of(self.module.ty(self.module.result(op)))
    }

    pub(super) fn cuts_of(&self, ty: &Type) -> Outcome<Option<Cuts>> {
        let ndim = ty.shape().map_or(0, <[_]>::len);
        ty.dist().map(|env| Cuts::of(env, ndim, self.mover.n_ranks())).transpose()
    }

    pub(super) fn attr_int(&self, op: Op, name: &str) -> Outcome<i64> {
        let number = self.module.attr(op, name).and_then(Attr::as_int);
        number.ok_or_else(|| problem(format!("the attribute `{name}` is missing; give a number")))
    }

    pub(super) fn binary(&mut self, op: Op, values: &[Value], placing: Placing) -> Outcome<Value> {
        let number = self.attr_int(op, "op")?;
        let operator = EwBin::from_number(number)
            .ok_or_else(|| problem(format!("operator {number} is not known; use 0 to 29")))?;
        let (dtype, cuts) = (self.result_dtype(op)?, self.result_cuts(op)?);
        if operator == EwBin::MatMul {
            return self.matmul(values, dtype, cuts);
        }
        let engine = self.engine.clone();
        let compute = |x: &[&Array]| elementwise::binary(&engine, operator, x[0], x[1], dtype);
        self.each(values, &compute, dtype, cuts, placing)
    }

    /// Every rank computes its box of the product, with the rows and columns that it takes.
    fn matmul(&mut self, values: &[Value], dtype: Dtype, cuts: Option<Cuts>) -> Outcome<Value> {
        let engine = self.engine.clone();
        let product =
            |lhs: &Array, rhs: &Array| elementwise::binary(&engine, EwBin::MatMul, lhs, rhs, dtype);
        let Some(cuts) = cuts else {
            return Ok(Value::Array(product(&self.local(&values[0])?, &self.local(&values[1])?)?));
        };
        let (left, right) = (shape_of(&values[0])?, shape_of(&values[1])?);
        let ([m, k], [_, n]) = (&left[..], &right[..]) else {
            return Err(problem(
                "a product of matrices needs two dimensions; reshape the operands",
            ));
        };
        let (shape, k) = ([*m as u64, *n as u64], *k as u64);
        let wanted = cuts.default_boxes(&shape, self.mover.n_ranks())?;
        let rows = |one: &IndexBox| IndexBox::new(&[one.start[0], 0], &[one.shape[0], k]);
        let columns = |one: &IndexBox| IndexBox::new(&[0, one.start[1]], &[k, one.shape[1]]);
        let lhs = self.boxes_of(&values[0], &wanted.iter().map(rows).collect::<Vec<_>>())?;
        let rhs = self.boxes_of(&values[1], &wanted.iter().map(columns).collect::<Vec<_>>())?;
        let start = wanted[self.rank()].start.clone();
        let made = DistArray::owned(&shape, &cuts, &start, &product(&lhs, &rhs)?);
        Ok(Value::Dist(Rc::new(made.known(super::dist::Places::owned(wanted)))))
    }

    /// This rank's box of an array of any kind.
    fn boxes_of(&mut self, value: &Value, wanted: &[IndexBox]) -> Outcome<Array> {
        match value {
            Value::Dist(array) => self.fetch(array, wanted),
            other => {
                let whole = self.local(other)?;
                let shape: Vec<u64> = whole.shape().iter().map(|n| *n as u64).collect();
                let all = IndexBox { start: vec![0; shape.len()], shape };
                super::dist::sliced(&whole, &all, &wanted[self.rank()])
            }
        }
    }

    pub(super) fn unary(&mut self, op: Op, values: &[Value], placing: Placing) -> Outcome<Value> {
        let number = self.attr_int(op, "op")?;
        let operator = EwUny::from_number(number)
            .ok_or_else(|| problem(format!("operator {number} is not known; use 0 to 41")))?;
        let (dtype, cuts) = (self.result_dtype(op)?, self.result_cuts(op)?);
        let engine = self.engine.clone();
        let compute = |x: &[&Array]| elementwise::unary(&engine, operator, x[0], dtype);
        self.each(values, &compute, dtype, cuts, placing)
    }

    pub(super) fn choice(&mut self, op: Op, values: &[Value], placing: Placing) -> Outcome<Value> {
        let (dtype, cuts) = (self.result_dtype(op)?, self.result_cuts(op)?);
        let engine = self.engine.clone();
        let compute = |x: &[&Array]| elementwise::choose(&engine, x[0], x[1], x[2], dtype);
        self.each(values, &compute, dtype, cuts, placing)
    }

    /// An array of its own with the same elements, in the same places.
    pub(super) fn copied(&mut self, value: &Value) -> Outcome<Value> {
        let engine = self.engine.clone();
        self.mapped(value, &|part| Ok(engine.copy(part)?))
    }

    /// The same of a distributed array.
    pub(super) fn copied_spread(&mut self, array: &Rc<DistArray>) -> Outcome<Rc<DistArray>> {
        match self.copied(&Value::Dist(Rc::clone(array)))? {
            Value::Dist(copy) => Ok(copy),
            _ => Ok(Rc::clone(array)),
        }
    }

    /// Each part through a function that keeps its shape.
    fn mapped(
        &mut self,
        value: &Value,
        change: &dyn Fn(&Array) -> Outcome<Array>,
    ) -> Outcome<Value> {
        match value {
            Value::Array(array) => Ok(Value::Array(change(array)?)),
            Value::Dist(array) => {
                let parts = array.parts.iter().map(change).collect::<Outcome<_>>()?;
                Ok(Value::Dist(Rc::new(DistArray {
                    shape: array.shape.clone(),
                    cuts: array.cuts.clone(),
                    grid: array.grid.clone(),
                    offsets: array.offsets.clone(),
                    parts,
                    places: array.places.clone(),
                })))
            }
            _ => Err(problem("a number where an array is needed; use an array")),
        }
    }

    fn cast_elements(&mut self, op: Op, frame: &Frame) -> Outcome<Value> {
        let value = frame.get(self.module.operands(op)[0])?.clone();
        let dtype = self.result_dtype(op)?;
        let always = self.module.attr(op, "copy").and_then(Attr::as_bool) == Some(true);
        let engine = self.engine.clone();
        self.mapped(&value, &|part| match always && part.dtype() == dtype {
            true => Ok(engine.copy(part)?),
            false => Ok(engine.cast(part, dtype)?),
        })
    }

    /// The same array; what its new type says of its shape must hold.
    fn cast_shape(&self, op: Op, value: &Value) -> Outcome<Value> {
        let shape = shape_of(value)?;
        let ty = self.module.ty(self.module.result(op));
        let wanted = ty.shape().unwrap_or_default();
        let fits = wanted.len() == shape.len()
            && wanted.iter().zip(&shape).all(|(w, n)| w.known().is_none_or(|w| w == *n as u64));
        if !fits {
            let wanted = partita_ir::by_x(wanted);
            return Err(problem(format!(
                "the array has the shape {shape:?}, not {wanted}; cast to its shape"
            )));
        }
        Ok(value.clone())
    }

    fn dim(&mut self, op: Op, frame: &Frame) -> Outcome<Value> {
        let operands = self.module.operands(op);
        let shape = shape_of(frame.get(operands[0])?)?;
        let dim = frame.int(operands[1])?;
        let size = usize::try_from(dim).ok().and_then(|dim| shape.get(dim));
        let size = size.ok_or_else(|| {
            problem(format!("dimension {dim} of an array of {}; use one below", shape.len()))
        })?;
        Ok(Value::Number(super::Number::Int(*size as i64)))
    }

    /// The slice of an operation, with its operands' values.
    pub(super) fn slicing(&self, op: Op, of: (&[u64], Reading), frame: &Frame) -> Outcome<Slicing> {
        let slices = self.module.slices(op);
        let slices =
            slices.ok_or_else(|| problem("its slice is incomplete; verify the program"))?;
        let numbers = |entries: &[Entry]| -> Outcome<Vec<i64>> {
            let number = |entry: &Entry| match entry {
                Entry::Known(number) => Ok(*number),
                Entry::Value(name) => frame.int(*name),
            };
            entries.iter().map(number).collect()
        };
        let (offsets, sizes) = (numbers(&slices.offsets)?, numbers(&slices.sizes)?);
        Slicing::new(&offsets, &sizes, &numbers(&slices.strides)?, of)
    }

    fn view(&mut self, op: Op, frame: &Frame) -> Outcome<Value> {
        let value = frame.get(self.module.operands(op)[0])?;
        match value {
            Value::Array(array) => {
                let shape: Vec<u64> = array.shape().iter().map(|n| *n as u64).collect();
                let slicing = self.slicing(op, (&shape, Reading::Window), frame)?;
                let view = local_view(array, &slicing)?;
                let kept = self.kept_dims(op, &slicing)?;
                let gone: Vec<usize> = (0..view.ndim()).filter(|dim| !kept.contains(dim)).collect();
                Ok(Value::Array(view.without_axes(&gone)))
            }
            Value::Dist(array) => {
                let slicing = self.slicing(op, (&array.shape, Reading::Array), frame)?;
                let (kept, cuts) = (self.kept_dims(op, &slicing)?, self.result_cuts(op)?);
                Ok(Value::Dist(Rc::new(match cuts {
                    Some(cuts) if kept.len() < array.shape.len() => {
                        reduced(&owned_view(array, &slicing)?, &kept, &cuts)?
                    }
                    _ => held_view(array, &slicing, None)?,
                })))
            }
            _ => Err(problem("a number where an array is needed; use an array")),
        }
    }

    /// Dimensions of a slice that the type of its view keeps; those of size 1 may go.
    fn kept_dims(&self, op: Op, slicing: &Slicing) -> Outcome<Vec<usize>> {
        let sizes: Vec<Size> = slicing.shape().into_iter().map(Size::Known).collect();
        let ty = self.module.ty(self.module.result(op));
        let wanted = ty.shape().unwrap_or_default();
        let fits = |kept: &Vec<usize>| {
            let size = |(dim, wanted): (&usize, &Size)| wanted.may_equal(sizes[*dim]);
            kept.iter().zip(wanted).all(size)
        };
        self.module.kept_dims(op).filter(fits).ok_or_else(|| {
            let (given, wanted) = (partita_ir::by_x(&sizes), partita_ir::by_x(wanted));
            problem(format!(
                "the slice has the shape {given} and the type of its view says {wanted}; make them the same"
            ))
        })
    }

    fn insert_slice(&mut self, op: Op, frame: &Frame) -> Outcome<()> {
        let target = frame.get(self.module.operands(op)[0])?.clone();
        self.insert(op, &target, frame)
    }

    fn insert(&mut self, op: Op, target: &Value, frame: &Frame) -> Outcome<()> {
        let source = frame.get(self.module.operands(op)[1])?.clone();
        match target {
            Value::Array(array) => {
                let shape: Vec<u64> = array.shape().iter().map(|n| *n as u64).collect();
                let slicing = self.slicing(op, (&shape, Reading::Window), frame)?;
                let source = self.local(&source)?;
                let source = self.engine.cast(&source, array.dtype())?;
                Ok(local_view(array, &slicing)?.write(&source)?)
            }
            Value::Dist(array) => {
                let slicing = self.slicing(op, (&array.shape, Reading::Array), frame)?;
                self.insert_spread(array, &slicing, &source)
            }
            _ => Err(problem("a number where an array is needed; use an array")),
        }
    }

    /// Every rank writes the entries that it holds, so that copies stay what they are.
    fn insert_spread(
        &mut self,
        array: &Rc<DistArray>,
        slicing: &Slicing,
        source: &Value,
    ) -> Outcome<()> {
        let shape = slicing.shape();
        let given = super::operators::global_shape(std::slice::from_ref(source))?;
        let sizes: Vec<usize> = given.iter().map(|n| *n as usize).collect();
        let wanted: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
        if crate::local::broadcast_shapes(&sizes, &wanted).as_deref() != Some(&wanted[..]) {
            return Err(problem(format!(
                "an array of {given:?} into a slice of {shape:?}; use equal sizes, or sizes of 1"
            )));
        }
        let source = match source {
            Value::Dist(source) if !source.shape.is_empty() => {
                let places = self.places(array)?;
                let targets: Vec<IndexBox> = targets(&places, slicing);
                self.aligned(&Value::Dist(Rc::clone(source)), &targets, &shape)?
            }
            other => other.clone(),
        };
        // What is read may be a view of what is written: it is read first.
        let meets = |part: &Array| array.parts.iter().any(|into| part.shares_base(into));
        let source = match &source {
            Value::Dist(source) if source.parts.iter().any(meets) => {
                Value::Dist(self.copied_spread(source)?)
            }
            other => other.clone(),
        };
        for (place, part) in array.pieces() {
            let entries = slicing.entries_in(&place);
            let view = slicing.view(&part, &place, &entries)?;
            self.write_pieces(&view, &source, &entries, &shape)?;
        }
        Ok(())
    }

    fn load(&mut self, op: Op, frame: &Frame) -> Outcome<Value> {
        let array = frame.get(self.module.operands(op)[0])?.clone();
        let names: Vec<Name> = self.module.operands_named(op, "indices").to_vec();
        let indices = frame.ints(&names)?;
        let ones = vec![1; indices.len()];
        match &array {
            Value::Array(array) => {
                let shape: Vec<u64> = array.shape().iter().map(|n| *n as u64).collect();
                let slicing = Slicing::new(&indices, &ones, &ones, (&shape, Reading::Window))?;
                let element = local_view(array, &slicing)?.to_scalar()?;
                Ok(Value::Number(to_number(element)))
            }
            Value::Dist(array) => {
                let slicing = Slicing::new(&indices, &ones, &ones, (&array.shape, Reading::Array))?;
                let start: Vec<u64> = slicing.0.iter().map(|slice| slice.offset).collect();
                let place = IndexBox { shape: vec![1; start.len()], start };
                let element = match array.shape.is_empty() {
                    true => array.own().clone(),
                    false => self.fetch(array, &vec![place; self.mover.n_ranks() as usize])?,
                };
                Ok(Value::Number(to_number(element.to_scalar()?)))
            }
            _ => Err(problem("a number where an array is needed; use an array")),
        }
    }

    fn reduce_op(&mut self, op: Op, frame: &Frame) -> Outcome<Value> {
        let value = frame.get(self.module.operands(op)[0])?.clone();
        let ndim = shape_of(&value)?.len();
        let number = self.attr_int(op, "op")?;
        let how = Reduce::from_number(number)
            .ok_or_else(|| problem(format!("reduction {number} is not known; use 0 to 11")))?;
        let axes = match self.module.attr(op, "axes").and_then(Attr::as_i64s) {
            Some(axes) => axes.iter().map(|axis| axis_of(*axis, ndim)).collect::<Outcome<_>>()?,
            None => (0..ndim).collect(),
        };
        let correction = match self.module.attr(op, "correction") {
            Some(Attr::Float(number, _)) => number.0,
            Some(other) => other.as_int().unwrap_or(0) as f64,
            None => 0.0,
        };
        let keeps_dims = self.module.attr(op, "keepdims").is_some();
        let dtype = self.result_dtype(op)?;
        let what = Reducing { how, axes, keeps_dims, correction, dtype };
        let cuts = self.result_cuts(op)?;
        let made = self.reduction(&value, &what, cuts)?;
        self.placed_by_default(op, made)
    }

    /// What an operation of `ndarray` makes lies in the default partition of its type.
    fn placed_by_default(&mut self, op: Op, value: Value) -> Outcome<Value> {
        match (value, self.result_cuts(op)?) {
            (Value::Dist(array), Some(cuts)) if !array.shape.is_empty() => {
                Ok(Value::Dist(self.by_default(&array, &cuts)?))
            }
            (value, _) => Ok(value),
        }
    }

    fn cumulative_op(&mut self, op: Op, frame: &Frame) -> Outcome<Value> {
        let value = frame.get(self.module.operands(op)[0])?.clone();
        let number = self.attr_int(op, "op")?;
        let how = Reduce::from_number(number)
            .ok_or_else(|| problem(format!("reduction {number} is not known; use 0 to 11")))?;
        let axis = axis_of(self.attr_int(op, "axis")?, shape_of(&value)?.len())?;
        let begins_neutral = self.module.attr(op, "initial").is_some();
        let dtype = self.result_dtype(op)?;
        let made = self.cumulative(&value, &Scanning { how, axis, begins_neutral, dtype })?;
        self.placed_by_default(op, made)
    }

    fn reshape_op(&mut self, op: Op, frame: &Frame) -> Outcome<Value> {
        let operands = self.module.operands(op).to_vec();
        let shape = self.wanted_shape(op, &operands[1..], frame)?;
        let copy = self.module.attr(op, "copy").and_then(Attr::as_bool);
        match frame.get(operands[0])? {
            Value::Array(array) => {
                let sizes: Vec<usize> = shape.iter().map(|n| *n as usize).collect();
                let made = array.reshape(&sizes)?;
                let shared = made.shares_base(array);
                if copy == Some(false) && !shared {
                    return Err(needs_copy("its elements do not lie in order"));
                }
                Ok(Value::Array(match copy == Some(true) && shared {
                    true => self.engine.copy(&made)?,
                    false => made,
                }))
            }
            Value::Dist(array) => {
                let array = Rc::clone(array);
                let cuts = self.result_cuts(op)?;
                let cuts = cuts.unwrap_or_else(|| Cuts::rows(shape.len(), self.mover.n_ranks()));
                Ok(Value::Dist(match copy {
                    Some(false) => self.reshape_view(&array, &shape, &cuts)?,
                    _ => self.reshape(&array, &shape, &cuts)?,
                }))
            }
            _ => Err(problem("a number where an array is needed; use an array")),
        }
    }

    /// A shape given by operands, or by the result's type where there are none.
    pub(super) fn wanted_shape(&self, op: Op, names: &[Name], frame: &Frame) -> Outcome<Vec<u64>> {
        let ty = self.module.ty(self.module.result(op));
        let known: Option<Vec<u64>> =
            ty.shape().map(|s| s.iter().map(|n| n.known()).collect()).unwrap_or_default();
        if names.is_empty() {
            return known.ok_or_else(|| problem("its shape is not known; give sizes"));
        }
        let size = |number: i64| {
            u64::try_from(number)
                .map_err(|_| problem(format!("the size {number} is negative; use 0 or more")))
        };
        frame.ints(names)?.into_iter().map(size).collect()
    }

    fn permute_op(&mut self, op: Op, frame: &Frame) -> Outcome<Value> {
        let value = frame.get(self.module.operands(op)[0])?.clone();
        let ndim = shape_of(&value)?.len();
        let axes = self.module.attr(op, "axes").and_then(Attr::as_i64s).unwrap_or_default();
        let axes: Vec<usize> =
            axes.iter().map(|axis| axis_of(*axis, ndim)).collect::<Outcome<_>>()?;
        let mut sorted = axes.clone();
        sorted.sort_unstable();
        if sorted != (0..ndim).collect::<Vec<_>>() {
            return Err(problem(format!(
                "the axes {axes:?} are no order of {ndim} dimensions; name each once"
            )));
        }
        match &value {
            Value::Array(array) => Ok(Value::Array(self.engine.copy(&array.permute(&axes))?)),
            Value::Dist(array) => {
                let cuts = self.result_cuts(op)?.unwrap_or_else(|| array.cuts());
                Ok(Value::Dist(self.permute(array, &axes, &cuts)?))
            }
            _ => Err(problem("a number where an array is needed; use an array")),
        }
    }
}

/// Why a reshape that may not copy is refused.
pub(super) fn needs_copy(why: &str) -> Problem {
    problem(format!("it may not copy, and {why}; leave `copy = false` away"))
}

fn axis_of(axis: i64, ndim: usize) -> Outcome<usize> {
    let found = usize::try_from(axis).ok().filter(|axis| *axis < ndim);
    found.ok_or_else(|| {
        problem(format!("axis {axis} of an array of {ndim} dimensions; use one below"))
    })
}

fn local_view(array: &Array, slicing: &Slicing) -> Outcome<Array> {
    let offsets: Vec<i64> = slicing.0.iter().map(|s| s.offset as i64).collect();
    let sizes: Vec<i64> = slicing.0.iter().map(|s| s.size as i64).collect();
    let strides: Vec<i64> = slicing.0.iter().map(|s| s.stride).collect();
    // An empty slice may name any offset.
    if sizes.contains(&0) {
        let sizes: Vec<usize> = sizes.iter().map(|n| *n as usize).collect();
        return Ok(array.engine().empty(&sizes, array.dtype())?);
    }
    Ok(array.slice(&offsets, &sizes, &strides)?)
}
