"""A Ray array on the workers of Dask: they look at the pieces in Ray's store, without a copy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita._errors import TeamError
from partita._tasks.ray_references import Exchange, connect
from partita.dask.array import DaskArray
from partita.dask.cluster import a_client, current_client, workers_near
from partita.ray.cluster import addresses_of

if TYPE_CHECKING:
    from partita._tasks.array import TaskArray


def _view(exchange: Exchange, name: str) -> Any:
    """The Dask task that looks at an object in Ray's store."""
    ray = connect(exchange.address, exchange.auth)
    try:
        [ref] = exchange.take(name)
    except (ValueError, ray.exceptions.RayError) as error:
        message = "a view of Ray's store is lost with its worker; call to_dask again"
        raise TeamError(message, "source-lost") from error
    return ray.get(ref)


def views_on_dask(array: TaskArray, client: Any) -> DaskArray:
    """The pieces of a Ray array as futures: workers look at them in Ray's store."""
    client = current_client() if client is None else a_client(client)
    exchange = Exchange.open()
    near = addresses_of(array.handles)
    handles: dict[int, list[Any]] = {}
    for rank, refs in array._handles.items():
        handles[rank] = []
        for number, ref in enumerate(refs):
            name = f"{rank}-{number}"
            exchange.hand_out(name, [ref])
            where = workers_near(client, near[ref])
            handles[rank].append(client.submit(_view, exchange, name, pure=False, **where))
    made = DaskArray(handles, array.layout, array.dtype).sync()
    # From here on the views keep the objects; a view that is lost cannot be made again.
    exchange.close()
    return made
