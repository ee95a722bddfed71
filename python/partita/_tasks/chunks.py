"""Layouts that are grids of chunks: dense boxes that tile the array, as `dask.array` knows them.

>>> layout = layout_of_chunks([(3, 2), (4,)])
>>> chunk_grid(layout)
ChunkGrid(lengths=((3, 2), (4,)), slots=((0, 0), (1, 0)))
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, product
from math import prod
from typing import TYPE_CHECKING

from partita._partita import Block, Layout, Whole

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class ChunkGrid:
    """Lengths of the chunks per dimension, and (rank, buffer) of each in C order."""

    lengths: tuple[tuple[int, ...], ...]
    slots: tuple[tuple[int, int], ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of chunks per dimension."""
        return tuple(len(lengths) for lengths in self.lengths)

    def boxes(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """Start and shape of each chunk in C order."""
        starts = [[0, *accumulate(lengths)][:-1] for lengths in self.lengths]
        return list(zip(product(*starts), product(*self.lengths), strict=True))


def layout_of_chunks(chunks: Sequence[Sequence[int]]) -> Layout:
    """The layout of a grid of chunks, given their lengths per dimension."""
    maps = [Block(sizes=[int(length) for length in lengths]) for lengths in chunks]
    shape = [sum(lengths) for lengths in chunks]
    return Layout(shape, maps, grid=[len(lengths) for lengths in chunks])


def chunk_grid(layout: Layout) -> ChunkGrid | None:
    """The grid of chunks that a layout is; None if it is something else."""
    if layout.maps is None:
        return _grid_of_boxes(layout)
    if layout.partial or any(not _is_plain(one) for one in layout.maps):
        return None
    counts = _counts(layout)
    if prod(counts) != layout.n_ranks:
        return None
    lengths = []
    for dim, count in enumerate(counts):
        stride = prod(counts[dim + 1 :])
        ranks = [layout.ranks[k * stride] for k in range(count)]
        lengths.append(tuple(layout.local_shape(rank)[dim] for rank in ranks))
    return ChunkGrid(tuple(lengths), tuple((rank, 0) for rank in layout.ranks))


def _is_plain(one: object) -> bool:
    """Whether a map cuts into blocks without halos."""
    if isinstance(one, Block):
        return all(width in (0, (0, 0)) for width in one.halo)
    return isinstance(one, Whole)


def _counts(layout: Layout) -> list[int]:
    """Pieces per dimension of a layout of maps."""
    maps = layout.maps or ()
    if len(layout.grid_shape) == layout.ndim:
        lengths = zip(maps, layout.grid_shape, strict=True)
        return [1 if isinstance(one, Whole) else length for one, length in lengths]
    axes = iter(axis for n, axis in enumerate(layout.grid_shape) if n not in layout.partial)
    return [1 if isinstance(one, Whole) else next(axes) for one in maps]


def _grid_of_boxes(layout: Layout) -> ChunkGrid | None:
    found = {}
    for rank in layout.ranks:
        for piece in layout.pieces(rank):
            if piece.shape != piece.owned_shape:
                return None
            found[piece.start] = (piece.shape, (rank, piece.buffer))
    n_pieces = sum(layout.n_buffers(rank) for rank in layout.ranks)
    if n_pieces == 0:
        return None
    starts = [sorted({start[dim] for start in found}) for dim in range(layout.ndim)]
    ends = zip(starts, layout.shape, strict=True)
    lengths = tuple(
        tuple(b - a for a, b in zip(cuts, [*cuts[1:], extent], strict=True))
        for cuts, extent in ends
    )
    # Boxes with equal starts, gaps or overlaps give other numbers or other shapes.
    if n_pieces != len(found) or prod(map(len, lengths)) != n_pieces:
        return None
    slots = []
    for start, shape in zip(product(*starts), product(*lengths), strict=True):
        if start not in found or found[start][0] != shape:
            return None
        slots.append(found[start][1])
    return ChunkGrid(lengths, tuple(slots))


def chunk_layout(layout: Layout) -> Layout:
    """The same layout if it is a grid of chunks, else the nearest one that is."""
    if chunk_grid(layout) is not None:
        return layout
    if layout.maps is None:
        longest = max(range(layout.ndim), key=layout.shape.__getitem__, default=0)
        maps = [Block() if dim == longest else Whole() for dim in range(layout.ndim)]
        grid = [layout.n_ranks if dim == longest else 1 for dim in range(layout.ndim)]
        return Layout(layout.shape, maps, grid=grid, ranks=list(layout.ranks)[: prod(grid)])
    counts = _counts(layout)
    maps = [_without_halo(one) for one in layout.maps]
    ranks = list(layout.ranks)[: prod(counts)]
    return Layout(layout.shape, maps, grid=counts, ranks=ranks)


def _without_halo(one: object) -> Block | Whole:
    if isinstance(one, Whole):
        return one
    if not isinstance(one, Block):
        return Block()
    return Block(one.rule) if one.sizes is None else Block(sizes=one.sizes)
