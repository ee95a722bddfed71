"""The teams of a broadcast or a sum-reduction between two partitions: root first.

There is one team per single copy: its holder, the root, and every worker that gets the copy (or
adds to it). Membership is not the same as taking part: the root takes part only if it is also
among the receivers (or contributors) of its own team; otherwise it only gives (or only takes).
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from partita._keeper import Keeper
from partita.distdl.agree import brief, described, in_world_order
from partita.distdl.pairing import Pairing

if TYPE_CHECKING:
    from partita._team.team import Team
    from partita.distdl.partition import Partition


@dataclass(frozen=True)
class Rooted(Keeper):
    """Two partitions of which one holds single copies, the other many of each."""

    union: Team
    single: Partition
    many: Partition
    pairing: Pairing
    is_reduction: bool
    # Partitions and flags in words, for workers to compare.
    settings: str
    _kept: dict[Hashable, object] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def in_world_order(self) -> Self:
        """The same with a union whose order does not depend on the partitions' roles."""
        return replace(self, union=in_world_order(self.union))

    def root_of(self, colour: int) -> int:
        """Rank in the union of the worker that holds the single copy."""
        (rank,) = self.pairing.source_members(colour)
        return self.union.ranks.index(self.single.ranks[rank])

    def takers_of(self, colour: int) -> list[int]:
        """Ranks in the union of the workers that hold one of the many copies, in union order."""
        members = self.pairing.target_members(colour)
        return sorted(self.union.ranks.index(self.many.ranks[rank]) for rank in members)

    def team_of(self, colour: int) -> list[int]:
        """Ranks in the union: the root, then the others."""
        root = self.root_of(colour)
        return [root, *(rank for rank in self.takers_of(colour) if rank != root)]

    def single_colour(self) -> int | None:
        """The colour whose single copy this worker holds."""
        return self.pairing.source_colours[self.single.rank] if self.single.active else None

    def many_colour(self) -> int | None:
        """The colour of which this worker holds one of many copies."""
        return self.pairing.target_colours[self.many.rank] if self.many.active else None


def between(source: Partition, target: Partition, flags: tuple[bool, bool]) -> str:
    """A movement from one partition to another in words, with its flags of transposition."""
    sides = zip((source, target), flags, strict=True)
    words = [
        f"{described(one)}{' transposed' if is_reversed else ''}" for one, is_reversed in sides
    ]
    return brief(" to ".join(words))


def broadcast_teams(
    source: Partition, target: Partition, reverse_source: bool, reverse_target: bool
) -> tuple[Partition, Partition]:
    """(send, receive) teams of this worker."""
    pairing = source.paired_with(
        target, reverse_source=reverse_source, reverse_target=reverse_target
    )
    union = source.create_partition_union(target)
    settings = between(source, target, (reverse_source, reverse_target))
    rooted = Rooted(union._with_members(), source, target, pairing, False, settings)
    return _teams(union, rooted, rooted.single_colour(), rooted.many_colour())


def reduction_teams(
    source: Partition, target: Partition, reverse_source: bool, reverse_target: bool
) -> tuple[Partition, Partition]:
    """(send, receive) teams of this worker: a broadcast from the target, backwards."""
    pairing = target.paired_with(
        source, reverse_source=reverse_target, reverse_target=reverse_source
    )
    union = source.create_partition_union(target)
    settings = between(source, target, (reverse_source, reverse_target))
    rooted = Rooted(union._with_members(), target, source, pairing, True, settings)
    return _teams(union, rooted, rooted.many_colour(), rooted.single_colour())


def _teams(
    union: Partition, rooted: Rooted, send: int | None, receive: int | None
) -> tuple[Partition, Partition]:
    def made(colour: int | None) -> Partition:
        if colour is None:
            return union._plain(None)
        team = union.create_partition_inclusive(rooted.team_of(colour))
        team.rooted = rooted
        return team

    sender = made(send)
    return sender, sender if send is not None and send == receive else made(receive)
