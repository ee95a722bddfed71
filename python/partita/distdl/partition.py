"""Partitions: teams of workers as DistDL names and uses them, thin over `Team` and `Grid`.

Both classes share a file: a partition arranges its workers in a grid, and a grid is a partition.

Nothing here but `broadcast_data`, `allgather_data` and `allreduce_data` communicates: what a new
partition looks like follows from what every worker knows, so that nothing can hang.

>>> import partita as pt
>>> def job(team):
...     P = Partition(team).create_partition_inclusive([2, 0])
...     return P.active, P.rank, P.size
>>> pt.spmd(job, ranks=3)
[(True, 1, 2), (False, -1, -1), (True, 0, 2)]
>>> def job(team):
...     P = Partition(team).create_cartesian_topology_partition((2, 2))
...     return P.index, P.neighbor_ranks(P.rank)
>>> pt.spmd(job, ranks=4)[1]
((0, 1), [(-1, 3), (0, -1)])
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from partita._args import checked_axes, flags, integer, integers
from partita._errors import LayoutError, MismatchError, text_of
from partita._keeper import Keeper
from partita._team.spmd import world
from partita._team.team import Grid, Team
from partita.distdl.errors import InactivePartition, RankError
from partita.distdl.pairing import Pairing, pair
from partita.distdl.rooted import Rooted, broadcast_teams, reduction_teams

Local = np.ndarray[Any, Any]

_REDUCTIONS: dict[str, Callable[[Sequence[Local]], Local]] = {
    "sum": lambda parts: np.sum(parts, axis=0, dtype=parts[0].dtype),
    "prod": lambda parts: np.prod(parts, axis=0, dtype=parts[0].dtype),
    "max": lambda parts: np.max(parts, axis=0),
    "min": lambda parts: np.min(parts, axis=0),
}


class Partition(Keeper):
    """An ordered team of workers without a topology; inactive on workers that are not members.

    It is made from a team or an mpi4py communicator. Without one it is the null partition: inactive
    and without members.
    """

    def __init__(self, team: Any = None, *, root: Team | None = None) -> None:
        super().__init__()
        if team is not None and not isinstance(team, Team):
            team = world(team)
        # A grid's shape is not the team's business; `CartesianPartition` keeps its own.
        self.team: Team | None = Team(team.native) if isinstance(team, Grid) else team
        self.root: Team | None = root if root is not None else self.team
        # How the teams of a broadcast or reduction came about; None for other partitions.
        self.rooted: Rooted | None = None

    @property
    def active(self) -> bool:
        """Whether this worker is a member."""
        return self.team is not None and self.team.active

    @property
    def rank(self) -> int:
        """This worker's number; -1 if it is not a member."""
        return self.team.rank if self.team is not None else -1

    @property
    def size(self) -> int:
        """Number of workers; -1 if this one is not a member."""
        return self.team.size if self.team is not None and self.active else -1

    @property
    def shape(self) -> Any:
        """Number of workers per dimension; there is one dimension."""
        return (self.size,)

    @property
    def dim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def index(self) -> Any:
        """This worker's rank; None if it is not a member."""
        return self.rank if self.active else None

    @property
    def ranks(self) -> tuple[int, ...]:
        """The members as ranks of the world, in order; non-members know them too."""
        return self.team.ranks if self.team is not None else ()

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """Number of workers per dimension; non-members know it too."""
        return (len(self.ranks),)

    def members(self, what: str) -> Team:
        """Return the team, or raise an error if this worker is not a member."""
        if self.team is None or not self.active:
            raise InactivePartition(what)
        return self.team

    def deactivate(self) -> None:
        """Turn this into a null partition."""
        self.team = None

    def __eq__(self, other: object) -> bool:
        """The same members in the same order and arrangement; null partitions equal nothing."""
        if not isinstance(other, Partition) or self.team is None or other.team is None:
            return self is other
        return self.grid_shape == other.grid_shape and self.team == other.team

    def __hash__(self) -> int:
        return hash((self.ranks, self.grid_shape))

    def __repr__(self) -> str:
        shape = "x".join(map(str, self.grid_shape)) or "()"
        where = f"rank {self.rank}" if self.active else "inactive"
        return f"<{type(self).__name__} {shape}, {where}>"

    # New partitions.

    def _plain(self, team: Team | None) -> Partition:
        return type(self)._plain_class()(team, root=self.root)

    @classmethod
    def _plain_class(cls) -> type[Partition]:
        return Partition

    @classmethod
    def _cartesian_class(cls) -> type[CartesianPartition]:
        return CartesianPartition

    def create_partition_inclusive(self, ranks: Iterable[int]) -> Partition:
        """Return a partition of some workers, by their rank here, in the given order."""
        team = self.members("create_partition_inclusive")
        return self._plain(chosen(team, list(integers(ranks, "rank"))))

    def create_partition_union(self, other: Partition) -> Partition:
        """Return these workers, followed by the other partition's remaining workers."""
        mine, theirs = self._with_members(), a_partition(other)._with_members()
        if self.root is None or self.root != other.root:
            message = "a union of partitions with different roots; make both from one partition"
            raise LayoutError(message, "roots-differ")
        return self._plain(mine.union(theirs))

    def _with_members(self) -> Team:
        if self.team is None:
            message = "a partition without members; use one made from a team"
            raise LayoutError(message, "partition-null")
        return self.team

    def create_cartesian_topology_partition(self, shape: Iterable[int]) -> CartesianPartition:
        """Return all workers of this partition arranged in a grid, in C order."""
        return self._cartesian_class()(self.team, integers(shape, "grid"), root=self.root)

    def create_allreduction_partition(self, axes_reduce: Iterable[int]) -> Partition:
        """Return the workers whose values an all-sum-reduction along these axes sums."""
        if not self.active:
            return self._plain(None)
        grid = self.create_cartesian_topology_partition(self.grid_shape)
        return grid.create_allreduction_partition(axes_reduce)

    def create_allreduce_partition(self, axes_reduce: Iterable[int]) -> Partition:
        """Alias of `create_allreduction_partition`."""
        return self.create_allreduction_partition(axes_reduce)

    def create_broadcast_partition_to(
        self, P_dest: Partition, transpose_src: bool = False, transpose_dest: bool = False
    ) -> tuple[Partition, Partition]:
        """Return this worker's (send, receive) teams in a broadcast to `P_dest`; root first."""
        return broadcast_teams(self, P_dest, transpose_src, transpose_dest)

    def create_reduction_partition_to(
        self, P_dest: Partition, transpose_src: bool = False, transpose_dest: bool = False
    ) -> tuple[Partition, Partition]:
        """Return this worker's (send, receive) teams in a sum-reduction to `P_dest`; root first."""
        return reduction_teams(self, P_dest, transpose_src, transpose_dest)

    def paired_with(
        self, target: Partition, *, reverse_source: bool = False, reverse_target: bool = False
    ) -> Pairing:
        """Return who gets whose data in a broadcast from here."""
        return pair(
            self.grid_shape,
            a_partition(target).grid_shape,
            reverse_source=reverse_source,
            reverse_target=reverse_target,
        )

    # Data.

    def broadcast_data(
        self, data: Any = None, root: int = 0, P_data: Partition | None = None
    ) -> Local | None:
        """Return one worker's array on every worker of this partition; None if inactive.

        `root` is a rank of this partition, or of `P_data`, a partition inside this one.
        """
        if not self.active:
            return None
        team = self.members("broadcast_data")
        with team:
            rank = (self if P_data is None else a_partition(P_data)).rank
            root = integer(root, "root")
        is_root = rank == root and rank >= 0
        with team:
            offer = [np.atleast_1d(_an_array(data))] if is_root else []
        offers = team.gather_alike("Partition.broadcast_data", f"root {root}", offer)
        found = [offer[0] for offer in offers if offer]
        if len(found) > 1:
            givers = [rank for rank, offer in enumerate(offers) if offer]
            message = f"ranks {givers} all say they are root {root}; use one P_data on every rank"
            raise MismatchError(message, "arguments-differ")
        if not found:
            n_workers = self.size if P_data is None else len(P_data.ranks)
            message = f"root {root} of a partition of {n_workers}; use a rank of that partition"
            raise RankError(message, "root-unknown")
        array: Local = found[0]
        return array

    def allgather_data(self, data: Any) -> Local | None:
        """Return every worker's array, stacked in rank order; None if inactive."""
        parts = self._gathered(data, "allgather_data")
        return None if parts is None else np.stack([np.atleast_1d(part) for part in parts])

    def allreduce_data(self, data: Any, op: str = "sum") -> Local | None:
        """Return the sum, prod, max or min of every worker's array; None if inactive."""
        if not isinstance(op, str) or op not in _REDUCTIONS:
            message = f"reduction {op!r}; use one of {', '.join(_REDUCTIONS)}"
            unknown = LayoutError(message, "reduction-unknown")
            raise self.members("allreduce_data").told(unknown) if self.active else unknown
        parts = self._gathered(data, "allreduce_data", f"reduction {op}")
        if parts and parts[0].dtype.kind not in "biufc":
            message = f"a reduction of {parts[0].dtype}; use numbers"
            raise LayoutError(message, "data-type")
        return None if parts is None else np.asarray(_REDUCTIONS[op](parts))

    def _gathered(self, data: Any, what: str, argument: str = "") -> list[Local] | None:
        if not self.active:
            return None
        team = self.members(what)
        with team:
            local = _an_array(data)
        parts: list[Local] = team.gather_alike(f"Partition.{what}", argument, local)
        kinds = {(part.shape, part.dtype.str) for part in parts}
        if len(kinds) > 1:
            shown = ", ".join(f"{part.dtype}{part.shape}" for part in parts)
            message = f"{what} of unequal arrays {shown}; use one shape and dtype"
            raise LayoutError(message, "data-unequal")
        return parts


