"""More functions of each element alone, made of the native ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions import elementwise, statistics
from partita._functions.creation import an_array, full
from partita._functions.elementwise import beside, isinf, isnan, written
from partita._functions.locally import each_element
from partita._functions.searching import where
from partita._functions.types import result_type


def pair(x1: Any, x2: Any, least: Any = None) -> tuple[Array, Array]:
    """Two operands as arrays of the type that they have together."""
    operands = [
        one if isinstance(one, bool | int | float | complex) else an_array(one) for one in (x1, x2)
    ]
    dtype = result_type(*operands, *([] if least is None else [least]))
    anchor = next((one for one in operands if isinstance(one, Array)), None)
    if anchor is None:
        a, b = (an_array(one) for one in operands)
    else:
        a, b = (
            one if isinstance(one, Array) else full((), one, dtype, team=anchor.team)
            for one in operands
        )
    return a.astype(dtype, copy=False), b.astype(dtype, copy=False)


def _float(x: Any) -> Array:
    """An array in the floating type that NumPy computes it in."""
    array = an_array(x)
    if array.dtype.kind in "fc":
        return array
    small = {1: np.float16, 2: np.float32}
    return array.astype(small.get(array.dtype.itemsize, np.float64))


def reciprocal(x: Any, /) -> Array:
    """Return one over each element; of integers without what comes behind the point."""
    array = an_array(x)
    if array.dtype.kind in "fc":
        inverse: Array = elementwise.reciprocal(array)
        return inverse
    if array.dtype == np.bool:
        array = array.astype(np.int8)
    with np.errstate(all="ignore"):
        of_zero = int(np.reciprocal(array.dtype.type(0)))
    is_one = (array == 1) | (array == -1) if array.dtype.kind == "i" else array == 1
    made: Array = where(is_one, array, 0)
    return where(array == 0, of_zero, made) if of_zero else made


def conj(x: Any, /) -> Array:
    """Return the complex conjugate of each element; truth values are small integers in NumPy."""
    array = an_array(x)
    made: Array = elementwise.conj(array.astype(np.int8) if array.dtype == np.bool else array)
    return made


def exp2(x: Any, /) -> Array:
    """Return 2 to the power of each element."""
    array = an_array(x)
    if array.dtype.kind == "c":
        # Each part alone: an infinity times a complex number has a part that is no number.
        parts = (one * math.log(2) for one in _parts(array))
        array, function = elementwise.of_parts(*parts), elementwise.exp
    else:
        function = elementwise.exp2
    made: Array = function(array)
    return made


def deg2rad(x: Any, /) -> Array:
    """Return radians of degrees."""
    array = _real(x)
    made: Array = array * array.dtype.type(math.pi / 180.0)
    return made


def rad2deg(x: Any, /) -> Array:
    """Return degrees of radians."""
    array = _real(x)
    made: Array = array * array.dtype.type(180.0 / math.pi)
    return made


def _real(x: Any) -> Array:
    array = _float(x)
    if array.dtype.kind == "c":
        raise TypeError(f"elements of {array.dtype}; use real numbers")
    return array


def float_power(x1: Any, x2: Any, /) -> Array:
    """Return powers in double precision at least."""
    a, b = pair(x1, x2, np.float64)
    made: Array = elementwise.pow(a, b)
    return made


def fmod(x1: Any, x2: Any, /) -> Array:
    """Return what a division leaves, with the sign of the dividend."""
    made: Array = each_element(np.fmod, x1, x2)
    return made


def divmod(x1: Any, x2: Any, /) -> tuple[Array, Array]:
    """Return the whole quotients and what is left."""
    return elementwise.floor_divide(x1, x2), elementwise.remainder(x1, x2)


def modf(x: Any, /) -> tuple[Array, Array]:
    """Return the parts behind and before the point, both with the sign of the number."""
    array = _real(x)
    before = elementwise.trunc(array)
    behind = where(isinf(array), full((), 0, array.dtype, team=array.team), array - before)
    return elementwise.copysign(behind, array), before


def frexp(x: Any, /) -> tuple[Array, Array]:
    """Return numbers from a half to one and the powers of two that they are times."""
    made: tuple[Array, Array] = each_element(np.frexp, x)
    return made


def ldexp(x1: Any, x2: Any, /) -> Array:
    """Return numbers times powers of two."""
    made: Array = each_element(np.ldexp, x1, x2)
    return made


def gcd(x1: Any, x2: Any, /) -> Array:
    """Return the greatest common divisor of two integers."""
    made: Array = each_element(np.gcd, x1, x2)
    return made


def lcm(x1: Any, x2: Any, /) -> Array:
    """Return the least common multiple of two integers."""
    made: Array = each_element(np.lcm, x1, x2)
    return made


def bitwise_count(x: Any, /) -> Array:
    """Return how many bits of each integer's absolute value are set."""
    made: Array = each_element(np.bitwise_count, x)
    return made


