"""Medians, quantiles and percentiles."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from partita._algorithms.lines import by_lines
from partita._algorithms.quantiles import TAKEN, middle, pairs_of, quantile_places
from partita._algorithms.rows import from_here, row_of
from partita._array.array import Array
from partita._array.parts import found_in_order
from partita._functions import weighted
from partita._functions.creation import an_array, axes_of
from partita._functions.elementwise import reduced_to
from partita._functions.gathered import whole
from partita._functions.manipulation import moveaxis, reshape


def _statistic(
    name: str,
    x: Any,
    axis: Any,
    out: Any,
    keepdims: bool,
    q: Any = None,
    method: str = "",
    weights: Any = None,
) -> Array:
    """What NumPy's function of a name makes of lines; of few lines that are cut, the same."""
    array = an_array(x)
    q = whole(q, name) if isinstance(q, Array) else q
    options = {} if q is None else {"q": q, "method": method}
    numpys: Any = getattr(np, name)
    # What NumPy refuses is refused here, before anything is computed, on every rank.
    sample = np.asarray(numpys(np.ones(2, array.dtype), **options))
    axes = list(range(array.ndim)) if axis is None else axes_of(axis, array.ndim)
    rest = [size for at, size in enumerate(array.shape) if at not in axes]
    heavy = None if weights is None else weighted.fitting(weights, array, axes, method)
    if array.size == 0:
        nothing = np.empty(array.shape, array.dtype)
        # NumPy forgets the shape of `q` where it leaves out what is not a number.
        values = numpys(nothing, axis=tuple(axes), **options)
        made = from_here(np.broadcast_to(values, (*sample.shape, *rest)).copy(), array.team)
    elif heavy is not None:
        both = [moveaxis(*_as_lines(one, axes), -1) for one in (array, heavy)]
        shares = np.true_divide(q, 100) if name.endswith("percentile") else q
        skips_nan = name.startswith("nan")
        array.team.say(f"{name}(q={np.asarray(q).tolist()}, weights=...)")
        made = moveaxis(weighted.of_lines(both[0], both[1], shares, skips_nan=skips_nan), -1, 0)
    else:
        lines, at = _as_lines(array, axes)
        given = "" if q is None else f"(q={np.asarray(q).tolist()}, method={method!r})"

        def of_block(block: Any) -> Any:
            if block.size == 0:
                return np.empty((*block.shape[:-1], sample.size), sample.dtype)
            # NumPy places several rows of shares wrongly if the axis is counted from the end.
            found = np.asarray(numpys(block, axis=block.ndim - 1, **options))
            return np.moveaxis(found.reshape(sample.size, *block.shape[:-1]), 0, -1)

        found = by_lines(lines, at, of_block, f"{name}{given}")
        if found is None:
            found, at = _of_few_lines(name, moveaxis(lines, at, -1), q, method, sample.dtype), -1
        made = moveaxis(found, at, 0)
    if keepdims:
        rest = [1 if at in axes else size for at, size in enumerate(array.shape)]
    result: Array = reduced_to(found_in_order(reshape(made, (*sample.shape, *rest))), out)
    return result


def _as_lines(array: Array, axes: list[int]) -> tuple[Array, int]:
    """An array in which what lies along axes lies along one."""
    if len(axes) == 1:
        return array, axes[0]
    others = [at for at in range(array.ndim) if at not in axes]
    moved = array._permute([*others, *axes])
    length = math.prod(array.shape[at] for at in axes)
    return reshape(moved, (*(array.shape[at] for at in others), length)), len(others)


def _of_few_lines(name: str, lines: Array, q: Any, method: str, dtype: Any) -> Array:
    """Statistics of lines one by one, which all ranks find together."""
    at = np.ndindex(*lines.shape[:-1])
    found = np.asarray([_of_row(name, lines[one], q, method) for one in at], dtype)
    return from_here(found.reshape(*lines.shape[:-1], -1), lines.team)


@np.errstate(all="ignore")
def _of_row(name: str, line: Array, q: Any, method: str) -> list[Any]:
    skips_nan = name.startswith("nan")
    if q is None:
        pairs, between = pairs_of(line.team, row_of(line), middle, skips_nan=skips_nan)
        both = zip(pairs, between, strict=True)
        # One element alone is not added to itself, which may overflow.
        return [np.median(pair if share else pair[:1]) for pair, share in both]
    shares = np.true_divide(q, 100) if name.endswith("percentile") else np.asarray(q)
    wanted = shares.reshape(-1)
    pairs, between = pairs_of(
        line.team,
        row_of(line),
        lambda n: quantile_places(n, wanted, method),
        skips_nan=skips_nan,
    )
    if method in TAKEN:
        return [first for first, _ in pairs]
    # A number of Python leaves the elements their type.
    given = between.tolist() if type(q) in (int, float) else between
    return [_between(pair, share) for pair, share in zip(pairs, given, strict=True)]


def _between(pair: Any, share: Any) -> Any:
    """What lies between two elements, so near to the second, as NumPy finds it."""
    if share == 1:
        # It does not take the second alone: from an infinity to a number there is no way.
        return pair[1] - (pair[1] - pair[0]) * 0
    return np.quantile(pair, share)


def median(
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """Return the middle element in order, or the mean of the two, over axes."""
    return _statistic("median", a, axis, out, keepdims)


def nanmedian(
    a: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    keepdims: bool = False,
) -> Array:
    """Return the median over axes, without what is not a number."""
    return _statistic("nanmedian", a, axis, out, keepdims)


def quantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """Return below what a share of the elements lies, over axes, by one of NumPy's methods."""
    return _statistic("quantile", a, axis, out, keepdims, q, method, weights)


def nanquantile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """Return quantiles over axes, without what is not a number."""
    return _statistic("nanquantile", a, axis, out, keepdims, q, method, weights)


def percentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """Return quantiles over axes, with shares in percent.

    >>> import partita as pt
    >>> pt.percentile(pt.arange(5), [25, 50]).tolist()
    [1.0, 2.0]
    """
    return _statistic("percentile", a, axis, out, keepdims, q, method, weights)


def nanpercentile(
    a: Any,
    q: Any,
    axis: Any = None,
    out: Any = None,
    overwrite_input: bool = False,
    method: str = "linear",
    keepdims: bool = False,
    *,
    weights: Any = None,
) -> Array:
    """Return percentiles over axes, without what is not a number."""
    return _statistic("nanpercentile", a, axis, out, keepdims, q, method, weights)


__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]
