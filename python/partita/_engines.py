"""The task schedulers that arrays can be handed to: a table that `partita` itself fills.

Arrays do not know Dask and Ray, which stand above them and need libraries of their own: they ask
here for the module that does. It has

- `from_team`: an array of a team, handed over;
- `ticket`: plain data by which other processes find an array of handles, and what is to be closed
  when they have it;
- `attached`: the array that a ticket tells of.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

# How to load each module.
LOADERS: dict[str, Callable[[], ModuleType]] = {}


def hand_over(engine: str) -> ModuleType:
    """The module that hands arrays over to a task scheduler."""
    return LOADERS[engine]()
