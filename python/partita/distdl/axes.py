"""The primitives along axes of one grid: sums, joined and divided arrays.

Data moves within the lines of the grid along these axes, but all workers of the grid begin together
and know of all arrays: so all refuse or none, and workers that name different axes hear of it.

>>> import numpy as np, partita as pt
>>> from partita.distdl import Partition
>>> def job(team):
...     P = Partition(team).create_cartesian_topology_partition((2, 2))
...     return AllSumReduce(P, [1])(np.array([1.0 + team.rank])).tolist()
>>> pt.spmd(job, ranks=4)
[[3.0], [3.0], [7.0], [7.0]]
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import TypeAlias

from partita._args import checked_axes
from partita._errors import LayoutError
from partita._partita import Plan, plan
from partita.distdl import layouts
from partita.distdl.agree import (
    Agreement,
    Structure,
    Terms,
    any_flag,
    block_sizes,
    brief,
    common_dtype,
    common_shape,
    described,
)
from partita.distdl.movement import Movement
from partita.distdl.partition import Partition, a_partition
from partita.distdl.primitive import Primitive
from partita.distdl.windows import split

Plans: TypeAlias = tuple[Plan, ...]


def _lines(grid: tuple[int, ...], axes: Sequence[int]) -> list[list[int]]:
    """The ranks of each line of a grid along some axes.

    >>> _lines((2, 3), [1])
    [[0, 1, 2], [3, 4, 5]]
    """
    found: dict[tuple[int, ...], list[int]] = {}
    for rank, place in enumerate(itertools.product(*map(range, grid))):
        line = tuple(at for axis, at in enumerate(place) if axis not in axes)
        found.setdefault(line, []).append(rank)
    return list(found.values())


class AlongAxes(Primitive):
    """A movement within each line of a grid along some axes."""

    def __init__(self, P_x: Partition, axes: Iterable[int]) -> None:
        along = checked_axes(axes, len(a_partition(P_x).grid_shape))
        self._lines = _lines(P_x.grid_shape, along)
        if P_x.team is None or not P_x.active:
            super().__init__(None)
            return
        settings = brief(f"along axes {sorted(along)} of {described(P_x)}")
        agreement = Agreement(P_x.team, Terms(type(self).__name__, settings))
        super().__init__(P_x.create_allreduction_partition(along).team, agreement)
        self._own = next(line for line in self._lines if P_x.rank in line)

    def _movement(self, structures: Sequence[Structure]) -> Movement:
        assert self.team is not None
        for line in self._lines:
            # What one line cannot do, all refuse.
            self._check([structures[rank] for rank in line])
        own = [structures[rank] for rank in self._own]
        return Movement(self.team, self._plans(own), is_tracked=any_flag(own))

    def _check(self, structures: Sequence[Structure]) -> None:
        raise NotImplementedError

    def _plans(self, structures: Sequence[Structure]) -> Plans:
        raise NotImplementedError


class AllSumReduce(AlongAxes):
    """Sum, on every worker, over the workers that differ from it only along the given axes."""

    def __init__(
        self,
        P_x: Partition,
        axes_reduce: Iterable[int] | None = None,
        axes_keep: Iterable[int] | None = None,
    ) -> None:
        if (axes_reduce is None) == (axes_keep is None):
            message = "axes_reduce and axes_keep together or neither; use one of them"
            raise LayoutError(message, "axes-both")
        if axes_keep is not None:
            ndim = len(a_partition(P_x).grid_shape)
            kept = checked_axes(axes_keep, ndim)
            axes_reduce = [axis for axis in range(ndim) if axis not in kept]
        assert axes_reduce is not None
        super().__init__(P_x, axes_reduce)

    def _check(self, structures: Sequence[Structure]) -> None:
        common_shape(structures, "summands")
        common_dtype(structures, "summands")

    def _plans(self, structures: Sequence[Structure]) -> Plans:
        first = structures[0]
        return all_sum_plans(first.shape, len(structures), first.dtype)


def all_sum_plans(shape: tuple[int, ...], n_ranks: int, dtype: str) -> Plans:
    """The plans of a sum that everybody gets.

    Each rank adds up its share and hands it to the others; small arrays are added by everybody.
    """
    given, wanted = layouts.summands(shape, n_ranks), layouts.replicas(shape, n_ranks)
    axis = next((at for at, extent in enumerate(shape) if extent >= 16 * n_ranks), None)
    if axis is None or n_ranks == 1:
        return (plan(given, wanted, dtype),)
    sizes = [stop - start for start, stop in split(shape[axis], n_ranks)]
    shares = layouts.slabs(shape, axis, sizes)
    return plan(given, shares, dtype), plan(shares, wanted, dtype)


class _AlongAxis(AlongAxes):
    def __init__(self, P_x: Partition, axis: int) -> None:
        (self._axis,) = checked_axes([axis], len(a_partition(P_x).grid_shape))
        super().__init__(P_x, [self._axis])

    def _check_ndim(self, ndim: int) -> None:
        if self._axis >= ndim:
            message = f"axis {self._axis} of an array of {ndim} dimensions; use one it has"
            raise LayoutError(message, "axis-unknown")


class AllGather(_AlongAxis):
    """Join the arrays along one axis of the grid, on every worker."""

    def _check(self, structures: Sequence[Structure]) -> None:
        common_dtype(structures, "P_x")
        self._sizes(structures)

    def _sizes(self, structures: Sequence[Structure]) -> list[tuple[int, ...]]:
        ndim = len(structures[0].shape)
        self._check_ndim(ndim)
        grid = tuple(len(structures) if axis == self._axis else 1 for axis in range(ndim))
        return block_sizes([one.shape for one in structures], grid)

    def _plans(self, structures: Sequence[Structure]) -> Plans:
        sizes = self._sizes(structures)
        shape = tuple(sum(one) for one in sizes)
        source = layouts.slabs(shape, self._axis, sizes[self._axis])
        return (plan(source, layouts.replicas(shape, len(structures)), structures[0].dtype),)


class ReduceScatter(_AlongAxis):
    """Sum over the workers along one axis of the grid, divided evenly among them.

    It is the adjoint of the all-gather of even blocks.
    """

    def _check(self, structures: Sequence[Structure]) -> None:
        common_dtype(structures, "summands")
        self._check_ndim(len(common_shape(structures, "summands")))

    def _plans(self, structures: Sequence[Structure]) -> Plans:
        shape, n_ranks = structures[0].shape, len(structures)
        sizes = [stop - start for start, stop in split(shape[self._axis], n_ranks)]
        target = layouts.slabs(shape, self._axis, sizes)
        return (plan(layouts.summands(shape, n_ranks), target, structures[0].dtype),)
