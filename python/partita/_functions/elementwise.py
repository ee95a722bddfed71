"""What is computed for each element alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita._array import enter
from partita._array.array import Array
from partita._functions.creation import an_array
from partita._partita import Elementwise

if TYPE_CHECKING:
    from collections.abc import Callable


def written(made: Array, out: Array | None) -> Array:
    """A result, or where it is to be written, with it in there."""
    if out is None:
        return made
    out[...] = made
    return out


def _function(name: str) -> Callable[..., Any]:
    """A native function with NumPy's `out=`, which may come by position."""
    native = Elementwise(name)
    n_operands = native.n_operands

    def function(*operands: Any, out: Array | None = None) -> Any:
        if len(operands) > n_operands:
            *operands, out = operands  # type: ignore[assignment]
        return written(native(*operands), out)

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
floor = _function("floor")
floor_divide = _function("floor_divide")
greater = _function("greater")
greater_equal = _function("greater_equal")
hypot = _function("hypot")
imag = _function("imag")
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
maximum = _function("maximum")
minimum = _function("minimum")
multiply = _function("multiply")
negative = _function("negative")
nextafter = _function("nextafter")
not_equal = _function("not_equal")
pow = _function("pow")
real = _function("real")
reciprocal = _function("reciprocal")
remainder = _function("remainder")
round = _function("round")
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

# NumPy's names.
absolute = abs
arccos = acos
arccosh = acosh
arcsin = asin
arcsinh = asinh
arctan = atan
arctan2 = atan2
arctanh = atanh
bitwise_not = bitwise_invert
conjugate = conj
fabs = abs
invert = bitwise_invert
left_shift = bitwise_left_shift
mod = remainder
power = pow
right_shift = bitwise_right_shift
true_divide = divide


def positive(x: Any, /) -> Array:
    """Return each element as it is."""
    made: Array = +an_array(x)
    return made


def clip(x: Any, /, min: Any = None, max: Any = None) -> Array:
    """Return each element, or the bound that it leaves."""
    array = an_array(x)
    made = +array
    if min is not None:
        made = maximum(made, _bound(min, array))
    if max is not None:
        made = minimum(made, _bound(max, array))
    return made if made.dtype == array.dtype else made._cast(array.dtype)


def _bound(bound: Any, array: Array) -> Any:
    """A bound in the type of what it bounds."""
    made = enter.operand(bound, array._rank) if not isinstance(bound, Array) else bound
    return made._cast(array.dtype) if isinstance(made, Array) else made


def angle(z: Any, /) -> Array:
    """Return the argument of each complex number."""
    made: Array = atan2(imag(z), real(z))
    return made


__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
    "angle",
    "arccos",
    "arccosh",
    "arcsin",
    "arcsinh",
    "arctan",
    "arctan2",
    "arctanh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "bitwise_and",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "clip",
    "conj",
    "conjugate",
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
    "greater",
    "greater_equal",
    "hypot",
    "imag",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "left_shift",
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
    "mod",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "power",
    "real",
    "reciprocal",
    "remainder",
    "right_shift",
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
    "true_divide",
    "trunc",
]
