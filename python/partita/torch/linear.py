"""A linear layer whose weight is divided over a grid of (output features, input features)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from partita._args import flag, natural
from partita._errors import LayoutError
from partita._team.team import Team
from partita.distdl import Partition, split
from partita.distdl.agree import Agreement, Terms, brief, common_dtype, described, read
from partita.distdl.partition import a_partition
from partita.torch.arguments import checked_dtype, serial_layer
from partita.torch.memory import DTYPE_NAMES, structure
from partita.torch.parameters import kept
from partita.torch.primitives import Broadcast, SumReduce
from partita.torch.state import Divided, SerialRegion


class DistributedLinear(Divided):
    """y = x W^T + b with x on `P_x` (1 x inputs), y on `P_y` (1 x outputs), and W on `P_w`.

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
        in_features, out_features = (
            natural(number, "features") for number in (in_features, out_features)
        )
        bias = flag(bias, "bias")
        self.P_x, self.P_w = P_x, P_w
        self.everyone = P_x.create_partition_union(P_y).create_partition_union(P_w)
        self.spread = Broadcast(P_x, P_w, preserve_batch=True)
        self.collect = SumReduce(P_w, P_y, transpose_src=True, preserve_batch=True)
        self.in_range, self.out_range = (0, 0), (0, 0)
        if P_w.active:
            row, column = P_w.index
            self.out_range = split(out_features, P_w.grid_shape[0])[row]
            self.in_range = split(in_features, P_w.grid_shape[1])[column]
        # Drawn whole and cut, so that the numbers are those of the serial layer.
        numbers = (in_features, out_features)
        alone = serial_layer(torch.nn.Linear, *numbers, bias=bias, dtype=checked_dtype(dtype))
        rows, columns = slice(*self.out_range), slice(*self.in_range)
        has_bias = bias and P_w.active and P_w.index[1] == 0
        self.weight = kept(alone.weight.detach()[rows, columns].clone(), P_w.active)
        whole = alone.bias.detach()[rows].clone() if bias else None
        self.bias = kept(whole, has_bias)
        self._has_bias, self._adds_bias = bias, has_bias
        self.in_features, self.out_features = in_features, out_features
        self._workers = brief(f"{described(P_x)} to {described(P_y)} by {described(P_w)}")
        self.agreement: Agreement | None = None
        if self.everyone.active:
            self.agreement = Agreement(self.everyone.members("forward"), self.terms())

    def terms(self) -> Terms:
        """What workers compare when a call begins."""
        numbers = f"{self.in_features}, {self.out_features}, bias={self._has_bias}"
        dtype = None if self.weight is None else self.weight.dtype
        return Terms(type(self).__name__, f"{numbers}, {dtype} on {self._workers}")

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """This worker's output features. Collective."""
        self._check(input)
        copied = self.spread(input)
        if not self.P_w.active:
            return self.collect(copied)
        product = F.linear(copied, self.weight, self.bias if self._adds_bias else None)
        return self.collect(product)

    def _check(self, input: torch.Tensor) -> None:
        """Whether the inputs fit; everyone knows of all of them, so that all refuse or none."""
        if self.agreement is None:
            return
        with self.agreement.team:
            own = structure(input)
        words = self.agreement.exchange(own, self.terms())
        by_rank = dict(zip(self.everyone.ranks, words, strict=True))
        given = [read(by_rank[rank]) for rank in self.P_x.ranks]
        widths = [one.shape[-1] if one.shape else 0 for one in given]
        wanted = [stop - start for start, stop in split(self.in_features, len(given))]
        if widths != wanted:
            message = f"{widths} input features where {wanted} are due; divide them evenly"
            raise LayoutError(f"{message}: use Repartition", "features-count")
        dtype = common_dtype(given, "P_x")
        if self.weight is not None and DTYPE_NAMES.get(self.weight.dtype) != dtype:
            message = f"a tensor of {dtype} for weights of {self.weight.dtype}; convert one of them"
            raise LayoutError(message, "dtypes-differ")

    def places(self) -> dict[str, SerialRegion]:
        """Rows and columns of the weight, rows of the bias."""
        rows, columns = slice(*self.out_range), slice(*self.in_range)
        shape = (self.out_features, self.in_features)
        return {
            "weight": SerialRegion(shape, (rows, columns), self.P_w.active),
            "bias": SerialRegion(shape[:1], (rows,), self._adds_bias),
        }

    def home(self) -> Team | None:
        """The team that the partitions were made from."""
        return self.P_w.root

    def extra_repr(self) -> str:
        """What print shows."""
        share = math.prod(self.weight.shape) if self.weight is not None else 0
        return f"{self.in_features}, {self.out_features}, {share} weights here"


def _check_grids(P_x: Partition, P_y: Partition, P_w: Partition) -> None:
    shapes = [a_partition(one).grid_shape for one in (P_x, P_y, P_w)]
    if any(len(shape) != 2 for shape in shapes):
        message = f"partitions of shapes {shapes}; use two dimensions each"
        raise LayoutError(message, "partition-ndim")
    x, y, w = shapes
    if x != (1, w[1]) or y != (1, w[0]):
        message = f"P_x {x} and P_y {y} for P_w {w}; use {(1, w[1])} and {(1, w[0])}"
        raise LayoutError(message, "partition-shape")
