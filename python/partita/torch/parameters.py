"""Parameters of distributed layers: kept by one worker, empty tensors on the others.

Every worker has every parameter, so that optimisers and `parameters()` work the same everywhere;
only the keeper's has elements. Copies travel by `Broadcast`, their gradients back by its adjoint.
"""

from __future__ import annotations

from math import prod

import torch

from partita.distdl import Partition, Primitive, split
from partita.torch.primitives import Broadcast, Mover


def kept(value: torch.Tensor | None, is_keeper: bool) -> torch.nn.Parameter | None:
    """This worker's parameter."""
    if value is None:
        return None
    return torch.nn.Parameter(value if is_keeper else torch.empty(0, dtype=value.dtype))


def channel_keepers(P_x: Partition) -> tuple[bool, Mover]:
    """Whether this worker keeps the parameters of its channels, and copies for all that share them.

    The partition is (batch, channel, ...); the workers at the start of all other axes are keepers.
    """
    if not P_x.active:
        return False, Mover(Primitive(None))
    _, n_channels, *inner = P_x.grid_shape
    keepers = [channel * prod(inner) for channel in range(n_channels)]
    few = P_x.create_partition_inclusive(keepers)
    grid = few.create_cartesian_topology_partition([1, n_channels, *[1] * len(inner)])
    return grid.active, Broadcast(grid, P_x, preserve_batch=False)


def own_channels(P_x: Partition, n_channels: int) -> tuple[int, int]:
    """The channels of this worker, divided evenly along the partition's second axis."""
    if not P_x.active:
        return (0, 0)
    return split(n_channels, P_x.grid_shape[1])[P_x.index[1]]


def empty_result(shape: list[int], *parents: torch.Tensor | None) -> torch.Tensor:
    """A result without elements that backward still visits the parents of."""
    nothing = [one.reshape(-1)[:0].reshape(shape) for one in parents if one is not None]
    return torch.stack(nothing).sum(0)
