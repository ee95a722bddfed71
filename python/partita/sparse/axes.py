"""Who holds which rows of the dense operands that lie along the dimensions of a sparse tensor."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.enter import is_everywhere
from partita._array.held import everywhere
from partita._array.parts import alone, cut_along, part, slab_sizes
from partita._partita import Layout, Whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._team.team import Team
    from partita.sparse.slices import Slices

Local = np.ndarray[Any, Any]


def along(slices: Slices, dim: int, row: Sequence[int] = ()) -> Layout:
    """Return the layout of rows that lie as the slices do along a dimension.

    Ranks that hold the same part of the dimension hold the same rows.
    """
    n_ranks = int(np.prod(slices.grid))
    shape = (slices.shape[dim], *row)
    if slices.is_straight(dim):
        return everywhere(shape, n_ranks)
    ranks = np.moveaxis(np.array(slices.layout.ranks).reshape(slices.grid), dim, 0)
    side, rest = slices.grid[dim], n_ranks // slices.grid[dim]
    (by,) = slices.axes[dim].maps or ()
    grid = [side, *(1 for _ in row), *([rest] if rest > 1 else [])]
    order = ranks.reshape(-1).tolist()
    maps = [by, *(Whole() for _ in row)]
    if order == list(range(n_ranks)):
        return Layout(shape, maps, grid=grid)
    return Layout(shape, maps, grid=grid, ranks=order)


def result_along(slices: Slices, dim: int, row: Sequence[int] = ()) -> Layout:
    """Return where the rows of a product along a dimension are put.

    As the slices lie, if each has all that its rows are summed of; else blocks over all ranks.
    """
    if slices.counts[1 - dim] == 1:
        return along(slices, dim, row)
    return cut_along((slices.shape[dim], *row), 0, int(np.prod(slices.grid)))


def is_first(slices: Slices, rank: int) -> bool:
    """Whether a rank is the first of those that hold its slice: the one that gives it to sums."""
    return slices.owner(slices.slice_of(rank)) == rank


@lru_cache(maxsize=1024)
def rows_layout(layout: Layout, n_ranks: int) -> Layout | None:
    """Return who holds which rows, where ranks hold whole rows and nothing else; else none."""
    n = layout.shape[:1]
    if layout.partial or list(layout.ranks) != list(range(n_ranks)):
        return None
    # Rows of an array without rows may still be cut.
    if any(tuple(layout.local_shape(rank)[1:]) != layout.shape[1:] for rank in range(n_ranks)):
        return None
    if is_everywhere(layout, n_ranks):
        return everywhere(n, n_ranks)
    if any(layout.n_held(rank) != layout.n_owned(rank) for rank in range(n_ranks)):
        return None
    sizes = slab_sizes(layout, 0, n_ranks)
    if sizes is not None:
        return cut_along(n, 0, n_ranks, sizes)
    maps, grid = layout.maps, layout.grid_shape
    if maps is None or grid[0] != n_ranks or any(not isinstance(one, Whole) for one in maps[1:]):
        return None
    return Layout(n, maps[:1], grid=(n_ranks,))


# Made for every product.
_everywhere = lru_cache(maxsize=256)(everywhere)


def rows_here(operand: Any, team: Team) -> tuple[Local, Layout]:
    """Return this rank's rows of a dense operand, and who holds which. Collective.

    They are taken as they lie where every row is whole on a rank. Nobody may write to them.
    """
    n_ranks = team.size
    if not isinstance(operand, Array):
        return np.ascontiguousarray(operand), _everywhere(operand.shape[:1], n_ranks)
    if n_ranks == 1:
        return np.ascontiguousarray(alone(operand)), _everywhere(operand.shape[:1], 1)
    layout = rows_layout(operand.layout, n_ranks)
    if layout is not None:
        return np.ascontiguousarray(operand.local), layout
    local = part(operand, cut_along(operand.shape, 0, n_ranks))
    return np.ascontiguousarray(local), cut_along(operand.shape[:1], 0, n_ranks)


def rows_along(operand: Any, slices: Slices, dim: int, team: Team) -> Local:
    """Return the rows of a dense operand that this rank's slice has along a dimension. Collective.

    Nobody may write to them.
    """
    if slices.is_straight(dim) and not isinstance(operand, Array):
        return np.ascontiguousarray(operand)
    if not isinstance(operand, Array):
        n_here = slices.slice_shape(slices.slice_of(team.rank))[dim]
        return np.ascontiguousarray(
            operand[globals_along(slices, dim, team.rank, np.arange(n_here))]
        )
    if team.size == 1 and slices.is_straight(dim):
        return np.ascontiguousarray(alone(operand))
    layout = along(slices, dim, operand.shape[1:])
    if layout == operand.layout:
        return np.ascontiguousarray(operand.local)
    return np.ascontiguousarray(part(operand, layout))


def globals_along(slices: Slices, dim: int, rank: int, places: Local) -> Local:
    """Return the indices along a dimension of places in a rank's slice."""
    at = slices.slice_of(rank)[dim]
    found: Local = slices.axes[dim].globalize(at, np.asarray(places, np.int64)[:, None])
    return found.reshape(-1)
