"""Largest and smallest elements, and where they are; zeros that are not stored count, too."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita.sparse.first_zero import first_absent, flat_places
from partita.sparse.reducing import Lines, sent
from partita.sparse.reductions import Reductions
from partita.sparse.slices import Slices

Local = np.ndarray[Any, Any]


class Extremes(Reductions):
    """Extremes as SciPy's; those of lines are arrays, cut as the lines are. All are collective."""

    __slots__ = ()

    def max(self, axis: Any = None, out: None = None, *, explicit: bool = False) -> Any:
        """Return the largest element, or an array of those along axes."""
        self._refuse(out)
        return self._extreme(np.maximum, axis, explicit)

    def min(self, axis: Any = None, out: None = None, *, explicit: bool = False) -> Any:
        """Return the smallest element, or an array of those along axes."""
        self._refuse(out)
        return self._extreme(np.minimum, axis, explicit)

    def nanmax(self, axis: Any = None, out: None = None, *, explicit: bool = False) -> Any:
        """Return the largest element that is a number, or an array of those along axes."""
        self._refuse(out)
        return self._extreme(np.fmax, axis, explicit)

    def nanmin(self, axis: Any = None, out: None = None, *, explicit: bool = False) -> Any:
        """Return the smallest element that is a number, or an array of those along axes."""
        self._refuse(out)
        return self._extreme(np.fmin, axis, explicit)

    def argmax(self, axis: Any = None, out: None = None, *, explicit: bool = False) -> Any:
        """Return where the largest element is, or an array of positions along an axis."""
        self._refuse(out)
        return self._position(np.maximum, axis, explicit)

    def argmin(self, axis: Any = None, out: None = None, *, explicit: bool = False) -> Any:
        """Return where the smallest element is, or an array of positions along an axis."""
        self._refuse(out)
        return self._position(np.minimum, axis, explicit)

    def _extreme(self, function: Any, axis: Any, explicit: bool) -> Any:
        lines = Lines(self, self._axes(axis), _call(function, explicit))
        coords, data = self._entries(is_tidy=True)
        if lines.length == 0:
            raise ValueError("zero-size array to reduction operation; use a tensor with elements")
        if not lines.kept:
            return self._extreme_of_all(function, data, lines.length, explicit)
        start = _worst(function, data.dtype)
        best = lines.reduced(function, start, data, coords)
        counts = lines.reduced(np.add, 0, np.ones(len(data), np.int64), coords)
        is_full = counts == lines.length
        if explicit:
            return lines.array(np.where(counts > 0, best, 0).astype(data.dtype))
        some = np.where(counts > 0, function(best, data.dtype.type(0)), 0)
        return lines.array(np.where(is_full, best, some).astype(data.dtype))

    def _extreme_of_all(self, function: Any, data: Local, size: int, explicit: bool) -> Any:
        mine = [function.reduce(data)] if len(data) else []
        told = self._met(_call(function, explicit), (len(data), np.array(mine, data.dtype)))
        best = np.concatenate([values for _, values in told])
        if sum(n for n, _ in told) < size and not explicit:
            best = np.append(best, data.dtype.type(0))
        return function.reduce(best) if len(best) else data.dtype.type(0)

    def _position(self, function: Any, axis: Any, explicit: bool) -> Any:
        lines = Lines(self, self._axes(axis), f"position of {_call(function, explicit)}")
        if lines.length == 0:
            raise ValueError("no element has a position; use a tensor with elements")
        if lines.length > np.iinfo(np.int64).max:
            message = f"positions among {lines.length} elements, more than 64 bits can count"
            raise ValueError(f"{message}; name one axis")
        if not lines.kept:
            return self._position_of_all(function, lines, explicit)
        return lines.array(self._positions(function, lines, explicit))

    def _position_of_all(self, function: Any, lines: Lines, explicit: bool) -> Any:
        coords, values = self._own_entries()
        places = flat_places(coords, self.shape, len(values))
        own = (len(values), *_first_best(function, values, places))
        told = self._met(lines.call, own)
        found = [(one, value) for _, one, value in told if one is not None]
        at, best = _first_best(
            function,
            np.array([value for _, value in found], self.dtype),
            np.array([one for one, _ in found], np.int64),
        )
        if explicit and at is None:
            raise ValueError("no stored element has a position; use explicit=False for zeros, too")
        if explicit or sum(count for count, _, _ in told) == lines.length:
            return np.int64(at)
        zero = self.dtype.type(0)
        if at is not None and function(best, zero) != zero:
            return np.int64(at)
        absent = first_absent(self, lines.call, coords)
        return np.int64(absent if at is None or best != zero else min(at, absent))

    def _positions(self, function: Any, lines: Lines, explicit: bool) -> Local:
        """Of each line of this rank the position of its extreme; whole lines travel if cut."""
        coords, data = self._own_entries()
        keep = [coords[at] for at in lines.kept]
        along = [dim for dim in range(self.ndim) if dim not in lines.kept]
        sides = [self.shape[dim] for dim in along]
        own = flat_places([coords[dim] for dim in along], sides, len(data))
        inside, (places, values) = sent(self, lines.call, Slices(lines.layout), keep, [own, data])
        shape = lines.layout.local_shape(self._team.rank)
        n_lines = int(np.prod(shape, dtype=np.int64))
        key = np.ravel_multi_index(inside, shape) if len(values) else places[:0]
        order = np.lexsort((places, key))
        key, places, values = key[order], places[order], values[order]
        with lines.room(np.int64):
            at = _by_line(function, key, places, values, n_lines, lines.length, explicit)
        return at.reshape(shape)


