"""One exchange for a stack of kernels: values near a boundary are computed twice instead of sent.

>>> from partita.distdl import Partition
>>> import torch, partita as pt
>>> def job(team):
...     P = Partition(team).create_cartesian_topology_partition((1, 1, 2))
...     conv, pool = DistributedConv1d(P, 1, 1, 3, padding=1), DistributedMaxPool1d(P, 2)
...     stack = DistributedStack(P, conv, torch.nn.ReLU(), pool)
...     return tuple(stack(torch.ones(1, 1, 8)).shape)
>>> pt.spmd(job, ranks=2)
[(1, 1, 4), (1, 1, 4)]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
import torch.nn.functional as F

from partita._errors import LayoutError
from partita.distdl import Partition, WindowExchange
from partita.distdl.agree import Terms, brief, described
from partita.distdl.partition import a_partition
from partita.distdl.windows import Need
from partita.torch.convolution import DistributedConv1d
from partita.torch.functions import bare_inputs, outside, padded_inputs, window_movement
from partita.torch.kernels import Kernel
from partita.torch.pointwise import is_pointwise
from partita.torch.pooling import DistributedMaxPool1d

__all__ = ["DistributedConv1d", "DistributedMaxPool1d", "DistributedStack"]


class DistributedStack(torch.nn.Module):
    """A sequence of convolutions, poolings and pointwise layers with a single exchange.

    Layers that are not a `Kernel` must be torch's elementwise activations, or marked by
    `pointwise`. Nested stacks and `torch.nn.Sequential` are flattened. Parameters have the names
    that they would have in a `torch.nn.Sequential` of the same layers.
    """

    def __init__(self, P_x: Partition, *layers: torch.nn.Module) -> None:
        super().__init__()
        a_partition(P_x)
        flat = list(_flat(layers))
        for layer in flat:
            _check_layer(layer, P_x)
        kernels = [layer for layer in flat if isinstance(layer, Kernel)]
        if not kernels:
            raise LayoutError("a stack without kernels; give it at least one", "stack-empty")
        _check_alike(kernels, P_x)
        for number, layer in enumerate(layers):
            self.add_module(str(number), layer)
        columns = [[one.windows[axis] for one in kernels] for axis in range(kernels[0].n_dims)]
        self.exchange = WindowExchange(P_x, [[], [], *columns])
        self._workers = brief(described(P_x))

    @property
    def layers(self) -> list[torch.nn.Module]:
        """The layers in order, those of inner stacks among them."""
        return list(_flat([self]))

    def terms(self, layers: Iterable[torch.nn.Module]) -> Terms:
        """What workers compare when a call begins: all layers in order."""
        words = [_word(layer) for layer in layers]
        return Terms(type(self).__name__, f"of {', '.join(words)} on {self._workers}")

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """This worker's outputs of the last layer. Collective."""
        if self.exchange.team is None:
            return outside(input)
        layers = self.layers
        movement = window_movement(input, self.exchange, self.terms(layers))
        copies = [layer.copies() if isinstance(layer, Kernel) else () for layer in layers]
        n_channels = movement.plans[0].source.shape[1]
        for layer, own in zip(layers, copies, strict=True):
            if isinstance(layer, Kernel):
                n_channels = layer.check(n_channels, input.dtype, own)
        first = layers[0]
        is_padded = isinstance(first, Kernel)
        if isinstance(first, Kernel):
            value = padded_inputs(input, movement, first.fill(input.dtype))
        else:
            # Padding belongs to the kernel: it must not pass through the layers before it.
            value = bare_inputs(input, movement)
        stages = iter(movement.stages)
        with self.exchange.team:
            for layer, own in zip(layers, copies, strict=True):
                if not isinstance(layer, Kernel):
                    value = layer(value)
                    continue
                needs = next(stages)[2:]
                value = value if is_padded else _padded(value, needs, layer.fill(value.dtype))
                is_padded = False
                value = layer.local(value, needs, own)
        return value


def _word(layer: torch.nn.Module) -> str:
    if isinstance(layer, Kernel):
        return f"{type(layer).__name__}({layer.settings()})"
    return " ".join(repr(layer).split())


def _padded(value: torch.Tensor, needs: Iterable[Need], fill: float) -> torch.Tensor:
    """The value with what the kernel sees past the ends; for some workers that is all they see."""
    rims = [width for one in reversed(list(needs)) for width in (one.before, one.after)]
    return F.pad(value, rims, value=fill) if any(rims) else value


def _flat(layers: Iterable[Any]) -> Iterable[Any]:
    for layer in layers:
        if isinstance(layer, DistributedStack) or type(layer) is torch.nn.Sequential:
            # Not `children()`, which names a layer once that is used twice.
            yield from _flat(layer._modules.values())
        else:
            yield layer


def _check_layer(layer: Any, P_x: Partition) -> None:
    if isinstance(layer, Kernel) or is_pointwise(layer, P_x):
        return
    name = type(layer).__name__ if isinstance(layer, torch.nn.Module) else repr(layer)
    message = (
        f"{name} in a stack; use convolutions, poolings and torch's elementwise activations, mark "
        "a function of single elements by pointwise(...), or put others between two stacks"
    )
    raise LayoutError(message, "stack-layer")


def _check_alike(kernels: list[Kernel], P_x: Partition) -> None:
    for kernel in kernels:
        if kernel.n_dims != kernels[0].n_dims:
            message = f"kernels of {kernels[0].n_dims} and {kernel.n_dims} dimensions in a stack"
            raise LayoutError(f"{message}; use one number", "stack-layer")
        own = kernel.P_x
        if (own.ranks, own.grid_shape) != (P_x.ranks, P_x.grid_shape):
            message = f"a kernel on {own} in a stack on {P_x}; use one partition"
            raise LayoutError(message, "stack-layer")
