"""Differences, slopes, areas and sums of shifted products."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions import elementwise, statistics
from partita._functions.creation import an_array, axes_of, axis_of, zeros
from partita._functions.elementwise import beside
from partita._functions.gathered import few
from partita._functions.likes import empty_like
from partita._functions.locally import each_element
from partita._functions.manipulation import broadcast_to, concat, flip, ravel, reshape
from partita._functions.searching import where
from partita._functions.types import result_type
from partita._team.alike import digest

# Products of so many shifted views are one loop over memory.
_TERMS_AT_ONCE = 32


def _cut(array: Array, axis: int, *span: int | None) -> Array:
    """A view of a range along an axis."""
    return array[(slice(None),) * axis + (slice(*span),)]


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Array:
    """Return differences of neighbours along an axis, `n` times over."""
    array = an_array(a)
    times = operator.index(n)
    if times < 0:
        raise ValueError(f"{times} times; use 0 or more")
    if array.ndim == 0:
        raise ValueError("an array without dimensions has no axis; use reshape(1)")
    if times == 0:
        return array
    at = axis_of(axis, array.ndim)
    ends = [_end(array, one, at) for one in (prepend, append)]
    if any(one is not None for one in ends):
        array = concat([one for one in (ends[0], array, ends[1]) if one is not None], axis=at)
    for _ in range(times):
        after, before = _cut(array, at, 1, None), _cut(array, at, 0, -1)
        array = elementwise.not_equal(after, before) if array.dtype.kind == "b" else after - before
    return array


def _end(array: Array, given: Any, axis: int) -> Array | None:
    if given is None:
        return None
    end = beside(given, array)
    if end.ndim:
        return end
    sizes = [1 if at == axis else size for at, size in enumerate(array.shape)]
    return broadcast_to(end, sizes)


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Array:
    """Return differences of neighbours in a row, with numbers before and behind."""
    row = ravel(ary)
    made = row[1:] - row[:-1]
    ends = [None if one is None else ravel(one) for one in (to_begin, to_end)]
    for one in ends:
        if one is not None and not np.can_cast(one.dtype, row.dtype, "same_kind"):
            raise TypeError(f"ends of {one.dtype} beside {row.dtype}; convert them first")
    parts = [one for one in (ends[0], made, ends[1]) if one is not None]
    return concat([one.astype(row.dtype, copy=False) for one in parts]) if len(parts) > 1 else made


def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    """Return slopes along axes, of second order inside."""
    array = an_array(f)
    axes = list(range(array.ndim)) if axis is None else axes_of(axis, array.ndim)
    if edge_order not in (1, 2):
        raise ValueError(f"edge_order {edge_order}; use 1 or 2")
    steps = list(varargs) or [1.0]
    if len(steps) == 1 and np.ndim(steps[0]) == 0:
        steps = steps * len(axes)
    if len(steps) != len(axes):
        raise TypeError(f"{len(steps)} distances for {len(axes)} axes; give as many")
    if array.dtype.kind == "b":
        raise TypeError("truth values have no slopes; use astype first")
    if array.dtype.kind in "iu":
        array = array.astype(np.float64)
    made = [_slope(array, step, at, edge_order) for step, at in zip(steps, axes, strict=True)]
    return made[0] if len(axes) == 1 else tuple(made)


def _slope(f: Array, step: Any, at: int, edge_order: int) -> Array:
    size = f.shape[at]
    if size < edge_order + 1:
        raise ValueError(f"{size} elements along axis {at}; use {edge_order + 1} or more")
    made = empty_like(f)
    first, inner, last = _cut(made, at, 0, 1), _cut(made, at, 1, -1), _cut(made, at, -1, None)

    def part(start: int, stop: int | None) -> Array:
        return _cut(f, at, start, stop)

    distances = None if np.ndim(step) == 0 else _distances(step, f, at)
    ends = (part(0, 1), part(1, 2)), (part(-2, -1), part(-1, None))
    if distances is None:
        h = step if isinstance(step, int | float) else float(step)
        inner[...] = (part(2, None) - part(0, -2)) / (2.0 * h)
        gaps: Any = (h, h, h, h)
    else:
        left, right = _cut(distances, at, 0, -1), _cut(distances, at, 1, None)
        inner[...] = (
            -right / (left * (left + right)) * part(0, -2)
            + (right - left) / (left * right) * part(1, -1)
            + left / (right * (left + right)) * part(2, None)
        )
        gaps = (
            [_cut(distances, at, one, one + 1 if one != -1 else None) for one in (0, 1, -2, -1)]
            if size > 2
            else [distances] * 4
        )
    if edge_order == 1:
        first[...] = (ends[0][1] - ends[0][0]) / gaps[0]
        last[...] = (ends[1][1] - ends[1][0]) / gaps[3]
        return made
    if distances is None:
        first[...] = -1.5 / h * part(0, 1) + 2.0 / h * part(1, 2) - 0.5 / h * part(2, 3)
        end = part(-3, -2), part(-2, -1), part(-1, None)
        last[...] = 0.5 / h * end[0] - 2.0 / h * end[1] + 1.5 / h * end[2]
        return made
    a, b = gaps[0], gaps[1]
    first[...] = (
        -(2.0 * a + b) / (a * (a + b)) * part(0, 1)
        + (a + b) / (a * b) * part(1, 2)
        - a / (b * (a + b)) * part(2, 3)
    )
    a, b = gaps[2], gaps[3]
    last[...] = (
        b / (a * (a + b)) * part(-3, -2)
        - (b + a) / (a * b) * part(-2, -1)
        + (2.0 * b + a) / (b * (a + b)) * part(-1, None)
    )
    return made


def _distances(step: Any, f: Array, at: int) -> Array:
    """Distances between places, along one axis."""
    places = beside(step, f)
    if places.ndim != 1 or len(places) != f.shape[at]:
        raise ValueError(
            f"places of shape {places.shape} for {f.shape[at]} along axis {at}; use as many"
        )
    places = places.astype(np.float64, copy=False) if places.dtype.kind in "biu" else places
    sizes = [-1 if dim == at else 1 for dim in range(f.ndim)]
    return reshape(places[1:] - places[:-1], sizes)


def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Array:
    """Return the area below points joined by lines, along an axis."""
    array = an_array(y)
    at = axis_of(axis, array.ndim)
    if x is None:
        width: Any = dx
    else:
        places = beside(x, array)
        if places.ndim == 1:
            gaps = diff(places)
            width = reshape(gaps, [-1 if dim == at else 1 for dim in range(array.ndim)])
        else:
            width = diff(places, axis=at)
    heights = (_cut(array, at, 1, None) + _cut(array, at, 0, -1)) / 2.0
    return statistics.sum(width * heights, at)


def convolve(a: Any, v: Any, mode: str = "full") -> Array:
    """Return the sums of products of one row and another that passes it in reverse."""
    long, short = _rows(a, v, "convolve")
    if len(short) > len(long):
        long, short = short, long
    return _passed(long, short, mode)


def correlate(a: Any, v: Any, mode: str = "valid") -> Array:
    """Return the sums of products of one row and another that passes it."""
    first, second = _rows(a, v, "correlate")
    turned = flip(elementwise.conj(second))
    if len(second) > len(first):
        # The rows change places as in NumPy, whose middle of an even row is not the same then.
        made: Array = flip(elementwise.conj(correlate(second, first, mode)))
        return made
    return _passed(first, turned, mode)


def _rows(a: Any, v: Any, name: str) -> tuple[Array, Array]:
    rows = [ravel(one) if np.ndim(one) == 0 else an_array(one) for one in (a, v)]
    for one in rows:
        if one.ndim != 1 or len(one) == 0:
            raise ValueError(f"{name} of shape {one.shape}; use rows with elements")
    return rows[0], rows[1]


def _passed(long: Array, short: Array, mode: str) -> Array:
    """Sum the long row, moved and multiplied by each number of the short one."""
    n, m = len(long), len(short)
    spans = {"full": (0, n + m - 1), "same": ((m - 1) // 2, n), "valid": (m - 1, n - m + 1)}
    if mode not in spans:
        raise ValueError(f"mode {mode!r}; use 'full', 'same' or 'valid'")
    first, length = spans[mode]
    dtype = result_type(long, short)
    # The short row is known to all, so that each of its numbers stands in the program.
    row = few(short.astype(dtype, copy=False), "convolve")
    long = long.astype(dtype, copy=False)
    if mode != "valid" and not np.isfinite(row).all():
        # Beyond the ends nothing is added, not even zero times infinity.
        return _passed_inside(long, row, first, length)
    # What is made here gets margins once; of memory that is there each view would be moved.
    own = long if long.team.size == 1 else +long
    wide = own if mode == "valid" else _with_zeros(long, m - 1)
    start = 0 if mode == "valid" else first
    made: Array | None = None
    for at in range(0, m, _TERMS_AT_ONCE):
        terms = row[at : at + _TERMS_AT_ONCE].tolist()
        # Entry k of the full row is the sum of wide[k + m - 1 - shift] * row[shift].
        shifts = [start + m - 1 - at - number for number in range(len(terms))]
        pairs = zip(shifts, terms, strict=True)
        total = functools.reduce(
            operator.add, (wide[shift : shift + length] * number for shift, number in pairs)
        )
        made = total if made is None else made + total
    assert made is not None
    return made.astype(dtype, copy=False)


def _with_zeros(row: Array, width: int) -> Array:
    made = zeros(len(row) + 2 * width, row.dtype, team=row.team)
    made[width : width + len(row)] = row
    return made


def _passed_inside(long: Array, row: Any, first: int, length: int) -> Array:
    """The same, with each number of the short row added where it meets the long one."""
    made = zeros(length, row.dtype, team=long.team)
    for shift, number in enumerate(row.tolist()):
        start = max(0, shift - first)
        stop = min(length, len(long) + shift - first)
        if stop > start:
            taken = long[start + first - shift : stop + first - shift]
            made[start:stop] += taken * number
    return made


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Array:
    """Return the heights at some places of lines through points, which all ranks have alike."""
    places = an_array(x)
    if places.dtype.kind == "c":
        raise TypeError("places that are complex; use real numbers, such as x.real")
    places = places.astype(np.float64, copy=False)
    # The points are few, as a rule, and every rank needs them all.
    points, heights = (
        np.asarray(few(one, "interp") if isinstance(one, Array) else one) for one in (xp, fp)
    )
    if points.ndim != 1 or points.shape != heights.shape or len(points) == 0:
        raise ValueError(f"points of shapes {points.shape} and {heights.shape}; use equal rows")
    ends = f"left={left!r}, right={right!r}, period={period!r}"
    places.team.say(f"interp({digest(points)}, {digest(heights)}, {ends})")
    made: Array = each_element(
        lambda own: np.interp(own, points, heights, left, right, period), places
    )
    return made


def unwrap(
    p: Any, discont: float | None = None, axis: int = -1, *, period: Any = 6.283185307179586
) -> Array:
    """Return angles without jumps along an axis, by adding multiples of a period."""
    array = an_array(p)
    at = axis_of(axis, array.ndim)
    steps = diff(array, axis=at)
    limit = period / 2 if discont is None else discont
    dtype = np.result_type(steps.dtype, period)
    is_whole = dtype.kind in "iu"
    if is_whole:
        half, rest = divmod(period, 2)
        is_even = rest == 0
    else:
        half, is_even = period / 2, True
    moved = elementwise.remainder(steps + half, period) - half
    if is_even:
        moved = where((moved == -half) & (steps > 0), moved * 0 + half, moved)
    change = moved - steps
    change = where(elementwise.abs(steps) < limit, change * 0, change)
    made = array.astype(dtype)
    if array.shape[at] > 1:
        rest_of = _cut(made, at, 1, None)
        rest_of[...] = _cut(array, at, 1, None) + statistics.cumsum(change, at)
    return made


def polyval(p: Any, x: Any) -> Array:
    """Return the values of a polynomial at some places, its highest power first."""
    places = an_array(x)
    given = beside(p, places)
    terms = few(given, "polyval").tolist()
    dtype = result_type(places, given)
    made: Array = elementwise.multiply(places, 0).astype(dtype)
    for term in terms:
        made = made * places + term
    return made


__all__ = [
    "convolve",
    "correlate",
    "diff",
    "ediff1d",
    "gradient",
    "interp",
    "polyval",
    "trapezoid",
    "unwrap",
]
