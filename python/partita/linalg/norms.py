"""Norms of vectors and matrices, ranks and condition numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.exceptions import AxisError

from partita._array.array import Array
from partita._functions import elementwise
from partita._functions.creation import an_array, axes_of, full
from partita._functions.manipulation import expand_dims, permute_dims, reshape
from partita._functions.products import cast
from partita._functions.searching import count_nonzero, where
from partita._functions.serving import served_as
from partita.linalg.elimination import inverses
from partita.linalg.full_rank import inverse_above, is_in_panels
from partita.linalg.given import matrix, real_type, square
from partita.linalg.spectral import eigvalsh, svdvals


def _in_floats(x: Any) -> Array:
    """An array of numbers whose norms can be taken; integers as float64."""
    array = an_array(x)
    return cast(array, np.dtype(np.float64)) if array.dtype.kind in "biu" else array


def vector_norm(x: Any, /, *, axis: Any = None, keepdims: bool = False, ord: Any = 2) -> Array:
    """Return norms of vectors along axes; of all elements without any."""
    array = _in_floats(x)
    axes = list(range(array.ndim)) if axis is None else axes_of(axis, array.ndim)
    return _vector_norm(array, tuple(axes), bool(keepdims), ord)


def _vector_norm(array: Array, axes: tuple[int, ...], keepdims: bool, order: Any) -> Array:
    if isinstance(order, str):
        raise ValueError(f"norm {order!r} of vectors; use a number")
    if order == 0:
        counted = (array != 0)._reduce("sum", axes, keepdims)
        return cast(counted, real_type(array.dtype))
    sizes: Array = elementwise.abs(array)
    if order == np.inf:
        return _largest(sizes, axes, keepdims)
    if order == -np.inf:
        return sizes._reduce("min", axes, keepdims)
    if order == 1:
        return sizes._reduce("sum", axes, keepdims)
    made: Array
    if order in (None, 2):
        made = elementwise.sqrt((sizes * sizes)._reduce("sum", axes, keepdims))
    else:
        made = (sizes ** float(order))._reduce("sum", axes, keepdims) ** (1.0 / float(order))
    return made


def _largest(sizes: Array, axes: tuple[int, ...], keepdims: bool = False) -> Array:
    """The largest of numbers from 0 on, along axes; of none it is 0, as their sum is."""
    is_empty = any(sizes.shape[at] == 0 for at in axes)
    return sizes._reduce("sum" if is_empty else "max", axes, keepdims)


def matrix_norm(x: Any, /, *, keepdims: bool = False, ord: Any = "fro") -> Array:
    """Return norms of matrices, the last two axes."""
    array = _in_floats(x)
    if array.ndim < 2:
        raise AxisError(f"an array of {array.ndim} dimensions is no matrix; use two or more")
    return _matrix_norm(array, (array.ndim - 2, array.ndim - 1), bool(keepdims), ord)


# Along which axis magnitudes are added, and which of the sums is the norm.
_SUMMED = {1: (0, "max"), -1: (0, "min"), np.inf: (1, "max"), -np.inf: (1, "min")}


def _matrix_norm(array: Array, axes: tuple[int, int], keepdims: bool, order: Any) -> Array:
    if order in (None, "fro", "f"):
        return _vector_norm(array, axes, keepdims, 2)
    if order in _SUMMED:
        along, chosen = _SUMMED[order]
        sizes: Array = elementwise.abs(array)
        sums = sizes._reduce("sum", axes[along], True)
        if chosen == "max":
            return _largest(sums, axes, keepdims)
        return sums._reduce(chosen, axes, keepdims)
    if order not in (2, -2, "nuc"):
        raise ValueError(f"norm {order!r} of matrices; use 'fro', 'nuc', 1, -1, 2, -2 or inf")
    rest = [at for at in range(array.ndim) if at not in axes]
    values = svdvals(permute_dims(array, [*rest, *axes]))
    chosen = {2: "max", -2: "min", "nuc": "sum"}[order]
    last = values.ndim - 1
    made = _largest(values, (last,)) if chosen == "max" else values._reduce(chosen, last)
    return expand_dims(made, axis=tuple(sorted(axes))) if keepdims else made


@served_as("linalg.norm")
def norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Array:
    """Return NumPy's norm: of vectors along one axis, of matrices along two.

    The norms 2, -2 and "nuc" of matrices need singular values, which `svdvals` finds.
    """
    array = _in_floats(x)
    if axis is None:
        if ord is None:
            flat = _vector_norm(reshape(array, -1), (0,), False, 2)
            return reshape(flat, (1,) * array.ndim) if keepdims else flat
        if array.ndim not in (1, 2):
            raise ValueError(f"norm {ord!r} of {array.ndim} dimensions; name one or two axes")
        axes = list(range(array.ndim))
    else:
        axes = axes_of(axis, array.ndim)
    if len(axes) == 1:
        return _vector_norm(array, tuple(axes), bool(keepdims), ord)
    if len(axes) != 2:
        raise ValueError(f"norm along {len(axes)} axes; name one or two")
    return _matrix_norm(array, (axes[0], axes[1]), bool(keepdims), ord)


def matrix_rank(A: Any, tol: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:
    """Return how many singular values are larger than a tolerance. Collective.

    One spread matrix is looked at in parts if it is tall or wide, or if its rank is clearly full.
    Any other is brought to every rank, for its singular values.
    """
    array = an_array(A)
    if array.ndim < 2:
        return cast((array != 0)._reduce("any"), np.dtype(np.int64))
    array = matrix(array)
    array.team.say(f"linalg.matrix_rank(tol={_few(tol)}, {hermitian=}, rtol={_few(rtol)})")
    if rtol is None:
        rtol = max(array.shape[-2:]) * float(np.finfo(array.dtype).eps)
    if is_in_panels(array) and np.ndim(rtol if tol is None else tol) == 0:
        bounds = (float(rtol), 0.0) if tol is None else (0.0, float(tol))
        if inverse_above(array, *bounds) is not None:
            return full((), min(array.shape), dtype=np.int64, team=array.team)
    values = elementwise.abs(eigvalsh(array)) if hermitian else svdvals(array)
    if values.shape[-1] == 0:
        return count_nonzero(values, axis=-1)
    if tol is None:
        relative = rtol if np.ndim(rtol) == 0 else an_array(rtol)[..., None]
        bound = values._reduce("max", -1, True) * relative
    else:
        bound = tol if np.ndim(tol) == 0 else an_array(tol)[..., None]
    return count_nonzero(values > bound, axis=-1)


def _few(bound: Any) -> Any:
    """A bound in a few words, of which equal ones have the same on every rank."""
    return bound.shape if isinstance(bound, Array) else np.asarray(bound).tolist()


def cond(x: Any, p: Any = None) -> Array:
    """Return condition numbers: how much solutions change with right sides. Collective.

    For `p` of None, 2 and -2 they come from singular values, which `svdvals` finds.
    """
    array = matrix(x)
    if 0 in array.shape[-2:]:
        raise np.linalg.LinAlgError(f"a matrix of shape {array.shape[-2:]} has no condition")
    if p in (None, 2, -2):
        values = svdvals(array)
        first, last = values[..., 0], values[..., -1]
        made: Array = last / first if p == -2 else first / last
    else:
        array = square(array)
        axes = (array.ndim - 2, array.ndim - 1)
        made = _matrix_norm(array, axes, False, p) * _matrix_norm(inverses(array), axes, False, p)
    # No number comes of infinities; one of the matrix itself stays.
    has_nan = elementwise.isnan(array)._reduce("any", (array.ndim - 2, array.ndim - 1))
    result: Array = where(elementwise.isnan(made) & ~has_nan, np.inf, made)
    return result


__all__ = ["cond", "matrix_norm", "matrix_rank", "norm", "vector_norm"]
