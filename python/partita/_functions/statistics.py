"""Sums, means, extremes, running sums."""

from __future__ import annotations

import builtins
from functools import partial
from typing import Any

import numpy as np

from partita._array.array import Array
from partita._array.dtypes import name_of
from partita._functions import complex_order, elementwise, masked
from partita._functions.creation import an_array, axes_of, full, is_axis_of_number, refuse_truth
from partita._functions.elementwise import fitted_to, reduced_to
from partita._functions.manipulation import broadcast_to, concat, reshape
from partita._functions.serving import served
from partita._partita import lazy_where

# What a reduction combines with, and what changes nothing.
_COMBINED = {
    "sum": (elementwise.add, 0),
    "prod": (elementwise.multiply, 1),
    "any": (elementwise.logical_or, 0),
    "all": (elementwise.logical_and, 1),
    "min": (elementwise.minimum, None),
    "max": (elementwise.maximum, None),
}


def _reduced(
    how: str,
    x: Any,
    axis: Any,
    keepdims: bool,
    dtype: Any = None,
    correction: float = 0.0,
    out: Any = None,
    initial: Any = None,
    where: Any = True,
) -> Array:
    array = an_array(x)
    refuse_truth(axis)
    if how in ("sum", "prod") or (how == "mean" and array.dtype.kind in "fc"):
        dtype = _type_of(array, out, dtype)
    if where is not None and where is not True:
        array = _counted(how, array, where, initial)
    if initial is None:
        made = _over(how, array, axis, keepdims, dtype, correction)
    else:
        made = _begun(how, array, axis, keepdims, dtype, initial)
    # The root is a function of each element.
    write = fitted_to if how == "std" else reduced_to
    result: Array = made if out is None else write(made, out)
    return result


def _type_of(array: Array, out: Any, dtype: Any) -> Any:
    """The type in which sums are made: one that serves the array for them, too."""
    if isinstance(out, tuple) and len(out) == 1:
        (out,) = out
    if dtype is not None or not isinstance(out, Array | np.ndarray):
        return dtype
    return np.result_type(array.dtype, out.dtype)


def _over(
    how: str, array: Array, axis: Any, keepdims: bool, dtype: Any, correction: float
) -> Array:
    if array.dtype.kind == "c" and how in ("max", "min"):
        return complex_order.extreme(how, array, axis, keepdims=keepdims)
    if array.dtype.kind == "c" and how in ("argmax", "argmin"):
        return complex_order.place(how, array, axis, keepdims=keepdims)
    if how in ("sum", "prod"):
        return masked.combined(how, array, axis, dtype, keepdims=keepdims)
    return array._reduce(how, axis, builtins.bool(keepdims), dtype, correction)


def _counted(how: str, array: Array, where: Any, initial: Any) -> Array:
    """Elements where a mask is true, elsewhere what changes nothing."""
    nothing = _COMBINED[how][1]
    if nothing is None and initial is None:
        raise ValueError(f"{how} where a mask is true may have no elements; give initial=")
    rest = full((), initial if nothing is None else nothing, array.dtype, team=array.team)
    # A mask chooses among the elements; a larger one would repeat them.
    mask = broadcast_to(elementwise.beside(where, array), array.shape)
    return lazy_where(mask, array, rest)


def _begun(how: str, array: Array, axis: Any, keepdims: bool, dtype: Any, initial: Any) -> Array:
    """A reduction that begins with a number, which is the result if there are no elements."""
    combine, nothing = _COMBINED[how]
    if is_axis_of_number(axis, array.ndim):
        axis = None
    axes = range(array.ndim) if axis is None else axes_of(axis, array.ndim)
    if nothing is None and builtins.any(array.shape[at] == 0 for at in axes):
        sizes = [1 if at in axes else size for at, size in enumerate(array.shape)]
        kept = [size for at, size in enumerate(sizes) if keepdims or at not in axes]
        return full(kept, initial, array.dtype, team=array.team)
    made = _over(how, array, axis, keepdims, dtype, 0.0)
    combined: Array = combine(made, full((), initial, made.dtype, team=array.team))
    return combined


@served
def sum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Return the sum over axes."""
    return _reduced("sum", a, axis, keepdims, dtype, 0.0, out, initial, where)


def prod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Return the product over axes."""
    return _reduced("prod", a, axis, keepdims, dtype, 0.0, out, initial, where)


