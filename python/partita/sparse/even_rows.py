"""Rows cut so that ranks hold about as many entries each.

Blocks of equally many rows may hold very different numbers of entries: a few rows of a graph have
most of them, and the rank that holds these is what all others wait for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._partita import Block as BlockMap

if TYPE_CHECKING:
    from partita.sparse.base import Base

Local = np.ndarray[Any, Any]


def is_in_stretches(tensor: Base) -> bool:
    """Return whether ranks in their order hold rows in their order, and whole ones."""
    slices = tensor._slices
    first, *others = slices.dist
    return (
        first == "distributed"
        and "distributed" not in others
        and slices.counts[0] == tensor.team.size
        and isinstance(slices.maps[0], BlockMap)
        and [slices.slice_of(rank)[0] for rank in range(tensor.team.size)]
        == list(range(tensor.team.size))
    )


def even_layout(tensor: Base) -> str:
    """Return a layout of rows with about as many entries on each rank. Collective.

    A row stays whole, so that a rank may have up to a row's entries more than its share.
    """
    team, n_rows = tensor.team, tensor.shape[0]
    told: list[int] = tensor._met("balanced", tensor._block.nnz)
    before, n_all = sum(told[: team.rank]), sum(told)
    # Cuts are after so many entries; each is found by the rank that holds them.
    cuts = [n_all * (part + 1) // team.size for part in range(team.size - 1)]
    rows_here: Local = tensor._block.all_coords()[0]
    if not (rows_here[1:] >= rows_here[:-1]).all():
        rows_here = np.sort(rows_here)
    first, _ = tensor._slices.stretch(0, team.rank) or (0, 0)
    # The row in which a cut lies goes to the rank before it.
    here = {
        part: first + int(rows_here[cut - before - 1]) + 1
        for part, cut in enumerate(cuts)
        if before < cut <= before + told[team.rank]
    }
    rows = np.zeros(len(cuts), np.int64)
    for cuts_there in tensor._met("balanced", here):
        rows[list(cuts_there)] = list(cuts_there.values())
    sizes = np.diff([0, *np.maximum.accumulate(rows), n_rows])
    whole = ", *" * (tensor.ndim - 1)
    return f"block({','.join(map(str, sizes))}){whole}"
