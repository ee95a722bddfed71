"""Whole slices from their owners to those who ask for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita._team.routing import routed
from partita.sparse.block import Block

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._team.team import Team
    from partita.sparse.slices import SliceId, Slices


def brought(
    team: Team,
    slices: Slices,
    block: Block,
    asked: Sequence[set[SliceId]],
    lengths: Sequence[Sequence[int]],
) -> dict[SliceId, Block]:
    """Return the slices that this rank asks for; all know who asks, and how long arrays are.

    What a rank holds it does not fetch. Collective, unless nobody needs anything.
    """
    held = [slices.slice_of(rank) for rank in range(team.size)]
    missing = [wanted - {own} for wanted, own in zip(asked, held, strict=True)]
    found = {held[team.rank]: block}
    if not any(missing):
        return found
    # Each rank has one slice: it goes to those who miss it, from its owner.
    goes = [
        [slices.owner(held[source]) == source and held[source] in wanted for wanted in missing]
        for source in range(team.size)
    ]
    received: list[list[object]] = [[] for _ in range(team.size)]
    for at, one in enumerate(block.arrays):
        counts = [
            [lengths[source][at] if wanted else 0 for wanted in goes[source]]
            for source in range(team.size)
        ]
        parts = [one[: counts[team.rank][target]] for target in range(team.size)]
        for source, part in enumerate(routed(team, parts, counts)):
            received[source].append(part)
    for source in range(team.size):
        if goes[source][team.rank]:
            name = held[source]
            shape = slices.slice_shape(name)
            found[name] = Block.from_arrays(shape, block.format, received[source])  # type: ignore[arg-type]
    return found
