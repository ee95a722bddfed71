"""What is computed for each element alone."""

from __future__ import annotations

import builtins
import operator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from partita._array import enter
from partita._array.array import Array
from partita._functions import complex_order
from partita._functions.creation import an_array
from partita._functions.gathered import whole
from partita._functions.serving import served
from partita._partita import Elementwise, lazy_where

if TYPE_CHECKING:
    from collections.abc import Callable


def written(made: Array, out: Any, where: Any = True, *, casting: Any = "same_kind") -> Any:
    """A result, or where it is to be written, with it in there.

    Where a mask is false, an array to write to stays as it is, and a new one has zeros. Functions
    of each element refuse an array that cannot hold the result, and repeat it to a larger shape;
    reductions cast, as in NumPy.
    """
    if isinstance(out, tuple):
        (out,) = out
    mask = None if where is True else beside(where, made)
    if out is None:
        return made if mask is None else lazy_where(mask, made, made.dtype.type(0).item())
    if not isinstance(out, Array | np.ndarray):
        raise TypeError(f"out={out!r} is no array; use one, of partita or NumPy")
    if not np.can_cast(made.dtype, out.dtype, casting):
        message = f"a result of {made.dtype} for an array of {out.dtype}; use one that can hold it"
        raise TypeError(message)
    if made.shape != out.shape and not _is_repeated(made.shape, out.shape):
        _refuse_shape(made, out)
    if mask is not None and not _is_repeated(mask.shape, out.shape):
        _refuse_shape(mask, out)
    if isinstance(out, Array):
        if mask is not None:
            # In the type of the array: no other may hold the numbers of both.
            made = lazy_where(mask, made.astype(out.dtype, copy=False), out)
        out[...] = made
    else:
        kept: Any = True if mask is None else whole(mask, "out=")
        np.copyto(out, whole(made, "out="), where=kept, casting=casting)
    return out


def _is_repeated(shape: tuple[int, ...], wide: tuple[int, ...]) -> bool:
    """Whether an array of a shape can be repeated to another."""
    pairs = zip(shape[::-1], wide[::-1], strict=False)
    return len(shape) <= len(wide) and all(own in (1, size) for own, size in pairs)


def _refuse_shape(made: Array, out: Any) -> NoReturn:
    message = f"a result of shape {made.shape} for an array of shape {out.shape}"
    raise ValueError(f"{message}; use one of its shape")


def fitted_to(made: Array, out: Any, *, casting: Any = "same_kind") -> Any:
    """A result, or where it is to be written, which must have its very shape."""
    target = out[0] if isinstance(out, tuple) else out
    if isinstance(target, Array | np.ndarray) and target.shape != made.shape:
        _refuse_shape(made, target)
    return written(made, out, casting=casting)


def reduced_to(made: Array, out: Any) -> Any:
    """A reduction, or where it is to be written, in whatever type that has."""
    return fitted_to(made, out, casting="unsafe")


def beside(given: Any, anchor: Array) -> Array:
    """An array of what is given, on the ranks of another."""
    return given if isinstance(given, Array) else enter.from_numpy(np.array(given), anchor._rank)


def either(name: str) -> Callable[..., Any]:
    """The native maximum or minimum; of complex numbers, that of `complex_order`."""
    native, how = Elementwise(name), name[:3]

    def function(x1: Any, x2: Any, /) -> Any:
        try:
            return native(x1, x2)
        except TypeError:
            if "c" not in (_kind(x1), _kind(x2)):
                raise
        anchor = x2 if isinstance(x2, Array) else an_array(x1)
        a, b = (beside(one, anchor) for one in (x1, x2))
        # A number of Python takes the precision of the array.
        both = np.result_type(
            *(one if np.isscalar(one) else beside(one, a).dtype for one in (x1, x2))
        )
        return complex_order.either(how, a._cast(both), b._cast(both))

    return function


def _kind(operand: Any) -> str:
    return operand.dtype.kind if isinstance(operand, Array) else np.asarray(operand).dtype.kind


