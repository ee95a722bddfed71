//! The operators of `Array`: native slots, no Python between.

use partita_array::api::{Function, Number, Operand};
use partita_array::local::Engine;
use partita_kernel::{Kind, Scalar};
use pyo3::class::basic::CompareOp;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};

use super::array::Array;
use super::given::{Given, number};
use super::types::api_error;

/// Which operand the array is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Left,
    Right,
}

/// A function of an array alone, or of an array and another operand; none if there is no array in
/// the first place, or the other is no operand.
pub(super) fn of_array_first<'py>(
    function: &Function,
    operands: &Bound<'py, PyTuple>,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    let first = operands.get_borrowed_item(0)?;
    let Ok(array) = first.cast::<Array>() else { return Ok(None) };
    if function.n_operands() == 1 {
        return Ok(Some(unary(&array, function)?.into_any()));
    }
    let made = binary(&array, &*operands.get_borrowed_item(1)?, function, Side::Left)?;
    Ok(Some(made).filter(|made| !made.is(operands.py().NotImplemented())))
}

/// A function of an array and another operand; `NotImplemented` if that is none.
fn binary<'py>(
    slf: &Bound<'py, Array>,
    other: &Bound<'py, PyAny>,
    function: &Function,
    side: Side,
) -> PyResult<Bound<'py, PyAny>> {
    let py = slf.py();
    let handle = slf.get().handle(slf)?;
    let Some(given) = Given::new(other, &handle.rank)? else {
        return Ok(py.NotImplemented().into_bound(py));
    };
    let (own, other) = (Operand::Array(&handle.array), given.operand()?);
    let operands = if side == Side::Left { [own, other] } else { [other, own] };
    let made = Array::made(py, &handle.rank, |engine| function.apply(engine, &operands))?;
    Ok(made.into_any())
}

fn unary<'py>(slf: &Bound<'py, Array>, function: &Function) -> PyResult<Bound<'py, Array>> {
    let handle = slf.get().handle(slf)?;
    let own = Operand::Array(&handle.array);
    Array::made(slf.py(), &handle.rank, |engine| function.apply(engine, &[own]))
}

