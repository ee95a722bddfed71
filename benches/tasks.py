"""A Dask array of 512 MiB from rows to columns on two worker processes, beside Dask's own rechunk.

The cluster starts processes that import the main script, so the measuring is a script of its own:
`measure` runs it and reads what it prints. Methods take turns, and each moves a new array, because
Dask remembers results by their name and leaves copies of chunks where they were needed.
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
from typing import Any, TypeAlias

from timing import Times

N = 8192
N_ROUNDS = 5
N_WORKERS = 2
# Of the time of rechunk as Dask chooses it.
BAR = 0.6


Method: TypeAlias = Callable[[Any], Callable[[], Callable[[], Any]]]


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
        f"## Dask\n\nA `dask.array` of {N}x{N} float64, from chunks of rows to as many chunks of\n"
        f"columns, on {N_WORKERS} worker processes with one thread each: `redistribute`, and\n"
        "`rechunk` followed by `persist` and `wait`, with Dask's default method and with each of\n"
        "its methods by name. For reference, `rechunk` in one process on the threaded scheduler,\n"
        "which sends nothing.\n\n" + _table(head, rows)
    )


def main() -> None:
    from distributed import Client, LocalCluster

    logging.getLogger("distributed").setLevel(logging.ERROR)
    options: dict[str, Any] = {"n_workers": N_WORKERS, "threads_per_worker": 1}
    options |= {"dashboard_address": ":0", "memory_limit": 0, "silence_logs": logging.ERROR}
    taken = {}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        for n_chunks in (N_WORKERS, 8 * N_WORKERS):
            taken[n_chunks] = _rounds(client, n_chunks)
    print(json.dumps(taken))


def _rounds(client: Any, n_chunks: int) -> dict[str, list[float]]:
    methods = _methods(n_chunks)
    seconds: dict[str, list[float]] = {name: [] for name in methods}
    for number in range(N_ROUNDS + 1):
        for name, method in methods.items():
            taken = _once(client, n_chunks, method, is_checked=number == 0)
            if number > 0:
                seconds[name].append(taken)
    return seconds


def _once(client: Any, n_chunks: int, method: Method, *, is_checked: bool) -> float:
    """Move a new array: what was moved before has left copies of its chunks on other workers."""
    import dask.array as da
    import numpy as np
    from distributed import wait

    x = client.persist(da.random.random((N, N), chunks=(N // n_chunks, N)))
    wait(x)
    run = method(x)
    start = time.perf_counter()
    result = run()
    taken = time.perf_counter() - start
    moved = result() if is_checked else None
    if moved is not None:
        # Some rows and columns of every chunk.
        wanted, found = x[::911, ::127].compute(), moved[::911, ::127].compute()
        assert np.array_equal(wanted, found)
    del x, run, result, moved
    while any(client.has_what().values()):
        time.sleep(0.01)
    return taken


def _methods(n_chunks: int) -> dict[str, Method]:
    """From an array to what is timed, which gives what makes the result a `dask.array` or None."""
    import dask.array as da
    from distributed import wait

    import partita as pt

    columns = pt.Layout((N, N), f"*, block @ 1x{n_chunks}")
    chunks = (N, N // n_chunks)

    def ours(x: Any) -> Callable[[], Any]:
        a = pt.from_dask(x)
        return lambda: a.redistribute(columns).to_dask

    def rechunked(method: str | None) -> Method:
        def run(x: Any) -> Any:
            y = x.rechunk(chunks, method=method).persist()
            wait(y)
            return lambda: y

        return lambda x: lambda: run(x)

    def in_threads(x: Any) -> Callable[[], Any]:
        here = da.from_array(x.compute(), chunks=x.chunks)

        def run() -> Any:
            y = here.rechunk(chunks, method="tasks").persist(scheduler="threads")
            # Kept until the clock has stopped, but not sent to the cluster to be checked.
            return lambda kept=y: None

        return run

    return {
        "partita": ours,
        "rechunk": rechunked(None),
        "rechunk, tasks": rechunked("tasks"),
        "rechunk, p2p": rechunked("p2p"),
        "rechunk, threads of one process": in_threads,
    }


if __name__ == "__main__":
    main()
