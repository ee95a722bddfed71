"""What a notebook shows of an array: facts, bytes and place of each rank, and the picture.

No rank asks another for anything: what is not known here is left out.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from partita._team import addresses

if TYPE_CHECKING:
    from partita._array.array import Array

MOST_ROWS = 16


def page(array: Array) -> str:
    """The array as HTML."""
    facts = [
        ("shape", str(array.shape)),
        ("dtype", str(array.dtype)),
        ("layout", array.layout.notation),
        ("team", f"{array.team.size} ranks on {array.team.engine}, this is rank {array.team.rank}"),
    ]
    head = "".join(f"<tr><th>{name}</th><td>{escape(text)}</td></tr>" for name, text in facts)
    return f"<div><table>{head}</table>{_ranks(array)}{array.layout._repr_html_()}</div>"


def _ranks(array: Array) -> str:
    layout, team = array.layout, array.team
    where = addresses.known(team)
    rows = []
    for rank in list(layout.ranks)[:MOST_ROWS]:
        place = "" if where is None or rank >= len(where) else f"{where[rank][0]}, {where[rank][1]}"
        n_bytes = layout.n_held(rank) * array.dtype.itemsize
        cells = (rank, layout.n_owned(rank), f"{n_bytes:,}", escape(place))
        rows.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
    more = layout.n_ranks - len(rows)
    if more > 0:
        rows.append(f'<tr><td colspan="4">and {more} more ranks</td></tr>')
    head = "".join(f"<th>{word}</th>" for word in ("rank", "owned", "bytes held", "location"))
    return f"<table><tr>{head}</tr>{''.join(rows)}</table>"
