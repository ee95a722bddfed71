"""The primitives of DistDL as plans: forward and adjoint on local NumPy arrays.

The convention of the inner product is stated in `movement.py`; all adjoints follow it.

>>> import numpy as np, partita as pt
>>> from partita.distdl import Partition
>>> def job(team):
...     P_y = Partition(team)
...     P_x = P_y.create_partition_inclusive([1])
...     copy = Broadcast(P_x, P_y)
...     y = copy(np.array([5.0]) if P_x.active else np.zeros(0))
...     return y.tolist(), copy.adjoint(y).tolist()
>>> pt.spmd(job, ranks=3)
[([5.0], []), ([5.0], [15.0]), ([5.0], [])]
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

from partita._args import checked_axes, flag
from partita._errors import LayoutError
from partita._partita import Layout, Plan, plan
from partita._team import Team
from partita.distdl import layouts
from partita.distdl.agree import Structure, block_sizes, common_dtype, common_shape
from partita.distdl.movement import Movement
from partita.distdl.partition import Partition, a_partition
from partita.distdl.primitive import Primitive
from partita.distdl.rooted import Rooted
from partita.distdl.windows import split


def any_flag(structures: Sequence[Structure]) -> bool:
    """Whether any worker's array is flagged."""
    return any(one.flag for one in structures)


def _union(P_x: Partition, P_y: Partition) -> Team | None:
    union = P_x.create_partition_union(P_y)
    return union.team if union.active else None


def _places(team: Team, partition: Partition) -> list[int]:
    """The ranks in a team of a partition's workers."""
    return [team.ranks.index(rank) for rank in partition.ranks]


class Broadcast(Primitive):
    """Each worker's array of `P_x` copied to the workers of its colour in `P_y`."""

    def __init__(
        self,
        P_x: Partition,
        P_y: Partition,
        transpose_src: bool = False,
        transpose_dest: bool = False,
        preserve_batch: bool = False,
    ) -> None:
        pairing = a_partition(P_x).paired_with(
            P_y, reverse_source=transpose_src, reverse_target=transpose_dest
        )
        super().__init__(_union(P_x, P_y))
        preserve_batch = flag(preserve_batch, "preserve_batch")
        if self.team is not None:
            self._read(Rooted(self.team, P_x, P_y, pairing, is_reduction=False), preserve_batch)

    @classmethod
    def of(cls, rooted: Rooted, preserve_batch: bool) -> Self:
        """The primitive of teams that are there already."""
        made = cls.__new__(cls)
        Primitive.__init__(made, rooted.union)
        made._read(rooted, preserve_batch)
        return made

    def _read(self, rooted: Rooted, preserve_batch: bool) -> None:
        colours = range(rooted.pairing.n_colours)
        self._roots = [rooted.root_of(colour) for colour in colours]
        self._takers = [rooted.takers_of(colour) for colour in colours]
        self._preserve_batch = preserve_batch

    def _movement(self, structures: Sequence[Structure]) -> Movement:
        given = [structures[root] for root in self._roots]
        return self._copies([one.shape for one in given], common_dtype(given, "P_x"), structures)

    def _copies(
        self, shapes: Sequence[tuple[int, ...]], dtype: str, structures: Sequence[Structure]
    ) -> Movement:
        assert self.team is not None
        source, target = layouts.copies(shapes, self._roots, self._takers)
        return Movement(
            self.team,
            (plan(source, target, dtype),),
            is_stacked=True,
            preserve_batch=self._preserve_batch,
            is_tracked=any_flag(structures),
        )


class SumReduce(Broadcast):
    """Each worker's array of `P_y` is the sum of the arrays of its colour in `P_x`.

    It is the adjoint of the broadcast from `P_y` to `P_x`.
    """

    def __init__(
        self,
        P_x: Partition,
        P_y: Partition,
        transpose_src: bool = False,
        transpose_dest: bool = False,
        preserve_batch: bool = False,
    ) -> None:
        super().__init__(P_y, P_x, transpose_dest, transpose_src, preserve_batch)

    def _movement(self, structures: Sequence[Structure]) -> Movement:
        groups = [[structures[rank] for rank in group] for group in self._takers]
        dtype = common_dtype([one for group in groups for one in group], "P_x")
        shapes = [common_shape(group, "summands") for group in groups]
        return self._copies(shapes, dtype, structures).reversed()


class AllSumReduce(Primitive):
    """On every worker the sum over the workers that differ from it along the given axes only."""

    def __init__(
        self,
        P_x: Partition,
        axes_reduce: Iterable[int] | None = None,
        axes_keep: Iterable[int] | None = None,
    ) -> None:
        if (axes_reduce is None) == (axes_keep is None):
            message = "axes_reduce and axes_keep together or neither; use one of them"
            raise LayoutError(message, "axes-both")
        ndim = len(a_partition(P_x).grid_shape)
        if axes_keep is not None:
            kept = checked_axes(axes_keep, ndim)
            axes_reduce = [axis for axis in range(ndim) if axis not in kept]
        assert axes_reduce is not None
        super().__init__(P_x.create_allreduction_partition(axes_reduce).team)

    def _movement(self, structures: Sequence[Structure]) -> Movement:
        assert self.team is not None
        shape = common_shape(structures, "summands")
        dtype = common_dtype(structures, "summands")
        plans = all_sum_plans(shape, self.team.size, dtype)
        return Movement(self.team, plans, is_tracked=any_flag(structures))


