"""The bounds of histograms: how many, how wide, from where to where."""

from __future__ import annotations

import math
import operator
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._algorithms.rows import elements_of, is_here
from partita._algorithms.sample_sort import sorted_copy
from partita._algorithms.totals import added_up
from partita._array.array import Array
from partita._array.place import levels_to_user
from partita._functions.gathered import few
from partita._functions.order import percentile
from partita._functions.statistics import max as largest
from partita._functions.statistics import mean, std
from partita._functions.statistics import min as smallest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# Counts that are added up in one exchange.
_MOST_COUNTS = 1 << 16


class Edges(NamedTuple):
    """What NumPy needs to count a part as all ranks do: a number of bins, or their bounds."""

    bins: Any
    range: tuple[Any, Any] | None


def edges_of(array: Array, bins: Any, range: Any, *, is_weighted: bool) -> Edges:
    """The bounds for the elements of all ranks. Collective."""
    if isinstance(bins, Array):
        return Edges(_rising(few(bins, "histogram")), None)
    if isinstance(bins, str):
        if is_weighted:
            raise TypeError(f"bins={bins!r} does not know weights; give a number of bins")
        return _by_rule(array._cast(np.uint8) if array.dtype == np.bool else array, bins, range)
    if np.ndim(bins) > 0:
        return Edges(_rising(np.asarray(bins)), None)
    try:
        n_bins = operator.index(bins)
    except TypeError:
        raise TypeError(f"bins {bins!r}; use an integer, a word or bounds") from None
    if n_bins < 1:
        raise ValueError(f"{n_bins} bins; use 1 or more")
    return Edges(n_bins, _outer(array, range))


def _rising(bounds: Any) -> Any:
    if bounds.ndim != 1:
        raise ValueError(f"bounds of shape {bounds.shape}; use one dimension")
    if np.any(bounds[:-1] > bounds[1:]):
        raise ValueError("bounds that do not rise; sort them")
    return bounds


def _outer(array: Array, range: Any) -> tuple[Any, Any]:
    """The first and the last bound: those given, or the extremes."""
    if range is not None:
        first, last = range
        if first > last:
            raise ValueError(f"a range from {first} to {last}; give the smaller one first")
    elif array.size == 0:
        return 0.0, 1.0
    else:
        kind = np.uint8 if array.dtype == np.bool else array.dtype.type
        first, last = (kind(one(array).item()) for one in (smallest, largest))
    if not (np.isfinite(first) and np.isfinite(last)):
        raise ValueError(f"a range from {first} to {last} is not finite; give range=")
    return first, last


def _by_rule(array: Array, rule: str, range: Any) -> Edges:
    """As many bins as a rule says, from the spread of the elements."""
    if rule not in (*_WIDTHS, "stone"):
        names = ", ".join(sorted([*_WIDTHS, "stone"]))
        raise ValueError(f"bins={rule!r} is no rule known here; use one of {names}")
    first, last = _outer(array, range)
    if first == last:
        first, last = first - 0.5, last + 0.5
    if range is not None:
        array = array[(array >= first) & (array <= last)]
    if array.size == 0:
        return Edges(1, (first, last))
    # One rule looks at histograms, which need the bounds.
    width = _by_trials(array, (first, last)) if rule == "stone" else _WIDTHS[rule](array)
    if array.dtype.kind in "iu" and 0 < width < 1:
        width = 1.0
    n_bins = math.ceil((float(last) - float(first)) / width) if width else 1
    return Edges(n_bins, (first, last))


def _spread(array: Array) -> float:
    return float(largest(array)) - float(smallest(array))


def _by_root(array: Array) -> float:
    return _spread(array) / math.sqrt(array.size)


def _by_sturges(array: Array) -> float:
    return _spread(array) / (math.log2(array.size) + 1.0)


def _by_rice(array: Array) -> float:
    return float(_spread(array) / (2.0 * array.size ** (1.0 / 3)))


def _by_scott(array: Array) -> float:
    return float((24.0 * math.pi**0.5 / array.size) ** (1.0 / 3.0)) * float(std(array))


def _by_quartiles(array: Array) -> float:
    high, low = percentile(array, [75, 25]).tolist()
    return float(2.0 * (high - low) * array.size ** (-1.0 / 3.0))


def _by_skewness(array: Array) -> float:
    n, deviation = array.size, float(std(array))
    if n <= 2 or deviation <= 0:
        return 0.0
    usual = math.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
    skewness = float(mean(((array - mean(array)) / deviation) ** 3))
    return _spread(array) / (1.0 + math.log2(n) + math.log2(1.0 + abs(skewness) / usual))


def _by_itself(array: Array) -> float:
    return min(max(_by_quartiles(array), _by_root(array) / 2), _by_sturges(array))


def _by_trials(array: Array, outer: tuple[Any, Any]) -> float:
    """The width whose histogram is best by cross-validation, of all numbers of bins up to many."""
    n, spread = array.size, _spread(array)
    if n <= 1 or spread == 0:
        return 0.0
    most = max(100, math.isqrt(n))
    losses = []
    for counts in _histograms(array, outer, most):
        parts = counts / n
        losses.append((2 - (n + 1) * parts.dot(parts)) / (spread / len(counts)))
    found = int(np.argmin(losses)) + 1
    if found == most:
        message = f"{found} bins are the most that bins='stone' tries; more may be better"
        warnings.warn(message, RuntimeWarning, stacklevel=levels_to_user())
    return spread / found


def _histograms(array: Array, outer: tuple[Any, Any], most: int) -> Iterator[Any]:
    """The counts for 1 bin, for 2, and so on. Collective."""
    alone, team = is_here(array), array.team
    if not alone:
        team.say(f"histogram(bins='stone', range={outer!r})")
    own = sorted_copy(array.local if alone else elements_of(array))
    # So many bins that the counts of few exchanges are small beside the elements.
    for numbers in _batches(most):
        made = np.concatenate([_counts(own, number, outer) for number in numbers])
        total: Any = made if alone else added_up(team, made).gather()
        yield from np.split(total, np.cumsum(numbers)[:-1])


def _batches(most: int) -> Iterator[list[int]]:
    batch: list[int] = []
    for number in range(1, most + 1):
        batch.append(number)
        if sum(batch) >= _MOST_COUNTS or number == most:
            yield batch
            batch = []


def _counts(own: Any, n_bins: int, outer: tuple[Any, Any]) -> Any:
    """How many elements of a sorted row lie in bins of one width."""
    bounds = np.histogram_bin_edges(own[:0], n_bins, outer)
    at = [*np.searchsorted(own, bounds[:-1]), np.searchsorted(own, bounds[-1], side="right")]
    return np.diff(at)


_WIDTHS: dict[str, Callable[[Array], float]] = {
    "auto": _by_itself,
    "doane": _by_skewness,
    "fd": _by_quartiles,
    "rice": _by_rice,
    "scott": _by_scott,
    "sqrt": _by_root,
    "sturges": _by_sturges,
}
