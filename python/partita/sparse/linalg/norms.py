"""Norms of sparse and dense matrices."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita.linalg import norms
from partita.sparse.base import Base
from partita.sparse.elements import is_number
from partita.sparse.linalg.lanczos import eigsh
from partita.sparse.linalg.operators import LinearOperator
from partita.sparse.telling import telling


@telling
def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """Return the norm of a matrix: 'fro', 1, -1, 2, inf, -inf; of lines along an axis. Collective.

    A number for a whole sparse matrix, as in SciPy; an array for lines.
    """
    if not isinstance(x, Base):
        return norms.norm(x, ord, axis)
    measured: Any = x
    is_whole = axis is None or np.ndim(axis) == 1
    if is_whole and is_number(ord) and ord == 2 and x.ndim == 2:
        return _largest_singular_value(measured)
    return measured.norm(ord, axis)


def _largest_singular_value(x: Any) -> Any:
    """The root of the largest eigenvalue of the matrix times its adjoint, on the shorter side."""
    # Squares of numbers of size 1 neither overflow nor vanish.
    size = abs(x).max()
    if size == 0 or not np.isfinite(size):
        return np.float64(size)
    a = x / size
    n = min(x.shape)
    if n == 1:
        # One row or column is a vector.
        return np.float64(size * a.norm())
    if n == x.shape[0]:
        product = LinearOperator((n, n), lambda v: a @ a.rmatvec(v), dtype=a.dtype, team=x.team)
    else:
        product = LinearOperator((n, n), lambda v: a.rmatvec(a @ v), dtype=a.dtype, team=x.team)
    found = eigsh(product, 1, return_eigenvectors=False)
    return np.float64(size * np.sqrt(max(found[0].item(), 0.0)))
