"""Data movement between teams and grids on local arrays, each with its adjoint.

Every function is collective over the workers it names. It takes this worker's local array and
returns this worker's result, an array of zero volume if it has none. `name.adjoint` takes a
cotangent and otherwise the same arguments. The inner product is the plain sum over all workers'
arrays.

>>> import numpy as np, partita as pt
>>> def job(team):
...     total = pt.all_sum_reduce(np.array([1.0 + team.rank]), team)
...     first = pt.broadcast(np.array([2.0 + team.rank]), team.subteam([1]), team)
...     return total.tolist(), first.tolist()
>>> pt.spmd(job, ranks=2)
[([3.0], [3.0]), ([3.0], [3.0])]
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from partita._args import flag, integers
from partita._errors import LayoutError, PartitaError
from partita._keeper import Keeper
from partita._partita import Array
from partita._team.team import Grid, Team
from partita.distdl.agree import in_world_order
from partita.distdl.axes import AllSumReduce
from partita.distdl.halo import HaloExchange
from partita.distdl.partition import CartesianPartition, Partition
from partita.distdl.primitive import Primitive
from partita.distdl.primitives import Broadcast, Repartition, SumReduce

Local = np.ndarray[Any, Any]
Workers = Any  # A Team, a Grid or a partita.distdl.Partition.
P = TypeVar("P", bound=Primitive)


def _partitions(*workers: Workers) -> list[Partition]:
    """Teams and grids as partitions of one root."""
    found: list[Partition] = []
    for one in workers:
        if isinstance(one, Partition):
            found.append(one)
        elif isinstance(one, Grid):
            found.append(CartesianPartition(one))
        elif isinstance(one, Team):
            found.append(Partition(one))
        else:
            message = f"a {type(one).__name__} as workers; use a team, a grid or a partition"
            if isinstance(one, Array | np.ndarray):
                message += (
                    " (partita's broadcast moves an array between workers; NumPy's is "
                    "broadcast_shapes, broadcast_arrays or broadcast_to)"
                )
            raise LayoutError(message, "workers-type")
    # Teams do not say where they come from; the engine refuses those that do not belong together.
    for partition, one in zip(found, workers, strict=True):
        if isinstance(one, Team):
            partition.root = found[0].root
    return found


def _identity(workers: Workers) -> Any:
    """What tells workers apart: world, members in order, arrangement, and where they come from."""
    if isinstance(workers, Team):
        return workers
    return workers.team, workers.grid_shape, workers.root


Wanted = tuple[Sequence[Workers], Any, Callable[..., P]]


def _kept(named: Sequence[Workers | None], read: Callable[[], Wanted[P]]) -> P:
    """A primitive, kept with the caller's own object for the next call.

    `read` gives the two sides, what tells one primitive from another, and how to make it. A worker
    whose arguments make none tells the others, who are on their way into the call.
    """
    try:
        return _found(named[0], *read())
    except Exception as error:
        team = _meeting(named)
        if team is not None:
            team.told(error)
        raise


def _found(home: Workers, workers: Sequence[Workers], key: Any, make: Callable[..., P]) -> P:
    for one in (home, *workers):
        # Quick, for every call passes here; the full reading refuses it by name.
        if not isinstance(one, Keeper):
            _partitions(one)
    # A team stays what it is; a partition may have been deactivated since.
    telling = [one for one in workers if one is not home or not isinstance(one, Team)]
    whole = (key, *(_identity(one) for one in telling))
    found: P = home.kept(whole, lambda: make(*_partitions(*workers)))
    return found


def _meeting(named: Sequence[Workers | None]) -> Team | None:
    """The team in which the workers that are named begin a call, as far as they can be read."""
    together: Team | None = None
    for one in named:
        try:
            team = None if one is None else _partitions(one)[0].team
            if team is not None:
                together = team if together is None else together.union(team)
        except PartitaError:
            continue
    if together is None or not together.active:
        return None
    return in_world_order(together)


def _between(
    source: Workers, target: Workers | None, root: int, *, is_sum: bool
) -> tuple[Workers, Workers]:
    """The two sides; without a target, one rank and all of them."""
    if target is not None:
        return source, target
    (team,) = _partitions(source)
    single = team.create_partition_inclusive([root])
    return (team, single) if is_sum else (single, team)


class _Rooted:
    """A broadcast or a sum between two sets of workers; each is the other's adjoint."""

    is_sum: bool

    def __call__(
        self,
        local: Local,
        source: Workers,
        target: Workers | None = None,
        *,
        root: int = 0,
        transpose_source: bool = False,
        transpose_target: bool = False,
        out: Local | None = None,
    ) -> Local:
        kind = SumReduce if self.is_sum else Broadcast

        def read() -> Wanted[Broadcast]:
            flags = tuple(flag(one, "transpose") for one in (transpose_source, transpose_target))
            pair = _between(source, target, root, is_sum=self.is_sum)
            return pair, (kind.__name__, flags), lambda x, y: kind(x, y, *flags)

        return _kept([source, target], read).forward(local, out)

    def adjoint(
        self,
        cotangent: Local,
        source: Workers,
        target: Workers | None = None,
        *,
        root: int = 0,
        transpose_source: bool = False,
        transpose_target: bool = False,
        out: Local | None = None,
    ) -> Local:
        """Return the adjoint's result: with copies turned into sums, and sums into copies."""
        back = broadcast if self.is_sum else sum_reduce
        flags = {"transpose_source": transpose_target, "transpose_target": transpose_source}
        if target is None:
            return back(cotangent, source, root=root, out=out, **flags)
        return back(cotangent, target, source, out=out, **flags)


