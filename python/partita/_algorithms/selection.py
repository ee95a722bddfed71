"""Where sorted rows are cut, so that the ranks' parts follow each other in one order.

Every rank has a sorted run. All elements are ordered by (key, rank, position), so that each has a
global index of its own, also among equal keys. A few rounds find the elements of given global
indices: every rank proposes some of those that may be meant, all count how many of theirs come
before each proposal, and what the counts leave over is halved some hundred times at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._local import sorting

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._team.team import Team

Local = np.ndarray[Any, Any]

# Proposals of all ranks for one index in one round; each rank makes a few at least.
_N_PROPOSALS = 512
_FEWEST = 8


class Selected(NamedTuple):
    """What comes before each global index, and the key that stands there."""

    before: Local
    """How many elements of each rank (rows) come before each index (columns)."""
    keys: Local


def select(
    team: Team,
    run: Local,
    sizes: Sequence[int],
    indices: Sequence[int],
    *,
    last_rank_first: bool = False,
) -> Selected:
    """Find the elements at global indices below the number of elements. Collective.

    Of equal keys those of the first rank come first, or those of the last.
    """
    wanted = np.asarray(indices, np.int64)
    low = np.zeros((team.size, len(wanted)), np.int64)
    high = np.repeat(np.asarray(sizes, np.int64)[:, None], len(wanted), axis=1)
    keys = np.zeros(len(wanted), run.dtype)
    is_open = np.full(len(wanted), True)
    while is_open.any():
        own = _proposed(low[team.rank, is_open], high[team.rank, is_open], team.size)
        offers = [
            _Offer(*one) for one in team.gather_inside("offers of a selection", (own, run[own]))
        ]
        counts = _counted(team, run, offers, last_rank_first)
        offered = np.concatenate([one.keys for one in offers])
        total = counts.sum(axis=0)
        for at in np.flatnonzero(is_open):
            index = wanted[at]
            below, above = total <= index, total > index
            if below.any():
                nearest = int(np.argmax(np.where(below, total, -1)))
                if total[nearest] >= low[:, at].sum():
                    low[:, at] = counts[:, nearest]
                if total[nearest] == index:
                    keys[at], is_open[at] = offered[nearest], False
            if above.any():
                nearest = int(np.argmin(np.where(above, total, np.iinfo(np.int64).max)))
                if total[nearest] <= high[:, at].sum():
                    high[:, at] = counts[:, nearest]
    return Selected(low, keys)


class _Offer(NamedTuple):
    """What a rank proposes: positions in its run, and the keys there."""

    positions: Local
    keys: Local


def _proposed(low: Local, high: Local, n_ranks: int) -> Local:
    """Positions evenly apart between bounds; all of them, if they are few."""
    most = max(_FEWEST, _N_PROPOSALS // n_ranks)
    found = [np.zeros(0, np.int64)]
    for first, end in zip(low.tolist(), high.tolist(), strict=True):
        n_left = end - first
        if n_left <= most:
            found.append(np.arange(first, end))
        else:
            found.append(first + (2 * np.arange(most) + 1) * n_left // (2 * most))
    return np.unique(np.concatenate(found))


def _counted(team: Team, run: Local, offers: Sequence[_Offer], last_rank_first: bool) -> Local:
    """How many elements of each rank (rows) come before each proposal (columns)."""
    here = []
    for rank, offer in enumerate(offers):
        if rank == team.rank:
            here.append(offer.positions)
        else:
            is_before = (team.rank > rank) if last_rank_first else (team.rank < rank)
            here.append(sorting.search(run, offer.keys, right=is_before))
    return np.stack(team.gather_inside("counts of a selection", np.concatenate(here)))
