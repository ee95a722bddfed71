"""One process's array of handles on every rank of a team."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from partita import _engines
from partita._errors import LayoutError
from partita._tasks.plain_layouts import from_plain, to_plain

if TYPE_CHECKING:
    from partita._tasks.array import TaskArray
    from partita._team.team import Team

# Plain data by which other processes find an array.
Ticket: TypeAlias = dict[str, Any]


def share(array: TaskArray | None, team: Team, *, root: int = 0) -> Any:
    """Return the array that one rank has, on every rank of a team. Collective.

    `array` is used on `root` only. Names travel, not data; `.to_team` then fetches the data.
    """
    with team:
        ticket, exchange = _ticket(array) if team.rank == root else (None, None)
    told = team.broadcast_alike("share", ticket, root)
    with team:
        mine = array if team.rank == root else _attached(told)
    # What the others take must stay until they have it.
    team.barrier()
    if exchange is not None:
        exchange.close()
    return mine


def _ticket(array: TaskArray | None) -> tuple[Ticket, Any]:
    """The ticket of an array, and where its references lie until they are fetched."""
    if array is None:
        raise LayoutError("the root shares no array; give it one there", "array-missing")
    own, exchange = _engines.hand_over(array.engine).ticket(array)
    same = {"engine": array.engine, "layout": to_plain(array.layout), "dtype": array.dtype.str}
    return {**same, **own}, exchange


def _attached(ticket: Ticket) -> TaskArray:
    engine, layout = _engines.hand_over(ticket["engine"]), from_plain(ticket["layout"])
    found: TaskArray = engine.attached(ticket, layout, ticket["dtype"])
    return found
