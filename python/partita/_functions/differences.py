"""How far elements are from their neighbours."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions.creation import an_array, axis_of
from partita._functions.elementwise import beside, not_equal, subtract
from partita._functions.manipulation import broadcast_to, concat


def diff(x: Any, /, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """Return the differences of neighbours along an axis, `n` times over.

    >>> import partita as pt
    >>> print(pt.diff(pt.asarray([1, 4, 9, 16]), prepend=0))
    [1 3 5 7]
    """
    times = operator.index(n)
    if times < 0:
        raise ValueError(f"differences taken {times} times; use 0 or more")
    array = an_array(x)
    if times == 0:
        return array
    at = axis_of(axis, array.ndim)
    before, behind = (
        [_end(one, array, at)] if one is not None else [] for one in (prepend, append)
    )
    if before or behind:
        array = concat([*before, array, *behind], axis=at)
    outer = (slice(None),) * at
    minus = not_equal if array.dtype == np.bool else subtract
    for _ in range(times):
        array = minus(array[(*outer, slice(1, None))], array[(*outer, slice(None, -1))])
    return array


def _end(given: Any, array: Array, axis: int) -> Array:
    """What stands before or behind an array; a number stands there once."""
    end = beside(given, array)
    if end.ndim:
        return end
    return broadcast_to(end, [1 if dim == axis else n for dim, n in enumerate(array.shape)])


__all__ = ["diff"]
