"""Products of vectors, matrices and stacks of them, by the names of the Array API and NumPy."""

from __future__ import annotations

import math
import operator
import warnings
from typing import Any

import numpy as np

from partita._array import enter
from partita._array.array import Array
from partita._errors import LayoutError
from partita._functions import elementwise
from partita._functions.core_axes import brought_last
from partita._functions.creation import an_array, arange, axes_of, axis_of, zeros
from partita._functions.elementwise import fitted_to, reduced_to, written
from partita._functions.manipulation import (
    MOST_DIMS,
    concat,
    moveaxis,
    permute_dims,
    reshape,
    stack,
)
from partita._functions.matmul import product
from partita._functions.serving import served, serves
from partita._functions.types import result_type


def together(*given: Any) -> list[Array]:
    """Arrays of what is given, on the ranks of the first that is one."""
    anchor = next((one for one in given if isinstance(one, Array)), None)
    if anchor is None:
        return [an_array(one) for one in given]
    rank = anchor._rank
    made = [one if isinstance(one, Array) else enter.operand(one, rank) for one in given]
    for one, found in zip(given, made, strict=True):
        if found is NotImplemented:
            cure = "its own methods, or t.to_dense()" if serves(one) else "one"
            raise TypeError(f"a {type(one).__name__} is no array of numbers; use {cure}")
    return [
        found if isinstance(found, Array) else enter.from_numpy(np.array(found), rank)
        for found in made
    ]


def cast(array: Array, dtype: Any) -> Array:
    """The array in a type; itself where it has that."""
    return array if array.dtype == dtype else array._cast(dtype)


def alike(*given: Any) -> list[Array]:
    """Arrays of what is given, in the type that they have together."""
    arrays = together(*given)
    dtype = result_type(*arrays)
    return [cast(one, dtype) for one in arrays]


def _operands(x1: Any, x2: Any, dtype: Any, casting: Any) -> list[Array]:
    """Operands of a product, in the type that they have together or that is asked for."""
    given = together(x1, x2)
    kind = result_type(*given) if dtype is None else np.dtype(dtype)
    for one in given:
        if not np.can_cast(one.dtype, kind, casting):
            message = f"a product of {one.dtype} in {kind} with casting={casting!r}"
            raise TypeError(f"{message}; use another type, or casting='unsafe'")
    return [cast(one, kind) for one in given]


@served
def matmul(
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    casting: Any = "same_kind",
    order: Any = "K",
    dtype: Any = None,
    subok: bool = True,
    axes: Any = None,
) -> Array:
    """Return the product of matrices; of stacks of them, of vectors as rows or columns.

    >>> import partita as pt
    >>> print(pt.matmul([[1, 2], [3, 4]], [1, 1]))
    [3 7]
    """
    a, b = _operands(x1, x2, dtype, casting)
    n_axes = [min(a.ndim, 2), min(b.ndim, 2)]
    (a, b), turned = brought_last([a, b], [*n_axes, max(sum(n_axes) - 2, 0)], axes)
    made: Array = written(turned(_matmul(a, b)), out)
    return made


def _matmul(a: Array, b: Array) -> Array:
    if a.ndim == 0 or b.ndim == 0:
        raise ValueError("matmul of a number; use * for it, or arrays of one dimension or more")
    if a.shape[-1] != b.shape[max(b.ndim - 2, 0)]:
        message = f"shapes {a.shape} and {b.shape} have inner sizes {a.shape[-1]} and"
        raise ValueError(f"{message} {b.shape[max(b.ndim - 2, 0)]}; these must agree")
    _check_stacks(a.shape[:-2], b.shape[:-2])
    if a.ndim == 1 and b.ndim == 1:
        return summed_product(a, b, 0)
    left = reshape(a, (1, -1)) if a.ndim == 1 else a
    right = b[:, None] if b.ndim == 1 else b
    made = product(left, right)
    if a.ndim == 1:
        return made[..., 0, :]
    return made[..., 0] if b.ndim == 1 else made


