"""Quantiles of elements that count more than others."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions import elementwise, picking, searching, sorting, statistics
from partita._functions.creation import an_array, full
from partita._functions.manipulation import broadcast_to, stack


def fitting(weights: Any, array: Array, axes: list[int], method: str) -> Array:
    """Weights for every element of an array; given for all, or for those along the axes."""
    if method != "inverted_cdf":
        raise ValueError(f"weights with method {method!r}; use method='inverted_cdf'")
    found = an_array(weights)
    if found.shape != array.shape:
        if len(axes) == array.ndim > 1:
            raise TypeError(f"weights of shape {found.shape} for {array.shape}; name the axis")
        if found.shape != tuple(array.shape[at] for at in axes):
            message = f"weights of shape {found.shape} for an array of shape {array.shape}"
            raise ValueError(f"{message}; use as many as there are along the axis")
        order = sorted(range(len(axes)), key=axes.__getitem__)
        kept = [size if at in axes else 1 for at, size in enumerate(array.shape)]
        found = broadcast_to(found.transpose(order).reshape(kept), array.shape)
    if bool(statistics.any(found < 0)):
        raise ValueError("weights below zero; use zero or more")
    return found


def of_lines(lines: Array, weights: Array, shares: Any, *, skips_nan: bool) -> Array:
    """For every share, the first element of each last axis up to which so much weight lies.

    The shares are the last dimension of the result.
    """
    order = sorting.argsort(lines, axis=-1)
    ordered = picking.take_along_axis(lines, order, axis=-1)
    heavy = picking.take_along_axis(weights, order, axis=-1).astype(np.float64)
    holes = elementwise.isnan(ordered) if lines.dtype.kind == "f" else None
    last: Any = lines.shape[-1] - 1
    if holes is not None and skips_nan:
        # What is not a number comes last in order, and has no weight.
        heavy = searching.where(holes, 0.0, heavy)
        last = elementwise.maximum(statistics.sum(~holes, axis=-1) - 1, 0)
    running = statistics.cumsum(heavy, axis=-1)
    running = running / running[..., -1:]
    none = statistics.all(holes, axis=-1) if holes is not None and skips_nan else False
    bad = elementwise.isnan(running[..., -1])
    if bool(statistics.any(elementwise.logical_and(bad, elementwise.logical_not(none)))):
        raise ValueError("weights with NaN or infinity, or all zero; use others")
    # Of elements without weight in front, none is the first.
    running = searching.where(running == 0, -1.0, running)
    found = []
    for share in np.ravel(shares).tolist():
        at = elementwise.minimum(statistics.sum(running < share, axis=-1), last)
        found.append(picking.take_along_axis(ordered, at[..., None], axis=-1)[..., 0])
    made = stack(found, axis=-1)
    if holes is None:
        return made
    lost = none if skips_nan else holes[..., -1]
    nan = full((), np.nan, made.dtype, team=made.team)
    cleared: Array = searching.where(elementwise.beside(lost, made)[..., None], nan, made)
    return cleared
