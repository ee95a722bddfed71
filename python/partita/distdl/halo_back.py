"""The adjoint of a halo exchange in the caller's own buffer: only halos travel.

What an owner gave to a halo in the exchange is added to the owner's elements: the exchange's plan
reversed, run in place. The halo becomes zero.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from partita._errors import LayoutError
from partita._memory.bfloat import as_bits, as_numbers
from partita._memory.warm import empty
from partita._partita import Layout, Plan
from partita._team.team import Team
from partita.distdl.movement import Movement

Local = np.ndarray[Any, Any]


class HaloReturn:
    """Halos back to their owners, for one layout, element type and team."""

    def __init__(self, exchange: Plan, team: Team) -> None:
        self._team, self._layout = team, exchange.target
        self._shape = exchange.target.local_shape(team.rank)
        self._plan = exchange.adjoint()

    def run(self, buffer: Local) -> Local:
        """Add the halos of all ranks to their owners' elements, then clear them. Collective."""
        if buffer.shape != self._shape:
            with self._team:
                check_shape(self._layout, self._team.rank, buffer.shape)
        self._team.native.run_in_place(self._plan, [as_bits(buffer)])
        return buffer


@dataclass(frozen=True)
class HaloMovement(Movement):
    """A halo exchange out of place; its adjoint copies, and then only halos travel."""

    def reversed(self) -> Movement:
        """The adjoint."""
        if not self._reversed:
            returns = HaloReturn(self.plans[0], self.team)
            back = tuple(plan.adjoint() for plan in self.plans)
            made = HaloBack(
                self.team, back, is_tracked=self.is_tracked, returns=returns, _reversed=[self]
            )
            self._reversed.append(made)
        return self._reversed[0]


@dataclass(frozen=True)
class HaloBack(Movement):
    """The adjoint of a halo exchange, out of place."""

    returns: HaloReturn | None = None

    def forward(self, local: Local, out: Local | None = None) -> Local:
        """A copy, its halos added to their owners' elements and set to zero. Collective."""
        assert self.returns is not None
        with self.team:
            if out is None:
                room = as_numbers(empty(local.shape, local.dtype), local.dtype.name)
            else:
                room = _checked_out(out, local)
            np.copyto(as_bits(room), as_bits(local), casting="no")
        return self.returns.run(room)


def _checked_out(out: Any, local: Local) -> Local:
    is_array = isinstance(out, np.ndarray)
    wanted = (local.shape, local.dtype)
    if not is_array or not out.flags.writeable or (out.shape, out.dtype) != wanted:
        what = f"{out.dtype}{out.shape}" if is_array else type(out).__name__
        message = f"out of {what}; use a writable array of {local.dtype}{local.shape}"
        raise LayoutError(message, "out-array")
    found: Local = out
    return found


def check_shape(layout: Layout, rank: int, shape: tuple[int, ...]) -> None:
    """Whether a rank's array is what the layout says."""
    wanted = layout.local_shape(rank)
    if shape != wanted:
        message = (
            f"rank {rank} has an array of shape {shape}, with its halo it must be {wanted}; "
            "say shape= or sizes= where halos reach past an end"
        )
        raise LayoutError(message, "halo-shape")
