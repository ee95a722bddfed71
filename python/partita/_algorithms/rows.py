"""Elements in a row over the ranks of a team: rank 0 has the first, and so on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._array import enter
from partita._array.array import Array
from partita._array.held import default_layout
from partita._array.parts import array_of, cut_along

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partita._partita import Layout
    from partita._team.team import Team

Local = np.ndarray[Any, Any]

# Arrays that every rank has whole are worked on by each rank alone up to so many elements:
# exchanges would take longer.
FEW_ELEMENTS = 1 << 15


class Row(NamedTuple):
    """This rank's part of a row, how many elements every rank has, and whether it is a copy."""

    local: Local
    sizes: list[int]
    is_own: bool

    def first(self, rank: int) -> int:
        """The position of a rank's first element."""
        return sum(self.sizes[:rank])


def is_here(array: Array) -> bool:
    """Whether each rank works alone: it has the whole array, and others would not help."""
    team = array.team
    if team.size == 1:
        # Its rows may lie in an order of their own.
        return array._held.is_everywhere
    return array.size <= FEW_ELEMENTS and enter.is_everywhere(array.layout, team.size)


def sizes_of_row(n: int, team: Team) -> list[int]:
    """How many of `n` elements each rank has by default."""
    layout = default_layout((n,), team)
    return [layout.local_shape(rank)[0] for rank in range(team.size)]


def row_of(array: Array) -> Row:
    """A one-dimensional array as a row; moved if its elements do not lie in rank order."""
    sizes = _sizes_in_order(array.layout, array.team)
    is_moved = sizes is None
    if sizes is None:
        sizes = sizes_of_row(array.size, array.team)
        array = array.redistribute(default_layout(array.shape, array.team))
    local = np.ascontiguousarray(array.local).reshape(-1)
    return Row(local, sizes, is_moved)


def _sizes_in_order(layout: Layout, team: Team) -> list[int] | None:
    """How many elements each rank has, if they lie in rank order and on one rank each."""
    if layout.partial or tuple(layout.ranks) != tuple(range(team.size)):
        return None
    sizes: list[int] = []
    for rank in range(team.size):
        pieces = layout.pieces(rank)
        if layout.n_buffers(rank) != 1 or len(pieces) > 1:
            return None
        n_held = layout.n_held(rank)
        if n_held and (pieces[0].start[0] != sum(sizes) or n_held != layout.n_owned(rank)):
            return None
        sizes.append(n_held)
    return sizes if sum(sizes) == math.prod(layout.shape) else None


def same_rows(*arrays: Array) -> list[Local]:
    """This rank's parts of arrays of one shape, in a row each, where arrays are by default."""
    layout = default_layout((arrays[0].size,), arrays[0].team)
    flat = [one if one.ndim == 1 else one.reshape(-1) for one in arrays]
    moved = [one if one.layout == layout else one.redistribute(layout) for one in flat]
    return [np.ascontiguousarray(one.local) for one in moved]


def elements_of(array: Array) -> Local:
    """All elements in some order, each on one rank."""
    layout, team = array.layout, array.team
    ranks = range(team.size)
    is_once = (
        not layout.partial
        and tuple(layout.ranks) == tuple(ranks)
        and all(layout.n_buffers(rank) == 1 for rank in ranks)
        and sum(layout.n_held(rank) for rank in ranks) == array.size
    )
    if not is_once:
        array = array.redistribute(default_layout(array.shape, team))
    return array.local.reshape(-1)


def from_row(local: Local, sizes: Sequence[int], team: Team) -> Array:
    """The array of a row of which every rank has so many entries."""
    shape = (sum(sizes), *local.shape[1:])
    return array_of(np.ascontiguousarray(local), cut_along(shape, 0, team.size, sizes), team)


def from_here(local: Any, team: Team) -> Array:
    """The array that each rank has made alone, the same on all."""
    # In C order, so that other shapes of it are views.
    return enter.from_numpy(np.asarray(local, order="C"), team.arrays)


def mapped(array: Array, function: Callable[[Local], Local], dtype: Any) -> Array:
    """The array of what a function makes of this rank's elements, which lie in a row for it."""
    layout, team = array.layout, array.team
    is_plain = not layout.partial and all(layout.n_buffers(rank) == 1 for rank in layout.ranks)
    if not is_plain or tuple(layout.ranks) != tuple(range(team.size)):
        array = array.redistribute(default_layout(array.shape, team))
    local = array.local
    made = function(local.reshape(-1)).reshape(local.shape)
    return Array([made], array.layout, team, dtype)
