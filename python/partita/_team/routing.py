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
    counts = team.gather_inside("numbers of rows to send", [len(part) for part in parts])
    return routed(team, parts, counts)


def routed(team: Team, parts: Sequence[Local], counts: Sequence[Sequence[int]]) -> list[Local]:
    """As `route`, where all ranks know already how many rows go from which rank to which."""
    kept = routed_rows(team, parts, counts)
    cuts = np.cumsum([0, *(counts[source][team.rank] for source in range(team.size))])
    return [kept[cuts[source] : cuts[source + 1]] for source in range(team.size)]


def routed_rows(team: Team, parts: Sequence[Local], counts: Sequence[Sequence[int]]) -> Local:
    """As `routed`, but all that has arrived as one buffer."""
    size, rank = team.size, team.rank
    n_here = [counts[source][rank] for source in range(size)]
    if size == 1:
        return parts[0]
    row = parts[0].shape[1:]
    width = int(np.prod(row, dtype=np.int64))
    dtype = parts[0].dtype
    kept = empty((sum(n_here), *row), carrier_of(dtype)).view(dtype)
    layouts = layouts_of(counts, width)
    if layouts is not None:
        own = [_flat(part) for part in parts if part.size]
        into = [_flat(kept)] if kept.size else []
        carrier = carrier_of(dtype)
        plan(*layouts, carrier.name).apply(
            [one.view(carrier) for one in own], team, [one.view(carrier) for one in into]
        )
    return kept


def layouts_of(counts: Sequence[Sequence[int]], width: int) -> tuple[Layout, Layout] | None:
    """Where rows of a width lie before and after they travel; none where there are none.

    `counts[source][target]` rows go from rank to rank. A source has a buffer for each rank to which
    something goes, a target one for all that come, in the order of their sources.
    """
    size = len(counts)
    # Rows are numbered by where they go, then by where they come from.
    sources: list[list[Any]] = [[] for _ in range(size)]
    targets: list[list[Any]] = [[] for _ in range(size)]
    first = 0
    for target in range(size):
        start = first
        for source in range(size):
            n = counts[source][target] * width
            if n:
                sources[source].append(((first,), (n,)))
            first += n
        if first > start:
            targets[target].append(((start,), (first - start,)))
    if first == 0:
        return None
    return Layout.from_boxes((first,), sources), Layout.from_boxes((first,), targets)


def exchanged(team: Team, parts: Sequence[Local], counts: Sequence[Sequence[int]]) -> list[Local]:
    """As `routed`, but what this rank has for itself stays where it is."""
    others = [part[:0] if rank == team.rank else part for rank, part in enumerate(parts)]
    n_sent = [
        [0 if source == target else n for target, n in enumerate(row)]
        for source, row in enumerate(counts)
    ]
    came = routed(team, others, n_sent)
    came[team.rank] = parts[team.rank]
    return came


def _flat(part: Local) -> Local:
    return np.ascontiguousarray(part).reshape(-1)
