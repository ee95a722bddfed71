"""Indices and masks that lie on many ranks, brought to all of them.

An array of partita means the same on any number of ranks: its whole list, wherever its parts lie.
What that costs is the list itself, on every rank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.enter import is_everywhere
from partita.sparse.base import Base
from partita.sparse.teams import on_team

if TYPE_CHECKING:
    from partita._team.team import Team


def whole_index(key: Any, team: Team) -> Any:
    """Return an index, or a tuple of them, without arrays that are spread.

    Collective if there are such: all ranks give the same ones.
    """
    if isinstance(key, tuple):
        return tuple(whole_index(one, team) for one in key)
    if isinstance(key, Base) and key.ndim == 1:
        spread: Any = key
        key = on_team(spread, team).to_dense()
    if not isinstance(key, Array) or key.ndim == 0:
        return key
    if key.team.size == 1 or is_everywhere(key.layout, key.team.size):
        return np.asarray(key)
    return on_team(key, team).gather()
