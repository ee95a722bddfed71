"""Reading arguments: what is no number, no team or no layout is refused by its name.

>>> integers([3, -1], "axis")
(3, -1)
"""

from __future__ import annotations

from collections.abc import Iterable
from math import isfinite
from numbers import Real
from typing import Any

from partita._errors import LayoutError

# More than any size or rank; Python itself refuses to write much longer numbers.
_MOST_BITS = 1024


def shown(value: Any) -> str:
    """A value for a message; its own code may raise, and a very long number has no text."""
    try:
        return repr(value)
    except Exception:
        return f"a {type(value).__name__} that cannot be shown"


def integer(value: Any, what: str) -> int:
    """A whole number; True and False are answers, not numbers."""
    try:
        if isinstance(value, bool):
            raise TypeError
        number = int(value.__index__())
    except (AttributeError, TypeError):
        message = f"{what} {shown(value)} is no integer; use one"
        raise LayoutError(message, f"{what}-not-integer") from None
    if number.bit_length() > _MOST_BITS:
        message = f"{what} has {number.bit_length()} bits; use a number of at most {_MOST_BITS}"
        raise LayoutError(message, f"{what}-too-long")
    return number


def natural(value: Any, what: str) -> int:
    """A whole number of at least 0."""
    number = integer(value, what)
    if number < 0:
        raise LayoutError(f"{what} {number} is negative; use 0 or more", f"{what}-negative")
    return number


def is_listed(values: Any) -> bool:
    """Whether something lists things; text does not, though Python goes through it."""
    return isinstance(values, Iterable) and not isinstance(values, str | bytes)


def integers(values: Any, what: str) -> tuple[int, ...]:
    """Whole numbers, from whatever lists them."""
    if not is_listed(values):
        message = f"{what} {shown(values)} is no list of integers; use one, such as [0, 1]"
        raise LayoutError(message, f"{what}-not-integer")
    return tuple(integer(value, what) for value in values)


def real(value: Any, what: str) -> float:
    """A finite number."""
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if not is_number or not isfinite(value):
        message = f"{what} {shown(value)} is no finite number; use one"
        raise LayoutError(message, f"{what}-not-number")
    return float(value)


def flag(value: Any, what: str) -> bool:
    """A yes or no: True, False, or what NumPy and old code use for them."""
    # An array of several values has no truth; it is no single flag either.
    if getattr(value, "shape", ()) == () and not isinstance(value, str | bytes | float):
        for answer in (True, False):
            if value == answer:
                return answer
    raise LayoutError(f"{what} {shown(value)} is no flag; use True or False", f"{what}-not-flag")


def flags(values: Any, what: str) -> tuple[bool, ...]:
    """Several of them."""
    if not is_listed(values):
        message = f"{what} {shown(values)} is no list of flags; use one, such as [True, False]"
        raise LayoutError(message, f"{what}-not-flag")
    return tuple(flag(value, what) for value in values)


def checked_axes(values: Any, ndim: int) -> tuple[int, ...]:
    """Axes counted from 0; negative ones count from the end, none comes twice."""
    found: list[int] = []
    for axis in integers(values, "axis"):
        if not -ndim <= axis < ndim:
            message = f"axis {axis} of {ndim}; use one from {-ndim} to {ndim - 1}"
            raise LayoutError(message, "axis-unknown")
        if axis % ndim in found:
            raise LayoutError(f"axis {axis} is named twice; name it once", "axis-twice")
        found.append(axis % ndim)
    return tuple(found)
