"""Makes pickled objects again: one function per class, with every argument by place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita import _partita

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._types import Box, Halo, Map


def block(
    rule: str | None, sizes: Sequence[int] | None, halo: Halo, periodic: bool
) -> _partita.Block:
    """A block map."""
    return _partita.Block(rule, sizes=sizes, halo=halo, periodic=periodic)


def unstructured(indices: Sequence[Any], one_to_one: bool) -> _partita.Unstructured:
    """A map of lists."""
    return _partita.Unstructured(indices, one_to_one=one_to_one)


def layout(
    shape: Sequence[int],
    maps: Sequence[Map],
    grid: Sequence[int],
    ranks: Sequence[int],
    partial: Sequence[int],
) -> _partita.Layout:
    """A layout of maps on a grid."""
    return _partita.Layout(shape, maps, grid=grid, ranks=ranks, partial=partial)


def boxes(
    shape: Sequence[int], pieces: Sequence[Sequence[Box]], ranks: Sequence[int]
) -> _partita.Layout:
    """A layout of boxes."""
    return _partita.Layout.from_boxes(shape, pieces, ranks=ranks)


def plan(
    source: _partita.Layout, target: _partita.Layout, dtype: str, is_adjoint: bool
) -> _partita.Plan:
    """A plan, or the adjoint of one."""
    forward = _partita.plan(source, target, dtype)
    return forward.adjoint() if is_adjoint else forward
