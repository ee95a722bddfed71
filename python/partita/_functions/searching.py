"""Where elements are."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._array.array import Array
from partita._chosen.truth import where_true
from partita._functions.creation import an_array
from partita._functions.elementwise import beside
from partita._functions.serving import served
from partita._functions.statistics import _reduced
from partita._partita import lazy_where


@served
def argmax(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """Return the index of the first largest element."""
    return _reduced("argmax", a, _one_axis(axis), keepdims, out=out)


@served
def argmin(a: Any, axis: int | None = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """Return the index of the first smallest element."""
    return _reduced("argmin", a, _one_axis(axis), keepdims, out=out)


def _one_axis(axis: Any) -> Any:
    """An axis, or none: positions along several are no numbers."""
    if isinstance(axis, bool | tuple | list):
        raise TypeError(f"{axis!r} is no axis for positions; use an integer, or None")
    return axis


@served
def count_nonzero(a: Any, axis: Any = None, *, keepdims: bool = False) -> Array:
    """Return how many elements are not zero."""
    return _reduced("count_nonzero", a, axis, keepdims)


@served
def nonzero(a: Any) -> tuple[Array, ...]:
    """Return where elements are not zero: positions along each dimension."""
    array = an_array(a)
    if array.ndim == 0:
        raise ValueError("an array without dimensions has no positions; use reshape(1)")
    return tuple(where_true(array._cast(bool)))


@served
def where(condition: Any, x1: Any = None, x2: Any = None, /) -> Any:
    """Return `x1` where a condition holds, `x2` elsewhere; positions without them."""
    if x1 is None and x2 is None:
        return nonzero(condition)
    if x1 is None or x2 is None:
        raise ValueError("one choice for where; give both, or none for positions")
    if not isinstance(condition, Array):
        anchor = next((one for one in (x1, x2) if isinstance(one, Array)), None)
        condition = an_array(condition) if anchor is None else beside(condition, anchor)
    if not any(isinstance(one, Array | np.ndarray | np.generic) for one in (x1, x2)):
        x1 = an_array(x1)
    return lazy_where(condition, x1, x2)


__all__ = [
    "argmax",
    "argmin",
    "count_nonzero",
    "nonzero",
    "where",
]
