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

from partita._args import flag, integer
from partita._errors import LayoutError
from partita._team.team import Team
from partita.distdl import Partition
from partita.distdl.windows import Need
from partita.torch.arguments import checked_dtype, serial_layer
from partita.torch.kernels import Kernel, Numbers, per_dimension
from partita.torch.parameters import channel_keepers, empty_result, kept, own_channels
from partita.torch.primitives import AllGather
from partita.torch.state import Divided, SerialRegion


class _Convolution(Kernel, Divided):
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
        numbers, extra = self._padding(padding, kernel_size, stride, dilation)
        super().__init__(P_x, kernel_size, stride, numbers, dilation, extra=extra)
        in_channels, out_channels = (
            integer(number, "channels") for number in (in_channels, out_channels)
        )
        groups = integer(groups, "groups")
        # The serial layer checks the channels and draws the numbers that it would draw alone.
        alone = serial_layer(
            self.serial,
            in_channels,
            out_channels,
            self.kernel_size,
            groups=groups,
            bias=flag(bias, "bias"),
            dtype=checked_dtype(dtype),
        )
        n_parts = P_x.grid_shape[1] if P_x.active else 1
        if groups != 1 and n_parts > 1:
            message = f"{groups} groups of channels divided over {n_parts} workers; keep channels"
            raise LayoutError(f"{message} together or repartition", "channels-divided")
        self.groups, self.in_channels, self.out_channels = groups, in_channels, out_channels
        self.out_range = own_channels(P_x, out_channels)
        self.together = AllGather(P_x, 1) if n_parts > 1 else None
        self.is_keeper, self.spread = channel_keepers(P_x)
        own = slice(*self.out_range)
        self.weight = kept(alone.weight.detach()[own].clone(), self.is_keeper)
        shift = None if alone.bias is None else alone.bias.detach()[own].clone()
        self.bias = kept(shift, self.is_keeper)

    def places(self) -> dict[str, SerialRegion]:
        """Weight and bias: the rows of this worker's output channels."""
        rows, columns = slice(*self.out_range), slice(0, self.in_channels // self.groups)
        taps = [slice(0, length) for length in self.kernel_size]
        shape = (self.out_channels, self.in_channels // self.groups, *self.kernel_size)
        return {
            "weight": SerialRegion(shape, (rows, columns, *taps), self.is_keeper),
            "bias": SerialRegion(shape[:1], (rows,), self.is_keeper),
        }

    def home(self) -> Team | None:
        """The team that the partition was made from."""
        return self.P_x.root

    def settings(self) -> str:
        """What all workers must have made this layer with."""
        extras = [window.extra for window in self.windows]
        return f"{self.extra_repr()}, extra={extras}" if any(extras) else self.extra_repr()

    def check(
        self, n_channels: int, dtype: torch.dtype, copies: tuple[torch.Tensor | None, ...]
    ) -> int:
        """The number of output channels, if the input channels and element types fit."""
        if n_channels != self.in_channels:
            message = f"{n_channels} input channels where {self.in_channels} are due; use them"
            raise LayoutError(message, "features-count")
        weight = copies[0]
        if weight is not None and weight.dtype != dtype:
            message = f"a tensor of {dtype} for weights of {weight.dtype}; convert one of them"
            raise LayoutError(message, "dtypes-differ")
        return self.out_channels

    def extra_repr(self) -> str:
        """What print shows, as torch does."""
        shown = [f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}"]
        shown.append(f"stride={self.stride}")
        usual = (0,) * self.n_dims, (1,) * self.n_dims, 1
        for name, value in zip(("padding", "dilation", "groups"), usual, strict=True):
            if getattr(self, name) != value:
                shown.append(f"{name}={getattr(self, name)}")
        return ", ".join(shown if self.bias is not None else [*shown, "bias=False"])

    def _padding(
        self, padding: Numbers | str, kernel: Numbers, stride: Numbers, dilation: Numbers
    ) -> tuple[Numbers, Numbers]:
        """Padding on both sides, and at the end alone."""
        if not isinstance(padding, str):
            return padding, 0
        kernels = per_dimension(kernel, self.n_dims, "kernel")
        steps = per_dimension(dilation, self.n_dims, "dilation")
        totals = [step * (taps - 1) for step, taps in zip(steps, kernels, strict=True)]
        if padding == "valid":
            return 0, 0
        if padding == "same" and set(per_dimension(stride, self.n_dims, "stride")) == {1}:
            return [total // 2 for total in totals], [total % 2 for total in totals]
        message = f"padding {padding!r}; use numbers, 'valid', or 'same' with stride 1"
        raise LayoutError(message, "window-padding")

    def copies(self) -> tuple[torch.Tensor | None, ...]:
        """Weight and bias. Collective."""
        bias = None if self.bias is None else self.spread(self.bias)
        return self.spread(self.weight), bias

    def local(
        self,
        inputs: torch.Tensor,
        needs: Sequence[Need],
        copies: tuple[torch.Tensor | None, ...],
    ) -> torch.Tensor:
        """The convolution of padded inputs; collective where channels are divided."""
        if self.together is not None:
            inputs = self.together(inputs)
        counts = [one.n_outputs for one in needs]
        n_channels = self.out_range[1] - self.out_range[0]
        if 0 in counts or n_channels == 0:
            return empty_result([inputs.shape[0], n_channels, *counts], inputs, *copies)
        weight, bias = copies
        convolve = type(self).function
        return convolve(inputs, weight, bias, self.stride, 0, self.dilation, self.groups)


class DistributedConv1d(_Convolution):
    """A convolution over one divided dimension; takes the arguments of `torch.nn.Conv1d`."""

    n_dims, serial, function = 1, torch.nn.Conv1d, F.conv1d


class DistributedConv2d(_Convolution):
    """A convolution over two divided dimensions; takes the arguments of `torch.nn.Conv2d`."""

    n_dims, serial, function = 2, torch.nn.Conv2d, F.conv2d


class DistributedConv3d(_Convolution):
    """A convolution over three divided dimensions; takes the arguments of `torch.nn.Conv3d`."""

    n_dims, serial, function = 3, torch.nn.Conv3d, F.conv3d
