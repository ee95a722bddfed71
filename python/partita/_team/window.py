"""Windows: arrays of each rank that the others read without its help.

Making a window is collective; from then on every rank reads when it likes, and the owner goes on
with whatever it does. What is read belongs together: it is what the owner showed at one moment.

>>> import numpy as np
>>> from partita import spmd
>>> def last_of_next(team):
...     window = Window(team, [np.arange(3) + 10 * team.rank])
...     found = window.read((team.rank + 1) % team.size)[0]
...     team.barrier()  # nobody drops its window while others read
...     return int(found[-1])
>>> spmd(last_of_next, ranks=2)
[12, 2]

Ranks that share no memory ask a thread of the owner's process, over a connection. Where none can be
made, as through a firewall, `reach` says so.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias
from weakref import finalize

from partita._args import integers, natural
from partita._errors import DeadlineError, LayoutError, RemoteError, TeamError
from partita._team.seen import Own, find_all
from partita._team.shown import Shown, checked, register, registered
from partita._team.team import a_team

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from partita._team.far import Far, FarListing
    from partita._team.seen import Seen, SeenListing
    from partita._team.shown import Described, Listing, Local, Unheard
    from partita._team.team import Team

# Between two looks at an owner that writes.
_FIRST_PAUSE_SECONDS = 20e-6
_LONGEST_PAUSE_SECONDS = 1e-3


class Window:
    """Arrays of each rank of a team, which all of them can read.

    `name` must be the same on all ranks: those that make their windows in another order are told.
    """

    def __init__(self, team: Team, arrays: Sequence[Local], *, name: str = "") -> None:
        self._team = a_team(team)
        self._mine, self._own = Shown(), Own(self._team)
        self._is_writing, self._turn, self._process = False, Lock(), os.getpid()
        # Also when the process ends: others shall not read what nobody vouches for any more.
        self._closer = finalize(self, _close, self._mine, self._own)
        try:
            kept = checked(arrays)
            self._mine.show(kept)
            self._sources, self._number = self._found(kept, f"name {name!r}")
        except TeamError:
            self.close()
            raise
        except Exception as error:
            self.close()
            raise team.told(error) from None

    def _found(self, arrays: tuple[Local, ...], name: str) -> tuple[list[_Source | None], int]:
        """Whom this rank reads, by rank, and the number of all. Collective."""
        team = self._team
        sources: list[_Source | None] = []
        if team.native.is_one_process:
            numbers = team.gather_alike("Window", name, register(self._mine))
            sources += [registered(number) for number in numbers]
            first = numbers[0]
        else:
            seen, first = find_all(team, self._own, arrays, name)
            sources += seen
        sources[team.rank] = self._mine
        return sources, first

    @property
    def number(self) -> int:
        """A number from 1 on that no other window of these ranks has, the same on all of them."""
        return self._number

    @property
    def team(self) -> Team:
        """The ranks that show their arrays to each other."""
        return self._team

    def reach(self, rank: int) -> str | None:
        """None if this rank can read a member's arrays now; otherwise why not."""
        source = self._source(rank)
        if source is None:
            return self._apart(rank)
        found = source.look()
        # Whoever writes shows its arrays again in a moment.
        if not isinstance(found, str) or found == "writing":
            return None
        if found == "late":
            return self._silent(rank)
        return self._apart(rank) if found == "apart" else _why_not(rank, found)

    def is_mapped(self, rank: int) -> bool:
        """Whether this rank can look at a member's arrays where they are, without a copy."""
        source = self._source(rank)
        if source is None:
            return False
        listing: Any = source.look()
        return not isinstance(listing, str) and source.is_mapped(listing)

    def version(self, rank: int) -> int:
        """How often a member has shown arrays; 1 for those that it showed first."""
        return self._looked_at(rank).version

    def described(self, rank: int) -> Described:
        """Dtypes and shapes of a member's arrays, as they are now."""
        return list(self._looked_at(rank).described)

    def read(self, rank: int, which: Sequence[int] | None = None) -> list[Local]:
        """Copies of a member's arrays, or of some of them by number: all of one moment."""
        chosen = None if which is None else integers(which, "array")
        _, _, copies = self._tried(
            rank, lambda source, listing: _each(source.fetch, listing, chosen)
        )
        return copies

    @contextmanager
    def view(self, rank: int) -> Iterator[list[Local]]:
        """A member's arrays to look at, without a copy where that can be.

        Whatever was made of them is to be thrown away if this raises `window-changed` at its end:
        the owner has written to them, or lets others use their memory.
        """
        source, listing, arrays = self._tried(
            rank, lambda source, listing: _each(source.view, listing, None)
        )
        try:
            yield arrays
        except Exception as error:
            # It may have come from looking at what is no array any more.
            if not source.still_shows(listing):
                raise _changed(rank) from error
            raise
        if not source.still_shows(listing):
            raise _changed(rank)

    def sight(self, rank: int) -> Sight:
        """A member's arrays as `view` gives them, to be kept as long as they are still shown."""
        source, listing, arrays = self._tried(
            rank, lambda source, listing: _each(source.view, listing, None)
        )
        return Sight(rank, source, listing, arrays)

    def replace(self, arrays: Sequence[Local]) -> None:
        """Show other arrays of this rank from now on; no rank takes part."""
        kept = checked(arrays)
        self._check_owner()
        self._show(kept)

    @contextmanager
    def writing(self) -> Iterator[list[Local]]:
        """This rank's arrays, to be written in place; others wait until the end."""
        self._check_owner()
        arrays = self._mine.arrays
        self._is_writing = True
        self._mine.begin_writing()
        self._own.begin_writing()
        try:
            yield list(arrays)
        finally:
            self._is_writing = False
            # Somebody may have closed it meanwhile, and a forked child is not the owner.
            if self._closer.alive and os.getpid() == self._process:
                self._show_again(arrays)

    def close(self) -> None:
        """Show this rank's arrays no more; those of other ranks can still be read."""
        self._closer()

    def _show(self, arrays: tuple[Local, ...]) -> None:
        # Threads of this rank show one after the other, to all readers in the same order.
        with self._turn:
            self._own.show(arrays, self._mine.version + 1)
            self._mine.show(arrays)

    def _show_again(self, arrays: tuple[Local, ...]) -> None:
        try:
            self._show(arrays)
        except BaseException:
            # Others would wait for the end of the writing.
            self.close()
            raise

    def _check_owner(self) -> None:
        self._team.native.check()
        if not self._closer.alive:
            rank = self._team.rank
            raise TeamError(_why_not(rank, "closed"), "window-closed", rank)
        if self._is_writing:
            message = "this rank is writing to its arrays; leave `with window.writing()` first"
            raise TeamError(message, "window-writing", self._team.rank)

    def _source(self, rank: int) -> _Source | None:
        self._team.native.check()
        number = natural(rank, "rank")
        if number >= self._team.size:
            message = f"rank {number} of a team of {self._team.size}; use one below"
            raise LayoutError(message, "rank-unknown")
        return self._sources[number]

    def _looked_at(self, rank: int) -> Listing | SeenListing | FarListing:
        """What a member shows."""
        listing: Listing | SeenListing | FarListing = self._tried(rank, lambda source, listing: [])[
            1
        ]
        return listing

    def _tried(self, rank: int, work: _Work) -> tuple[Any, Any, list[Local]]:
        """A member, what it shows, and what comes of work on it, tried until nobody disturbs it."""
        source: Any = self._source(rank)
        if source is None:
            raise TeamError(self._apart(rank), "window-reach", rank)
        pause, start = _FIRST_PAUSE_SECONDS, time.monotonic()
        while True:
            listing = source.look()
            if isinstance(listing, str):
                self._refuse(rank, listing)
                time.sleep(pause)
                pause = min(2 * pause, _LONGEST_PAUSE_SECONDS)
                done: list[Local] | Unheard | None = None
            else:
                done = work(source, listing)
            if isinstance(done, str):
                self._refuse(rank, done)
            elif done is not None and source.still_shows(listing):
                return source, listing, done
            self._check_time(rank, time.monotonic() - start)

    def _check_time(self, rank: int, seconds: float) -> None:
        limit = self._team.native.deadline
        if limit is not None and seconds > limit:
            message = (
                f"for {limit} s rank {rank} has been writing to its arrays, or has shown others "
                "before they were read; let it pause, or set a longer deadline"
            )
            raise DeadlineError(message, "deadline", rank)

    def _refuse(self, rank: int, state: str) -> None:
        """Raise if a member will not show anything any more, or cannot be asked."""
        if state == "closed":
            raise TeamError(_why_not(rank, state), "window-closed", rank)
        if state == "ended":
            raise RemoteError(_why_not(rank, state), "rank-left", rank)
        if state == "apart":
            raise TeamError(self._apart(rank), "window-reach", rank)
        if state == "late":
            raise DeadlineError(self._silent(rank), "deadline", rank)

    def _apart(self, rank: int) -> str:
        return (
            f"rank {rank} shares no memory with rank {self._team.rank}, and its process takes no "
            "connection (a firewall?); fetch by a collective call such as get_slices"
        )

    def _silent(self, rank: int) -> str:
        limit = self._team.native.deadline
        waited = "" if limit is None else f" for {limit} s"
        return (
            f"nothing has come from the process of rank {rank}{waited}; see whether its host and "
            "the link to it are up"
        )


