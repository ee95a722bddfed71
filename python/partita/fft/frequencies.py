"""What the entries of a transform belong to, and their order."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions.creation import an_array, arange, axes_of
from partita._functions.manipulation import roll
from partita._functions.searching import where


def fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, **at: Any) -> Array:
    """Return the frequencies of `fft`'s entries, for samples `d` apart; the negative ones last.

    >>> import partita as pt
    >>> pt.fft.fftfreq(4).tolist()
    [0.0, 0.25, -0.5, -0.25]
    """
    number = _count(n)
    place = arange(number, dtype=np.int64, device=device, **at)
    return _in_type(where(place < (number + 1) // 2, place, place - number), number * d, dtype)


def rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None, **at: Any) -> Array:
    """Return the frequencies of `rfft`'s entries, for samples `d` apart."""
    number = _count(n)
    return _in_type(arange(number // 2 + 1, dtype=np.int64, device=device, **at), number * d, dtype)


def _count(n: Any) -> int:
    try:
        number = operator.index(n)
    except TypeError:
        raise ValueError(f"{n!r} samples; use an integer") from None
    if number < 1:
        raise ValueError(f"{number} samples; use 1 or more")
    return number


def _in_type(place: Array, length: float, dtype: Any) -> Array:
    made = place * (1.0 / length)
    return made if dtype is None or made.dtype == np.dtype(dtype) else made._cast(dtype)


def fftshift(x: Any, axes: Any = None) -> Array:
    """Return a transform with frequency 0 in the middle of its axes."""
    return _shifted(x, axes, 1)


def ifftshift(x: Any, axes: Any = None) -> Array:
    """Return a transform with frequency 0 first again."""
    return _shifted(x, axes, -1)


def _shifted(x: Any, axes: Any, direction: int) -> Array:
    array = an_array(x)
    along = range(array.ndim) if axes is None else axes_of(axes, array.ndim)
    steps = tuple(direction * (array.shape[at] // 2) for at in along)
    return roll(array, steps, axis=tuple(along)) if steps else array.copy()
