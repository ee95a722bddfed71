"""Convolutions of tensors divided in batch and space.

The first worker keeps weight and bias; every forward copies them, every backward adds up their
gradients. Halos of any width, strides, dilations, and workers without outputs work.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch.nn.functional as F

from partita._errors import LayoutError
from partita.distdl import Partition
from partita.torch.kernels import Kernel, Numbers, per_dimension
from partita.torch.parameters import empty_result, from_first, kept


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
        self.groups, self.out_channels = groups, out_channels
        # The serial layer checks the channels and draws the numbers that it would draw alone.
        alone = self.serial(
            in_channels, out_channels, self.kernel_size, groups=groups, bias=bias, dtype=dtype
        )
        self.weight = kept(alone.weight.detach(), P_x.rank == 0)
        self.bias = kept(None if alone.bias is None else alone.bias.detach(), P_x.rank == 0)
        self.from_first = from_first(P_x)

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
        bias = None if self.bias is None else self.from_first(self.bias)
        return self.from_first(self.weight), bias

    def local(
        self,
        inputs: torch.Tensor,
        counts: Sequence[int],
        copies: tuple[torch.Tensor | None, ...],
    ) -> torch.Tensor:
        """The convolution of padded inputs."""
        if 0 in counts:
            return empty_result([inputs.shape[0], self.out_channels, *counts], inputs, *copies)
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
