"""What a notebook shows of an array of handles, without asking anybody."""

from __future__ import annotations

from typing import TYPE_CHECKING

from partita._array import html

if TYPE_CHECKING:
    from collections.abc import Mapping

    from partita._array.described import Described


def bytes_in_words(n_bytes: int) -> str:
    """A number of bytes for people."""
    size = float(n_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.2f} {unit}"
        size /= 1024
    raise AssertionError


def page(array: Described, engine: str, places: Mapping[int, str]) -> str:
    """Facts, where each slot was put, and the layout drawn."""
    layout = array.layout

    def cells(rank: int) -> tuple[str, str]:
        held = layout.n_held(rank) * array.dtype.itemsize
        return places.get(rank, "where it was made"), bytes_in_words(held)

    facts = [
        ("shape", " x ".join(map(str, array.shape)) or "()"),
        ("dtype", array.dtype),
        ("bytes", bytes_in_words(array.nbytes)),
        ("layout", layout.notation),
        ("engine", engine),
    ]
    slots = html.ranks(array, ("rank", "place", "bytes"), cells)
    return (
        f"<table><tr><td>{html.table(facts)}</td><td>{slots}</td>"
        f"<td>{layout.draw()}</td></tr></table>"
    )
