"""The primitives as modules: what DistDL calls its data movement layers.

>>> import torch, partita as pt
>>> from partita.distdl import Partition
>>> def job(team):
...     P = Partition(team)
...     x = torch.tensor([1.0 + team.rank], requires_grad=True)
...     y = AllSumReduce(P, axes_reduce=[0])(x)
...     y.backward(torch.ones(1))
...     return y.item(), x.grad.item()
>>> pt.spmd(job, ranks=3)
[(6.0, 3.0), (6.0, 3.0), (6.0, 3.0)]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from partita import distdl
from partita.distdl import Partition, Primitive
from partita.torch.functions import move
from partita.torch.halo import fill


class Mover(torch.nn.Module):
    """A primitive as a module. Workers outside it get their tensor back, cloned."""

    def __init__(self, primitive: Primitive) -> None:
        super().__init__()
        self.primitive = primitive

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """This worker's result. Collective."""
        return move(input, self.primitive)


class Broadcast(Mover):
    """Copy each worker's tensor of `P_x` to the workers of its colour in `P_y`."""

    def __init__(
        self,
        P_x: Partition,
        P_y: Partition,
        transpose_src: bool = False,
        transpose_dest: bool = False,
        preserve_batch: bool = True,
    ) -> None:
        super().__init__(distdl.Broadcast(P_x, P_y, transpose_src, transpose_dest, preserve_batch))


class SumReduce(Mover):
    """Give each worker of `P_y` the sum of the tensors of its colour in `P_x`."""

    def __init__(
        self,
        P_x: Partition,
        P_y: Partition,
        transpose_src: bool = False,
        transpose_dest: bool = False,
        preserve_batch: bool = True,
    ) -> None:
        super().__init__(distdl.SumReduce(P_x, P_y, transpose_src, transpose_dest, preserve_batch))


class AllSumReduce(Mover):
    """Sum, on every worker, over the workers that differ from it only along the given axes."""

    def __init__(
        self,
        P_x: Partition,
        axes_reduce: Iterable[int] | None = None,
        axes_keep: Iterable[int] | None = None,
    ) -> None:
        super().__init__(distdl.AllSumReduce(P_x, axes_reduce, axes_keep))


class HaloExchange(Mover):
    """Return a new tensor like the given one, with its halo filled from the owners.

    With `in_place` it writes into the given tensor, and backward writes into the given gradient.
    This is the fastest way, for tensors and gradients that nothing else uses.
    """

    def __init__(
        self, P_x: Partition, halo: Sequence[Any], *, in_place: bool = False, **options: Any
    ) -> None:
        made = distdl.HaloExchange(P_x, halo, **options)
        super().__init__(made)
        self._work = fill if in_place else move
        self._exchange = made

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """Return the tensor with its halo filled. Collective."""
        return self._work(input, self._exchange)


class Repartition(Mover):
    """Move the tensor on `P_x` into even blocks on `P_y`."""

    def __init__(
        self, P_x: Partition, P_y: Partition, preserve_batch: bool = True, **options: Any
    ) -> None:
        super().__init__(distdl.Repartition(P_x, P_y, preserve_batch, **options))


class AllGather(Mover):
    """Join the tensors along one axis of the grid, on every worker."""

    def __init__(self, P_x: Partition, axis: int) -> None:
        super().__init__(distdl.AllGather(P_x, axis))


class ReduceScatter(Mover):
    """Sum over the workers along one axis of the grid, divided evenly among them."""

    def __init__(self, P_x: Partition, axis: int) -> None:
        super().__init__(distdl.ReduceScatter(P_x, axis))


DistributedTranspose = Repartition
