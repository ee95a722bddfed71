"""`get` of `__partitioned__`: the data of futures, in whatever process it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita._errors import TeamError
from partita.dask.cluster import bind, client_for, current_client, one_clear_error

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._tasks.handles import Handle


# How long `get` waits for pieces that are still being computed.
GET_SECONDS = 60.0


def get(handles: Any, address: str | None = None) -> Any:
    """Data of a future, or of a list of them: `get` of `__partitioned__`.

    In a process or a task that has no client of these futures one is found: that of the worker, of
    the process, or a new one of the scheduler at `address`.
    """
    from distributed import Future

    listed = handles if isinstance(handles, list | tuple) else [handles]
    futures = [one for one in listed if isinstance(one, Future)]
    if not futures:
        # Dask hands a task the data in the place of its futures.
        return handles
    own = next((one.client for one in futures if one.client is not None), None)
    client = own or (current_client() if address is None else client_for(address))
    bind(futures, client)
    with one_clear_error():
        _arrived(futures)
        return client.gather(handles, direct=True)


def _arrived(futures: Sequence[Handle]) -> None:
    """Wait until the data is there, or was lost; not for ever."""
    from distributed import wait

    try:
        wait(futures, timeout=GET_SECONDS)
    except TimeoutError:
        late = [one.key for one in futures if one.status == "pending"]
        message = f"{len(late)} pieces are not there after {GET_SECONDS:.0f} s ({late[:2]})"
        raise TeamError(f"{message}; look at the workers, or try again", "data-late") from None
