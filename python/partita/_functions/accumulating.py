"""Elements put together by any function of two: all of them, those so far, those in ranges."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.held import default_layout
from partita._array.parts import in_order
from partita._functions import statistics
from partita._functions.creation import axes_of, axis_of, full, is_axis_of_number, refuse_truth
from partita._functions.gathered import few
from partita._functions.locally import each_line
from partita._functions.manipulation import concat, expand_dims, moveaxis
from partita._team.together import together

if TYPE_CHECKING:
    from partita._functions.ufunc import ufunc as Ufunc

# Those for which (a b) c is a (b c), but for rounding: halves may be put together first.
_BY_HALVES = {
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "fmax",
    "fmin",
    "gcd",
    "hypot",
    "lcm",
    "logaddexp",
    "logaddexp2",
    "logical_xor",
}
# Those whose parts are put together without rounding.
_EXACT = {"maximum", "minimum", "logical_and", "logical_or", *_BY_HALVES} - {
    "hypot",
    "logaddexp",
    "logaddexp2",
}
# Those whose `reduce` in NumPy computes several elements of a line at once on some processors, and
# loses all but one: (a ** b) ** c becomes a ** c. Their running results are right.
_ONLY_RUNNING = {"arctan2", "power"}


def _cut(array: Array, axis: int, *span: int | None) -> Array:
    return array[(slice(None),) * axis + (slice(*span),)]


def _computed_with(ufunc: Ufunc, array: Array) -> Array:
    """Elements in the type that a reduction computes with."""
    kinds = ufunc._theirs.resolve_dtypes((None, array.dtype, None), reduction=True)
    return array.astype(kinds[1], copy=False)


def reduced(ufunc: Ufunc, array: Array, axis: Any, keepdims: bool) -> Array:
    """All elements along axes put together."""
    refuse_truth(axis)
    is_all = axis is None or is_axis_of_number(axis, array.ndim)
    axes = list(range(array.ndim)) if is_all else axes_of(axis, array.ndim)
    made = _computed_with(ufunc, array)
    if len(axes) > 1 and ufunc.__name__ not in _BY_HALVES:
        # NumPy knows which functions have no result along several axes, and says so.
        ufunc._theirs.reduce(np.ones((1,) * array.ndim, made.dtype), axis=tuple(axes))
    for at in sorted(axes, reverse=True):
        made = _reduced_along(ufunc, made, at)
        if keepdims:
            made = expand_dims(made, at)
    return +made if made is array else made


def _reduced_along(ufunc: Ufunc, array: Array, axis: int) -> Array:
    size = array.shape[axis]
    if size == 0:
        if ufunc.identity is None:
            message = f"{ufunc.__name__}.reduce of no elements has no result; give one at least"
            raise ValueError(message)
        shape = array.shape[:axis] + array.shape[axis + 1 :]
        dtype = np.bool if ufunc.__name__.startswith("logical") else array.dtype
        return full(shape, _identity(ufunc, dtype), dtype, team=array.team)
    if ufunc.__name__ not in _BY_HALVES:
        return _by_numpy(ufunc, "reduce", array, axis)
    tails, made = [], array
    while (size := made.shape[axis]) > 1:
        if size % 2:
            tails.append(_cut(made, axis, -1, None))
            made = _cut(made, axis, 0, size - 1)
        made = ufunc(_cut(made, axis, 0, None, 2), _cut(made, axis, 1, None, 2))
    for tail in reversed(tails):
        made = ufunc(made, tail)
    if array.shape[axis] == 1 and ufunc.identity is not None:
        # One element alone has not been seen by the function, which may be no copy: hypot.
        made = ufunc(_identity(ufunc, array.dtype), made)
    kind = np.bool if ufunc.__name__.startswith("logical") else array.dtype
    return made[(slice(None),) * axis + (0,)].astype(kind)


def _identity(ufunc: Ufunc, dtype: Any) -> Any:
    """What changes no element, as a number of a type: -1 has all bits set in each."""
    return np.asarray(ufunc.identity).astype(dtype).item()


def running(ufunc: Ufunc, array: Array, axis: int, dtype: Any = None) -> Array:
    """What the elements so far put together are, along an axis."""
    if array.ndim == 0:
        raise TypeError(
            f"{ufunc.__name__}.accumulate of an array without dimensions; use reshape(1)"
        )
    refuse_truth(axis)
    at = axis_of(axis, array.ndim)
    if ufunc.__name__ in ("add", "multiply"):
        function = statistics.cumsum if ufunc.__name__ == "add" else statistics.cumprod
        return function(array, at, dtype)
    given = _computed_with(ufunc, array)
    if array.ndim == 1 and ufunc.__name__ in _EXACT and array.team.size > 1:
        return _carried(ufunc._theirs, given)
    return in_order(moveaxis(_by_numpy(ufunc, "accumulate", given, at), -1, at))


def _by_numpy(ufunc: Ufunc, method: str, array: Array, axis: int) -> Array:
    """What NumPy makes of lines along an axis; what it refuses on one rank is refused on all."""
    theirs, name = ufunc._theirs, f"{ufunc.__name__}.{method}"

    def work(own: Any) -> Any:
        if method == "reduce" and ufunc.__name__ in _ONLY_RUNNING:
            return theirs.accumulate(own, axis=-1)[..., -1]
        return getattr(theirs, method)(own, axis=-1)

    def lines(own: Any) -> Any:
        if ufunc.__name__ == "power" and array.dtype.kind in "iu":
            # Negative exponents are refused, which only those find who have them.
            return together(array.team, lambda: work(own), name)
        return work(own)

    return each_line(lines, array, axis, name)


def _carried(theirs: np.ufunc, array: Array) -> Array:
    """A vector's running results: each rank its own, then with what the ranks before have."""
    layout = default_layout(array.shape, array.team)
    array.team.say(f"{theirs.__name__}.accumulate")
    own = (array if array.layout == layout else array.redistribute(layout)).local
    made = theirs.accumulate(own)
    lasts = array.team.allgather_data(made[-1:])
    before = [one for one in lasts[: array.team.rank] if len(one)]
    if before and len(made):
        made = theirs(theirs.reduce(np.concatenate(before)), made)
    return Array([made], layout, array.team, made.dtype)


