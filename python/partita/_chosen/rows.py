"""An array as rows, the entries of its first dimensions, of which each rank has a stretch."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._array.enter import from_numpy, is_everywhere
from partita._array.parts import alone, array_of, cut_along, slab_sizes
from partita._array.place import here
from partita._team import alike

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._array.array import Array
    from partita._partita import Layout
    from partita._team.team import Team

Local = np.ndarray[Any, Any]


class Rows(NamedTuple):
    """Stretches of the first dimension, in rank order; or everything, everywhere."""

    local: Local
    # Where each rank's stretch begins, and where the last ends; none if all ranks have all.
    starts: list[int] | None
    # Whether what is written to `local` is written to the array.
    is_own: bool

    @property
    def sizes(self) -> list[int]:
        """How many entries each rank has, where they are divided."""
        return [last - first for first, last in pairwise(self.starts or ())]

    def range_of(self, rank: int) -> slice:
        """The entries of the first dimension that a rank has."""
        if self.starts is None:
            return slice(0, len(self.local))
        return slice(self.starts[rank], self.starts[rank + 1])


def as_rows(array: Array) -> Rows:
    """The array's own memory if it is divided like that, otherwise a copy. Collective."""
    team = array.team
    # Parts that are no boxes are computed with elsewhere: what was written here would be lost.
    is_own = array._held.rows is None
    if team.size == 1:
        return Rows(alone(array), None, is_own and array._held.is_everywhere)
    if array.size == 0:
        # Where nothing lies no layout says whose rows are whose.
        sizes = even_sizes(array.shape[0], team)
        return Rows(_nothing(array, sizes[team.rank]), starts_of(sizes), False)
    layout = array.layout
    if layout.partial:
        return as_rows(array.redistribute(cut_along(array.shape, 0, team.size)))
    if is_everywhere(layout, team.size):
        return Rows(array.local, None, is_own)
    starts = _starts(layout, team.size)
    if starts is not None:
        return Rows(_stretch(array, starts), starts, is_own)
    moved = array.redistribute(cut_along(array.shape, 0, team.size))
    starts = _starts(moved.layout, team.size)
    assert starts is not None
    return Rows(moved.local, starts, False)


def cut_like(array: Array, rows: Rows) -> Local:
    """This rank's stretch of another array, where a first one has it. Collective."""
    team = array.team
    if team.size == 1:
        return alone(array)
    if array.size == 0:
        own = rows.range_of(team.rank)
        return _nothing(array, own.stop - own.start)
    layout = array.layout
    if is_everywhere(layout, team.size):
        return array.local[rows.range_of(team.rank)]
    if rows.starts is None:
        whole = array.gather()
        assert whole is not None
        return whole
    if _starts(layout, team.size) == rows.starts:
        return _stretch(array, rows.starts)
    return array.redistribute(cut_along(array.shape, 0, team.size, rows.sizes)).local


def evenly(array: Array) -> tuple[Local, list[int]]:
    """This rank's stretch where the first dimension is divided evenly. Collective."""
    team = array.team
    sizes = even_sizes(array.shape[0], team)
    starts = starts_of(sizes)
    if team.size == 1:
        return alone(array), starts
    if array.size == 0:
        return _nothing(array, sizes[team.rank]), starts
    if is_everywhere(array.layout, team.size):
        return array.local[starts[team.rank] : starts[team.rank + 1]], starts
    if _starts(array.layout, team.size) == starts:
        return _stretch(array, starts), starts
    return array.redistribute(cut_along(array.shape, 0, team.size, sizes)).local, starts


def _stretch(array: Array, starts: Sequence[int]) -> Local:
    """What this rank owns of an array that is divided so; a box without entries has no shape."""
    rank, own = array.team.rank, array.owned
    if starts[rank] < starts[rank + 1]:
        return own
    nothing = _nothing(array, 0)
    # Whether it may be written decides what all ranks do.
    nothing.flags.writeable = own.flags.writeable
    return nothing


def _nothing(array: Array, length: int) -> Local:
    return np.empty((length, *array.shape[1:]), array.dtype)


def starts_of(sizes: Sequence[int]) -> list[int]:
    """Where stretches of these sizes begin, and where the last ends."""
    return [0, *np.cumsum(sizes).tolist()]


def even_sizes(length: int, team: Team) -> list[int]:
    """How many entries each rank gets: extra ones go to the last."""
    return [(length + rank) // team.size for rank in range(team.size)]


def from_rows(local: Local, lengths: Sequence[int], team: Team) -> Array:
    """The array whose stretches of so many entries the ranks have."""
    shape = (sum(lengths), *local.shape[1:])
    return array_of(local, cut_along(shape, 0, team.size, lengths), team)


def from_stretches(local: Local, rows: Rows, team: Team, mask: Array | None = None) -> Array:
    """What was made of a stretch by every rank, as one array; by a mask that all have, if so."""
    if rows.starts is None:
        return from_numpy(local, team.arrays)
    digests = [] if mask is None else [alike.digest(mask.local)]
    told = team.gather_inside("numbers of chosen rows", (len(local), digests))
    alike.refuse_different(
        [own for _, own in told], "masks", lambda: team.gather_inside("rows of masks", here())
    )
    return from_rows(local, [length for length, _ in told], team)


def _starts(layout: Layout, n_ranks: int) -> list[int] | None:
    """Where the ranks' stretches of the first dimension begin, if that is how it is divided."""
    sizes = slab_sizes(layout, 0, n_ranks)
    return None if sizes is None else starts_of(sizes)
