"""What has no distributed algorithm takes the whole array on every rank, and is counted."""

from __future__ import annotations

import warnings
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array import enter
from partita._array.place import levels_to_user
from partita._errors import GatherWarning

if TYPE_CHECKING:
    from partita._array.array import Array

_counts: Counter[str] = Counter()
# What is brought to every rank without a word.
_MOST_FEW = 10_000


def whole(array: Array, name: str) -> np.ndarray[Any, Any]:
    """Return all elements on every rank, for the function `name`. Collective."""
    n_ranks = array.team.size
    is_moved = n_ranks > 1 and array.size > 1 and not enter.is_everywhere(array.layout, n_ranks)
    if is_moved and (array.team.engine != "threads" or array.team.rank == 0):
        # Ranks that are threads of one process count once, and before any of them goes on.
        _counts[name] += 1
    found = array.gather()
    if is_moved:
        message = f"{name} brings all {array.size:,} elements of an array to every rank"
        warnings.warn(message, GatherWarning, stacklevel=levels_to_user())
    assert found is not None
    return found


def few(array: Array, name: str) -> np.ndarray[Any, Any]:
    """Return what every rank has to know, such as positions; counted if it is much after all."""
    if array.size > _MOST_FEW:
        return whole(array, name)
    found = array.gather()
    assert found is not None
    return found


def gathers() -> dict[str, int]:
    """Return how often which function has brought a whole array to every rank."""
    return dict(_counts)


__all__ = ["gathers"]
