"""Elements at positions that an array says."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions.creation import an_array, axis_of
from partita._functions.elementwise import beside, clip, remainder, written
from partita._functions.manipulation import reshape

_MODES = ("raise", "wrap", "clip")


def take(
    x: Any, indices: Any, /, axis: int | None = None, out: Any = None, mode: str = "raise"
) -> Array:
    """Return the elements at positions along an axis; without one, of all elements in a row.

    Positions outside raise an error, or are counted around (`mode="wrap"`), or moved to the ends
    (`mode="clip"`).

    >>> import partita as pt
    >>> print(pt.take(pt.asarray([1.0, 2.0, 4.0]), [2, 0, -1]))
    [4. 1. 4.]
    """
    if mode not in _MODES:
        raise ValueError(f"mode {mode!r}; use one of {', '.join(_MODES)}")
    array = an_array(x)
    if axis is None:
        array, axis = reshape(array, -1), 0
    at = axis_of(axis, array.ndim)
    positions = _positions(indices, array)
    size = array.shape[at]
    if mode == "wrap":
        positions = remainder(positions, size)
    elif mode == "clip":
        positions = clip(positions, 0, max(size - 1, 0))
    found: Array = written(array[(slice(None),) * at + (positions,)], out)
    return found


def take_along_axis(x: Any, indices: Any, /, axis: int | None = -1) -> Array:
    """Return for each position along an axis the element there, beside its own other positions.

    >>> import partita as pt
    >>> a = pt.asarray([[3.0, 1.0], [4.0, 5.0]])
    >>> print(pt.take_along_axis(a, pt.argmin(a, axis=1, keepdims=True), axis=1))
    [[1.]
     [4.]]
    """
    array = an_array(x)
    positions = _positions(indices, array)
    if axis is None:
        array, axis = reshape(array, -1), 0
    at = axis_of(axis, array.ndim)
    if positions.ndim != array.ndim:
        message = f"positions of {positions.ndim} dimensions for an array of {array.ndim}"
        raise ValueError(f"{message}; use as many")
    index: list[Any] = []
    for dim, size in enumerate(array.shape):
        sizes = [size if other == dim else 1 for other in range(array.ndim)]
        index.append(positions if dim == at else np.arange(size).reshape(sizes))
    return array[tuple(index)]


def _positions(indices: Any, array: Array) -> Array:
    """Positions as integers, on the ranks of an array."""
    if isinstance(indices, list | tuple) and np.size(indices) == 0:
        indices = np.asarray(indices, np.int64)
    found = beside(indices, array)
    if found.dtype.kind == "b":
        # As numbers: here a truth value is no mask.
        return found._cast(np.int64)
    if found.dtype.kind not in "iu":
        raise TypeError(f"positions of {found.dtype}; use integers")
    return found


__all__ = ["take", "take_along_axis"]
