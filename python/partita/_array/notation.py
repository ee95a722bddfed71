"""Layouts by notation, for arrays of any number of dimensions on any number of ranks."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from partita._errors import LayoutError
from partita._partita import Layout, even_factors

if TYPE_CHECKING:
    from collections.abc import Sequence


def layout_for(shape: Sequence[int], given: Layout | str, n_ranks: int) -> Layout:
    """The layout that is asked for, by notation or as one, on so many ranks; others are refused.

    A notation may have more maps, so that one serves arrays of any number of dimensions: they take
    as many as they need.
    """
    layout = layout_of(shape, given, n_ranks) if isinstance(given, str) else given
    if not isinstance(layout, Layout):
        kind = type(given).__name__
        raise TypeError(f"a {kind} is no layout; use a Layout or a notation such as 'block, *'")
    most = max(layout.ranks, default=0)
    if most >= n_ranks:
        message = f"the layout '{layout.notation}' needs rank {most} where there are {n_ranks}"
        message += f" {'rank' if n_ranks == 1 else 'ranks'}; use {_fitting(layout, n_ranks)}"
        raise LayoutError(message, "too-few-ranks")
    return layout


def _fitting(layout: Layout, n_ranks: int) -> str:
    """What would fit in its place, in words."""
    words = layout.notation.partition("@")[0].strip()
    with suppress(LayoutError):
        return f"'{layout_of(layout.shape, words, n_ranks).notation}'"
    return f"one of at most {n_ranks}"


def layout_of(shape: Sequence[int], notation: str, n_ranks: int) -> Layout:
    """The layout of a notation, which may have more or fewer maps than there are dimensions."""
    at = "@" in notation
    given = _maps(notation)
    maps = given[: len(shape)]
    maps += ["*"] * (len(shape) - len(maps))
    if at and len(maps) == len(given):
        return Layout(shape, notation)
    n_cut = sum(one != "*" for one in maps)
    # More ranks in front, where memory is cut into longer pieces.
    sides = reversed(even_factors(n_ranks, n_cut))
    grid = "x".join(str(next(sides)) if one != "*" else "1" for one in maps)
    if n_cut == 0:
        grid = f"{grid}x{n_ranks}" if maps else str(n_ranks)
    return Layout(shape, f"{', '.join(maps)} @ {grid}")


def checked(given: Any, n_ranks: int) -> str:
    """The notation of a default for arrays, if it can be had on so many ranks."""
    if isinstance(given, Layout):
        given = given.notation
    if not isinstance(given, str):
        kind = type(given).__name__
        raise TypeError(f"a {kind} is no layout; use a notation such as 'block, *'")
    # Any shape will do, but for maps that name sizes: these are judged with each array.
    shape = (2,) * len(_maps(given))
    try:
        layout_for(shape, given, n_ranks)
    except LayoutError as error:
        if error.reason != "sizes-sum":
            raise
    return given


def _maps(notation: str) -> list[str]:
    """The maps of a notation: between commas, but for those in brackets."""
    found, depth = [""], 0
    for letter in notation.partition("@")[0]:
        depth += {"(": 1, ")": -1}.get(letter, 0)
        if letter == "," and depth == 0:
            found.append("")
        else:
            found[-1] += letter
    return [one.strip() for one in found]
