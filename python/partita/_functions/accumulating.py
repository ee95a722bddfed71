"""Elements put together by any function of two: all of them, those so far, those in ranges."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._array.array import Array
from partita._array.held import default_layout
from partita._array.parts import in_order
from partita._functions import statistics
from partita._functions.creation import axes_of, axis_of, full, is_axis_of_number, refuse_truth
from partita._functions.elementwise import beside
from partita._functions.gathered import few
from partita._functions.locally import each_entry, each_line
from partita._functions.manipulation import broadcast_to, concat, expand_dims, moveaxis
from partita._partita import lazy_where
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


def _kinds(ufunc: Ufunc, array: Array) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """The types that a reduction computes with and results in."""
    kinds = ufunc._theirs.resolve_dtypes((None, array.dtype, None), reduction=True)
    return kinds[1], kinds[2]


class Start(NamedTuple):
    """What a reduction begins with, if with anything, and what it is of no elements at all."""

    begin: Any
    nothing: Any


def _start_of(ufunc: Ufunc, initial: Any, kind: np.dtype[Any]) -> Start:
    """What is given, in the type of the result, else what changes nothing if there is such."""
    if initial is None:
        return Start(None, None)
    identity = None if ufunc.identity is None else np.asarray(ufunc.identity).astype(kind)[()]
    if initial is np._NoValue:
        return Start(None, identity)
    begin = np.empty((), kind)
    # One number, which the type can hold: NumPy refuses others when they are put in.
    begin[()] = few(initial, "reduce") if isinstance(initial, Array) else initial
    return Start(begin[()], begin[()] if identity is None else identity)


def refuse_nothing(ufunc: Ufunc, array: Array, axis: Any, where: Any) -> None:
    """Refuse a reduction that may have no elements, for one that begins with the first."""
    refuse_truth(axis)
    _mask_of(ufunc, array, where, Start(None, None))
    is_all = axis is None or is_axis_of_number(axis, array.ndim)
    for at in range(array.ndim) if is_all else axes_of(axis, array.ndim):
        if array.shape[at] == 0:
            _of_nothing(ufunc, array, at, Start(None, None))


def _mask_of(ufunc: Ufunc, array: Array, where: Any, start: Start) -> Array | None:
    """Which elements count, for each of them; nothing where all do."""
    if where is True or where is None:
        return None
    if start.nothing is None:
        message = f"{ufunc.__name__}.reduce where a mask is true may have no elements"
        raise ValueError(f"{message}; give initial=")
    return broadcast_to(beside(where, array).astype(np.bool, copy=False), array.shape)


def reduced(
    ufunc: Ufunc,
    array: Array,
    axis: Any,
    keepdims: bool,
    initial: Any = np._NoValue,
    where: Any = True,
) -> Array:
    """All elements along axes put together, of those that count if a mask says which."""
    refuse_truth(axis)
    is_all = axis is None or is_axis_of_number(axis, array.ndim)
    axes = list(range(array.ndim)) if is_all else axes_of(axis, array.ndim)
    given, kind = _kinds(ufunc, array)
    start = _start_of(ufunc, initial, kind)
    made, mask = array.astype(given, copy=False), _mask_of(ufunc, array, where, start)
    if len(axes) > 1 and ufunc.__name__ not in _BY_HALVES:
        # NumPy knows which functions have no result along several axes, and says so.
        ufunc._theirs.reduce(np.ones((1,) * array.ndim, given), axis=tuple(axes))
    if not axes and (start.nothing is not None or start.begin is not None):
        # Each element alone meets what the reduction begins with.
        made, axes = expand_dims(made, array.ndim), [array.ndim]
        mask = None if mask is None else expand_dims(mask, array.ndim)
        keepdims = False
    if ufunc.__name__ in _BY_HALVES:
        made = _by_halves(ufunc, made, axes, start, mask)
    else:
        for at in axes:
            made = _by_lines(ufunc, made, at, start, mask)
    for at in sorted(axes) if keepdims else []:
        made = expand_dims(made, at)
    made = made.astype(kind, copy=False)
    return +made if made is array else made


def _by_lines(ufunc: Ufunc, array: Array, axis: int, start: Start, mask: Array | None) -> Array:
    """The elements of each line in their order."""
    if array.shape[axis] == 0:
        return _of_nothing(ufunc, array, axis, start)
    if start.begin is not None:
        array.team.say(f"{ufunc.__name__}.reduce(initial={start.begin!r})")
    return _by_numpy(ufunc, "reduce", array, axis, start.begin, mask)


def _by_halves(
    ufunc: Ufunc, array: Array, axes: list[int], start: Start, mask: Array | None
) -> Array:
    """All elements of each line, neighbours first."""
    made = array
    if mask is not None:
        rest = np.asarray(start.nothing).astype(array.dtype).item()
        made = lazy_where(mask, made, full((), rest, array.dtype, team=array.team))
    for at in sorted(axes, reverse=True):
        made = _halved_along(ufunc, made, at, start)
    if start.begin is None:
        return made
    begin = full((), start.begin, start.begin.dtype, team=array.team)
    combined: Array = ufunc(begin, made)
    return combined


def _of_nothing(ufunc: Ufunc, array: Array, axis: int, start: Start) -> Array:
    """The result for lines without elements."""
    nothing = start.nothing
    if nothing is None:
        message = f"{ufunc.__name__}.reduce of no elements has no result; give one at least"
        raise ValueError(f"{message}, or initial=")
    shape = array.shape[:axis] + array.shape[axis + 1 :]
    return full(shape, nothing, nothing.dtype, team=array.team)


def _halved_along(ufunc: Ufunc, array: Array, axis: int, start: Start) -> Array:
    size = array.shape[axis]
    if size == 0:
        return _of_nothing(ufunc, array, axis, start)
    tails, made = [], array
    while (size := made.shape[axis]) > 1:
        if size % 2:
            tails.append(_cut(made, axis, -1, None))
            made = _cut(made, axis, 0, size - 1)
        made = ufunc(_cut(made, axis, 0, None, 2), _cut(made, axis, 1, None, 2))
    for tail in reversed(tails):
        made = ufunc(made, tail)
    if array.shape[axis] == 1 and start.nothing is not None:
        # One element alone has not been seen by the function, which may be no copy: hypot.
        made = ufunc(full((), start.nothing, start.nothing.dtype, team=array.team), made)
    return made[(slice(None),) * axis + (0,)]


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
    given = array.astype(_kinds(ufunc, array)[0], copy=False)
    if array.ndim == 1 and ufunc.__name__ in _EXACT and array.team.size > 1:
        return _carried(ufunc._theirs, given)
    return in_order(moveaxis(_by_numpy(ufunc, "accumulate", given, at), -1, at))


def _by_numpy(
    ufunc: Ufunc,
    method: str,
    array: Array,
    axis: int,
    begin: Any = None,
    mask: Array | None = None,
) -> Array:
    """What NumPy makes of lines along an axis; what it refuses on one rank is refused on all."""
    theirs, name = ufunc._theirs, f"{ufunc.__name__}.{method}"
    options = {} if begin is None else {"initial": begin}

    def work(own: Any, *kept: Any) -> Any:
        if method == "reduce" and ufunc.__name__ in _ONLY_RUNNING:
            return _last_running(theirs, own, begin, *kept)
        chosen = {"where": kept[0]} if kept else {}
        return getattr(theirs, method)(own, axis=-1, **options, **chosen)

    def lines(own: Any, *kept: Any) -> Any:
        if ufunc.__name__ == "power" and array.dtype.kind in "iu":
            # Negative exponents are refused, which only those find who have them.
            return together(array.team, lambda: work(own, *kept), name)
        return work(own, *kept)

    if mask is None:
        return each_line(lines, array, axis, name)
    both = [moveaxis(one, axis, -1) for one in (array, mask)]
    return each_entry(lambda *own: [lines(*own)], both, [1, 1], name)[0]


def _last_running(theirs: np.ufunc, own: Any, begin: Any, kept: Any = None) -> Any:
    """The last of running results; of lines of which some elements count, line by line."""
    if begin is not None:
        own = np.concatenate([np.full((*own.shape[:-1], 1), begin, own.dtype), own], axis=-1)
    if kept is None:
        return theirs.accumulate(own, axis=-1)[..., -1]
    made = np.empty(own.shape[:-1], own.dtype)
    for at in np.ndindex(made.shape):
        made[at] = theirs.accumulate(own[at][np.concatenate([[True], kept[at]])])[-1]
    return made


@np.errstate(all="ignore")
def _carried(theirs: np.ufunc, array: Array) -> Array:
    """A vector's running results: each rank its own, then with what the ranks before have."""
    layout = default_layout(array.shape, array.team)
    array.team.say(f"{theirs.__name__}.accumulate")
    own = (array if array.layout == layout else array.redistribute(layout)).local
    made = theirs.accumulate(own)
    lasts = array.team.gather_inside("last results of ranks", made[-1:])
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


__all__ = ["in_ranges", "reduced", "refuse_nothing", "running"]
