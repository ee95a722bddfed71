"""DistDL's functional primitives: the arguments its layers pass, partita's movements.

DistDL calls `apply`; slices, buffers and structures that its layers prepare are not needed, since
plans know them.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, TypeVar

import torch

from partita import distdl
from partita.distdl import Partition
from partita.distdl.agree import common_dtype, common_shape, exchange, read
from partita.torch.backend.partition import learn_shapes
from partita.torch.functions import move
from partita.torch.halo import fill
from partita.torch.memory import structure

P = TypeVar("P")


def _kept(home: Any, key: Any, make: Callable[[], P]) -> P:
    """What was made, kept with the object that it belongs to."""
    kept: dict[Any, P] = home.__dict__.setdefault("_primitives", {})
    if key not in kept:
        kept[key] = make()
    return kept[key]


def _rooted(
    input: torch.Tensor,
    kind: type[distdl.Broadcast],
    P_send: Partition,
    P_recv: Partition,
    preserve_batch: bool,
) -> torch.Tensor:
    rooted = P_send.rooted or P_recv.rooted
    if rooted is None:
        return input.clone()
    primitive = _kept(rooted, preserve_batch, lambda: kind.of(rooted, preserve_batch))
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
        stages = _kept(P_allreduce, "stages", lambda: _stages(P_allreduce))
        if len(stages) > 1:
            _agree(input, P_allreduce)
        for stage in stages:
            input = move(input, stage)
        return input if stages else input.clone()


def _agree(input: torch.Tensor, P_sum: Partition) -> None:
    """Refuse unequal tensors on all workers at once: a stage is known to few of them."""
    team = P_sum.members("AllSumReduceFunction")
    with team:
        own = structure(input)
    told = [read(word) for word in exchange(team, "AllSumReduceFunction", own)]
    common_shape(told, "summands")
    common_dtype(told, "summands")


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
    """Halo exchange of tensors that include their halos; the result is a new tensor."""

    # Whether to write into the given tensors, as DistDL itself does.
    in_place = False

    @staticmethod
    def apply(
        input: torch.Tensor,
        P_x: Partition,
        slices: Any,
        buffers: Any = None,
        neighbor_ranks: Any = None,
    ) -> torch.Tensor:
        """The tensor with its halos filled. Collective."""
        own = [(one[1][axis].stop, _length(one[3][axis])) for axis, one in enumerate(slices)]
        team = P_x.members("HaloExchangeFunction")
        words = ";".join(f"{left},{right}" for left, right in own)
        widths = team.gather_alike("HaloExchangeFunction", "", words)
        primitive = _kept(P_x, tuple(widths), lambda: _exchange(P_x, widths))
        is_leaf = input.requires_grad and input.is_leaf
        in_place = HaloExchangeFunction.in_place and not is_leaf
        return (fill if in_place else move)(input, primitive)


def _length(one: slice) -> int:
    return int(one.stop - one.start)


def _exchange(P_x: Partition, widths: list[str]) -> distdl.HaloExchange:
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
            learn_shapes(P_x, P_y)
            return distdl.Repartition(P_x, P_y, preserve_batch)

        return move(input, _kept(P_union, ("repartition", preserve_batch), make))


# DistDL finds each function in a module of its own.
all_sum_reduce = SimpleNamespace(AllSumReduceFunction=AllSumReduceFunction)
broadcast = SimpleNamespace(BroadcastFunction=BroadcastFunction)
halo_exchange = SimpleNamespace(HaloExchangeFunction=HaloExchangeFunction)
repartition = SimpleNamespace(RepartitionFunction=RepartitionFunction)
sum_reduce = SimpleNamespace(SumReduceFunction=SumReduceFunction)
