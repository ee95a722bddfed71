"""What may stand between the kernels of a stack: functions of single elements.

Values near a boundary pass through a stack on two workers, each with a part of the tensor. That is
right for functions that look at one element at a time, have no parameters and draw no numbers;
torch's activations of that kind are known, others are marked by their author.

>>> import torch
>>> pointwise(torch.sin)(torch.zeros(2))
tensor([0., 0.])
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn

from partita._errors import LayoutError
from partita.distdl import Partition

ELEMENTWISE = (
    nn.CELU,
    nn.ELU,
    nn.GELU,
    nn.Hardshrink,
    nn.Hardsigmoid,
    nn.Hardswish,
    nn.Hardtanh,
    nn.Identity,
    nn.LeakyReLU,
    nn.LogSigmoid,
    nn.Mish,
    nn.ReLU,
    nn.ReLU6,
    nn.SELU,
    nn.SiLU,
    nn.Sigmoid,
    nn.Softplus,
    nn.Softshrink,
    nn.Softsign,
    nn.Tanh,
    nn.Tanhshrink,
    nn.Threshold,
)

# They look at all channels of one place in space.
_OVER_CHANNELS = (nn.LogSoftmax, nn.Softmax, nn.Softmin)


class Pointwise(torch.nn.Module):
    """A function that its author calls pointwise."""

    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.function = function

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """The function's values, as many as there are elements."""
        found = self.function(input)
        if not isinstance(found, torch.Tensor) or found.shape != input.shape:
            shape = tuple(getattr(found, "shape", ()))
            message = f"a pointwise function made {shape} of {tuple(input.shape)}; keep the shape"
            raise LayoutError(message, "stack-layer")
        return found

    def extra_repr(self) -> str:
        """What print shows."""
        name = getattr(self.function, "__name__", "")
        return "" if isinstance(self.function, torch.nn.Module) else name


def pointwise(function: Callable[[torch.Tensor], torch.Tensor]) -> Pointwise:
    """Mark a function or module as pointwise, for use in a `DistributedStack`.

    It must depend on one element at a time, or on the channels of one position in space if these
    are not divided, and must not draw random numbers. This cannot be checked.
    """
    if not callable(function) or isinstance(function, type):
        message = f"{function!r} as pointwise function; use a function or module of tensors"
        raise LayoutError(message, "stack-layer")
    if isinstance(function, torch.nn.Module) and function.state_dict():
        message = f"{type(function).__name__} has parameters or statistics of its own, which no"
        raise LayoutError(f"{message} stack can share; put it between two stacks", "stack-layer")
    return Pointwise(function)


def is_pointwise(layer: Any, P_x: Partition) -> bool:
    """Whether a layer is known or marked as pointwise."""
    if isinstance(layer, Pointwise) or type(layer) in ELEMENTWISE:
        return True
    has_channels = P_x.grid_shape[1:2] == (1,) or P_x.team is None
    if type(layer) in _OVER_CHANNELS:
        return has_channels and layer.dim == 1
    return has_channels and type(layer) is nn.Softmax2d