def all_sum_plans(shape: tuple[int, ...], n_ranks: int, dtype: str) -> tuple[Plan, ...]:
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


class Repartition(Primitive):
    """The tensor that lies on `P_x`, in blocks on `P_y`; also called transpose.

    The blocks on `P_x` may have any sizes that form a grid. Those on `P_y` are even, some of them
    empty if need be, or have the given `sizes`, per dimension and coordinate.
    """

    def __init__(
        self,
        P_x: Partition,
        P_y: Partition,
        preserve_batch: bool = False,
        *,
        sizes: Sequence[Sequence[int]] | None = None,
    ) -> None:
        if len(a_partition(P_x).grid_shape) != len(a_partition(P_y).grid_shape):
            message = (
                f"a repartition from {len(P_x.grid_shape)} to {len(P_y.grid_shape)} dimensions; "
                "use partitions of one number of dimensions"
            )
            raise LayoutError(message, "partition-ndim")
        super().__init__(_union(P_x, P_y))
        self._preserve_batch = flag(preserve_batch, "preserve_batch")
        self._grids = (P_x.grid_shape, P_y.grid_shape)
        self._sizes = None if sizes is None else layouts.checked_sizes(sizes, self._grids[1])
        if self.team is not None:
            self._from, self._to = _places(self.team, P_x), _places(self.team, P_y)

    def _movement(self, structures: Sequence[Structure]) -> Movement:
        assert self.team is not None
        given = [structures[rank] for rank in self._from]
        sizes = block_sizes([one.shape for one in given], self._grids[0])
        source = layouts.blocks(sizes, self._from)
        target = self._target(source.shape)
        return Movement(
            self.team,
            (plan(source, target, common_dtype(given, "P_x")),),
            preserve_batch=self._preserve_batch,
            is_tracked=any_flag(structures),
        )

    def _target(self, shape: tuple[int, ...]) -> Layout:
        if self._sizes is None:
            return layouts.even_blocks(shape, self._grids[1], self._to)
        target = layouts.blocks(self._sizes, self._to)
        if target.shape != shape:
            message = f"sizes {self._sizes} for an array of shape {shape}; use sizes of that sum"
            raise LayoutError(message, "sizes-sum")
        return target


class AllGather(Primitive):
    """On every worker the arrays along one axis of the grid, joined along that axis."""

    def __init__(self, P_x: Partition, axis: int) -> None:
        (self._axis,) = checked_axes([axis], len(a_partition(P_x).grid_shape))
        super().__init__(P_x.create_allreduction_partition([self._axis]).team)

    def _movement(self, structures: Sequence[Structure]) -> Movement:
        assert self.team is not None
        dtype = common_dtype(structures, "P_x")
        parts = [one.shape for one in structures]
        ndim = len(parts[0])
        grid = tuple(self.team.size if axis == self._axis else 1 for axis in range(ndim))
        sizes = block_sizes(parts, grid) if self._axis < ndim else []
        if not sizes:
            message = f"axis {self._axis} of an array of {ndim} dimensions; use one it has"
            raise LayoutError(message, "axis-unknown")
        shape = tuple(sum(one) for one in sizes)
        source = layouts.slabs(shape, self._axis, sizes[self._axis])
        joined = plan(source, layouts.replicas(shape, self.team.size), dtype)
        return Movement(self.team, (joined,), is_tracked=any_flag(structures))


class ReduceScatter(Primitive):
    """The sum over the workers along one axis of the grid, divided evenly among them.

    It is the adjoint of the all-gather of even blocks.
    """

    def __init__(self, P_x: Partition, axis: int) -> None:
        (self._axis,) = checked_axes([axis], len(a_partition(P_x).grid_shape))
        super().__init__(P_x.create_allreduction_partition([self._axis]).team)

    def _movement(self, structures: Sequence[Structure]) -> Movement:
        assert self.team is not None
        dtype = common_dtype(structures, "summands")
        shape = common_shape(structures, "summands")
        if self._axis >= len(shape):
            message = f"axis {self._axis} of an array of {len(shape)} dimensions; use one it has"
            raise LayoutError(message, "axis-unknown")
        n_ranks = self.team.size
        sizes = [stop - start for start, stop in split(shape[self._axis], n_ranks)]
        target = layouts.slabs(shape, self._axis, sizes)
        divided = plan(layouts.summands(shape, n_ranks), target, dtype)
        return Movement(self.team, (divided,), is_tracked=any_flag(structures))
