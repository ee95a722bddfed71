"""Weighted means, spans, and how variables vary together."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions import elementwise, statistics
from partita._functions.creation import an_array, axes_of
from partita._functions.elementwise import beside, fitted_to
from partita._functions.manipulation import broadcast_to, concat, reshape
from partita._functions.types import result_type


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the largest element less the smallest, over axes."""
    array = an_array(a)
    top = statistics.max(array, axis, None, keepdims)
    return fitted_to(top - statistics.min(array, axis, None, keepdims), out)


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """Return the mean over axes, with a weight for each element."""
    array = an_array(a)
    if weights is None:
        made = statistics.mean(array, axis, None, None, keepdims)
        n_each = array.size // made.size if made.size else 0
        return (made, elementwise.add(made * 0, n_each)) if returned else made
    if axis is not None:
        axes_of(axis, array.ndim)
    wide = _weights(array, beside(weights, array), axis)
    least = [np.float64] if array.dtype.kind in "biu" else []
    dtype = result_type(array, wide, *least)
    total = statistics.sum(wide, axis, dtype, None, keepdims)
    if bool(statistics.any(total == 0)):
        raise ZeroDivisionError("weights that sum to 0; use others")
    made = statistics.sum(array.astype(dtype) * wide.astype(dtype), axis, None, None, keepdims)
    made = made / total
    return (made, +broadcast_to(total, made.shape)) if returned else made


def _weights(array: Array, weights: Array, axis: Any) -> Array:
    """Weights of the array's shape."""
    if weights.shape == array.shape:
        return weights
    if axis is None:
        message = f"weights of shape {weights.shape} for {array.shape}; give an axis"
        raise TypeError(message)
    axes = axes_of(axis, array.ndim)
    wanted = tuple(array.shape[at] for at in axes)
    if weights.shape != wanted:
        message = f"weights of shape {weights.shape} along {wanted}; use as many"
        raise ValueError(message)
    ordered = weights.transpose(*np.argsort(axes).tolist())
    sizes = [size if at in axes else 1 for at, size in enumerate(array.shape)]
    return broadcast_to(reshape(ordered, sizes), array.shape)


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: Any = None,
) -> Array:
    """Return how variables vary together, one variable in each row."""
    x = _variables(m, rowvar)
    if y is not None:
        other = _variables(y, rowvar)
        kind = result_type(x, other)
        x = concat([x.astype(kind, copy=False), other.astype(kind, copy=False)])
    x = x.astype(result_type(x, np.float64) if dtype is None else dtype, copy=False)
    less = (0 if bias else 1) if ddof is None else ddof
    weight = _joint_weight(x, fweights, aweights)
    if weight is None:
        freedom: Any = x.shape[1] - less
        mean = statistics.mean(x, 1, keepdims=True)
        near = far = x - mean
    else:
        total = statistics.sum(weight)
        mean = statistics.sum(x * weight, 1, keepdims=True) / total
        near = x - mean
        far = near * weight
        squared = statistics.sum(weight * beside(aweights, x)) if aweights is not None else total
        freedom = total - less * squared / total if aweights is not None else total - less
        freedom = float(freedom)
    products = near[:, None, :] * elementwise.conj(far)[None, :, :]
    # Without freedom nothing is known: infinite, or no number.
    made = statistics.sum(products, 2) / float(max(freedom, 0))
    return reshape(made, ()) if x.shape[0] == 1 else made


def _variables(m: Any, rowvar: bool) -> Array:
    """A matrix with a variable in each row."""
    x = an_array(m)
    if x.ndim > 2:
        raise ValueError(f"an array of shape {x.shape}; use two dimensions at most")
    if x.ndim < 2:
        return reshape(x, (1, -1))
    return x if rowvar else x.T


def _joint_weight(x: Array, fweights: Any, aweights: Any) -> Array | None:
    found: Array | None = None
    for given in (fweights, aweights):
        if given is None:
            continue
        one = beside(given, x).astype(np.float64)
        if one.shape != x.shape[1:]:
            raise ValueError(f"weights of shape {one.shape}; use one for each of {x.shape[1]}")
        if bool(statistics.any(one < 0)):
            raise ValueError("a negative weight; use weights from 0 on")
        found = one if found is None else found * one
    return found


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, *, dtype: Any = None) -> Array:
    """Return how variables vary together, beside how each varies alone."""
    c = cov(x, y, rowvar, dtype=dtype)
    if c.ndim == 0:
        return c / c
    along = np.arange(len(c))
    spread = elementwise.sqrt(elementwise.real(c[along, along]))
    made: Array = c / spread[:, None] / spread[None, :]
    if made.dtype.kind == "c":
        parts = (elementwise.real(made), elementwise.imag(made))
        of_parts: Array = elementwise.of_parts(*(elementwise.clip(one, -1, 1) for one in parts))
        return of_parts
    return elementwise.clip(made, -1, 1)


__all__ = ["average", "corrcoef", "cov", "ptp"]
