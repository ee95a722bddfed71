"""From the ranks of a team to Ray, and from one process with references to others.

Nothing is gathered: a rank puts its buffers into the store of Ray on its node, and the ranks tell
each other where the references are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._errors import TeamError
from partita._memory.views import is_frame
from partita._tasks.handles import by_rank
from partita._tasks.ray_references import Exchange
from partita.ray.array import RayArray

if TYPE_CHECKING:
    from partita._array.array import Array
    from partita._partita import Layout
    from partita._tasks.share import Ticket


def from_team(array: Array, *, root: int | None = None) -> list[Any] | None:
    """References to the buffers of an array in Ray's stores, on every rank or on one.

    The objects belong to the ranks that put them, and are lost when those end.
    """
    import ray

    team = array.team
    mine = Exchange.open() if team.rank == 0 and ray.is_initialized() else None
    found = team.broadcast_alike("to_ray", None if mine is None else mine.plain())
    if found is None:
        raise TeamError("rank 0 is in no Ray cluster; call ray.init() there first", "ray-missing")
    exchange = mine or Exchange(*found)
    with team:
        if team.rank in array.layout.ranks:
            exchange.put(str(team.rank), [_sendable(one) for one in array._buffers])
    team.barrier()
    refs = None
    with team:
        if root is None or root == team.rank:
            refs = [ref for rank in array.layout.ranks for ref in exchange.take(str(rank))]
    team.barrier()
    if mine is not None:
        mine.close()
    return refs


def _sendable(buffer: Any) -> Any:
    """A table as it is, with its labels; an array in one stretch of memory."""
    return buffer if is_frame(buffer) else np.ascontiguousarray(buffer)


def ticket(array: RayArray) -> tuple[Ticket, Exchange]:
    """Plain data by which other processes find the references, and where those lie."""
    exchange = Exchange.open()
    exchange.hand_out("all", array.handles)
    return {"exchange": exchange.plain()}, exchange


def attached(ticket: Ticket, layout: Layout, dtype: str) -> RayArray:
    """The array that a ticket tells of, in this process."""
    refs = Exchange(*ticket["exchange"]).take("all")
    return RayArray(by_rank(refs, layout), layout, dtype)
