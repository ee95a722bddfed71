"""Arrays with margins around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._functions import elementwise, statistics
from partita._functions.applying import apply_along_axis
from partita._functions.creation import an_array, empty
from partita._functions.elementwise import beside
from partita._functions.enclosed import with_whole_arrays
from partita._functions.manipulation import flip
from partita._functions.order import median

if TYPE_CHECKING:
    from collections.abc import Callable

_STATISTICS: dict[str, Any] = {
    "maximum": statistics.max,
    "minimum": statistics.min,
    "mean": statistics.mean,
    "median": median,
}
_OPTIONS = {
    "constant": {"constant_values"},
    "linear_ramp": {"end_values"},
    "maximum": {"stat_length"},
    "mean": {"stat_length"},
    "median": {"stat_length"},
    "minimum": {"stat_length"},
    "reflect": {"reflect_type"},
    "symmetric": {"reflect_type"},
    "edge": set(),
    "wrap": set(),
    "empty": set(),
}


def pad(array: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Array:
    """Return an array with margins, filled by a mode of NumPy; a function takes whole lines.

    >>> import partita as pt
    >>> print(pt.pad(pt.arange(3), 2, mode="edge"))
    [0 0 0 1 2 2 2]
    """
    given = an_array(array)
    widths = _pairs(pad_width, given.ndim, "pad_width")
    if any(width < 0 for pair in widths for width in pair):
        raise ValueError(f"a width below 0 in {pad_width!r}; use widths from 0 on")
    if callable(mode):
        return _by_function(pad(given, widths), widths, mode, options)
    if mode not in _OPTIONS:
        raise ValueError(f"mode {mode!r}; use one of {', '.join(sorted(_OPTIONS))}")
    if unknown := set(options) - _OPTIONS[mode]:
        raise ValueError(f"{sorted(unknown)[0]}= with mode {mode!r}; leave it out")
    sizes = [size + sum(pair) for size, pair in zip(given.shape, widths, strict=True)]
    made = empty(sizes, given.dtype, team=given.team)
    inside = tuple(slice(a, a + size) for (a, _), size in zip(widths, given.shape, strict=True))
    made[inside] = given
    for axis, (before, behind) in enumerate(widths):
        if before or behind:
            # Along earlier axes the margins are full already.
            before_this = tuple(slice(None) for _ in range(axis))
            _fill(
                made[(*before_this, slice(None), *inside[axis + 1 :])],
                axis,
                before,
                behind,
                mode,
                options,
            )
    return made


def _by_function(
    made: Array, widths: list[tuple[Any, Any]], function: Callable[..., Any], options: Any
) -> Array:
    """Lines along each axis in turn, which a user's function changes in place."""
    function = with_whole_arrays(function, "pad")

    def changed(line: Any, axis: int) -> Any:
        own = line.copy()
        function(own, widths[axis], axis, options)
        return own

    for axis in range(made.ndim):
        if made.size:
            made = apply_along_axis(changed, axis, made, axis)
    return made


def _pairs(given: Any, ndim: int, name: str) -> list[tuple[Any, Any]]:
    """Two numbers for each axis, of a number, a pair, or a pair for each."""
    if isinstance(given, dict):
        full = [(0, 0)] * ndim
        for axis, one in given.items():
            full[axis] = tuple(np.broadcast_to(one, 2).tolist())
        return full
    values = np.asarray(given)
    if name == "pad_width" and values.dtype.kind not in "iu":
        raise TypeError(f"{name} {given!r}; use integers")
    try:
        pairs = np.broadcast_to(values, (ndim, 2)).tolist()
    except ValueError:
        message = f"{name} {given!r} for {ndim} axes; use a number, a pair, or a pair for each"
        raise ValueError(message) from None
    return [tuple(pair) for pair in pairs]


def _cut(array: Array, axis: int, start: int, stop: int) -> Array:
    return array[(slice(None),) * axis + (slice(start, stop),)]


