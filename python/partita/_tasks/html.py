"""What a notebook shows of an array of handles: a table and a picture, without asking anybody."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from partita._tasks.array import TaskArray
    from partita._tasks.handles import Handle

# More rows than this nobody reads.
MOST_ROWS = 16


def bytes_in_words(n_bytes: int) -> str:
    """A number of bytes for people."""
    size = float(n_bytes)
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size < 1024 or unit == "TiB":
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.2f} {unit}"
        size /= 1024
    raise AssertionError


def table(
    array: TaskArray, handles: Mapping[int, Sequence[Handle]], places: Mapping[int, str]
) -> str:
    """Facts, where each slot was put, and the layout drawn."""
    layout = array.layout
    facts = [
        ("shape", " x ".join(map(str, array.shape)) or "()"),
        ("dtype", str(array.dtype)),
        ("bytes", bytes_in_words(array.nbytes)),
        ("layout", layout.notation),
        ("engine", array.engine),
    ]
    head = _rows(([name, value] for name, value in facts), "th", "td")
    slots = []
    for rank in list(handles)[:MOST_ROWS]:
        held = layout.n_held(rank) * array.dtype.itemsize
        slots.append([str(rank), places.get(rank, "where it was made"), bytes_in_words(held)])
    if len(handles) > MOST_ROWS:
        slots.append([f"{len(handles) - MOST_ROWS} more", "", ""])
    names = "<tr><th>rank</th><th>place</th><th>bytes</th></tr>"
    return (
        f"<table><tr><td><table>{head}</table></td>"
        f"<td><table>{names}{_rows(slots, 'td', 'td')}</table></td>"
        f"<td>{layout.draw()}</td></tr></table>"
    )


def _rows(rows: Iterable[Sequence[str]], first: str, other: str) -> str:
    lines = []
    for row in rows:
        cells = [f"<{first}>{escape(row[0])}</{first}>"]
        cells += [f"<{other}>{escape(cell)}</{other}>" for cell in row[1:]]
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "".join(lines)