def _call(function: Any, explicit: bool) -> str:
    """What ranks that look for an extreme compare."""
    return f"{function.__name__}{' of what is stored' if explicit else ''}"


def _worst(function: Any, dtype: np.dtype[Any]) -> Any:
    """What any element is at least as good as."""
    if function in (np.fmax, np.fmin) and dtype.kind in "fc":
        return np.nan
    is_most = function in (np.minimum, np.fmin)
    if dtype.kind == "b":
        return is_most
    if dtype.kind in "iu":
        return np.iinfo(dtype).max if is_most else np.iinfo(dtype).min
    return np.inf if is_most else -np.inf


def _by_line(
    function: Any,
    key: Local,
    places: Local,
    values: Local,
    n_lines: int,
    length: int,
    explicit: bool,
) -> Local:
    """First position of the extreme of each line, of entries in order."""
    best = np.full(n_lines, _worst(function, values.dtype), values.dtype)
    with np.errstate(invalid="ignore"):
        function.at(best, key, values)
    counts = np.bincount(key, minlength=n_lines)
    starts = np.cumsum(counts) - counts
    # The first place of a line without an entry: where places leave their numbers behind.
    ahead = places != np.arange(len(places)) - starts[key]
    free = counts.astype(np.int64)
    np.minimum.at(free, key[ahead], (np.arange(len(places)) - starts[key])[ahead])
    has_zero = (counts < length) & (not explicit)
    zero = values.dtype.type(0)
    best = np.where(has_zero, np.where(counts > 0, function(best, zero), zero), best)
    hit = (values == best[key]) | (_is_nan(values) & _is_nan(best)[key])
    at = np.full(n_lines, length, np.int64)
    np.minimum.at(at, key[hit], places[hit])
    at = np.where(has_zero & (best == 0), np.minimum(at, free), at)
    return np.where(at == length, 0, at)


def _is_nan(values: Local) -> Local:
    return np.asarray(values != values)


def _first_best(function: Any, values: Local, places: Local) -> tuple[Any, Any]:
    """The first place of the extreme, and the extreme; nothing of nothing."""
    if not values.size:
        return None, None
    best = function.reduce(values, axis=None)
    hit = (values == best) | (_is_nan(values) & bool(best != best))
    return int(places[hit].min()), best
