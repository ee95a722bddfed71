"""Waiting for futures, as long as somebody works on them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from partita._errors import TeamError
from partita.dask.cluster import one_clear_error

if TYPE_CHECKING:
    from partita._tasks.handles import Handle


# How often a waiting process looks whether anybody works, and how long it waits if nobody does.
LOOK_AROUND_SECONDS = 5.0
NOBODY_WORKS_SECONDS = 60.0


class _WorkerWatch:
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


def wait_for(handles: list[Handle], client: Any) -> None:
    """Wait until every piece is there; what went wrong with one is raised."""
    from distributed import wait

    if not handles:
        return
    with one_clear_error(), client.as_current():
        workers = _WorkerWatch(client)
        while True:
            try:
                wait(handles, timeout=LOOK_AROUND_SECONDS)
                break
            except TimeoutError:
                workers.look()
        for future in handles:
            if future.status != "finished":
                future.result()