def in_ranges(ufunc: Ufunc, array: Array, indices: Any, axis: int, dtype: Any = None) -> Array:
    """Elements from each position to the next put together; where that is no range, one element."""
    refuse_truth(axis)
    at = axis_of(axis, array.ndim)
    size = array.shape[at]
    places, parts = _starts(indices, size), []
    # NumPy knows the type of results.
    kind = ufunc._theirs.reduceat(np.ones(1, array.dtype), [0], dtype=dtype).dtype
    for start, stop in pairwise([*places, size]):
        part = _cut(array, at, start, max(stop, start + 1))
        # One element alone is not seen by the function.
        made = part if part.shape[at] == 1 else ufunc.reduce(part, at, keepdims=True)
        parts.append(made.astype(kind, copy=False))
    return concat(parts, axis=at) if parts else _cut(array, at, 0, 0).astype(kind)


def _starts(indices: Any, size: int) -> list[int]:
    """Where ranges begin. Every rank records the same, which are few beside the elements."""
    given = np.asarray(few(indices, "reduceat") if isinstance(indices, Array) else indices)
    if given.ndim != 1:
        raise ValueError(f"positions of shape {given.shape}; use a list of integers")
    places: list[int] = given.astype(np.int64).tolist()
    for place in places:
        if not 0 <= place < size:
            raise IndexError(
                f"position {place} along an axis of {size} entries; use 0 to {size - 1}"
            )
    return places


__all__ = ["in_ranges", "reduced", "running"]
