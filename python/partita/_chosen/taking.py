"""Rows at positions that any rank may have: ask their owners, who answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._local import choosing, owners
from partita._team.routing import exchanged

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._team.team import Team

Local = np.ndarray[Any, Any]


class Asked:
    """Which rows this rank wants from which others: planned once, for reading or writing."""

    def __init__(self, team: Team, positions: Local, starts: Sequence[int]) -> None:
        """Positions of rows, counted from the front; rank r has those from `starts[r]` on."""
        self.team = team
        self.positions = positions
        self.starts = list(starts)
        counts = owners.counts(positions, self.starts)
        self.counts = team.gather_inside("numbers of rows to take", counts)
        # What each rank wants of this one; of repeated positions the last stays the last.
        asked = owners.group(positions, self.starts, counts)
        self.wanted = exchanged(team, asked, self.counts)

    def read(self, rows: Local) -> Local:
        """Return the rows wanted, in their order, of what every rank has. Collective."""
        answers = [choosing.gather(rows, one) for one in self.wanted]
        turned = [list(column) for column in zip(*self.counts, strict=True)]
        came = exchanged(self.team, answers, turned)
        return owners.ungroup_rows(self.positions, self.starts, came)

    def send(self, values: Local) -> tuple[Local, Local]:
        """Send a row for each position; return positions here and rows for them. Collective."""
        sizes = self.counts[self.team.rank]
        groups = owners.group_rows(self.positions, self.starts, sizes, values)
        came = exchanged(self.team, groups, self.counts)
        return np.concatenate(self.wanted), np.concatenate(came)
