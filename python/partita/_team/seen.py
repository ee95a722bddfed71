"""What ranks of other processes show, and how all processes of a team find each other's windows."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING, Any

from partita._errors import TeamError
from partita._partita import SeenWindow, ShownWindow, WarmMemory
from partita._team.far import Far, opened
from partita._team.shown import Described, Local, State, bytes_of, described, typed, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._partita import WindowListing
    from partita._team.team import Team

# Whether processes read memory that they cannot map where it is; if not, it is copied.
READS_IN_PLACE = True

# Windows of rank 0's process are counted: that tells them apart on all ranks.
_NUMBERS = count(1)


class SeenListing:
    """Arrays as another process showed them at some moment."""

    def __init__(self, native: WindowListing, described: Described) -> None:
        self.native, self.described = native, described

    @property
    def version(self) -> int:
        """How often the process has shown arrays."""
        return self.native.version


class Seen:
    """What a rank of another process shows."""

    def __init__(self, rank: int, native: SeenWindow) -> None:
        self._rank, self._native = rank, native
        # The last description and what it says: most shows differ in nothing but their bytes.
        self._last: tuple[bytes, Described] = (b"", [])

    def look(self) -> SeenListing | State:
        """What is shown now."""
        found = self._native.look()
        if isinstance(found, str):
            return found
        words, said = self._last
        if found.description != words:
            words, said = found.description, described(found.description)
            self._last = words, said
        return SeenListing(found, said)

    def still_shows(self, listing: SeenListing) -> bool:
        """Whether that is still shown: its memory may be anything once it is not."""
        return self._native.still_shows(listing.native)

    # Whoever shows other arrays may give away the memory of those before.
    is_now = still_shows

    def fetch(self, listing: SeenListing, number: int) -> Local | None:
        """A copy of an array; none if it is not shown any more."""
        found = self._native.fetch(listing.native, number)
        if isinstance(found, WarmMemory):
            return typed(found, *listing.described[number])
        is_shown = self.still_shows(listing) and not isinstance(self.look(), str)
        if found is None or is_shown:
            # Trying again would not end.
            why = "the system forbids it" if found is None else "it is mapped nowhere"
            message = f"memory of array {number} of rank {self._rank} cannot be read: {why}"
            raise TeamError(f"{message}; show it anew", "window-memory", self._rank)
        return None

    def view(self, listing: SeenListing, number: int) -> Local | None:
        """An array where it is, or a copy if it cannot be mapped; none if it is shown no more."""
        mapped = self._native.map(listing.native, number)
        if mapped is not None:
            return typed(mapped, *listing.described[number])
        copy = self.fetch(listing, number)
        if copy is not None:
            copy.flags.writeable = False
        return copy

    def is_mapped(self, listing: SeenListing) -> bool:
        """Whether all arrays can be looked at where they are; what is empty lies nowhere."""
        shapes = [shape for _, shape in listing.described]
        numbers = [number for number, shape in enumerate(shapes) if 0 not in shape]
        return all(self._native.map(listing.native, number) is not None for number in numbers)


class Own:
    """What this process shows to the others; nothing where none of them can reach it."""

    def __init__(self, team: Team) -> None:
        self.native = None
        if not team.native.is_one_process:
            far = not all(team.shares_memory_with(rank) for rank in range(team.size))
            self.native = ShownWindow.make(far)
        # Whether some rank cannot read memory where it is.
        self.is_copied = False

    def show(self, arrays: Sequence[Local], version: int) -> None:
        """Show arrays from now on; `version` counts them."""
        if self.native is not None:
            memory = [bytes_of(array) for array in arrays]
            self.native.show(memory, version, words_of(arrays), self.is_copied)

    def begin_writing(self) -> None:
        """Say that what is shown is being written, until it is shown again."""
        if self.native is not None:
            self.native.begin_writing()

    def close(self) -> None:
        """Show nothing any more."""
        if self.native is not None:
            self.native.close()


def find_all(
    team: Team, own: Own, arrays: Sequence[Local], name: str
) -> tuple[list[Seen | Far | None], int]:
    """Show arrays to all ranks; what each of them shows, none where nobody serves it. Collective.

    Also the number of all these, which rank 0 gives.

    Whoever may not read memory of another process where it is says so, and that one makes copies.
    """
    own.show(arrays, version=1)
    notes = (None, None) if own.native is None else (own.native.note, own.native.far_note)
    seen: dict[int, SeenWindow] = {}
    far: dict[int, Far | None] = {}
    told = team.gather_alike("Window", name, (*notes, next(_NUMBERS)))
    for rank, (near_note, far_note, _) in enumerate(told):
        if rank == team.rank:
            continue
        if not team.shares_memory_with(rank):
            far[rank] = None if far_note is None else opened(team, far_note)
        elif near_note is not None and (found := SeenWindow.open(near_note)) is not None:
            seen[rank] = found
    refused = [rank for rank, one in seen.items() if not (READS_IN_PLACE and one.reads_in_place())]
    refusals = team.gather_alike("Window", name, refused)
    own.is_copied = any(team.rank in ranks for ranks in refusals)
    if any(refusals):
        _show_copies(team, own, arrays, name)
    all_seen = [
        Seen(rank, seen[rank]) if rank in seen else far.get(rank) for rank in range(team.size)
    ]
    return all_seen, told[0][2]


def _show_copies(team: Team, own: Own, arrays: Sequence[Local], name: str) -> None:
    """Show arrays again where somebody could not read them; all wait until it is done."""
    problem: Any = None
    try:
        if own.is_copied:
            own.show(arrays, version=1)
    except Exception as error:
        problem = error
    if problem is not None:
        raise team.told(problem)
    team.gather_alike("Window", name, None)
