"""Arrays as text, by NumPy's options; of large ones only the corners travel."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._array.array import Array
from partita._functions.creation import an_array
from partita._functions.manipulation import concat


def array2string(a: Any, *args: Any, **options: Any) -> str:
    """Return the elements as text; options as NumPy's. Collective."""
    array = an_array(a)
    known = np.get_printoptions()
    most = options.pop("threshold", None)
    at_each_end = options.pop("edgeitems", None)
    most = known["threshold"] if most is None else most
    at_each_end = known["edgeitems"] if at_each_end is None else at_each_end
    if array.size <= most:
        return np.array2string(array._whole(), *args, threshold=most, **options)
    corners = _corners(array, at_each_end)._whole()
    return np.array2string(corners, *args, threshold=0, edgeitems=at_each_end, **options)


def _corners(array: Array, at_each_end: int) -> Array:
    """The ends of each dimension, with one entry more to be left out."""
    for axis, size in enumerate(array.shape):
        if size > 2 * at_each_end + 1:
            before = (slice(None),) * axis
            first = array[(*before, slice(at_each_end))]
            last = array[(*before, slice(size - at_each_end - 1, None))]
            array = concat([first, last], axis=axis)
    return array


def array_str(
    a: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None
) -> str:
    """Return the elements as `print` shows them. Collective."""
    array = an_array(a)
    if array.ndim == 0:
        return str(array._whole())
    return array2string(array, max_line_width, precision, suppress_small, " ", "")


def array_repr(
    arr: Any, max_line_width: Any = None, precision: Any = None, suppress_small: Any = None
) -> str:
    """Return the elements as NumPy's arrays show themselves. Collective."""
    array = an_array(arr)
    if array.size <= np.get_printoptions()["threshold"]:
        return np.array_repr(array._whole(), max_line_width, precision, suppress_small)
    shown = array2string(array, max_line_width, precision, suppress_small, ", ", "array(")
    kind = "" if array.dtype in (np.int64, np.float64, np.complex128) else f", dtype={array.dtype}"
    return f"array({shown}, shape={array.shape}{kind})"


__all__ = ["array2string", "array_repr", "array_str"]
