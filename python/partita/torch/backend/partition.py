"""Partitions as DistDL's own code expects them: made of communicators, shapes as arrays."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from partita._args import checked_axes
from partita._errors import MismatchError
from partita._team.team import Team
from partita.distdl import CartesianPartition, Partition
from partita.distdl.agree import brief, described, in_world_order
from partita.torch.backend.communicator import PartCommunicator, communicator, team_of


def learn_shapes(call: str, flags: tuple[bool, ...], *partitions: Partition) -> None:
    """Let everyone in the union of partitions know all their shapes. Collective.

    DistDL's layers give workers outside a partition any shape for it. Workers that name different
    partitions or flags all hear of it.
    """
    union = partitions[0]
    for one in partitions[1:]:
        union = union.create_partition_union(one)
    if not union.active:
        return
    team = in_world_order(union.members(call))
    own = [list(one.grid_shape) if one.active else [] for one in partitions]
    sides = " to ".join(f"ranks {', '.join(map(str, one.ranks))}" for one in partitions)
    heard = team.gather_alike(call, brief(f"{sides} with flags {flags}"), own)
    by_rank = dict(zip(team.ranks, heard, strict=True))
    for number, one in enumerate(partitions):
        told = [by_rank[rank][number] for rank in one.ranks]
        if isinstance(one, MPICartesianPartition):
            _check_alike(call, one.ranks, told)
            one._shape = tuple(told[0])


def _check_alike(call: str, ranks: tuple[int, ...], shapes: list[list[int]]) -> None:
    for rank, shape in zip(ranks, shapes, strict=True):
        if shape != shapes[0]:
            message = (
                f"{call}: rank {ranks[0]} has a partition of shape {tuple(shapes[0])}, rank {rank} "
                f"has {tuple(shape)} for the same workers; make the same partition on every rank"
            )
            raise MismatchError(message, "arguments-differ")


class _ForDistDL(Partition):
    """What DistDL's code uses of a partition beyond the specification."""

    # The communicator that was handed out.
    _handed: Any = None

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
        flags = (transpose_src, transpose_dest)
        learn_shapes("create_broadcast_partition_to", flags, self, P_dest)
        return super().create_broadcast_partition_to(P_dest, *flags)

    def create_reduction_partition_to(
        self, P_dest: Partition, transpose_src: bool = False, transpose_dest: bool = False
    ) -> tuple[Partition, Partition]:
        """The teams (send, receive) of this worker in a reduction; root first. Collective."""
        flags = (transpose_src, transpose_dest)
        learn_shapes("create_reduction_partition_to", flags, self, P_dest)
        return super().create_reduction_partition_to(P_dest, *flags)

    def create_allreduction_partition(self, axes_reduce: Iterable[int]) -> Partition:
        """The workers whose values a sum along these axes adds up. Collective."""
        if self.active:
            # A sum knows only its own few workers: all compare the axes here.
            team = in_world_order(self.members("create_allreduction_partition"))
            with team:
                axes_reduce = checked_axes(axes_reduce, len(self.grid_shape))
            settings = brief(f"axes {sorted(axes_reduce)} of {described(self)}")
            team.gather_alike("create_allreduction_partition", settings, "")
        return super().create_allreduction_partition(axes_reduce)

    @property
    def _comm(self) -> Any:
        """A communicator of mpi4py for the members; asking for it is never collective."""
        from mpi4py import MPI

        if not self.active:
            return MPI.COMM_NULL
        if self._handed is None:
            self._handed = communicator(self.root, self.ranks)
        return self._handed

    def deactivate(self) -> None:
        """Become a null partition; a Cartesian one keeps its shape."""
        if isinstance(self._handed, PartCommunicator):
            self._handed.Free()
        self._handed = None
        super().deactivate()

    def print_sequential(self, val: Any) -> None:
        """Print every worker's value, in the order of the ranks, on the first."""
        if self.active:
            values = self.members("print_sequential").gather_alike("print_sequential", "", str(val))
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
