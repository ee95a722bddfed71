"""Batch normalisation of tensors divided in batch, channels and space.

Means and variances are over all workers that share channels, blocks of any sizes; they equal the
serial ones up to rounding.
"""

from __future__ import annotations

import torch

from partita._errors import LayoutError
from partita.distdl import Partition
from partita.torch.parameters import channel_keepers, kept, own_channels
from partita.torch.primitives import AllSumReduce


class DistributedBatchNorm(torch.nn.Module):
    """Batch normalisation; arguments as `torch.nn.BatchNorm2d`, for any number of dimensions.

    Channels are divided evenly along the partition's second axis. The workers at the start of all
    other axes keep scale and shift of their channels; every worker has the running statistics.
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
        shape = P_x.grid_shape
        if len(shape) < 2:
            message = f"a partition of {len(shape)} dimensions; use (batch, channel, ...)"
            raise LayoutError(message, "partition-ndim")
        self.P_x, self.eps, self.momentum = P_x, eps, momentum
        self.total = AllSumReduce(P_x, [axis for axis in range(len(shape)) if axis != 1])
        start, stop = own_channels(P_x, num_features)
        self.n_channels = stop - start
        self.spread = None
        self.weight = self.bias = None
        if affine and P_x.active:
            is_keeper, self.spread = channel_keepers(P_x)
            self.weight = kept(torch.ones(self.n_channels), is_keeper)
            self.bias = kept(torch.zeros(self.n_channels), is_keeper)
        self.track_running_stats = track_running_stats
        if track_running_stats:
            self.register_buffer("running_mean", torch.zeros(self.n_channels))
            self.register_buffer("running_var", torch.ones(self.n_channels))
            self.register_buffer("num_batches_tracked", torch.tensor(0))

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """The normalised tensor. Collective."""
        if not self.P_x.active:
            return input.clone()
        column = [1, -1, *[1] * (input.dim() - 2)]
        if self.training or not self.track_running_stats:
            mean, variance = self._statistics(input, column)
        else:
            mean, variance = self.running_mean, self.running_var
        scale = torch.rsqrt(variance + self.eps)
        result = (input - mean.reshape(column)) * scale.reshape(column)
        if self.spread is None:
            return result
        weight, bias = self.spread(self.weight), self.spread(self.bias)
        return result * weight.reshape(column) + bias.reshape(column)

    def _statistics(
        self, input: torch.Tensor, column: list[int]
    ) -> tuple[torch.Tensor, torch.Tensor]:
        axes = [axis for axis in range(input.dim()) if axis != 1]
        assert self.P_x.team is not None
        with self.P_x.team:
            if input.dim() != len(self.P_x.grid_shape) or input.shape[1] != self.n_channels:
                message = f"a tensor of shape {tuple(input.shape)} with {self.n_channels} channels"
                raise LayoutError(f"{message} here; use one that fits", "features-count")
        n_here = input.numel() // max(1, self.n_channels)
        sums = self.total(torch.cat([input.sum(axes), input.new_tensor([float(n_here)])]))
        count = sums[-1].detach()
        mean = sums[:-1] / count
        spread = self.total((input - mean.reshape(column)).square().sum(axes))
        variance = spread / count
        self._track(mean.detach(), variance.detach(), float(count))
        return mean, variance

    def _track(self, mean: torch.Tensor, variance: torch.Tensor, count: float) -> None:
        if not (self.training and self.track_running_stats):
            return
        self.num_batches_tracked += 1
        share = self.momentum if self.momentum is not None else 1 / float(self.num_batches_tracked)
        unbiased = variance * (count / max(1.0, count - 1))
        self.running_mean += share * (mean - self.running_mean)
        self.running_var += share * (unbiased - self.running_var)
