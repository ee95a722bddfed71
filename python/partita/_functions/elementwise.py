"""What is computed for each element alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita._array import enter
from partita._array.array import Array
from partita._partita import Elementwise

if TYPE_CHECKING:
    from collections.abc import Callable

# Names of the Array API, and those NumPy has besides.
_NAMES = """
    abs acos acosh add asin asinh atan atan2 atanh bitwise_and bitwise_invert bitwise_left_shift
    bitwise_or bitwise_right_shift bitwise_xor cbrt ceil conj copysign cos cosh divide equal erf
    erfc exp exp2 expm1 floor floor_divide greater greater_equal hypot imag isfinite isinf isnan
    less less_equal log log10 log1p log2 logaddexp logical_and logical_not logical_or logical_xor
    maximum minimum multiply negative nextafter not_equal pow real reciprocal remainder round sign
    signbit sin sinh sqrt square subtract tan tanh trunc
""".split()
_ALIASES = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctan2": "atan2",
    "arctanh": "atanh",
    "bitwise_not": "bitwise_invert",
    "conjugate": "conj",
    "fabs": "abs",
    "invert": "bitwise_invert",
    "left_shift": "bitwise_left_shift",
    "mod": "remainder",
    "power": "pow",
    "right_shift": "bitwise_right_shift",
    "true_divide": "divide",
}


def _with_out(native: Elementwise, name: str) -> Callable[..., Any]:
    """The function with NumPy's `out=`, which may come by position."""
    n_operands = native.n_operands

    def function(*operands: Any, out: Array | None = None) -> Any:
        if len(operands) > n_operands:
            *operands, out = operands  # type: ignore[assignment]
        made = native(*operands)
        if out is None:
            return made
        out[...] = made
        return out

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Return {name} of each element."
    return function


FUNCTIONS: dict[str, Callable[..., Any]] = {
    name: _with_out(Elementwise(name), name) for name in _NAMES
}
FUNCTIONS |= {alias: FUNCTIONS[name] for alias, name in _ALIASES.items()}


def positive(x: Any, /) -> Array:
    """Return each element as it is."""
    made: Array = +_an_array(x)
    return made


def _an_array(x: Any) -> Array:
    if isinstance(x, Array):
        return x
    from partita._functions.creation import asarray

    return asarray(x)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Array:
    """Return each element, or the bound that it leaves."""
    array = _an_array(x)
    made = +array
    if min is not None:
        made = FUNCTIONS["maximum"](made, _bound(min, array))
    if max is not None:
        made = FUNCTIONS["minimum"](made, _bound(max, array))
    return made if made.dtype == array.dtype else made._cast(array.dtype)


def _bound(bound: Any, array: Array) -> Any:
    """A bound in the type of what it bounds."""
    made = enter.operand(bound, array._rank) if not isinstance(bound, Array) else bound
    return made._cast(array.dtype) if isinstance(made, Array) else made


def angle(z: Any, /) -> Array:
    """Return the argument of each complex number."""
    made: Array = FUNCTIONS["atan2"](FUNCTIONS["imag"](z), FUNCTIONS["real"](z))
    return made
