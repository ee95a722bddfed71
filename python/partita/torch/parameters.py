"""Parameters of distributed layers: kept by one worker, empty tensors on the others.

Every worker has every parameter, so that optimisers and `parameters()` work the same everywhere;
only the keeper's has elements. Copies travel by `Broadcast`, their gradients back by its adjoint.
"""

from __future__ import annotations

import torch

from partita.distdl import Partition, Primitive
from partita.torch.primitives import Broadcast, Mover


def kept(value: torch.Tensor | None, is_keeper: bool) -> torch.nn.Parameter | None:
    """This worker's parameter."""
    if value is None:
        return None
    return torch.nn.Parameter(value if is_keeper else torch.empty(0, dtype=value.dtype))


def from_first(P_x: Partition) -> Mover:
    """Copies of the first worker's tensor for all workers."""
    if not P_x.active:
        return Mover(Primitive(None))
    first = P_x.create_partition_inclusive([0])
    return Broadcast(first, P_x, preserve_batch=False)


def empty_result(shape: list[int], *parents: torch.Tensor | None) -> torch.Tensor:
    """A result without elements that backward still visits the parents of."""
    nothing = [one.reshape(-1)[:0].reshape(shape) for one in parents if one is not None]
    return torch.stack(nothing).sum(0)
