"""Rows at positions that any rank may have: ask their owners, who answer."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._local import choosing
from partita._team.routing import route, routed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._team.team import Team

Local = np.ndarray[Any, Any]


class Asked:
    """Which rows this rank wants from which others: planned once, for reading or writing."""

    def __init__(self, team: Team, positions: Local, starts: Sequence[int]) -> None:
        """Positions of rows, counted from the front; rank r has those from `starts[r]` on."""
        self.team = team
        bounds = np.asarray(starts)
        owners = np.searchsorted(bounds[1:], positions, side="right")
        # Stable: of repeated positions the last stays the last.
        self.order = np.argsort(owners, kind="stable")
        counts = np.bincount(owners, minlength=team.size)
        self.cuts = np.cumsum([0, *counts])
        wanted = positions[self.order]
        self.counts = team.allgather_data(counts.tolist())
        given = routed(team, self._parts(wanted), self.counts)
        # What others want of this rank, in the order of ranks.
        self.wanted = np.concatenate(given) - bounds[team.rank]
        self.given_counts = [len(one) for one in given]

    def _parts(self, rows: Local) -> list[Local]:
        return [rows[first:last] for first, last in pairwise(self.cuts)]

    def read(self, rows: Local) -> Local:
        """Return the rows wanted, in their order, of what every rank has. Collective."""
        found = choosing.gather(rows, self.wanted)
        cuts = np.cumsum([0, *self.given_counts])
        answers = [found[a:b] for a, b in pairwise(cuts)]
        turned = [list(column) for column in zip(*self.counts, strict=True)]
        came = routed(self.team, answers, turned)
        out = np.empty((len(self.order), *rows.shape[1:]), rows.dtype)
        choosing.scatter(out, self.order, np.concatenate(came))
        return out

    def send(self, values: Local) -> tuple[Local, Local]:
        """Send a row for each position; return positions here and rows for them. Collective."""
        came = route(self.team, self._parts(choosing.gather(values, self.order)))
        return self.wanted, np.concatenate(came)
