//! Operands from Python: arrays of ours, numbers, and what becomes an array.

use partita_array::api::{Number, Operand};
use partita_kernel::Dtype;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyComplex, PyComplexMethods, PyFloat, PyInt};

use super::array::Array;
use super::rank::Rank;
use super::types::dtype_object;

/// An operand.
pub(crate) enum Given<'py> {
    Array(Bound<'py, Array>),
    Number(Number),
}

impl<'py> Given<'py> {
    /// What an object is as an operand beside arrays of a rank; none if it is none.
    pub(crate) fn new(object: &Bound<'py, PyAny>, rank: &Py<Rank>) -> PyResult<Option<Self>> {
        Self::by(object, rank, |hooks| hooks.getattr("operand")?.call1((object, rank)))
    }

    /// What is assigned to elements of a type: lists are made in it, so that numbers that it does
    /// not have are refused.
    pub(crate) fn assigned(
        object: &Bound<'py, PyAny>,
        rank: &Py<Rank>,
        dtype: Dtype,
    ) -> PyResult<Option<Self>> {
        Self::by(object, rank, |hooks| {
            let dtype = dtype_object(object.py(), dtype)?;
            hooks.getattr("assigned")?.call1((object, rank, dtype))
        })
    }

    fn by(
        object: &Bound<'py, PyAny>,
        rank: &Py<Rank>,
        hook: impl FnOnce(&Bound<'py, PyModule>) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Option<Self>> {
        if let Ok(array) = object.cast::<Array>() {
            return Self::of_rank(array, rank).map(Some);
        }
        if let Some(number) = number(object) {
            return Ok(Some(Self::Number(number?)));
        }
        let made = hook(&object.py().import("partita._array.enter")?)?;
        if let Ok(array) = made.cast::<Array>() {
            return Self::of_rank(array, rank).map(Some);
        }
        Ok(number(&made).transpose()?.map(Self::Number))
    }

    /// An array, brought to the rank if it is another's.
    fn of_rank(array: &Bound<'py, Array>, rank: &Py<Rank>) -> PyResult<Self> {
        if array.get().handle(array)?.rank.is(rank) {
            return Ok(Self::Array(array.clone()));
        }
        let hook = array.py().import("partita._array.enter")?.getattr("adopt")?;
        Ok(Self::Array(hook.call1((array, rank))?.cast_into()?))
    }

    pub(crate) fn operand(&self) -> PyResult<Operand<'_>> {
        match self {
            Self::Array(array) => Ok(Operand::Array(&array.get().handle(array)?.array)),
            Self::Number(number) => Ok(Operand::Number(*number)),
        }
    }
}

/// A number of Python itself: those of NumPy have a type of their own.
pub(crate) fn number(object: &Bound<'_, PyAny>) -> Option<PyResult<Number>> {
    if let Ok(float) = object.cast_exact::<PyFloat>() {
        return Some(Ok(Number::Float(float.value())));
    }
    if let Ok(truth) = object.cast_exact::<PyBool>() {
        return Some(Ok(Number::Bool(truth.is_true())));
    }
    if object.cast_exact::<PyInt>().is_ok() {
        return Some(integer(object));
    }
    let complex = object.cast_exact::<PyComplex>().ok()?;
    Some(Ok(Number::Complex(complex.real(), complex.imag())))
}

fn integer(object: &Bound<'_, PyAny>) -> PyResult<Number> {
    let mut overflow = 0;
    // SAFETY: the object is an integer of Python.
    let short = unsafe { ffi::PyLong_AsLongLongAndOverflow(object.as_ptr(), &raw mut overflow) };
    if overflow == 0 {
        return Ok(Number::Int(short.into()));
    }
    // What has more bits than any type: the type says so.
    Ok(Number::Int(object.extract().unwrap_or(if overflow < 0 { i128::MIN } else { i128::MAX })))
}
