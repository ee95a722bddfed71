"""Stacks of matrices: every rank factorises its own, and nothing moves that need not.

One matrix on a team of one rank is a stack, too, and one that is narrow enough to be everywhere.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.parts import alone, array_of, cut_along, part, slab_sizes, spread, whole
from partita._functions.manipulation import broadcast_to, reshape, stack
from partita._partita import Layout, Whole
from partita.linalg.given import agreed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partita._array.array import Array

Local = np.ndarray[Any, Any]

# A matrix of at most so many rows and columns is brought to every rank, as panels of others are.
NARROW = 64


def is_local(array: Array) -> bool:
    """Whether ranks factorise whole matrices of their own here."""
    is_alone = array.ndim > 2 or array.team.size == 1
    return is_alone or max(array.shape) <= NARROW or 0 in array.shape


def is_few(array: Array) -> bool:
    """Whether a stack has fewer matrices than there are ranks, and these are large."""
    n_matrices = math.prod(array.shape[:-2])
    return 0 < n_matrices < array.team.size and array.ndim > 2 and max(array.shape[-2:]) > NARROW


def one_by_one(function: Callable[..., Any], *arrays: Array) -> Any:
    """What a function makes of one matrix after the other, each by all ranks. Collective."""
    lead = np.broadcast_shapes(*(one.shape[:-2] for one in arrays))
    wide = [broadcast_to(one, (*lead, *one.shape[-2:])) for one in arrays]
    found = [function(*(one[at] for one in wide)) for at in np.ndindex(*lead)]
    if not isinstance(found[0], tuple):
        return _stacked(found, lead)
    return type(found[0])(*(_stacked(parts, lead) for parts in zip(*found, strict=True)))


def _stacked(found: Sequence[Array], lead: Sequence[int]) -> Array:
    return reshape(stack(found), (*lead, *found[0].shape))


def of_stacks(
    work: Callable[..., Sequence[Local]], *arrays: Array, n_inner: Sequence[int] = (2,)
) -> list[Array]:
    """What a function makes of all matrices, as arrays of stacks. Collective.

    Of each array, so many dimensions as `n_inner` says belong to a matrix or vector.
    """
    team = arrays[0].team
    inner = [*n_inner, *[2] * (len(arrays) - len(n_inner))]
    leads = [one.shape[: one.ndim - n] for one, n in zip(arrays, inner, strict=True)]
    lead = np.broadcast_shapes(*leads)
    wide = [
        one if own == lead else broadcast_to(one, (*lead, *one.shape[len(own) :]))
        for one, own in zip(arrays, leads, strict=True)
    ]
    if team.size == 1:
        return [_alone(made, wide[0]) for made in work(*(alone(one) for one in wide))]
    if not lead:
        parts = [whole(one) for one in wide]
        return [spread(np.asarray(made), team) for made in agreed(team, lambda: work(*parts))]
    spread_as = _stack_layout(wide[0].layout, len(lead), team.size)
    parts = [part(one, _of_entries(spread_as, one.shape[len(lead) :])) for one in wide]
    found = [np.asarray(made) for made in agreed(team, lambda: work(*parts))]
    return [array_of(one, _of_entries(spread_as, one.shape[len(lead) :]), team) for one in found]


def _alone(made: Any, given: Array) -> Array:
    local = np.asarray(made)
    maps = [Whole() for _ in local.shape]
    layout = Layout(local.shape, maps, grid=tuple(1 for _ in maps) or (1,))
    return array_of(local, layout, given.team)


@lru_cache(maxsize=256)
def _stack_layout(layout: Layout, n_lead: int, n_ranks: int) -> Layout:
    """Where the entries of a stack go: where they are, if they are whole."""
    lead, maps = layout.shape[:n_lead], layout.maps
    if maps is not None and all(isinstance(one, Whole) for one in maps[n_lead:]):
        grid = _sides(layout)[:n_lead]
        is_spread = np.prod(grid, dtype=int) == n_ranks == layout.n_ranks
        has_halo = any(layout.n_held(rank) != layout.n_owned(rank) for rank in layout.ranks)
        if is_spread and not has_halo and not layout.partial:
            return Layout(lead, list(maps[:n_lead]), grid=grid, ranks=list(layout.ranks))
    for dim in range(n_lead):
        sizes = slab_sizes(layout, dim, n_ranks)
        if sizes is not None and max(sizes) < max(2, lead[dim]):
            return cut_along(lead, dim, n_ranks, sizes)
    return cut_along(lead, int(np.argmax(lead)), n_ranks)


def _sides(layout: Layout) -> list[int]:
    """The extent of the grid along each dimension; of a shorter grid only cut ones have an axis."""
    maps, grid = layout.maps or (), layout.grid_shape
    if len(grid) == len(maps):
        return list(grid)
    axes = iter(grid)
    return [1 if isinstance(one, Whole) else next(axes, 1) for one in maps]


def _of_entries(lead: Layout, entry: Sequence[int]) -> Layout:
    """The layout of a stack whose entries have a shape."""
    maps = lead.maps
    assert maps is not None
    sides = [*lead.grid_shape[: lead.ndim], *(1 for _ in entry)]
    shape = (*lead.shape, *entry)
    return Layout(shape, [*maps, *(Whole() for _ in entry)], grid=sides, ranks=list(lead.ranks))
