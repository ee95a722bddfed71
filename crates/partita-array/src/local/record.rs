//! Recording: operations become nodes, arrays windows of new bases.

use std::rc::Rc;

use partita_kernel::{Dtype, Op, Reduction, Scalar};

use super::array::Array;
use super::base::Base;
use super::engine::Engine;
use super::node::{Action, Operand, Place};
use super::window::{Window, broadcast_shapes};
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

impl Engine {
    /// An array whose elements nobody has set.
    ///
    /// # Errors
    /// More bytes than an address space has.
    pub fn empty(&self, shape: &[usize], dtype: Dtype) -> Result<Array> {
        let base = Base::new(shape, dtype);
        if base.n_bytes().is_none() || shape.len() > partita_kernel::program::MAX_NDIM {
            return Err(LocalError::TooLarge { shape: shape.to_vec() });
        }
        Ok(Array::new(self, Rc::new(base), Window::dense(shape)))
    }

    /// An array with the same number everywhere; it takes no memory until it is written.
    ///
    /// # Errors
    /// As [`Engine::empty`].
    pub fn fill(&self, shape: &[usize], value: Scalar) -> Result<Array> {
        let array = self.empty(shape, value.dtype)?;
        array.base.fill.set(Some(value));
        Ok(array)
    }

    /// The position along an axis, as int64.
    ///
    /// # Errors
    /// As [`Engine::empty`].
    pub fn index(&self, shape: &[usize], axis: usize) -> Result<Array> {
        let target = self.empty(shape, Dtype::Int64)?;
        self.record(Action::Index(axis), Vec::new(), &target)?;
        Ok(target)
    }

    /// An operation on each element; sizes of 1 are repeated.
    ///
    /// # Errors
    /// Shapes or types that do not fit.
    pub fn apply(&self, op: Op, operands: &[&Array]) -> Result<Array> {
        self.settle(operands)?;
        let shape = common_shape(operands)?;
        let typed = operands.last().map_or(Dtype::Bool, |array| array.dtype());
        let alike = if op == Op::Where { &operands[1..] } else { operands };
        if let Some(other) = alike.iter().find(|array| array.dtype() != typed) {
            return Err(LocalError::DtypesDiffer { first: other.dtype(), second: typed });
        }
        if !op.takes(typed) || op.n_operands() != operands.len() {
            let error = partita_kernel::KernelError::OperandType { at: 0, op, given: typed };
            return Err(error.into());
        }
        let target = self.empty(&shape, op.gives(typed).unwrap_or(typed))?;
        let operands = operands.iter().map(|array| self.operand(array, &shape)).collect();
        self.record(Action::Apply(op), operands, &target)?;
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
        self.settle(&[array])?;
        let target = self.empty(array.shape(), dtype)?;
        let operand = self.operand(array, array.shape());
        self.record(Action::Cast, vec![operand], &target)?;
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
        self.settle(&[array])?;
        let dtype = array.dtype();
        if !how.takes(dtype) {
            let error = partita_kernel::KernelError::ReductionType {
                output: 0,
                reduction: how,
                given: dtype,
            };
            return Err(error.into());
        }
        let is_reduced = |axis: usize| axes.contains(&axis);
        let shape = array.shape().iter().enumerate();
        let shape: Vec<usize> = shape.map(|(a, n)| if is_reduced(a) { 1 } else { *n }).collect();
        let empties = axes.iter().any(|axis| array.shape()[*axis] == 0);
        if empties && !how.has_empty() && !shape.contains(&0) {
            let error = partita_kernel::KernelError::EmptyReduction { output: 0, reduction: how };
            return Err(error.into());
        }
        let target = self.empty(&shape, how.gives(dtype))?;
        let mut window = target.window.clone();
        window.shape = array.shape().to_vec();
        axes.iter().for_each(|axis| window.strides[*axis] = 0);
        let bits = axes.iter().fold(0, |bits, axis| bits | 1_u16 << axis);
        let operand = self.operand(array, array.shape());
        let place = Place { base: self.number(&target.base), window };
        self.push(Action::Reduce(how, bits), vec![operand], &target, place)?;
        Ok(target)
    }

