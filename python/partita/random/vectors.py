"""Distributions of vectors; their entries lie along the last axis."""

from __future__ import annotations

import operator
import warnings
from functools import reduce
from typing import Any

import numpy as np

from partita._array.array import Array
from partita._array.boxes import is_whole_along, slabs
from partita._functions.creation import sizes_of
from partita._functions.gathered import few
from partita._functions.manipulation import stack
from partita._functions.placing import placed
from partita._local import matrices
from partita.random.order import Order

# Numbers of rows that are turned at a time.
_AT_ONCE = 1 << 15


class Vectors(Order):
    """Distributions of vectors."""

    def dirichlet(self, alpha: Any, size: Any = None, **at: Any) -> Array:
        """Return vectors of numbers from 0 on whose sum is 1."""
        shapes = _known(alpha, "dirichlet")
        if shapes.ndim != 1 or not shapes.size or not (shapes > 0).all():
            raise ValueError(f"alpha of shape {shapes.shape}; use a row of positive numbers")
        sizes = () if size is None else sizes_of(size)
        layout = at.pop("layout", None)
        parts = [self.standard_gamma(float(one), sizes, **at) for one in shapes]
        # One after the other: the order of a sum over ranks would show in the last bits.
        total = reduce(operator.add, parts)
        return placed(stack([one / total for one in parts], axis=-1), layout)

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Any = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
        **at: Any,
    ) -> Array:
        """Return vectors of the normal distribution with a mean and covariances."""
        center, covariances = (_known(one, "multivariate_normal") for one in (mean, cov))
        n = len(center) if center.ndim == 1 else -1
        if covariances.shape != (n, n):
            message = f"a mean of shape {center.shape} and covariances of {covariances.shape}"
            raise ValueError(f"{message}; use n numbers and n times n")
        _check_covariances(covariances, check_valid, tol)
        root = _root(covariances, method)
        sizes = () if size is None else sizes_of(size)
        layout = at.pop("layout", None)
        made: Array = self.standard_normal((*sizes, n), **at)
        axis, team = len(sizes), made.team
        if not is_whole_along(made.layout, axis, team.size):
            if not sizes:
                made = made.redistribute("*")
            else:
                made = made.redistribute(slabs(made.shape, [axis], team.size))
        team.say(f"multivariate_normal(method={method!r})")
        local = made.local
        turned = _turned(local.reshape(-1, n), root).reshape(local.shape)
        turned += center
        return placed(Array([turned], made.layout, team, turned.dtype), layout)


def _known(given: Any, name: str) -> np.ndarray[Any, Any]:
    """A parameter that every rank has to know. Collective."""
    return np.asarray(few(given, name) if isinstance(given, Array) else given, np.float64)


@np.errstate(all="ignore")
def _turned(rows: np.ndarray[Any, Any], root: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Rows times a matrix, added up in one order: how many a rank has shows in no bit."""
    made = np.zeros_like(rows)
    # So many rows that they stay in the cache.
    n_at_once = max(1, _AT_ONCE // max(1, len(root)))
    for start in range(0, len(rows), n_at_once):
        part = slice(start, start + n_at_once)
        for at, line in enumerate(root):
            made[part] += rows[part, at : at + 1] * line
    return made


def _check_covariances(given: np.ndarray[Any, Any], check_valid: str, tol: float) -> None:
    if check_valid not in ("warn", "raise", "ignore"):
        raise ValueError(f"check_valid {check_valid!r}; use 'warn', 'raise' or 'ignore'")
    if check_valid == "ignore":
        return
    is_fine = np.allclose(given, given.T, rtol=tol, atol=tol)
    if is_fine and given.size:
        (values,) = matrices.eigh(given, vectors=False)
        is_fine = bool(values[0] >= -tol * max(abs(values[-1]), 1))
    if not is_fine:
        message = "the covariances are not symmetric and positive; use such a matrix"
        if check_valid == "raise":
            raise ValueError(message)
        warnings.warn(message, RuntimeWarning, stacklevel=3)


def _root(covariances: np.ndarray[Any, Any], method: str) -> Any:
    """A matrix whose transpose times itself is the covariances."""
    if method == "cholesky":
        return np.ascontiguousarray(matrices.cholesky(covariances).T)
    if method == "eigh":
        values, vectors = matrices.eigh(covariances)
        return np.ascontiguousarray((vectors * np.sqrt(np.maximum(values, 0))).T)
    if method == "svd":
        _, values, rows = matrices.svd(covariances)
        return np.ascontiguousarray(np.sqrt(values)[:, None] * rows)
    raise ValueError(f"method {method!r}; use 'svd', 'eigh' or 'cholesky'")
