"""Diagonals of matrices: read, made, set."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._functions.creation import an_array, arange, zeros
from partita._functions.joining import resize
from partita._functions.manipulation import ravel, reshape

if TYPE_CHECKING:
    from partita._array.array import Array


def diag(v: Any, k: int = 0) -> Array:
    """Return the `k`-th diagonal of a matrix, as a copy, or a matrix with a vector there."""
    array = an_array(v)
    if array.ndim == 2:
        rows, columns = array.shape
        first = (max(0, -k), max(0, k))
        length = max(0, min(rows - first[0], columns - first[1]))
        along = arange(length)
        return array[along + first[0], along + first[1]]
    if array.ndim != 1:
        raise ValueError(f"an array of shape {array.shape}; use a vector or a matrix")
    size = len(array) + abs(k)
    made = zeros((size, size), array.dtype, team=array.team)
    if len(array):
        # Every (n + 1)-th element of the rows is one step to the right of the one above.
        start = k if k >= 0 else -k * size
        reshape(made, -1)[start : start + len(array) * (size + 1) : size + 1] = array
    return made


def diagflat(v: Any, k: int = 0) -> Array:
    """Return a matrix with the elements of an array on the `k`-th diagonal."""
    return diag(ravel(v), k)


def fill_diagonal(a: Array, val: Any, wrap: bool = False) -> None:
    """Set the diagonal of a matrix; with `wrap` again below, in a tall one."""
    if a.ndim < 2:
        raise ValueError(f"an array of shape {a.shape}; use two dimensions or more")
    if a.ndim > 2 and len(set(a.shape)) != 1:
        raise ValueError(f"an array of shape {a.shape}; use equal dimensions")
    step = 1 + sum(math.prod(a.shape[at + 1 :]) for at in range(a.ndim - 1))
    end = a.size if wrap or a.ndim > 2 else min(a.size, a.shape[1] * a.shape[1])
    row = reshape(a, -1)
    n_set = len(range(0, end, step))
    values = resize(val, n_set) if np.ndim(val) and n_set else val
    row[:end:step] = values
    if a._reshape([a.size], False) is None:
        a[...] = reshape(row, a.shape)


__all__ = ["diag", "diagflat", "fill_diagonal"]