@served
def min(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Return the smallest element over axes."""
    return _reduced("min", a, axis, keepdims, None, 0.0, out, initial, where)


@served
def max(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Return the largest element over axes."""
    return _reduced("max", a, axis, keepdims, None, 0.0, out, initial, where)


@served
def mean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Array:
    """Return the mean over axes."""
    is_whole = dtype is not None and np.dtype(dtype).kind in "biu"
    if (where is None or where is True) and not is_whole:
        return _reduced("mean", a, axis, keepdims, dtype, out=out)
    array = an_array(a)
    holes = masked.holes_of(array, where)
    made = masked.mean(array, holes, axis, dtype, keepdims=keepdims)
    result: Array = reduced_to(made.astype(dtype) if is_whole else made, out)
    return result


def _divisor_less(correction: float | None, ddof: float) -> float:
    """What a divisor is less than the number of elements, by the Array API's name or NumPy's."""
    if correction is not None and ddof != 0:
        raise ValueError(f"ddof={ddof} and correction={correction} are one; give one of them")
    return float(ddof if correction is None else correction)


def _spread(
    how: str,
    a: Any,
    axis: Any,
    dtype: Any,
    out: Any,
    less: float,
    keepdims: bool,
    where: Any,
    mean_given: Any,
) -> Array:
    """A variance or its root, of elements where a mask is true, around a mean that may be given."""
    if (where is None or where is True) and mean_given is None:
        return _reduced(how, a, axis, keepdims, dtype, less, out)
    array = an_array(a)
    holes = masked.holes_of(array, where)
    made: Any = masked.var(array, holes, axis, dtype, less, mean_given, keepdims=keepdims)
    result: Array = (
        fitted_to(elementwise.sqrt(made), out) if how == "std" else reduced_to(made, out)
    )
    return result


def var(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0.0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    """Return the mean squared distance from the mean over axes."""
    return _spread(
        "var", a, axis, dtype, out, _divisor_less(correction, ddof), keepdims, where, mean
    )


def std(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0.0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    """Return the root of the variance over axes."""
    return _spread(
        "std", a, axis, dtype, out, _divisor_less(correction, ddof), keepdims, where, mean
    )


@served
def any(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Array:
    """Return whether an element is not zero, over axes."""
    return _reduced("any", a, axis, keepdims, out=out, where=where)


@served
def all(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Array:
    """Return whether no element is zero, over axes."""
    return _reduced("all", a, axis, keepdims, out=out, where=where)


def cumulative_sum(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    out: Any = None,
    include_initial: bool = False,
) -> Array:
    """Return running sums along an axis."""
    result: Array = reduced_to(_running(x, axis, dtype, initial=include_initial), out)
    return result


def cumulative_prod(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: Any = None,
    out: Any = None,
    include_initial: bool = False,
) -> Array:
    """Return running products along an axis."""
    result: Array = reduced_to(_running(x, axis, dtype, product=True, initial=include_initial), out)
    return result


def _running(
    x: Any, axis: int | None, dtype: Any, *, product: bool = False, initial: bool = False
) -> Array:
    array = an_array(x)
    refuse_truth(axis)
    if array.ndim == 0 and (axis is None or is_axis_of_number(axis, 0)):
        array, axis = reshape(array, 1), 0
    if dtype is not None and name_of(dtype) == "bool":
        # Sums of truth values say whether one was true so far, products whether all were.
        made = array._cast(dtype)._running(product, axis, np.int64)._cast(dtype)
    else:
        made = array._running(product, axis, dtype)
    if not initial:
        return made
    along = 0 if axis is None else axis
    shape = list(made.shape)
    shape[along] = 1
    first = full(shape, int(product), made.dtype, team=made.team)
    return concat([first, made], axis=along)


def _in_a_row(x: Any, axis: int | None) -> tuple[Array, int]:
    """An array and an axis; without one all elements in a row."""
    array = an_array(x)
    return (reshape(array, -1), 0) if axis is None else (array, axis)


def _in_turn(a: Any, axis: int | None, dtype: Any, out: Any, *, product: bool = False) -> Array:
    array, along = _in_a_row(a, axis)
    made = _running(array, along, _type_of(array, out, dtype), product=product)
    result: Array = reduced_to(made, out)
    return result


@served
def cumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """Return running sums; of all elements in a row without an axis."""
    return _in_turn(a, axis, dtype, out)


def cumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """Return running products; of all elements in a row without an axis."""
    return _in_turn(a, axis, dtype, out, product=True)


@served
def allclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Return whether all elements of two arrays are nearly equal."""
    return bool(all(elementwise.isclose(a, b, rtol, atol, equal_nan)))


def _has_no_number(x: Any) -> bool:
    """Whether something in it is equal to no number: None or a text."""
    if isinstance(x, list | tuple):
        return builtins.any(map(_has_no_number, x))
    if isinstance(x, np.ndarray):
        return x.dtype.kind in "SU"
    return x is None or isinstance(x, str | bytes)


def _odd_answer(a1: Any, a2: Any, theirs: Any) -> bool | None:
    """What NumPy says where two are no arrays here; not alike where one is not; else nothing."""
    odd = [_has_no_number(a1), _has_no_number(a2)]
    return builtins.all(odd) and bool(theirs(a1, a2)) if builtins.any(odd) else None


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> bool:
    """Return whether two arrays have the same shape and elements."""
    answer = _odd_answer(a1, a2, partial(np.array_equal, equal_nan=equal_nan))
    if answer is not None:
        return answer
    a1, a2 = an_array(a1), an_array(a2)
    if a1.shape != a2.shape:
        return False
    equal = a1 == a2
    if equal_nan:
        equal = equal | (elementwise.isnan(a1) & elementwise.isnan(a2))
    return bool(all(equal))


def array_equiv(a1: Any, a2: Any) -> bool:
    """Return whether two arrays have the same elements once one is repeated."""
    answer = _odd_answer(a1, a2, np.array_equiv)
    if answer is not None:
        return answer
    a1, a2 = an_array(a1), an_array(a2)
    try:
        return bool(all(a1 == a2))
    except ValueError:
        # Their shapes do not fit, which all ranks know alike.
        return False


amin, amax = min, max


__all__ = [
    "all",
    "allclose",
    "amax",
    "amin",
    "any",
    "array_equal",
    "array_equiv",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]