    /// Running sums or products along an axis.
    ///
    /// # Errors
    /// As [`Engine::empty`]; truth values.
    pub fn run_along(&self, array: &Array, how: Running, axis: usize) -> Result<Array> {
        if array.dtype() == Dtype::Bool {
            let error = partita_kernel::KernelError::ScanType { output: 0, given: Dtype::Bool };
            return Err(error.into());
        }
        self.settle(&[array])?;
        let target = self.empty(array.shape(), array.dtype())?;
        let operand = self.operand(array, array.shape());
        let action = match how {
            Running::Sum => Action::RunningSum(axis),
            Running::Product => Action::RunningProduct(axis),
        };
        self.record(action, vec![operand], &target)?;
        Ok(target)
    }

    fn record(&self, action: Action, operands: Vec<Operand>, target: &Array) -> Result<()> {
        let place = Place { base: self.number(&target.base), window: target.window.clone() };
        self.push(action, operands, target, place)
    }

    fn push(
        &self,
        action: Action,
        operands: Vec<Operand>,
        target: &Array,
        place: Place,
    ) -> Result<()> {
        let n_pending = self.0.work.borrow_mut().add(action, target.dtype(), operands, place);
        if n_pending < MOST_PENDING { Ok(()) } else { self.flush() }
    }

    /// The base's number in the pending work.
    pub(super) fn number(&self, base: &Rc<Base>) -> usize {
        let turn = self.0.turn.get();
        let (known_in, number) = base.number.get();
        if known_in == turn {
            return number;
        }
        let mut bases = self.0.bases.borrow_mut();
        bases.push(Rc::clone(base));
        base.number.set((turn, bases.len() - 1));
        bases.len() - 1
    }

    pub(super) fn operand(&self, array: &Array, shape: &[usize]) -> Operand {
        if let Some(value) = array.base.fill.get() {
            let mut work = self.0.work.borrow_mut();
            work.numbers.push(value);
            return Operand::Number(work.numbers.len() - 1, value.dtype);
        }
        // Shapes were compared before; an array that does not fit is read as it is.
        let window = array.window.broadcast(shape).unwrap_or_else(|| array.window.clone());
        Operand::Array(Place { base: self.number(&array.base), window })
    }

    /// Gives a base that has the same number everywhere its elements, if `window` leaves any.
    pub(super) fn unfill(&self, array: &Array, window: Option<&Window>) -> Result<()> {
        let Some(value) = array.base.fill.take() else { return Ok(()) };
        let n_elements: usize = array.base.shape.iter().product();
        if window.is_some_and(|window| window.n_elements() == n_elements) {
            return Ok(());
        }
        let all = Array::new(self, Rc::clone(&array.base), Window::dense(&array.base.shape));
        let number = {
            let mut work = self.0.work.borrow_mut();
            work.numbers.push(value);
            work.numbers.len() - 1
        };
        self.record(Action::Copy, vec![Operand::Number(number, value.dtype)], &all)
    }

    /// Records a write; sources of other shapes are repeated.
    pub(super) fn write(&self, target: &Array, source: &Array) -> Result<()> {
        if target.dtype() != source.dtype() {
            let (first, second) = (target.dtype(), source.dtype());
            return Err(LocalError::DtypesDiffer { first, second });
        }
        if target.window.n_elements() == 0 || self.is_in_place(target, source) {
            return Ok(());
        }
        if let Some(saved) = self.kept_part(target, source)? {
            return self.write(target, &saved);
        }
        self.settle(&[target, source])?;
        let Some(window) = source.window.broadcast(target.shape()) else {
            let (first, second) = (target.shape().to_vec(), source.shape().to_vec());
            return Err(LocalError::ShapesDiffer { first, second });
        };
        if Rc::ptr_eq(&target.base, &source.base) {
            if target.window == window || source.base.fill.get().is_some() {
                return Ok(());
            }
            if !window.plainly_apart(&target.window) {
                // It may overwrite what it still has to read.
                return self.write(target, &self.copy(source)?);
            }
        }
        self.unfill(target, Some(&target.window))?;
        let operand = self.operand(source, target.shape());
        self.record(Action::Copy, vec![operand], target)
    }
}

fn common_shape(operands: &[&Array]) -> Result<Vec<usize>> {
    let mut shape = Vec::new();
    for array in operands {
        shape = broadcast_shapes(&shape, array.shape()).ok_or_else(|| {
            LocalError::ShapesDiffer { first: shape.clone(), second: array.shape().to_vec() }
        })?;
    }
    Ok(shape)
}
