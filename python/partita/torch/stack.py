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

import torch
import torch.nn.functional as F

from partita._errors import LayoutError
from partita.distdl import Partition, WindowExchange
from partita.torch.convolution import DistributedConv1d
from partita.torch.functions import windows
from partita.torch.kernels import Kernel
from partita.torch.pooling import DistributedMaxPool1d

__all__ = ["DistributedConv1d", "DistributedMaxPool1d", "DistributedStack"]


class DistributedStack(torch.nn.Module):
    """Convolutions, poolings and pointwise layers in a row, with one exchange for all of them.

    Other layers than `Kernel`s must be pointwise; layers with parameters or statistics of their
    own are refused, since values near a boundary pass through them on two workers.
    """

    def __init__(self, P_x: Partition, *layers: torch.nn.Module) -> None:
        super().__init__()
        kernels = [layer for layer in layers if isinstance(layer, Kernel)]
        if not kernels:
            raise LayoutError("a stack without kernels; give it at least one", "stack-empty")
        for layer in layers:
            if not isinstance(layer, Kernel) and list(layer.state_dict()):
                message = f"{type(layer).__name__} in a stack; use kernels and pointwise layers"
                raise LayoutError(message, "stack-layer")
        self.layers = torch.nn.ModuleList(layers)
        n_dims = kernels[0].n_dims
        columns = [[layer.windows[axis] for layer in kernels] for axis in range(n_dims)]
        self.exchange = WindowExchange(P_x, [[], [], *columns])

    def forward(self, input: torch.Tensor) -> torch.Tensor:
        """This worker's outputs of the last layer. Collective."""
        if self.exchange.team is None:
            return input.clone()
        copies = [layer.copies() if isinstance(layer, Kernel) else () for layer in self.layers]
        fills = [layer.fill for layer in self.layers if isinstance(layer, Kernel)]
        value, movement = windows(input, self.exchange, fills[0])
        stages = list(movement.stages)
        with self.exchange.team:
            is_first = True
            for layer, own in zip(self.layers, copies, strict=True):
                if not isinstance(layer, Kernel):
                    value = layer(value)
                    continue
                needs = stages.pop(0)[2:]
                if not is_first and value.numel():
                    rims = [width for one in reversed(needs) for width in (one.before, one.after)]
                    value = F.pad(value, rims, value=layer.fill)
                is_first = False
                value = layer.local(value, [one.n_outputs for one in needs], own)
        return value
