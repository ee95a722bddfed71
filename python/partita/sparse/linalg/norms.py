"""Norms of sparse and dense matrices."""

from __future__ import annotations

from typing import Any

from partita.linalg import norms
from partita.sparse.base import Base


def norm(x: Any, ord: Any = None, axis: Any = None) -> Any:
    """Return the norm of a matrix: 'fro', 1, -1, inf, -inf, 0; of lines along an axis. Collective.

    A number for a whole sparse matrix, as in SciPy; an array for lines.
    """
    if isinstance(x, Base):
        measured: Any = x
        return measured.norm(ord, axis)
    return norms.norm(x, ord, axis)
