"""A plan as tasks: who cuts what where, and who joins it.

Ranks of a layout are slots; several live in one place (a worker, a node). A task on the place that
holds a source cuts one message per place that needs something of it, with the parts of all slots
there; a task on the place of each target joins the parts. What lies in the target's own place is
not cut: it is read where it is.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from partita._partita import Plan

# What an engine calls the home of data: a worker's address, a node's id.
Place: TypeAlias = str
Homes: TypeAlias = Mapping[int, Sequence[Place]]


@dataclass
class Cut:
    """A task that packs what one slot gives to the slots of one place."""

    source: int
    place: Place | None
    targets: list[int] = field(default_factory=list)
    n_bytes: int = 0
    # Whether those who join it can read this place's memory.
    is_near: bool = False


@dataclass(frozen=True)
class Take:
    """What a join takes from one slot: a stretch of a cut, or the slot itself."""

    source: int
    cut: int | None
    start: int = 0
    stop: int = 0


@dataclass
class Join:
    """A task that writes what one slot takes."""

    target: int
    place: Place | None
    takes: list[Take]


@dataclass(frozen=True)
class Schedule:
    """All tasks of a plan."""

    cuts: list[Cut]
    joins: list[Join]


def schedule(
    plan: Plan, homes: Homes, targets: Mapping[int, Place], machines: Mapping[Place, str]
) -> Schedule:
    """The tasks that run a plan, for sources at `homes` and targets at `targets`.

    Places of which `machines` says the same, and not nothing, read each other's memory.
    """
    cuts: list[Cut] = []
    numbers: dict[tuple[int, Place], int] = {}
    joins = []
    for target in plan.target.ranks:
        place = targets.get(target)
        takes = []
        for source, n_bytes in _given(plan, target).items():
            if place is None or place in homes[source] or not homes[source]:
                takes.append(Take(source, None))
                continue
            number = numbers.setdefault((source, place), len(cuts))
            if number == len(cuts):
                home = homes[source][0]
                is_near = bool(machines.get(home)) and machines.get(home) == machines.get(place)
                cuts.append(Cut(source, home, is_near=is_near))
            cut = cuts[number]
            takes.append(Take(source, number, cut.n_bytes, cut.n_bytes + n_bytes))
            cut.targets.append(target)
            cut.n_bytes += n_bytes
        joins.append(Join(target, place, takes))
    return Schedule(cuts, joins)


def _given(plan: Plan, target: int) -> dict[int, int]:
    """Bytes that each source gives to a target."""
    n_bytes: dict[int, int] = defaultdict(int)
    for move in plan.receives(target):
        n_bytes[move.source_rank] += move.n_bytes
    return n_bytes


def choose_places(plan: Plan, homes: Homes, places: Sequence[Place]) -> dict[int, Place]:
    """A place for every target: the one that has most of it, while no place gets too much."""
    sizes = {rank: plan.target.n_held(rank) for rank in plan.target.ranks}
    room = dict.fromkeys(places, -(-sum(sizes.values()) // max(len(places), 1)))
    chosen = {}
    for target, size in sizes.items():
        there: dict[Place, int] = defaultdict(int)
        for source, n_bytes in _given(plan, target).items():
            for place in homes[source]:
                there[place] += n_bytes
        # Half a slot more than its share is better than a slot in the wrong place.
        open_places = [place for place in places if room[place] * 2 >= size] or [
            max(places, key=room.__getitem__)
        ]
        best = max(open_places, key=lambda place: (there[place], room[place]))
        chosen[target] = best
        room[best] -= size
    return chosen


def choose_fetches(plan: Plan, target: int) -> tuple[list[int], list[Cut]]:
    """What one taker outside the places fetches: whole slots, or cuts where it needs little."""
    whole, cuts = [], []
    item_bytes = np.dtype(plan.dtype).itemsize
    for source, n_bytes in _given(plan, target).items():
        if 2 * n_bytes >= plan.source.n_held(source) * item_bytes:
            whole.append(source)
        else:
            cuts.append(Cut(source, None, [target], n_bytes))
    return whole, cuts
