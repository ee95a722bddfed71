"""NumPy's universal functions as objects: called, and with reduce, accumulate, outer, at, reduceat.

>>> import partita as pt
>>> print(pt.multiply.outer(pt.arange(3), pt.arange(3)).sum(), pt.add.reduce(pt.arange(5)))
9 10
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._functions import accumulating, elementwise, numbers, statistics
from partita._functions.creation import an_array
from partita._functions.elementwise import written
from partita._functions.manipulation import reshape
from partita._functions.updating import update
from partita._partita import Elementwise

if TYPE_CHECKING:
    from collections.abc import Callable


class ufunc:
    """A function of each element alone, by the name and with the methods that NumPy's has."""

    __module__ = "partita"

    def __init__(
        self, name: str, function: Callable[..., Any], text: str | None, reduction: Any = None
    ) -> None:
        self._theirs: np.ufunc = getattr(np, name)
        self._function = function
        self._reduction = reduction
        self.__name__ = self.__qualname__ = name
        self.__doc__ = text
        self.nin, self.nout = self._theirs.nin, self._theirs.nout
        self.nargs, self.ntypes = self._theirs.nargs, self._theirs.ntypes
        self.types, self.identity = self._theirs.types, self._theirs.identity
        self.signature = None

    def __repr__(self) -> str:
        return f"<partita.ufunc {self.__name__!r}>"

    def __reduce__(self) -> str:
        return self.__name__

    def __call__(self, *operands: Any, **options: Any) -> Any:
        """Return the function of each element; options as NumPy has them."""
        if not options and len(operands) == self.nin:
            return self._function(*operands)
        return self._with(operands, **options)

    def _with(
        self,
        operands: tuple[Any, ...],
        *,
        out: Any = None,
        where: Any = True,
        dtype: Any = None,
        casting: Any = "same_kind",
        order: Any = "K",
        subok: bool = True,
    ) -> Any:
        """The function with its results in other arrays, at some places, in another type."""
        operands, targets = self._divided(operands, out)
        if dtype is not None or casting != "same_kind":
            operands = self._cast(operands, dtype, casting)
        made = self._function(*operands)
        results = made if self.nout > 1 else (made,)
        pairs = zip(results, targets, strict=True)
        found = tuple(written(one, target, where) for one, target in pairs)
        return found if self.nout > 1 else found[0]

    def _divided(self, given: tuple[Any, ...], out: Any) -> tuple[tuple[Any, ...], list[Any]]:
        """Operands, and where each result goes, which may be said by position."""
        operands, extra = given[: self.nin], given[self.nin :]
        if len(operands) < self.nin or len(extra) > self.nout:
            most = f"{self.nin} operands" + (f" and {self.nout} more to write to")
            raise TypeError(f"{self.__name__} of {len(given)} arguments; give {most}")
        if extra and out is not None:
            raise TypeError(f"{self.__name__} with out= by position and by name; give it once")
        targets = list(extra) if extra else list(out) if isinstance(out, tuple) else [out]
        if len(targets) > self.nout:
            raise ValueError(f"{len(targets)} arrays for {self.nout} results; give as many")
        return operands, targets + [None] * (self.nout - len(targets))

    def _cast(self, operands: tuple[Any, ...], dtype: Any, casting: Any) -> tuple[Any, ...]:
        """Operands in the types that NumPy would compute with."""
        given = [_kind(one) for one in operands]
        wanted = (None,) * self.nin + (None if dtype is None else np.dtype(dtype),) * self.nout
        kinds = self._theirs.resolve_dtypes(
            (*given, *(None,) * self.nout), signature=wanted, casting=casting
        )
        pairs = zip(operands, kinds, strict=False)
        return tuple(an_array(one).astype(kind, copy=False) for one, kind in pairs)

    def _binary(self, method: str) -> None:
        if self.nin != 2 or self.nout != 1:
            raise ValueError(f"{self.__name__}.{method}: only functions of two operands have it")

    def reduce(
        self,
        array: Any,
        axis: Any = 0,
        dtype: Any = None,
        out: Any = None,
        keepdims: bool = False,
        initial: Any = None,
        where: Any = True,
    ) -> Any:
        """Return all elements along axes put together."""
        self._binary("reduce")
        if initial is np._NoValue:
            initial = None
        given = an_array(array)
        if self._reduction is not None:
            return self._reduction(given, axis, dtype, out, keepdims, initial, where)
        if initial is not None or where is not True:
            raise TypeError(
                f"{self.__name__}.reduce takes no initial= or where= here; leave them out"
            )
        made = accumulating.reduced(self, _typed(given, dtype), axis, keepdims)
        return written(made, out)

    def accumulate(self, array: Any, axis: int = 0, dtype: Any = None, out: Any = None) -> Any:
        """Return what the elements so far put together are, along an axis."""
        self._binary("accumulate")
        given = _typed(an_array(array), dtype)
        return written(accumulating.running(self, given, axis), out)

    def reduceat(
        self, array: Any, indices: Any, axis: int = 0, dtype: Any = None, out: Any = None
    ) -> Any:
        """Return the elements from each position to the next put together."""
        self._binary("reduceat")
        given = _typed(an_array(array), dtype)
        return written(accumulating.in_ranges(self, given, indices, axis), out)

    def outer(self, A: Any, B: Any, /, **options: Any) -> Any:
        """Return the function of every element of one array with every one of another."""
        self._binary("outer")
        first, second = an_array(A), an_array(B)
        wide = reshape(first, first.shape + (1,) * second.ndim)
        return self(wide, second, **options)

    def at(self, a: Any, indices: Any, b: Any = None, /) -> None:
        """Change elements at positions in place; one that is named twice is changed twice."""
        if (self.nin == 2) != (b is not None):
            raise ValueError(f"{self.__name__}.at with {self.nin} operands; give as many")
        update(self._theirs, a, indices, b)


