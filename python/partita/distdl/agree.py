"""What the workers of a team tell each other about their arrays before anything moves.

Every call of a primitive starts with one small exchange: shapes and element types differ between
workers and may change from call to call on any of them, so a worker cannot know by itself whether
last time's plan still fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from partita._errors import LayoutError
from partita._team import Team

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


def exchange(team: Team, call: str, own: Structure) -> tuple[str, ...]:
    """Everyone's structure, as words: equal words mean that nothing has changed. Collective.

    `call` is what the caller does, so that nothing else is taken for it.
    """
    return tuple(team.gather_alike(call, "", own.word()))


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
