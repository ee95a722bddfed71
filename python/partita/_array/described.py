"""What every array knows of itself without asking anybody: layout, shape, element type, sizes."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np

    from partita._partita import Layout


class Described:
    """What arrays on teams and arrays of handles have in common."""

    _layout: Layout
    _dtype: np.dtype[Any]

    @property
    def layout(self) -> Layout:
        """The layout: which rank holds which elements."""
        return self._layout

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the whole array."""
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
        """Total size of the elements in bytes, each counted once."""
        return self.size * self.dtype.itemsize
