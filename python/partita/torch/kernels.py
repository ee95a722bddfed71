"""Layers that slide a kernel over divided dimensions: the part that convolution and pooling share.

A tensor is (batch, channel, space...). The partition may divide all of them in any way, unevenly
too; outputs are divided evenly in space. Batch blocks stay where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from partita._args import integer
from partita._errors import LayoutError
from partita.distdl import Partition, Window, WindowExchange
from partita.distdl.agree import Terms, brief, described
from partita.distdl.partition import a_partition
from partita.distdl.windows import Need
from partita.torch.functions import outside, padded_inputs, window_movement

Numbers = int | Sequence[int]


def per_dimension(value: Any, n_dims: int, name: str) -> tuple[int, ...]:
    """One number per dimension of space."""
    numbers = tuple(value) if isinstance(value, Sequence) else (value,) * n_dims
    message = f"{name} {value!r} in {n_dims} dimensions; use a number or {n_dims} of them"
    if len(numbers) != n_dims:
        raise LayoutError(message, f"window-{name}")
    try:
        return tuple(integer(one, name) for one in numbers)
    except LayoutError:
        raise LayoutError(message, f"window-{name}") from None


class Kernel(torch.nn.Module):
    """A layer with one window per dimension of space; `local` computes on padded inputs."""

    n_dims = 0

    def __init__(
        self,
        P_x: Partition,
        kernel_size: Numbers,
        stride: Numbers,
        padding: Numbers,
        dilation: Numbers,
        *,
        extra: Numbers = 0,
        overhangs: bool = False,
    ) -> None:
        super().__init__()
        check_grid(P_x, self.n_dims)
        given = (("kernel", kernel_size), ("stride", stride), ("padding", padding))
        columns = [per_dimension(value, self.n_dims, name) for name, value in given]
        columns.append(per_dimension(dilation, self.n_dims, "dilation"))
        self.kernel_size, self.stride, self.padding, self.dilation = columns
        extras = per_dimension(extra, self.n_dims, "padding")
        self.windows = [
            Window(*numbers, extra=more, overhangs=overhangs)
            for more, *numbers in zip(extras, *columns, strict=True)
        ]
        self.P_x = P_x
        self._workers = brief(described(P_x))
        self.exchange = WindowExchange(P_x, [[], [], *([window] for window in self.windows)])

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """This worker's outputs: an empty tensor if it has none. Collective."""
        if self.exchange.team is None:
            return outside(input)
        movement = window_movement(input, self.exchange, self.terms())
        copies = self.copies()
        self.check(movement.plans[0].source.shape[1], input.dtype, copies)
        inputs = padded_inputs(input, movement, self.fill(input.dtype))
        # A worker that fails alone tells the others.
        with self.exchange.team:
            return self.local(inputs, movement.stages[0][2:], copies)

    def settings(self) -> str:
        """What all workers must have made this layer with."""
        return self.extra_repr()

    def terms(self) -> Terms:
        """What workers compare when a call begins."""
        return Terms(type(self).__name__, f"{self.settings()} on {self._workers}")

    def fill(self, dtype: torch.dtype) -> float:
        """What padding is made of."""
        return 0.0

    def check(
        self, n_channels: int, dtype: torch.dtype, copies: tuple[torch.Tensor | None, ...]
    ) -> int:
        """The number of channels after the layer, if whole tensors of so many before it will do.

        Every worker knows all of this, so that all refuse or none.
        """
        raise NotImplementedError

    def copies(self) -> tuple[torch.Tensor | None, ...]:
        """This worker's copies of the parameters. Collective."""
        return ()

    def local(
        self,
        inputs: torch.Tensor,
        needs: Sequence[Need],
        copies: tuple[torch.Tensor | None, ...],
    ) -> torch.Tensor:
        """The outputs for padded inputs; `needs` says what these are, per dimension of space."""
        raise NotImplementedError


def check_grid(P_x: Partition, n_dims: int) -> None:
    """Whether a partition fits (batch, channel, space...)."""
    shape = a_partition(P_x).grid_shape
    if len(shape) != n_dims + 2 and P_x.team is not None:
        message = f"a partition of {len(shape)} dimensions for {n_dims} of space; use {n_dims + 2}"
        raise LayoutError(message, "partition-ndim")
