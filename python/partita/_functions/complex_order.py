"""Complex numbers in NumPy's order: by their real parts, then by their imaginary parts.

>>> import partita as pt
>>> z = pt.asarray([1 + 2j, 1 + 3j, 9j])
>>> print(pt.max(z), pt.argmin(z))
(1+3j) 2

An extreme over numbers of which one is not a number has two parts that are none; NumPy gives the
first of those numbers.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions.creation import full
from partita._partita import Elementwise, lazy_where

_real, _imag, _isnan = Elementwise("real"), Elementwise("imag"), Elementwise("isnan")
_of_parts = Elementwise("complex")
# What no number is beyond, in the direction that is looked for.
_LAST = {"max": -np.inf, "min": np.inf}


def either(how: str, a: Array, b: Array) -> Array:
    """The larger or the smaller of two elements; where one is not a number, that one."""
    ahead, level = _comparison(how, a, b)
    return lazy_where(_isnan(a) | ahead | level, a, b)


def _comparison(how: str, a: Array, b: Array) -> tuple[Array, Array]:
    """Where elements come first by their real parts, and where by their imaginary parts."""
    real, other = _real(a), _real(b)
    imag, beside = _imag(a), _imag(b)
    ahead = real > other if how == "max" else real < other
    level = imag >= beside if how == "max" else imag <= beside
    return ahead & ~_isnan(imag) & ~_isnan(beside), (real == other) & level


def extreme(how: str, array: Array, axis: Any, *, keepdims: bool) -> Array:
    """The largest or the smallest element over axes. Two passes over the elements."""
    keepdims = bool(keepdims)
    real, imag, is_nan = _extreme_parts(how, array, axis, keepdims=keepdims)
    nan = full((), np.nan, real.dtype, team=array.team)
    made: Array = _of_parts(lazy_where(is_nan, nan, real), lazy_where(is_nan, nan, imag))
    return made


def place(how: str, array: Array, axis: Any, *, keepdims: bool) -> Array:
    """Where the first largest or smallest element is, or the first that is not a number."""
    real, imag, is_nan = _extreme_parts(how.removeprefix("arg"), array, axis, keepdims=True)
    found = (_real(array) == real) & (_imag(array) == imag)
    sought = lazy_where(is_nan, _isnan(array), found)
    return sought._cast(np.int8)._reduce("argmax", axis, bool(keepdims), None, 0.0)


def _extreme_parts(
    how: str, array: Array, axis: Any, *, keepdims: bool
) -> tuple[Array, Array, Array]:
    """Both parts of an extreme, and whether it is not a number."""
    nan, real = _isnan(array), _real(array)
    last = full((), _LAST[how], real.dtype, team=array.team)
    best = lazy_where(nan, last, real)._reduce(how, axis, True, None, 0.0)
    among = lazy_where((real == best) & ~nan, _imag(array), last)
    second = among._reduce(how, axis, keepdims, None, 0.0)
    if not keepdims:
        best = best.reshape(second.shape)
    return best, second, nan._reduce("any", axis, keepdims, None, 0.0)
