"""Counts of every rank added up, element by element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._algorithms.rows import from_row, sizes_of_row
from partita._team.routing import routed

if TYPE_CHECKING:
    from partita._array.array import Array
    from partita._team.team import Team


def added_up(team: Team, counts: np.ndarray[Any, Any]) -> Array:
    """The sum of one row of each rank, all of one length, in rank order. Collective."""
    sizes = sizes_of_row(len(counts), team)
    parts = np.split(counts, np.cumsum(sizes)[:-1])
    total, *others = routed(team, parts, [sizes] * team.size)
    for one in others:
        total = total + one
    return from_row(total, sizes, team)
