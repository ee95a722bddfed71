"""Where new arrays go: `layout=`, `default_layout`, `PARTITA_DEFAULT_LAYOUT`."""

from __future__ import annotations

import os
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from partita._errors import LayoutError
from partita._partita import Layout, even_factors

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from partita._array.array import Array
    from partita._team.team import Team

_chosen: ContextVar[str | None] = ContextVar("partita_default_layout", default=None)


@contextmanager
def default_layout(notation: str) -> Iterator[None]:
    """Put new arrays where a notation says, for as many of its maps as they have dimensions.

    >>> import partita as pt
    >>> def job(team):
    ...     with pt.default_layout("*, block"):
    ...         return pt.zeros((4, 6)).local.shape
    >>> pt.spmd(job, 2)
    [(4, 3), (4, 3)]
    """
    layout_of((2,) * max(1, notation.split("@")[0].count(",") + 1), notation, 1)
    token = _chosen.set(notation)
    try:
        yield
    finally:
        _chosen.reset(token)


def placed(array: Array, layout: Layout | str | None) -> Array:
    """A new array where it shall be: as asked for, or as arrays are by default."""
    team: Team = array._rank.team
    wanted = layout
    if wanted is None:
        wanted = _chosen.get() or os.environ.get("PARTITA_DEFAULT_LAYOUT")
        if wanted is None or array.ndim == 0 or team.size == 1:
            return array
    if isinstance(wanted, str):
        wanted = layout_of(array.shape, wanted, team.size)
    if layout is not None and tuple(wanted.shape) != tuple(array.shape):
        message = f"a layout of {wanted.shape} for an array of {array.shape}; use one of its shape"
        raise LayoutError(message, "layout-shape")
    if team.size > 1 and not wanted.partial and array._put(wanted):
        return array
    return array if team.size == 1 and layout is None else array.redistribute(wanted)


def layout_of(shape: Sequence[int], notation: str, n_ranks: int) -> Layout:
    """The layout of a notation, which may have more or fewer maps than there are dimensions."""
    words, at, grid = notation.partition("@")
    maps = [one.strip() for one in _split(words)][: len(shape)]
    maps += ["*"] * (len(shape) - len(maps))
    if at and len(maps) == len(_split(words)):
        return Layout(shape, notation)
    n_cut = sum(one != "*" for one in maps)
    # More ranks in front, where memory is cut into longer pieces.
    sides = reversed(even_factors(n_ranks, n_cut))
    grid = "x".join(str(next(sides)) if one != "*" else "1" for one in maps)
    if n_cut == 0:
        grid = f"{grid}x{n_ranks}" if maps else str(n_ranks)
    return Layout(shape, f"{', '.join(maps)} @ {grid}")


def _split(words: str) -> list[str]:
    """Maps between commas, but for those in brackets."""
    found, depth = [""], 0
    for letter in words:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return found


def compute(*arrays: Any) -> None:
    """Compute arrays now, together. Collective."""
    for array in arrays:
        array.sync()


__all__ = ["compute", "default_layout"]
