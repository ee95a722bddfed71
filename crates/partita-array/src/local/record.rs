//! Recording: operations become nodes, arrays windows of new bases.

use std::hash::{Hash, Hasher};
use std::rc::Rc;

use partita_kernel::program::MAX_NDIM;
use partita_kernel::{Dtype, KernelError, Op, Reduction, Scalar};
use rustc_hash::FxHasher;
use smallvec::SmallVec;

use super::array::Array;
use super::base::Base;
use super::engine::Engine;
use super::node::{Action, Node, Operand, Operands, Place};
use super::rhythm::Cut;
use super::segment::Segment;
use super::window::{Dims, Window, broadcast_shapes};
use crate::error::{LocalError, Result};

/// Work is run when it has so many nodes, whoever looks.
const MOST_PENDING: usize = 4096;

/// A running reduction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Running {
    /// Sums.
    Sum,
    /// Products.
    Product,
}

/// An operand: elements, or one number for all points.
#[derive(Debug, Clone, Copy)]
pub enum Input<'a> {
    /// Elements.
    Array(&'a Array),
    /// A number, which is no part of the structure of a program.
    Number(Scalar),
}

impl Input<'_> {
    fn dtype(&self) -> Dtype {
        match self {
            Input::Array(array) => array.dtype(),
            Input::Number(number) => number.dtype,
        }
    }

    fn shape(&self) -> &[usize] {
        match self {
            Input::Array(array) => array.shape(),
            Input::Number(_) => &[],
        }
    }

    /// The array, if it is one.
    pub(super) fn array(&self) -> Option<&Array> {
        match self {
            Input::Array(array) => Some(array),
            Input::Number(_) => None,
        }
    }

    /// Whether it is an array with the same number everywhere, made from nothing.
    pub(super) fn is_filled(&self) -> bool {
        let is_one =
            |array: &Array| array.base.fill.get().is_some() && !array.base.all.shape.is_empty();
        self.array().is_some_and(is_one)
    }

    /// The number that all its elements have.
    fn number(&self) -> Option<Scalar> {
        match self {
            Input::Array(array) => array.base.fill.get(),
            Input::Number(number) => Some(*number),
        }
    }
}

impl Engine {
    /// An array whose elements nobody has set.
    ///
    /// # Errors
    /// More bytes than an address space has; too many dimensions.
    pub fn empty(&self, shape: &[usize], dtype: Dtype) -> Result<Array> {
        self.empty_in(Window::dense(shape), dtype)
    }

    /// The same, with the dense window that it is to have.
    fn empty_in(&self, all: Window, dtype: Dtype) -> Result<Array> {
        let (ndim, most) = (all.shape.len(), MAX_NDIM);
        if ndim > most {
            return Err(LocalError::TooManyDims { ndim, most });
        }
        let base = Base::new(all.clone(), dtype);
        if base.n_bytes().is_none() {
            return Err(LocalError::TooLarge { shape: all.shape.to_vec() });
        }
        Ok(Array::new(self, Rc::new(base), all))
    }

    /// An array with the same number everywhere; it takes no memory until it is written.
    ///
    /// # Errors
    /// As [`Engine::empty`].
    pub fn fill(&self, shape: &[usize], value: Scalar) -> Result<Array> {
        let array = self.empty(shape, value.dtype)?;
        array.base.fill.set(Some(value));
        if self.0.rhythm.is_some() {
            // Its elements are written when somebody writes some of them: that is from this line.
            let mark = mark(Action::Copy, &[Input::Number(value)], value.dtype, &array.base.all);
            self.0.places.borrow_mut().note(mark);
        }
        array.base.is_from_nothing.set(true);
        Ok(array)
    }

    /// An array of a user's whose elements nobody has set: it goes where new arrays go.
    ///
    /// # Errors
    /// As [`Engine::empty`].
    pub fn from_nothing(&self, shape: &[usize], dtype: Dtype) -> Result<Array> {
        let array = self.empty(shape, dtype)?;
        array.base.is_from_nothing.set(true);
        Ok(array)
    }

