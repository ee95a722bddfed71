"""Products of matrices on the ranks of a team: where each part is computed, and of what.

Every way but one is the same: the result is cut, each rank brings the rows of the first operand and
the columns of the second that its part needs, and multiplies. Ranks form a line along one dimension
of the result, or a grid over rows and columns. Where the inner dimension is cut already, ranks
multiply what they have, and the shares are added. What is received and computed decides.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._array.held import default_layout, everywhere
from partita._array.parts import (
    alone,
    array_of,
    bytes_received,
    cut_along,
    part,
    slab_sizes,
)
from partita._local import matrices
from partita._partita import Block, Layout, Whole, cut_dim, even_factors, plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from partita._array.array import Array

Local = np.ndarray[Any, Any]

# What a rank receives and multiplies in a second; only their ratio matters.
_BYTES = 4e9
_PRODUCTS = 2e10
# Operands that are brought whole may take this much; larger ones come in panels.
_PANEL_BYTES = 1 << 26


class Way(NamedTuple):
    """Where the operands go, and the result comes to be."""

    first: Layout
    second: Layout
    result: Layout
    is_inner: bool = False


def product(a: Array, b: Array) -> Array:
    """The product of two matrices or stacks of one dtype, two dimensions or more. Collective."""
    team = a.team
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    shape = (*batch, a.shape[-2], b.shape[-1])
    if team.size == 1:
        return array_of(matrices.matmul(alone(a), alone(b)), default_layout(shape, team), team)
    way = _best_way(a.layout, b.layout, shape, a.dtype.name, team.size)
    return _by_way(a, b, way)


def _by_way(a: Array, b: Array, way: Way, panel_bytes: int = _PANEL_BYTES) -> Array:
    if way.is_inner:
        return _sum_of_shares(a, b, way)
    team = a.team
    made = np.zeros(way.result.local_shape(team.rank), a.dtype)
    for first, last in _panels(a, b, way, panel_bytes):
        is_all = last - first == a.shape[-1]
        left, right = (a, b) if is_all else (a[..., first:last], b[..., first:last, :])
        own_a = part(left, _with_extent(way.first, -1, last - first))
        own_b = part(right, _with_extent(way.second, -2, last - first))
        if made.size and last > first:
            matrices.matmul(own_a, own_b, made, add=first > 0)
    return array_of(made, way.result, team)


def _panels(a: Array, b: Array, way: Way, panel_bytes: int) -> Iterator[tuple[int, int]]:
    """Ranges of the inner dimension, so many that what is brought at a time stays small."""
    inner, dtype = a.shape[-1], a.dtype.name
    brought = bytes_received(a.layout, way.first, dtype)
    brought += bytes_received(b.layout, way.second, dtype)
    n_panels = max(1, min(inner, math.ceil(brought / panel_bytes)))
    cuts = [inner * at // n_panels for at in range(n_panels + 1)]
    return pairwise(cuts)


def _with_extent(layout: Layout, dim: int, extent: int) -> Layout:
    """The layout with another extent of a dimension that is not cut."""
    shape = list(layout.shape)
    if shape[dim] == extent:
        return layout
    shape[dim] = extent
    maps = layout.maps
    assert maps is not None
    return Layout(shape, list(maps), grid=layout.grid_shape, ranks=list(layout.ranks))


def _sum_of_shares(a: Array, b: Array, way: Way) -> Array:
    """Products of what each rank has of the inner dimension, added in rank order."""
    team = a.team
    own = matrices.matmul(part(a, way.first), part(b, way.second))
    shape, dtype = own.shape, own.dtype
    # Truth values are counted, so that their sum tells whether there was one.
    shares = own.astype(np.int32) if dtype == np.bool_ else own
    layout = Layout(shape, [Whole(), Whole()], grid=(1, 1, team.size), partial=[2])
    made = plan(layout, way.result, shares.dtype.name).apply(shares, team)
    made = np.asarray(made).reshape(way.result.local_shape(team.rank))
    return array_of(made.astype(dtype, copy=False), way.result, team)


@lru_cache(maxsize=1024)
def _best_way(a: Layout, b: Layout, shape: tuple[int, ...], dtype: str, n_ranks: int) -> Way:
    """The way that takes the least time, the first of equals."""
    usual = cut_along(shape, cut_dim(shape, n_ranks), n_ranks)

    def seconds(way: Way) -> float:
        received = bytes_received(a, way.first, dtype) + bytes_received(b, way.second, dtype)
        # What the result will meet lies as arrays usually do.
        received += bytes_received(way.result, usual, dtype)
        if way.is_inner:
            received += math.prod(shape) * np.dtype(dtype).itemsize
            inner = max(way.first.local_shape(rank)[-1] for rank in range(n_ranks))
            return received / _BYTES + math.prod(shape) * inner / _PRODUCTS
        most = max(math.prod(way.result.local_shape(rank)) for rank in range(n_ranks))
        return received / _BYTES + most * a.shape[-1] / _PRODUCTS

    return min(_ways(a, b, shape, n_ranks), key=seconds)


def _ways(a: Layout, b: Layout, shape: tuple[int, ...], n_ranks: int) -> Iterator[Way]:
    for dim in range(len(shape)):
        yield _line(a, b, shape, dim, n_ranks)
    if len(shape) == 2:
        n_tall, n_wide = sorted(even_factors(n_ranks, 2), reverse=shape[0] >= shape[1])
        if min(n_tall, n_wide) > 1:
            yield _grid(a.shape, b.shape, n_tall, n_wide)
        yield _inner(a, b, shape, n_ranks)


def _line(a: Layout, b: Layout, shape: tuple[int, ...], dim: int, n_ranks: int) -> Way:
    """The result cut along one dimension, as an operand is cut there already if one is."""
    ndim, sizes = len(shape), None
    places = []
    for one, inner in ((a, -1), (b, -2)):
        # Where the dimension stands in the operand; nowhere if it is repeated or the inner one.
        at = dim - ndim + len(one.shape)
        stands = at >= 0 and at != len(one.shape) + inner and one.shape[at] == shape[dim]
        places.append(at if stands else None)
        if stands and sizes is None and _is_even(found := slab_sizes(one, at, n_ranks)):
            sizes = found
    first, second = (
        _cut_or_whole(one.shape, at, n_ranks, sizes) for one, at in zip((a, b), places, strict=True)
    )
    return Way(first, second, cut_along(shape, dim, n_ranks, sizes))


def _is_even(sizes: Sequence[int] | None) -> bool:
    """Whether parts are enough alike to compute with where they are."""
    return sizes is not None and max(sizes) * len(sizes) <= 2 * sum(sizes) + len(sizes)


def _cut_or_whole(
    shape: Sequence[int], dim: int | None, n_ranks: int, sizes: Sequence[int] | None
) -> Layout:
    return everywhere(shape, n_ranks) if dim is None else cut_along(shape, dim, n_ranks, sizes)


def _grid(a: Sequence[int], b: Sequence[int], n_tall: int, n_wide: int) -> Way:
    """Ranks in a grid over rows and columns of the result, in C order."""
    by, grid = Block(rule="last"), (n_tall, n_wide)
    # What is whole along an axis of the grid is there for every rank of that axis.
    first, second = Layout(a, [by, Whole()], grid=grid), Layout(b, [Whole(), by], grid=grid)
    return Way(first, second, Layout((a[0], b[1]), [by, by], grid=grid))


def _inner(a: Layout, b: Layout, shape: tuple[int, ...], n_ranks: int) -> Way:
    """The inner dimension cut, as an operand is cut there already if one is."""
    found = [slab_sizes(a, 1, n_ranks), slab_sizes(b, 0, n_ranks)]
    sizes = next((one for one in found if _is_even(one)), None)
    first = cut_along(a.shape, 1, n_ranks, sizes)
    second = cut_along(b.shape, 0, n_ranks, sizes)
    result = cut_along(shape, cut_dim(shape, n_ranks), n_ranks)
    return Way(first, second, result, is_inner=True)
