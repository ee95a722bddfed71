"""Functions that answer with complex numbers where real ones would be NaN, by NumPy's names.

>>> import partita as pt
>>> print(pt.emath.sqrt([-1.0, 4.0]))
[0.+1.j 2.+0.j]

Which type the result has depends on the elements of all ranks: every call looks at them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from partita._array.array import Array
from partita._functions import elementwise, statistics
from partita._functions.creation import an_array
from partita._missing import no_attribute

# Of these the complex numbers are of single precision, as in NumPy.
_SMALL = ("int8", "uint8", "int16", "uint16", "float32")


def _widened(x: Any, is_outside: Callable[[Array], Array]) -> Array:
    """The numbers as complex ones, if one of them is outside of what has real results."""
    array = an_array(x)
    if array.dtype.kind == "c" or not statistics.any(is_outside(array)):
        return array
    is_small = array.dtype.name in _SMALL
    return array.astype(np.complex64 if is_small else np.complex128)


def _is_negative(array: Array) -> Array:
    return array < 0


def _is_beyond_one(array: Array) -> Array:
    made: Array = elementwise.abs(array) > 1
    return made


def sqrt(x: Any) -> Array:
    """Return the square roots, complex ones of negative numbers."""
    made: Array = elementwise.sqrt(_widened(x, _is_negative))
    return made


def log(x: Any) -> Array:
    """Return the natural logarithms, complex ones of negative numbers."""
    made: Array = elementwise.log(_widened(x, _is_negative))
    return made


def log2(x: Any) -> Array:
    """Return the logarithms to base 2, complex ones of negative numbers."""
    made: Array = elementwise.log2(_widened(x, _is_negative))
    return made


def log10(x: Any) -> Array:
    """Return the logarithms to base 10, complex ones of negative numbers."""
    made: Array = elementwise.log10(_widened(x, _is_negative))
    return made


def logn(n: Any, x: Any) -> Array:
    """Return the logarithms to any base, complex ones of negative numbers."""
    return log(x) / log(n)


def power(x: Any, p: Any) -> Array:
    """Return powers, complex ones of negative numbers, fractions for negative exponents."""
    exponents = an_array(p)
    if exponents.dtype.kind in "iu" and statistics.any(exponents < 0):
        exponents = exponents.astype(np.float64)
    made: Array = elementwise.pow(_widened(x, _is_negative), exponents)
    return made


def arccos(x: Any) -> Array:
    """Return the inverse cosines, complex ones beyond -1 and 1."""
    made: Array = elementwise.acos(_widened(x, _is_beyond_one))
    return made


def arcsin(x: Any) -> Array:
    """Return the inverse sines, complex ones beyond -1 and 1."""
    made: Array = elementwise.asin(_widened(x, _is_beyond_one))
    return made


def arctanh(x: Any) -> Array:
    """Return the inverse hyperbolic tangents, complex ones beyond -1 and 1."""
    made: Array = elementwise.atanh(_widened(x, _is_beyond_one))
    return made


def __getattr__(name: str) -> NoReturn:
    raise no_attribute("partita.emath", name, __all__)


__all__ = ["arccos", "arcsin", "arctanh", "log", "log10", "log2", "logn", "power", "sqrt"]