class Sight:
    """A member's arrays where they lie, as it showed them at one moment."""

    def __init__(self, rank: int, source: Any, listing: Any, arrays: list[Local]) -> None:
        self._rank, self._source, self._listing = rank, source, listing
        self.arrays = arrays

    @property
    def is_still(self) -> bool:
        """Whether that is what the member shows now."""
        found: bool = self._source.is_now(self._listing)
        return found

    def check(self) -> None:
        """Raise if what was just made of the arrays is to be thrown away."""
        if not self.is_still:
            raise _changed(self._rank)


_Source: TypeAlias = "Shown | Seen | Far"
_Work: TypeAlias = "Callable[[Any, Any], list[Local] | Unheard | None]"


def _each(
    get: Callable[[Any, int], Local | Unheard | None], listing: Any, which: tuple[int, ...] | None
) -> list[Local] | Unheard | None:
    """Some arrays of what is shown, or all; none if one of them is not there any more.

    Or why the owner could not be asked.
    """
    n_arrays = len(listing.described)
    found = []
    for number in range(n_arrays) if which is None else which:
        if not 0 <= number < n_arrays:
            message = f"array {number} of {n_arrays} that are shown; use one below"
            raise LayoutError(message, "window-array")
        array = get(listing, number)
        if array is None or isinstance(array, str):
            return array
        found.append(array)
    return found


def _close(mine: Shown, own: Own) -> None:
    own.close()
    mine.close()


def _why_not(rank: int, state: str) -> str:
    if state == "closed":
        return (
            f"rank {rank} has closed its window, or dropped it; keep it until all have read, "
            "such as up to a barrier"
        )
    return f"the process of rank {rank} has ended; start the job again"


def _changed(rank: int) -> TeamError:
    message = f"rank {rank} has written to its arrays, or shown others, while they were viewed"
    return TeamError(f"{message}; look again, or use read()", "window-changed", rank)
