"""Convolutions of tensors divided in batch, channels and space.

Output channels are divided evenly along the partition's second axis; the first of the workers that
share channels keeps their weight and bias. Every forward copies them, every backward adds up their
gradients. Where channels are divided, input channels are gathered first. Halos of any width,
strides, dilations, and workers without outputs work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from partita._errors import LayoutError
from partita.distdl import Partition
from partita.torch.kernels import Kernel, Numbers, per_dimension
from partita.torch.parameters import channel_keepers, empty_result, kept, own_channels
from partita.torch.primitives import AllGather


class _Convolution(Kernel):
    serial: type[Any]
    function: Callable[..., torch.Tensor]

    def __init__(
        self,
        P_x: Partition,
        in_channels: int,
        out_channels: int,
        kernel_size: Numbers,
        stride: Numbers = 1,
        padding: Numbers | str = 0,
        dilation: Numbers = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        dtype: torch.dtype | None = None,
    ) -> None:
        if padding_mode != "zeros":
            message = f"padding mode {padding_mode!r}; use 'zeros', the only one when divided"
            raise LayoutError(message, "padding-mode")
        numbers = self._padding(padding, kernel_size, stride, dilation)
        super().__init__(P_x, kernel_size, stride, numbers, dilation)
        n_parts = P_x.grid_shape[1] if P_x.active else 1
        if groups != 1 and n_parts > 1:
            message = f"{groups} groups of channels divided over {n_parts} workers; keep channels"
            raise LayoutError(f"{message} together or repartition", "channels-divided")
        self.groups, self.in_channels = groups, in_channels
        self.out_range = own_channels(P_x, out_channels)
        self.together = AllGather(P_x, 1) if n_parts > 1 else None
        # The serial layer checks the channels and draws the numbers that it would draw alone.
        alone = self.serial(
            in_channels, out_channels, self.kernel_size, groups=groups, bias=bias, dtype=dtype
        )
        is_keeper, self.spread = channel_keepers(P_x)
        own = slice(*self.out_range)
        self.weight = kept(alone.weight.detach()[own].clone(), is_keeper)
        shift = None if alone.bias is None else alone.bias.detach()[own].clone()
        self.bias = kept(shift, is_keeper)

    def _padding(
        self, padding: Numbers | str, kernel: Numbers, stride: Numbers, dilation: Numbers
    ) -> Numbers:
        if not isinstance(padding, str):
            return padding
        kernels = per_dimension(kernel, self.n_dims, "kernel")
        steps = per_dimension(dilation, self.n_dims, "dilation")
        totals = [step * (taps - 1) for step, taps in zip(steps, kernels, strict=True)]
        if padding == "valid":
            return 0
        is_even = not any(total % 2 for total in totals)
        if padding == "same" and is_even and set(per_dimension(stride, self.n_dims, "s")) == {1}:
            return [total // 2 for total in totals]
        message = f"padding {padding!r}; use numbers, 'valid', or 'same' with odd kernels, stride 1"
        raise LayoutError(message, "window-padding")

    def copies(self) -> tuple[torch.Tensor | None, ...]:
        """Weight and bias. Collective."""
        bias = None if self.bias is None else self.spread(self.bias)
        return self.spread(self.weight), bias

    def local(
        self,
        inputs: torch.Tensor,
        counts: Sequence[int],
        copies: tuple[torch.Tensor | None, ...],
    ) -> torch.Tensor:
        """The convolution of padded inputs; collective where channels are divided."""
        if self.together is not None:
            inputs = self.together(inputs)
        if inputs.shape[1] != self.in_channels:
            message = f"{inputs.shape[1]} input channels where {self.in_channels} are due; use them"
            raise LayoutError(message, "features-count")
        n_channels = self.out_range[1] - self.out_range[0]
        if 0 in counts or n_channels == 0:
            return empty_result([inputs.shape[0], n_channels, *counts], inputs, *copies)
        weight, bias = copies
        convolve = type(self).function
        return convolve(inputs, weight, bias, self.stride, 0, self.dilation, self.groups)


class DistributedConv1d(_Convolution):
    """A convolution over one divided dimension; arguments as `torch.nn.Conv1d`."""

    n_dims, serial, function = 1, torch.nn.Conv1d, F.conv1d


class DistributedConv2d(_Convolution):
    """A convolution over two divided dimensions; arguments as `torch.nn.Conv2d`."""

    n_dims, serial, function = 2, torch.nn.Conv2d, F.conv2d


class DistributedConv3d(_Convolution):
    """A convolution over three divided dimensions; arguments as `torch.nn.Conv3d`."""

    n_dims, serial, function = 3, torch.nn.Conv3d, F.conv3d
