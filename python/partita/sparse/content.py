"""Content of slices: checked where it is given, sent to whoever holds them, replaced or added."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._errors import LayoutError
from partita._team.routing import routed_rows
from partita.sparse.aligned import combined
from partita.sparse.block import Block
from partita.sparse.digest import digest
from partita.sparse.kinds import MOST_INT32
from partita.sparse.outside import block_of
from partita.sparse.travel import sent_home

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._team.team import Team
    from partita.sparse.slices import SliceId, Slices

# A slice, a digest of its content, and how long its arrays are.
Told = tuple[Any, bytes, list[int]]


@dataclass
class Offer:
    """What one rank gives as the content of a slice."""

    slice_id: SliceId
    block: Block

    def told(self) -> Told:
        """What the others are told of it."""
        lengths = [len(one) for one in self.block.arrays]
        return self.slice_id, digest(self.block), lengths


def offered(slices: Slices, like: Block, slice_id: Any, content: Any) -> Offer | None:
    """Return what a rank gives, in the form of the tensor that it is for; None if it gives none."""
    if slice_id is None and content is None:
        return None
    if slice_id is None or content is None:
        message = f"slice {slice_id} with {'no' if content is None else 'a'} content"
        raise LayoutError(f"{message}; give both, or nothing", "slice-content")
    wanted = slices.checked(slice_id)
    given = block_of(content)
    shape = slices.slice_shape(wanted)
    if given.shape != shape:
        message = f"content of shape {given.shape} for slice {wanted}, which is {shape}"
        raise LayoutError(f"{message}; give that shape", "slice-content")
    if not np.can_cast(given.dtype, like.dtype, "safe"):
        message = f"content of {given.dtype} for a tensor of {like.dtype}; convert it with astype"
        raise LayoutError(message, "slice-content")
    if like.index_dtype == np.int32 and given.nnz > MOST_INT32:
        message = f"{given.nnz} entries for a slice with 32-bit coordinates; make the tensor anew"
        raise LayoutError(f"{message} with index_dtype='int64'", "slice-content")
    made = given.in_format(like.format).with_indices(like.index_dtype)
    made = made.with_data(made.data.astype(like.dtype, copy=False)).tidy()
    is_lent = any(np.may_share_memory(one, other) for one in made.arrays for other in given.arrays)
    # Whoever changes the matrix later shall not change what others read.
    return Offer(wanted, made.copy() if is_lent else made)


def taken(
    team: Team,
    slices: Slices,
    old: Block,
    own: Offer | None,
    told: list[Told | None],
    first: dict[SliceId, int],
) -> Block:
    """Return this rank's slice after the change, which the first who names it sends. Collective."""
    named = [None if one is None else tuple(one[0]) for one in told]
    held = [slices.slice_of(rank) for rank in range(team.size)]
    gives: list[list[bool]] = [
        [
            named[source] == held[target]
            and first[held[target]] == source
            and named[target] != held[target]
            for target in range(team.size)
        ]
        for source in range(team.size)
    ]
    name = held[team.rank]
    arrays = []
    for at, like in enumerate(old.arrays):
        counts = [
            [_length(told[source], at) if wanted else 0 for wanted in gives[source]]
            for source in range(team.size)
        ]
        mine = like[:0] if own is None else own.block.arrays[at]
        parts = [mine[: counts[team.rank][target]] for target in range(team.size)]
        arrays.append(routed_rows(team, parts, counts))
    if own is not None and named[team.rank] == name:
        return own.block
    # Also a slice that stays is a new pattern: what was planned with the others' is void.
    return Block.from_arrays(old.shape, old.format, arrays if name in first else old.arrays)


def added(team: Team, slices: Slices, old: Block, offers: Sequence[Offer]) -> Block:
    """Return this rank's slice with what all ranks give for it added. Collective."""
    pairs = [(slices.globalized(one.slice_id, one.block.all_coords()), one) for one in offers]
    coords = [
        np.concatenate([np.empty(0, np.int64), *(places[dim] for places, _ in pairs)])
        for dim in range(old.ndim)
    ]
    values = np.concatenate([old.data[:0], *(one.block.data for _, one in pairs)])
    come = sent_home(team, slices, old.format, coords, values, old.index_dtype)
    return combined(old, come, "add").with_indices(old.index_dtype)


def _length(told: Told | None, at: int) -> int:
    return 0 if told is None else told[2][at]
