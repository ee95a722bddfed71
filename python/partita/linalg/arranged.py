"""Products, diagonals and tensors in the forms that `linalg` gives them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from numpy.linalg import LinAlgError

from partita._functions import products
from partita._functions.creation import an_array, axis_of
from partita._functions.manipulation import moveaxis, reshape
from partita._functions.products import together
from partita.linalg.elimination import inv, solve

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._array.array import Array


def outer(x1: Any, x2: Any, /) -> Array:
    """Return the products of each element of one vector with each of the other."""
    a, b = together(x1, x2)
    if a.ndim != 1 or b.ndim != 1:
        raise ValueError(f"outer of shapes {a.shape} and {b.shape}; use vectors")
    return products.outer(a, b)


def cross(x1: Any, x2: Any, /, *, axis: int = -1) -> Array:
    """Return the vectors of three that are perpendicular to two others."""
    a, b = together(x1, x2)
    sizes = [one.shape[axis_of(axis, one.ndim)] for one in (a, b)]
    if sizes != [3, 3]:
        raise ValueError(f"vectors of {sizes[0]} and {sizes[1]} numbers; use vectors of 3")
    return products.cross(a, b, axis=axis)


def diagonal(x: Any, /, *, offset: int = 0) -> Array:
    """Return the elements on a diagonal of the last two axes."""
    return products.diagonal(_matrices(x), offset, -2, -1)


def trace(x: Any, /, *, offset: int = 0, dtype: Any = None) -> Array:
    """Return the sum of a diagonal of the last two axes."""
    return products.trace(_matrices(x), offset, -2, -1, dtype)


def _matrices(x: Any) -> Array:
    array = an_array(x)
    if array.ndim < 2:
        raise ValueError(f"an array of {array.ndim} dimensions is no matrix; use two or more")
    return array


def tensorsolve(a: Any, b: Any, axes: Sequence[int] | None = None) -> Array:
    """Return the solution of `tensordot(a, x, x.ndim) = b`. Collective."""
    x, y = together(a, b)
    if axes is not None:
        x = moveaxis(x, list(axes), list(range(x.ndim - len(axes), x.ndim)))
    shape = x.shape[y.ndim :]
    n = math.prod(shape)
    if n != y.size or n * n != x.size:
        message = f"a tensor of shape {x.shape} for right sides of shape {y.shape}"
        raise LinAlgError(f"{message}; use one that is square")
    return reshape(solve(reshape(x, (n, n)), reshape(y, -1)), shape)


def tensorinv(a: Any, ind: int = 2) -> Array:
    """Return the tensor whose `tensordot` with another is the unit tensor. Collective."""
    x = an_array(a)
    if ind <= 0:
        raise ValueError(f"{ind} inner axes; use 1 or more")
    n = math.prod(x.shape[ind:])
    if n * n != x.size:
        raise LinAlgError(f"a tensor of shape {x.shape} with {ind} axes in front; use a square one")
    return reshape(inv(reshape(x, (n, n))), (*x.shape[ind:], *x.shape[:ind]))
