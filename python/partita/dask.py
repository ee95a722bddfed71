"""Dask: arrays whose pieces are futures on a cluster of `distributed`.

    x = dask.array.random.random((8192, 8192), chunks=(1024, 8192))
    a = partita.from_dask(x)
    b = a.redistribute(partita.Layout(a.shape, "*, cyclic(64) @ 1x8"))

Plans run as tasks on the workers that hold the pieces; this process keeps futures only.
"""

from __future__ import annotations

import os
import pickle
import time
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4
from weakref import WeakKeyDictionary

import numpy as np

from partita import _tasks
from partita._chunks import layout_of_chunks
from partita._errors import LayoutError, TeamError
from partita._handover import client_for, share
from partita._lend import machine
from partita._partita import set_kept_bytes
from partita._tasks import TaskArray

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from partita._partita import Layout, Plan
    from partita._schedule import Cut, Place, Schedule
    from partita._tasks import Handle

# Plans above this size (they carry lists of indices) travel once, not with every task.
LARGE_PLAN_BYTES = 1 << 16

# How often a waiting process looks whether anybody works, and how long it waits if nobody does.
LOOK_AROUND_SECONDS = 5.0
NOBODY_WORKS_SECONDS = 60.0

# How long `get` waits for pieces that are still being computed.
GET_SECONDS = 60.0

_MACHINES: WeakKeyDictionary[Any, dict[str, str]] = WeakKeyDictionary()

__all__ = ["DaskArray", "from_dask", "get", "share"]


class DaskArray(TaskArray):
    """An array whose slots are futures of a Dask cluster."""

    engine = "dask"

    @property
    def client(self) -> Any:
        """The client of the futures."""
        first = next(iter(self.handles), None)
        client = None if first is None else first.client
        if client is None:
            client = current_client()
            bind(self.handles, client)
        if client.status in ("closing", "closed"):
            message = "the client of these pieces is closed; keep it open as long as they are used"
            raise TeamError(message, "client-missing")
        return client

    def to_dask(self, client: Any = None) -> Any:
        """A `dask.array` of the same futures, in chunks."""
        import dask.array as da

        here = self.client.scheduler.address
        if client is not None and a_client(client).scheduler.address != here:
            message = f"the pieces lie on the cluster at {here}; use a client of that"
            raise LayoutError(message, "dask-client")

        array = self.as_chunks()
        grid, futures = array._chunk_grid()
        name = f"partita-{uuid4().hex}"
        keys = [(name, *position) for position in np.ndindex(*grid.shape)]
        graph = dict(zip(keys, futures, strict=True))
        meta = np.empty((0,) * self.ndim, self.dtype)
        return da.Array(graph, name, grid.lengths, meta=meta)

    def to_ray(self) -> list[Any]:
        """References to the same pieces in Ray's store, one per buffer, in the order of ranks.

        Tasks on the workers put them there: one copy, and nothing through this process.
        """
        from partita._exchange import put_from_dask

        return put_from_dask(self)

    def _homes(self) -> dict[int, Sequence[Place]]:
        with one_clear_error():
            holders = self.client.who_has(self.handles)
        homes: dict[int, Sequence[Place]] = {}
        for rank, futures in self._handles.items():
            common = None
            for future in futures:
                there = list(holders.get(future.key, ()))
                common = there if common is None else [p for p in common if p in there]
            homes[rank] = common or []
        return homes

    def _all_places(self) -> Sequence[Place]:
        return workers(self.client)

    def _machines(self) -> Mapping[Place, str]:
        return machines(self.client)

    def _locations(self, handles: list[Handle]) -> list[list[tuple[str, int]]]:
        client = self.client
        with one_clear_error():
            holders = client.who_has(handles)
            pids = client.run(os.getpid)
        return [
            [(host(worker), pids[worker]) for worker in holders.get(future.key, ())]
            for future in handles
        ]

    def _submit_cuts(self, made: Plan, cuts: list[Cut]) -> list[Handle]:
        return _Submission(self.client, made).cuts(cuts, self._handles)

    def _run(self, made: Plan, tasks: Schedule) -> dict[int, list[Handle]]:
        submission = _Submission(self.client, made)
        cuts = submission.cuts(tasks.cuts, self._handles)
        return {
            one.target: submission.join(
                one.target,
                one.place,
                one.takes,
                [self._handles[t.source] if t.cut is None else cuts[t.cut] for t in one.takes],
            )
            for one in tasks.joins
        }

    def _fetch(self, handles: list[Handle]) -> list[Any]:
        self._wait(handles)
        with one_clear_error():
            fetched: list[Any] = self.client.gather(handles, direct=True)
        return fetched

    def _wait(self, handles: list[Handle]) -> None:
        from distributed import wait

        if not handles:
            return
        with one_clear_error(), self.client.as_current():
            patience = _Patience(self.client)
            while True:
                try:
                    wait(handles, timeout=LOOK_AROUND_SECONDS)
                    break
                except TimeoutError:
                    patience.look()
            for future in handles:
                if future.status != "finished":
                    future.result()

    def _get(self) -> Callable[[Any], Any]:
        # A future that is pickled forgets its cluster.
        return partial(get, address=self.client.scheduler.address)


