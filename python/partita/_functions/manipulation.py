"""Other shapes, other orders, several arrays together."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._errors import LayoutError
from partita._functions.creation import (
    an_array,
    axes_of,
    axis_of,
    empty,
    is_axis_of_number,
    sizes_of,
    zeros,
)
from partita._functions.gathered import whole
from partita._functions.inspection import check_device
from partita._functions.memory_order import as_read, reads_backwards
from partita._functions.placing import placed
from partita._functions.serving import served
from partita._functions.shaping import sizes_for
from partita._functions.types import result_type
from partita._partita import lazy_index, lazy_where

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._partita import Layout
    from partita._team.team import Team


# Dimensions that can be computed with.
MOST_DIMS = 16


@served
def reshape(x: Any, /, shape: Any, order: str = "C", *, copy: bool | None = None) -> Array:
    """Return the elements in another shape; -1 is what is left."""
    array = an_array(x)
    sizes = sizes_for(array, shape)
    if reads_backwards(array, order):
        return reshape(array.T, sizes[::-1], copy=copy).T
    made = array._reshape(sizes, copy)
    if made is None:
        raise ValueError("the new shape needs a copy; use copy=None")
    return made


def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Array:
    """Return a view with elements repeated."""
    sizes = sizes_of(shape)
    if any(n < 0 for n in sizes):
        raise ValueError(f"shape {sizes} has a negative size; use sizes from 0 on")
    return an_array(array)._broadcast(sizes)


def broadcast_shapes(*shapes: Any) -> tuple[int, ...]:
    """Return the shape that arrays of these shapes have together."""
    return np.broadcast_shapes(*shapes)


def broadcast_arrays(*arrays: Any) -> tuple[Array, ...]:
    """Return views of arrays with the shape they have together."""
    given = [an_array(one) for one in arrays]
    shape = np.broadcast_shapes(*(one.shape for one in given))
    # Those that have the shape stay as they are, to be written, too.
    return tuple(one if one.shape == shape else broadcast_to(one, shape) for one in given)


def expand_dims(a: Any, axis: Any = 0) -> Array:
    """Return a view with dimensions of size 1 added."""
    array = an_array(a)
    n_new = len(axis) if isinstance(axis, tuple | list) else 1
    axes = axes_of(axis, array.ndim + n_new)
    index: list[Any] = [slice(None)] * (array.ndim + n_new)
    for one in axes:
        index[one] = None
    return array[tuple(index)]


def squeeze(a: Any, axis: Any = None) -> Array:
    """Return a view without dimensions of size 1."""
    array = an_array(a)
    if axis is None or is_axis_of_number(axis, array.ndim):
        axes = [at for at, size in enumerate(array.shape) if size == 1]
    else:
        axes = axes_of(axis, array.ndim)
    for one in axes:
        if array.shape[one] != 1:
            raise ValueError(f"dimension {one} has size {array.shape[one]}; only 1 can go")
    # No index: an element taken by one is no view.
    return array.reshape(tuple(size for at, size in enumerate(array.shape) if at not in axes))


@served
def permute_dims(a: Any, axes: Sequence[int]) -> Array:
    """Return a view with the dimensions in another order."""
    return an_array(a)._permute(list(axes))


@served
def transpose(a: Any, axes: Sequence[int] | None = None) -> Array:
    """Return a view with the dimensions in another order, the reverse one if none is given."""
    array = an_array(a)
    return array._permute(list(range(array.ndim))[::-1] if axes is None else list(axes))


@served
def matrix_transpose(x: Any, /) -> Array:
    """Return a view with the last two dimensions exchanged."""
    array = an_array(x)
    if array.ndim < 2:
        raise ValueError(f"an array of {array.ndim} dimensions is no matrix; use two or more")
    return swapaxes(array, -1, -2)


def swapaxes(a: Any, axis1: int, axis2: int) -> Array:
    """Return a view with two dimensions exchanged."""
    array = an_array(a)
    order = list(range(array.ndim))
    one, other = axis_of(axis1, array.ndim), axis_of(axis2, array.ndim)
    order[one], order[other] = other, one
    return array._permute(order)


def moveaxis(a: Any, source: Any, destination: Any) -> Array:
    """Return a view with dimensions moved to other places."""
    array = an_array(a)
    sources, targets = axes_of(source, array.ndim), axes_of(destination, array.ndim)
    if len(sources) != len(targets):
        raise ValueError(f"{len(sources)} dimensions for {len(targets)} places; give as many")
    order = [at for at in range(array.ndim) if at not in sources]
    for place, at in sorted(zip(targets, sources, strict=True)):
        order.insert(place, at)
    return array._permute(order)


def flip(m: Any, axis: Any = None) -> Array:
    """Return a view with the order along axes reversed."""
    array = an_array(m)
    axes = range(array.ndim) if axis is None else axes_of(axis, array.ndim)
    turn = slice(None, None, -1)
    return array[tuple(turn if at in axes else slice(None) for at in range(array.ndim))]


def concat(
    arrays: Sequence[Any],
    /,
    axis: int | None = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Array:
    """Return arrays one behind the other along an axis; in a row without one.

    They may be asked for in another type, or in another array.
    """
    given = _in_type(
        [an_array(one) for one in arrays], dtype if out is None else out.dtype, casting
    )
    if not given:
        raise ValueError("no arrays to put together; give one at least")
    if axis is None:
        given, axis = [reshape(one, -1) for one in given], 0
    made = _end_to_end(given, axis_of(axis, given[0].ndim))
    if out is None:
        return made
    if out.shape != made.shape:
        message = f"{made.shape} together for an array of shape {out.shape}"
        raise ValueError(f"arrays of shape {message}; use one of their shape")
    out[...] = made if isinstance(out, Array) else whole(made, "concatenate")
    result: Array = out
    return result


concatenate = concat


def _in_type(given: list[Array], dtype: Any, casting: Any) -> list[Array]:
    """Arrays in a type that is asked for, if one is."""
    if dtype is None:
        return given
    for one in given:
        if not np.can_cast(one.dtype, dtype, casting):
            message = f"elements of {one.dtype} as {np.dtype(dtype)}; use another casting="
            raise TypeError(message)
    return [one.astype(dtype, copy=False) for one in given]


def _end_to_end(given: list[Array], at: int) -> Array:
    first = given[0].shape
    for one in given[1:]:
        if one.ndim != len(first) or any(
            a != b for dim, (a, b) in enumerate(zip(first, one.shape, strict=True)) if dim != at
        ):
            message = f"shapes {first} and {one.shape} along axis {at}; the other sizes must agree"
            raise LayoutError(message, "shapes-differ")
    shape = list(first)
    shape[at] = sum(one.shape[at] for one in given)
    made = empty(shape, result_type(*given), team=given[0].team)
    start = 0
    for one in given:
        stop = start + one.shape[at]
        made[(slice(None),) * at + (slice(start, stop),)] = one
        start = stop
    return made


def stack(
    arrays: Sequence[Any],
    axis: int = 0,
    out: Any = None,
    *,
    dtype: Any = None,
    casting: Any = "same_kind",
) -> Array:
    """Return arrays one behind the other along a new axis."""
    given = [an_array(one) for one in arrays]
    if len({one.shape for one in given}) > 1:
        shapes = sorted({one.shape for one in given})
        raise ValueError(f"shapes {shapes} cannot be stacked; use one shape")
    wide = [expand_dims(one, axis=axis) for one in given]
    return concat(wide, axis, out, dtype=dtype, casting=casting)


def hstack(tup: Sequence[Any], *, dtype: Any = None, casting: Any = "same_kind") -> Array:
    """Return arrays side by side."""
    given = [an_array(one) for one in tup]
    given = [reshape(one, 1) if one.ndim == 0 else one for one in given]
    axis = 0 if given and given[0].ndim == 1 else 1
    return concat(given, axis, dtype=dtype, casting=casting)


def vstack(tup: Sequence[Any], *, dtype: Any = None, casting: Any = "same_kind") -> Array:
    """Return arrays below each other."""
    given = [an_array(one) for one in tup]
    rows = [reshape(one, (1, -1)) if one.ndim < 2 else one for one in given]
    return concat(rows, 0, dtype=dtype, casting=casting)


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Array, ...]:
    """Return views of the entries along an axis."""
    array = moveaxis(an_array(x), axis, 0)
    return tuple(array[at] for at in range(array.shape[0]))


def roll(a: Any, shift: Any, axis: Any = None) -> Array:
    """Return the elements moved along axes, those that leave coming in at the other end."""
    array = an_array(a)
    if axis is None:
        rolled = roll(reshape(array, -1), sum(np.ravel(shift).tolist()), axis=0)
        return reshape(rolled, array.shape)
    n_shifts, n_axes = np.size(shift), np.size(axis)
    if max(np.ndim(shift), np.ndim(axis)) > 1 or (
        n_shifts != n_axes and 1 not in (n_shifts, n_axes)
    ):
        raise ValueError(f"{n_shifts} shifts for {n_axes} axes; give as many")
    made = array
    for by, one in np.broadcast(shift, axis):
        made = _rolled(made, operator.index(by), axis_of(one, array.ndim))
    return +made if made is array else made


def _rolled(array: Array, by: int, axis: int) -> Array:
    size = array.shape[axis]
    by = by % size if size else 0
    if by == 0:
        return array
    made = empty(array.shape, array.dtype, team=array.team)
    before = (slice(None),) * axis
    made[(*before, slice(by, None))] = array[(*before, slice(None, size - by))]
    made[(*before, slice(None, by))] = array[(*before, slice(size - by, None))]
    return made


def _refuse_negative(*counts: Any) -> None:
    """Refuse numbers of repetitions that cannot be."""
    for count in counts:
        if count < 0:
            raise ValueError(f"{count} repetitions; use 0 or more")


def repeat(a: Any, repeats: Any, axis: int | None = None) -> Array:
    """Return each element several times."""
    array = an_array(a)
    if axis is None or is_axis_of_number(axis, array.ndim):
        array, axis = reshape(array, -1), 0
    at = axis_of(axis, array.ndim)
    if isinstance(repeats, int | np.integer) and array.ndim < MOST_DIMS:
        _refuse_negative(repeats)
        wide = expand_dims(array, axis=at + 1)
        shape = list(wide.shape)
        shape[at + 1] = int(repeats)
        final = list(array.shape)
        final[at] *= int(repeats)
        return reshape(+broadcast_to(wide, shape), final)
    kind = np.intp if isinstance(repeats, list | tuple) else None
    counts = np.asarray(repeats.gather() if isinstance(repeats, Array) else repeats, kind)
    _refuse_negative(*counts.ravel().tolist())
    positions = np.repeat(np.arange(array.shape[at]), counts)
    made = array[(slice(None),) * at + (positions,)]
    # In C order, which chosen columns are not.
    return +made if at else made


def tile(A: Any, reps: Any) -> Array:
    """Return the array several times beside itself."""
    array = an_array(A)
    times = tuple(reps) if np.iterable(reps) else (reps,)
    _refuse_negative(*times)
    ndim = max(array.ndim, len(times))
    times = (1,) * (ndim - len(times)) + times
    shape = (1,) * (ndim - array.ndim) + array.shape
    both = list(zip(times, shape, strict=True))
    # What is repeated needs a dimension more, unless one of both is 1.
    pairs = [(count, size) if count != 1 != size else (count * size,) for count, size in both]
    full = [n for pair in pairs for n in pair]
    if len(full) > MOST_DIMS >= ndim:
        return _tiled_one_by_one(reshape(array, shape), times)
    wide = [n for pair, size in zip(pairs, shape, strict=True) for n in (1, size)[-len(pair) :]]
    return reshape(+broadcast_to(reshape(array, wide), full), [c * n for c, n in both])


def _tiled_one_by_one(array: Array, times: Sequence[int]) -> Array:
    """The same, one dimension after the other: so no dimension more is needed."""
    for axis, count in enumerate(times):
        none = array[(slice(None),) * axis + (slice(0),)]
        array = concat([array] * count, axis=axis) if count else none
    return array


def ravel(a: Any, order: str = "C") -> Array:
    """Return the elements in a row: a view where they lie so, otherwise a copy."""
    array = as_read(an_array(a), order)
    return reshape(array if array._is_dense else array.copy(), -1)


def flatten(a: Array, order: str = "C") -> Array:
    """Return the elements in a row, in memory of their own."""
    return reshape(as_read(a, order), -1, copy=True)


def _below(x: Array, k: int) -> Array:
    """Where a matrix's entries stand on or below the `k`-th diagonal."""
    if x.ndim < 2:
        message = f"a shape of {x.shape} has no diagonals; use two dimensions or more"
        raise LayoutError(message, "matrix-needed")
    rank, shape = x._rank, x.shape[-2:]
    below: Array = lazy_index(rank, shape, 1) - lazy_index(rank, shape, 0) <= k
    return below


