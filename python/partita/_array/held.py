"""What a rank holds of an array: its buffers, their layout, and where they came from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._memory import bfloat
from partita._partita import Block, Layout, Whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._array.array import Array
    from partita._partita import Plan
    from partita._team.team import Team

Local = np.ndarray[Any, Any]


class Held:
    """This rank's buffers of an array, its layout and its team."""

    def __init__(
        self,
        buffers: Sequence[Local],
        layout: Layout,
        team: Team,
        dtype: Any,
        reasons: Sequence[str] | None = None,
    ) -> None:
        self.buffers = list(buffers)
        self.layout = layout
        self.team = team
        self.dtype: np.dtype[Any] = np.dtype(dtype)
        self.exchange: Plan | None = None
        self.carried: list[Local] = []
        # Why each buffer is a copy; no reason where it shares its producer's memory.
        self.reasons = ["it was made here"] * len(self.buffers) if reasons is None else reasons
        self.keep: Any = None  # the producer, which must outlive its memory
        # What an import brought that a layout cannot say, to be handed on as it came.
        self.imported: Any = None
        self.halo_layout: Layout | None = None
        self.boundary: Sequence[tuple[int, int]] = ()


def of_lazy(array: Array) -> Held:
    """What a rank holds of an array that was computed here."""
    team = array._rank.team
    memory: Any
    memory, offset, shape, strides, boxes = array._here()
    layout = _layout(array.shape, team, boxes)
    dtype = array.dtype
    stored = np.ndarray(tuple(shape), bfloat.storage(dtype), memory, offset, strides)
    return Held([bfloat.as_numbers(stored, str(dtype))], layout, team, stored.dtype)


def _layout(shape: Sequence[int], team: Team, boxes: Any) -> Layout:
    """The layout of an array of which every rank owns a box, or all."""
    default = default_layout(shape, team)
    if team.size == 1:
        return default
    if boxes is None:
        return Layout(shape, [Whole() for _ in shape], grid=(team.size,))
    pieces = (default.pieces(rank)[0] for rank in range(team.size))
    if boxes == [(list(one.start), list(one.shape)) for one in pieces]:
        return default
    return Layout.from_boxes(shape, [[(start, sizes)] for start, sizes in boxes])


def default_layout(shape: Sequence[int], team: Team) -> Layout:
    """Rows over all ranks, extra ones to the last."""
    if len(shape) == 0:
        return Layout((), [], grid=(team.size,))
    return Layout(shape, [Block(rule="last"), *(Whole() for _ in shape[1:])], grid=(team.size,))
