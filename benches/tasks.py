"""A Dask array of 512 MiB from rows to columns on two worker processes, beside Dask's own rechunk.

The cluster starts processes that import the main script, so the measuring is a script of its own:
`measure` runs it and reads what it prints. Every round makes a new array, because Dask remembers
results by their name, and all methods move that same array, in turns.
"""

from __future__ import annotations

import json
import logging
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from timing import Times

N = 8192
N_ROUNDS = 5
N_WORKERS = 2
# Of the time of rechunk as Dask chooses it.
BAR = 0.6


@dataclass(frozen=True)
class Result:
    """Seconds of each method for one number of chunks."""

    n_chunks: int
    times: dict[str, Times]


def measure() -> list[Result]:
    """Take the figures in a process of its own."""
    command = [sys.executable, str(Path(__file__))]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    taken = json.loads(done.stdout)
    return [
        Result(int(n_chunks), {name: Times(seconds) for name, seconds in times.items()})
        for n_chunks, times in taken.items()
    ]


def section(results: list[Result]) -> str:
    """The figures as a part of the page."""
    from report import _bar, _seconds, _table

    rows = []
    for result in results:
        ours = result.times["partita"]
        for name, times in result.times.items():
            ratio = ours.over(times)
            bar = _bar(ratio <= BAR, f"{BAR:g}") if name == "rechunk" else ""
            over = "" if name == "partita" else f"{ratio:.2f}"
            row = [str(result.n_chunks), name, _seconds(times.median), _seconds(times.fastest)]
            rows.append([*row, over, bar])
    head = ["chunks", "method", "time", "fastest", "partita / method", "bar"]
    return (
        f"## Dask\n\nA `dask.array` of {N}x{N} float64 from chunks of rows to as many chunks of\n"
        f"columns on {N_WORKERS} worker processes of one thread each: `redistribute`, and\n"
        "`rechunk` followed by `persist` and `wait`, as Dask chooses to do it and with either of\n"
        "its methods named. For reference `rechunk` in one process on the scheduler of threads,\n"
        "which sends nothing anywhere.\n\n" + _table(head, rows)
    )


def main() -> None:
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.ERROR)
    options: dict[str, Any] = {"n_workers": N_WORKERS, "threads_per_worker": 1}
    options |= {"dashboard_address": None, "memory_limit": 0, "silence_logs": logging.ERROR}
    taken = {}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        for n_chunks in (N_WORKERS, 8 * N_WORKERS):
            taken[n_chunks] = _rounds(client, n_chunks)
    print(json.dumps(taken))


def _rounds(client: Any, n_chunks: int) -> dict[str, list[float]]:
    seconds: dict[str, list[float]] = {}
    for number in range(N_ROUNDS + 1):
        x = _array(client, n_chunks)
        n_held = _n_held(client)
        for name, method in _methods(x, n_chunks, is_checked=number == 0).items():
            start = time.perf_counter()
            result = method()
            if number > 0:
                seconds.setdefault(name, []).append(time.perf_counter() - start)
            del result
            # What the workers let go of late would count against the next.
            while _n_held(client) > n_held:
                time.sleep(0.01)
    return seconds


def _array(client: Any, n_chunks: int) -> Any:
    """New rows, as many on every worker."""
    import dask
    import dask.array as da
    from distributed import wait

    workers = sorted(client.scheduler_info()["workers"])
    rows = []
    for number in range(n_chunks):
        with dask.annotate(workers=[workers[number * len(workers) // n_chunks]]):
            row = da.random.random((N // n_chunks, N), chunks=(N // n_chunks, N))
            rows.append(client.persist(row, optimize_graph=False))
    x = client.persist(da.concatenate(rows))
    wait(x)
    return x


def _methods(x: Any, n_chunks: int, *, is_checked: bool) -> dict[str, Callable[[], Any]]:
    import dask.array as da
    import numpy as np
    from distributed import wait

    import partita as pt

    chunks = (N, N // n_chunks)
    a = pt.from_dask(x)
    columns = pt.Layout(a.shape, f"*, block @ 1x{n_chunks}")

    def ours() -> Any:
        b = a.redistribute(columns)
        if is_checked:
            # Some rows and columns of every chunk.
            theirs, found = x[::911, ::127].compute(), b.to_dask()[::911, ::127].compute()
            assert np.array_equal(theirs, found)
        return b

    def rechunked(method: str | None) -> Callable[[], Any]:
        def run() -> Any:
            y = x.rechunk(chunks, method=method).persist()
            wait(y)
            return y

        return run

    here = da.ones((N, N), chunks=(N // n_chunks, N)).persist(scheduler="threads")
    return {
        "partita": ours,
        "rechunk": rechunked(None),
        "rechunk, tasks": rechunked("tasks"),
        "rechunk, p2p": rechunked("p2p"),
        "rechunk, threads of one process": lambda: here.rechunk(chunks, method="tasks").persist(
            scheduler="threads"
        ),
    }


def _n_held(client: Any) -> int:
    """Results that the workers hold."""
    return sum(len(keys) for keys in client.has_what().values())


if __name__ == "__main__":
    main()
