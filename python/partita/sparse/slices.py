"""Which rank holds which slice of a tensor, and where an element lies in its slice.

Ranks stand in a grid with an axis per dimension, the last one running fastest; a layout whose grid
has other axes is brought into this form. A distributed dimension is cut by its map into as many
parts as its axis has ranks; a replicated one is whole in every slice. A slice has a number per
dimension, 0 for replicated ones.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._args import integers, is_listed, shown
from partita._array.notation import layout_for
from partita._errors import LayoutError
from partita._partita import Block as BlockMap
from partita._partita import Cyclic, Layout, Whole, even_factors

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._types import Map

Local = np.ndarray[Any, Any]
SliceId = tuple[int, ...]

KINDS = ("distributed", "replicated")

# As many as coordinates can count: integers of 64 bits with a sign, as SciPy's are.
_MOST = 2**63 - 1
# So many parts are told apart by comparisons, more by a look-up.
_FEW = 16


class Slices:
    """How a tensor is cut into slices."""

    def __init__(self, layout: Layout, sides: Sequence[int] | None = None) -> None:
        """Cut by a layout; its grid gets an axis for each dimension unless their sides are named.

        Along a dimension that is not cut there may be more ranks, which hold the same slice.
        """
        maps = layout.maps
        if maps is None or layout.partial or not layout.shape:
            message = f"the layout '{layout.notation}' has no map for each dimension"
            raise LayoutError(f"{message}; use one such as 'block, *'", "sparse-layout")
        check_extents(layout.shape)
        if sides is None:
            layout, sides = _by_dimension(layout, maps)
        self.layout = layout
        #: Extents of the grid along each dimension, without the ranks of other axes.
        self.sides = tuple(sides)
        self.shape = layout.shape
        self.maps = maps
        self.dist = tuple(KINDS[isinstance(one, Whole)] for one in maps)
        # Where all dimensions are cut, there may be one axis more, of ranks that hold the same.
        self.grid = tuple(layout.grid_shape)
        self.axes = [
            Layout((n,), [one], grid=(side,))
            for n, one, side in zip(self.shape, maps, self.grid, strict=False)
        ]
        self._strides = [math.prod(self.grid[at + 1 :]) for at in range(len(self.grid))]
        # A transposed tensor stays where it is: its ranks are not in the order of its grid.
        self._rank_at = list(layout.ranks)
        self._place_of = {rank: place for place, rank in enumerate(self._rank_at)}
        self._straight: dict[int, bool] = {}
        self._refuse_halos()

    def _refuse_halos(self) -> None:
        for axis, n, kind in zip(self.axes, self.shape, self.dist, strict=True):
            n_held = sum(axis.n_held(part) for part in range(axis.n_ranks))
            # One rank alone holds nothing twice, but others would.
            has_halo = any(np.any(getattr(one, "halo", 0)) for one in axis.maps or ())
            if kind == "distributed" and (n_held != n or has_halo):
                message = f"the layout '{self.layout.notation}' has elements in several slices"
                raise LayoutError(f"{message}; use maps without halos", "sparse-layout")

    def slice_of(self, rank: int) -> SliceId:
        """Return the slice that a rank holds."""
        place = self._place_of[rank]
        places = [
            place // stride % side for stride, side in zip(self._strides, self.grid, strict=True)
        ]
        return tuple(
            at if kind == "distributed" else 0 for at, kind in zip(places, self.dist, strict=False)
        )

    def owner(self, slice_id: SliceId) -> int:
        """Return the rank that owns a slice: the first of the grid that holds it."""
        place = sum(at * stride for at, stride in zip(slice_id, self._strides, strict=False))
        return self._rank_at[place]

    def is_owner(self, rank: int) -> bool:
        """Return whether a rank owns the slice that it holds."""
        return self.owner(self.slice_of(rank)) == rank

    @property
    def n_ranks(self) -> int:
        """How many ranks there are."""
        return len(self._rank_at)

    @property
    def owners(self) -> list[int]:
        """For each rank the owner of what it holds."""
        return [self.owner(self.slice_of(rank)) for rank in range(self.n_ranks)]

    @property
    def counts(self) -> tuple[int, ...]:
        """How many slices there are along each dimension."""
        sides = zip(self.grid, self.dist, strict=False)
        return tuple(side if kind == "distributed" else 1 for side, kind in sides)

    def checked(self, slice_id: Any) -> SliceId:
        """Return the number of a slice, if there is one."""
        given = integers(slice_id if is_listed(slice_id) else (slice_id,), "slice")
        if len(given) != len(self.shape):
            message = f"slice {given} of a tensor of {len(self.shape)} dimensions"
            raise LayoutError(f"{message}; give a number for each", "slice-id")
        for dim, (at, n) in enumerate(zip(given, self.counts, strict=True)):
            if not 0 <= at < n:
                message = f"slice {given}: dimension {dim} has {n} slices"
                raise LayoutError(f"{message}; use numbers from 0 to {n - 1}", "slice-id")
        return given

    def slice_shape(self, slice_id: SliceId) -> tuple[int, ...]:
        """Return the extents of a slice."""
        pairs = zip(self.axes, slice_id, strict=True)
        return tuple(axis.local_shape(at)[0] for axis, at in pairs)

    def largest(self) -> int:
        """Return the largest extent that any slice has."""
        return max(axis.local_shape(at)[0] for axis in self.axes for at in range(axis.n_ranks))

    def most_elements(self) -> int:
        """Return the number of elements of the largest slice."""
        sides = [[axis.local_shape(at)[0] for at in range(axis.n_ranks)] for axis in self.axes]
        return math.prod(max(one) for one in sides)

    def is_straight(self, dim: int) -> bool:
        """Return whether every slice has a dimension whole, and in its order.

        A dimension that is not cut may lie in another order: one list of indices says in which.
        """
        if dim not in self._straight:
            self._straight[dim] = self.counts[dim] == 1 and self._is_in_order(dim)
        return self._straight[dim]

    def _is_in_order(self, dim: int) -> bool:
        if isinstance(self.maps[dim], BlockMap | Cyclic | Whole):
            return True
        all_places = np.arange(self.shape[dim])
        found = self.axes[dim].globalize(0, all_places[:, None])[:, 0]
        return bool(np.array_equal(found, all_places))

    def stretch(self, dim: int, part: int) -> tuple[int, int] | None:
        """Return where a part begins and ends, if the parts lie one behind the other."""
        if self.dist[dim] == "replicated":
            return 0, self.shape[dim]
        if not isinstance(self.maps[dim], BlockMap):
            return None
        first = self._start(dim, part)
        return first, first + self.axes[dim].local_shape(part)[0]

    def places(self, dim: int, indices: Local) -> tuple[Local, Local]:
        """Return for indices of a dimension in which part they are, and where in it."""
        parts, local = self.axes[dim].locate(np.asarray(indices, np.int64)[:, None])
        return parts, local[:, 0]

    def parts_of(self, dim: int, indices: Local) -> Local:
        """Return for indices of a dimension in which part they are."""
        n_parts = self.counts[dim]
        if n_parts > _FEW or not isinstance(self.maps[dim], BlockMap | Whole):
            return self.places(dim, indices)[0]
        found = np.zeros(len(indices), np.uint8)
        for part in range(1, n_parts):
            # Comparisons go over memory faster than any look-up.
            found += indices >= self._start(dim, part)
        return found

    def _start(self, dim: int, part: int) -> int:
        return sum(self.axes[dim].local_shape(at)[0] for at in range(part))

    def owners_of(self, coords: Sequence[Local]) -> Local:
        """Return the owner of elements by their coordinates, in the shortest type that holds it."""
        kind = np.dtype(np.uint8 if self.n_ranks <= 256 else np.int64)
        places = np.zeros(len(coords[0]), kind)
        for dim, indices in enumerate(coords):
            if self.counts[dim] > 1:
                parts = self.parts_of(dim, indices).astype(kind, copy=False)
                places += parts * kind.type(self._strides[dim])
        if self._rank_at == list(range(self.n_ranks)):
            return places
        found: Local = np.asarray(self._rank_at, kind)[places]
        return found

    def inside(self, slice_id: SliceId, dim: int, indices: Local) -> Local:
        """Return where indices of a slice lie in it, along one dimension."""
        if self.is_straight(dim):
            return indices
        stretch = self.stretch(dim, slice_id[dim])
        if stretch is None:
            return self.places(dim, indices)[1]
        return indices - indices.dtype.type(stretch[0]) if stretch[0] else indices

    def ranks(self, coords: Sequence[Local]) -> tuple[Local, list[Local]]:
        """Return the owner of elements by their coordinates, and these in its slice."""
        inside = [
            one if self.is_straight(dim) else self.places(dim, one)[1]
            for dim, one in enumerate(coords)
        ]
        return self.owners_of(coords).astype(np.int64), inside

    def globalized(self, slice_id: SliceId, coords: Sequence[Local]) -> list[Local]:
        """Return the coordinates in the whole tensor of elements of a slice."""
        found = []
        for dim, (at, local) in enumerate(zip(slice_id, coords, strict=True)):
            stretch = self.stretch(dim, at)
            local = np.asarray(local, np.int64)
            if stretch is None:
                found.append(self.axes[dim].globalize(at, local[:, None])[:, 0])
            else:
                found.append(local + stretch[0] if stretch[0] else local)
        return found

    def transposed(self, order: Sequence[int]) -> Slices:
        """Return the slices of the tensor with its dimensions in another order."""
        n = len(self.shape)
        extra = list(range(n, len(self.grid)))
        places = np.arange(self.n_ranks).reshape(self.grid).transpose([*order, *extra])
        layout = Layout(
            [self.shape[dim] for dim in order],
            [self.maps[dim] for dim in order],
            grid=[self.grid[dim] for dim in [*order, *extra]],
            ranks=[self._rank_at[place] for place in places.reshape(-1)],
        )
        return Slices(layout, [self.sides[dim] for dim in order])


def check_extents(shape: Sequence[int]) -> None:
    """Refuse extents that coordinates cannot count."""
    if max(shape, default=0) > _MOST:
        message = f"a sparse tensor of shape {tuple(shape)}; use extents of at most 2^63 - 1"
        raise LayoutError(f"{message}, which coordinates can count", "shape-overflow")


def _by_dimension(layout: Layout, maps: Sequence[Map]) -> tuple[Layout, list[int]]:
    """Return a layout whose grid has an axis for each dimension, and the sides of these."""
    n_dims = len(maps)
    if len(layout.grid_shape) != n_dims:
        # The dimensions that are cut have the first axes, in their order.
        is_cut = [not isinstance(one, Whole) for one in maps]
        axes = [sum(is_cut[:dim]) if is_cut[dim] else None for dim in range(n_dims)]
        layout = on_axes(grid_of_ranks(layout), layout.shape, maps, axes)
    return layout, list(layout.grid_shape[:n_dims])


def grid_of_ranks(layout: Layout) -> Local:
    """Return the ranks of a layout, as they stand in its grid."""
    return np.array(layout.ranks).reshape(layout.grid_shape)


def on_axes(
    ranks: Local, shape: Sequence[int], maps: Sequence[Map], axes: Sequence[int | None]
) -> Layout:
    """Return a layout each of whose dimensions has an axis of a grid of ranks, or none.

    Ranks along the axes that are left hold the same. These axes go to a dimension that is not cut;
    if all are, they are one axis behind the others.
    """
    groups = [[] if axis is None else [axis] for axis in axes]
    left = [axis for axis in range(ranks.ndim) if axis not in axes]
    whole = next((dim for dim, one in enumerate(maps) if isinstance(one, Whole)), None)
    if whole is not None:
        groups[whole] += left
    elif left:
        groups.append(left)
    turned = ranks.transpose([axis for group in groups for axis in group])
    sides = [math.prod(ranks.shape[axis] for axis in group) for group in groups]
    return Layout(shape, maps, grid=sides, ranks=turned.reshape(-1).tolist())


def slices_for(
    shape: Sequence[int],
    n_ranks: int,
    dist: Sequence[str] | None = None,
    layout: Layout | str | None = None,
    grid: Sequence[int] | None = None,
) -> Slices:
    """Return how a tensor is cut: by a layout, or by a kind for each dimension."""
    shape = integers(shape, "shape")
    if not shape or min(shape) < 0:
        message = f"a sparse tensor of shape {shape}; use one extent or more, of at least 0"
        raise LayoutError(message, "sparse-shape")
    if layout is not None:
        if dist is not None or grid is not None:
            message = "both layout= and dist= or grid= are given; give one of them"
            raise LayoutError(message, "sparse-layout")
        return _of_layout(shape, layout_for(shape, layout, n_ranks), n_ranks)
    if dist is None:
        dist = ["distributed", *["replicated"] * (len(shape) - 1)]
    if not is_listed(dist) or any(kind not in KINDS for kind in dist) or len(dist) != len(shape):
        message = f"dist={shown(dist)} for {len(shape)} dimensions; give 'distributed' or"
        raise LayoutError(f"{message} 'replicated' for each", "sparse-dist")
    sides = _sides(shape, tuple(dist), n_ranks, grid)
    maps = [BlockMap(rule="last") if kind == "distributed" else Whole() for kind in dist]
    ranks = np.arange(n_ranks).reshape(sides)
    return Slices(on_axes(ranks, shape, maps, range(len(shape))), sides[: len(shape)])


def _of_layout(shape: tuple[int, ...], layout: Layout, n_ranks: int) -> Slices:
    if layout.shape != shape:
        message = f"the layout '{layout.notation}' of shape {layout.shape} for a tensor of {shape}"
        raise LayoutError(f"{message}; use one of that shape", "sparse-layout")
    if len(layout.ranks) != n_ranks:
        message = f"the layout '{layout.notation}' has {len(layout.ranks)} of {n_ranks} ranks"
        raise LayoutError(f"{message}; use one of all ranks", "sparse-layout")
    return Slices(layout)


def _sides(
    shape: tuple[int, ...], dist: tuple[str, ...], n_ranks: int, grid: Sequence[int] | None
) -> list[int]:
    """The extents of the grid: one for each dimension, and maybe one for ranks that are alike."""
    if grid is not None:
        sides = list(integers(grid, "grid"))
        is_whole = min(sides, default=0) > 0 and math.prod(sides) == n_ranks
        if not is_whole or len(sides) not in (len(shape), len(shape) + 1):
            message = f"a grid of {tuple(sides)} for {len(shape)} dimensions on {n_ranks} ranks"
            raise LayoutError(f"{message}; one extent per dimension, all ranks", "sparse-grid")
        return sides
    cut = [dim for dim, kind in enumerate(dist) if kind == "distributed"]
    if not cut:
        # Nothing is cut: the ranks stand in a row.
        return [n_ranks, *[1] * (len(shape) - 1)]
    sides = [1] * len(shape)
    for dim, side in zip(cut, even_factors(n_ranks, len(cut)), strict=True):
        sides[dim] = side
    return sides
