"""The adjoint of a halo exchange in the caller's own buffer: only halos travel.

What an owner gave to a halo in the exchange comes back as a strip of its own, is added to the
owner's elements, and the halo becomes zero. The strips move by one plan between two layouts of
boxes: who holds them, and who owns what they are copies of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from partita._bfloat import NAME as BFLOAT
from partita._errors import LayoutError
from partita._partita import Layout, Move, Plan, plan
from partita._run import empty
from partita._team import Team
from partita.distdl.movement import Movement

Local = np.ndarray[Any, Any]
Part = tuple[slice, ...]


def _part(indices: list[Any]) -> Part:
    """The box of a buffer that these indices are: halos of blocks are boxes."""
    return tuple(slice(int(one[0]), int(one[-1]) + 1) for one in indices)


def _strips(exchange: Plan) -> list[Move]:
    """All moves from one rank to another, in an order that all ranks find."""
    moves = [move for rank in exchange.target.ranks for move in exchange.receives(rank)]
    return [move for move in moves if move.source_rank != move.target_rank and move.n_elements]


class HaloReturn:
    """Halos back to their owners, for one layout, element type and team."""

    def __init__(self, exchange: Plan, team: Team) -> None:
        self._team, self._layout = team, exchange.target
        self._shape = exchange.target.local_shape(team.rank)
        moves = _strips(exchange)
        rank = team.rank
        self._halos = [_part(m.target_indices()) for m in moves if m.target_rank == rank]
        self._owned = [_part(m.source_indices()) for m in moves if m.source_rank == rank]
        self._layered = [(slice(None), *part) for part in self._halos]
        self._plan = _plan_of(moves, exchange, team.size) if moves else None
        # Memory that neighbours can reach, so that strips need no messages.
        self._sums = [
            empty([1, *(one.stop - one.start for one in part)], exchange.dtype)
            for part in self._owned
        ]

    def run(self, buffer: Local) -> Local:
        """Add the halos of all ranks to their owners' elements, then clear them. Collective."""
        if buffer.shape != self._shape:
            with self._team:
                check_shape(self._layout, self._team.rank, buffer.shape)
        if self._plan is not None:
            layered = buffer[np.newaxis]
            strips = [layered[part] for part in self._layered]
            self._team.native.run(self._plan, strips, self._sums)
        for part, strip in zip(self._owned, self._sums, strict=True):
            buffer[part] += strip[0]
        for part in self._halos:
            buffer[part] = 0
        return buffer


@dataclass(frozen=True)
class HaloMovement(Movement):
    """A halo exchange out of place; its adjoint copies, and then only halos travel."""

    def reversed(self) -> Movement:
        """The adjoint."""
        if self.plans[0].dtype == BFLOAT:
            # NumPy cannot add it; plans can.
            return super().reversed()
        if not self._reversed:
            back = tuple(plan.adjoint() for plan in self.plans)
            returns = HaloReturn(self.plans[0], self.team)
            self._reversed.append(
                HaloBack(
                    self.team,
                    back,
                    is_tracked=self.is_tracked,
                    returns=returns,
                    _reversed=[self],
                )
            )
        return self._reversed[0]


@dataclass(frozen=True)
class HaloBack(Movement):
    """The adjoint of a halo exchange, out of place."""

    returns: HaloReturn | None = None

    def forward(self, local: Local, out: Local | None = None) -> Local:
        """A copy, its halos added to their owners' elements and set to zero. Collective."""
        assert self.returns is not None
        with self.team:
            room = empty(local.shape, local.dtype) if out is None else out
            np.copyto(room, local, casting="no")
        return self.returns.run(room)


def check_shape(layout: Layout, rank: int, shape: tuple[int, ...]) -> None:
    """Whether a rank's array is what the layout says."""
    wanted = layout.local_shape(rank)
    if shape != wanted:
        message = (
            f"rank {rank} has an array of shape {shape}, with its halo it must be {wanted}; "
            "say shape= or sizes= where halos reach past an end"
        )
        raise LayoutError(message, "halo-shape")


def _plan_of(moves: list[Move], exchange: Plan, n_ranks: int) -> Plan:
    """The plan of all strips: strip k is the k-th layer of a box of room for any of them."""
    shapes = [tuple(len(one) for one in move.target_indices()) for move in moves]
    room = [max(shape[axis] for shape in shapes) for axis in range(len(shapes[0]))]
    held: list[Any] = [[] for _ in range(n_ranks)]
    owned: list[Any] = [[] for _ in range(n_ranks)]
    for number, (move, shape) in enumerate(zip(moves, shapes, strict=True)):
        box = ((number, *[0] * len(shape)), (1, *shape))
        held[move.target_rank].append(box)
        owned[move.source_rank].append(box)
    whole = (len(moves), *room)
    return plan(Layout.from_boxes(whole, held), Layout.from_boxes(whole, owned), exchange.dtype)
