"""Means and variances of the elements that are left when some are left out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from partita._array.array import Array
from partita._array.dtypes import name_of
from partita._functions import elementwise
from partita._functions.creation import axes_of, full, refuse_truth
from partita._functions.manipulation import broadcast_to
from partita._partita import lazy_where


def holes_of(array: Array, where: Any) -> Array | None:
    """Where a mask is false; nothing if it is true everywhere."""
    if where is None or where is True:
        return None
    mask: Array = elementwise.beside(where, array)
    return broadcast_to(~mask.astype(np.bool_, copy=False), array.shape)


def filled(array: Array, holes: Array | None, value: Any) -> Array:
    """The elements, with a number where they are left out."""
    if holes is None:
        return array
    return lazy_where(holes, full((), value, array.dtype, team=array.team), array)


def count(array: Array, holes: Array | None, axis: Any, *, keepdims: bool) -> Any:
    """How many elements are left along axes."""
    if holes is not None:
        return (~holes)._reduce("sum", axis, bool(keepdims), None, 0.0)
    axes = range(array.ndim) if axis is None else axes_of(axis, array.ndim)
    return full((), math.prod(array.shape[at] for at in axes), np.int64, team=array.team)


def combined(how: str, array: Array, axis: Any, dtype: Any, *, keepdims: bool) -> Array:
    """A sum or a product; of truth values whether one is true or all are, as NumPy has them."""
    if dtype is not None and name_of(dtype) == "bool":
        how, dtype = {"sum": "any", "prod": "all"}[how], None
    return array._reduce(how, axis, bool(keepdims), dtype, 0.0)


def mean(array: Array, holes: Array | None, axis: Any, dtype: Any, *, keepdims: bool) -> Array:
    """The mean of the elements that are left."""
    refuse_truth(axis)
    if dtype is None and array.dtype.kind in "biu":
        dtype = np.float64
    total = combined("sum", filled(array, holes, 0), axis, dtype, keepdims=keepdims)
    real = np.finfo(total.dtype).dtype if total.dtype.kind in "fc" else np.dtype(np.float64)
    made: Array = total / count(array, holes, axis, keepdims=keepdims).astype(real)
    return made


def squares(
    array: Array, holes: Array | None, axis: Any, mean_given: Any = None, *, keepdims: bool
) -> Array:
    """The sum of squared distances from the mean of the elements that are left."""
    refuse_truth(axis)
    if mean_given is None:
        mean_given = mean(array, holes, axis, None, keepdims=True)
    apart = filled(array - mean_given, holes, 0)
    distance = elementwise.abs(apart) if apart.dtype.kind == "c" else apart
    return (distance * distance)._reduce("sum", axis, bool(keepdims), None, 0.0)


def var(
    array: Array,
    holes: Array | None,
    axis: Any,
    dtype: Any,
    less: float,
    mean_given: Any,
    *,
    keepdims: bool,
) -> Array:
    """The mean of those squares, with a divisor that is less than the number of elements."""
    array = array if dtype is None else array.astype(dtype)
    total = squares(array, holes, axis, mean_given, keepdims=keepdims)
    n = count(array, holes, axis, keepdims=keepdims)
    made: Array = total / elementwise.maximum(n - less, 0).astype(total.dtype)
    return made
