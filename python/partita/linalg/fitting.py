"""Polynomials through points, by least squares."""

from __future__ import annotations

import warnings
from operator import index
from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions import elementwise
from partita._functions.creation import an_array
from partita._functions.elementwise import beside
from partita._functions.grids import vander
from partita._functions.products import outer
from partita.linalg.elimination import inv
from partita.linalg.least_squares import lstsq


def polyfit(
    x: Any,
    y: Any,
    deg: int,
    rcond: float | None = None,
    full: bool = False,
    w: Any = None,
    cov: bool | str = False,
) -> Any:
    """Return the polynomial of a degree nearest to points, its highest power first. Collective.

    The points stay where they are; only as many numbers as there are powers are exchanged.

    >>> import partita as pt
    >>> print(pt.polyfit([0.0, 1.0, 2.0], [1.0, 3.0, 5.0], 1).round(6))
    [2. 1.]
    """
    places, values = _points(x, y)
    n_terms = index(deg) + 1
    if n_terms < 1:
        raise ValueError(f"a polynomial of degree {deg}; use 0 or more")
    if rcond is None:
        rcond = len(places) * float(np.finfo(places.dtype).eps)
    powers, right = vander(places, n_terms), values
    if w is not None:
        weights = _weights(w, values)
        powers = powers * weights[:, None]
        right = right * (weights if right.ndim == 1 else weights[:, None])
    # Columns of one length: high powers of large numbers would hide the others.
    scale = elementwise.sqrt((powers * powers)._reduce("sum", 0))
    found = lstsq(powers / scale, right, rcond)
    terms = (found.x.T / scale).T
    if found.rank != n_terms and not full:
        # NumPy's warning, which programs filter by its class.
        message = f"the points do not determine a polynomial of degree {deg}; use a lower one"
        warnings.warn(message, np.exceptions.RankWarning, stacklevel=2)
    if full:
        return terms, found.residuals, found.rank, found.s, rcond
    if cov:
        return terms, _covariances(powers / scale, scale, found.residuals, right, cov)
    return terms


def _points(x: Any, y: Any) -> tuple[Array, Array]:
    """Places and values as numbers with fractions; refused if they do not fit."""
    places = (beside(x, y) if isinstance(y, Array) else an_array(x)) + 0.0
    values = beside(y, places) + 0.0
    if places.ndim != 1 or places.size == 0:
        raise TypeError(f"places of shape {places.shape}; use a vector with an element or more")
    if values.ndim not in (1, 2) or len(values) != len(places):
        message = f"values of shape {values.shape} for {len(places)} places"
        raise TypeError(f"{message}; use one row of values for each place")
    return places, values


def _weights(w: Any, values: Array) -> Array:
    weights = beside(w, values) + 0.0
    if weights.shape != (len(values),):
        message = f"weights of shape {weights.shape} for {len(values)} points"
        raise TypeError(f"{message}; use one weight for each point")
    return weights


def _covariances(
    powers: Array, scale: Array, residuals: Array, values: Array, cov: bool | str
) -> Array:
    """How the terms vary together; for each column of values, in the last dimension."""
    base = inv(powers.T @ powers) / outer(scale, scale)
    wide = base if values.ndim == 1 else base[:, :, None]
    if cov == "unscaled":
        return wide
    n_free = len(values) - len(scale)
    if n_free <= 0:
        message = f"{len(values)} points for {len(scale)} terms say nothing of how they vary"
        raise ValueError(f"{message}; use more points, or cov='unscaled'")
    return wide * (residuals / n_free)


__all__ = ["polyfit"]
