"""Communicators of mpi4py behind partitions, for programs that read `P._comm` as DistDL had it.

Making a communicator is collective, making a partition is not. So the communicator that a partition
was made from is handed out as it is, and one of fewer processes is made when its members first do
something collective with it, which all of them do or none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from partita._errors import TeamError
from partita._team.spmd import world
from partita._team.team import Team


@dataclass(frozen=True)
class Origin:
    """A team made from a communicator, and a copy of that to hand out."""

    team: Team
    comm: Any


# By the processes' ranks in the world. All processes of a communicator make its team together, so
# all of them know it or none.
_origins: dict[tuple[int, ...], Origin] = {}


def team_of(comm: Any) -> Team | None:
    """The team of a communicator's processes; None for the null communicator."""
    if comm is None or isinstance(comm, Team):
        return comm
    from mpi4py import MPI

    if comm == MPI.COMM_NULL:
        return None
    everyone = MPI.COMM_WORLD.Get_group()
    ranks = tuple(MPI.Group.Translate_ranks(comm.Get_group(), None, everyone))
    if ranks not in _origins:
        # Communicators of our own: the caller may free the given one, and use the other.
        _origins[ranks] = Origin(world(comm.Dup()), comm.Dup())
    return _origins[ranks].team


def communicator(root: Team | None, ranks: tuple[int, ...]) -> Any:
    """A communicator of these processes, ranks of the root. Never collective."""
    from mpi4py import MPI

    origin = next((one for one in _origins.values() if one.team is root), None)
    if origin is None:
        message = "the communicator of a partition that was made from a team; use the team, or"
        raise TeamError(f"{message} make it from a communicator", "no-communicator")
    if ranks == origin.team.ranks:
        return origin.comm
    return MPI.COMM_SELF if len(ranks) == 1 else PartCommunicator(origin.comm, ranks)


_COLLECTIVE = {
    *("Barrier", "Bcast", "Gather", "Gatherv", "Scatter", "Scatterv", "Allgather", "Allgatherv"),
    *("Alltoall", "Alltoallv", "Alltoallw", "Reduce", "Allreduce", "Reduce_scatter", "Scan"),
    *("Reduce_scatter_block", "Exscan", "Dup", "Split", "Create_cart"),
}
_COLLECTIVE |= {name.lower() for name in _COLLECTIVE} | {f"I{name.lower()}" for name in _COLLECTIVE}


class PartCommunicator:
    """A communicator of some processes, made when they first do something collective with it.

    It knows its rank, size and group before. Messages between two of them would need the others to
    make it: they are refused until it is there.
    """

    def __init__(self, whole: Any, ranks: tuple[int, ...]) -> None:
        self._whole, self._ranks, self._made = whole, ranks, None

    @property
    def size(self) -> int:
        """Number of processes."""
        return len(self._ranks)

    @property
    def rank(self) -> int:
        """This process among them."""
        return self._ranks.index(self._whole.rank)

    @property
    def group(self) -> Any:
        """Their group, a new one each time."""
        return self._whole.Get_group().Incl(list(self._ranks))

    def Get_size(self) -> int:
        """Number of processes."""
        return self.size

    def Get_rank(self) -> int:
        """This process among them."""
        return self.rank

    def Get_group(self) -> Any:
        """Their group, a new one each time."""
        return self.group

    def Free(self) -> None:
        """Free the communicator if it was made."""
        if self._made is not None:
            self._made.Free()
            self._made = None

    def __getattr__(self, name: str) -> Any:
        from mpi4py import MPI

        if name.startswith("__") or not hasattr(MPI.Intracomm, name):
            raise AttributeError(f"a communicator has no {name}", name=name, obj=self)
        if self._made is not None:
            return getattr(self._made, name)
        return self._collective(name) if name in _COLLECTIVE else self._refuse(name)

    def _collective(self, name: str) -> Callable[..., Any]:
        def call(*given: Any, **named: Any) -> Any:
            if self._made is None:
                self._made = self._whole.Create_group(self.group)
            return getattr(self._made, name)(*given, **named)

        return call

    def _refuse(self, name: str) -> NoReturn:
        message = f"{name} of a partition's communicator before anything collective: its members"
        cure = "have yet to make it; call Barrier() on all of them first"
        raise TeamError(f"{message} {cure}", "communicator-late")

    def __deepcopy__(self, memo: dict[int, Any]) -> PartCommunicator:
        return self
