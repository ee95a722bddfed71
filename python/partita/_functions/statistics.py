"""Sums, means, extremes, running sums."""

from __future__ import annotations

from typing import Any

from partita._array.array import Array
from partita._functions import elementwise
from partita._functions.creation import an_array, full
from partita._functions.elementwise import written
from partita._functions.manipulation import concat, reshape


def _reduced(
    how: str,
    x: Any,
    axis: Any,
    keepdims: bool,
    dtype: Any = None,
    correction: float = 0.0,
    out: Array | None = None,
) -> Array:
    axes = axis if axis is None or isinstance(axis, tuple | list) else (axis,)
    return written(an_array(x)._reduce(how, axes, keepdims, dtype, correction), out)


def sum(
    x: Any, /, axis: Any = None, dtype: Any = None, out: Any = None, *, keepdims: bool = False
) -> Array:
    """Return the sum over axes."""
    return _reduced("sum", x, axis, keepdims, dtype, out=out)


def prod(
    x: Any, /, axis: Any = None, dtype: Any = None, out: Any = None, *, keepdims: bool = False
) -> Array:
    """Return the product over axes."""
    return _reduced("prod", x, axis, keepdims, dtype, out=out)


def min(x: Any, /, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """Return the smallest element over axes."""
    return _reduced("min", x, axis, keepdims, out=out)


def max(x: Any, /, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """Return the largest element over axes."""
    return _reduced("max", x, axis, keepdims, out=out)


def mean(
    x: Any, /, axis: Any = None, dtype: Any = None, out: Any = None, *, keepdims: bool = False
) -> Array:
    """Return the mean over axes."""
    return _reduced("mean", x, axis, keepdims, dtype, out=out)


def _divisor_less(correction: float | None, ddof: float) -> float:
    """What a divisor is less than the number of elements, by the Array API's name or NumPy's."""
    return float(ddof if correction is None else correction)


def var(
    x: Any,
    /,
    axis: Any = None,
    *,
    correction: float | None = None,
    ddof: float = 0.0,
    keepdims: bool = False,
) -> Array:
    """Return the mean squared distance from the mean over axes."""
    return _reduced("var", x, axis, keepdims, None, _divisor_less(correction, ddof))


def std(
    x: Any,
    /,
    axis: Any = None,
    *,
    correction: float | None = None,
    ddof: float = 0.0,
    keepdims: bool = False,
) -> Array:
    """Return the root of the variance over axes."""
    return _reduced("std", x, axis, keepdims, None, _divisor_less(correction, ddof))


def any(x: Any, /, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """Return whether an element is not zero, over axes."""
    return _reduced("any", x, axis, keepdims, out=out)


def all(x: Any, /, axis: Any = None, out: Any = None, *, keepdims: bool = False) -> Array:
    """Return whether no element is zero, over axes."""
    return _reduced("all", x, axis, keepdims, out=out)


def cumulative_sum(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Return running sums along an axis."""
    return _running(x, axis, dtype, initial=include_initial)


def cumulative_prod(
    x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False
) -> Array:
    """Return running products along an axis."""
    return _running(x, axis, dtype, product=True, initial=include_initial)


def _running(
    x: Any, axis: int | None, dtype: Any, *, product: bool = False, initial: bool = False
) -> Array:
    made = an_array(x)._running(product, axis, dtype)
    if not initial:
        return made
    along = 0 if axis is None else axis
    shape = list(made.shape)
    shape[along] = 1
    first = full(shape, int(product), made.dtype, team=made.team)
    return concat([first, made], axis=along)


def _in_a_row(x: Any, axis: int | None) -> tuple[Array, int]:
    """An array and an axis; without one all elements in a row."""
    array = an_array(x)
    return (reshape(array, -1), 0) if axis is None else (array, axis)


def cumsum(x: Any, /, axis: int | None = None, dtype: Any = None) -> Array:
    """Return running sums; of all elements in a row without an axis."""
    return _running(*_in_a_row(x, axis), dtype)


def cumprod(x: Any, /, axis: int | None = None, dtype: Any = None) -> Array:
    """Return running products; of all elements in a row without an axis."""
    return _running(*_in_a_row(x, axis), dtype, product=True)


def allclose(
    a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False
) -> bool:
    """Return whether all elements of two arrays are nearly equal."""
    a, b = an_array(a), an_array(b)
    near = (a == b) | (
        elementwise.isfinite(b) & (elementwise.abs(a - b) <= atol + rtol * elementwise.abs(b))
    )
    if equal_nan:
        near = near | (elementwise.isnan(a) & elementwise.isnan(b))
    return bool(all(near))


def array_equal(a: Any, b: Any) -> bool:
    """Return whether two arrays have the same shape and elements."""
    a, b = an_array(a), an_array(b)
    return a.shape == b.shape and bool(all(a == b))


amin, amax = min, max


__all__ = [
    "all",
    "allclose",
    "amax",
    "amin",
    "any",
    "array_equal",
    "cumprod",
    "cumsum",
    "cumulative_prod",
    "cumulative_sum",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]
