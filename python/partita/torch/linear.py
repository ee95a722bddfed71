"""A linear layer whose weight is divided over a grid of (output features, input features)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from partita._errors import LayoutError
from partita.distdl import Partition, split
from partita.torch.parameters import kept
from partita.torch.primitives import Broadcast, SumReduce


class DistributedLinear(torch.nn.Module):
    """y = x W^T + b with x on `P_x` (1 x inputs), y on `P_y` (1 x outputs), W on `P_w`.

    `P_w` is a grid of (workers along outputs) x (workers along inputs). Features are divided
    evenly; the bias is kept along the first column.
    """

    def __init__(
        self,
        P_x: Partition,
        P_y: Partition,
        P_w: Partition,
        in_features: int,
        out_features: int,
        bias: bool = True,
        dtype: torch.dtype | None = None,
    ) -> None:
        super().__init__()
        _check_grids(P_x, P_y, P_w)
        self.P_w = P_w
        self.spread = Broadcast(P_x, P_w, preserve_batch=True)
        self.collect = SumReduce(P_w, P_y, transpose_src=True, preserve_batch=True)
        self.in_range, self.out_range = (0, 0), (0, 0)
        if P_w.active:
            row, column = P_w.index
            self.out_range = split(out_features, P_w.grid_shape[0])[row]
            self.in_range = split(in_features, P_w.grid_shape[1])[column]
        # Drawn whole and cut, so that the numbers are those of the serial layer.
        alone = torch.nn.Linear(in_features, out_features, bias=bias, dtype=dtype)
        rows, columns = slice(*self.out_range), slice(*self.in_range)
        has_bias = bias and P_w.active and P_w.index[1] == 0
        self.weight = kept(alone.weight.detach()[rows, columns].clone(), P_w.active)
        whole = alone.bias.detach()[rows].clone() if bias else None
        self.bias = kept(whole, has_bias)
        self._adds_bias = has_bias
        self.in_features, self.out_features = in_features, out_features

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """This worker's output features. Collective."""
        copied = self.spread(input)
        if not self.P_w.active:
            return self.collect(copied)
        assert self.P_w.team is not None
        wanted = self.in_range[1] - self.in_range[0]
        with self.P_w.team:
            if copied.shape[-1] != wanted:
                message = (
                    f"{copied.shape[-1]} input features where {wanted} are due; "
                    "divide them evenly: use Repartition"
                )
                raise LayoutError(message, "features-count")
            product = F.linear(copied, self.weight, self.bias if self._adds_bias else None)
        return self.collect(product)

    def extra_repr(self) -> str:
        """What print shows."""
        share = math.prod(self.weight.shape) if self.weight is not None else 0
        return f"{self.in_features}, {self.out_features}, {share} weights here"


def _check_grids(P_x: Partition, P_y: Partition, P_w: Partition) -> None:
    shapes = [one.grid_shape for one in (P_x, P_y, P_w)]
    if any(len(shape) != 2 for shape in shapes):
        message = f"partitions of shapes {shapes}; use two dimensions each"
        raise LayoutError(message, "partition-ndim")
    x, y, w = shapes
    if x != (1, w[1]) or y != (1, w[0]):
        message = f"P_x {x} and P_y {y} for P_w {w}; use {(1, w[1])} and {(1, w[0])}"
        raise LayoutError(message, "partition-shape")
