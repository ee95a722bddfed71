"""Rows that go from ranks to ranks again and again: the plans are made once and kept."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._keeper import Keeper
from partita._memory.views import carrier_of
from partita._memory.warm import empty
from partita._partita import plan
from partita._team.routing import layouts_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._partita import Plan
    from partita._team.team import Team

Local = np.ndarray[Any, Any]


class Routes(Keeper):
    """The ways of `counts[source][target]` rows, which all ranks know, there and back.

    Rows lie in one array: where they leave in the order of targets, where they arrive in that of
    sources. Both calls are collective, unless no row leaves its rank.
    """

    def __init__(self, team: Team, counts: Sequence[Sequence[int]]) -> None:
        super().__init__()
        self.team = team
        self.counts = counts
        self.n_leaving = list(counts[team.rank])
        self.n_coming = [one[team.rank] for one in counts]
        self.is_at_home = all(
            n == 0 or source == target
            for source, one in enumerate(counts)
            for target, n in enumerate(one)
        )

    def there(self, leaving: Local, out: Local | None = None, about: str = "") -> Local:
        """Return the rows that come to this rank; what they are `about` all ranks say alike."""
        row = leaving.shape[1:]
        if self.is_at_home and out is None:
            return leaving
        came = empty((sum(self.n_coming), *row), leaving.dtype) if out is None else out
        self._run(self._plans(row, leaving.dtype)[0], self._cut(leaving), _one(came), about)
        return came

    def back(self, came: Local, out: Local | None = None, about: str = "") -> Local:
        """Return rows from where they came to where they left: the adjoint."""
        row = came.shape[1:]
        if self.is_at_home and out is None:
            return came
        left = empty((sum(self.n_leaving), *row), came.dtype) if out is None else out
        self._run(self._plans(row, came.dtype)[1], _one(came), self._cut(left), about)
        return left

    def _run(
        self, going: Plan | None, source: list[Local], target: list[Local], about: str
    ) -> None:
        if going is not None:
            going.apply(source, self.team, target, about=about)

    def _cut(self, leaving: Local) -> list[Local]:
        """Return the rows for each rank to which some go."""
        cuts = [0, *np.cumsum(self.n_leaving).tolist()]
        parts = [leaving[start:end] for start, end in pairwise(cuts)]
        return [one for part in parts for one in _one(part)]

    def _plans(
        self, row: tuple[int, ...], dtype: np.dtype[Any]
    ) -> tuple[Plan, Plan] | tuple[None, None]:
        return self.kept((math.prod(row), dtype), lambda: self._planned(math.prod(row), dtype))

    def _planned(self, width: int, dtype: np.dtype[Any]) -> tuple[Plan, Plan] | tuple[None, None]:
        layouts = layouts_of(self.counts, width)
        if layouts is None:
            return None, None
        name = carrier_of(dtype).name
        source, target = layouts
        return plan(source, target, name), plan(target, source, name)


def _one(rows: Local) -> list[Local]:
    """Return rows as the buffer that a plan wants; none where there is nothing."""
    if not rows.size:
        return []
    return [rows.reshape(-1).view(carrier_of(rows.dtype))]
