"""Jobs across hosts: started by MPICH's launcher, watched, and what they leave behind."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hosts import Hosts
from job import VANISH_SECONDS, Ended, Job
from places import Launcher, Place, environments

# Files that MPICH leaves where it is not ended: a rank died, or no message reaches another.
LEFT_BY_MPI = "mpich_shm_"

DEADLINE_SECONDS = 2.0
# How long after the deadline ranks may be told: one whose data was under way may wait for its
# partners' word as long again.
SOON_SECONDS = 1.5


def place_on(hosts: Hosts, n_per_host: int, *options: str) -> Place:
    """A place whose ranks are spread over the hosts; options are the launcher's."""
    ours = environments()
    command = (*hosts.launcher(ours.command, n_per_host), *options)
    launcher = Launcher("hosts", command, tuple(hosts.variables().items()), ours.library)
    return Place("mpi", len(hosts.all) * n_per_host, launcher)


def host_names(hosts: Hosts, n_per_host: int) -> list[str]:
    """The host of each rank."""
    return [host.name for host in hosts.all for _ in range(n_per_host)]


def check_clean(hosts: Hosts, *, finalized: bool = True) -> None:
    """No process and no file is left on a host."""
    end = time.monotonic() + VANISH_SECONDS
    while (left := left_on(hosts, finalized)) and time.monotonic() < end:
        time.sleep(0.05)
    assert left == []
    for host in hosts.all:
        for path in host.path("dev/shm").glob(f"{LEFT_BY_MPI}*"):
            path.unlink()


def left_on(hosts: Hosts, finalized: bool) -> list[str]:
    files = [one for one in hosts.shared_files() if finalized or LEFT_BY_MPI not in one]
    return hosts.processes() + files


def run_bare(
    hosts: Hosts,
    n_per_host: int,
    folder: Path,
    body: Callable[..., Any],
    args: tuple[Any, ...],
    meanwhile: Callable[[], None],
    seconds: float = 40.0,
) -> Ended:
    """A body as a program of its own; `meanwhile` is called when all ranks are ready."""
    place = place_on(hosts, n_per_host)
    job = Job(place, folder, [(0, body, args)], seconds=seconds, is_bare=True)
    try:
        end = time.monotonic() + 30.0
        while len(list(folder.glob("ready-*"))) < place.n_ranks:
            assert time.monotonic() < end, "the ranks did not come"
            time.sleep(0.02)
        meanwhile()
    except BaseException:
        job.end()
        raise
    return job.wait()
