"""Buffers as DistDL's layers request them. Plans need none: they move data where it belongs."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np


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


def no_halo_buffers(buffer_manager: Any, slices: Any, *rest: Any) -> list[list[None]]:
    """None of the four buffers per dimension that an exchange by messages would need."""
    return [[None] * 4 for _ in slices]


def no_repartition_buffers(
    buffer_manager: Any, P_x_to_y_overlaps: Any, P_y_to_x_overlaps: Any, dtype: Any
) -> tuple[list[None], list[None]]:
    """None of the buffers that a repartition by messages would need."""
    return [None] * len(P_x_to_y_overlaps), [None] * len(P_y_to_x_overlaps)
