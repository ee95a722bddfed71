"""Entries of any number of dimensions in C order, those of one place added."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

Local = np.ndarray[Any, Any]


def rises(coords: Sequence[Local]) -> bool:
    """Return whether each entry stands behind the one before it, in C order."""
    return bool(_is_new(coords, strict=True).all())


def _is_new(coords: Sequence[Local], *, strict: bool) -> Local:
    """For each entry but the first, whether its place is behind (or differs from) the last one."""
    n = len(coords[0])
    found = np.zeros(max(n - 1, 0), bool)
    # From the last dimension to the first: an earlier one decides unless it is equal.
    for one in reversed(coords):
        before, after = one[:-1], one[1:]
        found = (
            (after > before) | ((after == before) & found)
            if strict
            else ((after != before) | found)
        )
    return found


def places_added(coords: Sequence[Local], data: Local) -> tuple[list[Local], Local]:
    """Return entries sorted by place; those of one place are added in the order they come in."""
    order = np.lexsort(tuple(reversed(coords)))
    coords = [one[order] for one in coords]
    is_first = np.ones(len(data), bool)
    is_first[1:] = _is_new(coords, strict=False)
    added = np.zeros(int(is_first.sum()), data.dtype)
    np.add.at(added, np.cumsum(is_first) - 1, data[order])
    return [one[is_first] for one in coords], added


def numbered(coords: Sequence[Local]) -> tuple[list[Local], Local]:
    """Return each place of entries once, in C order, and for every entry the number of its own."""
    order = np.lexsort(tuple(reversed(coords)))
    coords = [one[order] for one in coords]
    is_first = np.ones(len(order), bool)
    is_first[1:] = _is_new(coords, strict=False)
    numbers = np.empty(len(order), np.int64)
    numbers[order] = np.cumsum(is_first) - 1
    return [one[is_first] for one in coords], numbers
