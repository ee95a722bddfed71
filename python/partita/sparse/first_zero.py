"""The first element of a tensor that is not stored, found by its entries alone."""

from __future__ import annotations

import math
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

    A row is all that has one index in the first dimension, its columns are the places in it. Rows
    travel to ranks in blocks; work and memory are those of entries, not of rows.
    """
    team, (n_rows, *sides) = tensor.team, tensor.shape
    n_columns = math.prod(sides)
    layout = cut_along((n_rows,), 0, team.size)
    inner = flat_places(coords[1:], sides, len(coords[0]))
    (rows,), (columns,) = sent(tensor, call, Slices(layout), [coords[0]], [inner])
    filled, counts = np.unique(rows, return_counts=True)
    first = _first_gap(filled[counts == n_columns])
    found = None
    if first < layout.local_shape(team.rank)[0]:
        row = int(layout.globalize(team.rank, np.array([[first]]))[0, 0])
        found = row * n_columns + _first_gap(np.sort(columns[rows == first]))
    return int(min(one for one in team.gather_inside("first zeros", found) if one is not None))


def flat_places(coords: Sequence[Local], sides: Sequence[int], n: int) -> Local:
    """Return the positions in C order of n places, by their coordinates in some dimensions."""
    found = np.zeros(n, np.int64)
    for one, side in zip(coords, sides, strict=True):
        found = found * side + one
    return found


def _first_gap(numbers: Local) -> int:
    """Return the first number from 0 on that is not among rising ones."""
    gaps = np.flatnonzero(numbers != np.arange(len(numbers)))
    return int(gaps[0]) if len(gaps) else len(numbers)
