"""Buffers as DistDL's layers request them. Plans need none: they move data where it belongs."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
import torch

from partita.torch.memory import DTYPE_NAMES


class ExpandableBuffer:
    """One-dimensional memory that grows, seen in any shape."""

    def __init__(self, dtype: Any, initial_capacity: int = 0) -> None:
        self.dtype = dtype
        self.raw_buffer = np.empty(initial_capacity, dtype=dtype)

    @property
    def capacity(self) -> int:
        """Number of elements."""
        return len(self.raw_buffer)

    def expand(self, new_capacity: int) -> None:
        """Have room for so many elements; those that are there stay."""
        if new_capacity > self.capacity:
            grown = np.empty(new_capacity, dtype=self.dtype)
            grown[: self.capacity] = self.raw_buffer
            self.raw_buffer = grown

    def allocate_view(self, view_shape: Any) -> None:
        """Have room for a view of this shape."""
        self.expand(prod(view_shape))

    def get_view(self, view_shape: Any) -> Any:
        """The start of the memory in this shape."""
        self.allocate_view(view_shape)
        return self.raw_buffer[: prod(view_shape)].reshape(view_shape)


class BufferManager:
    """Buffers by element type, shared by the layers that ask for them."""

    def __init__(self) -> None:
        self.buffers_map: dict[Any, list[ExpandableBuffer]] = {}

    def request_buffers(self, n_buffers: int, dtype: Any, **options: Any) -> list[ExpandableBuffer]:
        """So many buffers of one type; the same ones each time."""
        there = self.buffers_map.setdefault(dtype, [])
        there += [ExpandableBuffer(dtype, **options) for _ in range(n_buffers - len(there))]
        return there[:n_buffers]


def halo_buffers(
    buffer_manager: BufferManager, slices: Any, recv_shape: Any, send_shape: Any, dtype: Any
) -> list[list[None]]:
    """The four buffers of an exchange by messages, requested so that they count, but unused."""
    buffer_manager.request_buffers(4, _scalar_type(dtype))
    return [[None] * 4 for _ in slices]


def repartition_buffers(
    buffer_manager: BufferManager, P_x_to_y_overlaps: Any, P_y_to_x_overlaps: Any, dtype: Any
) -> tuple[list[None], list[None]]:
    """A buffer per message to or from another worker, requested so that they count, but unused."""
    overlaps = [*P_x_to_y_overlaps, *P_y_to_x_overlaps]
    n_messages = sum(part is not None and partner != "self" for part, _, partner in overlaps)
    buffer_manager.request_buffers(n_messages, _scalar_type(dtype))
    return [None] * len(P_x_to_y_overlaps), [None] * len(P_y_to_x_overlaps)


def _scalar_type(dtype: torch.dtype) -> Any:
    return np.dtype(DTYPE_NAMES[dtype]).type
