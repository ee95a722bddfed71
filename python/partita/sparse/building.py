"""Tensors made of what is elsewhere: SciPy's matrices, blocks, triplets, dense arrays.

All of these are collective: every rank calls them, with the same shape and layout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._args import is_listed, shown
from partita._array.array import Array
from partita._errors import LayoutError, MismatchError
from partita.sparse.agreement import agreed, members
from partita.sparse.base import Base
from partita.sparse.block import Block, checked_format
from partita.sparse.cutting import cut
from partita.sparse.digest import check_replicas
from partita.sparse.handing_out import handed_out
from partita.sparse.kinds import checked_dtype, in_place, index_type, values_of
from partita.sparse.outside import block_of, check_inside, is_foreign
from partita.sparse.pointers import check_pointers
from partita.sparse.slices import Slices, slices_for
from partita.sparse.teams import part_on
from partita.sparse.travel import sent_home
from partita.sparse.triplets import SPREAD, arrays_among, own_share

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from partita._partita import Layout
    from partita._team.team import Team

Local = np.ndarray[Any, Any]


class Building(Base):
    """How tensors come into being."""

    __slots__ = ()

    @classmethod
    def from_scipy(
        cls,
        m: Any,
        dist: Sequence[str] | None = None,
        team: Team | None = None,
        format: str | None = None,
        root: int | None = None,
        *,
        layout: Layout | str | None = None,
        grid: Sequence[int] | None = None,
        index_dtype: Any = None,
    ) -> Self:
        """Return a tensor of a SciPy matrix that every rank has whole, or `root` only.

        Each rank keeps its slice, over the matrix's own memory where that is one stretch of it:
        who writes to the matrix later writes to the tensor. The format is the matrix's own unless
        another is named, coordinates are as wide as the matrix's unless `index_dtype` says how
        wide. Collective.
        """
        team = members(team)
        if root is not None:
            own, slices = handed_out(team, root, m, (dist, layout, grid), format)
            return cls(_indexed(team, own, slices, index_dtype), slices, team).share()

        def look() -> tuple[tuple[Block, Slices], dict[str, Any], None]:
            whole = block_of(m)
            slices = slices_for(whole.shape, team.size, dist, layout, grid)
            wanted = checked_format(format, whole.ndim, whole.format)
            if wanted != whole.format:
                check_pointers(slices, wanted, lambda: whole.nnz, 'use format="coo"')
            own = cut(whole, slices, slices.slice_of(team.rank)).in_format(wanted).with_tidy_lines()
            if index_dtype is not None:
                own = own.with_indices(index_type(index_dtype, slices.largest(), own.nnz))
            facts = {"root": None, **_facts(slices, wanted, own)}
            facts |= {"the number of entries": whole.nnz}
            return (own, slices), facts, None

        (own, slices), _ = agreed(team, "from_scipy", look)
        return cls(own, slices, team).share()

    @classmethod
    def from_blocks(
        cls,
        block: Any,
        shape: Sequence[int],
        dist: Sequence[str] | None = None,
        team: Team | None = None,
        *,
        layout: Layout | str | None = None,
        grid: Sequence[int] | None = None,
    ) -> Self:
        """Return the tensor of which each rank gives its slice, as a SciPy matrix, without a copy.

        Coordinates are those inside the slice. Ranks that hold the same slice give the same.
        Collective.
        """
        team = members(team)

        def look() -> tuple[tuple[Block, Slices], dict[str, Any], str]:
            slices = slices_for(shape, team.size, dist, layout, grid)
            own = block_of(block)
            wanted = slices.slice_shape(slices.slice_of(team.rank))
            if own.shape != wanted:
                message = f"a block of shape {own.shape} for slice {slices.slice_of(team.rank)}"
                raise LayoutError(f"{message}, which is {wanted}; use that", "sparse-block")
            facts = _facts(slices, own.format, own)
            del facts["the index type"]
            return (own, slices), facts, own.index_dtype.name

        (own, slices), types = agreed(team, "from_blocks", look)
        own = own.with_indices(np.dtype("int64" if "int64" in types else "int32"))
        own = own.with_tidy_lines()
        check_replicas(team, slices, own)
        return cls(own, slices, team).share()

    @classmethod
    def from_coo(
        cls,
        shape: Sequence[int],
        indices: Sequence[Any] | Array,
        values: Any,
        dist: Sequence[str] | None = None,
        team: Team | None = None,
        format: str | None = None,
        *,
        layout: Layout | str | None = None,
        grid: Sequence[int] | None = None,
        index_dtype: Any = None,
    ) -> Self:
        """Return a tensor of entries that any rank may give; those of one place are added.

        Coordinates are 32 bits wide where they fit, unless `index_dtype` asks for 64. Collective:
        every rank gives some entries, or none. Of entries in arrays of partita, such as those of
        `find`, each counts once, wherever these lie.
        """
        arrays = arrays_among(indices, values)
        team = arrays[0].team if team is None and arrays else members(team)
        if arrays:
            indices, values = own_share(team, indices, values)

        def look() -> tuple[tuple[Slices, str, list[Local], Local], dict[str, Any], Any]:
            slices = slices_for(shape, team.size, dist, layout, grid)
            wanted = checked_format(format, len(slices.shape))
            coords, data = _entries(slices.shape, indices, values)
            asked = None if index_dtype is None else index_type(index_dtype, slices.largest(), 0)
            facts = _facts(slices, wanted, None) | {"index_dtype": str(asked)}
            return (slices, wanted, coords, data), facts, (data.dtype.name, len(data))

        words = SPREAD if arrays else "each rank's own entries"
        (slices, wanted, coords, data), told = agreed(team, "from_coo", look, words)
        n_entries = sum(n for _, n in told)
        check_pointers(slices, wanted, lambda: n_entries, 'use format="coo"')
        data = data.astype(_one_kind(told), copy=False)
        own = sent_home(team, slices, wanted, coords, data, index_dtype)
        return cls(own, slices, team).share()

    @classmethod
    def from_dense(
        cls,
        a: Any,
        dist: Sequence[str] | None = None,
        team: Team | None = None,
        format: str | None = None,
        *,
        layout: Layout | str | None = None,
        grid: Sequence[int] | None = None,
    ) -> Self:
        """Return the entries of a dense array that are not 0.

        An array of partita stays where it is unless another layout is asked for; one of NumPy is
        whole on every rank. Collective.
        """
        team = a.team if team is None and isinstance(a, Array) else members(team)
        # What is pending is computed by all ranks together, and what they are told then is known.
        if isinstance(a, Array):
            a.sync()

        def look() -> tuple[tuple[Slices, str, Any], dict[str, Any], None]:
            if isinstance(a, Base) or is_foreign(a):
                message = f"a {type(a).__name__} is no dense array; use from_scipy for SciPy's"
                raise LayoutError(f"{message}, t.redistribute for a DistTensor", "sparse-type")
            given = a if isinstance(a, Array) else np.asarray(a)
            kind = checked_dtype(given.dtype)
            slices = _slices_of_dense(given, team.size, dist, layout, grid)
            wanted = checked_format(format, len(slices.shape))
            facts = _facts(slices, wanted, None) | {"the element type": kind.name}
            return (slices, wanted, given), facts, None

        (slices, wanted, given), _ = agreed(team, "from_dense", look)
        if isinstance(given, Array):
            local = part_on(given, slices.layout, team)
        else:
            here = slices.slice_of(team.rank)
            sides = [np.arange(n) for n in slices.slice_shape(here)]
            local = given[np.ix_(*slices.globalized(here, sides))]
        dtype = index_type(None, slices.largest(), slices.most_elements())
        coords = [one.astype(dtype) for one in np.nonzero(local)]
        own = Block.of_coords(local.shape, wanted, coords, values_of(local[tuple(coords)]))
        return cls(own, slices, team).share()


def _indexed(team: Team, own: Block, slices: Slices, asked: Any) -> Block:
    """Return a slice with coordinates of the type that all ranks ask for, if any. Collective."""

    def look() -> tuple[Block, dict[str, Any], None]:
        if asked is None:
            return own, {"index_dtype": "None"}, None
        kind = index_type(asked, slices.largest(), own.nnz)
        return own.with_indices(kind), {"index_dtype": kind.name}, None

    return agreed(team, "from_scipy", look)[0]


def _facts(slices: Slices, format: str, block: Block | None) -> dict[str, Any]:
    """What must be the same on all ranks."""
    found: dict[str, Any] = {
        "the shape": slices.shape,
        "the layout": slices.layout.notation,
        "the format": format,
    }
    if block is not None:
        found |= {
            "the element type": block.dtype.name,
            "the index type": block.index_dtype.name,
        }
    return found


def _entries(shape: tuple[int, ...], indices: Any, values: Any) -> tuple[list[Local], Local]:
    """Coordinates and values as they are given, if they fit together."""
    data = values_of(values)
    if not is_listed(indices):
        message = f"indices {shown(indices)}; give a list of integers for each dimension"
        raise LayoutError(message, "sparse-lengths")
    if len(indices) != len(shape):
        message = f"{len(indices)} lists of indices for {len(shape)} dimensions; give one for each"
        raise LayoutError(message, "sparse-lengths")
    coords = []
    for dim, given in enumerate(indices):
        one = np.asarray(given)
        if one.size == 0:
            one = one.astype(np.int64)
        if one.dtype.kind not in "iu" or one.shape != data.shape:
            message = f"indices of dimension {dim}: {one.dtype} of shape {one.shape}"
            raise LayoutError(f"{message}; give {len(data)} integers", "sparse-lengths")
        check_inside(one, shape[dim], dim)
        narrow = one.dtype in (np.int32, np.int64)
        coords.append(in_place(one if narrow else one.astype(np.int64)))
    return coords, data


def _one_kind(told: list[tuple[str, int]]) -> str:
    """The element type of all values; a rank that has none has the others', whatever it says."""
    given = {kind: rank for rank, (kind, n) in reversed([*enumerate(told)]) if n}
    if len(given) > 1:
        words = " and ".join(f"{kind} on rank {rank}" for kind, rank in sorted(given.items()))
        message = f"from_coo: the element type is {words}; give the same on every rank"
        raise MismatchError(message, "sparse-ranks-differ")
    return next(iter(given), told[0][0])


def _slices_of_dense(
    given: Any,
    n_ranks: int,
    dist: Sequence[str] | None,
    layout: Layout | str | None,
    grid: Sequence[int] | None,
) -> Slices:
    """The slices that are asked for, or those in which the array lies, if it has any."""
    if isinstance(given, Array) and dist is None and layout is None and grid is None:
        try:
            return slices_for(given.shape, n_ranks, layout=given.layout)
        except LayoutError:
            pass
    return slices_for(given.shape, n_ranks, dist, layout, grid)
