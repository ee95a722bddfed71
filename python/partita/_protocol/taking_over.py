"""What every way of taking an array over begins and ends with: who takes it, and its elements."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._errors import ProtocolError
from partita._memory.bfloat import NAME as BFLOAT
from partita._memory.bfloat import taught
from partita._memory.views import checked_copy
from partita._team.spmd import own_team
from partita._team.team import Team


def taker(team: Team | None, copy: Any) -> tuple[Team, bool | None]:
    """Who takes an array over, and whether by a copy; the others hear of a wrong flag."""
    team = own_team(team)
    with team:
        return team, checked_copy(copy)


def dtype_words(buffers: list[Any]) -> Any:
    if not buffers:
        return None
    dtype = buffers[0].dtype
    if dtype.name == BFLOAT:
        return BFLOAT
    # Text of a structured dtype is the list of its fields.
    return str(dtype.descr) if dtype.names else dtype.str


def common_dtype(told: list[Any], named: str | None) -> np.dtype[Any]:
    """The element type of all ranks; a rank without data has none."""
    words = sorted({word for word in told if word is not None})
    if len(words) > 1:
        ranks = {word: told.index(word) for word in words}
        listed = ", ".join(f"{word} on rank {rank}" for word, rank in ranks.items())
        raise ProtocolError(f"the ranks' elements differ: {listed}; use one dtype", "ranks-differ")
    if words == [BFLOAT]:
        return taught()
    if words:
        from ast import literal_eval

        found: np.dtype[Any] = np.dtype(
            literal_eval(words[0]) if words[0].startswith("[") else words[0]
        )
        return found
    try:
        return np.dtype(named or "float64")
    except TypeError:
        return np.dtype("float64")
