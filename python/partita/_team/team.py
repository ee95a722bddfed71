"""Teams and grids: ordered ranks that act together.

They share a file: a team arranges its members in a grid, and a grid is a team.
"""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

from partita import _engines
from partita._args import checked_axes, integer, integers, natural
from partita._errors import LayoutError, TeamError, text_of, words_of
from partita._keeper import Keeper
from partita._partita import Rank, number_of, position_of
from partita._team.known import begin, is_noted, note

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from types import TracebackType

    import numpy as np

    from partita._partita import TeamCore

E = TypeVar("E", bound=BaseException)


def unknown_root(root: int, size: int) -> LayoutError:
    """Return the error of a root that is no rank of a team of a size."""
    message = f"root {root} of a team of {size}; use a rank of that team"
    return LayoutError(message, "root-unknown")


class Team(Keeper):
    """Ranks that act together, as seen by one of them.

    Used as a context manager, it notifies the other members when this rank fails:

        with team:
            risky()
            team.barrier()
    """

    def __init__(self, native: TeamCore) -> None:
        super().__init__()
        self.native = native
        # Address and process id of each rank, once the ranks have told each other.
        self.known_addresses: list[tuple[str, int]] | None = None
        # How often arrays were written without the engine: on every rank alike.
        self.n_direct_writes = 0

    @property
    def rank(self) -> int:
        """This rank's number in the team; -1 if it is not a member."""
        rank = self.native.rank
        return -1 if rank is None else rank

    @property
    def size(self) -> int:
        """Number of members."""
        return len(self.native.members)

    @property
    def ranks(self) -> tuple[int, ...]:
        """The members as ranks of the world, in order."""
        return self.native.members

    @property
    def active(self) -> bool:
        """Whether this rank is a member."""
        return self.native.rank is not None

    @property
    def engine(self) -> str:
        """Name of the engine that runs plans here."""
        return self.native.engine

    @property
    def arrays(self) -> Rank:
        """The engine that computes arrays of this team on this rank."""
        return self.kept("arrays", self._make_arrays)

    def _make_arrays(self) -> Rank:
        _engines.load_methods()
        return Rank(self)

    def shares_memory_with(self, rank: int) -> bool:
        """Return whether this rank and another member can access each other's memory."""
        return self.native.shares_memory_with(natural(rank, "rank"))

    def empty(self, shape: int | Sequence[int], dtype: Any = "float64") -> np.ndarray[Any, Any]:
        """Return an uninitialised local array in warm memory that neighbours can reach."""
        from partita._memory.warm import empty

        return empty((shape,) if isinstance(shape, int) else shape, dtype)

    def with_deadline(self, seconds: float | None) -> Team:
        """Return the same team with another deadline in seconds; None waits for ever."""
        return Team(self.native.with_deadline(a_deadline(seconds)))

    def barrier(self) -> None:
        """Wait until every member has arrived."""
        self.native.barrier()

    def subteam(self, ranks: Iterable[int]) -> Team:
        """Return a team of some members, given by their rank here, in the given order."""
        return Team(
            self.native.subteam([natural(rank, "rank") for rank in integers(ranks, "rank")])
        )

    def union(self, other: Team) -> Team:
        """Return a team of these members, followed by the other team's remaining members."""
        self._check_world(other)
        return Team(self.native.union(other.native))

    def grid(self, *shape: int) -> Grid:
        """Return the members arranged in a grid, in C order."""
        return Grid(self.native, shape)

    def broadcast_data(self, obj: Any, root: int = 0, *, source: Team | None = None) -> Any:
        """Return one rank's value on every member.

        `root` is a rank of this team, or of `source`, a team that is part of this one.
        """
        return self.broadcast_alike("broadcast_data", obj, root, source=source)

    def broadcast_alike(
        self,
        call: str,
        obj: Any,
        root: int = 0,
        *,
        source: Team | None = None,
        argument: str = "",
    ) -> Any:
        """One rank's value on every member; all must name the same `call` and `argument`."""
        if not self.active:
            return None
        from partita._team.wire import decode, encode

        at = self._root(root, source)
        data = self._encoded(encode, obj) if at == self.rank else b""
        return decode(self.native.allgather(call, argument or f"root {at}", data)[at])

    def _root(self, root: int, source: Team | None) -> int:
        team = source or self
        with self:
            self._check_world(team)
            root = integer(root, "root")
        if not 0 <= root < team.size:
            raise self.told(unknown_root(root, team.size))
        member = team.ranks[root]
        if member not in self.ranks:
            message = f"root {root} is rank {member} of the world, no member here; use a member"
            raise self.told(LayoutError(message, "root-unknown"))
        return self.ranks.index(member)

    def _check_world(self, other: Team) -> None:
        """Ranks of one world mean nothing in another."""
        a_team(other)
        if not self.native.same_world(other.native):
            message = "teams of different worlds number their ranks apart; use teams of one world"
            raise LayoutError(message, "other-world")

    def _encoded(self, encode: Callable[[Any], bytes], obj: Any) -> bytes:
        try:
            return encode(obj)
        except Exception as error:
            raise self.told(error) from None

    def gather_alike(self, call: str, argument: str, obj: Any) -> list[Any]:
        """Every member's value, in order; all must name the same `call` and `argument`."""
        from partita._team.wire import decode_all, encode

        data = self._encoded(encode, obj)
        return self.native.gather_values(call, argument, data, decode_all)

    def gather_inside(self, what: str, obj: Any) -> list[Any]:
        """Every member's value in a step of partita's own, which no call of a user may answer."""
        return self.gather_alike("inside partita:", what, obj)

    def say(self, words: str) -> None:
        """Note options with which this rank computes on its own: the next meeting compares them."""
        if self.size > 1 and self.active:
            self.native.say(words)

    def told(self, error: E) -> E:
        """The same error, after the other members were told: for `raise team.told(...)`."""
        self.native.report(text_of(error))
        # Not every exception takes a note; then they are told twice.
        with contextlib.suppress(Exception):
            error.told = (self.ranks,)  # type: ignore[attr-defined]
        return error

    def knowing(self, error: E) -> E:
        """The same error, with a note that all members know it: `with team:` tells nobody."""
        note(error, self.ranks)
        return error

    def allgather_data(self, obj: Any) -> list[Any]:
        """Return every member's value, in rank order."""
        return self.gather_alike("allgather_data", "", obj)

    def __enter__(self) -> Team:
        begin()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if error is not None and self.active and not self.knows(error):
            self.native.report(words_of(error))
            self.knowing(error)

    def knows(self, error: BaseException) -> bool:
        """Whether it is an error of this very team: all its members know it already."""
        try:
            return is_noted(error, self.ranks) or self.ranks in getattr(error, "told", ())
        except Exception:  # the exception's own code
            return False

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Team) and self.native == other.native

    def __hash__(self) -> int:
        return hash(self.ranks)

    def __copy__(self) -> Team:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Team:
        # A copy of a layer or a partition acts with the same ranks, not with new ones.
        return self

    def __reduce__(self) -> NoReturn:
        message = "a team lives in its process and cannot be pickled; send data, and make the team"
        raise TeamError(f"{message} again with partita.world() there", "team-pickle")

    def __repr__(self) -> str:
        where = f"rank {self.rank}" if self.active else "not a member"
        return f"<Team of {self.size} on {self.engine}, {where}>"


