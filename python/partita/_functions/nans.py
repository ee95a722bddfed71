"""Reductions that leave out what is not a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions import elementwise, searching, statistics
from partita._functions.creation import an_array, full
from partita._functions.elementwise import written


def _holes(array: Array) -> Array | None:
    """Where elements are not numbers; nothing if all must be."""
    return elementwise.isnan(array) if array.dtype.kind in "fc" else None


def _filled(array: Array, holes: Array | None, value: Any) -> Array:
    if holes is None:
        return array
    made: Array = searching.where(holes, full((), value, array.dtype, team=array.team), array)
    return made


def nansum(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Array:
    """Return the sum of the numbers over axes."""
    array = an_array(a)
    return statistics.sum(_filled(array, _holes(array), 0), axis, dtype, out, keepdims)


def nanprod(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Array:
    """Return the product of the numbers over axes."""
    array = an_array(a)
    return statistics.prod(_filled(array, _holes(array), 1), axis, dtype, out, keepdims)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """Return running sums of the numbers."""
    array = an_array(a)
    return statistics.cumsum(_filled(array, _holes(array), 0), axis, dtype, out)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """Return running products of the numbers."""
    array = an_array(a)
    return statistics.cumprod(_filled(array, _holes(array), 1), axis, dtype, out)


def nanmean(
    a: Any, axis: Any = None, dtype: Any = None, out: Any = None, keepdims: bool = False
) -> Array:
    """Return the mean of the numbers over axes; none where there are none."""
    array = an_array(a)
    holes = _holes(array)
    if holes is None:
        return statistics.mean(array, axis, dtype, out, keepdims)
    made, _ = _mean(array, holes, axis, dtype, keepdims)
    result: Array = written(made, out)
    return result


def _mean(array: Array, holes: Array, axis: Any, dtype: Any, keepdims: bool) -> tuple[Array, Array]:
    """The mean of the numbers, and how many there are."""
    total = statistics.sum(_filled(array, holes, 0), axis, dtype, None, keepdims)
    count = statistics.sum(~holes, axis, None, None, keepdims)
    real = np.finfo(total.dtype).dtype
    return total / count.astype(real), count


def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
) -> Array:
    """Return the mean squared distance of the numbers from their mean over axes."""
    less = ddof if correction is None else correction
    array = an_array(a)
    holes = _holes(array)
    if holes is None:
        return statistics.var(array, axis, dtype, out, less, keepdims)
    array = array if dtype is None else array.astype(dtype)
    mean, count = _mean(array, holes, axis, None, True)
    distance = elementwise.abs(_filled(array - mean, holes, 0))
    squares = statistics.sum(distance * distance, axis, None, None, True)
    freedom = (count - less).astype(squares.dtype)
    empty = full((), np.nan, squares.dtype, team=array.team)
    made = searching.where(freedom > 0, squares / freedom, empty)
    if not keepdims:
        made = made.reshape(statistics.any(holes, axis).shape)
    result: Array = written(made, out)
    return result


def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    correction: float | None = None,
) -> Array:
    """Return the root of the variance of the numbers over axes."""
    made = nanvar(a, axis, dtype, None, ddof, keepdims, correction=correction)
    result: Array = written(elementwise.sqrt(made), out)
    return result


def _extreme(which: str, a: Any, axis: Any, out: Any, keepdims: bool) -> Array:
    array = an_array(a)
    holes = _holes(array)
    function = getattr(statistics, which)
    if holes is None:
        made: Array = function(array, axis, out, keepdims)
        return made
    outside = np.inf if which == "min" else -np.inf
    found = function(_filled(array, holes, outside), axis, None, keepdims)
    none = statistics.all(holes, axis, None, keepdims)
    result: Array = written(_filled(found, none, np.nan), out)
    return result


def nanmin(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Array:
    """Return the smallest number over axes."""
    return _extreme("min", a, axis, out, keepdims)


def nanmax(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Array:
    """Return the largest number over axes."""
    return _extreme("max", a, axis, out, keepdims)


def _place(which: str, a: Any, axis: Any, out: Any, keepdims: bool) -> Array:
    array = an_array(a)
    holes = _holes(array)
    function = getattr(searching, which)
    if holes is not None:
        if bool(statistics.any(statistics.all(holes, axis))):
            raise ValueError("a row without numbers has no smallest and no largest; fill it first")
        array = _filled(array, holes, np.inf if which == "argmin" else -np.inf)
    made: Array = function(array, axis, out, keepdims=keepdims)
    return made


def nanargmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """Return the index of the first smallest number."""
    return _place("argmin", a, axis, out, keepdims)


def nanargmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """Return the index of the first largest number."""
    return _place("argmax", a, axis, out, keepdims)


__all__ = [
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
]
