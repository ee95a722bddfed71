"""Positions in this rank's memory, grouped by who has what is there.

Owners have stretches, one behind the other; `starts` says where each begins, and where the last
ends. Positions keep their order within a group.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._local.threads import n_threads
from partita._memory.warm import empty
from partita._partita import (
    local_count_owners,
    local_group_positions,
    local_group_rows,
    local_ungroup_rows,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

Block = np.ndarray[Any, Any]


def counts(positions: Block, starts: Sequence[int]) -> list[int]:
    """Return how many of the positions each owner has."""
    return local_count_owners(positions, starts[1:-1], n_threads())


def group(positions: Block, starts: Sequence[int], sizes: Sequence[int]) -> list[Block]:
    """Return each owner's positions, counted from where its stretch begins."""
    groups = _cut(empty(positions.shape, np.int64), sizes)
    local_group_positions(positions, starts[1:-1], groups, n_threads())
    return groups


def group_rows(
    positions: Block, starts: Sequence[int], sizes: Sequence[int], rows: Block
) -> list[Block]:
    """Return rows, one per position, by the position's owner."""
    groups = _cut(empty(rows.shape, rows.dtype), sizes)
    rows = np.ascontiguousarray(rows)
    local_group_rows(positions, starts[1:-1], rows, groups, n_threads())
    return groups


def ungroup_rows(positions: Block, starts: Sequence[int], groups: Sequence[Block]) -> Block:
    """Return rows that lie in groups in the order of the positions."""
    out = empty((len(positions), *groups[0].shape[1:]), groups[0].dtype)
    local_ungroup_rows(positions, starts[1:-1], groups, out, n_threads())
    return out


def _cut(block: Block, sizes: Sequence[int]) -> list[Block]:
    ends = np.cumsum([0, *sizes]).tolist()
    return [block[first:last] for first, last in pairwise(ends)]
