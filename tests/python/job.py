"""Programs on several ranks, started and watched from outside, and what they leave behind."""

from __future__ import annotations

import ast
import contextlib
import os
import platform
import re
import signal
import subprocess
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from places import NOTHING, Place

T = TypeVar("T")

RANK = str(Path(__file__).parent / "rank.py")
SHARED_MEMORY = Path("/dev/shm")

# What marks the processes of a job, wherever a launcher puts them.
MARK = "PARTITA_TEST_JOB"

# How long a launcher may take to start ranks and to end them, and what they had to vanish.
GRACE_SECONDS = 15.0
VANISH_SECONDS = 3.0


@dataclass
class Ended:
    """A job that is over."""

    status: int | None
    """Exit status of the launcher; none if it had to be killed."""
    out: str
    err: str
    results: dict[tuple[int, int], tuple[str, Any]]
    """What each rank left for each body, by (body, rank)."""
    stacks: str
    """Where ranks stood when their time was up."""
    left_processes: list[str]
    left_files: list[str]
    left_by_mpi: list[str]
    """Files that MPI itself leaves when a rank dies; removed by now."""

    def words(self) -> str:
        """Everything, for messages."""
        parts = [f"status {self.status}", self.out, self.err[-6000:], self.stacks]
        return "\n".join(part for part in parts if part)


class Job:
    """Ranks under way in a folder of their own."""

    def __init__(
        self,
        place: Place,
        folder: Path,
        bodies: Iterable[tuple[int, Callable[..., Any], tuple[Any, ...]]],
        *,
        seconds: float,
        is_bare: bool = False,
    ) -> None:
        self.folder, self.seconds, self.place = folder, seconds, place
        orders = [(n, f"{body.__module__}:{body.__name__}", args) for n, body, args in bodies]
        self.n_bodies = len(orders)
        (folder / "orders").write_text(repr((is_bare, orders, seconds)))
        self.mapped: set[str] = set()
        self.mark = uuid4().hex
        environment = place.environment() | {MARK: self.mark, "PARTITA_TEST_FOLDER": str(folder)}
        with (folder / "out").open("w") as out, (folder / "err").open("w") as err:
            self.process = subprocess.Popen(
                place.command(RANK, str(folder)),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment,
                start_new_session=True,
            )

    def wait(self) -> Ended:
        """Wait for the end, or bring it about; look what is left."""
        try:
            status = self._status()
        except BaseException:  # the tests are interrupted
            self.end()
            raise
        left_processes = self._left_processes()
        left_by_mpi = self._left_by_mpi()
        left_files = vanish(lambda: sorted(filter(is_shared, self.mapped)))
        return Ended(
            status,
            (self.folder / "out").read_text(errors="replace"),
            (self.folder / "err").read_text(errors="replace"),
            self._results(),
            "\n".join(path.read_text() for path in sorted(self.folder.glob("stacks.*"))).strip(),
            left_processes,
            left_files,
            left_by_mpi,
        )

    def _status(self) -> int | None:
        end = time.monotonic() + GRACE_SECONDS + self.seconds * self.n_bodies
        while time.monotonic() < end:
            try:
                return self.process.wait(timeout=0.05)
            except subprocess.TimeoutExpired:
                self.mapped |= self._mapped_now()
        self.process.kill()
        self.process.wait()
        return None

    def end(self) -> None:
        """Kill what still runs of this job."""
        for pid in self.pids():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        self.process.wait()

    def _mapped_now(self) -> set[str]:
        """Names of the files in shared memory that ranks have mapped at this moment."""
        names = set()
        # Processes of other hosts are numbered by themselves.
        for path in self.folder.glob(f"stacks.{platform.node()}.*"):
            for line in read(int(path.suffix[1:]), "maps").decode(errors="replace").splitlines():
                if f" {SHARED_MEMORY}/" in line:
                    names.add(line.partition(f" {SHARED_MEMORY}/")[2])
        return names

    def pids(self) -> list[int]:
        """Processes of this job that still run."""
        wanted = f"{MARK}={self.mark}".encode()
        return [pid for pid in all_pids() if wanted in read(pid, "environ").split(b"\0")]

    def _left_processes(self) -> list[str]:
        left = vanish(self.pids)
        words = [f"{pid} {read(pid, 'cmdline').replace(bytes(1), b' ').decode()}" for pid in left]
        self.end()
        return words

    def _left_by_mpi(self) -> list[str]:
        pattern = self.place.launcher.leaves if self.place.launcher else NOTHING
        left = [name for name in self.mapped if re.fullmatch(pattern, name) and is_shared(name)]
        for name in left:
            (SHARED_MEMORY / name).unlink(missing_ok=True)
        return left

    def _results(self) -> dict[tuple[int, int], tuple[str, Any]]:
        found = {}
        for path in self.folder.glob("*.*"):
            number, _, rank = path.name.partition(".")
            if number.isdigit() and rank.isdigit():
                found[int(number), int(rank)] = ast.literal_eval(path.read_text())
        return found


def vanish(look: Callable[[], list[T]]) -> list[T]:
    """What is still there after a launcher has had its time to clean up."""
    end = time.monotonic() + VANISH_SECONDS
    while (left := look()) and time.monotonic() < end:
        time.sleep(0.02)
    return left


def is_shared(name: str) -> bool:
    """Whether there is a file in shared memory of this name."""
    return (SHARED_MEMORY / name).exists()


def all_pids() -> list[int]:
    """Every process of this machine that is no zombie."""
    pids = [int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit()]
    return [pid for pid in pids if read(pid, "cmdline")]


def read(pid: int, name: str) -> bytes:
    """A file about a process; empty if it has gone or is another user's."""
    try:
        return Path(f"/proc/{pid}/{name}").read_bytes()
    except OSError:
        return b""
