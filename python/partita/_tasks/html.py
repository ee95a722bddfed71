"""What a notebook shows of an array of handles, without asking anybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita._array import html
from partita._partita import bytes_in_words

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partita._array.described import Described


def page(array: Described, engine: str, places: Mapping[int, str]) -> str:
    """Facts, where each slot was put, and the layout in figures and drawn."""
    layout = array.layout

    def cells(rank: int) -> tuple[str, str]:
        held = layout.n_held(rank) * array.dtype.itemsize
        return places.get(rank, "where it was made"), bytes_in_words(held)

    facts = [
        ("dtype", array.dtype),
        ("bytes", bytes_in_words(array.nbytes)),
        ("engine", engine),
    ]
    slots = html.ranks(array, ("rank", "place", "bytes"), cells)
    return f"<div>{html.table(facts)}{slots}{layout._repr_html_()}</div>"
