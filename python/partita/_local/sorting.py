"""Sorting, merging and searching in this rank's memory; NaN comes last."""

from __future__ import annotations

from typing import Any

import numpy as np

Block = np.ndarray[Any, Any]


def sort(block: Block) -> None:
    """Sort along the last axis, in place; the block is in C order."""
    block.sort(axis=-1)


def positions(block: Block, *, descending: bool = False) -> Block:
    """Return the positions that sort along the last axis; equal elements keep their order.

    Descending, NaN comes first.
    """
    if not descending:
        return np.argsort(block, axis=-1, kind="stable").astype(np.int64)
    turned = np.argsort(block[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    return np.ascontiguousarray(block.shape[-1] - 1 - turned).astype(np.int64)


def merge(runs: list[Block]) -> Block:
    """Return sorted runs as one; of equal elements, those of earlier runs come first."""
    return np.sort(np.concatenate(runs), kind="stable")


def search(ordered: Block, values: Block, *, right: bool = False) -> Block:
    """Return where values belong in a sorted row: before equal ones, or after them."""
    return np.searchsorted(ordered, values, side="right" if right else "left").astype(np.int64)


def merging_positions(runs: list[Block]) -> Block:
    """Return the positions, in all runs one behind the other, that `merge` would take in turn."""
    return np.argsort(np.concatenate(runs), kind="stable").astype(np.int64)
