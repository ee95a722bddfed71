"""What notebooks show of arrays: facts, bytes and place of each rank, and the picture.

No rank asks another for anything: what is not known here is left out.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from partita._team import addresses

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partita._array.array import Array
    from partita._array.described import Described

# More rows than this nobody reads.
MOST_ROWS = 16


def table(rows: Sequence[Sequence[object]], head: Sequence[str] = ()) -> str:
    """Rows as a table; without a head the first cell of each row is one."""
    first = "td" if head else "th"
    lines = ["".join(f"<th>{word}</th>" for word in head)] if head else []
    for name, *cells in rows:
        words = "".join(f"<td>{escape(str(cell))}</td>" for cell in cells)
        lines.append(f"<{first}>{escape(str(name))}</{first}>{words}")
    return f"<table>{''.join(f'<tr>{line}</tr>' for line in lines)}</table>"


def ranks(array: Described, head: Sequence[str], cells: Callable[[int], Sequence[object]]) -> str:
    """A table of what there is to say of each rank, and how many more ranks there are."""
    every = array.layout.ranks
    rows = [(rank, *cells(rank)) for rank in list(every)[:MOST_ROWS]]
    more = len(every) - len(rows)
    if more > 0:
        rows.append((f"and {more} more ranks", *("" for _ in head[1:])))
    return table(rows, head)


def page(array: Array) -> str:
    """An array on a team as HTML."""
    layout, team = array.layout, array.team
    where = addresses.known(team)

    def cells(rank: int) -> Sequence[object]:
        place = "" if where is None or rank >= len(where) else f"{where[rank][0]}, {where[rank][1]}"
        n_bytes = layout.n_held(rank) * array.dtype.itemsize
        return layout.n_owned(rank), f"{n_bytes:,}", place

    size = "1 rank" if team.size == 1 else f"{team.size} ranks"
    facts = [
        ("dtype", array.dtype),
        ("team", f"{size} on {team.engine}, this is rank {team.rank}"),
    ]
    head = ("rank", "owned", "bytes held", "location")
    return f"<div>{table(facts)}{ranks(array, head, cells)}{layout._repr_html_()}</div>"
