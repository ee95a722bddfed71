"""A dense model of layouts: every index of every buffer, written out.

It reads each rule in the plainest way, knows nothing of partita, and is as slow as it likes:

>>> model = Dense(Grid((5,), (Block("first", ((1, 1), (1, 1))),), (2,), (7, 3)))
>>> [(place.rank, place.buffers[0].held[0].tolist()) for place in model.places]
[(7, [0, 1, 2, 3]), (3, [2, 3, 4])]
>>> model.owner[(3,)]
(3, 0, (1,))
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from math import prod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]
Index: TypeAlias = tuple[int, ...]
Values: TypeAlias = dict[tuple[int, int], Ints]
"""A buffer's content by (rank, number of the buffer)."""


@dataclass(frozen=True)
class Whole:
    """Everything on every coordinate."""


@dataclass(frozen=True)
class Block:
    """One interval per coordinate: a rule or sizes, the halo of each coordinate."""

    rule: str | tuple[int, ...]
    halos: tuple[tuple[int, int], ...]
    periodic: bool = False


@dataclass(frozen=True)
class Cyclic:
    """Blocks in turn."""

    block: int


@dataclass(frozen=True)
class Lists:
    """A list per coordinate."""

    lists: tuple[tuple[int, ...], ...]


Map: TypeAlias = Whole | Block | Cyclic | Lists


@dataclass(frozen=True)
class Grid:
    """A map per dimension on a grid."""

    shape: Index
    maps: tuple[Map, ...]
    grid: Index
    ranks: Index
    partial: Index = ()


@dataclass(frozen=True)
class Box:
    """A box that a rank holds, and the part that it offers to own."""

    start: Index
    shape: Index
    owned_start: Index
    owned_shape: Index


@dataclass(frozen=True)
class Boxes:
    """Boxes of each rank."""

    shape: Index
    boxes: tuple[tuple[Box, ...], ...]
    ranks: Index


Case: TypeAlias = Grid | Boxes


