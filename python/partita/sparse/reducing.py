"""Lines of a tensor reduced to one number each, on the rank that owns the result.

Every rank reduces what it has; what belongs to lines of other ranks travels to them, one number
per line and rank.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.held import default_layout, everywhere
from partita._array.parts import array_of, cut_along
from partita._errors import LayoutError
from partita._partita import Layout, Whole, cut_dim
from partita._team.routing import routed_rows
from partita.sparse.room import dense_room
from partita.sparse.slices import Slices
from partita.sparse.teams import part_on

if TYPE_CHECKING:
    from collections.abc import Sequence
    from contextlib import AbstractContextManager

    from partita._array.array import Array
    from partita._team.team import Team
    from partita.sparse.base import Base

Local = np.ndarray[Any, Any]
# What to do where most lines have no entries.
_CURE = "use t.find() and the entries themselves, or a part of the tensor"


def lines_layout(slices: Slices, kept: Sequence[int], team: Team) -> tuple[Layout, bool]:
    """Return where one number for each line lies, and whether every rank has its lines whole."""
    shape = tuple(slices.shape[dim] for dim in kept)
    cut = [dim for dim, side in enumerate(slices.grid) if side > 1]
    maps = slices.layout.maps or ()
    usual = default_layout(shape, team)
    if len(shape) > 1:
        # An axis of the grid for each dimension, as slices want it.
        usual = cut_along(shape, cut_dim(shape, team.size), team.size)
    if team.size == 1:
        return usual, all(slices.is_straight(dim) for dim in kept)
    is_whole = len(cut) == 1 and cut[0] in kept and not isinstance(maps[cut[0]], Whole)
    if not is_whole:
        return usual, False
    sides = [team.size if dim == cut[0] else 1 for dim in kept]
    # The numbers stay with the lines, whatever rank holds which.
    ranks = list(slices.layout.ranks)
    return Layout(shape, [maps[dim] for dim in kept], grid=sides, ranks=ranks), True


def sent(
    tensor: Base, call: str, slices: Slices, coords: Sequence[Local], lists: Sequence[Local]
) -> tuple[list[Local], list[Local]]:
    """Send numbers to the ranks that own their places; return what comes here, in rank order.

    The call is that of a tensor's method. Collective.
    """
    team = tensor.team
    owners, inside = slices.ranks(coords)
    if team.size == 1:
        return inside, list(lists)
    order = np.argsort(owners, kind="stable")
    cuts = np.searchsorted(owners[order], np.arange(team.size + 1))
    counts = tensor._met(call, np.diff(cuts).tolist())
    made = []
    for one in [*inside, *lists]:
        parts = [one[order[cuts[q] : cuts[q + 1]]] for q in range(team.size)]
        made.append(routed_rows(team, parts, counts))
    return made[: len(inside)], made[len(inside) :]


def placed(
    tensor: Base, call: str, layout: Layout, coords: Sequence[Local], values: Local
) -> Array:
    """Return an array of numbers that any rank gives, zero where nobody gives any. Collective.

    Each place is given once.
    """
    with dense_room(tensor.team, layout.shape, values.dtype, _CURE):
        inside, (given,) = sent(tensor, call, Slices(layout), coords, [values])
        local = np.zeros(layout.local_shape(tensor.team.rank), values.dtype)
        local[tuple(inside)] = given
        return array_of(local, layout, tensor.team)


class Lines:
    """The lines along some axes of one tensor, for a call of its methods."""

    def __init__(self, tensor: Any, axes: Sequence[int], call: str) -> None:
        self.tensor, self.team = tensor, tensor.team
        self.call = f"{call} along {list(axes)}"
        self.slices: Slices = tensor._slices
        self.kept = [dim for dim in range(tensor.ndim) if dim not in axes]
        self.layout, self.is_whole = lines_layout(self.slices, self.kept, self.team)
        self.length = math.prod(tensor.shape[dim] for dim in axes)

    def reduced(self, function: Any, start: Any, data: Local, coords: Sequence[Local]) -> Local:
        """Return this rank's numbers: a function of all entries of each line. Collective.

        `start` is what the function begins with; replicas must have been left out.
        """
        with self.room(data.dtype):
            return self._reduced(function, start, data, coords)

    def room(self, dtype: Any) -> AbstractContextManager[None]:
        """Room for one number for each line."""
        return dense_room(self.team, self.layout.shape, dtype, _CURE)

    def _reduced(self, function: Any, start: Any, data: Local, coords: Sequence[Local]) -> Local:
        extents = self._extents()
        key = self._keys(coords, extents)
        mine = np.full(int(np.prod(extents, dtype=np.int64)), start, data.dtype)
        # A NaN is the answer, not an accident.
        with np.errstate(invalid="ignore"):
            function.at(mine, key, data)
        if self.is_whole:
            # As in `to_dense`, the next meeting finds ranks that have different tensors.
            self.team.say(f"{self.call} of {self.tensor._words}")
            return mine.reshape(extents)
        (here,) = np.nonzero(np.bincount(key, minlength=len(mine)))
        places = [one.astype(np.int64) for one in np.unravel_index(here, extents)]
        inside, (given,) = sent(
            self.tensor,
            self.call,
            Slices(self.layout),
            self._globalized(places),
            [mine[here]],
        )
        local = np.full(self.layout.local_shape(self.team.rank), start, data.dtype)
        with np.errstate(invalid="ignore"):
            function.at(local, tuple(inside), given)
        return local

    def array(self, local: Local) -> Array:
        """The array of every rank's numbers."""
        return array_of(np.ascontiguousarray(local), self.layout, self.team)

    def _extents(self) -> tuple[int, ...]:
        sizes = self.slices.slice_shape(self.tensor.slice_id)
        return tuple(sizes[dim] for dim in self.kept)

    def _keys(self, coords: Sequence[Local], extents: tuple[int, ...]) -> Local:
        kept = [np.asarray(coords[dim], np.int64) for dim in self.kept]
        if not kept or 0 in extents:
            return np.zeros(len(coords[0]) if coords and not kept else 0, np.int64)
        return np.ravel_multi_index(kept, extents)

    def _globalized(self, places: Sequence[Local]) -> list[Local]:
        at = self.tensor.slice_id
        found = []
        for dim, local in zip(self.kept, places, strict=True):
            axis = self.slices.axes[dim]
            part = at[dim] if axis.n_ranks > 1 else 0
            found.append(axis.globalize(part, local[:, None])[:, 0])
        return found


