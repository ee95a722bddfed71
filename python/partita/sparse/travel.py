"""Entries that go from where they are known to whoever holds their slice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._team.routing import routed_rows
from partita.sparse.block import Block
from partita.sparse.kinds import index_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._team.team import Team
    from partita.sparse.slices import Slices

Local = np.ndarray[Any, Any]

# Entries of so many owners are found one owner after the other, of more by sorting.
_FEW = 16


def sent_home(
    team: Team,
    slices: Slices,
    format: str,
    coords: Sequence[Local],
    values: Local,
    index_dtype: Any = None,
) -> Block:
    """Return this rank's slice of entries that any rank has, by their global coordinates.

    Every rank that holds a slice gets its entries; those of one place are added, in the order of
    ranks. Coordinates lie inside, values have one type on all ranks. Collective.
    """
    here = slices.slice_of(team.rank)
    shape = slices.slice_shape(here)
    order, cuts = _by_owner(slices.owners_of(coords), team.size)
    counts = _counts(team, slices, np.diff(cuts))
    most = max(sum(column) for column in zip(*counts, strict=True))
    dtype = index_type(index_dtype, slices.largest(), most)
    moves = any(n for source, row in enumerate(counts) for to, n in enumerate(row) if source != to)
    lists = []
    for dim, one in enumerate([*coords, values]):
        grouped = one if order is None else one[order]
        parts = [grouped[cuts[owner] : cuts[owner + 1]] for owner in slices.owners]
        if dim < len(coords):
            parts = [
                slices.inside(slices.slice_of(rank), dim, part).astype(dtype, copy=False)
                for rank, part in enumerate(parts)
            ]
        lists.append(routed_rows(team, parts, counts) if moves else parts[team.rank])
    return _made(shape, format, lists[:-1], lists[-1], (*coords, values))


def _counts(team: Team, slices: Slices, own: Local) -> list[list[int]]:
    """How many entries go from each rank to each: all holders of a slice get them."""
    told = [own] if team.size == 1 else team.allgather_data(own)
    return [[int(row[owner]) for owner in slices.owners] for row in told]


def _made(
    shape: Sequence[int],
    format: str,
    coords: Sequence[Local],
    data: Local,
    given: Sequence[Local],
) -> Block:
    block = Block.of_coords(shape, format, coords, data)
    # A tensor does not lie in memory of whoever has named its entries.
    if any(np.may_share_memory(one, other) for one in block.arrays for other in given):
        return block.copy()
    return block


def _by_owner(owners: Local, n_ranks: int) -> tuple[Local | None, Local]:
    """The order that puts entries of one owner together, None if they are so; where each begins."""
    if n_ranks == 1:
        return None, np.array([0, len(owners)])
    if (owners[1:] >= owners[:-1]).all():
        return None, np.searchsorted(owners, np.arange(n_ranks + 1))
    if n_ranks <= _FEW:
        groups = [np.flatnonzero(owners == rank) for rank in range(n_ranks)]
        return np.concatenate(groups), np.cumsum([0, *map(len, groups)])
    order = np.argsort(owners, kind="stable")
    return order, np.searchsorted(owners[order], np.arange(n_ranks + 1))
