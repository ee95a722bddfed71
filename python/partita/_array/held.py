"""What a rank holds of an array: its buffers, their layout, and where they came from."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._errors import LayoutError
from partita._memory import bfloat
from partita._partita import Block, Cyclic, Layout, Unstructured, Whole, cut_dim

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from partita._array.array import Array
    from partita._partita import BoundPlan, Piece, Pieces
    from partita._team.team import Team

Local = np.ndarray[Any, Any]


class Rows(NamedTuple):
    """Where an array whose parts are no boxes is computed with."""

    layout: Layout
    buffers: Sequence[Local]


class Held:
    """This rank's buffers of an array, its layout and its team."""

    def __init__(
        self,
        buffers: Sequence[Local],
        layout: Layout | Callable[[], Layout],
        team: Team,
        dtype: Any,
        reasons: Sequence[str] | None = None,
    ) -> None:
        self.buffers = list(buffers)
        # Of an array that every rank has whole, in order, few ask for the layout: it is made then.
        self._layout = layout
        self._is_whole: bool | None = None if isinstance(layout, Layout) else True
        self._is_everywhere = self._is_whole
        self.team = team
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.exchange: BoundPlan | None = None
        # Why each buffer is a copy; no reason where it shares its producer's memory.
        self.reasons = ["it was made here"] * len(self.buffers) if reasons is None else reasons
        self.rows: Rows | None = None
        # How many writes, and direct ones, there had been when the buffers were brought up to date.
        self.n_seen_writes = (0, 0)
        self.keep: Any = None  # the producer, which must outlive its memory
        # What an import brought that a layout cannot say, to be handed on as it came.
        self.imported: Any = None
        self.halo_layout: Layout | None = None
        self.boundary: Sequence[tuple[int, int]] = ()

    @property
    def layout(self) -> Layout:
        """The layout: which rank holds which elements."""
        if not isinstance(self._layout, Layout):
            self._layout = self._layout()
        return self._layout

    @property
    def is_whole(self) -> bool:
        """Whether this rank has the whole array in one buffer."""
        if self._is_whole is None:
            self._is_whole = _is_whole(self.layout, self.team.rank) and len(self.buffers) == 1
        return self._is_whole

    @property
    def is_everywhere(self) -> bool:
        """Whether every rank has the whole array in one buffer; all ranks say the same."""
        if self._is_everywhere is None:
            layout = self.layout
            self._is_everywhere = len(layout.ranks) == self.team.size and all(
                layout.n_buffers(rank) == 1 and _is_whole(layout, rank) for rank in layout.ranks
            )
        return self._is_everywhere


def is_everywhere(layout: Layout, n_ranks: int) -> bool:
    """Whether every rank of a team has the whole array, in its order."""
    is_whole = n_ranks == 1 or (
        len(layout.ranks) == n_ranks
        and all(
            layout.local_shape(rank) == layout.shape and _owns_all_it_holds(layout, rank)
            for rank in layout.ranks
        )
    )
    return is_whole and not _is_in_other_order(layout)


def _owns_all_it_holds(layout: Layout, rank: int) -> bool:
    """Whether nothing is a halo: that may be old, and begin anywhere where it is periodic."""
    return layout.n_owned(rank) == layout.n_held(rank)


def _is_in_other_order(layout: Layout) -> bool:
    """Whether one list of indices says in which order a dimension lies that is not cut."""
    lists = [one.indices for one in layout.maps or () if isinstance(one, Unstructured)]
    return any(not np.array_equal(one[0], np.arange(len(one[0]))) for one in lists if len(one) == 1)


def everywhere(shape: Sequence[int], n_ranks: int) -> Layout:
    """The whole array on every rank."""
    return Layout(shape, [Whole() for _ in shape], grid=(*(1 for _ in shape), n_ranks))


def _is_whole(layout: Layout, rank: int) -> bool:
    # Pieces may be as many as elements: they are counted before one is looked at.
    pieces: Pieces | list[Piece] = layout.pieces(rank) if rank in layout.ranks else []
    if layout.partial or len(pieces) == 0 or not _owns_all_it_holds(layout, rank):
        return False
    if len(pieces) > 1:
        # Blocks in turn for one rank alone lie one behind the other.
        in_order = all(isinstance(one, Block | Cyclic | Whole) for one in layout.maps or [None])
        return in_order and tuple(layout.local_shape(rank)) == tuple(layout.shape)
    return pieces[0].shape == layout.shape and not any(pieces[0].start)