def _matrices(m: Any, device: Any, team: Team | None) -> Array:
    """What triangles are taken of; a row is a square matrix of such rows, as NumPy sees it here."""
    check_device(device)
    array = an_array(m, team)
    return array._broadcast((len(array), len(array))) if array.ndim == 1 else array


@served
def tril(
    m: Any,
    k: int = 0,
    *,
    device: Any = None,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Array:
    """Return the matrices with zeros above the `k`-th diagonal."""
    m = _matrices(m, device, team)
    made = lazy_where(_below(m, k), m, zeros((), m.dtype, team=m.team))
    return made if layout is None else placed(made, layout)


@served
def triu(
    m: Any,
    k: int = 0,
    *,
    device: Any = None,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Array:
    """Return the matrices with zeros below the `k`-th diagonal."""
    m = _matrices(m, device, team)
    made = lazy_where(_below(m, k - 1), zeros((), m.dtype, team=m.team), m)
    return made if layout is None else placed(made, layout)


__all__ = [
    "broadcast_arrays",
    "broadcast_shapes",
    "broadcast_to",
    "concat",
    "concatenate",
    "expand_dims",
    "flip",
    "hstack",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "ravel",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "swapaxes",
    "tile",
    "transpose",
    "tril",
    "triu",
    "unstack",
    "vstack",
]
