"""The pairs of layouts behind the primitives. Nothing here communicates.

`ranks` are always ranks of the team that will run the plan.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

from partita._args import integers, is_listed, natural
from partita._errors import LayoutError
from partita._partita import Block, Layout, Whole
from partita.distdl.windows import Need, Range, ranges_of

if TYPE_CHECKING:
    from partita._types import Map

Shape = tuple[int, ...]
Pairs: TypeAlias = tuple[Layout, Layout]


def copies(shapes: Sequence[Shape], roots: Sequence[int], takers: Sequence[Sequence[int]]) -> Pairs:
    """From one copy of each array to many: array k goes from `roots[k]` to `takers[k]`.

    Every local array has a leading axis of length 1 besides its own.
    """
    if len(set(shapes)) == 1:
        # Equal arrays, equally many takers: a grid of (array, copy).
        maps: list[Map] = [Block(), *(Whole() for _ in shapes[0])]
        shape = (len(shapes), *shapes[0])
        grid = (len(shapes), len(takers[0]))
        flat = [rank for group in takers for rank in group]
        return (
            Layout(shape, maps, grid=grid[:1], ranks=list(roots)),
            Layout(shape, maps, grid=grid, ranks=flat),
        )
    ndim = len(shapes[0])
    if any(len(shape) != ndim for shape in shapes):
        message = f"arrays of shapes {list(shapes)}; use one number of dimensions"
        raise LayoutError(message, "array-ndim")
    room = [max(shape[axis] for shape in shapes) for axis in range(ndim)]
    everywhere = (len(shapes), *room)
    boxes = [[((k, *[0] * ndim), (1, *shape))] for k, shape in enumerate(shapes)]
    copied = [boxes[k] for k, group in enumerate(takers) for _ in group]
    flat = [rank for group in takers for rank in group]
    return (
        Layout.from_boxes(everywhere, boxes, ranks=list(roots)),
        Layout.from_boxes(everywhere, copied, ranks=flat),
    )


def summands(shape: Shape, n_ranks: int) -> Layout:
    """Every rank holds a summand of the whole array."""
    return Layout(shape, [Whole() for _ in shape], grid=(n_ranks,), partial=[0])


def replicas(shape: Shape, n_ranks: int) -> Layout:
    """Every rank holds the whole array."""
    return Layout(shape, [Whole() for _ in shape], grid=(n_ranks,))


def slabs(shape: Shape, axis: int, sizes: Sequence[int]) -> Layout:
    """Every rank holds a range of one axis."""
    maps = [Block(sizes=list(sizes)) if at == axis else Whole() for at in range(len(shape))]
    return Layout(shape, maps, grid=(len(sizes),))


def blocks(
    sizes: Sequence[Sequence[int]],
    ranks: Sequence[int] | None = None,
    halos: Sequence[Sequence[Range]] | None = None,
) -> Layout:
    """Blocks of these sizes per dimension and grid coordinate, with halos if given."""
    shape = tuple(sum(one) for one in sizes)
    if halos is None:
        maps = [Block(sizes=list(one)) for one in sizes]
    else:
        maps = [
            Block(sizes=list(one), halo=[list(pair) for pair in halo])
            for one, halo in zip(sizes, halos, strict=True)
        ]
    grid = tuple(len(one) for one in sizes)
    return Layout(shape, maps, grid=grid, ranks=None if ranks is None else list(ranks))


def checked_sizes(sizes: Any, grid: Shape) -> list[Shape]:
    """Sizes of blocks per dimension and grid coordinate, as many as there are workers."""
    if not is_listed(sizes):
        message = f"sizes {sizes!r}; use one list of sizes per dimension"
        raise LayoutError(message, "sizes-type")
    found = [tuple(natural(n, "sizes") for n in integers(one, "sizes")) for one in sizes]
    if tuple(len(one) for one in found) != grid:
        message = f"sizes {found} on a grid of shape {grid}; use one list per dimension, one size"
        raise LayoutError(f"{message} per worker along it", "sizes-grid")
    return found


def even_blocks(shape: Shape, grid: Shape, ranks: Sequence[int]) -> Layout:
    """Blocks as even as can be; the first grid coordinates get one more."""
    return Layout(shape, [Block() for _ in shape], grid=grid, ranks=list(ranks))


def needed(
    shape: Shape, wanted: Sequence[Sequence[Need]], ranks: Sequence[int] | None = None
) -> Layout:
    """Every rank of a grid holds what it needs of each dimension, overlaps included."""
    boxes = []
    places: list[list[Need]] = [[]]
    for one in wanted:
        places = [[*place, item] for place in places for item in one]
    for place in places:
        start = tuple(item.start for item in place)
        boxes.append([(start, tuple(item.stop - item.start for item in place))])
    return Layout.from_boxes(shape, boxes, ranks=None if ranks is None else list(ranks))


def held_widths(sizes: Sequence[int], halo: Sequence[Range]) -> list[Range]:
    """What each coordinate holds beyond its own: widths end where the dimension ends."""
    extent = sum(sizes)
    return [
        (min(left, start), min(right, extent - stop))
        for (start, stop), (left, right) in zip(ranges_of(sizes), halo, strict=True)
    ]
