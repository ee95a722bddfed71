"""Partitions as DistDL's own code expects them: made of communicators, shapes as arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from partita._team import Team, world
from partita.distdl import CartesianPartition, Partition

# Teams of communicators, by their processes' ranks in the world. All processes of a communicator
# make its team together, so all of them know it or none.
_teams: dict[tuple[int, ...], Team] = {}


def team_of(comm: Any) -> Team | None:
    """The team of a communicator's processes; None for the null communicator."""
    if comm is None or isinstance(comm, Team):
        return comm
    from mpi4py import MPI

    if comm == MPI.COMM_NULL:
        return None
    everyone = MPI.COMM_WORLD.Get_group()
    ranks = tuple(MPI.Group.Translate_ranks(comm.Get_group(), None, everyone))
    if ranks not in _teams:
        # A communicator of our own: the caller may free the given one.
        _teams[ranks] = world(comm.Dup())
        _teams[ranks].__dict__["world_ranks"] = ranks
    return _teams[ranks]


def learn_shapes(*partitions: Partition) -> None:
    """Let everyone in the union of partitions know all their shapes. Collective.

    DistDL's layers give workers outside a partition any shape for it.
    """
    union = partitions[0]
    for one in partitions[1:]:
        union = union.create_partition_union(one)
    if not union.active:
        return
    own = [list(one.grid_shape) if one.active else [] for one in partitions]
    heard = union.members("learn_shapes").gather_alike("learn_shapes", "", own)
    for number, one in enumerate(partitions):
        if isinstance(one, MPICartesianPartition) and not one.active:
            member = union.ranks.index(one.ranks[0])
            one._shape = tuple(heard[member][number])


class _ForDistDL(Partition):
    """What DistDL's code uses of a partition beyond the specification."""

    @classmethod
    def _plain_class(cls) -> type[Partition]:
        return MPIPartition

    @classmethod
    def _cartesian_class(cls) -> type[CartesianPartition]:
        return MPICartesianPartition

    def create_broadcast_partition_to(
        self, P_dest: Partition, transpose_src: bool = False, transpose_dest: bool = False
    ) -> tuple[Partition, Partition]:
        """The teams (send, receive) of this worker in a broadcast; root first. Collective."""
        learn_shapes(self, P_dest)
        return super().create_broadcast_partition_to(P_dest, transpose_src, transpose_dest)

    def create_reduction_partition_to(
        self, P_dest: Partition, transpose_src: bool = False, transpose_dest: bool = False
    ) -> tuple[Partition, Partition]:
        """The teams (send, receive) of this worker in a reduction; root first. Collective."""
        learn_shapes(self, P_dest)
        return super().create_reduction_partition_to(P_dest, transpose_src, transpose_dest)

    @property
    def _comm(self) -> Any:
        """A communicator of mpi4py for the members; collective when first asked for."""
        from mpi4py import MPI

        made = self.__dict__.get("_made_comm")
        if made is None and self.active and self.root is not None:
            world_ranks = self.root.__dict__["world_ranks"]
            ranks = [world_ranks[rank] for rank in self.ranks]
            group = MPI.COMM_WORLD.Get_group().Incl(ranks)
            made = self.__dict__["_made_comm"] = MPI.COMM_WORLD.Create_group(group)
        return MPI.COMM_NULL if made is None else made

    def deactivate(self) -> None:
        """Become a null partition; a Cartesian one keeps its shape."""
        made = self.__dict__.pop("_made_comm", None)
        if made is not None:
            made.Free()
        super().deactivate()

    def print_sequential(self, val: Any) -> None:
        """Print every worker's value, in the order of the ranks, on the first."""
        if self.active:
            team = self.members("print_sequential")
            with team:
                text = str(val)
            values = team.gather_alike("print_sequential", "", text)
            if self.rank == 0:
                print("\n".join(values), flush=True)


class MPIPartition(_ForDistDL):
    """A partition made of a communicator of mpi4py, or a team."""

    def __init__(self, comm: Any = None, group: Any = None, root: Any = None) -> None:
        super().__init__(team_of(comm), root=team_of(root))

    @property
    def shape(self) -> Any:
        """Number of workers, as an array."""
        return np.array([self.size])


class MPICartesianPartition(_ForDistDL, CartesianPartition):
    """A grid of workers; shape and index are arrays."""

    def __init__(
        self, team: Any = None, shape: Sequence[int] | None = None, *, root: Team | None = None
    ) -> None:
        CartesianPartition.__init__(self, team, shape, root=root)

    def _check_size(self) -> None:
        if self.active:
            super()._check_size()

    @property
    def shape(self) -> Any:
        """Number of workers per dimension, as an array."""
        return np.array(self._shape, dtype=np.int64)

    @property
    def index(self) -> Any:
        """This worker's place per dimension, as an array; None if it is no member."""
        own = CartesianPartition.index.fget(self)  # type: ignore[attr-defined]
        return None if own is None else np.array(own, dtype=np.int64)

    def cartesian_index(self, rank: int) -> Any:
        """The place of any worker, as an array."""
        return np.array(super().cartesian_index(rank), dtype=np.int64)
