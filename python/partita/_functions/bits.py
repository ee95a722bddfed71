"""The bytes of elements as elements of another type."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._functions.locally import each_line
from partita._functions.manipulation import reshape

if TYPE_CHECKING:
    from partita._array.array import Array


def seen_as(array: Array, dtype: Any) -> Array:
    """The bytes of an array as elements of another type, in memory of their own.

    Only the last dimension changes: it has more entries of a smaller type, fewer of a larger one.
    """
    wanted = np.dtype(dtype)
    *others, n_last = array.shape or (1,)
    old, new = array.dtype.itemsize, wanted.itemsize
    if old != new and array.ndim == 0:
        message = f"one element of {array.dtype} seen as {wanted} of another size; use reshape(1)"
        raise ValueError(message)
    if (n_last * old) % new:
        message = f"{n_last} elements of {array.dtype} are no whole number of {wanted}; use others"
        raise ValueError(message)
    # Bytes that belong together lie in a dimension of their own, which is never divided.
    n_together = max(new // old, 1)
    groups = reshape(array, [*others, n_last // n_together, n_together])
    made = each_line(
        lambda own: np.ascontiguousarray(own).view(wanted).copy(), groups, groups.ndim - 1, "view"
    )
    return reshape(made, [*others, n_last * old // new] if array.ndim else [])


__all__ = ["seen_as"]
