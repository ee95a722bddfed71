"""Shapes that are given to arrays: `reshape`, and `a.shape = s` and `a.resize(s)` in place.

>>> import partita as pt
>>> a = pt.arange(6)
>>> a.shape = 2, -1
>>> a.shape
(2, 3)
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from partita._functions.creation import sizes_of

if TYPE_CHECKING:
    from partita._array.array import Array


def sizes_for(array: Array, shape: Any) -> tuple[int, ...]:
    """The sizes that a shape means for an array; -1 is what is left."""
    wanted = list(sizes_of(shape))
    n_elements = math.prod(array.shape)
    if -1 in wanted:
        at = wanted.index(-1)
        rest = math.prod(n for number, n in enumerate(wanted) if number != at)
        if rest == 0:
            message = f"the shape {array.shape} cannot become {shape}: any size fits beside 0"
            raise ValueError(f"{message}; name it instead of -1")
        wanted[at] = n_elements // rest
    if any(n < 0 for n in wanted) or math.prod(wanted) != n_elements:
        message = f"the shape {array.shape} cannot become {shape}; use as many elements"
        raise ValueError(message)
    return tuple(wanted)


def set_shape(array: Array, shape: Any) -> None:
    """Let an array show its elements in another shape from now on; nothing is copied."""
    wanted = sizes_for(array, shape)
    if wanted == array.shape:
        return
    if _has_memory_of_its_own_order(array) or not array._set_shape(wanted):
        message = (
            f"the shape {array.shape} cannot become {wanted} in place, which needs a copy; use "
            f"a = a.reshape({wanted})"
        )
        raise AttributeError(message, name="shape", obj=array)


def _has_memory_of_its_own_order(array: Array) -> bool:
    """Whether its `local` is more than elements in order: another shape has no words for halos."""
    if array._is_lazy and not array._is_held:
        return False
    layout = array.layout
    if layout.partial or len(layout.ranks) != array.team.size:
        return True
    for rank in layout.ranks:
        pieces = layout.pieces(rank)
        if len(pieces) > 1 or any(piece.shape != piece.owned_shape for piece in pieces):
            return True
    return False


def resize(array: Array, *shape: Any, refcheck: bool = True) -> None:
    """Give an array another shape in place, of as many elements as it has."""
    wanted = sizes_of(shape[0] if len(shape) == 1 else shape)
    if math.prod(wanted) != array.size:
        message = (
            f"{array.size} elements cannot become {math.prod(wanted)} in place, since views may "
            f"look at them; use a = partita.resize(a, {wanted}), or concatenate"
        )
        raise ValueError(message)
    set_shape(array, wanted)