def of_lazy(array: Array) -> Held:
    """What a rank holds of an array that was computed here."""
    team = array._rank.team
    memory: Any
    memory, offset, shape, strides, boxes = array._here()
    dtype, asked = array.dtype, array._asked
    if asked is None and team.size == 1 and dtype.kind != "V":
        own = np.ndarray(shape, dtype, memory, offset, strides)
        return Held([own], lambda: default_layout(own.shape, team), team, dtype)
    is_there = asked is not None and (boxes is None or boxes == _boxes(asked, team))
    layout = asked if asked is not None and is_there else _layout(array.shape, team, boxes)
    if 0 in shape and not layout.partial and team.rank in layout.ranks:
        # Where nothing lies, the layout says along which dimensions.
        shape = list(layout.local_shape(team.rank))
    stored = np.ndarray(tuple(shape), bfloat.storage(dtype), memory, offset, strides)
    return Held([bfloat.as_numbers(stored, str(dtype))], layout, team, stored.dtype)


def _layout(shape: Sequence[int], team: Team, boxes: Any) -> Layout:
    """The layout of an array of which every rank owns a box, or all."""
    default = default_layout(shape, team)
    if team.size == 1:
        return default
    if boxes is None:
        return Layout(shape, [Whole() for _ in shape], grid=(team.size,))
    if boxes == _boxes(default, team):
        return default
    for maps, grid in _guesses(shape, boxes):
        with suppress(LayoutError):
            layout = Layout(shape, ", ".join(maps) + " @ " + "x".join(map(str, grid)))
            # Empty boxes of other ranks may suggest a grid of more ranks than there are.
            if len(layout.ranks) == team.size and boxes == _boxes(layout, team):
                return layout
    return Layout.from_boxes(shape, [[(start, sizes)] for start, sizes in boxes])


def _guesses(shape: Sequence[int], boxes: Any) -> Iterator[tuple[list[str], list[int]]]:
    """Maps that may say where boxes are, the shortest first."""
    sides = [
        sorted({(start[dim], sizes[dim]) for start, sizes in boxes}) for dim in range(len(shape))
    ]
    grid = [len(one) for one in sides]
    if len(grid) == 1 or sum(n > 1 for n in grid) == 1:
        # Ranks without elements may all look the same.
        grid = [len(boxes) if n > 1 or (len(grid) == 1) else 1 for n in grid]
    for word in ("block(last)", "block"):
        yield ["*" if n == 1 else word for n in grid], grid
    yield [_sizes(one) for one in sides], grid


def _sizes(sides: list[tuple[int, int]]) -> str:
    return "*" if len(sides) == 1 else f"block({','.join(str(size) for _, size in sides)})"


def _boxes(layout: Layout, team: Team) -> list[tuple[list[int], list[int]]]:
    return [_box(layout, rank) for rank in range(team.size)]


def _box(layout: Layout, rank: int) -> tuple[list[int], list[int]]:
    for piece in layout.pieces(rank) if rank in layout.ranks else ():
        if 0 not in piece.owned_shape:
            return list(piece.owned_start), list(piece.owned_shape)
    # A box without elements may stand anywhere.
    return [0] * layout.ndim, [0] * layout.ndim


def default_layout(shape: Sequence[int], team: Team) -> Layout:
    """One dimension over all ranks, extra entries to the last: rows, if there are enough."""
    if len(shape) == 0:
        return Layout((), [], grid=(team.size,))
    cut = cut_dim(shape, team.size)
    maps = [Block(rule="last") if dim == cut else Whole() for dim in range(len(shape))]
    # A grid of fewer axes than maps would give its first ones to the maps that cut.
    n_axes = len(shape) if cut else 1
    grid = [team.size if dim == cut else 1 for dim in range(n_axes)]
    return Layout(shape, maps, grid=grid)
