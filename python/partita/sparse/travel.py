"""Entries that go from where they are known to whoever holds their slice."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._local import sparse
from partita._team.routing import exchanged, routed_rows
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
    dim = _cut_dimension(slices, format)
    if dim is not None and team.size > 1:
        is_major = dim == (0 if format == "csr" else 1)
        sent = _sent_in_stretches if is_major else _sent_across
        return sent(team, slices, format, dim, coords, values, index_dtype)
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


def _cut_dimension(slices: Slices, format: str) -> int | None:
    """The one dimension along which a compressed matrix is cut, in stretches in order of ranks."""
    if format == "coo" or len(slices.shape) != 2 or slices.n_ranks not in slices.counts:
        return None
    dim = slices.counts.index(slices.n_ranks)
    in_order = all(slices.slice_of(rank)[dim] == rank for rank in range(slices.n_ranks))
    is_plain = slices.stretch(dim, 0) is not None and slices.is_straight(1 - dim)
    return dim if in_order and is_plain else None


def _sent_in_stretches(
    team: Team,
    slices: Slices,
    format: str,
    dim: int,
    coords: Sequence[Local],
    values: Local,
    index_dtype: Any,
) -> Block:
    """As `sent_home`, where whole rows of CSR, or columns of CSC, lie on ranks.

    Entries are brought into buckets of rows before they travel, and need no pass of their own
    where they arrive.
    """
    stretches = [slices.stretch(dim, part) or (0, 0) for part in range(team.size)]
    cuts = [*(start for start, _ in stretches), slices.shape[dim]]
    n_entries = sum(team.gather_inside("numbers of entries", len(values)))
    # Wide enough for all ranks together; how many entries each will have is known later.
    enough = index_type(None, max(slices.shape), n_entries)
    kind = enough if index_dtype is None else np.result_type(enough, index_dtype)
    along, across = (coords[at].astype(kind, copy=False) for at in (dim, 1 - dim))
    entries, own = sparse.grouped(along, across, values, cuts, n_entries)
    told: list[list[list[int]]] = team.gather_inside("entries in buckets", own)
    counts = [[sum(buckets) for buckets in one] for one in told]
    ends = np.cumsum([0, *counts[team.rank]])
    came = exchanged(team, [entries[start:end] for start, end in pairwise(ends)], counts)
    most = max(sum(column) for column in zip(*counts, strict=True))
    dtype = index_type(index_dtype, slices.largest(), most)
    groups = [(one, told[source][team.rank]) for source, one in enumerate(came)]
    extents = (n_entries, slices.shape[1 - dim])
    lines = sparse.compressed_groups(groups, (kind, values.dtype), (cuts, team.rank), extents)
    shape = slices.slice_shape(slices.slice_of(team.rank))
    return Block.of_lines(shape, format, lines).with_indices(dtype).known_tidy()


def _sent_across(
    team: Team,
    slices: Slices,
    format: str,
    dim: int,
    coords: Sequence[Local],
    values: Local,
    index_dtype: Any,
) -> Block:
    """As `sent_home`, where rows of CSR, or columns of CSC, are cut.

    Entries are grouped in one pass, and those that stay are not copied again.
    """
    stretches = [slices.stretch(dim, part) or (0, 0) for part in range(team.size)]
    cuts = [*(start for start, _ in stretches), slices.shape[dim]]
    kind = np.result_type(*(one.dtype for one in coords))
    given = [one.astype(kind, copy=False) for one in coords]
    (along, across, data), own = sparse.divided(
        given[dim], given[1 - dim], np.ascontiguousarray(values), np.array(cuts, kind)
    )
    counts: list[list[int]] = team.gather_inside("numbers of entries across", own)
    most = max(sum(column) for column in zip(*counts, strict=True))
    dtype = index_type(index_dtype, slices.largest(), most)
    ends = np.cumsum([0, *own])
    lists = []
    for one in (along.astype(dtype, copy=False), across.astype(dtype, copy=False), data):
        parts = [one[start:end] for start, end in pairwise(ends)]
        lists.append(exchanged(team, parts, counts))
    shape = slices.slice_shape(slices.slice_of(team.rank))
    return Block.of_lists(shape, format, list(zip(lists[1], lists[0], lists[2], strict=True)))


def _counts(team: Team, slices: Slices, own: Local) -> list[list[int]]:
    """How many entries go from each rank to each: all holders of a slice get them."""
    told = [own] if team.size == 1 else team.gather_inside("numbers of entries to send", own)
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
