"""Objects that keep what is made for them, as long as they live.

What is made for a team or a partition refers to it, so that a table elsewhere would keep both for
ever, however weakly it refers to the owner: the owner itself keeps it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import TypeVar

T = TypeVar("T")


class Keeper:
    """A class whose objects keep what is made for them."""

    def __init__(self) -> None:
        self._kept: dict[Hashable, object] = {}

    def kept(self, key: Hashable, make: Callable[[], T]) -> T:
        """What was made for this object under a key; made now if it was not."""
        if key not in self._kept:
            self._kept[key] = make()
        return self._kept[key]  # type: ignore[return-value]