class _Patience:
    """Gives up when for a minute there was no worker that could work."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._since: float | None = None

    def look(self) -> None:
        statuses = self._client.run_on_scheduler(_statuses)
        if "running" in statuses:
            self._since = None
            return
        now = time.monotonic()
        self._since = now if self._since is None else self._since
        if now - self._since < NOBODY_WORKS_SECONDS:
            return
        found = f"all {len(statuses)} workers are {statuses[0]}" if statuses else "no workers"
        cure = "give them more memory" if statuses else "start some"
        message = f"{found} for {NOBODY_WORKS_SECONDS:.0f} s; {cure}, and try again"
        raise TeamError(message, "worker-died")


def _statuses(dask_scheduler: Any) -> list[str]:
    return [worker.status.name for worker in dask_scheduler.workers.values()]


class _Submission:
    """Tasks of one run of a plan."""

    def __init__(self, client: Any, made: Plan) -> None:
        self._client = client
        self._name = f"{made.fingerprint}-{uuid4().hex[:8]}"
        self._made = made
        pickled = pickle.dumps(made)
        self._plan: Any = pickled
        if len(pickled) > LARGE_PLAN_BYTES:
            self._plan = client.submit(same, pickled, key=f"partita-plan-{self._name}")

    def cuts(self, cuts: list[Cut], handles: Mapping[int, list[Handle]]) -> list[Handle]:
        return [
            self._submit(
                f"cut-{one.source}-{number}",
                one.place,
                _tasks.cut,
                (self._plan, one, handles[one.source]),
            )
            for number, one in enumerate(cuts)
        ]

    def join(self, target: int, place: Place | None, takes: Any, parts: list[Any]) -> list[Handle]:
        n_buffers = self._made.target.n_buffers(target)
        args = (self._plan, target, takes, parts)
        if n_buffers == 1:
            return [self._submit(f"join-{target}", place, _tasks.join_one, args)]
        joined = self._submit(f"join-{target}", place, _tasks.join, args)
        return [
            self._submit(f"pick-{target}-{number}", place, _pick, (joined, number))
            for number in range(n_buffers)
        ]

    def _submit(self, what: str, place: Place | None, task: Any, args: tuple[Any, ...]) -> Handle:
        where = restricted([] if place is None else [place])
        return self._client.submit(task, *args, key=f"partita-{what}-{self._name}", **where)


def same(value: Any) -> Any:
    """The task that returns what it is given."""
    return value


def _pick(buffers: Sequence[Any], number: int) -> Any:
    return buffers[number]


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


def from_dask(
    x: Any, layout: Layout | None = None, *, client: Any = None, dtype: Any = None
) -> DaskArray:
    """An array of the chunks of a `dask.array`, or of futures with their layout.

    Futures stand in the order of the layout's ranks, one per buffer. What is not computed yet is
    computed on the cluster; nothing comes here.
    """
    if client is not None:
        a_client(client)
    if layout is not None:
        if hasattr(x, "__dask_graph__"):
            message = "a dask.array has a layout of its own; use from_dask(x).redistribute(layout)"
            raise LayoutError(message, "dask-type")
        return _from_futures(_tasks.listed(x, "futures"), layout, client, dtype)
    _check_chunks(x)
    _check_meta(x)
    _tasks.movable(x.dtype)
    client = client or _client_of(x) or current_client()
    from distributed import futures_of

    held = client.persist(x)
    by_key = {future.key: future for future in futures_of(held)}
    futures = [by_key[key] for key in _keys(held)]
    layout = layout_of_chunks(x.chunks)
    handles = {rank: [future] for rank, future in zip(layout.ranks, futures, strict=True)}
    return DaskArray(handles, layout, x.dtype).sync()


def _keys(x: Any) -> list[Any]:
    from dask.core import flatten

    return list(flatten(x.__dask_keys__()))


def _client_of(x: Any) -> Any:
    """The client of futures, or of those that a collection already has."""
    from distributed import futures_of

    futures = x if isinstance(x, list | tuple) else futures_of(x)
    return next((getattr(future, "client", None) for future in futures), None)


def _check_chunks(x: Any) -> None:
    if not hasattr(x, "chunks") or not hasattr(x, "__dask_graph__"):
        message = f"a {type(x).__name__} is no dask.array; use one, or futures with a layout"
        raise LayoutError(message, "dask-type")
    for dim, lengths in enumerate(x.chunks):
        if any(length != length for length in lengths):
            message = (
                f"dimension {dim} has chunks of unknown size; call x.compute_chunk_sizes() first"
            )
            raise LayoutError(message, "chunks-unknown")


def _check_meta(x: Any) -> None:
    """Refuse chunks that are no plain arrays: a mask, for one, would be lost."""
    meta = getattr(x, "_meta", None)
    if type(meta) is not np.ndarray:
        kind = type(meta).__name__
        message = f"chunks of type {kind}; make them plain first, by x.map_blocks or da.ma.filled"
        raise LayoutError(message, "chunks-type")
    if meta.dtype.hasobject:
        message = f"chunks of dtype {meta.dtype}; objects cannot be moved, use numbers"
        raise LayoutError(message, "data-type")


def _from_futures(futures: list[Any], layout: Layout, client: Any, dtype: Any) -> DaskArray:
    from distributed import Future

    for future in futures:
        if not isinstance(future, Future):
            message = (
                f"a {type(future).__name__} is no future of Dask; use client.scatter or submit"
            )
            raise LayoutError(message, "dask-type")
    handles = _tasks.by_rank(futures, layout)
    client = client or _client_of(futures) or current_client()
    bind(futures, client)
    tasks = [client.submit(_tasks.describe, future, pure=False) for future in futures]
    with one_clear_error():
        found = client.gather(tasks)
    dtype = _tasks.check_buffers(found, layout, dtype)
    return DaskArray(handles, layout, dtype)
