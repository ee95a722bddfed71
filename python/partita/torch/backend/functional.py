"""DistDL's functional primitives: the arguments its layers pass, partita's movements.

DistDL calls `apply`; slices, buffers and structures that its layers prepare are not needed, since
plans know them.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

import torch

from partita import distdl
from partita.distdl import Partition
from partita.torch.backend.partition import learn_shapes
from partita.torch.functions import move, outside
from partita.torch.halo import fill
from partita.torch.memory import structure


class _Itself:
    """A partition as a key that only it is equal to: workers outside it learn its shape late."""

    def __init__(self, one: Partition) -> None:
        self.one = one

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and self.one is other.one

    def __hash__(self) -> int:
        return id(self.one)


def _rooted(
    input: torch.Tensor,
    kind: type[distdl.Broadcast],
    P_send: Partition,
    P_recv: Partition,
    preserve_batch: bool,
) -> torch.Tensor:
    rooted = P_send.rooted or P_recv.rooted
    if rooted is None:
        return outside(input)
    key = (kind, preserve_batch)
    primitive = rooted.kept(key, lambda: kind.of(rooted, preserve_batch))
    return move(input, primitive)


class BroadcastFunction:
    """Broadcast within the teams that `create_broadcast_partition_to` made."""

    @staticmethod
    def apply(
        input: torch.Tensor,
        P_send: Partition,
        P_recv: Partition,
        preserve_batch: bool,
        *structures: Any,
    ) -> torch.Tensor:
        """This worker's copy. Collective."""
        return _rooted(input, distdl.Broadcast, P_send, P_recv, preserve_batch)


class SumReduceFunction:
    """Sum-reduction within the teams that `create_reduction_partition_to` made."""

    @staticmethod
    def apply(
        input: torch.Tensor,
        P_send: Partition,
        P_recv: Partition,
        preserve_batch: bool,
        *structures: Any,
    ) -> torch.Tensor:
        """This worker's sum. Collective."""
        return _rooted(input, distdl.SumReduce, P_send, P_recv, preserve_batch)


class AllSumReduceFunction:
    """Sum within the team that `create_allreduction_partition` made."""

    @staticmethod
    def apply(input: torch.Tensor, P_allreduce: Partition, *structures: Any) -> torch.Tensor:
        """The sum. Collective."""
        stages = P_allreduce.kept("stages", lambda: _stages(P_allreduce))
        for stage in stages:
            input = move(input, stage)
        return input if stages else outside(input)


def _stages(P_sum: Partition) -> list[distdl.AllSumReduce]:
    """Sums over few workers at a time, so that rounding grows with the logarithm of all.

    MPI adds in such a tree too, and a test of DistDL knows its last bit.
    """
    factors = []
    rest = len(P_sum.ranks)
    for divisor in range(2, rest + 1):
        while rest % divisor == 0:
            factors.append(divisor)
            rest //= divisor
    grid = P_sum.create_cartesian_topology_partition(factors)
    return [distdl.AllSumReduce(grid, [axis]) for axis in range(len(factors))]


class HaloExchangeFunction:
    """Halo exchange of tensors that include their halos."""

    # Whether to write into the given tensors, as DistDL itself does; not into leaves that need
    # gradients, which torch forbids.
    in_place = True

    @staticmethod
    def apply(
        input: torch.Tensor,
        P_x: Partition,
        slices: Any,
        buffers: Any = None,
        neighbor_ranks: Any = None,
    ) -> torch.Tensor:
        """The tensor with its halos filled. Collective."""
        team = P_x.members("HaloExchangeFunction")
        with team:
            structure(input)
            pairs = [(one[1][axis].stop, _length(one[3][axis])) for axis, one in enumerate(slices)]
            own = ";".join(f"{left},{right}" for left, right in pairs)
            is_fixed = not HaloExchangeFunction.in_place or (input.requires_grad and input.is_leaf)
        told = team.gather_alike(
            "HaloExchangeFunction", f"{len(pairs)} dimensions", [own, is_fixed]
        )
        widths = tuple(one[0] for one in told)
        primitive = P_x.kept(("halo", widths), lambda: _exchange(P_x, widths))
        # All work in place or none.
        return (move if any(one[1] for one in told) else fill)(input, primitive)


def _length(one: slice) -> int:
    return int(one.stop - one.start)


def _exchange(P_x: Partition, widths: Sequence[str]) -> distdl.HaloExchange:
    """An exchange from every worker's own widths: equal ones at equal coordinates."""
    grid = P_x.members("HaloExchangeFunction").grid(*P_x.grid_shape)
    halos = [[(0, 0)] * length for length in P_x.grid_shape]
    for rank, word in enumerate(widths):
        for axis, pair in enumerate(word.split(";")):
            left, right = pair.split(",")
            halos[axis][grid.coords(rank)[axis]] = (int(left), int(right))
    return distdl.HaloExchange(P_x, halos)


class RepartitionFunction:
    """Repartition from one partition to another."""

    @staticmethod
    def apply(
        input: torch.Tensor,
        P_union: Partition,
        x_global_structure: Any,
        x_local_structure: Any,
        y_local_structure: Any,
        P_x: Partition,
        P_x_to_y_overlaps: Any,
        P_x_to_y_buffers: Any,
        P_y: Partition,
        P_y_to_x_overlaps: Any,
        P_y_to_x_buffers: Any,
        preserve_batch: bool,
    ) -> torch.Tensor:
        """This worker's block. Collective."""

        def make() -> distdl.Repartition:
            learn_shapes("RepartitionFunction", (preserve_batch,), P_x, P_y)
            return distdl.Repartition(P_x, P_y, preserve_batch)

        key = ("repartition", preserve_batch, _Itself(P_x), _Itself(P_y))
        return move(input, P_union.kept(key, make))


# DistDL finds each function in a module of its own.
all_sum_reduce = SimpleNamespace(AllSumReduceFunction=AllSumReduceFunction)
broadcast = SimpleNamespace(BroadcastFunction=BroadcastFunction)
halo_exchange = SimpleNamespace(HaloExchangeFunction=HaloExchangeFunction)
repartition = SimpleNamespace(RepartitionFunction=RepartitionFunction)
sum_reduce = SimpleNamespace(SumReduceFunction=SumReduceFunction)