class CartesianPartition(Partition):
    """Workers in a grid, in C order. Non-members know the shape but have no index."""

    def __init__(
        self, team: Any = None, shape: Sequence[int] | None = None, *, root: Team | None = None
    ) -> None:
        super().__init__(team, root=root)
        if shape is None:
            shape = team.shape if isinstance(team, Grid) else (len(self.ranks),)
        self._shape = integers(shape, "grid")
        self._check_size()

    def _check_size(self) -> None:
        shape = self._shape
        if any(length < 1 for length in shape):
            message = f"a grid of shape {shape}; use lengths of at least 1"
            raise LayoutError(message, "grid-length")
        if self.team is not None and prod(shape) != self.team.size:
            message = (
                f"a grid of shape {shape} has {prod(shape)} places for {self.team.size} workers; "
                "use as many places"
            )
            raise LayoutError(message, "grid-size")

    @property
    def shape(self) -> Any:
        """Number of workers per dimension."""
        return self._shape

    @property
    def grid_shape(self) -> tuple[int, ...]:
        """Number of workers per dimension."""
        return self._shape

    @property
    def index(self) -> Any:
        """This worker's coordinates; None if it is not a member."""
        return self._grid("index").index if self.active else None

    def _grid(self, what: str) -> Grid:
        if self.team is None or not self.active:
            raise InactivePartition(what)
        return self.team.grid(*self._shape)

    def cartesian_index(self, rank: int) -> Any:
        """Return the coordinates of any worker, given its rank."""
        grid = self._grid("cartesian_index")
        self._check_rank(rank)
        return grid.coords(int(rank))

    def neighbor_ranks(self, rank: int | None = None) -> list[tuple[int, int]]:
        """Return the (left, right) ranks per dimension; -1 at an edge."""
        grid = self._grid("neighbor_ranks")
        self._check_rank(self.rank if rank is None else rank)
        return grid.neighbors(rank)

    def _check_rank(self, rank: int) -> None:
        rank = integer(rank, "rank")
        if not 0 <= rank < self.size:
            message = f"rank {rank} of a partition of {self.size}; use one from 0 to below it"
            raise RankError(message, "rank-unknown")

    def create_cartesian_subtopology_partition(self, remain_shape: Sequence[bool]) -> Partition:
        """Return the grid of the kept dimensions through this worker."""
        kept_axes = flags(remain_shape, "remain_shape")
        if len(kept_axes) != len(self._shape):
            message = f"{len(kept_axes)} flags for {len(self._shape)} dimensions; use one each"
            raise LayoutError(message, "axes-count")
        if not self.active:
            return self._plain(None)
        keep = [axis for axis, kept in enumerate(kept_axes) if kept]
        grid = self._grid("create_cartesian_subtopology_partition").subgrid(keep)
        return self._cartesian_class()(Team(grid.native), grid.shape, root=self.root)

    def create_allreduction_partition(self, axes_reduce: Iterable[int]) -> Partition:
        """Return the workers whose values an all-sum-reduction along these axes sums."""
        along = checked_axes(axes_reduce, len(self._shape))
        if not self.active:
            return self._plain(None)
        grid = self._grid("create_allreduction_partition").reduction_grid(along)
        return self._cartesian_class()(Team(grid.native), grid.shape, root=self.root)


def _an_array(data: Any) -> Local:
    try:
        return np.asarray(data)
    except (TypeError, ValueError) as error:
        message = (
            f"data that is no array ({text_of(error)}); use an array or lists of equal lengths"
        )
        raise LayoutError(message, "data-type") from None


def a_partition(given: Any) -> Partition:
    """What is given as a partition, if it is one."""
    if not isinstance(given, Partition):
        message = f"a {type(given).__name__} as partition; use one made from a team or partition"
        raise LayoutError(message, "partition-type")
    return given


def chosen(team: Team, ranks: list[int]) -> Team:
    """The team of some members in the given order."""
    for rank in ranks:
        if not 0 <= rank < team.size:
            message = f"rank {rank} of a partition of {team.size}; use one from 0 to below it"
            raise RankError(message, "rank-unknown")
    if len(set(ranks)) != len(ranks):
        twice = next(rank for rank in ranks if ranks.count(rank) > 1)
        raise RankError(f"rank {twice} is named twice in {ranks}; name it once", "rank-twice")
    return team.subteam(ranks)
