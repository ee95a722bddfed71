"""Reductions that leave out what is not a number."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions import elementwise, masked, searching, statistics
from partita._functions.creation import an_array, full
from partita._functions.elementwise import fitted_to, reduced_to
from partita._functions.masked import filled, holes_of
from partita._functions.serving import served


def _holes(array: Array, where: Any = True) -> Array | None:
    """Where elements are not numbers or not asked for; nothing if all count."""
    apart = holes_of(array, where)
    if array.dtype.kind not in "fc":
        return apart
    holes: Array = elementwise.isnan(array)
    return holes if apart is None else holes | apart


def nansum(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Return the sum of the numbers over axes."""
    array = an_array(a)
    numbers = filled(array, _holes(array, where), 0)
    return statistics.sum(numbers, axis, dtype, out, keepdims, initial)


def nanprod(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Return the product of the numbers over axes."""
    array = an_array(a)
    numbers = filled(array, _holes(array, where), 1)
    return statistics.prod(numbers, axis, dtype, out, keepdims, initial)


def nancumsum(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """Return running sums of the numbers."""
    array = an_array(a)
    return statistics.cumsum(filled(array, _holes(array), 0), axis, dtype, out)


def nancumprod(a: Any, axis: int | None = None, dtype: Any = None, out: Any = None) -> Array:
    """Return running products of the numbers."""
    array = an_array(a)
    return statistics.cumprod(filled(array, _holes(array), 1), axis, dtype, out)


def nanmean(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    keepdims: bool = False,
    *,
    where: Any = True,
) -> Array:
    """Return the mean of the numbers over axes; none where there are none."""
    array = an_array(a)
    holes = _holes(array, where)
    if holes is None:
        return statistics.mean(array, axis, dtype, out, keepdims)
    result: Array = fitted_to(masked.mean(array, holes, axis, dtype, keepdims=keepdims), out)
    return result


def nanvar(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    """Return the mean squared distance of the numbers from their mean over axes."""
    less = ddof if correction is None else correction
    array = an_array(a)
    holes = _holes(array, where)
    if holes is None:
        return statistics.var(array, axis, dtype, out, less, keepdims, mean=mean)
    array = array if dtype is None else array.astype(dtype)
    squares = masked.squares(array, holes, axis, mean, keepdims=keepdims)
    freedom = (masked.count(array, holes, axis, keepdims=keepdims) - less).astype(squares.dtype)
    empty = full((), np.nan, squares.dtype, team=array.team)
    result: Array = fitted_to(searching.where(freedom > 0, squares / freedom, empty), out)
    return result


def nanstd(
    a: Any,
    axis: Any = None,
    dtype: Any = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    *,
    where: Any = True,
    mean: Any = None,
    correction: float | None = None,
) -> Array:
    """Return the root of the variance of the numbers over axes."""
    made = nanvar(
        a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction
    )
    result: Array = fitted_to(elementwise.sqrt(made), out)
    return result


def _extreme(
    which: str, a: Any, axis: Any, out: Any, keepdims: bool, initial: Any, where: Any
) -> Array:
    array = an_array(a)
    holes = _holes(array)
    function = getattr(statistics, which)
    if holes is None:
        made: Array = function(array, axis, out, keepdims, initial, where)
        return made
    if initial is not None:
        # It is the result where nothing is smaller or larger.
        numbers = filled(array, holes, initial)
        began: Array = function(numbers, axis, out, keepdims, initial, where)
        return began
    outside = np.inf if which == "min" else -np.inf
    found = function(filled(array, holes, outside), axis, None, keepdims, None, where)
    none = statistics.all(holes, axis, None, keepdims)
    result: Array = reduced_to(filled(found, none, np.nan), out)
    return result


@served
def nanmin(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Return the smallest number over axes."""
    return _extreme("min", a, axis, out, keepdims, initial, where)


@served
def nanmax(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = None,
    where: Any = True,
) -> Array:
    """Return the largest number over axes."""
    return _extreme("max", a, axis, out, keepdims, initial, where)


def _place(which: str, a: Any, axis: Any, out: Any, keepdims: bool) -> Array:
    array = an_array(a)
    holes = _holes(array)
    function = getattr(searching, which)
    if holes is not None:
        if bool(statistics.any(statistics.all(holes, axis))):
            raise ValueError("a row without numbers has no smallest and no largest; fill it first")
        array = filled(array, holes, np.inf if which == "argmin" else -np.inf)
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
