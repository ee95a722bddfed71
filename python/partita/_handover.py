"""From the ranks of a team to Dask or Ray: every rank hands over its own buffers.

Nothing is gathered: a rank sends its buffers from its own process, straight to a worker of Dask or
into the store of Ray on its node, and the ranks tell each other names, not data.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from partita._chunks import chunk_layout
from partita._errors import LayoutError, TeamError
from partita._foreign import is_frame
from partita._plain import from_plain, to_plain
from partita._tasks import by_rank

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._array import Array
    from partita._partita import Layout
    from partita._tasks import TaskArray
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
    from partita.dask import DaskArray

    team = array.team
    own = _own_client(team, client)
    names = _names(array.layout, team.broadcast_alike("to_dask", uuid4().hex))
    with team:
        kept = _scatter(array, own, names)
    team.barrier()
    result = None
    with team:
        if root is None or root == team.rank:
            futures = _adopted(own, [key for keys in names.values() for key in keys])
            handles = by_rank(futures, array.layout)
            result = DaskArray(handles, array.layout, array.dtype).sync()
    # Only now may a rank let go of what it has scattered: the takers hold it.
    team.barrier()
    del kept
    if result is None and own not in (client, _current_client()):
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

    client = _current_client() if client is None else client
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


def _current_client() -> Any:
    from distributed import get_client

    try:
        return get_client()
    except ValueError:
        return None


# Clients that were made here, by the address of their cluster.
_clients: dict[str, Any] = {}


def client_for(address: str) -> Any:
    """The client of this process if it has one to that cluster, else a new one, kept for later."""
    from distributed import Client

    current = _current_client()
    for known in (current, _clients.get(address)):
        if known is not None and known.status == "running" and _leads_to(known, address):
            return known
    # The first client of a process computes what comes of it.
    try:
        made = Client(address, set_as_default=current is None)
    except (OSError, ValueError) as error:
        message = f"no Dask scheduler answers at {address!r} ({error}); give another address"
        raise TeamError(message, "client-missing") from error
    _clients[address] = made
    return made


def _leads_to(client: Any, address: str) -> bool:
    return bool(client.scheduler.address == address)


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


def _adopted(client: Any, keys: Sequence[str]) -> list[Any]:
    """Futures of a client for what others hold."""
    from distributed import Future

    from partita.dask import same

    # A task that returns its argument holds the data for this client without a copy.
    return [client.submit(same, Future(key, client), pure=False) for key in keys]


def to_ray(array: Array, *, root: int | None = None) -> list[Any] | None:
    """References to the buffers of an array in Ray's stores, on every rank or on one.

    The objects belong to the ranks that put them, and are lost when those end.
    """
    import ray

    from partita._exchange import Exchange

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


def share(array: TaskArray | None, team: Team, *, root: int = 0) -> Any:
    """The array that one rank has, on every rank of a team. Collective.

    `array` counts on `root` only. Names travel, no data; then `.to_team` fetches.
    """
    with team:
        ticket, exchange = _ticket(array) if team.rank == root else (None, None)
    told = team.broadcast_alike("share", ticket, root)
    with team:
        mine = array if team.rank == root else _attach(team, told)
    # What the others take must stay until they have it.
    team.barrier()
    if exchange is not None:
        exchange.close()
    return mine


def _ticket(array: TaskArray | None) -> tuple[dict[str, Any], Any]:
    """Plain data by which other processes find an array, and where its references lie."""
    from partita._exchange import Exchange
    from partita.dask import DaskArray

    if array is None:
        raise LayoutError("the root shares no array; give it one there", "array-missing")
    ticket = {
        "engine": array.engine,
        "layout": to_plain(array.layout),
        "dtype": array.dtype.str,
    }
    if isinstance(array, DaskArray):
        ticket["address"] = array.client.scheduler.address
        ticket["keys"] = [future.key for future in array.handles]
        return ticket, None
    exchange = Exchange.open()
    exchange.hand_out("all", array.handles)
    ticket["exchange"] = exchange.plain()
    return ticket, exchange


def _attach(team: Team, ticket: dict[str, Any]) -> TaskArray:
    from partita._exchange import Exchange
    from partita.dask import DaskArray
    from partita.ray import RayArray

    layout = from_plain(ticket["layout"])
    if ticket["engine"] == "ray":
        refs = Exchange(*ticket["exchange"]).take("all")
        return RayArray(by_rank(refs, layout), layout, ticket["dtype"])
    client = client_for(ticket["address"])
    handles = by_rank(_adopted(client, ticket["keys"]), layout)
    return DaskArray(handles, layout, ticket["dtype"]).sync()