def _kind(operand: Any) -> Any:
    """What NumPy's rules for types see of an operand."""
    if type(operand) in (int, float, complex):
        return type(operand)
    return operand.dtype if isinstance(operand, Array) else np.asarray(operand).dtype


def _typed(array: Array, dtype: Any) -> Array:
    return array if dtype is None else array.astype(dtype, copy=False)


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    """A reduction by another order of arguments, without a type."""

    def reduction(x: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, *rest: Any) -> Any:
        return function(_typed(x, dtype), axis, out, keepdims, *rest)

    return reduction


def _truth(function: Callable[..., Any]) -> Callable[..., Any]:
    def reduction(
        x: Any, axis: Any, dtype: Any, out: Any, keepdims: bool, initial: Any, where: Any
    ) -> Any:
        made = function(x, axis, None, keepdims, where=where)
        if initial is not None:
            both = {"any": elementwise.logical_or, "all": elementwise.logical_and}
            made = both[function.__name__](made, initial)
        return written(made, out)

    return reduction


_REDUCTIONS: dict[str, Any] = {
    "add": statistics.sum,
    "multiply": statistics.prod,
    "minimum": _extreme(statistics.min),
    "maximum": _extreme(statistics.max),
    "logical_and": _truth(statistics.all),
    "logical_or": _truth(statistics.any),
}


def _native(name: str, called: str | None = None) -> ufunc:
    """The native function of a name, by that name or by another of NumPy's."""
    described = getattr(elementwise, name).__doc__
    return ufunc(called or name, Elementwise(name), described, _REDUCTIONS.get(name))


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
conj = _native("conj")
copysign = _native("copysign")
cos = _native("cos")
cosh = _native("cosh")
divide = _native("divide")
equal = _native("equal")
exp = _native("exp")
exp2 = _native("exp2")
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
reciprocal = _native("reciprocal")
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
