"""This rank's part of an array in a layout, moved only where it is not here already.

What distributed algorithms begin with: they name the layout they need, compute on what lies here,
and make an array of the result.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.enter import from_numpy
from partita._array.held import default_layout, everywhere, is_everywhere
from partita._partita import Block, Layout, Whole, plan

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._partita import Piece, Pieces
    from partita._team.team import Team

Local = np.ndarray[Any, Any]


def cut_along(
    shape: Sequence[int], dim: int, n_ranks: int, sizes: Sequence[int] | None = None
) -> Layout:
    """One dimension cut over all ranks, in pieces of these sizes; nearly equal without any."""
    usual = [(shape[dim] + rank) // n_ranks for rank in range(n_ranks)]
    is_usual = sizes is None or list(sizes) == usual
    by = Block(rule="last") if is_usual else Block(sizes=list(sizes or ()))
    maps = [by if at == dim else Whole() for at in range(len(shape))]
    return Layout(shape, maps, grid=[n_ranks if at == dim else 1 for at in range(len(shape))])


@lru_cache(maxsize=1024)
def slab_sizes(layout: Layout, dim: int, n_ranks: int) -> tuple[int, ...] | None:
    """How much of one dimension each rank has, if nothing else is cut and ranks are in order."""
    sizes, start = [], 0
    if layout.partial:
        return None
    for rank in range(n_ranks):
        pieces = layout.pieces(rank) if rank in layout.ranks else ()
        # Two tell enough; there may be as many as elements.
        own = list(islice((piece for piece in pieces if 0 not in piece.owned_shape), 2))
        if not own:
            sizes.append(0)
            continue
        first, length = own[0].owned_start[dim], own[0].owned_shape[dim]
        is_cut_elsewhere = any(
            found != whole
            for at, (found, whole) in enumerate(zip(own[0].owned_shape, layout.shape, strict=True))
            if at != dim
        )
        if len(own) > 1 or first != start or is_cut_elsewhere:
            return None
        sizes.append(length)
        start += length
    return tuple(sizes) if start == layout.shape[dim] else None


@lru_cache(maxsize=1024)
def bytes_received(source: Layout, target: Layout, dtype: str) -> int:
    """The most that one rank receives when an array goes from layout to layout."""
    return 0 if is_here(source, target) else plan(source, target, dtype).max_recv_bytes


@lru_cache(maxsize=1024)
def is_here(source: Layout, target: Layout) -> bool:
    """Whether every rank's part of the target is a box of the one buffer that it holds."""
    if source.partial or target.partial:
        return False
    for rank in target.ranks:
        wanted = list(islice((one for one in target.pieces(rank) if 0 not in one.shape), 2))
        found: Pieces | list[Piece] = source.pieces(rank) if rank in source.ranks else []
        if len(wanted) > 1 or (wanted and len(found) != 1):
            return False
        if wanted and not _is_inside(wanted[0], found[0]):
            return False
    return True


def _is_inside(wanted: Piece, held: Piece) -> bool:
    """Whether a rank owns all of a box."""
    ends = zip(wanted.start, wanted.shape, strict=True)
    own = zip(held.owned_start, held.owned_shape, strict=True)
    pairs = zip(ends, own, strict=True)
    return all(first <= at and at + n <= first + most for (at, n), (first, most) in pairs)


def part(array: Array, layout: Layout) -> Local:
    """This rank's part in a layout: a view where every rank has its own already. Collective.

    Nobody may write to it.
    """
    team = array.team
    if not is_here(array.layout, layout):
        return array.redistribute(layout).local
    # On every rank, also where nothing is wanted: this may be computed only now, by all together.
    buffers = array._buffers
    wanted = [piece for piece in layout.pieces(team.rank) if 0 not in piece.shape]
    if not wanted:
        return np.empty(layout.local_shape(team.rank), array.dtype)
    (held,) = array.layout.pieces(team.rank)
    starts = [
        own + at - first
        for own, at, first in zip(held.local_start, wanted[0].start, held.start, strict=True)
    ]
    sides = zip(starts, wanted[0].shape, strict=True)
    index: Any = (*(slice(start, start + length) for start, length in sides), ...)
    found: Local = buffers[0][index]
    return found


def alone(array: Array) -> Local:
    """All elements of an array on a team of one rank; a view where they lie in order."""
    if array._held.is_everywhere and array.local.shape == array.shape:
        return array.local
    return part(array, default_layout(array.shape, array.team))


def whole(array: Array) -> Local:
    """All elements on every rank, for what an algorithm needs everywhere. Collective."""
    return part(array, everywhere(array.shape, array.team.size))


def in_order(array: Array) -> Array:
    """An array in C order, as results of functions are: other shapes of it are views."""
    return array if _is_plain(array) else +array


def found_in_order(array: Array) -> Array:
    """The same of what is there already: a rank that has all of it needs no other."""
    if _is_plain(array):
        return array
    if is_everywhere(array.layout, array.team.size):
        return from_numpy(np.array(array.local, order="C"), array.team.arrays)
    return +array


def _is_plain(array: Array) -> bool:
    """Whether elements lie in C order, or are brought there when they are computed with."""
    return not array._is_lazy or array._reshape([array.size], False) is not None


def array_of(local: Local, layout: Layout, team: Team) -> Array:
    """The array of which every rank has computed its part."""
    return Array([local], layout, team, local.dtype)


def spread(local: Local, team: Team) -> Array:
    """An array of what every rank has computed whole; each keeps its part."""
    if team.size == 1 or local.ndim == 0:
        return array_of(local, everywhere(local.shape, team.size), team)
    layout = default_layout(local.shape, team)
    own = part(array_of(local, everywhere(local.shape, team.size), team), layout)
    return array_of(own.copy(), layout, team)
