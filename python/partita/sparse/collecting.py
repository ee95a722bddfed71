"""A whole tensor on one rank, or on all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._team.routing import routed_rows
from partita.sparse.agreement import agreed, checked_root
from partita.sparse.block import Block
from partita.sparse.kinds import at_least, index_type

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._team.team import Team
    from partita.sparse.base import Base

Local = np.ndarray[Any, Any]


def collected(tensor: Base, root: Any) -> Block | None:
    """Return all entries, in the format of the slices, on `root` or everywhere. Collective."""
    team, slices, block = tensor.team, tensor._slices, tensor._block

    def look() -> tuple[int | None, dict[str, Any], int]:
        at = None if root is None else checked_root(root, team)
        return at, {"root": at}, block.nnz

    to, n_all = agreed(team, "gather", look, tensor._words)
    if team.size == 1 and all(slices.is_straight(dim) for dim in range(tensor.ndim)):
        return block.copy()
    owners = set(slices.owners)
    n_entries = [n if rank in owners else 0 for rank, n in enumerate(n_all)]
    is_target = [to is None or rank == to for rank in range(team.size)]
    dtype = index_type(at_least(block.index_dtype), max(slices.shape), sum(n_entries))
    coords = slices.globalized(slices.slice_of(team.rank), block.all_coords())
    arrays = []
    for one in [*(at.astype(dtype, copy=False) for at in coords), block.data]:
        arrays.append(_to_all(team, one, n_entries, is_target))
    if not is_target[team.rank]:
        return None
    if block.format == "coo":
        return Block(slices.shape, "coo", arrays[-1], coords=arrays[:-1])
    return Block.of_coords(slices.shape, block.format, arrays[:-1], arrays[-1])


def _to_all(team: Team, own: Local, n_entries: Sequence[int], is_target: Sequence[bool]) -> Local:
    """What every rank has, in their order, on some of them. Collective."""
    counts = [[n if wanted else 0 for wanted in is_target] for n in n_entries]
    parts = [own[: counts[team.rank][rank]] for rank in range(team.size)]
    return routed_rows(team, parts, counts)
