"""What every array knows of itself without asking anybody: layout, shape, element type, sizes."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from partita._partita import Layout


class Described:
    """The part that arrays on teams and arrays of handles share."""

    _layout: Layout
    _dtype: np.dtype[Any]

    @property
    def layout(self) -> Layout:
        """Who holds what."""
        return self._layout

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the whole array."""
        return self._layout.shape

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return self._layout.ndim

    @property
    def size(self) -> int:
        """Number of elements, each counted once."""
        return prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        return self._dtype

    @property
    def nbytes(self) -> int:
        """Bytes of all elements, each counted once."""
        return self.size * self._dtype.itemsize
