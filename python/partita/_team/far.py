"""What ranks show whose memory is out of reach: asked for over a connection.

A thread of the owner's process answers, whatever the owner does meanwhile. All that comes is a copy
of one moment.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita._partita import FarWindow, WarmMemory
from partita._team.shown import Described, Local, State, Unheard, described, typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._partita import FarListing as NativeListing
    from partita._team.team import Team


class FarListing:
    """Arrays as a far process showed them at some moment."""

    def __init__(self, native: NativeListing, described: Described) -> None:
        self.native, self.described = native, described

    @property
    def version(self) -> int:
        """How often the process has shown arrays."""
        return self.native.version


class Far:
    """What a rank of a far process shows."""

    def __init__(self, team: Team, native: FarWindow) -> None:
        self._team, self._native = team, native

    @property
    def _limit(self) -> float | None:
        """How long an owner may be silent."""
        return self._team.native.deadline

    def look(self) -> FarListing | State | Unheard:
        """What is shown now."""
        found = self._native.look(self._limit)
        return found if isinstance(found, str) else FarListing(found, described(found.description))

    def still_shows(self, _listing: FarListing) -> bool:
        """What was fetched was shown then, and is the reader's own."""
        return True

    def is_now(self, listing: FarListing) -> bool:
        """Whether that is what is shown, and nothing else since."""
        return self._native.still_shows(listing.native, self._limit)

    def fetch(self, listing: FarListing, number: int) -> Local | Unheard | None:
        """A copy of an array; none if it is not shown any more."""
        found = self._native.fetch(listing.native, number, self._limit)
        if isinstance(found, WarmMemory):
            return typed(found, *listing.described[number])
        return found or None

    def view(self, listing: FarListing, number: int) -> Local | Unheard | None:
        """The same, read only: it lies nowhere in this process's reach."""
        copy = self.fetch(listing, number)
        if copy is not None and not isinstance(copy, str):
            copy.flags.writeable = False
        return copy

    def is_mapped(self, _listing: FarListing) -> bool:
        """Never."""
        return False


def opened(team: Team, note: Sequence[Any]) -> Far | None:
    """A far rank's window; none where the numbers are those of none."""
    native = FarWindow.open(note)
    return None if native is None else Far(team, native)