/// A power that is no function of two operands.
enum ShortPower {
    Same,
    Of(&'static Function),
}

/// What `a ** x` is for some numbers, as NumPy computes it: infinities stay what they are. The
/// square of a truth value is one of int8.
fn short_power(slf: &Bound<'_, Array>, exponent: &Bound<'_, PyAny>) -> Option<ShortPower> {
    let exponent = match number(exponent)?.ok()? {
        Number::Int(2) => return Some(ShortPower::Of(SQUARE)),
        Number::Int(int @ -1..=1) => int as f64,
        Number::Float(float) => float,
        _ => return None,
    };
    let kind = slf.get().handle(slf).ok()?.array.dtype().kind();
    if !matches!(kind, Kind::Float | Kind::Complex) {
        return None;
    }
    match exponent {
        -1.0 => Some(ShortPower::Of(RECIPROCAL)),
        0.5 => Some(ShortPower::Of(SQRT)),
        1.0 => Some(ShortPower::Same),
        2.0 => Some(ShortPower::Of(SQUARE)),
        _ => None,
    }
}

/// A function whose result is written to the array itself.
fn in_place(slf: &Bound<'_, Array>, other: &Bound<'_, PyAny>, function: &Function) -> PyResult<()> {
    let py = slf.py();
    let handle = slf.get().handle(slf)?;
    let Some(given) = Given::new(other, &handle.rank)? else {
        let kind = other.get_type().name()?;
        let message = format!("{} of an array and a {kind}; use numbers or arrays", function.name);
        return Err(PyTypeError::new_err(message));
    };
    let other = given.operand()?;
    let outcome = handle.rank.get().with(py, |engine| {
        function.apply_in_place(engine, &handle.array, other).map(|()| engine.has_ready())
    });
    match outcome.map_err(|error| api_error(py, &error))? {
        true => handle.rank.get().run_ready(py),
        false => Ok(()),
    }
}

const ADD: &Function = Function::known("add");
const SUBTRACT: &Function = Function::known("subtract");
const MULTIPLY: &Function = Function::known("multiply");
const DIVIDE: &Function = Function::known("divide");
const FLOOR_DIVIDE: &Function = Function::known("floor_divide");
const REMAINDER: &Function = Function::known("remainder");
const BITWISE_AND: &Function = Function::known("bitwise_and");
const BITWISE_OR: &Function = Function::known("bitwise_or");
const BITWISE_XOR: &Function = Function::known("bitwise_xor");
const BITWISE_LEFT_SHIFT: &Function = Function::known("bitwise_left_shift");
const BITWISE_RIGHT_SHIFT: &Function = Function::known("bitwise_right_shift");
const POW: &Function = Function::known("pow");
const SQUARE: &Function = Function::known("square");
const RECIPROCAL: &Function = Function::known("reciprocal");
const SQRT: &Function = Function::known("sqrt");
const NEGATIVE: &Function = Function::known("negative");
const ABS: &Function = Function::known("abs");
const BITWISE_INVERT: &Function = Function::known("bitwise_invert");
const EQUAL: &Function = Function::known("equal");
const NOT_EQUAL: &Function = Function::known("not_equal");
const LESS: &Function = Function::known("less");
const LESS_EQUAL: &Function = Function::known("less_equal");
const GREATER: &Function = Function::known("greater");
const GREATER_EQUAL: &Function = Function::known("greater_equal");

/// What an operator gives: an array, or `NotImplemented`.
type Made<'py> = PyResult<Bound<'py, PyAny>>;
/// The other operand.
type Other<'a, 'py> = &'a Bound<'py, PyAny>;

#[pymethods]
impl Array {
    fn __add__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, ADD, Side::Left)
    }

    fn __radd__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, ADD, Side::Right)
    }

    fn __iadd__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(slf, other, ADD)
    }

    fn __sub__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, SUBTRACT, Side::Left)
    }

    fn __rsub__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, SUBTRACT, Side::Right)
    }

    fn __isub__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(slf, other, SUBTRACT)
    }

    fn __mul__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, MULTIPLY, Side::Left)
    }

    fn __rmul__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, MULTIPLY, Side::Right)
    }

    fn __imul__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(slf, other, MULTIPLY)
    }

    fn __truediv__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, DIVIDE, Side::Left)
    }

    fn __rtruediv__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, DIVIDE, Side::Right)
    }

    fn __itruediv__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(slf, other, DIVIDE)
    }

    fn __floordiv__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, FLOOR_DIVIDE, Side::Left)
    }

    fn __rfloordiv__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, FLOOR_DIVIDE, Side::Right)
    }

    fn __ifloordiv__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(slf, other, FLOOR_DIVIDE)
    }

    fn __mod__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, REMAINDER, Side::Left)
    }

    fn __rmod__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, REMAINDER, Side::Right)
    }

    fn __imod__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(slf, other, REMAINDER)
    }

    fn __and__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, BITWISE_AND, Side::Left)
    }

    fn __rand__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, BITWISE_AND, Side::Right)
    }

    fn __iand__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(slf, other, BITWISE_AND)
    }

    fn __or__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, BITWISE_OR, Side::Left)
    }

    fn __ror__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, BITWISE_OR, Side::Right)
    }

    fn __ior__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(slf, other, BITWISE_OR)
    }

    fn __xor__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, BITWISE_XOR, Side::Left)
    }

    fn __rxor__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, BITWISE_XOR, Side::Right)
    }

    fn __ixor__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(slf, other, BITWISE_XOR)
    }

    fn __lshift__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, BITWISE_LEFT_SHIFT, Side::Left)
    }

    fn __rlshift__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, BITWISE_LEFT_SHIFT, Side::Right)
    }

    fn __ilshift__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(slf, other, BITWISE_LEFT_SHIFT)
    }

    fn __rshift__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, BITWISE_RIGHT_SHIFT, Side::Left)
    }

    fn __rrshift__<'py>(slf: &Bound<'py, Self>, other: Other<'_, 'py>) -> Made<'py> {
        binary(slf, other, BITWISE_RIGHT_SHIFT, Side::Right)
    }

    fn __irshift__(slf: &Bound<'_, Self>, other: &Bound<'_, PyAny>) -> PyResult<()> {
        in_place(slf, other, BITWISE_RIGHT_SHIFT)
    }

    fn __pow__<'py>(
        slf: &Bound<'py, Self>,
        other: Other<'_, 'py>,
        _modulo: Option<&Bound<'py, PyAny>>,
    ) -> Made<'py> {
        match short_power(slf, other) {
            Some(ShortPower::Same) => Ok(Self::__pos__(slf)?.into_any()),
            Some(ShortPower::Of(function)) => Ok(unary(slf, function)?.into_any()),
            None => binary(slf, other, POW, Side::Left),
        }
    }

    fn __rpow__<'py>(
        slf: &Bound<'py, Self>,
        other: Other<'_, 'py>,
        _modulo: Option<&Bound<'py, PyAny>>,
    ) -> Made<'py> {
        binary(slf, other, POW, Side::Right)
    }

    fn __ipow__(
        slf: &Bound<'_, Self>,
        other: &Bound<'_, PyAny>,
        _modulo: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<()> {
        in_place(slf, other, POW)
    }

    fn __neg__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        unary(slf, NEGATIVE)
    }

    fn __abs__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        unary(slf, ABS)
    }

    fn __invert__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        unary(slf, BITWISE_INVERT)
    }

    fn __pos__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, Self>> {
        let handle = slf.get().handle(slf)?;
        Self::made(slf.py(), &handle.rank, |engine| Ok(engine.copy(&handle.array)?))
    }

    fn __richcmp__<'py>(
        slf: &Bound<'py, Self>,
        other: &Bound<'py, PyAny>,
        op: CompareOp,
    ) -> Made<'py> {
        let function = match op {
            CompareOp::Eq => EQUAL,
            CompareOp::Ne => NOT_EQUAL,
            CompareOp::Lt => LESS,
            CompareOp::Le => LESS_EQUAL,
            CompareOp::Gt => GREATER,
            CompareOp::Ge => GREATER_EQUAL,
        };
        // No number is equal to nothing, or to a text.
        let is_none = other.is_none() || other.is_instance_of::<PyString>();
        if is_none && matches!(op, CompareOp::Eq | CompareOp::Ne) {
            let handle = slf.get().handle(slf)?;
            let answer = Scalar::from(matches!(op, CompareOp::Ne));
            let shape = handle.array.shape();
            let filled = |engine: &Engine| Ok(engine.fill(shape, answer)?);
            return Ok(Self::made(slf.py(), &handle.rank, filled)?.into_any());
        }
        binary(slf, other, function, Side::Left)
    }
}
