"""Elements in order, and the positions that bring them there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._algorithms.lines import by_lines
from partita._algorithms.rows import from_row, row_of
from partita._algorithms.sample_sort import sorted_copy, sorted_row, sorting_positions
from partita._array.array import Array
from partita._array.parts import in_order
from partita._functions.creation import an_array, axis_of, empty, is_axis_of_number, ndim, zeros
from partita._functions.manipulation import concat, moveaxis, reshape, stack
from partita._functions.serving import served
from partita._local import sorting

if TYPE_CHECKING:
    from collections.abc import Sequence

_KINDS = (None, "quicksort", "mergesort", "heapsort", "stable")


@served
def sort(
    a: Any,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    descending: bool = False,
    stable: bool | None = True,
) -> Array:
    """Return the elements in order along an axis; of all in a row if it is None. NaN comes last.

    >>> import partita as pt
    >>> pt.sort(pt.asarray([3.0, pt.nan, 1.0])).tolist()
    [1.0, 3.0, nan]
    """
    _refuse_order(kind, order)
    array, at = _in_line(a, axis)
    if array.size == 0:
        return +array

    def by_value(block: Any) -> Any:
        made = sorted_copy(block)
        return made[..., ::-1] if descending else made

    made = by_lines(array, at, by_value, f"sort(descending={bool(descending)})")
    if made is not None:
        return made
    if array.ndim == 1:
        row = sorted_row(array.team, row_of(array), descending=descending)
        return from_row(row.local, row.sizes, array.team)
    return _line_by_line(array, at, lambda one: sort(one, descending=descending), array.dtype)


@served
def argsort(
    a: Any,
    axis: int | None = -1,
    kind: str | None = None,
    order: None = None,
    *,
    descending: bool = False,
    stable: bool | None = True,
) -> Array:
    """Return the positions that sort along an axis; those of equal elements stay in order."""
    _refuse_order(kind, order)
    if is_axis_of_number(axis, ndim(a)):
        axis = None
    array, at = _in_line(a, axis)
    if array.size == 0:
        return zeros(array.shape, np.int64, team=array.team)

    def by_position(block: Any) -> Any:
        return sorting.positions(np.ascontiguousarray(block), descending=descending)

    made = by_lines(array, at, by_position, f"argsort(descending={bool(descending)})")
    if made is not None:
        return made
    if array.ndim == 1:
        row = sorting_positions(array.team, row_of(array), descending=descending)
        return from_row(row.local, row.sizes, array.team)
    return _line_by_line(array, at, lambda one: argsort(one, descending=descending), np.int64)


def _refuse_order(kind: Any, order: Any) -> None:
    if kind not in _KINDS:
        raise ValueError(f"sorting of kind {kind!r}; use 'stable' or leave it out")
    if order is not None:
        raise ValueError(f"order={order!r} names fields; arrays of numbers have none, leave it out")


def _in_line(x: Any, axis: int | None) -> tuple[Array, int]:
    """An array and its axis, or all elements in a row."""
    array = an_array(x)
    if axis is None:
        return reshape(array, -1), 0
    return array, axis_of(axis, array.ndim)


def _line_by_line(array: Array, axis: int, function: Any, dtype: Any) -> Array:
    """What all ranks together make of one line after the other: there are but few."""
    lines = moveaxis(array, axis, -1)
    made = empty(lines.shape, dtype, team=array.team)
    for at in np.ndindex(*lines.shape[:-1]):
        made[at] = function(lines[at])
    return in_order(moveaxis(made, -1, axis))


def partition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
) -> Array:
    """Return the elements with the `kth` in its place; here all of them are in order."""
    _check_kth(a, kth, axis)
    return sort(a, axis, order=order)


def argpartition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: None = None
) -> Array:
    """Return positions that bring the `kth` element to its place; here they sort."""
    _check_kth(a, kth, axis)
    return argsort(a, axis, order=order)


def _check_kth(a: Any, kth: Any, axis: int | None) -> None:
    array = an_array(a)
    size = array.size if axis is None else array.shape[axis_of(axis, array.ndim)]
    for one in np.atleast_1d(kth).tolist():
        # Nothing is out of place in an array without elements, as NumPy sees it.
        if array.size and not -size <= one < size:
            raise ValueError(f"kth {one} of {size} elements; use one of them")


def sort_complex(a: Any) -> Array:
    """Return the elements as complex numbers, in order along the last axis."""
    made = sort(a)
    if made.dtype.kind == "c":
        return made
    # As in NumPy, which has it for integers of up to 16 bits alone.
    return made._cast(np.complex64 if made.dtype.char in "bhBH" else np.complex128)


def lexsort(keys: Any, axis: int = -1) -> Array:
    """Return the positions that sort by several keys, the last of which counts first."""
    given: Sequence[Array] = [an_array(one) for one in keys]
    if not given:
        raise TypeError("no keys to sort by; give one at least")
    if any(one.shape != given[0].shape for one in given):
        raise ValueError(f"keys of shapes {[one.shape for one in given]}; use one shape")
    if given[0].ndim == 0:
        # As in NumPy: keys that are numbers, such as those of a vector, sort one position.
        return zeros((), np.int64, team=given[0].team)
    at = axis_of(axis, given[0].ndim)
    if given[0].ndim > 1:
        lines = [moveaxis(one, at, -1) for one in given]
        return in_order(moveaxis(_lexsorted_lines(lines), -1, at))
    positions = argsort(given[0])
    for key in given[1:]:
        positions = positions[argsort(key[positions])]
    return positions


def _lexsorted_lines(lines: Sequence[Array]) -> Array:
    """As `lexsort` along the last axis of several; where lines are whole, on the ranks they are."""
    n_keys, shape = len(lines), lines[0].shape
    if 0 in shape:
        return zeros(shape, np.int64, team=lines[0].team)

    def by_keys(block: Any) -> Any:
        keys = np.moveaxis(block.reshape(*block.shape[:-1], n_keys, shape[-1]), -2, 0)
        return np.lexsort(keys, axis=-1).astype(np.int64)

    # In one type keys of integers and of floats would no longer be what they are.
    if len({one.dtype.kind for one in lines}) == 1:
        made = by_lines(concat(lines, axis=-1), len(shape) - 1, by_keys, "lexsort")
        if made is not None:
            return made
    found = [lexsort([one[at] for one in lines]) for at in np.ndindex(*shape[:-1])]
    return reshape(stack(found), shape)


__all__ = ["argpartition", "argsort", "lexsort", "partition", "sort", "sort_complex"]
