"""Products of tensors of three and more dimensions with dense operands: as of one matrix.

All dimensions but the last one become its rows. As with NumPy, `T @ x` sums over the last dimension
of the tensor, `x @ T` over the one before it. Each product moves the tensor's entries to where the
matrix has them: who needs many keeps `t.reshape(-1, n)`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

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


def _swapped(given: Any) -> Any:
    """With the last two dimensions exchanged."""
    *others, one, two = range(given.ndim)
    return given.transpose((*others, two, one))


def _check(tensor: Any, x: Any, n: int, found: tuple[int, ...]) -> None:
    if x.ndim not in (1, 2) or found != (n,):
        problem = f"a tensor of {tensor.shape} beside an operand of shape {x.shape}"
        problem += f"; use a vector or a matrix with {n} elements along what is summed over"
        raise tensor.team.told(ValueError(problem))
