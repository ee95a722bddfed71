"""Questions about a sorted row that is cut: each goes to the rank that can answer it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._local import choosing, sorting
from partita._team.routing import routed

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._algorithms.rows import Row
    from partita._team.team import Team

Local = np.ndarray[Any, Any]


def asked(
    team: Team, row: Row, values: Local, answer: Callable[[Local], Local], *, right: bool
) -> Local:
    """What ranks answer about values; each is asked for those that belong into its part.

    A value belongs to the last rank that begins with a smaller one, or with an equal one too if
    the place to the right of equal ones is meant. Collective.
    """
    starts = team.allgather_data(row.local[:1])
    holders = np.asarray([rank for rank, start in enumerate(starts) if len(start)], np.int64)
    if len(holders):
        places = sorting.search(np.concatenate(starts), values, right=right) - 1
        targets = holders[np.maximum(places, 0)]
    else:
        targets = np.zeros(len(values), np.int64)
    order = sorting.positions(targets)
    n_asked = choosing.count_values(targets, team.size)
    counts = np.asarray(team.allgather_data(n_asked.tolist()))
    parts = np.split(choosing.gather(values, order), np.cumsum(n_asked)[:-1])
    questions = np.concatenate(routed(team, parts, counts.tolist()))
    ends = np.cumsum(counts[:, team.rank])[:-1]
    answers = np.concatenate(
        routed(team, np.split(answer(questions), ends), counts.T.tolist()),
    )
    found = np.empty(len(values), answers.dtype)
    choosing.scatter(found, order, answers)
    return found


def is_among(run: Local, values: Local) -> Local:
    """Whether values are in a sorted run."""
    if len(run) == 0:
        return np.zeros(values.shape, bool)
    at = np.minimum(sorting.search(run, values), len(run) - 1)
    found: Local = run[at] == values
    return found
