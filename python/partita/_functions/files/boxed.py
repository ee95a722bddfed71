"""Arrays of other libraries' files, which are read and written box by box."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.boxes import Box, box_of, is_one_box_each
from partita._functions.files.parts import rows_of
from partita._functions.placing import layout_of_new
from partita._team.together import together

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partita._partita import Layout
    from partita._team.team import Team

Local = np.ndarray[Any, Any]


def slices_of(box: Box) -> tuple[slice, ...]:
    """A box as an index."""
    return tuple(slice(at, at + size) for at, size in zip(*box, strict=True))


def read_boxes(
    shape: Sequence[int],
    layout: Layout | str | None,
    team: Team,
    read: Callable[[tuple[slice, ...]], Any],
) -> Array:
    """An array of which each rank reads its box. Collective."""
    wanted = layout_of_new(tuple(shape), layout, team)
    is_simple = is_one_box_each(wanted, team.size)
    there = wanted if is_simple else rows_of(shape, team.size)
    index = slices_of(box_of(there, team.rank))

    def read_own() -> Local:
        found = np.asarray(read(index))
        if found.dtype.kind not in "biufcmM":
            raise TypeError(f"elements of {found.dtype} are no numbers; read them otherwise")
        return np.array(found, found.dtype.newbyteorder("="), order="C", copy=None)

    local = together(team, read_own)
    made = Array([local], there, team, local.dtype)
    return made if is_simple else made.redistribute(wanted)


def is_divided(layout: Layout, n_ranks: int) -> bool:
    """Whether every rank has one box, and no element is in two of them."""
    if not is_one_box_each(layout, n_ranks):
        return False
    n_elements = int(np.prod(layout.shape, dtype=object))
    return sum(layout.n_held(rank) for rank in range(n_ranks)) == n_elements
