"""Products of tensors of three and more dimensions: as of one matrix.

All dimensions but the last one become its rows. As with NumPy, `T @ x` sums over the last dimension
of the tensor, `x @ T` over the one before it; two tensors are many matrices, multiplied in pairs.
Each product moves the tensor's entries to where the matrix has them: who needs many keeps
`t.reshape(-1, n)`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from partita._args import checked_axes, integer, is_listed
from partita._array.array import Array
from partita._functions.manipulation import reshape
from partita.sparse.multiplying import multiplied


def tensor_times_dense(tensor: Any, operand: Any) -> Array:
    """Return the sums over the last dimension, for a vector or a matrix. Collective."""
    x = operand if isinstance(operand, Array) else np.asarray(operand)
    *rows, n = tensor.shape
    _check(tensor, x, n, x.shape[:1])
    matrix = tensor.reshape((math.prod(rows), n))
    return reshape(multiplied(matrix, x, 1), (*rows, *x.shape[1:]))


def dense_times_tensor(operand: Any, tensor: Any) -> Array:
    """Return the sums over the dimension before the last one. Collective."""
    x = operand if isinstance(operand, Array) else np.asarray(operand)
    _check(tensor, x, tensor.shape[-2], x.shape[-1:])
    found = tensor_times_dense(_swapped(tensor), x.T)
    return found if x.ndim == 1 else _swapped(found)


def folded_product(left: Any, right: Any) -> Any:
    """Return the product of two sparse tensors of which one has three dimensions. Collective."""
    *before, n = left.shape
    last = right.shape[-2] if right.ndim > 1 else right.shape[0]
    is_paired = left.ndim > 2 and right.ndim > 2
    if n != last or (is_paired and before[:-1] != list(right.shape[:-2])):
        problem = f"a tensor of {left.shape} times one of {right.shape}; use as many matrices, or"
        problem += f" one, on either side, and {n} elements along what is summed over"
        raise left.team.told(ValueError(problem))
    if is_paired:
        rows = _beside_each_other(left) @ right.reshape((-1, right.shape[-1]))
        return rows.reshape((*before, right.shape[-1]))
    if left.ndim > 2:
        rows = left.reshape((math.prod(before), n)) @ right
        return rows.reshape((*before, *right.shape[1:]))
    found = folded_product(_swapped(right), left.T)
    return found if left.ndim == 1 else _swapped(found)


def tensordot(tensor: Any, operand: Any, axes: Any) -> Any:
    """Return the sums over some dimensions of a tensor and of an operand. Collective.

    As NumPy's function: a number of dimensions, the last and the first ones, or those of each.
    """
    x = operand if hasattr(operand, "reshape") else np.asarray(operand)
    ours, theirs = _axes(axes, tensor.ndim, x.ndim)
    summed = [tensor.shape[dim] for dim in ours]
    if summed != [x.shape[dim] for dim in theirs]:
        problem = (
            f"tensordot of shapes {tensor.shape} and {tuple(x.shape)} over {ours} and {theirs}"
        )
        raise ValueError(f"{problem}; use dimensions of equal extents")
    kept = [dim for dim in range(tensor.ndim) if dim not in ours]
    others = [dim for dim in range(x.ndim) if dim not in theirs]
    rows, columns = [tensor.shape[dim] for dim in kept], [x.shape[dim] for dim in others]
    left = tensor.transpose((*kept, *ours)).reshape((math.prod(rows), math.prod(summed)))
    right = x.transpose((*theirs, *others)).reshape((math.prod(summed), math.prod(columns)))
    found = left @ right
    return found.reshape((*rows, *columns)) if kept or others else found[0, 0]


def _axes(axes: Any, n_ours: int, n_theirs: int) -> tuple[list[int], list[int]]:
    """The dimensions of both that are summed over, in pairs."""
    if not is_listed(axes):
        n = integer(axes, "axes")
        if not 0 <= n <= min(n_ours, n_theirs):
            raise ValueError(f"axes={n} for {n_ours} and {n_theirs} dimensions; use fewer")
        return list(range(n_ours - n, n_ours)), list(range(n))
    if len(axes) != 2:
        raise ValueError(f"axes={axes}; use a number, or those of each")
    first, second = axes
    ours, theirs = (
        list(checked_axes(one if is_listed(one) else [one], ndim))
        for one, ndim in ((first, n_ours), (second, n_theirs))
    )
    if len(ours) != len(theirs):
        raise ValueError(f"axes {ours} and {theirs}; name as many of both")
    return ours, theirs


def _beside_each_other(tensor: Any) -> Any:
    """The matrices of a tensor along the diagonal of one matrix. Collective."""
    *many, m, n = tensor.shape
    coords, values = tensor._owned_entries()
    numbers = np.zeros(len(values), np.int64)
    for at, extent in zip(coords, many, strict=False):
        numbers = numbers * extent + at
    places = [numbers * m + coords[-2], numbers * n + coords[-1]]
    shape = (math.prod(many) * m, math.prod(many) * n)
    return type(tensor).from_coo(shape, places, values, team=tensor.team)


def _swapped(given: Any) -> Any:
    """With the last two dimensions exchanged."""
    *others, one, two = range(given.ndim)
    return given.transpose((*others, two, one))


def _check(tensor: Any, x: Any, n: int, found: tuple[int, ...]) -> None:
    if x.ndim not in (1, 2) or found != (n,):
        problem = f"a tensor of {tensor.shape} beside an operand of shape {x.shape}"
        problem += f"; use a vector or a matrix with {n} elements along what is summed over"
        raise tensor.team.told(ValueError(problem))
