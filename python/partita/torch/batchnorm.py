"""Batch normalisation of tensors divided in batch, channels and space.

Means and variances are over all workers that share channels, blocks of any sizes; they equal the
serial ones up to rounding.
"""

from __future__ import annotations

import math

import torch

from partita._args import flag, natural, real
from partita._errors import LayoutError
from partita._team.team import Team
from partita.distdl import Partition, split
from partita.distdl.agree import Agreement, Terms, block_sizes, brief, common_dtype, described, read
from partita.distdl.partition import a_partition
from partita.torch.functions import outside
from partita.torch.memory import structure, widened
from partita.torch.parameters import channel_keepers, kept, own_channels
from partita.torch.primitives import AllSumReduce
from partita.torch.state import Divided, SerialRegion


class DistributedBatchNorm(Divided):
    """Batch normalisation in any number of dimensions; takes the arguments of `BatchNorm2d`.

    Channels are divided evenly along the partition's second axis. The workers at the start of all
    other axes keep the scale and shift of their channels; every worker has the running statistics.
    """

    def __init__(
        self,
        P_x: Partition,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
    ) -> None:
        super().__init__()
        shape = a_partition(P_x).grid_shape
        if len(shape) < 2 and P_x.team is not None:
            message = f"a partition of {len(shape)} dimensions; use (batch, channel, ...)"
            raise LayoutError(message, "partition-ndim")
        self.P_x, self.eps = P_x, real(eps, "eps")
        self.momentum = None if momentum is None else real(momentum, "momentum")
        self.total = AllSumReduce(P_x, [axis for axis in range(len(shape)) if axis != 1])
        self.num_features = natural(num_features, "num_features")
        self.channels = own_channels(P_x, self.num_features)
        self.n_channels = self.channels[1] - self.channels[0]
        self.is_keeper, spread = channel_keepers(P_x)
        self.affine = flag(affine, "affine")
        self.spread = spread if self.affine else None
        ones, zeros = torch.ones(self.n_channels), torch.zeros(self.n_channels)
        self.weight = kept(ones if self.affine else None, self.is_keeper)
        self.bias = kept(zeros if self.affine else None, self.is_keeper)
        self.track_running_stats = flag(track_running_stats, "track_running_stats")
        if track_running_stats:
            self.register_buffer("running_mean", torch.zeros(self.n_channels))
            self.register_buffer("running_var", torch.ones(self.n_channels))
            self.register_buffer("num_batches_tracked", torch.tensor(0))
        self._workers = brief(described(P_x))
        self.agreement = None
        if P_x.team is not None and P_x.active:
            self.agreement = Agreement(P_x.team, self.terms())

    def terms(self) -> Terms:
        """What workers compare when a call begins."""
        mode = "training" if self.training else "evaluation"
        kept = self.weight if self.affine else getattr(self, "running_mean", None)
        dtype = "" if kept is None else f" of {kept.dtype}"
        settings = f"{mode} with {self.extra_repr()}{dtype} on {self._workers}"
        return Terms(type(self).__name__, settings)

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """The normalised tensor. Collective."""
        if not self.P_x.active:
            return outside(input)
        count = self._count(input)
        column = [1, -1, *[1] * (input.dim() - 2)]
        wide = widened(input)
        if self.training or not self.track_running_stats:
            mean, variance = self._statistics(wide, column, count)
        else:
            mean, variance = widened(self.running_mean), widened(self.running_var)
        scale = torch.rsqrt(variance + self.eps)
        result = (wide - mean.reshape(column)) * scale.reshape(column)
        if self.spread is not None:
            weight, bias = widened(self.spread(self.weight)), widened(self.spread(self.bias))
            result = result * weight.reshape(column) + bias.reshape(column)
        return result.to(input.dtype)

    def _count(self, input: torch.Tensor) -> int:
        """Values per channel; all workers know all tensors, so that all refuse or none."""
        assert self.agreement is not None
        with self.agreement.team:
            own = structure(input)
        structures = [read(word) for word in self.agreement.exchange(own, self.terms())]
        dtype = common_dtype(structures, "tensors")
        sizes = block_sizes([one.shape for one in structures], self.P_x.grid_shape)
        wanted = [stop - start for start, stop in split(self.num_features, len(sizes[1]))]
        if list(sizes[1]) != wanted:
            message = f"tensors of {list(sizes[1])} channels where {wanted} are due; divide them"
            raise LayoutError(f"{message} evenly: use Repartition", "features-count")
        self._check_dtype(input.dtype)
        count = math.prod(sum(one) for axis, one in enumerate(sizes) if axis != 1)
        if count < 2 and (self.training or not self.track_running_stats):
            message = f"{count} values per channel of {dtype} have no variance; use at least 2,"
            raise LayoutError(f"{message} or eval() and running statistics", "batch-too-small")
        return count

    def _check_dtype(self, dtype: torch.dtype) -> None:
        if not dtype.is_floating_point:
            message = f"batch normalisation of {dtype}; use a floating type"
            raise LayoutError(message, "dtype-unknown")
        for own in (self.weight, self.running_mean if self.track_running_stats else None):
            is_half = dtype in (torch.float16, torch.bfloat16)
            # As torch does: halves of numbers may have whole parameters.
            if own is not None and own.dtype not in (dtype, torch.float32 if is_half else dtype):
                message = f"a tensor of {dtype} for parameters of {own.dtype}; convert one of them"
                raise LayoutError(message, "dtypes-differ")

    def _statistics(
        self, input: torch.Tensor, column: list[int], count: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        axes = [axis for axis in range(input.dim()) if axis != 1]
        mean = self.total(input.sum(axes)) / count
        spread = self.total((input - mean.reshape(column)).square().sum(axes))
        variance = spread / count
        self._track(mean.detach(), variance.detach(), count)
        return mean, variance

    def places(self) -> dict[str, SerialRegion]:
        """Scale, shift and statistics of this worker's channels."""
        shape, own = (self.num_features,), (slice(*self.channels),)
        places = {name: SerialRegion(shape, own, self.is_keeper) for name in ("weight", "bias")}
        is_member = self.P_x.active
        for name in ("running_mean", "running_var"):
            places[name] = SerialRegion(shape, own, is_member)
        places["num_batches_tracked"] = SerialRegion((), (), is_member)
        return places

    def home(self) -> Team | None:
        """The team that the partition was made from."""
        return self.P_x.root

    def extra_repr(self) -> str:
        """What print shows, as torch does."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, track_running_stats={self.track_running_stats}"
        )

    def _track(self, mean: torch.Tensor, variance: torch.Tensor, count: int) -> None:
        if not (self.training and self.track_running_stats):
            return
        self.num_batches_tracked += 1
        share = self.momentum if self.momentum is not None else 1 / float(self.num_batches_tracked)
        unbiased = variance * (count / (count - 1))
        for running, now in ((self.running_mean, mean), (self.running_var, unbiased)):
            old = widened(running)
            running.copy_(old + share * (now - old))
