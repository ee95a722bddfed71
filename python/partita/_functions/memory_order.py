"""The order in which elements are read into another shape: `order=` of `reshape` and `ravel`.

Results of operations lie in C order. Only views that have their dimensions in another order, such
as `a.T`, are read otherwise, where `order=` is 'A' or 'K'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita._errors import LayoutError
from partita._functions.inspection import in_c_order

if TYPE_CHECKING:
    from partita._array.array import Array


def reads_backwards(array: Array, order: Any) -> bool:
    """Whether the first index is the fastest where an array is read in an order."""
    in_c_order(order)
    if order == "K":
        raise ValueError("order 'K' is none of a new shape; use 'A', or ravel(order='K')")
    return order == "A" and not array._is_dense and array.T._is_dense


def as_read(array: Array, order: Any) -> Array:
    """A view whose elements in C order are those of an array in an order."""
    if order == "K":
        return array if array._is_dense else array._permute(_as_in_memory(array))
    return array.T if reads_backwards(array, order) else array


def _as_in_memory(array: Array) -> list[int]:
    """The axes of a view, those first whose neighbours lie farthest apart."""
    loose = [at for at, size in enumerate(array.shape) if size > 1]
    corner = array[tuple(slice(None) if at in loose else slice(0, 1) for at in range(array.ndim))]
    found: list[int] = []
    while len(loose) > 1:
        nearest = next((at for at in loose if _lies_before(corner, at, found)), None)
        if nearest is None:
            message = f"order 'K' of a view of shape {array.shape} that leaves out elements"
            raise LayoutError(f"{message}; use 'C', or a.copy() first", "order-unknown")
        loose.remove(nearest)
        found.insert(0, nearest)
    found = loose + found
    return [*(at for at in range(array.ndim) if at not in found), *found]


def _lies_before(array: Array, at: int, found: list[int]) -> bool:
    """Whether the entries of an axis lie as far apart as those found after it take up."""
    kept = [at, *found]
    key = tuple(slice(None) if one in kept else slice(0, 1) for one in range(array.ndim))
    others = [one for one in range(array.ndim) if one not in kept]
    return array[key]._permute([*others, *kept])._is_dense
