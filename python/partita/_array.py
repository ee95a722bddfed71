"""Arrays spread over a team: this rank's buffers, a layout, and what moves them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._errors import LayoutError
from partita._partita import Layout, Whole, plan
from partita._run import apply, local_shapes
from partita._team import Team, world

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._partita import Piece, Plan

Local = np.ndarray[Any, Any]


class Array:
    """An array of which every rank of a team holds its part."""

    def __init__(self, buffers: Sequence[Local], layout: Layout, team: Team, dtype: Any) -> None:
        self._buffers = list(buffers)
        self._layout = layout
        self._team = team
        self._dtype: np.dtype[Any] = np.dtype(dtype)
        self._exchange: Plan | None = None

    @property
    def layout(self) -> Layout:
        """Which rank holds what."""
        return self._layout

    @property
    def team(self) -> Team:
        """The ranks that hold it."""
        return self._team

    @property
    def shape(self) -> tuple[int, ...]:
        """Extents of the whole array."""
        return self._layout.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type."""
        return self._dtype

    @property
    def local(self) -> Local:
        """This rank's buffer, halo included; the memory itself."""
        if len(self._buffers) != 1:
            message = f"this rank has {len(self._buffers)} buffers; use .pieces"
            raise LayoutError(message, "buffer-count")
        return self._buffers[0]

    @property
    def owned(self) -> Local:
        """This rank's buffer without its halo; the memory itself."""
        buffer = self.local
        pieces = self._layout.pieces(self._team.rank)
        own = [piece for piece in pieces if all(piece.owned_shape)]
        if len(pieces) != 1 and sum(int(np.prod(p.owned_shape)) for p in own) == buffer.size:
            return buffer
        if len(own) > 1:
            message = "what this rank owns is no single box of its buffer; use .pieces"
            raise LayoutError(message, "owned-not-a-box")
        if not own:
            return buffer[tuple(slice(0, 0) for _ in buffer.shape)] if buffer.ndim else buffer
        (piece,) = own
        starts = [
            at + first - start
            for at, first, start in zip(
                piece.local_start, piece.owned_start, piece.start, strict=True
            )
        ]
        cut = zip(starts, piece.owned_shape, strict=True)
        return buffer[tuple(slice(start, start + length) for start, length in cut)]

    @property
    def pieces(self) -> list[tuple[Piece, Local]]:
        """One (piece, buffer) pair per piece that this rank holds."""
        pairs = []
        for piece in self._layout.pieces(self._team.rank):
            cut = zip(piece.local_start, piece.shape, strict=True)
            part = tuple(slice(start, start + length) for start, length in cut)
            pairs.append((piece, self._buffers[piece.buffer][part]))
        return pairs

    def redistribute(self, layout: Layout, *, out: Local | None = None) -> Array:
        """The same array in another layout. Collective."""
        moved = apply(plan(self._layout, layout, self._dtype.name), self._buffers, self._team, out)
        return Array(_listed(moved), layout, self._team, self._dtype)

    def exchange_halo(self) -> Array:
        """Fill what this rank holds beyond what it owns with the owners' values. Collective."""
        if self._exchange is None:
            self._exchange = plan(self._layout, self._layout, self._dtype.name)
        self._team.native.run_in_place(self._exchange, self._buffers)
        return self

    def gather(self, root: int | None = None) -> Local | None:
        """The whole array on every rank, or on one; None elsewhere. Collective."""
        whole = [Whole() for _ in self.shape]
        if root is None:
            target = Layout(self.shape, whole, grid=(self._team.size,))
        else:
            target = Layout(self.shape, whole, ranks=[root])
        moved = apply(plan(self._layout, target, self._dtype.name), self._buffers, self._team, None)
        listed = _listed(moved)
        return listed[0] if listed else None

    def __repr__(self) -> str:
        return f"<Array {self.shape} {self._dtype}, {self._layout.notation}>"


def _listed(moved: Any) -> list[Local]:
    if moved is None:
        return []
    return moved if isinstance(moved, list) else [moved]


def from_local(local: Any, layout: Layout, team: Team | None = None) -> Array:
    """An array from this rank's buffer, without a copy; a list where it has several."""
    team = team or world()
    buffers = [np.asarray(one) for one in (local if isinstance(local, list | tuple) else [local])]
    wanted = local_shapes(layout, team.rank)
    given = [buffer.shape for buffer in buffers]
    if local is None:
        buffers, given = [], []
    if given != wanted:
        message = f"local shapes {given} on rank {team.rank}, the layout says {wanted}; use those"
        team.native.report(message)
        raise LayoutError(message, "buffer-shape")
    dtype = buffers[0].dtype if buffers else np.dtype("float64")
    return Array(buffers, layout, team, dtype)
