"""What the workers of a team tell each other about their arrays before anything moves.

Every call of a primitive starts with one small exchange: shapes and element types differ between
workers and may change from call to call on any of them, so a worker cannot know by itself whether
last time's plan still fits. The same exchange compares what the call was made with.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._errors import LayoutError
from partita._team.team import Team

if TYPE_CHECKING:
    from partita.distdl.partition import Partition

Local = np.ndarray[Any, Any]


@dataclass(frozen=True)
class Structure:
    """One worker's array: shape, element type, and a flag that is agreed upon by `any`."""

    shape: tuple[int, ...]
    dtype: str
    flag: bool = False

    def word(self) -> str:
        """The structure in one short word."""
        return f"{'x'.join(map(str, self.shape))} {self.dtype} {int(self.flag)}"


def read(word: str) -> Structure:
    """The structure behind a word.

    >>> read(Structure((3, 0), "float32").word())
    Structure(shape=(3, 0), dtype='float32', flag=False)
    """
    shape, dtype, flag = word.split(" ")
    numbers = tuple(int(length) for length in shape.split("x")) if shape else ()
    return Structure(numbers, dtype, flag == "1")


def structure(local: Any, flag: bool = False) -> Structure:
    """The structure of a NumPy array."""
    if not isinstance(local, np.ndarray):
        message = f"a {type(local).__name__} as local array; use a NumPy array"
        raise LayoutError(message, "local-type")
    return Structure(local.shape, local.dtype.name, flag)


def in_world_order(team: Team) -> Team:
    """The same workers in the order of the world."""
    ranks = sorted(team.ranks)
    if tuple(ranks) == team.ranks:
        return team
    places = {rank: place for place, rank in enumerate(team.ranks)}
    return team.subteam([places[rank] for rank in ranks])


def places(team: Team, ranks: Sequence[int]) -> list[int]:
    """The ranks in a team of some workers, given as ranks of the world."""
    found = {rank: place for place, rank in enumerate(team.ranks)}
    return [found[rank] for rank in ranks]


def brief(text: str) -> str:
    """A text that is compared on every call: what is long ends in a number that stands for all.

    >>> brief("halo [1]"), len(brief("1, " * 1000))
    ('halo [1]', 314)
    """
    if len(text) <= 320:
        return text
    return f"{text[:300]}... ({zlib.crc32(text.encode()):08x})"


@dataclass(frozen=True)
class Terms:
    """What all workers of a call must have alike: its name, and in words what it was made with."""

    call: str
    settings: str


class Agreement:
    """All workers of a call, and the terms that they compare.

    They meet in the order of the world. No other order is the same whatever the arguments are: so
    workers that give the same others other roles still meet, and all hear that they differ.
    """

    def __init__(self, workers: Team, terms: Terms) -> None:
        self.team, self.terms = in_world_order(workers), terms
        self._places = places(self.team, workers.ranks)

    def exchange(self, own: Structure, terms: Terms | None = None) -> tuple[str, ...]:
        """Everyone's structure as words, in the order of the workers given. Collective.

        Equal words mean that nothing has changed.
        """
        alike = terms or self.terms
        words = self.team.gather_alike(alike.call, alike.settings, own.word())
        return tuple([words[place] for place in self._places])


def any_flag(structures: Sequence[Structure]) -> bool:
    """Whether any worker's array is flagged."""
    return any(one.flag for one in structures)


def common_dtype(structures: Sequence[Structure], who: str) -> str:
    """The element type that all have."""
    dtypes = sorted({one.dtype for one in structures})
    if len(dtypes) != 1:
        message = f"{who} have dtypes {', '.join(dtypes)}; use one"
        raise LayoutError(message, "dtypes-differ")
    return dtypes[0]


def common_shape(structures: Sequence[Structure], who: str) -> tuple[int, ...]:
    """The shape that all have."""
    shapes = sorted({one.shape for one in structures})
    if len(shapes) != 1:
        message = f"{who} have shapes {', '.join(map(str, shapes))}; use one"
        raise LayoutError(message, "shapes-differ")
    return shapes[0]


def block_sizes(
    shapes: Sequence[tuple[int, ...]], grid_shape: tuple[int, ...]
) -> list[tuple[int, ...]]:
    """Sizes per dimension and grid coordinate of blocks that form a grid, C order.

    >>> block_sizes([(2, 5), (2, 4), (3, 5), (3, 4)], (2, 2))
    [(2, 3), (5, 4)]
    """
    ndim = len(grid_shape)
    for shape in shapes:
        if len(shape) != ndim:
            message = f"a local array of {len(shape)} dimensions on a grid of {ndim}; use {ndim}"
            raise LayoutError(message, "array-ndim")
    sizes = [[-1] * length for length in grid_shape]
    for rank, shape in enumerate(shapes):
        place = np.unravel_index(rank, grid_shape) if ndim else ()
        for axis, at in enumerate(place):
            if sizes[axis][at] not in (-1, shape[axis]):
                message = (
                    f"dimension {axis} has blocks of {sizes[axis][at]} and {shape[axis]} at "
                    f"place {int(at)}; use local arrays that form a grid"
                )
                raise LayoutError(message, "blocks-no-grid")
            sizes[axis][at] = shape[axis]
    return [tuple(one) for one in sizes]


def described(partition: Partition) -> str:
    """The members and their arrangement in words, for workers to compare."""
    shape = "x".join(map(str, partition.grid_shape)) or "()"
    return f"{shape} of ranks {', '.join(map(str, partition.ranks)) or 'none'}"
