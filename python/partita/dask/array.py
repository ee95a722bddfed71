"""An array whose pieces are futures on a cluster of `distributed`."""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from partita._errors import LayoutError, TeamError
from partita._tasks.array import TaskArray
from partita._tasks.ray_references import Exchange
from partita.dask import cluster
from partita.dask.cluster import a_client, bind, current_client, host, one_clear_error, restricted
from partita.dask.fetch import get
from partita.dask.submission import Submission
from partita.dask.waiting import wait_for

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from partita._partita import Plan
    from partita._tasks.handles import Handle
    from partita._tasks.schedule import Cut, Place, Schedule


class DaskArray(TaskArray):
    """An array whose slots are futures on a Dask cluster."""

    engine = "dask"

    @property
    def client(self) -> Any:
        """The client that the futures belong to."""
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
        """Return a `dask.array` of the same futures, in chunks."""
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
        """Return references to the same pieces in Ray's store, one per buffer, in rank order.

        Tasks on the workers put them there: one copy, and no data passes through this process.
        """
        return _put_into_ray(self)

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
        return cluster.workers(self.client)

    def _machines(self) -> Mapping[Place, str]:
        return cluster.machines(self.client)

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
        return Submission(self.client, made).cuts(cuts, self._handles)

    def _run(self, made: Plan, tasks: Schedule) -> dict[int, list[Handle]]:
        submission = Submission(self.client, made)
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
        if handles:
            wait_for(handles, self.client)

    def _get(self) -> Callable[[Any], Any]:
        # A future that is pickled forgets its cluster.
        return partial(get, address=self.client.scheduler.address)


def _put(exchange: Exchange, name: str, value: Any) -> None:
    """The Dask task that puts a piece into Ray's store."""
    exchange.put(name, [value])


def _put_into_ray(array: DaskArray) -> list[Handle]:
    """References to the pieces of a Dask array, put into Ray's store by its workers."""
    exchange = Exchange.open()
    client, homes = array.client, array._homes()
    names, tasks = [], []
    for rank, futures in array._handles.items():
        for number, future in enumerate(futures):
            name = f"{rank}-{number}"
            where = restricted(homes[rank][:1])
            tasks.append(client.submit(_put, exchange, name, future, pure=False, **where))
            names.append(name)
    with one_clear_error():
        client.gather(tasks)
    refs = [ref for name in names for ref in exchange.take(name)]
    exchange.close()
    return refs
