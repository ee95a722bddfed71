"""The primitives between two partitions as plans: forward and adjoint on local NumPy arrays.

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

from collections.abc import Sequence
from typing import Self

from partita._args import flag
from partita._errors import LayoutError
from partita._partita import Layout, plan
from partita._team.team import Team
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
    in_world_order,
    places,
)
from partita.distdl.movement import Movement
from partita.distdl.partition import Partition, a_partition
from partita.distdl.primitive import Primitive
from partita.distdl.rooted import Rooted, between


def _union(P_x: Partition, P_y: Partition) -> Team | None:
    union = P_x.create_partition_union(P_y)
    return in_world_order(union._with_members()) if union.active else None


def _terms(made: Primitive, settings: str, preserve_batch: bool) -> Terms:
    batch = ", batch preserved" if preserve_batch else ""
    return Terms(type(made).__name__, settings + batch)


class Broadcast(Primitive):
    """Copy each array of `P_x` to the workers of its colour in `P_y`."""

    def __init__(
        self,
        P_x: Partition,
        P_y: Partition,
        transpose_src: bool = False,
        transpose_dest: bool = False,
        preserve_batch: bool = False,
    ) -> None:
        flags = (transpose_src, transpose_dest)
        self._begin((a_partition(P_x), P_y), flags, preserve_batch, is_reduction=False)

    def _begin(
        self,
        pair: tuple[Partition, Partition],
        flags: tuple[bool, bool],
        preserve_batch: bool,
        *,
        is_reduction: bool,
    ) -> None:
        order = -1 if is_reduction else 1
        single, many = pair[::order]
        first, second = flags[::order]
        pairing = a_partition(single).paired_with(many, reverse_source=first, reverse_target=second)
        preserve_batch = flag(preserve_batch, "preserve_batch")
        union = _union(*pair)
        if union is None:
            super().__init__(None)
        else:
            settings = between(*pair, flags)
            rooted = Rooted(union, single, many, pairing, is_reduction, settings)
            self._read(rooted, preserve_batch)

    @classmethod
    def of(cls, rooted: Rooted, preserve_batch: bool) -> Self:
        """Return the primitive for teams that exist already."""
        made = cls.__new__(cls)
        made._read(rooted.in_world_order(), preserve_batch)
        return made

    def _read(self, rooted: Rooted, preserve_batch: bool) -> None:
        terms = _terms(self, rooted.settings, preserve_batch)
        Primitive.__init__(self, rooted.union, Agreement(rooted.union, terms))
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
    """Give each worker of `P_y` the sum of the arrays of its colour in `P_x`.

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
        flags = (transpose_src, transpose_dest)
        self._begin((a_partition(P_x), P_y), flags, preserve_batch, is_reduction=True)

    def _movement(self, structures: Sequence[Structure]) -> Movement:
        groups = [[structures[rank] for rank in group] for group in self._takers]
        dtype = common_dtype([one for group in groups for one in group], "P_x")
        shapes = [common_shape(group, "summands") for group in groups]
        return self._copies(shapes, dtype, structures).reversed()


class Repartition(Primitive):
    """Move a tensor on `P_x` into blocks on `P_y`; also called transpose.

    The blocks on `P_x` may have any sizes that form a grid. Those on `P_y` are even (some may be
    empty), or have the given `sizes`, per dimension and coordinate.
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
        self._preserve_batch = flag(preserve_batch, "preserve_batch")
        self._grids = (P_x.grid_shape, P_y.grid_shape)
        self._sizes = None if sizes is None else layouts.checked_sizes(sizes, self._grids[1])
        union = _union(P_x, P_y)
        if union is None:
            super().__init__(None)
            return
        settings = between(P_x, P_y, (False, False))
        if sizes is not None:
            settings = brief(f"{settings}, sizes {self._sizes}")
        super().__init__(union, Agreement(union, _terms(self, settings, self._preserve_batch)))
        self._from, self._to = places(union, P_x.ranks), places(union, P_y.ranks)

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
