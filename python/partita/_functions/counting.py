"""How often elements occur: numbers from 0 on, or between bounds."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._algorithms.rows import elements_of, from_here, is_here, same_rows
from partita._algorithms.totals import added_at, added_up
from partita._array.array import Array
from partita._functions.binning import Edges, edges_of
from partita._functions.creation import an_array, zeros
from partita._functions.manipulation import reshape
from partita._functions.statistics import max as largest
from partita._functions.statistics import min as smallest
from partita._functions.statistics import sum as total
from partita._local import choosing
from partita._team.alike import digest

# So many bins for each element of a rank: most are empty, and no rank needs to have them all.
_HOLLOW = 4


def bincount(x: Any, /, weights: Any = None, minlength: int = 0) -> Array:
    """Return how often each number from 0 on occurs, or the sums of its weights.

    >>> import partita as pt
    >>> pt.bincount(pt.asarray([0, 2, 2])).tolist()
    [1, 0, 2]
    """
    array = an_array(x)
    if array.ndim != 1:
        raise ValueError(f"numbers of shape {array.shape}; use one dimension")
    is_empty_list = array.size == 0 and not hasattr(x, "dtype")
    if not is_empty_list and array.dtype.kind not in "biu":
        raise TypeError(f"elements of {array.dtype} are not counted; use integers")
    if minlength < 0:
        raise ValueError(f"minlength {minlength} is negative; use 0 or more")
    if array.size == 0:
        # NumPy asks for weights only where there is something to count.
        return zeros(minlength, np.int64, team=array.team)
    loads = None if weights is None else _weights(weights, array)
    least = int(smallest(array))
    if least < 0:
        raise ValueError(f"{least} is negative; count numbers from 0 on")
    n_bins, team = max(minlength, int(largest(array)) + 1), array.team
    given = [array] if loads is None else [array, loads]
    alone = all(is_here(one) for one in given)
    if alone:
        parts = [one.local for one in given]
    else:
        parts = [elements_of(array)] if loads is None else same_rows(*given)
    numbers = parts[0].astype(np.int64)
    values = None if loads is None else np.ascontiguousarray(parts[1])
    if not alone and n_bins * team.size > _HOLLOW * array.size:
        return added_at(team, numbers, values, n_bins)
    if values is None:
        found = choosing.count_values(numbers, n_bins)
    else:
        found = np.zeros(n_bins, np.float64)
        choosing.scatter_add(found, numbers, values)
    return from_here(found, team) if alone else added_up(team, found)


def _weights(weights: Any, array: Array) -> Array:
    """Weights as floats, if there is one for each element."""
    given = an_array(weights)
    if given.shape != array.shape:
        raise ValueError(f"weights of shape {given.shape} for {array.shape}; give one for each")
    if not np.can_cast(given.dtype, np.float64, "same_kind"):
        raise TypeError(f"weights of {given.dtype} are no real numbers; use real or imag")
    return given._cast(np.float64)


def histogram(
    a: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Array, Array]:
    """Return how many elements lie between bounds, and the bounds."""
    array = reshape(a, -1)
    loads = None if weights is None else reshape(weights, -1)
    if loads is not None and loads.shape != array.shape:
        raise ValueError(f"weights of {loads.size} for {array.size} elements; give one for each")
    edges = edges_of(array, bins, range, is_weighted=loads is not None)
    local = (array,) if loads is None else (array, loads)
    alone = all(is_here(one) for one in local)
    if alone:
        parts = [one.local for one in local]
    else:
        array.team.say(f"histogram({_words(edges)}, density={bool(density)})")
        parts = [elements_of(array)] if loads is None else same_rows(*local)
    if parts[0].dtype == np.bool:
        parts[0] = parts[0].astype(np.uint8)
    given = None if loads is None else parts[1]
    with np.errstate(all="ignore"):
        counts, bounds = np.histogram(parts[0], edges.bins, edges.range, weights=given)
    team = array.team
    made = from_here(counts, team) if alone else added_up(team, counts)
    where = from_here(bounds, team)
    if density:
        widths = from_here(np.diff(bounds).astype(np.float64), team)
        made = made / widths / total(made)
    return made, where


def _words(edges: Edges) -> str:
    """Bounds in a few words, of which equal ones have the same."""
    bins = edges.bins if np.ndim(edges.bins) == 0 else digest(np.asarray(edges.bins))
    return f"bins={bins!r}, range={edges.range!r}"


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> Array:
    """Return the bounds between which `histogram` counts."""
    array = reshape(a, -1)
    edges = edges_of(array, bins, range, is_weighted=weights is not None)
    dtype = np.dtype(np.uint8) if array.dtype == np.bool else array.dtype
    found = np.histogram_bin_edges(np.empty(0, dtype), edges.bins, edges.range)
    return from_here(found, array.team)


__all__ = ["bincount", "histogram", "histogram_bin_edges"]
