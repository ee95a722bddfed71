"""Matrices by columns, in panels dealt out to the ranks in turn.

Blocked factorisations work on these: the owner of a panel factorises it alone, all ranks get it,
and each changes the columns that it has behind it. The width of panels is fixed, so that the steps
are the same on any number of ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._array.held import default_layout, everywhere
from partita._array.parts import array_of, cut_along, part
from partita._local import matrices
from partita._partita import Cyclic, Layout, Whole, plan

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from partita._array.array import Array
    from partita._team.team import Team

Local = np.ndarray[Any, Any]

WIDTH = 64


class Panel(NamedTuple):
    """Columns `first` to `last` of a matrix."""

    number: int
    first: int
    last: int
    owner: int
    columns: slice
    """Where the owner has them."""
    behind: slice
    """Where this rank has the columns of later panels."""


class Panels:
    """This rank's panels of a matrix, in memory that may be written."""

    def __init__(self, array: Array) -> None:
        self.team = array.team
        self.shape = array.shape
        self.dtype = array.dtype
        self.layout = dealt(array.shape, self.team)
        self.own = np.array(part(array, self.layout))

    def __iter__(self) -> Iterator[Panel]:
        n_ranks, rank = self.team.size, self.team.rank
        for number, first in enumerate(range(0, self.shape[1], WIDTH)):
            turn, owner = divmod(number, n_ranks)
            last = min(first + WIDTH, self.shape[1])
            columns = slice(turn * WIDTH, turn * WIDTH + last - first)
            behind = slice((turn + (rank <= owner)) * WIDTH, None)
            yield Panel(number, first, last, owner, columns, behind)

    def is_mine(self, panel: Panel) -> bool:
        """Whether this rank has a panel."""
        return panel.owner == self.team.rank

    def shown(self, panel: Panel, part_of_it: Local | None, shape: Sequence[int]) -> Local:
        """What the owner of a panel shows to all ranks. Collective."""
        return shown(self.team, panel.owner, part_of_it, shape, self.dtype)

    def array(self) -> Array:
        """The matrix as it is now, in rows. Collective."""
        return in_rows(array_of(self.own, self.layout, self.team))


def dealt(shape: Sequence[int], team: Team) -> Layout:
    """Panels of a matrix, one to each rank in turn."""
    return Layout(shape, [Whole(), Cyclic(WIDTH)], grid=(1, team.size))


def shown(
    team: Team, root: int, local: Local | None, shape: Sequence[int], dtype: np.dtype[Any]
) -> Local:
    """An array of one rank on every rank. Collective."""
    maps = [Whole() for _ in shape]
    source = Layout(shape, maps, ranks=[root])
    move = plan(source, everywhere(shape, team.size), dtype.name)
    given = [np.ascontiguousarray(local)] if team.rank == root else []
    found: Local = np.asarray(move.apply(given, team))
    return found


def columns_of(array: Array) -> tuple[Local, Layout]:
    """This rank's columns of a matrix, in memory that may be written. Collective."""
    layout = cut_along(array.shape, 1, array.team.size)
    return np.array(part(array, layout)), layout


def in_rows(array: Array) -> Array:
    """The same array as arrays lie by default. Collective."""
    return array.redistribute(default_layout(array.shape, array.team))


def subtract_product(target: Local, a: Local, b: Local) -> None:
    """Take the product of two matrices from a third, in place."""
    if target.size and a.shape[1]:
        matrices.matmul(-a, b, target, add=True)
