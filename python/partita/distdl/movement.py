"""Movements: plans on a team as one linear map with its adjoint, on local NumPy arrays.

The inner product of the space that movements act on is the plain sum over all workers' local
arrays: every replica is a coordinate of its own. With it the adjoint of a copy is a sum, the
adjoint of a sum is a copy, and that of a chain of plans is the chain backwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from partita._errors import LayoutError
from partita._memory.bfloat import as_numbers, storage
from partita._partita import Plan
from partita._team.team import Team

Local = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Movement:
    """A chain of plans on one team.

    A stacked movement gives the arrays a leading axis of length 1, so that the arrays of several
    workers lie one after the other in one global array whatever their own dimensions mean.
    """

    team: Team
    plans: tuple[Plan, ...]
    is_stacked: bool = False
    preserve_batch: bool = False
    # Whether any worker's array needs a gradient.
    is_tracked: bool = False
    _reversed: list[Movement] = field(default_factory=list, repr=False, compare=False)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type of what moves, as NumPy holds it."""
        return storage(self.plans[0].dtype)

    def forward(self, local: Local, out: Local | None = None) -> Local:
        """Return this worker's result, of zero volume if it has none. Collective."""
        return self._run(self.plans, local, out)

    def adjoint(self, local: Local, out: Local | None = None) -> Local:
        """Return the adjoint's result; the cotangent has the forward result's shape. Collective."""
        return self.reversed().forward(local, out)

    def reversed(self) -> Movement:
        """Return the movement whose forward is this one's adjoint."""
        if not self._reversed:
            backwards = tuple(plan.adjoint() for plan in reversed(self.plans))
            self._reversed.append(replace(self, plans=backwards, _reversed=[self]))
        return self._reversed[0]

    def _run(self, plans: Sequence[Plan], local: Local, out: Local | None) -> Local:
        rank = self.team.rank
        moving: Any = self._given(plans[0], rank, local)
        for plan in plans[:-1]:
            moving = plan.apply(moving, self.team)
        result = plans[-1].apply(moving, self.team, self._into(plans[-1], rank, out))
        if result is None or (out is not None and rank not in plans[-1].target.ranks):
            return self._nothing(local)
        if out is not None:
            return out
        found: Local = result[0, ...] if self.is_stacked else result
        return found

    def _given(self, plan: Plan, rank: int, local: Local) -> Local | None:
        if rank not in plan.source.ranks:
            return None
        return local[np.newaxis] if self.is_stacked else local

    def _into(self, plan: Plan, rank: int, out: Local | None) -> Local | None:
        if out is None or rank not in plan.target.ranks:
            return None
        if not isinstance(out, np.ndarray):
            message = f"a {type(out).__name__} as out; use a writable array of {self.dtype}"
            raise self.team.told(LayoutError(message, "out-array"))
        return out[np.newaxis] if self.is_stacked else out

    def _nothing(self, local: Local) -> Local:
        batch = local.shape[:1] if self.preserve_batch else ()
        return as_numbers(np.zeros((*batch, 0), dtype=self.dtype), self.plans[0].dtype)
