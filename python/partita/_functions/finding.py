"""Places in sorted arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._algorithms.lookup import asked, is_brought
from partita._algorithms.rows import is_here, mapped, row_of
from partita._array.array import Array
from partita._array.parts import whole
from partita._functions.creation import an_array
from partita._functions.gathered import few
from partita._functions.statistics import all as all_of
from partita._functions.types import result_type
from partita._local import sorting
from partita._team.alike import digest


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Array:
    """Return where elements of `x2` belong in sorted `x1`: before equal ones, or after them.

    >>> import partita as pt
    >>> pt.searchsorted(pt.asarray([1, 3, 3]), pt.asarray([3]), side="right").tolist()
    [3]
    """
    if side not in ("left", "right"):
        raise ValueError(f"side {side!r}; use 'left' or 'right'")
    ordered, values = an_array(a), an_array(v)
    if ordered.ndim != 1:
        raise ValueError(f"a sorted array of shape {ordered.shape}; use one dimension")
    if sorter is not None:
        ordered = ordered[_order(sorter, ordered.size)]
    dtype = result_type(ordered, values)
    ordered, values = (one if one.dtype == dtype else one._cast(dtype) for one in (ordered, values))
    right = side == "right"
    if is_here(ordered):
        run = np.ascontiguousarray(ordered.local)
        if not is_here(values):
            values.team.say(f"searchsorted({digest(run)}, side={side!r})")
        return mapped(values, lambda some: sorting.search(run, some, right=right), np.int64)
    team = ordered.team
    team.say(f"searchsorted(side={side!r})")
    if is_brought(ordered, values):
        run = np.ascontiguousarray(whole(ordered))
        return mapped(values, lambda some: sorting.search(run, some, right=right), np.int64)
    row = row_of(ordered)

    def placed(run: Any, first: int, some: Any) -> Any:
        return sorting.search(run, some, right=right) + first

    return mapped(values, lambda some: asked(team, row, some, placed, right=right), np.int64)


def _order(sorter: Any, size: int) -> Array:
    """Positions that sort so many elements."""
    order = an_array(sorter)
    if order.ndim != 1 or order.dtype.kind not in "iu":
        message = f"a sorter of shape {order.shape} and type {order.dtype}; use what argsort makes"
        raise TypeError(message)
    if order.size != size:
        raise ValueError(f"a sorter of {order.size} positions for {size} elements; use as many")
    return order


def digitize(x: Any, bins: Any, right: bool = False) -> Array:
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
    # Where bounds are no numbers it depends on which are compared; NumPy's search knows that.
    known = few(bounds, "digitize")
    try:
        np.digitize(known[:0], known)
    except ValueError:
        raise ValueError("bounds that rise and fall; sort them") from None
    if not is_here(values):
        values.team.say(f"digitize({digest(known)}, right={bool(right)})")
    return mapped(values, lambda some: np.digitize(some, known, right), np.int64)


__all__ = ["digitize", "searchsorted"]
