"""From the ranks of a team to Dask, and from one process with futures to others.

Nothing is gathered: a rank sends its buffers from its own process, straight to a worker of Dask,
and the ranks tell each other names, not data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from partita._errors import LayoutError, TeamError
from partita._tasks.chunks import chunk_layout
from partita._tasks.handles import by_rank
from partita.dask.array import DaskArray
from partita.dask.cluster import adopted, client_for, client_if_any, host, workers

if TYPE_CHECKING:
    from partita._array.array import Array
    from partita._partita import Layout
    from partita._tasks.share import Ticket
    from partita._team.team import Team


def from_team(array: Array, client: Any = None, *, root: int | None = None) -> Any:
    """A `dask.array` of an array's chunks, on every rank or on one."""
    layout = chunk_layout(array.layout)
    if layout != array.layout:
        array = array.redistribute(layout)
    held = to_dask_futures(array, client, root=root)
    return None if held is None else held.to_dask()


def to_dask_futures(
    array: Array, client: Any = None, *, root: int | None = None
) -> DaskArray | None:
    """The buffers of an array as futures, in the same layout, on every rank or on one."""
    team = array.team
    own = _own_client(team, client)
    names = _names(array.layout, team.broadcast_alike("to_dask", uuid4().hex))
    with team:
        kept = _scatter(array, own, names)
    team.barrier()
    result = None
    with team:
        if root is None or root == team.rank:
            futures = adopted(own, [key for keys in names.values() for key in keys])
            handles = by_rank(futures, array.layout)
            result = DaskArray(handles, array.layout, array.dtype).sync()
    # Only now may a rank let go of what it has scattered: the takers hold it.
    team.barrier()
    del kept
    if result is None and own not in (client, client_if_any()):
        own.close()
    return result


def _names(layout: Layout, name: str) -> dict[int, list[str]]:
    return {
        rank: [f"partita-piece-{name}-{rank}-{n}" for n in range(layout.n_buffers(rank))]
        for rank in layout.ranks
    }


def _own_client(team: Team, client: Any) -> Any:
    """This rank's client: its own, or a new one to the cluster that another rank names."""
    from distributed import Client

    client = client_if_any() if client is None else client
    is_client = isinstance(client, Client)
    with team:
        if not is_client and client is not None and not isinstance(client, str):
            message = f"{client!r} as client of a Dask cluster; use a distributed.Client"
            raise LayoutError(f"{message}, or the address of the scheduler", "dask-client")
    address = client.scheduler.address if is_client else client
    named = [one for one in team.gather_alike("to_dask", "the cluster", address) if one is not None]
    if not named:
        message = "no rank has a client of a Dask cluster; give a distributed.Client or an address"
        raise TeamError(message, "client-missing")
    with team:
        return client if is_client else client_for(named[0])


def _scatter(array: Array, client: Any, names: dict[int, list[str]]) -> Any:
    """Send this rank's buffers to one worker, on this machine if there is one."""
    from distributed.utils import get_ip

    keys = names.get(array.team.rank, [])
    if not keys:
        return {}
    everywhere = workers(client)
    near = [one for one in everywhere if host(one) in (get_ip(), "127.0.0.1")] or everywhere
    place = near[array.team.rank % len(near)]
    data = dict(zip(keys, map(np.ascontiguousarray, array._buffers), strict=True))
    return client.scatter(data, workers=[place], direct=True)


def ticket(array: DaskArray) -> tuple[Ticket, None]:
    """Plain data by which other processes find the futures."""
    address = array.client.scheduler.address
    return {"address": address, "keys": [future.key for future in array.handles]}, None


def attached(ticket: Ticket, layout: Layout, dtype: str) -> DaskArray:
    """The array that a ticket tells of, in this process."""
    client = client_for(ticket["address"])
    handles = by_rank(adopted(client, ticket["keys"]), layout)
    return DaskArray(handles, layout, dtype).sync()
