"""Arrays as text: rank 0 reads and writes it, with NumPy's functions."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._functions.creation import an_array
from partita._functions.files.beside import written_beside
from partita._functions.files.npz import row_blocks
from partita._functions.files.paths import path_of
from partita._functions.placing import layout_of_new
from partita._partita import Layout, Whole
from partita._team.spmd import own_team
from partita._team.together import by_first

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._team.team import Team


def savetxt(fname: Any, X: Any, fmt: Any = "%.18e", **options: Any) -> None:
    """Write a row or a table as text; rank 0 writes, a block of rows at a time. Collective."""
    array, path = an_array(X), path_of(fname)
    if array.ndim not in (1, 2):
        raise ValueError(f"text of an array of {array.ndim} dimensions; use 1 or 2")
    first = {key: options.pop(key) for key in ("header",) if key in options}
    footer = options.pop("footer", "")
    error: Exception | None = None
    with written_beside(array.team, path, lambda beside: beside.touch()) as beside:
        for block in row_blocks(array):
            if block is not None and error is None:
                try:
                    with beside.open("ab") as file:
                        np.savetxt(file, block, fmt, **first, **options)
                except Exception as met:
                    # The others go on sending their rows; they are told at the end.
                    error = met
            first = {}

        def end() -> None:
            if error is not None:
                raise error
            if footer:
                with beside.open("ab") as file:
                    np.savetxt(file, [], fmt, footer=footer, **options)

        by_first(array.team, end)


def loadtxt(
    fname: Any,
    dtype: Any = float,
    comments: Any = "#",
    delimiter: str | None = None,
    *,
    layout: Layout | str | None = None,
    team: Team | None = None,
    **options: Any,
) -> Array:
    """Return the numbers of a text, as NumPy's function of this name; rank 0 reads. Collective.

    The text is a file, by its path, or lines that rank 0 has: an open file, a `StringIO`, a list.
    """
    text = _text_of(fname)
    read = partial(np.loadtxt, text, dtype, comments, delimiter, **options)
    return _read_by_first(text, read, layout, team)


def genfromtxt(
    fname: Any,
    dtype: Any = float,
    comments: Any = "#",
    delimiter: Any = None,
    *,
    layout: Layout | str | None = None,
    team: Team | None = None,
    **options: Any,
) -> Array:
    """Return the numbers of a text of which some are missing; rank 0 reads. Collective."""
    text = _text_of(fname)
    read = partial(np.genfromtxt, text, dtype, comments, delimiter, **options)
    return _read_by_first(text, read, layout, team)


def _text_of(given: Any) -> Any:
    """A path, or lines as they are given."""
    has_lines = hasattr(given, "__next__") or isinstance(given, list | tuple)
    return given if has_lines else path_of(given)


def _read_by_first(
    text: Any, read_text: Callable[[], Any], layout: Layout | str | None, team: Team | None
) -> Array:
    own = own_team(team)
    read: list[np.ndarray[Any, Any]] = []

    def about() -> tuple[tuple[int, ...], str]:
        found = np.asarray(read_text())
        if found.dtype.kind not in "biufc":
            raise TypeError(f"elements of {found.dtype} are no numbers; choose columns of numbers")
        read.append(np.ascontiguousarray(found).reshape(found.shape))
        return read[0].shape, read[0].dtype.str

    shape, kind = by_first(own, about, text if isinstance(text, Path) else None)
    there = Layout(shape, [Whole() for _ in shape], ranks=[0])
    array = Array(read, there, own, np.dtype(kind))
    return array.redistribute(layout_of_new(tuple(shape), layout, own))


__all__ = ["genfromtxt", "loadtxt", "savetxt"]
