"""Odd layouts from a seed, as cases of the oracle and as layouts of partita."""

from __future__ import annotations

import os
from itertools import pairwise
from random import Random

import oracle

import partita as pt


def n_cases(usual: int) -> int:
    """How many generated cases a test runs: `PARTITA_CASES`, or the given number."""
    return int(os.environ.get("PARTITA_CASES", usual))


def fitted(layout: str, ndim: int) -> str:
    """A notation with as many maps as there are dimensions, for shapes of all kinds."""
    return ", ".join(layout.split(", ")[:ndim])


def case(seed: int) -> oracle.Case:
    """A layout."""
    return several(seed, 1)[0]


def pair(seed: int) -> tuple[oracle.Case, oracle.Case]:
    """Two layouts over one shape, now and then the same."""
    source, target = several(seed, 2)
    return source, source if Random(seed).randrange(8) == 0 else target


def several(seed: int, count: int) -> list[oracle.Case]:
    """Layouts over one shape, with the same names of indices."""
    rng = Random(seed)
    shape = _shape(rng)
    labels = _labels(rng, shape)
    return [_layout(rng, shape, labels) for _ in range(count)]


def build(case: oracle.Case) -> pt.Layout:
    """The layout of a case."""
    if isinstance(case, oracle.Boxes):
        boxes = [
            [(box.start, box.shape, box.owned_start, box.owned_shape) for box in own]
            for own in case.boxes
        ]
        return pt.Layout.from_boxes(case.shape, boxes, ranks=case.ranks)
    maps = [_map(map) for map in case.maps]
    return pt.Layout(case.shape, maps, grid=case.grid, ranks=case.ranks, partial=case.partial)


def _map(map: oracle.Map) -> pt.Block | pt.Cyclic | pt.Whole | pt.Unstructured:
    match map:
        case oracle.Whole():
            return pt.Whole()
        case oracle.Cyclic(block):
            return pt.Cyclic(block)
        case oracle.Lists(lists):
            return pt.Unstructured(lists)
        case oracle.Block(rule, halos, periodic):
            halo = halos[0] if len(set(halos)) == 1 else halos
            if isinstance(rule, tuple):
                return pt.Block(sizes=rule, halo=halo, periodic=periodic)
            return pt.Block(rule, halo=halo, periodic=periodic)


def _shape(rng: Random) -> oracle.Index:
    ndim = rng.choice([0, 1, 1, 1, 2, 2, 2, 3, 3, 4])
    longest = [0, 40, 12, 6, 4][ndim]
    return tuple(0 if rng.randrange(12) == 0 else rng.randint(1, longest) for _ in range(ndim))


def _labels(rng: Random, shape: oracle.Index) -> list[list[int] | None]:
    return [_odd_labels(rng, n) if rng.randrange(12) == 0 else None for n in shape]


