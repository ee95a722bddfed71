"""What arrays need and stands above them: a table that `partita` itself fills.

Arrays do not know Dask and Ray, which stand above them and need libraries of their own: they ask
here for the module that does. It has

- `from_team`: an array of a team, handed over;
- `ticket`: plain data by which other processes find an array of handles, and what is to be closed
  when they have it;
- `attached`: the array that a ticket tells of.

The methods that arrays have by NumPy's names stand above them too, as they call the functions.
"""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

# How to load each module.
LOADERS: dict[str, Callable[[], ModuleType]] = {}


def hand_over(engine: str) -> ModuleType:
    """The module that hands arrays over to a task scheduler."""
    return LOADERS[engine]()


def load_methods() -> None:
    """Let arrays have all their methods: before the first one is made, whoever makes it."""
    if load := LOADERS.get("methods"):
        load()
        # Only now: whoever asks while another thread still loads them must wait for it as well.
        LOADERS.pop("methods", None)
