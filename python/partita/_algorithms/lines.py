"""What is done to each line along an axis, on the rank that has the line whole.

>>> import partita as pt
>>> pt.sort(pt.asarray([[3, 1], [2, 4]]), axis=0).tolist()
[[2, 1], [3, 4]]
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._algorithms.rows import from_here, is_here
from partita._array.array import Array
from partita._array.parts import in_order
from partita._partita import Block, Layout, Whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Local = np.ndarray[Any, Any]


def by_lines(
    array: Array, axis: int, function: Callable[[Local], Local], what: str
) -> Array | None:
    """An array of what a function makes of lines; None if there are fewer lines than ranks.

    The function gets a block whose last axis is the line, and may change its extent and type.
    Where lines are cut they are moved, and the result lies where they are then. `what` it does
    with which options all ranks say alike.
    """
    team = array.team
    if is_here(array):
        return from_here(_applied(array.local, axis, function), team)
    team.say(f"{what} along axis {axis}")
    if not _has_whole_lines(array, axis):
        cut = _cut_for_lines(array.shape, axis, team.size)
        if cut is None:
            return _in_a_list(array, axis, function, what)
        array = array.redistribute(cut)
    layout = array.layout
    made = np.ascontiguousarray(_applied(array.local, axis, function))
    shape = list(array.shape)
    shape[axis] = made.shape[axis]
    if tuple(shape) != array.shape:
        assert layout.maps is not None
        layout = Layout(shape, layout.maps, grid=layout.grid_shape)
    return Array([made], layout, team, made.dtype)


@np.errstate(all="ignore")
def _applied(local: Local, axis: int, function: Callable[[Local], Local]) -> Local:
    return np.moveaxis(function(np.moveaxis(local, axis, -1)), -1, axis)


def _has_whole_lines(array: Array, axis: int) -> bool:
    """Whether every rank has a part of the lines, and these whole."""
    layout = array.layout
    maps = layout.maps
    if maps is None or layout.partial or tuple(layout.ranks) != tuple(range(array.team.size)):
        return False
    # Lines that several ranks have would be worked on by each of them.
    n_held = sum(layout.n_held(rank) for rank in layout.ranks)
    return isinstance(maps[axis], Whole) and n_held == array.size


def _cut_for_lines(shape: Sequence[int], axis: int, n_ranks: int) -> Layout | None:
    """A layout with whole lines on every rank, cut along one other axis."""
    for cut, size in enumerate(shape):
        if cut != axis and size >= n_ranks:
            maps = [Block() if at == cut else Whole() for at in range(len(shape))]
            grid = [n_ranks if at == cut else 1 for at in range(len(shape))]
            return Layout(shape, maps, grid=grid)
    return None


def _in_a_list(
    array: Array, axis: int, function: Callable[[Local], Local], what: str
) -> Array | None:
    """As `by_lines` where no axis has enough entries, but several together have."""
    others = [size for at, size in enumerate(array.shape) if at != axis]
    if math.prod(others) < array.team.size:
        return None
    order = [at for at in range(array.ndim) if at != axis]
    listed = array._permute([*order, axis]).reshape(math.prod(others), array.shape[axis])
    made = by_lines(listed, 1, function, what)
    assert made is not None
    back = [*range(axis), array.ndim - 1, *range(axis, array.ndim - 1)]
    return in_order(made.reshape(*others, made.shape[1])._permute(back))
