"""Counts of every rank added up, element by element.

Where most of them are zero, only those travel that are not: no rank has the whole row.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._algorithms.distinct import distinct_here
from partita._algorithms.rows import from_row, sizes_of_row
from partita._local import choosing, sorting
from partita._team.routing import routed

if TYPE_CHECKING:
    from partita._array.array import Array
    from partita._team.team import Team

Local = np.ndarray[Any, Any]


@np.errstate(all="ignore")
def added_up(team: Team, counts: Local) -> Array:
    """The sum of one row of each rank, all of one length, in rank order. Collective."""
    sizes = sizes_of_row(len(counts), team)
    parts = np.split(counts, np.cumsum(sizes)[:-1])
    total, *others = routed(team, parts, [sizes] * team.size)
    for one in others:
        total = total + one
    return from_row(total, sizes, team)


def added_at(team: Team, places: Local, loads: Local | None, n_places: int) -> Array:
    """A row of what all ranks add at places, such as 1 for each without loads. Collective."""
    own = distinct_here(places, equal_nan=False, wants_places=loads is not None)
    sums = own.counts
    if loads is not None:
        assert own.places is not None
        sums = np.zeros(len(own.values), loads.dtype)
        choosing.scatter_add(sums, own.places.inverse, loads)
    sizes = sizes_of_row(n_places, team)
    starts = np.cumsum([0, *sizes])
    cuts = sorting.search(own.values, starts[1:-1])
    n_sent = np.diff([0, *cuts.tolist(), len(own.values)])
    counts = team.gather_inside("numbers of sums to send", n_sent.tolist())
    came, added = (
        np.concatenate(routed(team, np.split(one, cuts), counts)) for one in (own.values, sums)
    )
    total = np.zeros(sizes[team.rank], sums.dtype)
    choosing.scatter_add(total, came - starts[team.rank], added)
    return from_row(total, sizes, team)
