"""Partitions with a Cartesian topology, thin over `Grid`.

>>> import partita as pt
>>> def job(team):
...     P = Partition(team).create_cartesian_topology_partition((2, 2))
...     return P.index, P.neighbor_ranks(P.rank)
>>> pt.spmd(job, ranks=4)[1]
((0, 1), [(-1, 3), (0, -1)])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

from partita._args import checked_axes, flags, integer, integers
from partita._errors import LayoutError
from partita._team import Grid, Team
from partita.distdl.errors import InactivePartition, RankError
from partita.distdl.partition import Partition


class CartesianPartition(Partition):
    """Workers in a grid, C order. Non-members know the shape, but have no index."""

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
        """This worker's place per dimension; None if it is no member."""
        return self._grid("index").index if self.active else None

    def _grid(self, what: str) -> Grid:
        if self.team is None or not self.active:
            raise InactivePartition(what)
        return self.team.grid(*self._shape)

    def cartesian_index(self, rank: int) -> Any:
        """The place of any worker, from its rank."""
        grid = self._grid("cartesian_index")
        self._check_rank(rank)
        return grid.coords(int(rank))

    def neighbor_ranks(self, rank: int | None = None) -> list[tuple[int, int]]:
        """(left, right) ranks per dimension; -1 at an edge."""
        grid = self._grid("neighbor_ranks")
        self._check_rank(self.rank if rank is None else rank)
        return grid.neighbors(rank)

    def _check_rank(self, rank: int) -> None:
        rank = integer(rank, "rank")
        if not 0 <= rank < self.size:
            message = f"rank {rank} of a partition of {self.size}; use one from 0 to below it"
            raise RankError(message, "rank-unknown")

    def create_cartesian_subtopology_partition(self, remain_shape: Sequence[bool]) -> Partition:
        """The grid of the kept dimensions through this worker."""
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
        """The workers whose values an all-sum-reduction along these axes adds up."""
        along = checked_axes(axes_reduce, len(self._shape))
        if not self.active:
            return self._plain(None)
        grid = self._grid("create_allreduction_partition").reduction_grid(along)
        return self._cartesian_class()(Team(grid.native), grid.shape, root=self.root)
