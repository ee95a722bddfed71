"""Arrays put together, cut apart, lengthened and turned."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._functions.creation import an_array, axes_of, axis_of, empty, sizes_of, zeros
from partita._functions.gathered import few
from partita._functions.manipulation import (
    concat,
    expand_dims,
    flip,
    moveaxis,
    ravel,
    reshape,
    swapaxes,
    tile,
    vstack,
)
from partita._functions.searching import argmax, nonzero
from partita._functions.statistics import any as any_of

if TYPE_CHECKING:
    from collections.abc import Sequence


def atleast_1d(*arrays: Any) -> Any:
    """Return views with one dimension at least."""
    return _each(arrays, lambda one: reshape(one, 1) if one.ndim == 0 else one)


def atleast_2d(*arrays: Any) -> Any:
    """Return views with two dimensions at least; a vector is a row."""
    return _each(arrays, lambda one: reshape(one, (1, -1)) if one.ndim < 2 else one)


def atleast_3d(*arrays: Any) -> Any:
    """Return views with three dimensions at least; a matrix lies in the first two."""

    def raised(one: Array) -> Array:
        if one.ndim < 2:
            return reshape(one, (1, one.size, 1))
        return expand_dims(one, 2) if one.ndim == 2 else one

    return _each(arrays, raised)


def _each(arrays: Sequence[Any], work: Any) -> Any:
    made = tuple(work(an_array(one)) for one in arrays)
    return made[0] if len(made) == 1 else made


def dstack(tup: Sequence[Any]) -> Array:
    """Return arrays one behind the other along the third dimension."""
    return concat([atleast_3d(one) for one in tup], axis=2)


def column_stack(tup: Sequence[Any]) -> Array:
    """Return arrays side by side; vectors are columns."""
    given = [an_array(one) for one in tup]
    return concat([reshape(one, (-1, 1)) if one.ndim < 2 else one for one in given], axis=1)


row_stack = vstack


def append(arr: Any, values: Any, axis: int | None = None) -> Array:
    """Return values behind an array; all in a row without an axis."""
    return concat([arr, values], axis=axis)


def block(arrays: Any) -> Array:
    """Return arrays put together as nested lists show them."""
    depth = _depth(arrays)
    ndim = max(depth, max(one.ndim for one in _leaves(arrays)))
    return _blocked(arrays, depth, ndim)


def _depth(given: Any) -> int:
    if not isinstance(given, list):
        return 0
    if not given:
        raise ValueError("an empty list in a block; give one array at least")
    depths = {_depth(one) for one in given}
    if len(depths) > 1:
        raise ValueError(f"lists of depths {sorted(depths)} in a block; use one depth")
    return depths.pop() + 1


def _leaves(given: Any) -> list[Array]:
    if not isinstance(given, list):
        return [an_array(given)]
    return [leaf for one in given for leaf in _leaves(one)]


def _blocked(given: Any, depth: int, ndim: int) -> Array:
    if depth == 0:
        one = an_array(given)
        return reshape(one, (1,) * (ndim - one.ndim) + one.shape)
    return concat([_blocked(one, depth - 1, ndim) for one in given], axis=-depth)


def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Return views of parts along an axis, of sizes that differ by one at most."""
    array = an_array(ary)
    at = axis_of(axis, array.ndim)
    size = array.shape[at]
    if np.ndim(indices_or_sections) == 0:
        n_parts = operator.index(indices_or_sections)
        if n_parts <= 0:
            raise ValueError(f"{n_parts} parts; use 1 or more")
        short, n_longer = divmod(size, n_parts)
        cuts = [number * short + min(number, n_longer) for number in range(1, n_parts)]
    else:
        cuts = [operator.index(one) for one in indices_or_sections]
    before = (slice(None),) * at
    edges = zip([0, *cuts], [*cuts, size], strict=True)
    return [array[(*before, slice(start, stop))] for start, stop in edges]


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[Array]:
    """Return views of equal parts along an axis, or of those between given places."""
    array = an_array(ary)
    size = array.shape[axis_of(axis, array.ndim)]
    if np.ndim(indices_or_sections) == 0 and size % operator.index(indices_or_sections):
        message = f"{size} entries in {indices_or_sections} equal parts; use array_split"
        raise ValueError(message)
    return array_split(array, indices_or_sections, axis)


def hsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Return parts side by side."""
    array = _with_dims(ary, 1)
    return split(array, indices_or_sections, 1 if array.ndim > 1 else 0)


def vsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Return parts that lie below each other."""
    return split(_with_dims(ary, 2), indices_or_sections, 0)


def dsplit(ary: Any, indices_or_sections: Any) -> list[Array]:
    """Return parts along the third dimension."""
    return split(_with_dims(ary, 3), indices_or_sections, 2)


def _with_dims(ary: Any, least: int) -> Array:
    array = an_array(ary)
    if array.ndim < least:
        raise ValueError(f"an array of {array.ndim} dimensions; use {least} or more")
    return array


def _positions(obj: Any, size: int, name: str) -> np.ndarray[Any, Any]:
    """Places along an axis, which all ranks have alike: they are few beside an array."""
    if isinstance(obj, slice):
        return np.arange(*obj.indices(size))
    if isinstance(obj, Array):
        obj = few(nonzero(obj)[0] if obj.dtype.kind == "b" else obj, name)
    places = np.asarray(obj)
    if places.dtype.kind == "b":
        return np.flatnonzero(places)
    if places.size == 0:
        return places.astype(np.intp)
    places = places.astype(np.intp, casting="same_kind")
    return places


