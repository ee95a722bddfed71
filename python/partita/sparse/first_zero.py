"""The first element of a matrix that is not stored, found by its entries alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.parts import cut_along
from partita.sparse.reducing import sent
from partita.sparse.slices import Slices

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita.sparse.base import Base

Local = np.ndarray[Any, Any]


def first_absent(tensor: Base, call: str, coords: Sequence[Local]) -> int:
    """Return the first position in C order that no rank has; some element is absent. Collective.

    Rows travel to ranks in blocks; work and memory are those of entries, not of rows.
    """
    team, (n_rows, n_columns) = tensor.team, tensor.shape
    layout = cut_along((n_rows,), 0, team.size)
    (rows,), (columns,) = sent(tensor, call, Slices(layout), [coords[0]], [coords[1]])
    filled, counts = np.unique(rows, return_counts=True)
    first = _first_gap(filled[counts == n_columns])
    found = None
    if first < layout.local_shape(team.rank)[0]:
        row = int(layout.globalize(team.rank, np.array([[first]]))[0, 0])
        found = row * n_columns + _first_gap(np.sort(columns[rows == first]))
    return int(min(one for one in team.allgather_data(found) if one is not None))


def _first_gap(numbers: Local) -> int:
    """Return the first number from 0 on that is not among rising ones."""
    gaps = np.flatnonzero(numbers != np.arange(len(numbers)))
    return int(gaps[0]) if len(gaps) else len(numbers)
