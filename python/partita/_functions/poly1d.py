"""Polynomials as objects: NumPy's class, which arrays of partita can be given to."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions.differences import polyval
from partita._functions.gathered import few


class poly1d(np.poly1d):
    """A polynomial of one variable, by its coefficients or, with `r=True`, its zeros.

    Coefficients are few: every rank knows them, as NumPy's arrays. Called with an array it gives
    the values at its elements, where these are.

    >>> import partita as pt
    >>> print(pt.poly1d([1, 0, -1])(pt.arange(4)))
    [-1  0  3  8]
    """

    __hash__ = None

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        super().__init__(_known(c_or_r), r, variable)

    def __call__(self, val: Any) -> Any:
        """Return the value at a number, at all elements of an array, or of a polynomial."""
        made = polyval(self.coeffs, val) if isinstance(val, Array) else super().__call__(val)
        return _ours(made)


def _known(given: Any) -> Any:
    return few(given, "poly1d") if isinstance(given, Array) else given


def _ours(made: Any) -> Any:
    """Polynomials of NumPy as ours; tuples of them, too."""
    if isinstance(made, tuple):
        return tuple(_ours(one) for one in made)
    is_theirs = isinstance(made, np.poly1d) and not isinstance(made, poly1d)
    return poly1d(made) if is_theirs else made


def _of_ours(name: str) -> Any:
    """NumPy's method, with results that are ours."""
    theirs = getattr(np.poly1d, name)

    def method(self: poly1d, *args: Any, **options: Any) -> Any:
        return _ours(theirs(self, *map(_known, args), **options))

    method.__name__, method.__doc__ = name, theirs.__doc__ or f"As NumPy's `poly1d.{name}`."
    return method


for _name in (
    *("__neg__", "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__pow__"),
    *("__truediv__", "__rtruediv__", "deriv", "integ"),
):
    setattr(poly1d, _name, _of_ours(_name))

__all__ = ["poly1d"]