def placed_in_rank_order(tensor: Base, lists: Sequence[Local]) -> tuple[Array, ...]:
    """Return arrays of every rank's lists of one length, one behind the other. Collective."""
    team, sizes = tensor.team, tensor._met("find", len(lists[0]))
    layout = cut_along((sum(sizes),), 0, team.size, sizes)
    return tuple(array_of(np.ascontiguousarray(one), layout, team) for one in lists)


def taken_in_rank_order(tensor: Base, values: Array, call: str) -> Local:
    """Return this rank's values of an array that has them as `find` gives them. Collective.

    Whatever its layout, and on every rank that holds a slice.
    """
    team, owners = tensor.team, tensor._slices.owners
    told = tensor._met(call, tensor._block.nnz)
    sizes = [n if owners[rank] == rank else 0 for rank, n in enumerate(told)]
    if tuple(values.shape) != (sum(sizes),):
        message = f"an array of shape {tuple(values.shape)} for {sum(sizes)} entries; give one"
        raise LayoutError(f"{message} number for each, stored zeros too", "sparse-lengths")
    if owners == list(range(team.size)):
        given = part_on(values, cut_along(values.shape, 0, team.size, sizes), team)
    else:
        first = sum(sizes[: owners[team.rank]])
        whole = part_on(values, everywhere(values.shape, team.size), team)
        given = whole[first : first + told[team.rank]]
    if tensor._block.is_tidy:
        # Tensors are values, whoever writes to the array.
        return given.copy()
    # Entries of COO may lie in any order, `find` has them in theirs.
    order = tensor._block.with_data(np.arange(tensor._block.nnz)).tidy().data
    found = np.empty_like(given)
    found[order] = given
    return found