def _function(name: str, native: Any = None) -> Callable[..., Any]:
    """A native function with NumPy's `out=`, which may come by position, and `where=`."""
    n_operands = Elementwise(name).n_operands
    native = native or Elementwise(name)

    def function(*operands: Any, out: Any = None, where: Any = True) -> Any:
        if len(operands) == n_operands + 1:
            *operands, out = operands  # type: ignore[assignment]
        made = native(*operands)
        return made if out is None and where is True else written(made, out, where)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return {name} of each element."
    return function


abs = _function("abs")
acos = _function("acos")
acosh = _function("acosh")
add = _function("add")
asin = _function("asin")
asinh = _function("asinh")
atan = _function("atan")
atan2 = _function("atan2")
atanh = _function("atanh")
bitwise_and = _function("bitwise_and")
bitwise_invert = _function("bitwise_invert")
bitwise_left_shift = _function("bitwise_left_shift")
bitwise_or = _function("bitwise_or")
bitwise_right_shift = _function("bitwise_right_shift")
bitwise_xor = _function("bitwise_xor")
cbrt = _function("cbrt")
ceil = _function("ceil")
conj = _function("conj")
copysign = _function("copysign")
cos = _function("cos")
cosh = _function("cosh")
divide = _function("divide")
equal = _function("equal")
erf = _function("erf")
erfc = _function("erfc")
exp = _function("exp")
exp2 = _function("exp2")
expm1 = _function("expm1")
fabs = _function("fabs")
floor = _function("floor")
floor_divide = _function("floor_divide")
greater = _function("greater")
greater_equal = _function("greater_equal")
hypot = _function("hypot")
_imag = _function("imag")
isfinite = _function("isfinite")
isinf = _function("isinf")
isnan = _function("isnan")
less = _function("less")
less_equal = _function("less_equal")
log = _function("log")
log10 = _function("log10")
log1p = _function("log1p")
log2 = _function("log2")
logaddexp = _function("logaddexp")
logical_and = _function("logical_and")
logical_not = _function("logical_not")
logical_or = _function("logical_or")
logical_xor = _function("logical_xor")
maximum = _function("maximum", either("maximum"))
minimum = _function("minimum", either("minimum"))
multiply = _function("multiply")
negative = _function("negative")
nextafter = _function("nextafter")
not_equal = _function("not_equal")
pow = _function("pow")
_real = _function("real")
reciprocal = _function("reciprocal")
remainder = _function("remainder")
rint = _function("rint")
sign = _function("sign")
signbit = _function("signbit")
sin = _function("sin")
sinh = _function("sinh")
sqrt = _function("sqrt")
square = _function("square")
subtract = _function("subtract")
tan = _function("tan")
tanh = _function("tanh")
trunc = _function("trunc")

# Complex numbers of their parts.
of_parts = Elementwise("complex")
_nearest = Elementwise("round")


def positive(x: Any, /, out: Any = None, *, where: Any = True) -> Array:
    """Return each element as it is."""
    made: Array = written(+_of_numbers(an_array(x), "positive"), out, where)
    return made


def _of_numbers(array: Array, name: str) -> Array:
    if array.dtype == np.bool:
        raise TypeError(f"{name} of truth values, which have no sign; use astype or copy")
    return array


@served
def real(val: Any, out: Any = None) -> Any:
    """Return the real part of each element."""
    return _real(val, out=out)


@served
def imag(val: Any, out: Any = None) -> Any:
    """Return the imaginary part of each element."""
    return _imag(val, out=out)


def clip(
    a: Any,
    min: Any = None,
    max: Any = None,
    out: Any = None,
    *,
    a_min: Any = None,
    a_max: Any = None,
) -> Array:
    """Return each element, or the bound that it leaves, in the type that all have together."""
    min, max = (a_min if min is None else min), (a_max if max is None else max)
    array = an_array(a)
    low = None if _is_beyond(min, array.dtype, -1) else min
    high = None if _is_beyond(max, array.dtype, 1) else max
    made = _together(array, low, high)
    if low is not None:
        made = maximum(made, low)
    if high is not None:
        made = minimum(made, high)
    clipped: Array = written(
        +_of_numbers(array, "clip without bounds") if made is array else made, out
    )
    return clipped


def _together(array: Array, *bounds: Any) -> Array:
    """An array in the type that it has together with bounds; numbers of Python take its own."""
    kinds = [weak(one) for one in bounds if one is not None]
    dtype = np.result_type(array.dtype, *kinds)
    return array if dtype == array.dtype else array._cast(dtype)


