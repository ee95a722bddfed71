"""Rows sorted over the ranks of a team.

Every rank sorts what it has, the ranks find where their runs are to be cut (`selection`), each
part travels once to the rank where it belongs, and the ranks merge what they got. The result lies
where arrays lie by default, however many keys are equal.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._algorithms.rows import Row, sizes_of_row
from partita._algorithms.selection import select
from partita._local import choosing, sorting
from partita._memory.warm import empty
from partita._team.routing import exchanged

if TYPE_CHECKING:
    from partita._team.team import Team

Local = np.ndarray[Any, Any]


def sorted_copy(local: Local) -> Local:
    """A block sorted along its last axis, in memory of its own."""
    made = empty(local.shape, local.dtype)
    made[...] = local
    sorting.sort(made)
    return made


def sorted_row(team: Team, row: Row, *, descending: bool = False) -> Row:
    """The elements of a row in order. Collective."""
    if row.is_own:
        run = row.local
        sorting.sort(run)
    else:
        run = sorted_copy(row.local)
    parts, counts, sizes = _parts(team, run, row.sizes, descending)
    made = sorting.merge(exchanged(team, [run[part] for part in parts], counts))
    return Row(made[::-1] if descending else made, sizes, True)


def sorting_positions(team: Team, row: Row, *, descending: bool = False) -> Row:
    """The positions that sort a row; those of equal elements stay in order. Collective.

    Descending, the row is sorted from its end on and turned round, so that both orders are stable.
    """
    first = row.first(team.rank)
    local = np.ascontiguousarray(row.local[::-1]) if descending else row.local
    order = sorting.positions(local)
    # Sorting real numbers again is faster than reading them all over the memory.
    run = choosing.gather(local, order) if local.dtype.kind == "c" else sorted_copy(local)
    positions = first + len(local) - 1 - order if descending else order
    if first and not descending:
        positions += first
    parts, counts, sizes = _parts(team, run, row.sizes, descending)
    runs = exchanged(team, [run[part] for part in parts], counts)
    places = exchanged(team, [positions[part] for part in parts], counts)
    if descending:
        runs, places = runs[::-1], places[::-1]
    made = choosing.gather(np.concatenate(places), sorting.merging_positions(runs))
    return Row(made[::-1] if descending else made, sizes, True)


def _parts(
    team: Team, run: Local, sizes: list[int], descending: bool
) -> tuple[list[slice], list[list[int]], list[int]]:
    """What of a run goes to each rank; how many go from which rank to which; sizes at the end."""
    targets = sizes_of_row(sum(sizes), team)
    ascending = targets[::-1] if descending else targets
    ends = np.cumsum(ascending)[:-1].tolist()
    inside = [end for end in ends if 0 < end < sum(sizes)]
    found = select(team, run, sizes, inside, last_rank_first=descending)
    columns = dict(zip(inside, found.before.T, strict=True))
    columns |= {0: np.zeros(team.size, np.int64), sum(sizes): np.asarray(sizes, np.int64)}
    before = np.stack([columns[end] for end in (0, *ends, sum(sizes))], axis=1)
    counts = np.diff(before, axis=1)
    own = before[team.rank].tolist()
    parts = [slice(*pair) for pair in pairwise(own)]
    if descending:
        counts, parts = counts[:, ::-1], parts[::-1]
    return parts, counts.tolist(), targets