    /// The position along an axis, as int64.
    ///
    /// # Errors
    /// As [`Engine::empty`].
    pub fn index(&self, shape: &[usize], axis: usize) -> Result<Array> {
        let target = self.empty(shape, Dtype::Int64)?;
        self.record(Action::Index(axis), &[], &target, &target.window)?;
        Ok(target)
    }

    /// An operation on each element; sizes of 1 are repeated.
    ///
    /// # Errors
    /// Shapes or types that do not fit.
    pub fn apply(&self, op: Op, operands: &[&Array]) -> Result<Array> {
        let inputs: SmallVec<[Input<'_>; 3]> = operands.iter().map(|a| Input::Array(a)).collect();
        self.apply_to(op, &inputs)
    }

    /// An operation on each element, also with numbers.
    ///
    /// # Errors
    /// Shapes or types that do not fit.
    pub fn apply_to(&self, op: Op, inputs: &[Input<'_>]) -> Result<Array> {
        self.settle(inputs)?;
        let all = result_window(inputs)?;
        let typed = inputs.last().map_or(Dtype::Bool, Input::dtype);
        let alike = if op == Op::Where { &inputs[1..] } else { inputs };
        if let Some(other) = alike.iter().find(|input| input.dtype() != typed) {
            return Err(LocalError::DtypesDiffer { first: other.dtype(), second: typed });
        }
        if !op.takes(typed) || op.n_operands() != inputs.len() {
            return Err(KernelError::OperandType { at: 0, op, given: typed }.into());
        }
        let target = self.empty_in(all, op.gives(typed).unwrap_or(typed))?;
        self.record(Action::Apply(op), inputs, &target, &target.window)?;
        Ok(target)
    }

    /// The elements in another type; the array itself if it has the type.
    ///
    /// # Errors
    /// As [`Engine::empty`].
    pub fn cast(&self, array: &Array, dtype: Dtype) -> Result<Array> {
        if array.dtype() == dtype {
            return Ok(array.clone());
        }
        self.settle(&[Input::Array(array)])?;
        let target = self.empty(array.shape(), dtype)?;
        self.record(Action::Cast, &[Input::Array(array)], &target, &target.window)?;
        Ok(target)
    }

    /// A copy with memory of its own.
    ///
    /// # Errors
    /// As [`Engine::empty`].
    pub fn copy(&self, array: &Array) -> Result<Array> {
        let target = self.empty(array.shape(), array.dtype())?;
        target.write(array)?;
        Ok(target)
    }

    /// The elements combined over axes, which keep the size 1.
    ///
    /// # Errors
    /// A reduction that the type does not have.
    pub fn reduce(&self, array: &Array, how: Reduction, axes: &[usize]) -> Result<Array> {
        self.settle(&[Input::Array(array)])?;
        let dtype = array.dtype();
        if !how.takes(dtype) {
            let error = KernelError::ReductionType { output: 0, reduction: how, given: dtype };
            return Err(error.into());
        }
        let shape = without_sizes(array.shape(), axes);
        let empties = axes.iter().any(|axis| array.shape()[*axis] == 0);
        if empties && !how.has_empty() && !shape.contains(&0) {
            return Err(KernelError::EmptyReduction { output: 0, reduction: how }.into());
        }
        self.reduced(&[Input::Array(array)], how, axes, &shape)
    }

    /// The mean squared distance from the mean over axes, which keep the size 1; the divisor is
    /// the number of elements less the correction.
    ///
    /// # Errors
    /// Elements that are no floating or complex numbers.
    pub fn variance(&self, array: &Array, axes: &[usize], correction: f64) -> Result<Array> {
        let (how, given) = (Reduction::Variance, array.dtype());
        if !how.takes(given) {
            return Err(KernelError::ReductionType { output: 0, reduction: how, given }.into());
        }
        let shape = without_sizes(array.shape(), axes);
        let correction = Input::Number(Scalar::from(correction));
        self.reduced(&[Input::Array(array), correction], how, axes, &shape)
    }

    fn reduced(
        &self,
        inputs: &[Input<'_>],
        how: Reduction,
        axes: &[usize],
        shape: &[usize],
    ) -> Result<Array> {
        let target = self.empty(shape, how.gives(inputs[0].dtype()))?;
        let mut window = target.window.clone();
        window.shape = inputs[0].shape().into();
        axes.iter().for_each(|axis| window.strides[*axis] = 0);
        let bits = axes.iter().fold(0, |bits, axis| bits | 1_u16 << axis);
        self.record(Action::Reduce(how, bits), inputs, &target, &window)?;
        Ok(target)
    }

    /// Running sums or products along an axis.
    ///
    /// # Errors
    /// As [`Engine::empty`]; truth values.
    pub fn run_along(&self, array: &Array, how: Running, axis: usize) -> Result<Array> {
        if array.dtype() == Dtype::Bool {
            return Err(KernelError::ScanType { output: 0, given: Dtype::Bool }.into());
        }
        self.settle(&[Input::Array(array)])?;
        if self.0.ranks.is_some() {
            // What came before a rank's part is summed up there, from elements.
            self.unfill(array, None)?;
        }
        let target = self.empty(array.shape(), array.dtype())?;
        let action = match how {
            Running::Sum => Action::RunningSum(axis),
            Running::Product => Action::RunningProduct(axis),
        };
        self.record(action, &[Input::Array(array)], &target, &target.window)?;
        Ok(target)
    }

    /// Records a node whose points are those of `window`, a window of the target's base.
    fn record(
        &self,
        action: Action,
        inputs: &[Input<'_>],
        target: &Array,
        window: &Window,
    ) -> Result<()> {
        inputs.iter().filter_map(Input::array).try_for_each(Array::check_kept)?;
        let mark = mark(action, inputs, target.dtype(), window);
        let mut wants_line = false;
        if let Some(rhythm) = &self.0.rhythm {
            let mut rhythm = rhythm.borrow_mut();
            let cut = rhythm.note(mark);
            // The turns of a loop record the same kinds again.
            if !rhythm.repeats() {
                self.0.places.borrow_mut().note(mark);
                wants_line = self.0.ranks.is_some();
            }
            drop(rhythm);
            match cut {
                Cut::Nowhere => {}
                Cut::Here => self.advance(None),
                Cut::At(node) => self.advance(Some(node)),
            }
        }
        if self.0.ranks.is_some() && inputs.iter().any(Input::is_filled) {
            // Nodes have numbers where arrays are filled: what these say of places stays here.
            target.base.is_from_nothing.set(true);
        }
        let n_pending = {
            let current = &mut *self.0.current.borrow_mut();
            let operands = inputs.iter().map(|input| operand(current, input, &window.shape));
            let operands: Operands = operands.collect();
            let place = Place { base: current.number(&target.base), window: window.clone() };
            let node = Node { mark, action, dtype: target.dtype(), operands, target: place };
            if self.0.ranks.is_some() {
                current.note_filled(inputs);
            }
            if wants_line {
                current.unlined.get_or_insert(current.work.nodes.len());
            }
            current.work.nodes.push(node);
            current.work.nodes.len()
        };
        match n_pending < MOST_PENDING {
            true => Ok(()),
            false if self.0.rhythm.is_none() => self.flush(),
            false => {
                self.end_all();
                Ok(())
            }
        }
    }

    /// Gives a base that has the same number everywhere its elements, if `window` leaves any.
    pub(super) fn unfill(&self, array: &Array, window: Option<&Window>) -> Result<()> {
        let Some(value) = array.base.fill.take() else { return Ok(()) };
        let n_elements: usize = array.base.shape().iter().product();
        if window.is_some_and(|window| window.covers(n_elements)) {
            return Ok(());
        }
        let all = Array::new(self, Rc::clone(&array.base), array.base.all.clone());
        self.record(Action::Copy, &[Input::Number(value)], &all, &all.window)
    }

    /// Records a write; sources of other shapes are repeated.
    ///
    /// # Errors
    /// Shapes or types that do not fit.
    pub fn write(&self, target: &Array, source: Input<'_>) -> Result<()> {
        target.check_writable()?;
        if target.dtype() != source.dtype() {
            let (first, second) = (target.dtype(), source.dtype());
            return Err(LocalError::DtypesDiffer { first, second });
        }
        if target.n_elements() == 0 {
            return source.array().map_or(Ok(()), |source| source.fit(target.shape()).map(drop));
        }
        target.base.n_writes.set(target.base.n_writes.get() + 1);
        if self.is_in_place(target, &source) {
            return Ok(());
        }
        if let Some(saved) = self.kept_part(target, &source)? {
            return self.write(target, Input::Array(&saved));
        }
        self.settle(&[Input::Array(target), source])?;
        if let Input::Array(source) = source {
            let window = source.fit(target.shape())?;
            if Rc::ptr_eq(&target.base, &source.base) {
                if target.window == window || source.base.fill.get().is_some() {
                    return Ok(());
                }
                if !window.plainly_apart(&target.window) {
                    // It may overwrite what it still has to read.
                    return self.write(target, Input::Array(&self.copy(source)?));
                }
            }
        }
        target.mend()?;
        self.unfill(target, Some(&target.window))?;
        self.record(Action::Copy, &[source], target, &target.window)
    }
}

/// What a node does, without saying to which bases.
pub(super) fn mark(action: Action, inputs: &[Input<'_>], dtype: Dtype, window: &Window) -> u64 {
    let mut hasher = FxHasher::default();
    (action, dtype, window).hash(&mut hasher);
    for input in inputs {
        match input {
            Input::Array(array) => (array.dtype(), &array.window).hash(&mut hasher),
            Input::Number(number) => number.dtype.hash(&mut hasher),
        }
    }
    hasher.finish()
}

pub(super) fn operand(segment: &mut Segment, input: &Input<'_>, shape: &[usize]) -> Operand {
    if let Some(value) = input.number() {
        segment.work.numbers.push(value);
        return Operand::Number(segment.work.numbers.len() - 1, value.dtype);
    }
    let Input::Array(array) = input else { unreachable!("a number is one") };
    // Shapes were compared before; an array that does not fit is read as it is.
    let window = array.window.broadcast(shape).unwrap_or_else(|| array.window.clone());
    Operand::Array(Place { base: segment.number(&array.base), window })
}

/// A shape whose reduced dimensions have the size 1.
fn without_sizes(shape: &[usize], axes: &[usize]) -> Dims<usize> {
    let sizes = shape.iter().enumerate();
    sizes.map(|(axis, size)| if axes.contains(&axis) { 1 } else { *size }).collect()
}

/// The dense window of a result; that of an operand, if one has it already.
fn result_window(inputs: &[Input<'_>]) -> Result<Window> {
    let mut arrays = inputs.iter().filter_map(Input::array);
    let whole = arrays.clone().find(|array| array.window.is(&array.base.all));
    let mut fits =
        |all: &Window| arrays.all(|one| one.window.is(all) || one.window.shape == all.shape);
    match whole.map(|array| &array.window).filter(|all| fits(all)) {
        Some(all) => Ok(all.clone()),
        None => Ok(Window::dense(&common_shape(inputs)?)),
    }
}

fn common_shape(inputs: &[Input<'_>]) -> Result<Dims<usize>> {
    let (first, others) = inputs.split_at(inputs.len().min(1));
    let mut shape: Dims<usize> = first.first().map_or(Dims::new(), |input| input.shape().into());
    for input in others {
        shape = broadcast_shapes(&shape, input.shape()).ok_or_else(|| {
            let words: Vec<String> =
                inputs.iter().filter_map(Input::array).map(Array::in_words).collect();
            let about = format!(" (of {})", words.join(" and "));
            LocalError::ShapesDiffer {
                first: shape.to_vec(),
                second: input.shape().to_vec(),
                about,
            }
        })?;
    }
    Ok(shape)
}