def block_sizes(rule: str | tuple[int, ...], n: int, p: int) -> list[int]:
    """Length of each coordinate's block."""
    if isinstance(rule, tuple):
        return list(rule)
    if rule == "first":
        return [n // p + (1 if k < n % p else 0) for k in range(p)]
    if rule == "last":
        return [n // p + (1 if k + n % p >= p else 0) for k in range(p)]
    size = -(-n // p)
    return [max(0, min(size, n - k * size)) for k in range(p)]


def held(map: Map, n: int, k: int, p: int) -> list[tuple[int, bool]]:
    """Indices in the order of coordinate k's buffer, and whether it owns them."""
    if isinstance(map, Whole):
        return [(i, True) for i in range(n)]
    if isinstance(map, Cyclic):
        return [(i, True) for i in range(n) if (i // map.block) % p == k]
    if isinstance(map, Lists):
        before = {i for entry in map.lists[:k] for i in entry}
        return [(i, i not in before) for i in map.lists[k]]
    sizes = block_sizes(map.rule, n, p)
    start, stop = sum(sizes[:k]), sum(sizes[: k + 1])
    left, right = map.halos[k]
    reach = range(start - left, stop + right) if n else range(0)
    return [(i % n, start <= i < stop) for i in reach if map.periodic or 0 <= i < n]


@dataclass
class Buffer:
    """One local buffer: its indices per dimension, and which elements are owned."""

    held: list[Ints]
    owned: NDArray[np.bool_]

    @property
    def shape(self) -> Index:
        """Local shape."""
        return tuple(len(indices) for indices in self.held)

    def index(self, position: Index) -> Index:
        """Global index at a position."""
        return tuple(int(self.held[dim][at]) for dim, at in enumerate(position))

    def positions(self) -> list[Index]:
        """All positions in C order."""
        return list(product(*map(range, self.shape)))


@dataclass
class Place:
    """One place of a layout."""

    rank: int
    coords: Index
    replica: int
    summand: int
    buffers: list[Buffer]


def axes_of(case: Grid) -> list[int | None]:
    """The grid axis that serves each dimension."""
    free = iter(axis for axis in range(len(case.grid)) if axis not in case.partial)
    axes: list[int | None] = []
    for dim, map in enumerate(case.maps):
        if isinstance(map, Whole):
            axes.append(None)
        else:
            axes.append(dim if len(case.grid) == len(case.shape) else next(free))
    return axes


class Dense:
    """A layout with everything listed."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.places = _grid_places(case) if isinstance(case, Grid) else _box_places(case)
        self.by_rank = {place.rank: place for place in self.places}
        self.n_summands = 1 + max((place.summand for place in self.places), default=0)
        self.n_replicas = 1 + max((place.replica for place in self.places), default=0)
        self.owner: dict[Index, tuple[int, int, Index]] = {}
        """The first owner of each index: rank, buffer, position."""
        for place in self.places:
            for number, buffer in enumerate(place.buffers):
                for position in buffer.positions():
                    if buffer.owned[position]:
                        where = (place.rank, number, position)
                        self.owner.setdefault(buffer.index(position), where)

    @property
    def labels(self) -> list[Ints]:
        """The names of each dimension's indices, sorted."""
        labels = []
        for dim, n in enumerate(self.case.shape):
            names = set(range(n))
            if isinstance(self.case, Grid):
                map = self.case.maps[dim]
                if isinstance(map, Lists):
                    names = {i for entry in map.lists for i in entry}
            labels.append(np.array(sorted(names), dtype=np.int64))
        return labels

    def owns(self, rank: int, summand: int, index: Index) -> bool:
        """Whether a rank of that summand owns an index."""
        place = self.by_rank.get(rank)
        if place is None or place.summand != summand:
            return False
        return index in owned_by(place)

    def fill(self, summands: list[Ints]) -> Values:
        """Every buffer, filled from one global array per summand."""
        labels = self.labels
        values = {}
        for place in self.places:
            for number, buffer in enumerate(place.buffers):
                at = [np.searchsorted(labels[d], buffer.held[d]) for d in range(len(labels))]
                content = summands[place.summand][np.ix_(*at)] if at else summands[place.summand]
                values[place.rank, number] = np.array(content, dtype=np.int64)
        return values

    def zeros(self) -> Values:
        """Every buffer, empty."""
        return {
            (place.rank, number): np.zeros(buffer.shape, dtype=np.int64)
            for place in self.places
            for number, buffer in enumerate(place.buffers)
        }


def owned_by(place: Place) -> set[Index]:
    """The indices that a place owns."""
    return {
        buffer.index(position)
        for buffer in place.buffers
        for position in buffer.positions()
        if buffer.owned[position]
    }


def held_by(place: Place) -> list[Index]:
    """The indices that a place holds, as often as it holds them."""
    return [buffer.index(position) for buffer in place.buffers for position in buffer.positions()]


def _grid_places(case: Grid) -> list[Place]:
    axes = axes_of(case)
    places = []
    for number, coords in enumerate(product(*map(range, case.grid))):
        replica = summand = 0
        for at, length in enumerate(case.grid):
            if at in case.partial:
                summand = summand * length + coords[at]
            elif at not in axes:
                replica = replica * length + coords[at]
        indices, flags = [], []
        for n, map_, axis in zip(case.shape, case.maps, axes, strict=True):
            k, p = (0, 1) if axis is None else (coords[axis], case.grid[axis])
            pairs = held(map_, n, k, p)
            indices.append(np.array([index for index, _ in pairs], dtype=np.int64))
            flags.append([owned for _, owned in pairs])
        owned = np.array([all(each) for each in product(*flags)], dtype=np.bool_)
        buffer = Buffer(indices, owned.reshape([len(each) for each in indices]))
        places.append(Place(case.ranks[number], coords, replica, summand, [buffer]))
    return places


def _box_places(case: Boxes) -> list[Place]:
    taken: set[Index] = set()
    places = []
    for number, (rank, boxes) in enumerate(zip(case.ranks, case.boxes, strict=True)):
        buffers = []
        for box in boxes:
            indices = [
                np.arange(start, start + length, dtype=np.int64)
                for start, length in zip(box.start, box.shape, strict=True)
            ]
            buffer = Buffer(indices, np.zeros(box.shape, dtype=np.bool_))
            for position in buffer.positions():
                index = buffer.index(position)
                offered = all(
                    start <= at < start + length
                    for at, start, length in zip(
                        index, box.owned_start, box.owned_shape, strict=True
                    )
                )
                buffer.owned[position] = offered and index not in taken
                if offered:
                    taken.add(index)
            buffers.append(buffer)
        places.append(Place(rank, (number,), 0, 0, buffers))
    return places


def n_elements(shape: Index) -> int:
    """Number of elements of a shape."""
    return prod(shape)
