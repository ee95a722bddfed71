"""Rows that go to any rank: one plan from where they lie to where they shall be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._memory.views import carrier_of
from partita._memory.warm import empty
from partita._partita import Layout, plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._team.team import Team

Local = np.ndarray[Any, Any]


def route(team: Team, parts: Sequence[Local]) -> list[Local]:
    """Send `parts[rank]` to each rank; return what each rank has sent here, in rank order.

    Parts are arrays of one dtype that differ in their first extent only; what comes back lies one
    behind the other in one buffer. Collective.
    """
    counts = team.allgather_data([len(part) for part in parts])
    return routed(team, parts, counts)


def routed(team: Team, parts: Sequence[Local], counts: Sequence[Sequence[int]]) -> list[Local]:
    """As `route`, where all ranks know already how many rows go from which rank to which."""
    size, rank = team.size, team.rank
    n_here = [counts[source][rank] for source in range(size)]
    if size == 1:
        return [parts[0]]
    row = parts[0].shape[1:]
    width = int(np.prod(row, dtype=np.int64))
    dtype = parts[0].dtype
    kept = empty((sum(n_here), *row), carrier_of(dtype)).view(dtype)
    # Rows are numbered by where they go, then by where they come from.
    starts: list[int] = []
    boxes: list[list[Any]] = [[] for _ in range(size)]
    own: list[Local] = []
    first = 0
    for target in range(size):
        starts.append(first)
        for source in range(size):
            n_rows = counts[source][target]
            if n_rows and width:
                boxes[source].append(((first * width,), (n_rows * width,)))
                if source == rank:
                    own.append(_flat(parts[target]))
            first += n_rows
    if first and width:
        ends = [*starts[1:], first]
        targets = [
            [((start * width,), ((end - start) * width,))] if end > start else []
            for start, end in zip(starts, ends, strict=True)
        ]
        source_layout = Layout.from_boxes((first * width,), boxes)
        target_layout = Layout.from_boxes((first * width,), targets)
        into = [_flat(kept)] if sum(n_here) else []
        carrier = carrier_of(dtype)
        plan(source_layout, target_layout, carrier.name).apply(
            [one.view(carrier) for one in own], team, [one.view(carrier) for one in into]
        )
    cuts = np.cumsum([0, *n_here])
    return [kept[cuts[source] : cuts[source + 1]] for source in range(size)]


def _flat(part: Local) -> Local:
    return np.ascontiguousarray(part).reshape(-1)