def weak(operand: Any) -> Any:
    """What NumPy's promotion sees of an operand: a type, or a number that takes the others'."""
    if isinstance(operand, bool | int | float | complex) and not isinstance(operand, np.generic):
        return operand
    return operand.dtype if isinstance(operand, Array) else np.asarray(operand).dtype


def _is_beyond(bound: Any, dtype: np.dtype[Any], side: int) -> bool:
    """Whether a number of Python is a bound that no integer of a type leaves."""
    if dtype.kind not in "iu" or type(bound) is not int:
        return False
    limits = np.iinfo(dtype)
    return bound >= limits.max if side > 0 else bound <= limits.min


def _at_nan(both: Array, x1: Any, x2: Any) -> Array:
    """A result, or the other operand where one is not a number."""
    given = [beside(one, both)._cast(both.dtype) for one in (x1, x2)]
    for one, other in (given, given[::-1]):
        both = lazy_where(isnan(one), other, both)
    return both


def fmax(x1: Any, x2: Any, /, out: Any = None, *, where: Any = True) -> Array:
    """Return the larger of two elements; where one is not a number, the other."""
    made: Array = written(_at_nan(maximum(x1, x2), x1, x2), out, where)
    return made


def fmin(x1: Any, x2: Any, /, out: Any = None, *, where: Any = True) -> Array:
    """Return the smaller of two elements; where one is not a number, the other."""
    made: Array = written(_at_nan(minimum(x1, x2), x1, x2), out, where)
    return made


@served
def round(a: Any, decimals: int = 0, out: Any = None) -> Array:
    """Return each element rounded to so many decimals, halves to the even side."""
    made: Array = fitted_to(_rounded(an_array(a), operator.index(decimals)), out)
    return made


def _rounded(array: Array, decimals: int) -> Array:
    is_whole = array.dtype.kind in "iu"
    if decimals and array.dtype == np.bool:
        raise TypeError(f"truth values have no {decimals} decimals; use astype first")
    if decimals == 0 or (is_whole and decimals > 0):
        made: Array = _nearest(array._cast(np.float16) if array.dtype == np.bool else array)
        return made
    if array.dtype.kind == "c":
        parts = (_rounded(part, decimals) for part in (real(array), imag(array)))
        made = of_parts(*parts)
        return made
    # Text says it exactly, and says infinity where there is no such number.
    unit = float(f"1e{builtins.abs(decimals)}")
    scaled = array * unit if decimals > 0 else array / unit
    nearest = _nearest(scaled)
    made = nearest / unit if decimals > 0 else nearest * unit
    return made._cast(array.dtype) if is_whole else made


around = round


def set_parts(z: Array, real_part: Any = None, imaginary_part: Any = None) -> None:
    """Set the real or the imaginary parts of complex numbers, and leave the others."""
    parts = [real(z), imag(z)]
    for part, given in zip(parts, (real_part, imaginary_part), strict=True):
        if given is not None:
            part[...] = given
    z[...] = of_parts(*parts)


def isclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> Array:
    """Return whether elements of two arrays are nearly equal."""
    a, b = an_array(a), an_array(b)
    if b.dtype.kind not in "fc":
        # Differences of integers and truth values may have no such number.
        b = b._cast(np.float64)
    near: Array = (a == b) | (isfinite(b) & (abs(a - b) <= atol + rtol * abs(b)))
    if equal_nan:
        near = near | (isnan(a) & isnan(b))
    return near


def angle(z: Any, deg: bool = False) -> Array:
    """Return the argument of each complex number, in radians or in degrees."""
    array = an_array(z)
    is_complex = array.dtype.kind == "c"
    # The imaginary part of real numbers is a number of Python, which has no type of its own.
    made: Array = atan2(imag(array), real(array)) if is_complex else atan2(0, array)
    return made * (180 / np.pi) if deg else made


__all__ = [
    "abs",
    "acos",
    "acosh",
    "add",
    "angle",
    "around",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "clip",
    "conj",
    "copysign",
    "cos",
    "cosh",
    "divide",
    "equal",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "isclose",
    "isfinite",
    "isinf",
    "isnan",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "real",
    "reciprocal",
    "remainder",
    "rint",
    "round",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "trunc",
]
