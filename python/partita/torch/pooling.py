"""Pooling of tensors divided in batch and space; arguments as torch's own layers."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import torch
import torch.nn.functional as F

from partita._args import flag
from partita._errors import LayoutError
from partita.distdl import Partition, Window
from partita.distdl.windows import Need
from partita.torch.kernels import Kernel, Numbers
from partita.torch.memory import widened
from partita.torch.parameters import empty_result


class _Pooling(Kernel):
    function: Callable[..., torch.Tensor]

    def __init__(
        self,
        P_x: Partition,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        *,
        ceil_mode: bool = False,
    ) -> None:
        steps = kernel_size if stride is None else stride
        self.ceil_mode = flag(ceil_mode, "ceil_mode")
        super().__init__(P_x, kernel_size, steps, padding, dilation, overhangs=self.ceil_mode)
        for window in self.windows:
            if 2 * window.padding > window.kernel:
                message = f"padding {window.padding} for kernel {window.kernel}; use half at most"
                raise LayoutError(message, "window-padding")

    def check(
        self, n_channels: int, dtype: torch.dtype, copies: tuple[torch.Tensor | None, ...]
    ) -> int:
        """The number of channels, if torch pools this element type; a tiny pool tells."""
        try:
            type(self).function(torch.zeros([1] * (self.n_dims + 2), dtype=dtype), 1)
        except RuntimeError:
            message = f"pooling of {dtype} in {self.n_dims} dimensions; use a floating type"
            raise LayoutError(message, "dtype-unknown") from None
        return n_channels

    def extra_repr(self) -> str:
        """What print shows, as torch does."""
        shown = f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"
        if set(self.dilation) != {1}:
            shown += f", dilation={self.dilation}"
        return f"{shown}, ceil_mode=True" if self.ceil_mode else shown

    def local(
        self,
        inputs: torch.Tensor,
        needs: Sequence[Need],
        copies: tuple[torch.Tensor | None, ...],
    ) -> torch.Tensor:
        """The pool of padded inputs."""
        counts = [one.n_outputs for one in needs]
        if 0 in counts or 0 in inputs.shape[:2]:
            return empty_result([*inputs.shape[:2], *counts], inputs)
        return self.pool(inputs, needs)

    def pool(self, inputs: torch.Tensor, needs: Sequence[Need]) -> torch.Tensor:
        """The serial pool."""
        raise NotImplementedError


class _MaxPool(_Pooling):
    def fill(self, dtype: torch.dtype) -> float:
        """Less than any element."""
        return -math.inf if dtype.is_floating_point else torch.iinfo(dtype).min

    def pool(self, inputs: torch.Tensor, needs: Sequence[Need]) -> torch.Tensor:
        """The serial pool."""
        return type(self).function(inputs, self.kernel_size, self.stride, dilation=self.dilation)


class _AvgPool(_Pooling):
    def __init__(
        self,
        P_x: Partition,
        kernel_size: Numbers,
        stride: Numbers | None = None,
        padding: Numbers = 0,
        dilation: Numbers = 1,
        *,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(P_x, kernel_size, stride, padding, dilation, ceil_mode=ceil_mode)
        self.count_include_pad = flag(count_include_pad, "count_include_pad")
        if set(self.dilation) != {1}:
            message = f"average pooling with dilation {dilation}; use 1"
            raise LayoutError(message, "window-dilation")

    def extra_repr(self) -> str:
        """What print shows, as torch does."""
        shown = super().extra_repr()
        return shown if self.count_include_pad else f"{shown}, count_include_pad=False"

    def pool(self, inputs: torch.Tensor, needs: Sequence[Need]) -> torch.Tensor:
        """The serial pool; sums divided by what counts where padding does not or ends early."""
        if self.count_include_pad and not self.ceil_mode:
            return type(self).function(inputs, self.kernel_size, self.stride)
        wide = widened(inputs)
        counts = torch.ones((), dtype=wide.dtype)
        for one, window in zip(needs, self.windows, strict=True):
            counts = counts[..., None] * self._counted(one, window).to(wide.dtype)
        rounding = None if wide.is_floating_point() else "trunc"
        return torch.div(self._sums(wide), counts, rounding_mode=rounding).to(inputs.dtype)

    def _sums(self, inputs: torch.Tensor) -> torch.Tensor:
        if self.n_dims > 1:
            return type(self).function(inputs, self.kernel_size, self.stride, divisor_override=1)
        # One dimension has no divisor in torch; two have.
        kernel, stride = (1, *self.kernel_size), (1, *self.stride)
        return F.avg_pool2d(inputs[:, :, None], kernel, stride, divisor_override=1)[:, :, 0]

    def _counted(self, one: Need, window: Window) -> torch.Tensor:
        """How many elements count for each output along one dimension."""
        marks = torch.zeros(one.before + one.stop - one.start + one.after)
        is_counted = self.count_include_pad
        first = 0 if is_counted else one.before
        stop = one.before + one.stop - one.start
        # What overhangs the padding at the end never counts.
        marks[first : stop + (min(one.after, window.padding) if is_counted else 0)] = 1
        return marks.unfold(0, window.kernel, window.stride).sum(-1)


class DistributedMaxPool1d(_MaxPool):
    """The maximum in windows over one divided dimension."""

    n_dims, function = 1, F.max_pool1d


class DistributedMaxPool2d(_MaxPool):
    """The maximum in windows over two divided dimensions."""

    n_dims, function = 2, F.max_pool2d


class DistributedMaxPool3d(_MaxPool):
    """The maximum in windows over three divided dimensions."""

    n_dims, function = 3, F.max_pool3d


class DistributedAvgPool1d(_AvgPool):
    """The mean in windows over one divided dimension; padding counts as zeros by default."""

    n_dims, function = 1, F.avg_pool1d


class DistributedAvgPool2d(_AvgPool):
    """The mean in windows over two divided dimensions; padding counts as zeros by default."""

    n_dims, function = 2, F.avg_pool2d


class DistributedAvgPool3d(_AvgPool):
    """The mean in windows over three divided dimensions; padding counts as zeros by default."""

    n_dims, function = 3, F.avg_pool3d
