"""Slices that several ranks hold: sums that all of them shall have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._team.routing import routed

if TYPE_CHECKING:
    from partita.sparse.base import Base

Local = np.ndarray[Any, Any]


def summed_over_holders(tensor: Base, values: Local) -> Local:
    """Return the sum of values of one slice over all ranks that hold it. Collective."""
    slices, team = tensor._slices, tensor.team
    held = [slices.slice_of(rank) for rank in range(team.size)]
    if len(set(held)) == team.size:
        return values
    sizes = tensor._met("sum over holders", len(values))
    counts = [
        [sizes[source] if held[source] == held[target] else 0 for target in range(team.size)]
        for source in range(team.size)
    ]
    parts = [values if held[rank] == held[team.rank] else values[:0] for rank in range(team.size)]
    total = np.zeros_like(values)
    for part in routed(team, parts, counts):
        if len(part):
            total += part
    return total
