"""Orthonormal columns and triangles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._array.parts import array_of, cut_along, part, slab_sizes, spread, whole
from partita._local import matrices
from partita.linalg.given import matrix
from partita.linalg.reflections import factorised
from partita.linalg.stacks import is_few, is_local, of_stacks, one_by_one

if TYPE_CHECKING:
    from partita._array.array import Array

Local = np.ndarray[Any, Any]


class QRResult(NamedTuple):
    """Orthonormal columns and upper triangles."""

    Q: Array
    R: Array


def qr(a: Any, mode: str = "reduced") -> Any:
    """Return orthonormal columns and triangles whose products are the matrices. Collective.

    The mode is "reduced", "complete" or "r", the triangles alone. Rows and columns may have other
    signs than NumPy's. A tall matrix is factorised where its rows are, any other in panels.
    """
    if mode not in ("reduced", "complete", "r"):
        raise ValueError(f"mode {mode!r}; use 'reduced', 'complete' or 'r'")
    array = matrix(a)
    array.team.say(f"linalg.qr(mode={mode!r})")
    if is_few(array):
        return one_by_one(lambda one: qr(one, mode), array)
    if is_local(array):
        if mode == "r":
            return of_stacks(lambda one: (matrices.qr(one)[1],), array)[0]
        work = matrices.qr if mode == "reduced" else _complete
        return QRResult(*of_stacks(work, array))
    if mode != "complete" and is_tall(array):
        q, r = of_tall(array)
        found = spread(r, array.team)
        return found if mode == "r" else QRResult(q, found)
    n_columns = {"r": 0, "reduced": min(array.shape), "complete": array.shape[0]}[mode]
    columns, triangle = factorised(array, n_columns)
    return triangle if columns is None else QRResult(columns, triangle)


def _complete(local: Local) -> tuple[Local, Local]:
    """As many orthonormal columns as rows: the local factorisation of the unit matrix beside it."""
    n_rows, n_columns = local.shape[-2:]
    if n_columns >= n_rows:
        return matrices.qr(local)
    unit = np.broadcast_to(np.eye(n_rows, dtype=local.dtype), (*local.shape[:-1], n_rows))
    q, r = matrices.qr(np.concatenate([local, unit], axis=-1))
    return q, np.triu(r[..., :n_columns])


def is_tall(array: Array) -> bool:
    """Whether a matrix has as many rows for every rank as it has columns."""
    return bool(array.shape[0] >= array.shape[1] * array.team.size)


def is_wide(array: Array) -> bool:
    """Whether a matrix has as many columns for every rank as it has rows."""
    return bool(array.shape[1] >= array.shape[0] * array.team.size)


def of_tall(array: Array) -> tuple[Array, Local]:
    """Orthonormal columns where the rows are, and the triangle on every rank. Collective.

    Every rank factorises its rows, then all the triangles of all, which are small.
    """
    team, n_columns = array.team, array.shape[1]
    sizes = slab_sizes(array.layout, 0, team.size)
    rows = cut_along(array.shape, 0, team.size, sizes)
    q, r = matrices.qr(part(array, rows))
    heights = [min(rows.local_shape(rank)[0], n_columns) for rank in range(team.size)]
    stacked = cut_along((sum(heights), n_columns), 0, team.size, heights)
    seen = whole(array_of(r, stacked, team))
    turned, triangle = matrices.qr(seen)
    start = sum(heights[: team.rank])
    own = matrices.matmul(q, turned[start : start + heights[team.rank]])
    return array_of(own, rows, team), triangle
