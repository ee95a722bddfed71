"""From the ranks of a team to Dask or Ray: every rank hands over its own buffers.

Nothing is gathered: a rank sends its buffers from its own process, straight to a worker of Dask or
into the store of Ray on its node, and the ranks tell each other names, not data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from partita._chunks import chunk_layout
from partita._errors import TeamError

if TYPE_CHECKING:
    from partita._array import Array
    from partita._partita import Layout
    from partita._team import Team
    from partita.dask import DaskArray


def to_dask(array: Array, client: Any = None, *, root: int | None = None) -> Any:
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
    names = _names(array.layout, team.broadcast_data(uuid4().hex))
    with team:
        kept = _scatter(array, own, names)
    team.barrier()
    result = None
    with team:
        if root is None or root == team.rank:
            result = _adopt(array, own, names)
    # Only now may a rank let go of what it has scattered: the takers hold it.
    team.barrier()
    del kept
    if result is None and own is not client:
        own.close()
    return result


def _names(layout: Layout, name: str) -> dict[int, list[str]]:
    return {
        rank: [f"partita-piece-{name}-{rank}-{n}" for n in range(layout.n_buffers(rank))]
        for rank in layout.ranks
    }


def _own_client(team: Team, client: Any) -> Any:
    """This rank's client: its own, or a new one to the cluster that another rank names."""
    from distributed import Client, get_client

    if client is None:
        try:
            client = get_client()
        except ValueError:
            client = None
    is_client = isinstance(client, Client)
    address = client.scheduler.address if is_client else client
    named = [one for one in team.allgather_data(address) if one is not None]
    if not named:
        message = "no rank has a client of a Dask cluster; give a distributed.Client or an address"
        raise TeamError(message, "client-missing")
    return client if is_client else Client(named[0], set_as_default=False)


def _scatter(array: Array, client: Any, names: dict[int, list[str]]) -> Any:
    """Send this rank's buffers to one worker, on this machine if there is one."""
    from distributed.utils import get_ip

    from partita.dask import host, workers

    keys = names.get(array.team.rank, [])
    if not keys:
        return {}
    everywhere = workers(client)
    near = [one for one in everywhere if host(one) in (get_ip(), "127.0.0.1")] or everywhere
    place = near[array.team.rank % len(near)]
    data = dict(zip(keys, map(np.ascontiguousarray, array._buffers), strict=True))
    return client.scatter(data, workers=[place], direct=True)


def _adopt(array: Array, client: Any, names: dict[int, list[str]]) -> DaskArray:
    """Futures of this client for what all ranks have scattered."""
    from distributed import Future

    from partita.dask import DaskArray, same

    # A task that returns its argument holds the data for this client without a copy.
    handles = {
        rank: [client.submit(same, Future(key, client), pure=False) for key in keys]
        for rank, keys in names.items()
    }
    return DaskArray(handles, array.layout, array.dtype).sync()


def to_ray(array: Array, *, root: int | None = None) -> list[Any] | None:
    """References to the buffers of an array in Ray's stores, on every rank or on one.

    The objects belong to the ranks that put them, and are lost when those end.
    """
    from partita._exchange import Exchange

    team = array.team
    import ray

    mine = Exchange.open() if team.rank == 0 and ray.is_initialized() else None
    found = team.broadcast_data(None if mine is None else [mine.address, mine.name])
    if found is None:
        raise TeamError("rank 0 is in no Ray cluster; call ray.init() there first", "ray-missing")
    exchange = mine or Exchange(*found)
    with team:
        if team.rank in array.layout.ranks:
            exchange.put(str(team.rank), list(map(np.ascontiguousarray, array._buffers)))
    team.barrier()
    refs = None
    with team:
        if root is None or root == team.rank:
            refs = [ref for rank in array.layout.ranks for ref in exchange.take(str(rank))]
    # The desk is rank 0's and must stay until all have taken.
    team.barrier()
    return refs
