"""Windows by which signals are cut out."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from partita._functions import elementwise
from partita._functions.creation import arange, ones
from partita._functions.numbers import i0
from partita._functions.searching import where

if TYPE_CHECKING:
    from partita._array.array import Array


def _cosines(M: int, *weights: float) -> Array:
    """A sum of cosines, of which the first does not turn."""
    if M <= 1:
        return ones(max(M, 0))
    steps = arange(1 - M, M, 2, dtype=float)
    made: Array = steps * 0.0 + weights[0]
    for turns, weight in enumerate(weights[1:], start=1):
        made = made + weight * elementwise.cos(turns * math.pi * steps / (M - 1))
    return made


def hanning(M: int) -> Array:
    """Return a raised cosine of `M` numbers, 0 at its ends."""
    return _cosines(M, 0.5, 0.5)


def hamming(M: int) -> Array:
    """Return a raised cosine of `M` numbers, 0.08 at its ends."""
    return _cosines(M, 0.54, 0.46)


def blackman(M: int) -> Array:
    """Return a sum of two cosines of `M` numbers."""
    return _cosines(M, 0.42, 0.5, 0.08)


def bartlett(M: int) -> Array:
    """Return a triangle of `M` numbers."""
    if M <= 1:
        return ones(max(M, 0))
    steps = arange(1 - M, M, 2, dtype=float)
    made: Array = where(steps <= 0, 1 + steps / (M - 1), 1 - steps / (M - 1))
    return made


def kaiser(M: int, beta: float) -> Array:
    """Return Kaiser's window of `M` numbers, made of Bessel's function of order 0."""
    if M <= 1:
        return ones(max(M, 0))
    alpha = (M - 1) / 2.0
    apart = (arange(M) - alpha) / alpha
    made: Array = i0(beta * elementwise.sqrt(1 - apart * apart)) / float(i0(float(beta)))
    return made


__all__ = ["bartlett", "blackman", "hamming", "hanning", "kaiser"]
