"""Order statistics and counts on the ranks of a team, beside NumPy's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy
from bodies_ordering import LAYOUTS, cases, cut, same, sample
from generate import fitted

import partita as pt

# Its types are stricter than what tests give to it.
np: Any = numpy

METHODS = ["inverted_cdf", "averaged_inverted_cdf", "closest_observation", "hazen", "weibull"]
METHODS += ["interpolated_inverted_cdf", "linear", "median_unbiased", "normal_unbiased"]
METHODS += ["lower", "higher", "midpoint", "nearest"]


def statistics(team: pt.Team, dtype: str) -> None:
    cut(team)
    warnings.simplefilter("ignore", RuntimeWarning)
    for x, a, case in cases([dtype], [(1,), (30,), (5, 6), (2, 2, 9)]):
        for axis in (None, 0, -1, tuple(range(x.ndim))[-2:]):
            same(pt.median(a, axis), np.median(x, axis), case, axis)
            wanted = np.nanmedian(x, axis, keepdims=True)
            same(pt.nanmedian(a, axis, keepdims=True), wanted, case, axis)
            same(pt.quantile(a, 0.3, axis), np.quantile(x, 0.3, axis), case, axis)
            same(pt.percentile(a, [[9, 5]], axis), np.percentile(x, [[9, 5]], axis), case, axis)
            # Not in two dimensions: NumPy then mixes up those of several axes.
            shares = [30, 62.5, 100]
            wanted = np.nanpercentile(x, shares, axis, keepdims=True)
            same(pt.nanpercentile(a, shares, axis, keepdims=True), wanted, case, axis)
    x = np.abs(sample((37,), dtype))
    numbers = np.where(np.isnan(x), x.dtype.type(2), x)
    a = pt.asarray(numbers, "block")
    for method in METHODS:
        for q in (0.26, [0.0, 0.1, 0.5, 0.99, 1.0]):
            wanted = np.quantile(numbers, q, method=method)
            same(pt.quantile(a, q, method=method), wanted, method, q)
            wanted = np.percentile(numbers, np.multiply(q, 100), method=method)
            same(pt.percentile(a, np.multiply(q, 100), method=method), wanted, method, q)
    same(pt.nanquantile(pt.asarray(x, "block"), [0.5]), np.nanquantile(x, [0.5]))


def counts(team: pt.Team) -> None:
    cut(team)
    for dtype in ("int8", "bool"):
        x = sample((300,), dtype)
        x = x if dtype == "bool" else np.abs(x)
        weights = np.arange(300) * 0.5
        for layout in LAYOUTS:
            a, w = pt.asarray(x, fitted(layout, 1)), pt.asarray(weights, "block")
            same(pt.bincount(a), np.bincount(x))
            same(pt.bincount(a, minlength=40), np.bincount(x, minlength=40))
            same(pt.bincount(a, w), np.bincount(x, weights))
            same(pt.bincount(a, weights, 9), np.bincount(x, weights, 9))
    for dtype in ("float32", "int8"):
        x = np.nan_to_num(sample((5, 60), dtype), posinf=3)
        for layout in LAYOUTS:
            a = pt.asarray(x, layout)
            words = ["auto", "doane"] if layout == "*" else ["fd", "rice", "scott", "sturges"]
            for bins in (10, [-1, 0, 1.5, 2], *words):
                for span in (None, (-1, 2))[: 1 + (layout == "block")]:
                    wanted = np.histogram(x, bins, span)
                    for found, other in zip(pt.histogram(a, bins, span), wanted, strict=True):
                        same(found, other, dtype, layout, bins, span)
                    same(pt.histogram_bin_edges(a, bins, span), wanted[1])
            found, _ = pt.histogram(a, 7, density=True)
            np.testing.assert_allclose(found.gather(), np.histogram(x, 7, density=True)[0])
            weights = np.full(x.shape, 0.25)
            same(pt.histogram(a, 7, weights=weights)[0], np.histogram(x, 7, weights=weights)[0])
    empty: Any
    for empty in (pt.zeros(0, "int64"), []):
        same(pt.bincount(empty, minlength=3), np.zeros(3, int))
