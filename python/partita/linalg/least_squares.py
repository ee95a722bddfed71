"""Least squares and generalised inverses."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.linalg import LinAlgError

from partita._functions import elementwise
from partita._functions.creation import an_array, empty
from partita._functions.products import matmul
from partita._functions.searching import where
from partita.linalg.full_rank import inverse_above, is_in_panels
from partita.linalg.given import matrix, pair, real_type
from partita.linalg.spectral import svd
from partita.linalg.triangles import adjoint

if TYPE_CHECKING:
    from partita._array.array import Array


class LstsqResult(NamedTuple):
    """Solutions, sums of squared residuals, the rank, singular values."""

    x: Array
    residuals: Array
    rank: np.int32
    s: Array


def lstsq(a: Any, b: Any, rcond: Any = None) -> LstsqResult:
    """Return the shortest solutions with the least squared residuals. Collective.

    A tall or wide matrix stays where it is; any other that is spread is brought to every rank.
    """
    x, y = pair(a, b)
    if x.ndim != 2 or y.ndim not in (1, 2) or x.shape[0] != y.shape[0]:
        message = f"a matrix of shape {x.shape} and right sides of shape {y.shape}"
        raise LinAlgError(f"{message}; use two dimensions, and as many rows")
    right = y[:, None] if y.ndim == 1 else y
    n_rows, n_columns = x.shape
    if rcond is None:
        rcond = float(np.finfo(x.dtype).eps) * max(n_rows, n_columns)
    u, s, vh = svd(x, full_matrices=False)
    values = s.gather()
    bound = rcond * values.max(initial=0)
    rank = np.int32(np.count_nonzero(values > bound))
    turned = matmul(adjoint(u), right) * _inverses(s, bound)[:, None]
    found = matmul(adjoint(vh), turned)
    if rank == n_columns < n_rows:
        sizes = elementwise.abs(right - matmul(x, found))
        residuals = (sizes * sizes)._reduce("sum", 0)
    else:
        residuals = empty((0,), real_type(x.dtype), team=x.team)
    return LstsqResult(found[:, 0] if y.ndim == 1 else found, residuals, rank, s)


def _inverses(values: Array, bound: Any) -> Array:
    """One over each singular value above a bound, zero for the others."""
    is_kept = values > bound
    made: Array = where(is_kept, 1 / where(is_kept, values, 1.0), 0.0)
    return made


def pinv(a: Any, rcond: Any = None, hermitian: bool = False, *, rtol: Any = None) -> Array:
    """Return generalised inverses, by singular values above a tolerance. Collective.

    One spread matrix is inverted in parts if it is tall or wide, or if its columns, or rows, are
    clearly independent. Any other is brought to every rank, for its singular values.
    """
    array = matrix(a)
    if 0 in array.shape[-2:]:
        turned = (*array.shape[:-2], array.shape[-1], array.shape[-2])
        return empty(turned, array.dtype, team=array.team)
    relative = rcond if rtol is None else rtol
    if relative is None:
        relative = max(array.shape[-2:]) * float(np.finfo(array.dtype).eps)
    array.team.say(f"linalg.pinv(rcond={rcond!r}, rtol={rtol!r})")
    if is_in_panels(array) and np.ndim(relative) == 0:
        found = inverse_above(array, float(relative))
        if found is not None:
            return found
    u, s, vh = svd(array, full_matrices=False, hermitian=hermitian)
    wide = relative if np.ndim(relative) == 0 else an_array(relative)[..., None]
    kept = _inverses(s, wide * s._reduce("max", -1, True))
    return matmul(adjoint(vh) * kept[..., None, :], adjoint(u))


__all__ = ["LstsqResult", "lstsq", "pinv"]
