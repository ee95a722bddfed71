"""What DistDL's layers ask about tensors of other workers: shapes, types, gradients."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from partita.distdl import Partition
from partita.distdl.agree import block_sizes

_DTYPES = {str(dtype): dtype for dtype in vars(torch).values() if isinstance(dtype, torch.dtype)}


def _word(structure: Any) -> list[Any]:
    if structure.shape is None:
        return []
    shape = [int(length) for length in structure.shape]
    return [shape, str(structure.dtype), bool(structure.requires_grad)]


@dataclass
class TensorStructure:
    """What DistDL's layers read of a tensor they do not have; nothing is known of no tensor."""

    shape: Any = None
    dtype: torch.dtype | None = None
    requires_grad: bool | None = None


def _structure(word: list[Any]) -> TensorStructure:
    return TensorStructure(torch.Size(word[0]), _DTYPES[word[1]], word[2])


def broadcast_tensor_structure(
    input_tensor_structure: Any, P_send: Partition, P_recv: Partition
) -> TensorStructure:
    """The structure that this worker will receive. Collective over both partitions' union."""
    rooted = P_send.rooted or P_recv.rooted
    if rooted is None:
        return TensorStructure()
    rooted = rooted.in_world_order()
    own = _word(input_tensor_structure)
    words = rooted.union.gather_alike("broadcast_tensor_structure", rooted.settings, own)
    colour = rooted.single_colour() if rooted.is_reduction else rooted.many_colour()
    if colour is None:
        return TensorStructure()
    giver = rooted.takers_of(colour)[0] if rooted.is_reduction else rooted.root_of(colour)
    return _structure(words[giver])


@dataclass
class _Everyone:
    """The structures of all workers of a partition, and its shape."""

    words: list[list[Any]]
    grid_shape: tuple[int, ...]

    def shapes(self) -> list[tuple[int, ...]]:
        return [tuple(word[0]) for word in self.words]


def _everyone(local: Any, P_in: Partition, P_out: Partition | None) -> _Everyone | None:
    """What all workers of `P_in` have, on them and on `P_out`. Collective."""
    heard: tuple[Any, Any] | None = None
    if P_in.active:
        words = P_in.members("structures").gather_alike("structures", "", _word(local))
        heard = (words, P_in.grid_shape)
    if P_out is not None and P_out.active:
        heard = P_out.members("structures").broadcast_alike("structures", heard, source=P_in.team)
    return None if heard is None else _Everyone(*heard)


def assemble_global_tensor_structure(
    local_tensor_structure: Any, P_in: Partition, P_out: Partition | None = None
) -> TensorStructure:
    """The structure of the whole tensor, on `P_in` and `P_out`. Collective."""
    everyone = _everyone(local_tensor_structure, P_in, P_out)
    if everyone is None:
        return TensorStructure()
    made = _structure(everyone.words[0])
    sizes = block_sizes(everyone.shapes(), everyone.grid_shape)
    made.shape = np.array([sum(one) for one in sizes], dtype=np.int64)
    return made


def compute_subtensor_shapes_unbalanced(
    local_tensor_structure: Any, P_in: Partition, P_out: Partition | None = None
) -> Any:
    """An array of all workers' shapes, indexed by their place. Collective."""
    everyone = _everyone(local_tensor_structure, P_in, P_out)
    if everyone is None:
        return None
    shapes = np.array(everyone.shapes(), dtype=np.int64)
    return shapes.reshape(*everyone.grid_shape, shapes.shape[1])