class Grid(Team):
    """A team arranged in n dimensions, in C order."""

    def __init__(self, native: TeamCore, shape: Sequence[int]) -> None:
        super().__init__(native)
        self.shape = tuple(natural(length, "grid") for length in integers(shape, "grid"))
        if math.prod(self.shape) != self.size:
            message = f"a grid of shape {self.shape} for {self.size} ranks; use as many places"
            raise LayoutError(message, "grid-size")

    @property
    def index(self) -> tuple[int, ...] | None:
        """This rank's coordinates; None if it is not a member."""
        return self.coords(self.rank) if self.active else None

    def coords(self, rank: int) -> tuple[int, ...]:
        """Return the coordinates of a rank of this team."""
        number = natural(rank, "rank")
        if number >= self.size:
            raise LayoutError(
                f"rank {rank} of a grid of {self.size}; use one below", "rank-unknown"
            )
        return position_of(number, self.shape)

    def rank_at(self, coords: Sequence[int]) -> int:
        """Return the rank at the given coordinates."""
        coords = integers(coords, "coordinates")
        if len(coords) != len(self.shape) or not all(
            0 <= coord < length for coord, length in zip(coords, self.shape, strict=True)
        ):
            message = f"coordinates {coords} in a grid of shape {self.shape}; stay inside"
            raise LayoutError(message, "coordinates-outside")
        return number_of(coords, self.shape)

    def neighbors(self, rank: int | None = None) -> list[tuple[int, int]]:
        """Return the (left, right) ranks per dimension; -1 at an edge."""
        here = self.coords(self.rank if rank is None else rank)
        pairs = []
        for axis, length in enumerate(self.shape):
            sides = []
            for coord in (here[axis] - 1, here[axis] + 1):
                there = (*here[:axis], coord, *here[axis + 1 :])
                sides.append(self.rank_at(there) if 0 <= coord < length else -1)
            pairs.append((sides[0], sides[1]))
        return pairs

    def subgrid(self, keep_axes: Iterable[int]) -> Grid:
        """Return the grid of ranks that share this rank's coordinates on the axes not kept."""
        keep = checked_axes(keep_axes, len(self.shape))
        here = self.coords(self.rank) if self.active else (0,) * len(self.shape)
        ranks = [
            rank
            for rank in range(self.size)
            if all(self.coords(rank)[a] == here[a] for a in range(len(self.shape)) if a not in keep)
        ]
        shape = [length for axis, length in enumerate(self.shape) if axis in keep]
        return Grid(self.native.subteam(ranks), shape)

    def reduction_grid(self, axes: Iterable[int]) -> Grid:
        """Return the grid that sums along `axes`; its other axes have length 1."""
        keep = checked_axes(axes, len(self.shape))
        shape = [length if axis in keep else 1 for axis, length in enumerate(self.shape)]
        return Grid(self.subgrid(keep).native, shape)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Grid) and self.shape == other.shape and super().__eq__(other)

    def __hash__(self) -> int:
        return hash((self.ranks, self.shape))


def a_team(given: Any) -> Team:
    """What is given as a team, if it is one."""
    if not isinstance(given, Team):
        message = f"a {type(given).__name__} as team; use one, such as partita.world()"
        raise LayoutError(message, "not-a-team")
    return given


def a_deadline(seconds: Any) -> float | None:
    if seconds is None:
        return None
    if not isinstance(seconds, int | float) or not 0 <= seconds < 1e9:
        message = f"a deadline of {seconds!r}; use seconds from 0 to 1e9, or None for none"
        raise LayoutError(message, "deadline")
    return float(seconds)
