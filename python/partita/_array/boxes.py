"""Layouts of which every rank of a team holds one box, without a halo: what plain code can fill.

>>> from partita import Layout
>>> is_one_box_each(Layout((8, 3), "block, * @ 2x1"), 2)
True
>>> is_one_box_each(Layout((8, 3), "cyclic, * @ 2x1"), 2)
False
>>> box_of(Layout((8, 3), "block, * @ 2x1"), 1)
((4, 0), (4, 3))
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita._partita import Block, Layout, Unstructured, Whole

if TYPE_CHECKING:
    from collections.abc import Sequence

Box = tuple[tuple[int, ...], tuple[int, ...]]


def is_one_box_each(layout: Layout, n_ranks: int) -> bool:
    """Whether every rank holds one box in one buffer and nothing of its neighbours."""
    if layout.partial or list(layout.ranks) != list(range(n_ranks)):
        return False
    if layout.maps is not None:
        return all(isinstance(one, Whole) or _is_plain_block(one) for one in layout.maps)
    return all(_is_one_box(layout, rank) for rank in range(n_ranks))


def _is_plain_block(given: object) -> bool:
    return isinstance(given, Block) and given.halo == (0, 0)


def _is_one_box(layout: Layout, rank: int) -> bool:
    pieces = layout.pieces(rank)
    return layout.n_buffers(rank) == len(pieces) == 1 and pieces[0].shape == pieces[0].owned_shape


def box_of(layout: Layout, rank: int) -> Box:
    """Where a rank's box begins and its shape, of a layout of one box each."""
    for piece in layout.pieces(rank):
        return tuple(piece.start), tuple(piece.shape)
    return (0,) * layout.ndim, tuple(layout.local_shape(rank))


def is_whole_along(layout: Layout, axis: int, n_ranks: int) -> bool:
    """Whether every rank's part has all entries along an axis, at their places."""
    if layout.partial or list(layout.ranks) != list(range(n_ranks)):
        return False
    maps = layout.maps
    if maps is None:
        boxes = [box_of(layout, rank)[1] for rank in range(n_ranks)]
        is_there = all(0 in box or box[axis] == layout.shape[axis] for box in boxes)
        return is_one_box_each(layout, n_ranks) and is_there
    if any(isinstance(one, Block) and not _is_plain_block(one) for one in maps):
        return False
    # One rank has everything; only lists may bring it out of order.
    is_all = n_ranks == 1 and not isinstance(maps[axis], Unstructured)
    return is_all or isinstance(maps[axis], Whole)


def resized(layout: Layout, axis: int, size: int) -> Layout:
    """The same layout for another extent along an axis that is whole on every rank."""
    shape = _with(layout.shape, axis, size)
    if layout.maps is not None:
        maps = list(layout.maps)
        if getattr(maps[axis], "sizes", None) is not None:
            maps[axis] = Whole()
        return Layout(shape, maps, grid=layout.grid_shape)
    # A box without elements stays so, whichever of its sides is 0.
    boxes = [
        [(start, (0,) * layout.ndim if 0 in sizes else _with(sizes, axis, size))]
        for start, sizes in (box_of(layout, rank) for rank in range(layout.n_ranks))
    ]
    return Layout.from_boxes(shape, boxes)


def _with(sizes: Sequence[int], axis: int, size: int) -> tuple[int, ...]:
    return (*sizes[:axis], size, *sizes[axis + 1 :])


def slabs(shape: Sequence[int], whole: Sequence[int], n_ranks: int) -> Layout:
    """Blocks along one dimension that is none of `whole`: the first with enough entries."""
    free = [dim for dim in range(len(shape)) if dim not in whole]
    enough = [dim for dim in free if shape[dim] >= n_ranks]
    cut = enough[0] if enough else max(free, key=lambda dim: shape[dim])
    maps = [Block(rule="last") if dim == cut else Whole() for dim in range(len(shape))]
    return Layout(shape, maps, grid=[n_ranks if dim == cut else 1 for dim in range(len(shape))])
