"""Sorting, merging and searching in this rank's memory; NaN comes last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._local.threads import n_threads
from partita._memory.warm import empty
from partita._partita import local_merge, local_positions, local_search, local_sort

if TYPE_CHECKING:
    from collections.abc import Sequence

Block = np.ndarray[Any, Any]


def sort(block: Block) -> None:
    """Sort along the last axis, in place; the block is in C order."""
    local_sort(block, n_threads())


def positions(block: Block, *, descending: bool = False) -> Block:
    """Return the positions that sort along the last axis; equal elements keep their order.

    Descending, NaN comes first.
    """
    out = np.empty(block.shape, np.int64)
    local_positions(np.ascontiguousarray(block), out, descending, n_threads())
    return out


def merge(runs: Sequence[Block]) -> Block:
    """Return sorted runs as one; of equal elements, those of earlier runs come first."""
    out = empty((sum(len(run) for run in runs),), runs[0].dtype)
    local_merge([np.ascontiguousarray(run) for run in runs], out, n_threads())
    return out


def search(ordered: Block, values: Block, *, right: bool = False) -> Block:
    """Return where values belong in a sorted row: before equal ones, or after them."""
    kind = np.result_type(ordered, values)
    out = np.empty(values.shape, np.int64)
    row, wanted = (np.ascontiguousarray(one, kind) for one in (ordered, values))
    local_search(row, wanted, out, right, n_threads())
    return out


def merging_positions(runs: list[Block]) -> Block:
    """Return the positions, in all runs one behind the other, that `merge` would take in turn."""
    return np.argsort(np.concatenate(runs), kind="stable").astype(np.int64)