def _odd_labels(rng: Random, extent: int) -> list[int]:
    """Distinct integers, negative and far apart ones among them."""
    step = rng.choice([7, 1 << 40])
    return [(k - extent // 2) * step + k % 3 for k in range(extent)]


def _layout(rng: Random, shape: oracle.Index, labels: list[list[int] | None]) -> oracle.Case:
    if not any(labels) and rng.randrange(5) == 0:
        return _tiles(rng, shape) if rng.randrange(2) else _loose_boxes(rng, shape)
    kinds = [7 if labels[dim] is not None else rng.randint(0, 7) for dim in range(len(shape))]
    n_distributed = sum(kind > 0 for kind in kinds)
    n_axes = n_distributed + (rng.randint(0, 2) if rng.randrange(3) == 0 else 0)
    n_axes = min(n_axes, max(4, n_distributed))
    grid = tuple(rng.randint(1, 2 if n_axes > 2 else 5) for _ in range(n_axes))
    partial = _partial(rng, kinds, n_axes)
    n_ranks = oracle.n_elements(grid)
    ranks = list(range(n_ranks))
    if rng.randrange(3) == 0:
        first = rng.randint(0, 5)
        ranks = [first + rank for rank in ranks]
    if rng.randrange(3) == 0:
        ranks = rng.sample(range(3 * n_ranks), n_ranks)
    stand_ins = tuple(oracle.Cyclic(1) if kind else oracle.Whole() for kind in kinds)
    axes = oracle.axes_of(oracle.Grid(shape, stand_ins, grid, tuple(ranks), partial))
    maps = tuple(
        _any_map(rng, kinds[dim], shape[dim], 1 if axis is None else grid[axis], labels[dim])
        for dim, axis in enumerate(axes)
    )
    return oracle.Grid(shape, maps, grid, tuple(ranks), partial)


def _partial(rng: Random, kinds: list[int], n_axes: int) -> oracle.Index:
    if n_axes == len(kinds):
        free = [axis for axis in range(n_axes) if kinds[axis] == 0]
        return tuple(axis for axis in free if rng.randrange(2))
    n_spare = n_axes - sum(kind > 0 for kind in kinds)
    return tuple(sorted(rng.sample(range(n_axes), rng.randint(0, n_spare))))


def _any_map(
    rng: Random, kind: int, extent: int, length: int, labels: list[int] | None
) -> oracle.Map:
    if kind == 0:
        return oracle.Whole()
    if kind <= 2:
        return oracle.Cyclic(2**63 if rng.randrange(8) == 0 else rng.randint(1, 5))
    if kind == 7:
        return _lists(rng, list(range(extent)) if labels is None else labels, length)
    rule: str | tuple[int, ...] = rng.choice(["first", "last", "ceil"])
    if rng.randrange(4) == 0:
        rule = _sizes(rng, extent, length)
    halos, periodic = _halos(rng, length)
    return oracle.Block(rule, halos, periodic)


def _halos(rng: Random, length: int) -> tuple[tuple[tuple[int, int], ...], bool]:
    if rng.randrange(2):
        return ((0, 0),) * length, rng.randrange(8) == 0
    widest = 15 if rng.randrange(4) == 0 else 2
    same = (rng.randint(0, widest), rng.randint(0, widest))
    each = tuple((rng.randint(0, widest), rng.randint(0, widest)) for _ in range(length))
    return (each if rng.randrange(3) == 0 else (same,) * length), rng.randrange(2) == 0


def _sizes(rng: Random, extent: int, length: int) -> tuple[int, ...]:
    cuts = sorted([0, extent, *(rng.randint(0, extent) for _ in range(length - 1))])
    return tuple(stop - start for start, stop in pairwise(cuts))


def _lists(rng: Random, labels: list[int], length: int) -> oracle.Lists:
    lists: list[list[int]] = [[] for _ in range(length)]
    shares = rng.randrange(3) == 0
    for label in rng.sample(labels, len(labels)):
        owner, twin = rng.randrange(length), rng.randrange(length)
        lists[owner].append(label)
        if shares and twin != owner and rng.randrange(3) == 0:
            lists[twin].append(label)
    return oracle.Lists(tuple(tuple(entry) for entry in lists))


def over(rng: Random, shape: oracle.Index) -> oracle.Case:
    """A layout over a shape, its indices named as usual."""
    return _layout(rng, shape, [None] * len(shape))


def in_pieces(rng: Random, shape: oracle.Index, n_ranks: int) -> oracle.Boxes:
    """A tiling with several tiles to a rank, some held with a margin."""
    boxes: list[list[oracle.Box]] = [[] for _ in range(n_ranks)]
    for start, lengths in _tiling(rng, shape):
        own, box = rng.choice(boxes), oracle.Box(start, lengths, start, lengths)
        wide = _with_margin(rng, shape, box) if rng.randrange(2) else box
        # A rank's own boxes may not overlap; tiles alone never do.
        own.append(wide)
    for own in boxes:
        for at, box in enumerate(own):
            if any(_meets(box, other) for other in own[:at] + own[at + 1 :]):
                own[at] = oracle.Box(box.owned_start, box.owned_shape, *_owned(box))
    return oracle.Boxes(shape, tuple(map(tuple, boxes)), tuple(rng.sample(range(n_ranks), n_ranks)))


def _owned(box: oracle.Box) -> tuple[oracle.Index, oracle.Index]:
    return box.owned_start, box.owned_shape


def _tiles(rng: Random, shape: oracle.Index) -> oracle.Boxes:
    """A tiling whose tiles have any owner, in any order, some with a margin held besides."""
    tiles = _tiling(rng, shape)
    boxes: list[list[oracle.Box]] = [[] for _ in range(rng.randint(1, 5))]
    for start, lengths in tiles:
        box = oracle.Box(start, lengths, start, lengths)
        own = rng.choice(boxes)
        # A rank's own boxes may not overlap, so only the first of a rank gets a margin.
        if not own and rng.randrange(3) == 0:
            box = _with_margin(rng, shape, box)
        if not any(_meets(box, other) for other in own):
            own.append(box)
        else:
            boxes.append([box])
    ranks = rng.sample(range(2 * len(boxes)), len(boxes))
    return oracle.Boxes(shape, tuple(tuple(own) for own in boxes), tuple(ranks))


def _tiling(rng: Random, shape: oracle.Index) -> list[tuple[oracle.Index, oracle.Index]]:
    """Tiles by start and shape, in any order."""
    tiles: list[tuple[oracle.Index, oracle.Index]] = [((), ())]
    for extent in shape:
        sizes = _sizes(rng, extent, rng.randint(1, 3))
        starts = [sum(sizes[:k]) for k in range(len(sizes))]
        tiles = [
            ((*start, at), (*lengths, length))
            for start, lengths in tiles
            for at, length in zip(starts, sizes, strict=True)
        ]
    rng.shuffle(tiles)
    return tiles


def _with_margin(rng: Random, shape: oracle.Index, box: oracle.Box) -> oracle.Box:
    start = tuple(max(0, at - rng.randint(0, 2)) for at in box.start)
    stop = tuple(
        min(extent, at + length + rng.randint(0, 2))
        for extent, at, length in zip(shape, box.start, box.shape, strict=True)
    )
    lengths = tuple(end - at for at, end in zip(start, stop, strict=True))
    return oracle.Box(start, lengths, box.start, box.shape)


def _meets(a: oracle.Box, b: oracle.Box) -> bool:
    return all(
        max(a.start[dim], b.start[dim])
        < min(a.start[dim] + a.shape[dim], b.start[dim] + b.shape[dim])
        for dim in range(len(a.start))
    )


def _loose_boxes(rng: Random, shape: oracle.Index) -> oracle.Boxes:
    """A box per rank, anywhere: overlaps, gaps, ranks without one."""
    boxes: list[tuple[oracle.Box, ...]] = []
    for _ in range(rng.randint(1, 5)):
        ends = [sorted((rng.randint(0, n), rng.randint(0, n))) for n in shape]
        start = tuple(low for low, _ in ends)
        lengths = tuple(high - low for low, high in ends)
        box = oracle.Box(start, lengths, start, lengths)
        boxes.append(() if rng.randrange(8) == 0 else (box,))
    return oracle.Boxes(shape, tuple(boxes), tuple(range(len(boxes))))
