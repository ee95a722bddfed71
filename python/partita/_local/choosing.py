"""Choosing elements of this rank's memory: by masks, by positions."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._local.threads import n_threads
from partita._memory.warm import empty
from partita._partita import (
    local_count,
    local_count_values,
    local_gather,
    local_pack,
    local_scatter,
    local_scatter_add,
    local_where_true,
)

Block = np.ndarray[Any, Any]


def pack(mask: Block, values: Block) -> Block:
    """Return the values where the mask is true, in a row; both in C order, of one shape."""
    mask = np.ascontiguousarray(mask)
    out = np.empty(local_count(mask, n_threads()), values.dtype)
    local_pack(mask, np.ascontiguousarray(values), out, n_threads())
    return out


def where_true(mask: Block) -> Block:
    """Return the positions, in C order, where a mask in C order is true."""
    mask = np.ascontiguousarray(mask)
    out = np.empty(local_count(mask, n_threads()), np.int64)
    local_where_true(mask, out, n_threads())
    return out


def gather(rows: Block, positions: Block) -> Block:
    """Return the rows (entries along the first axis) at positions; negative ones from the end."""
    out = empty((*positions.shape, *rows.shape[1:]), rows.dtype)
    local_gather(np.ascontiguousarray(rows), _places(positions), out, n_threads())
    return out


def scatter(rows: Block, positions: Block, values: Block) -> None:
    """Write rows at positions; of repeated positions the last counts."""
    values = np.ascontiguousarray(values, rows.dtype)
    local_scatter(rows, _places(positions), values, n_threads())


def scatter_add(rows: Block, positions: Block, values: Block) -> None:
    """Add rows at positions, repeated ones too."""
    values = np.ascontiguousarray(values, rows.dtype)
    if rows.dtype.itemsize == 2 and rows.dtype.kind not in "iu":
        # Short floating numbers have no sums of their own.
        np.add.at(rows, positions, values)
    else:
        local_scatter_add(rows, _places(positions), values, n_threads())


def count_values(values: Block, n_bins: int) -> Block:
    """Return how often each number from 0 on occurs; none is `n_bins` or more."""
    out = np.empty(n_bins, np.int64)
    local_count_values(_places(values), out, n_threads())
    return out


def _places(positions: Block) -> Block:
    return np.ascontiguousarray(positions, np.int64)
