"""Choosing elements of this rank's memory: by masks, by positions."""

from __future__ import annotations

from typing import Any

import numpy as np

Block = np.ndarray[Any, Any]


def pack(mask: Block, values: Block) -> Block:
    """Return the values where the mask is true, in a row; both in C order, of one shape."""
    return values[mask]


def where_true(mask: Block) -> Block:
    """Return the positions, in C order, where a mask in C order is true."""
    return np.flatnonzero(mask)


def gather(rows: Block, positions: Block) -> Block:
    """Return the rows (entries along the first axis) at positions; negative ones from the end."""
    return np.take(rows, positions, axis=0)


def scatter(rows: Block, positions: Block, values: Block) -> None:
    """Write rows at positions; of repeated positions the last counts."""
    rows[positions] = values


def scatter_add(rows: Block, positions: Block, values: Block) -> None:
    """Add rows at positions, repeated ones too."""
    np.add.at(rows, positions, values)


def count_values(values: Block, n_bins: int) -> Block:
    """Return how often each number from 0 on occurs; values are int64."""
    return np.bincount(values, minlength=n_bins).astype(np.int64)
