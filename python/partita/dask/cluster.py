"""Clients, workers and futures of a Dask cluster, and what is lost with them."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from partita._errors import LayoutError, TeamError
from partita._partita import set_kept_bytes
from partita._tasks.loans import machine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from partita._tasks.handles import Handle
    from partita._tasks.schedule import Place


_MACHINES: WeakKeyDictionary[Any, dict[str, str]] = WeakKeyDictionary()


def same(value: Any) -> Any:
    """The task that returns what it is given."""
    return value


def host(worker: str) -> str:
    """The address of a worker without protocol and port."""
    from distributed.comm import get_address_host

    found: str = get_address_host(worker)
    return found


def restricted(there: Sequence[Place]) -> dict[str, Any]:
    """Options of `submit` for a task that belongs to some workers."""
    # A worker may die: its tasks may then run elsewhere.
    return {"workers": list(there), "allow_other_workers": True} if there else {}


def workers_near(client: Any, hosts: Sequence[str]) -> dict[str, Any]:
    """Options of `submit` for a task that should run on one of these machines."""
    return restricted([worker for worker in workers(client) if host(worker) in hosts])


def workers(client: Any) -> list[str]:
    """Addresses of all workers, in a fixed order."""
    return sorted(client.nthreads())


def machines(client: Any) -> Mapping[str, str]:
    """Names of the workers' machines; each worker is asked once."""
    known = _MACHINES.setdefault(client, {})
    new = [worker for worker in workers(client) if worker not in known]
    if new:
        known.update(client.run(_settled, workers=new, on_error="ignore"))
    return known


def _settled(dask_worker: Any) -> str:
    """The name of a worker's machine, once it keeps no more memory than its limit allows.

    Dask counts what is kept warm as memory that nobody gives back, and pauses the worker.
    """
    limit = getattr(dask_worker.memory_manager, "memory_limit", None)
    if limit:
        set_kept_bytes(limit // 16)
    return machine()


def a_client(given: Any) -> Any:
    """What is given as a client, if it is one."""
    from distributed import Client

    if not isinstance(given, Client):
        message = f"{given!r} as client of a Dask cluster; use a distributed.Client"
        raise LayoutError(message, "dask-client")
    return given


def current_client() -> Any:
    """The client of this process."""
    import distributed

    try:
        return distributed.get_client()
    except ValueError:
        message = "no client of a Dask cluster here; make a distributed.Client first"
        raise TeamError(message, "client-missing") from None


def bind(futures: Sequence[Handle], client: Any) -> None:
    """Make futures that were unpickled known to a client, and the client to the scheduler."""
    new = [future for future in futures if future.client is None]
    if not new:
        return
    keys = [future.key for future in new]
    unknown = client.run_on_scheduler(_unknown, keys=keys)
    if unknown:
        message = (
            f"the scheduler at {client.scheduler.address} knows nothing of {len(unknown)} pieces "
            f"({unknown[0]}); the process that made them must keep them as long as they are used"
        )
        raise TeamError(message, "source-lost")
    for future in new:
        future.bind_client(client)
    # Without this the scheduler tells the client nothing, and may drop what it needs.
    client._send_to_scheduler({"op": "client-desires-keys", "keys": keys, "client": client.id})


def _unknown(dask_scheduler: Any, keys: list[Any]) -> list[Any]:
    return [key for key in keys if key not in dask_scheduler.tasks]


@contextmanager
def one_clear_error() -> Iterator[None]:
    """Turn what Dask raises when data or workers are lost into one error."""
    from concurrent.futures import CancelledError as Cancelled

    from distributed import CancelledError, client
    from distributed.scheduler import KilledWorker

    # Newer versions have classes of their own.
    names = ("FutureCancelledError", "FuturesCancelledError")
    lost = (CancelledError, Cancelled, *(getattr(client, n) for n in names if hasattr(client, n)))
    try:
        yield
    except lost as error:
        message = (
            f"pieces are lost with the worker that held them ({error}); scattered data cannot be "
            "computed again: scatter it anew, or start from a dask.array that can"
        )
        raise TeamError(message, "source-lost") from error
    except KilledWorker as error:
        message = f"workers died again and again at the same task ({error}); see their logs"
        raise TeamError(message, "worker-died") from error


def client_if_any() -> Any:
    """The client of this process; None if it has none."""
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

    current = client_if_any()
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


def adopted(client: Any, keys: Sequence[str]) -> list[Any]:
    """Futures of a client for what others hold."""
    from distributed import Future

    # A task that returns its argument holds the data for this client without a copy.
    return [client.submit(same, Future(key, client), pure=False) for key in keys]