def _fill(made: Array, axis: int, before: int, behind: int, mode: str, options: Any) -> None:
    """Fill both margins along one axis."""
    size = made.shape[axis]
    end = size - behind
    length = end - before
    if mode == "empty":
        return
    if length == 0 and mode != "constant":
        raise ValueError(f"an axis of no elements has nothing to fill with for mode {mode!r}")
    if mode in ("reflect", "symmetric", "wrap"):
        _repeat(made, axis, before, end, mode, options.get("reflect_type", "even"))
        return
    margins = ((0, before, before, before + 1), (end, size, end - 1, end))
    for side, (start, stop, edge_start, edge_stop) in enumerate(margins):
        if start == stop:
            continue
        edge = _cut(made, axis, edge_start, edge_stop) if length else None
        target = _cut(made, axis, start, stop)
        if mode == "constant":
            target[...] = _pairs(options.get("constant_values", 0), made.ndim, "constant_values")[
                axis
            ][side]
        elif mode == "edge":
            target[...] = edge
        elif mode == "linear_ramp":
            number = _pairs(options.get("end_values", 0), made.ndim, "end_values")[axis][side]
            target[...] = _ramp(edge, number, stop - start, axis, side, made.dtype)
        else:
            target[...] = _statistic(made, axis, before, end, side, mode, options)


def _ramp(edge: Any, number: Any, length: int, axis: int, side: int, dtype: np.dtype[Any]) -> Array:
    """Steps from a number outside to the edge, which is not among them."""
    line = [length if at == axis else 1 for at in range(edge.ndim)]
    steps = beside(np.arange(length, dtype=float).reshape(line), edge)
    wide = edge.astype(np.result_type(edge.dtype, np.float64), copy=False)
    ramp = steps * ((wide - number) / length) + number
    if dtype.kind in "iu":
        ramp = elementwise.floor(ramp)
    ramp = ramp.astype(dtype)
    return flip(ramp, axis=axis) if side else ramp


def _statistic(
    made: Array, axis: int, before: int, end: int, side: int, mode: str, options: Any
) -> Array:
    length = end - before
    given = options.get("stat_length")
    n_used = length
    if given is not None:
        n_used = min(_pairs(given, made.ndim, "stat_length")[axis][side], length)
        if n_used < 1:
            raise ValueError(f"stat_length {given!r}; use 1 or more")
    start = before if side == 0 else end - n_used
    found = _STATISTICS[mode](_cut(made, axis, start, start + n_used), axis, keepdims=True)
    if mode in ("mean", "median") and made.dtype.kind in "iu":
        found = elementwise.rint(found)
    result: Array = found.astype(made.dtype, copy=False)
    return result


def _repeat(made: Array, axis: int, before: int, end: int, mode: str, how: str) -> None:
    """Fill margins with what is inside, mirrored or again; as often as they are long."""
    size = made.shape[axis]
    if mode == "wrap":
        period = end - before
        start, stop = before, end
        while start > 0:
            n_new = min(start, period)
            _cut(made, axis, start - n_new, start)[...] = +_cut(
                made, axis, start - n_new + period, start + period
            )
            start -= n_new
        while stop < size:
            n_new = min(size - stop, period)
            _cut(made, axis, stop, stop + n_new)[...] = +_cut(
                made, axis, stop - period, stop - period + n_new
            )
            stop += n_new
        return
    if how not in ("even", "odd"):
        raise ValueError(f"reflect_type {how!r}; use 'even' or 'odd'")
    _mirror(made, axis, before, end, 1 if mode == "reflect" else 0, is_odd=how == "odd")


def _mirror(made: Array, axis: int, start: int, stop: int, skip: int, *, is_odd: bool) -> None:
    """Fill margins with what is inside, mirrored on the edge's element or behind it (`skip`)."""
    size, period = made.shape[axis], stop - start - skip
    if period == 0:
        # One element has no neighbours to mirror: it is repeated.
        _cut(made, axis, 0, start)[...] = _cut(made, axis, start, stop)
        _cut(made, axis, stop, size)[...] = _cut(made, axis, start, stop)
        return

    def turned(first: int, n_new: int, edge: int) -> Array:
        seen = flip(_cut(made, axis, first, first + n_new), axis=axis)
        return 2 * _cut(made, axis, edge, edge + 1) - seen if is_odd else +seen

    while start > 0 or stop < size:
        # Whole periods only: what is mirrored next then follows on.
        usable = (stop - start - skip) // period * period
        n_left, n_right = min(start, usable), min(size - stop, usable)
        if n_left:
            seen = turned(start + skip, n_left, start)
            _cut(made, axis, start - n_left, start)[...] = seen
        if n_right:
            seen = turned(stop - skip - n_right, n_right, stop - 1)
            _cut(made, axis, stop, stop + n_right)[...] = seen
        start, stop = start - n_left, stop + n_right


__all__ = ["pad"]