class _Broadcast(_Rooted):
    """`broadcast(local, source, target)`: copy each source array to the workers of its colour.

    `source` must match `target` by the Broadcast Rules. Without `target`, the array of rank `root`
    goes to all of `source`. The adjoint sums the cotangents of all copies.
    """

    is_sum = False


class _SumReduce(_Rooted):
    """`sum_reduce(local, source, target)`: give each target worker the sum of its colour.

    `target` must match `source` by the Broadcast Rules. Without `target`, the sum of all of
    `source` goes to rank `root`. The adjoint copies the cotangent of each sum to its summands.
    """

    is_sum = True


class _AllSumReduce:
    """`all_sum_reduce(local, grid, axes)`: sum along `axes` (default: all) on every worker."""

    def __call__(
        self,
        local: Local,
        grid: Workers,
        axes: Iterable[int] | None = None,
        *,
        out: Local | None = None,
    ) -> Local:
        def read() -> Wanted[AllSumReduce]:
            along = None if axes is None else integers(axes, "axis")
            kept = () if along is None else None
            return [grid], ("all-sum", along), lambda x: AllSumReduce(x, along, kept)

        return _kept([grid], read).forward(local, out)

    def adjoint(
        self,
        cotangent: Local,
        grid: Workers,
        axes: Iterable[int] | None = None,
        *,
        out: Local | None = None,
    ) -> Local:
        """Return the same sum: the operation is its own adjoint."""
        return self(cotangent, grid, axes, out=out)


class _HaloExchange:
    """`halo_exchange(buffer, grid, halo)`: fill the halo of the caller's own buffer, in place.

    `halo` has one entry per dimension: a width, (left, right), or one pair per grid coordinate, as
    returned by `partita.distdl.halo_widths`. The buffer includes its halo, and has none beyond the
    ends of a dimension. Pass `shape=` (of the whole array, divided evenly) or `sizes=` to avoid an
    exchange of shapes.
    """

    def __call__(
        self,
        buffer: Local,
        grid: Workers,
        halo: Sequence[Any],
        *,
        shape: Sequence[int] | None = None,
        sizes: Sequence[Sequence[int]] | None = None,
    ) -> Local:
        return self._made(grid, halo, shape, sizes).fill(buffer)

    def adjoint(
        self,
        cotangent: Local,
        grid: Workers,
        halo: Sequence[Any],
        *,
        shape: Sequence[int] | None = None,
        sizes: Sequence[Sequence[int]] | None = None,
        out: Local | None = None,
    ) -> Local:
        """Return a new array with the halos' cotangents added to their owners, and zero halos.

        With `out=cotangent` it works in place, and only the halos travel.
        """
        made = self._made(grid, halo, shape, sizes)
        if out is not None and out is cotangent:
            return made.adjoint_in_place(cotangent)
        if made.team is None:
            return cotangent.copy()
        return made.bound(cotangent).adjoint(cotangent, out)

    def _made(self, grid: Workers, halo: Any, shape: Any, sizes: Any) -> HaloExchange:
        def read() -> Wanted[HaloExchange]:
            key = ("halo", _frozen(halo), _frozen(shape), _frozen(sizes))
            return [grid], key, lambda x: HaloExchange(x, halo, shape=shape, sizes=sizes)

        return _kept([grid], read)


class _TransposePartition:
    """`transpose_partition(local, source, target)`: move a tensor into blocks on `target`.

    Both have one grid axis per dimension. The blocks on `source` may be uneven; those on `target`
    are even, or have the given `sizes` per dimension and coordinate.
    """

    def __call__(
        self,
        local: Local,
        source: Workers,
        target: Workers,
        *,
        sizes: Sequence[Sequence[int]] | None = None,
        out: Local | None = None,
    ) -> Local:
        def read() -> Wanted[Repartition]:
            key = ("repartition", _frozen(sizes))
            return [source, target], key, lambda x, y: Repartition(x, y, sizes=sizes)

        return _kept([source, target], read).forward(local, out)

    def adjoint(
        self,
        cotangent: Local,
        source: Workers,
        target: Workers,
        *,
        sizes: Sequence[Sequence[int]] | None = None,
        out: Local | None = None,
    ) -> Local:
        """Move the tensor back; `sizes` are those on `source` if they are uneven."""
        return self(cotangent, target, source, sizes=sizes, out=out)


def _frozen(value: Any) -> Any:
    """A nested sequence as something that can be a key."""
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str):
        return tuple(_frozen(one) for one in value)
    # What is no number is refused by whoever reads it.
    return value if value is None or isinstance(value, Hashable) else repr(value)


broadcast: _Rooted = _Broadcast()
sum_reduce: _Rooted = _SumReduce()
all_sum_reduce = _AllSumReduce()
halo_exchange = _HaloExchange()
transpose_partition = _TransposePartition()
