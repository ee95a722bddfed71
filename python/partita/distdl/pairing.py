"""Who broadcasts to whom: the Broadcast Rules as arithmetic on two grids.

A source grid broadcasts to a target grid if, lengths compared from the right, each of its axes is
as long as the target's or 1. Members whose coordinates agree on the axes of equal length have the
same *colour*; each source member feeds the target members of its colour.

>>> rule = pair((1, 3, 1), (2, 3, 2))
>>> rule.n_colours, rule.source_members(1), rule.target_members(1)
(3, [1], [2, 3, 8, 9])

A reversal flag reverses an index before it is compared, so member (i, j) meets member (j, i); the
reversal comes before the padding with ones.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from partita._args import flag
from partita._partita import number_of
from partita.distdl.errors import BroadcastRuleError

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Side:
    """One of the two grids: its shape, and whether its indices are read backwards."""

    shape: Shape
    is_reversed: bool

    @property
    def read_shape(self) -> Shape:
        """The shape as the rules see it."""
        return self.shape[::-1] if self.is_reversed else self.shape

    def read_indices(self) -> list[Shape]:
        """The index of every member, in C order of the grid, as the rules see it."""
        indices = itertools.product(*(range(length) for length in self.shape))
        return [index[::-1] if self.is_reversed else index for index in indices]


@dataclass(frozen=True)
class Pairing:
    """The colours of two grids' members."""

    n_colours: int
    source_colours: tuple[int, ...]
    target_colours: tuple[int, ...]

    def source_members(self, colour: int) -> list[int]:
        """Ranks of the source grid with this colour: always one."""
        return [rank for rank, own in enumerate(self.source_colours) if own == colour]

    def target_members(self, colour: int) -> list[int]:
        """Ranks of the target grid with this colour."""
        return [rank for rank, own in enumerate(self.target_colours) if own == colour]


def pair(
    source: Sequence[int],
    target: Sequence[int],
    *,
    reverse_source: bool = False,
    reverse_target: bool = False,
) -> Pairing:
    """The pairing of two grids by the Broadcast Rules."""
    few = Side(tuple(source), flag(reverse_source, "transpose"))
    many = Side(tuple(target), flag(reverse_target, "transpose"))
    _check_ndim(few, many)
    padding = (1,) * (len(many.shape) - len(few.shape))
    lengths = padding + few.read_shape
    _check_lengths(few, many, lengths)
    axes = [axis for axis, length in enumerate(lengths) if length == many.read_shape[axis]]
    shape = [lengths[axis] for axis in axes]

    def colour(index: Shape) -> int:
        return number_of([index[axis] for axis in axes], shape)

    start = (0,) * len(padding)
    sources = tuple(colour(start + index) for index in few.read_indices())
    targets = tuple(colour(index) for index in many.read_indices())
    return Pairing(prod(shape), sources, targets)


def _shown(side: Side) -> str:
    written = "x".join(map(str, side.shape)) or "()"
    return f"{written} (reversed)" if side.is_reversed else written


def _check_ndim(few: Side, many: Side) -> None:
    if len(few.shape) > len(many.shape):
        message = (
            f"no broadcast between {_shown(few)} and {_shown(many)}: the partition with single "
            f"copies has {len(few.shape)} dimensions, the one with many has {len(many.shape)}; "
            "give the first at most as many as the second"
        )
        raise BroadcastRuleError(message, "broadcast-ndim")


def _check_lengths(few: Side, many: Side, lengths: Shape) -> None:
    for axis, (length, wanted) in enumerate(zip(lengths, many.read_shape, strict=True)):
        if length not in (1, wanted):
            cure = "1" if wanted == 1 else f"1 or {wanted}"
            message = (
                f"no broadcast between {_shown(few)} and {_shown(many)}: dimension {axis} has "
                f"{length} workers with single copies and {wanted} with many; give the first {cure}"
            )
            raise BroadcastRuleError(message, "broadcast-shape")
