"""Fresh arrays of warm memory, which the neighbours of a rank can reach."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._errors import LayoutError
from partita._memory.bfloat import storage
from partita._partita import WarmMemory

if TYPE_CHECKING:
    from collections.abc import Sequence


def empty(shape: Sequence[int], dtype: Any) -> np.ndarray[Any, Any]:
    """An array of warm memory; its content is whatever was there."""
    try:
        dtype = storage(dtype)
    except TypeError:
        message = (
            f"NumPy has no dtype {dtype!r} here; import what brings it, or give memory by out="
        )
        raise LayoutError(message, "dtype-unknown") from None
    n_items = math.prod(int(length) for length in shape)
    if n_items < 0 or dtype.hasobject:
        message = f"shape {tuple(shape)} of {dtype}; use lengths of 0 or more and a plain dtype"
        raise LayoutError(message, "buffer-shape")
    if n_items * dtype.itemsize >= 1 << 62:
        raise MemoryError(f"an array of shape {tuple(shape)} and type {dtype}")
    return over(WarmMemory(n_items * dtype.itemsize), n_items, dtype).reshape(shape)


def over(memory: WarmMemory, n_items: int, dtype: Any) -> np.ndarray[Any, Any]:
    """The first elements of warm memory, as a vector."""
    return np.frombuffer(memory, dtype=dtype, count=n_items)  # type: ignore[call-overload, no-any-return]