def _counted(places: Any, size: int, last: int) -> Any:
    for place in np.ravel(places):
        if not -size <= place <= last:
            raise IndexError(f"place {place} along an axis of {size} entries; use smaller ones")
    return np.where(places < 0, places + size, places)


def _ranges(mask: np.ndarray[Any, Any]) -> list[list[int]]:
    """Where a mask is true: few ranges, as a rule, and each is a view."""
    edges = np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8))
    found: list[list[int]] = np.flatnonzero(edges).reshape(-1, 2).tolist()
    return found


def delete(arr: Any, obj: Any, axis: int | None = None) -> Array:
    """Return an array without the entries at some places along an axis."""
    array = an_array(arr)
    if axis is None:
        array, axis = ravel(array), 0
    at = axis_of(axis, array.ndim)
    size = array.shape[at]
    places = np.ravel(_counted(_positions(obj, size, "delete"), size, size - 1))
    kept = np.ones(size, bool)
    kept[places] = False
    before = (slice(None),) * at
    parts = [array[(*before, slice(*one))] for one in _ranges(kept)]
    return concat(parts, axis=at) if parts else +array[(*before, slice(0, 0))]


def insert(arr: Any, obj: Any, values: Any, axis: int | None = None) -> Array:
    """Return an array with values before some places along an axis."""
    array = an_array(arr)
    if axis is None:
        array, axis = ravel(array), 0
    at = axis_of(axis, array.ndim)
    size = array.shape[at]
    places = _counted(_positions(obj, size, "insert"), size, size)
    is_one = places.ndim == 0 and not isinstance(obj, slice)
    given = an_array(values).astype(array.dtype)
    if is_one:
        # One place takes all that is given; its first dimension lies along the axis.
        given = reshape(given, (1,) * (array.ndim - given.ndim) + given.shape)
        given = moveaxis(given, 0, at)
        places = np.repeat(places.reshape(1), given.shape[at])
    places = np.ravel(places)
    order = np.argsort(places, kind="stable")
    new = np.empty(len(places), np.intp)
    new[order] = places[order] + np.arange(len(places))
    old = np.ones(size + len(places), bool)
    old[new] = False
    shape = [*array.shape]
    shape[at] = len(old)
    made = empty(shape, array.dtype, team=array.team)
    before = (slice(None),) * at
    done = 0
    for start, stop in _ranges(old):
        part = array[(*before, slice(done, done + stop - start))]
        made[(*before, slice(start, stop))] = part
        done += stop - start
    made[(*before, new)] = given
    return made


def resize(a: Any, new_shape: Any) -> Array:
    """Return the elements in another shape, again from the first where they do not suffice."""
    array, shape = an_array(a), sizes_of(new_shape)
    n_wanted = math.prod(shape)
    if any(n < 0 for n in shape):
        raise ValueError(f"shape {shape} has a negative size; use sizes from 0 on")
    if array.size == 0 or n_wanted == 0:
        return zeros(shape, array.dtype, team=array.team)
    row = ravel(array)
    if n_wanted > array.size:
        row = tile(row, -(-n_wanted // array.size))
    return reshape(+row[:n_wanted], shape)


def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Array:
    """Return a view turned by quarters of a circle."""
    array = an_array(m)
    if len(axes) != 2:
        raise ValueError(f"axes {tuple(axes)}; use two")
    first, second = axes_of(tuple(axes), array.ndim)
    turns = k % 4
    if turns == 0:
        return array[...]
    if turns == 2:
        return flip(array, axis=(first, second))
    if turns == 1:
        return swapaxes(flip(array, axis=second), first, second)
    return flip(swapaxes(array, first, second), axis=second)


def flipud(m: Any) -> Array:
    """Return a view with the rows in reverse order."""
    return flip(_with_dims(m, 1), axis=0)


def fliplr(m: Any) -> Array:
    """Return a view with the columns in reverse order."""
    return flip(_with_dims(m, 2), axis=1)


def rollaxis(a: Any, axis: int, start: int = 0) -> Array:
    """Return a view with an axis moved before another place."""
    array = an_array(a)
    at = axis_of(axis, array.ndim)
    place = array.ndim if start == array.ndim else axis_of(start, array.ndim)
    return moveaxis(array, at, place - 1 if at < place else place)


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> Array:
    """Return a view without the zeros at the front (`f`) and the back (`b`) of axes."""
    ends = trim.lower()
    if not set(ends) <= {"f", "b"}:
        raise ValueError(f"trim {trim!r}; use 'f', 'b' or 'fb'")
    array = an_array(filt)
    axes = range(array.ndim) if axis is None else axes_of(axis, array.ndim)
    index: list[Any] = [slice(None)] * array.ndim
    for at in axes:
        others = tuple(other for other in range(array.ndim) if other != at)
        is_kept = any_of(array != 0, axis=others)
        size = array.shape[at]
        if size == 0 or not bool(any_of(is_kept)):
            index[at] = slice(0, 0)
            continue
        first = int(argmax(is_kept)) if "f" in ends else 0
        last = size - int(argmax(is_kept[::-1])) if "b" in ends else size
        index[at] = slice(first, last)
    return array[tuple(index)]


__all__ = [
    "append",
    "array_split",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block",
    "column_stack",
    "delete",
    "dsplit",
    "dstack",
    "fliplr",
    "flipud",
    "hsplit",
    "insert",
    "resize",
    "rollaxis",
    "rot90",
    "row_stack",
    "split",
    "trim_zeros",
    "vsplit",
]
