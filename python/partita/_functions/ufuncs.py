"""NumPy's universal functions as objects, by name."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita._functions import elementwise, numbers, statistics
from partita._functions.elementwise import reduced_to
from partita._functions.ufunc import typed, ufunc
from partita._partita import Elementwise

if TYPE_CHECKING:
    from collections.abc import Callable


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction by another order of arguments, without a type."""

    def reduction(x: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, *rest: Any) -> Any:
        return function(typed(x, dtype), axis, out, keepdims, *rest)

    return reduction


def _truth(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduction(
        x: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any, where: Any
    ) -> Any:
        made = function(x, axis, None, keepdims, where=where)
        if initial is not None:
            both = {"any": elementwise.logical_or, "all": elementwise.logical_and}
            made = both[function.__name__](made, initial)
        return reduced_to(made, out)

    return reduction


_REDUCTIONS: dict[str, Any] = {
    "add": statistics.sum,
    "multiply": statistics.prod,
    "minimum": _extreme(statistics.min),
    "maximum": _extreme(statistics.max),
    "logical_and": _truth(statistics.all),
    "logical_or": _truth(statistics.any),
}


# Functions that complex numbers need another way for.
_EITHER = ("maximum", "minimum")


def _native(name: str, called: str | None = None) -> ufunc:
    """The native function of a name, by that name or by another of NumPy's."""
    described = getattr(elementwise, name).__doc__
    native = elementwise.either(name) if name in _EITHER else Elementwise(name)
    return ufunc(called or name, native, described, _REDUCTIONS.get(name))


def _made(name: str, function: Callable[..., Any]) -> ufunc:
    """A function of Python by one of NumPy's names."""
    return ufunc(name, function, function.__doc__)


abs = _native("abs")
acos = _native("acos")
acosh = _native("acosh")
add = _native("add")
asin = _native("asin")
asinh = _native("asinh")
atan = _native("atan")
atan2 = _native("atan2")
atanh = _native("atanh")
bitwise_and = _native("bitwise_and")
bitwise_invert = _native("bitwise_invert")
bitwise_left_shift = _native("bitwise_left_shift")
bitwise_or = _native("bitwise_or")
bitwise_right_shift = _native("bitwise_right_shift")
bitwise_xor = _native("bitwise_xor")
cbrt = _native("cbrt")
ceil = _native("ceil")
conj = _made("conj", numbers.conj)
copysign = _native("copysign")
cos = _native("cos")
cosh = _native("cosh")
divide = _native("divide")
equal = _native("equal")
exp = _native("exp")
exp2 = _made("exp2", numbers.exp2)
expm1 = _native("expm1")
fabs = _native("fabs")
floor = _native("floor")
floor_divide = _native("floor_divide")
greater = _native("greater")
greater_equal = _native("greater_equal")
hypot = _native("hypot")
isfinite = _native("isfinite")
isinf = _native("isinf")
isnan = _native("isnan")
less = _native("less")
less_equal = _native("less_equal")
log = _native("log")
log10 = _native("log10")
log1p = _native("log1p")
log2 = _native("log2")
logaddexp = _native("logaddexp")
logical_and = _native("logical_and")
logical_not = _native("logical_not")
logical_or = _native("logical_or")
logical_xor = _native("logical_xor")
maximum = _native("maximum")
minimum = _native("minimum")
multiply = _native("multiply")
negative = _native("negative")
nextafter = _native("nextafter")
not_equal = _native("not_equal")
pow = _native("pow")
reciprocal = _made("reciprocal", numbers.reciprocal)
remainder = _native("remainder")
rint = _native("rint")
sign = _native("sign")
signbit = _native("signbit")
sin = _native("sin")
sinh = _native("sinh")
sqrt = _native("sqrt")
square = _native("square")
subtract = _native("subtract")
tan = _native("tan")
tanh = _native("tanh")
trunc = _native("trunc")

# Names that NumPy has beside those.
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
invert = bitwise_invert
left_shift = bitwise_left_shift
mod = remainder
power = pow
right_shift = bitwise_right_shift
true_divide = divide

# What is made of others.
deg2rad = _made("deg2rad", numbers.deg2rad)
divmod = _made("divmod", numbers.divmod)
float_power = _made("float_power", numbers.float_power)
fmax = _made("fmax", elementwise.fmax)
fmin = _made("fmin", elementwise.fmin)
fmod = _made("fmod", numbers.fmod)
frexp = _made("frexp", numbers.frexp)
gcd = _made("gcd", numbers.gcd)
heaviside = _made("heaviside", numbers.heaviside)
lcm = _made("lcm", numbers.lcm)
ldexp = _made("ldexp", numbers.ldexp)
logaddexp2 = _made("logaddexp2", numbers.logaddexp2)
modf = _made("modf", numbers.modf)
positive = _made("positive", elementwise.positive)
rad2deg = _made("rad2deg", numbers.rad2deg)
spacing = _made("spacing", numbers.spacing)
bitwise_count = _made("bitwise_count", numbers.bitwise_count)
degrees = _made("degrees", numbers.rad2deg)
radians = _made("radians", numbers.deg2rad)


__all__ = [
    "abs",
    "absolute",
    "acos",
    "acosh",
    "add",
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
    "bitwise_count",
    "bitwise_invert",
    "bitwise_left_shift",
    "bitwise_not",
    "bitwise_or",
    "bitwise_right_shift",
    "bitwise_xor",
    "cbrt",
    "ceil",
    "conj",
    "conjugate",
    "copysign",
    "cos",
    "cosh",
    "deg2rad",
    "degrees",
    "divide",
    "divmod",
    "equal",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "float_power",
    "floor",
    "floor_divide",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "gcd",
    "greater",
    "greater_equal",
    "heaviside",
    "hypot",
    "invert",
    "isfinite",
    "isinf",
    "isnan",
    "lcm",
    "ldexp",
    "left_shift",
    "less",
    "less_equal",
    "log",
    "log10",
    "log1p",
    "log2",
    "logaddexp",
    "logaddexp2",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "mod",
    "modf",
    "multiply",
    "negative",
    "nextafter",
    "not_equal",
    "positive",
    "pow",
    "power",
    "rad2deg",
    "radians",
    "reciprocal",
    "remainder",
    "right_shift",
    "rint",
    "sign",
    "signbit",
    "sin",
    "sinh",
    "spacing",
    "sqrt",
    "square",
    "subtract",
    "tan",
    "tanh",
    "true_divide",
    "trunc",
    "ufunc",
]