def _check_stacks(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    try:
        np.broadcast_shapes(a, b)
    except ValueError:
        message = f"stacks of shapes {a} and {b} do not fit; use sizes that agree or are 1"
        raise ValueError(message) from None


def summed_product(a: Array, b: Array, axis: int) -> Array:
    """The sums of products of two arrays of one type along an axis, in that type."""
    if a.dtype == np.bool_:
        return (a & b)._reduce("any", axis)
    return (a * b)._reduce("sum", axis, False, a.dtype)


def vecdot(
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    casting: Any = "same_kind",
    order: Any = "K",
    dtype: Any = None,
    subok: bool = True,
    axes: Any = None,
    axis: int = -1,
    keepdims: bool = False,
) -> Array:
    """Return sums of products along an axis, of the conjugates of the first."""
    a, b = _operands(x1, x2, dtype, casting)
    if min(a.ndim, b.ndim) == 0:
        raise ValueError("vecdot of a number; use arrays of one dimension or more")
    if axes is None:
        axes = [axis, axis, axis if keepdims else ()]
    (a, b), turned = brought_last([a, b], [1, 1, int(bool(keepdims))], axes)
    if a.shape[-1] != b.shape[-1]:
        message = f"vectors of {a.shape[-1]} and {b.shape[-1]}"
        raise ValueError(f"{message}; these must agree")
    _check_stacks(a.shape[:-1], b.shape[:-1])
    made = summed_product(_conjugate(a), b, -1)
    result: Array = written(turned(made[..., None] if keepdims else made), out)
    return result


def _conjugate(array: Array) -> Array:
    made: Array = elementwise.conj(array) if array.dtype.kind == "c" else array
    return made


def matvec(
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    casting: Any = "same_kind",
    order: Any = "K",
    dtype: Any = None,
    subok: bool = True,
    axes: Any = None,
) -> Array:
    """Return products of matrices and vectors, stacks of each."""
    a, b = _operands(x1, x2, dtype, casting)
    if a.ndim < 2 or b.ndim < 1:
        raise ValueError(f"matvec of shapes {a.shape} and {b.shape}; use a matrix and a vector")
    (a, b), turned = brought_last([a, b], [2, 1, 1], axes)
    made: Array = written(turned(_matmul(a, b[..., None])[..., 0]), out)
    return made


def vecmat(
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    casting: Any = "same_kind",
    order: Any = "K",
    dtype: Any = None,
    subok: bool = True,
    axes: Any = None,
) -> Array:
    """Return products of vectors, conjugated, and matrices, stacks of each."""
    a, b = _operands(x1, x2, dtype, casting)
    if a.ndim < 1 or b.ndim < 2:
        raise ValueError(f"vecmat of shapes {a.shape} and {b.shape}; use a vector and a matrix")
    (a, b), turned = brought_last([a, b], [1, 2, 1], axes)
    made: Array = written(turned(_matmul(_conjugate(a)[..., None, :], b)[..., 0, :]), out)
    return made


@served
def dot(a: Any, b: Any, out: Any = None) -> Array:
    """Return NumPy's dot: the last axis of one with the last but one of the other."""
    x, y = alike(a, b)
    if x.ndim == 0 or y.ndim == 0:
        made = x * y
    elif y.ndim <= 2:
        made = _matmul(x, y)
    else:
        made = tensordot(x, y, axes=((x.ndim - 1,), (y.ndim - 2,)))
    result: Array = fitted_to(made, out)
    return result


@served
def inner(a: Any, b: Any, /) -> Array:
    """Return sums of products over the last axes of both."""
    x, y = alike(a, b)
    if x.ndim == 0 or y.ndim == 0:
        return x * y
    return tensordot(x, y, axes=((x.ndim - 1,), (y.ndim - 1,)))


def vdot(a: Any, b: Any, /) -> Array:
    """Return the sum of products of all elements, of the conjugates of the first."""
    x, y = (reshape(one, -1) for one in alike(a, b))
    return vecdot(x, y)


def outer(a: Any, b: Any, out: Any = None) -> Array:
    """Return the products of each element of one with each of the other."""
    x, y = (reshape(one, -1) for one in alike(a, b))
    made: Array = written(x[:, None] * y, out)
    return made


def tensordot(a: Any, b: Any, axes: Any = 2) -> Array:
    """Return sums of products over axes of both: a number of them, or a list for each."""
    x, y = alike(a, b)
    if np.iterable(axes):
        first, second = (list(one) if np.iterable(one) else [one] for one in axes)
    else:
        n_axes = operator.index(axes)
        if not 0 <= n_axes <= min(x.ndim, y.ndim):
            message = f"{n_axes} axes of shapes {x.shape} and {y.shape}"
            raise ValueError(f"{message}; use at most as many as both have")
        first, second = list(range(x.ndim - n_axes, x.ndim)), list(range(n_axes))
    at, to = axes_of(first, x.ndim), axes_of(second, y.ndim)
    if [x.shape[one] for one in at] != [y.shape[one] for one in to]:
        message = f"shapes {x.shape} and {y.shape} along axes {tuple(at)} and {tuple(to)}"
        raise ValueError(f"{message}; the sizes must agree")
    rows = [one for one in range(x.ndim) if one not in at]
    columns = [one for one in range(y.ndim) if one not in to]
    sizes = [x.shape[one] for one in rows], [y.shape[one] for one in columns]
    n_inner = math.prod(x.shape[one] for one in at)
    left = reshape(permute_dims(x, [*rows, *at]), (math.prod(sizes[0]), n_inner))
    right = reshape(permute_dims(y, [*to, *columns]), (n_inner, math.prod(sizes[1])))
    return reshape(product(left, right), [*sizes[0], *sizes[1]])


@served
def kron(a: Any, b: Any) -> Array:
    """Return the products of all elements of one with the whole other, side by side."""
    x, y = alike(a, b)
    ndim = max(x.ndim, y.ndim)
    sizes = [(1,) * (ndim - one.ndim) + one.shape for one in (x, y)]
    both = list(zip(*sizes, strict=True))
    # Two sizes need two dimensions, unless one of them is 1.
    places = [(n, 1, 1, m) if n != 1 != m else (n, m) for n, m in both]
    if (n_dims := sum(len(place) // 2 for place in places)) > MOST_DIMS:
        message = (
            f"the product of shapes {x.shape} and {y.shape} is computed in {n_dims} dimensions, "
            f"where {MOST_DIMS} are the most; use arrays of {MOST_DIMS // 2} dimensions or fewer"
        )
        raise LayoutError(message, "dimensions")
    wide = reshape(x, [n for place in places for n in place[: len(place) // 2]])
    other = reshape(y, [n for place in places for n in place[len(place) // 2 :]])
    return reshape(wide * other, [n * m for n, m in both])


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Array:
    """Return the vectors of three that are perpendicular to two others."""
    x, y = alike(a, b)
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = moveaxis(x, axisa, -1), moveaxis(y, axisb, -1)
    lengths = x.shape[-1], y.shape[-1]
    if not {*lengths} <= {2, 3}:
        message = f"vectors of {lengths[0]} and {lengths[1]} numbers; use vectors of 3"
        raise ValueError(message)
    if x.dtype == np.bool_:
        raise TypeError("cross of truth values; convert them to numbers first")
    if 2 in lengths:
        message = "vectors of 2 numbers; use vectors of 3, as NumPy will want"
        warnings.warn(message, DeprecationWarning, stacklevel=2)
        if lengths == (2, 2):
            flat: Array = x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0]
            return flat
        x, y = (_in_space(one) for one in (x, y))
    turns = [(1, 2), (2, 0), (0, 1)]
    sides = [x[..., i] * y[..., j] - x[..., j] * y[..., i] for i, j in turns]
    return moveaxis(stack(sides, axis=-1), -1, axisc)


def _in_space(vectors: Array) -> Array:
    """Vectors of three numbers, the last of which may have to be zero."""
    if vectors.shape[-1] == 3:
        return vectors
    zero = zeros((*vectors.shape[:-1], 1), vectors.dtype, team=vectors.team)
    return concat([vectors, zero], axis=-1)


@served
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """Return the elements on a diagonal of two axes, as the last axis: a copy, no view."""
    array = an_array(a)
    if array.ndim < 2:
        raise ValueError(f"a shape of {array.shape} has no diagonals; use two dimensions or more")
    first, second = axis_of(axis1, array.ndim), axis_of(axis2, array.ndim)
    if first == second:
        raise ValueError(f"axis {axis1} twice; a diagonal is of two axes")
    rest = [at for at in range(array.ndim) if at not in (first, second)]
    turned = permute_dims(array, [*rest, first, second])
    n_rows, n_columns = turned.shape[-2:]
    row, column = max(0, -offset), max(0, offset)
    along = arange(max(0, min(n_rows - row, n_columns - column)), team=array.team)
    return turned[(..., along + row, along + column)]


@served
def trace(
    a: Any,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: Any = None,
    out: Any = None,
) -> Array:
    """Return the sum of a diagonal of two axes."""
    made = diagonal(a, offset, axis1, axis2)._reduce("sum", -1, False, dtype)
    result: Array = reduced_to(made, out)
    return result


__all__ = [
    "cross",
    "diagonal",
    "dot",
    "inner",
    "kron",
    "matmul",
    "matvec",
    "outer",
    "tensordot",
    "trace",
    "vdot",
    "vecdot",
    "vecmat",
]