def _in_types_of(theirs: np.ufunc, *operands: Any) -> list[Array]:
    """Operands as arrays of the types that NumPy's function computes with."""
    given = [one if type(one) in (int, float, complex) else an_array(one) for one in operands]
    seen = [one.dtype if isinstance(one, Array) else type(one) for one in given]
    kinds = theirs.resolve_dtypes((*seen, *(None,) * theirs.nout))
    team = next((one.team for one in given if isinstance(one, Array)), None)
    return [
        one.astype(kind, copy=False) if isinstance(one, Array) else full((), one, kind, team=team)
        for one, kind in zip(given, kinds, strict=False)
    ]


def heaviside(x1: Any, x2: Any, /) -> Array:
    """Return 0 for negative numbers, 1 for positive ones, and `x2` for 0."""
    a, b = _in_types_of(np.heaviside, x1, x2)
    one = full((), 1, a.dtype, team=a.team)
    made: Array = where(isnan(a), a, where(a == 0, b, where(a < 0, one - one, one)))
    return made


def logaddexp2(x1: Any, x2: Any, /) -> Array:
    """Return the logarithm to base 2 of the sum of two powers of 2."""
    a, b = _in_types_of(np.logaddexp2, x1, x2)
    larger, distance = elementwise.maximum(a, b), elementwise.abs(a - b)
    scale = a.dtype.type(1 / math.log(2)).item()
    grown = larger + elementwise.log1p(elementwise.exp2(-distance)) * scale
    # Equal infinities have no distance.
    made: Array = where(a == b, a + 1, grown)
    return made


def spacing(x: Any, /) -> Array:
    """Return the distance to the next number further from 0."""
    made: Array = each_element(np.spacing, x)
    return made


def fix(x: Any, out: Any = None) -> Any:
    """Return each element without what is behind the point."""
    return written(elementwise.trunc(an_array(x)), out)


def sinc(x: Any) -> Array:
    """Return the sine of pi x divided by pi x, 1 at 0."""
    array = an_array(x)
    array = array if array.dtype.kind in "fc" else array.astype(np.float64)
    tiny = full((), np.finfo(array.dtype).eps, array.dtype, team=array.team)
    turned = where(array == 0, tiny, array) * array.dtype.type(math.pi)
    made: Array = elementwise.sin(turned) / turned
    return made


def i0(x: Any) -> Array:
    """Return the modified Bessel function of order 0."""
    made: Array = each_element(np.i0, x)
    return made


def isposinf(x: Any, out: Any = None) -> Any:
    """Return whether elements are infinite and positive."""
    array = _real(x) if an_array(x).dtype.kind == "c" else an_array(x)
    return written(isinf(array) & (array > 0), out)


def isneginf(x: Any, out: Any = None) -> Any:
    """Return whether elements are infinite and negative."""
    array = _real(x) if an_array(x).dtype.kind == "c" else an_array(x)
    return written(isinf(array) & (array < 0), out)


def isreal(x: Any) -> Array:
    """Return whether elements have no imaginary part."""
    made: Array = elementwise.imag(an_array(x)) == 0
    return made


def iscomplex(x: Any) -> Array:
    """Return whether elements have an imaginary part."""
    made: Array = elementwise.imag(an_array(x)) != 0
    return made


def real_if_close(a: Any, tol: float = 100) -> Array:
    """Return the real parts, if all imaginary ones are nearly 0."""
    array = an_array(a)
    if array.dtype.kind != "c":
        return array
    least = tol * np.finfo(array.dtype).eps if tol > 1 else tol
    if bool(statistics.all(elementwise.abs(elementwise.imag(array)) < least)):
        made: Array = elementwise.real(array)
        return made
    return array


def nan_to_num(
    x: Any, copy: bool = True, nan: Any = 0.0, posinf: Any = None, neginf: Any = None
) -> Array:
    """Return numbers for what is none, and finite ones for infinities."""
    array = an_array(x)
    made = array
    if array.dtype.kind == "c":
        parts = (nan_to_num(one, True, nan, posinf, neginf) for one in _parts(array))
        made = elementwise.of_parts(*parts)
    elif array.dtype.kind == "f":
        limits = np.finfo(array.dtype)
        most = limits.max if posinf is None else posinf
        least = limits.min if neginf is None else neginf
        for mask, number in (
            (isnan(array), nan),
            (isposinf(array), most),
            (isneginf(array), least),
        ):
            made = where(mask, beside(number, array).astype(array.dtype), made)
    if not copy and isinstance(x, Array):
        x[...] = made
        return x
    return +array if made is array else made


def _parts(array: Array) -> tuple[Array, Array]:
    return elementwise.real(array), elementwise.imag(array)


__all__ = [
    "fix",
    "i0",
    "iscomplex",
    "isneginf",
    "isposinf",
    "isreal",
    "nan_to_num",
    "real_if_close",
    "sinc",
]
