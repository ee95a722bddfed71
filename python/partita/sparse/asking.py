"""Rows that ranks ask their owners for: who gives which to whom, told once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._team.routes import Routes

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._team.team import Team

Local = np.ndarray[Any, Any]

# Lists that are shorter go to all ranks at once: a second meeting would take longer.
MOST_BYTES_TO_ALL = 1 << 19


class Asked:
    """What this rank has asked for and what it is asked for, both in the order of ranks.

    `routes` take rows from their owners to those who asked. `order` says which of the rows asked
    for comes at each place; none if they come as they were asked for.
    """

    def __init__(
        self,
        team: Team,
        owners: Local,
        places: Local,
        problem: IndexError | None = None,
        *,
        words: str,
    ) -> None:
        """Ask owners for rows by their places there, any of them repeatedly. Collective.

        The words say what for, alike on all ranks. A rank's problem is raised on every rank.
        """
        self.team = team
        is_sorted = bool((owners[1:] >= owners[:-1]).all())
        # Short integers are sorted by counting.
        self.order = None if is_sorted else np.argsort(owners.astype(np.int16), kind="stable")
        self.places = places if self.order is None else places[self.order]
        counts = np.bincount(owners, minlength=team.size).tolist()
        told = _told(team, words, counts, self.places, problem)
        # From owner to asker.
        self.routes = Routes(team, [list(one) for one in zip(*told.counts, strict=True)])
        self.given = brought_along(team, told.counts, told.short, self.places)


class _Told(NamedTuple):
    """What ranks have told each other: how many rows each wants of each, and short lists."""

    counts: list[list[int]]
    short: list[Local | None]


def _told(
    team: Team, words: str, counts: list[int], places: Local, problem: IndexError | None
) -> _Told:
    """Return what all ranks ask for; a problem of any is raised by all."""
    if problem is not None and team.size == 1:
        raise problem
    here = [counts, short_of(team, places)] if problem is None else str(problem)
    told: list[Any] = team.gather_alike("DistTensor rows", words, here) if team.size > 1 else [here]
    for rank, one in enumerate(told):
        if isinstance(one, str):
            raise problem or IndexError(f"{one} (on rank {rank})")
    return _Told([one[0] for one in told], [one[1] for one in told])


def short_of(team: Team, rows: Local) -> Local | None:
    """Return rows that may go to all ranks with what these tell each other; none if too many."""
    return rows if team.size * rows.nbytes <= MOST_BYTES_TO_ALL else None


def brought_along(
    team: Team, counts: Sequence[Sequence[int]], short: list[Local | None], rows: Local
) -> Local:
    """Return the rows that come to this rank, which may be here already. Collective.

    `counts[source][target]` rows go from rank to rank; `short` is what has been told of each.
    """
    routes = Routes(team, counts)
    if routes.is_at_home or any(one is None for one in short):
        return routes.there(rows)
    parts = []
    for count, one in zip(counts, short, strict=True):
        start = sum(count[: team.rank])
        parts.append(np.asarray(one)[start : start + count[team.rank]])
    return np.concatenate(parts)
