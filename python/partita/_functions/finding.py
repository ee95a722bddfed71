"""Places in sorted arrays, positions of what is not zero, and differences of neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._algorithms.lookup import asked
from partita._algorithms.rows import from_here, from_row, is_here, mapped, row_of
from partita._array.array import Array
from partita._functions.creation import an_array, axes_of
from partita._functions.manipulation import concat, reshape
from partita._functions.searching import argmax
from partita._functions.statistics import all as all_of
from partita._functions.statistics import any as any_of
from partita._functions.types import result_type
from partita._local import choosing, sorting


def searchsorted(x1: Any, x2: Any, /, side: str = "left", sorter: Any = None) -> Array:
    """Return where elements of `x2` belong in sorted `x1`: before equal ones, or after them.

    >>> import partita as pt
    >>> pt.searchsorted(pt.asarray([1, 3, 3]), pt.asarray([3]), side="right").tolist()
    [3]
    """
    if side not in ("left", "right"):
        raise ValueError(f"side {side!r}; use 'left' or 'right'")
    ordered, values = an_array(x1), an_array(x2)
    if ordered.ndim != 1:
        raise ValueError(f"a sorted array of shape {ordered.shape}; use one dimension")
    if sorter is not None:
        ordered = ordered[an_array(sorter)]
    dtype = result_type(ordered, values)
    ordered, values = (one if one.dtype == dtype else one._cast(dtype) for one in (ordered, values))
    right = side == "right"
    if is_here(ordered):
        run = np.ascontiguousarray(ordered.local)
        return mapped(values, lambda some: sorting.search(run, some, right=right), np.int64)
    team, row = ordered.team, row_of(ordered)
    first = row.first(team.rank)

    def placed(some: Any) -> Any:
        return sorting.search(row.local, some, right=right) + first

    return mapped(values, lambda some: asked(team, row, some, placed, right=right), np.int64)


def digitize(x: Any, bins: Any, /, right: bool = False) -> Array:
    """Return between which bounds each element is; the bounds rise or fall."""
    values, bounds = an_array(x), an_array(bins)
    if values.dtype.kind == "c":
        raise TypeError("complex numbers are not between bounds; use real or imag")
    if bounds.ndim != 1:
        raise ValueError(f"bounds of shape {bounds.shape}; use one dimension")
    side = "left" if right else "right"
    if bool(all_of(bounds[1:] >= bounds[:-1])):
        return searchsorted(bounds, values, side)
    if bool(all_of(bounds[1:] <= bounds[:-1])):
        return bounds.size - searchsorted(bounds[::-1], values, side)
    raise ValueError("bounds that rise and fall; sort them")


def flatnonzero(a: Any, /) -> Array:
    """Return where elements are not zero, counted in C order."""
    flat = reshape(a, -1)
    positions, sizes = _positions(flat)
    return (
        from_here(positions, flat.team) if sizes is None else from_row(positions, sizes, flat.team)
    )


def argwhere(a: Any, /) -> Array:
    """Return where elements are not zero: one row of indices for each."""
    array = an_array(a)
    positions, sizes = _positions(reshape(array, -1))
    found = np.zeros((len(positions), array.ndim), np.int64)
    if array.ndim and array.size:
        np.stack(np.unravel_index(positions, array.shape), axis=1, out=found)
    return from_here(found, array.team) if sizes is None else from_row(found, sizes, array.team)


def _positions(flat: Array) -> tuple[Any, list[int] | None]:
    """Where a row is not zero on this rank, and how often on each; None where each has all."""
    if is_here(flat):
        return choosing.where_true(flat.local != 0), None
    row = row_of(flat)
    found = choosing.where_true(row.local != 0) + row.first(flat.team.rank)
    return found, flat.team.allgather_data(len(found))


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


def ediff1d(ary: Any, /, to_end: Any = None, to_begin: Any = None) -> Array:
    """Return the differences of neighbours in C order, with elements before and behind them."""
    flat = reshape(ary, -1)
    inner = flat[1:] - flat[:-1]
    parts = [*_extra(to_begin, flat.dtype), inner, *_extra(to_end, flat.dtype)]
    return inner if len(parts) == 1 else concat(parts)


def _extra(given: Any, dtype: np.dtype[Any]) -> list[Array]:
    """What is given to stand beside differences, as their type."""
    if given is None:
        return []
    extra = reshape(given, -1)
    if not np.can_cast(extra.dtype, dtype, "same_kind"):
        message = f"elements of {extra.dtype} among differences of {dtype}; convert them"
        raise TypeError(message)
    return [extra._cast(dtype)]


__all__ = ["argwhere", "digitize", "ediff1d", "flatnonzero", "searchsorted", "trim_zeros"]
