"""How many points lie in the boxes of a grid."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions import counting
from partita._functions.creation import an_array
from partita._functions.finding import searchsorted
from partita._functions.gathered import few
from partita._functions.statistics import sum as total
from partita._functions.types import result_type


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[Array, list[Array]]:
    """Return how many points lie in the boxes between bounds, and the bounds of each dimension.

    Points are the rows of an array, or a list has the coordinates of each dimension.
    """
    points = _coordinates(sample)
    n_dims = len(points)
    wanted = [bins] * n_dims if not np.iterable(bins) else list(bins)
    ranges = [None] * n_dims if range is None else list(range)
    for name, given in (("bins", wanted), ("ranges", ranges)):
        if len(given) != n_dims:
            raise ValueError(f"{len(given)} {name} for {n_dims} dimensions; give one for each")
    edges = [_edges(*one) for one in zip(points, wanted, ranges, strict=True)]
    shape = [len(one) + 1 for one in edges]
    # Boxes beyond the bounds on every side count what lies outside, and are cut off at the end.
    places = [_boxes(one, bounds) for one, bounds in zip(points, edges, strict=True)]
    strides = np.cumprod([1, *shape[:0:-1]])[::-1].tolist()
    flat = reduce(operator.add, (at * step for at, step in zip(places, strides, strict=True)))
    counts = counting.bincount(flat, weights, minlength=int(np.prod(shape)))
    made = counts.reshape(shape)[(slice(1, -1),) * n_dims].astype(np.float64)
    if density:
        everything = total(made)
        for dim, bounds in enumerate(edges):
            widths = np.diff(bounds).reshape([-1 if at == dim else 1 for at in _dims(n_dims)])
            made = made / widths
        made = made / everything
    return made, [an_array(one) for one in edges]


_dims = range


def _coordinates(sample: Any) -> list[Array]:
    if isinstance(sample, list | tuple) and any(isinstance(one, Array) for one in sample):
        given = [an_array(one) for one in sample]
        # As columns of one array they would have one type.
        dtype = result_type(*given)
        return [one if one.dtype == dtype else one._cast(dtype) for one in given]
    # As in NumPy, lists are rows of coordinates.
    points = an_array(sample) if hasattr(sample, "shape") else an_array(np.atleast_2d(sample).T)
    if points.ndim == 1:
        return [points]
    if points.ndim != 2:
        raise ValueError(f"points of shape {points.shape}; use rows of coordinates")
    return [points[:, dim] for dim in _dims(points.shape[1])]


def _edges(points: Array, bins: Any, limits: Any) -> Any:
    """The bounds in one dimension, which every rank knows."""
    if not np.iterable(bins):
        number = operator.index(bins)
        if number < 1:
            raise ValueError(f"{number} bins; use 1 or more")
        # Without points and limits, NumPy's are numbers of Python.
        kind = points if points.size else points.astype(np.float64)
        return few(counting.histogram_bin_edges(kind, number, limits), "histogramdd")
    known = np.asarray(few(bins, "histogramdd") if isinstance(bins, Array) else bins)
    if known.ndim != 1 or np.any(known[:-1] > known[1:]):
        raise ValueError("bounds that fall; use a row that rises")
    return known


def _boxes(points: Array, bounds: Any) -> Array:
    """The box of each coordinate, 0 below all bounds; the last bound belongs to the last box."""
    at = searchsorted(bounds, points, side="right")
    made: Array = at - (points == bounds[-1]).astype(np.int64)
    return made


def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Any = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[Array, Array, Array]:
    """Return how many points of a plane lie in the boxes between bounds, and the bounds."""
    first, second = an_array(x), an_array(y)
    if first.shape != second.shape or first.ndim != 1:
        message = f"coordinates of shapes {first.shape} and {second.shape}"
        raise ValueError(f"{message}; use rows of one length")
    n_given = len(bins) if hasattr(bins, "__len__") else 2
    if n_given != 2:
        bins = [bins[0], bins[0]] if n_given == 1 else [bins, bins]
    made, edges = histogramdd([first, second], bins, range, density, weights)
    return made, edges[0], edges[1]


__all__ = ["histogram2d", "histogramdd"]
