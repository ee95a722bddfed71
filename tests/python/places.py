"""Where tests of teams run: an engine, a number of ranks and, for MPI, a launcher.

>>> str(Place("threads", 3))
'threads-3'
"""

from __future__ import annotations

import functools
import os
import shutil
import sys
from dataclasses import dataclass
from pathlib import Path

# A pattern that no name has.
NOTHING = "(?!)"

RANKS = (1, 2, 3, 4, 5, 8)

# The launcher that `make build` brings; one elsewhere on the path may belong to another MPI.
MPIEXEC = str(Path(sys.executable).parent / "mpiexec")


@dataclass(frozen=True)
class Launcher:
    """An `mpiexec`, and what it needs to run here."""

    name: str
    command: tuple[str, ...]
    variables: tuple[tuple[str, str], ...] = ()
    library: str = ""
    """The file of the library that belongs to it."""
    leaves: str = NOTHING
    """Files in shared memory that its MPI, by itself, leaves when a rank dies: a pattern."""
    missing: str = ""
    """What brings it, if it is not on this machine: its tests are named as not run."""


@dataclass(frozen=True)
class Place:
    """An engine with a number of ranks; `shared` is false where MPI may use messages only.

    With `per_node`, so many ranks that follow each other share memory, as on nodes of their own.
    """

    engine: str
    n_ranks: int
    launcher: Launcher | None = None
    shared: bool = True
    per_node: int = 0

    def __str__(self) -> str:
        name = self.launcher.name if self.launcher else self.engine
        nodes = f"-nodes-of-{self.per_node}" if self.per_node else ""
        return f"{name}{'' if self.shared else '-messages'}{nodes}-{self.n_ranks}"

    def command(self, *program: str) -> list[str]:
        """The command that runs a Python program on every rank."""
        python = [sys.executable, *program]
        if self.launcher is None:
            return [*python, str(self.n_ranks)]
        return [*self.launcher.command, "-n", str(self.n_ranks), *python]

    def environment(self) -> dict[str, str]:
        """This process's environment, with what the place needs."""
        here = str(Path(__file__).parent)
        paths = [here, *filter(None, [os.environ.get("PYTHONPATH")])]
        added = {"PYTHONPATH": os.pathsep.join(paths)}
        if not self.shared or self.per_node:
            added["PARTITA_SHARED_MEMORY"] = str(self.per_node)
        return os.environ | added | dict(self.launcher.variables if self.launcher else ())


@functools.cache
def launchers() -> list[Launcher]:
    """Those that tests run under, here or missing: the environment's own, then Debian's."""
    return [environments(), debians_open_mpi(), debians_mpich()]


def environments() -> Launcher:
    """The launcher beside Python."""
    missing = "" if Path(MPIEXEC).is_file() else "make build"
    leaves = "mpich_shm_[0-9a-f]+_0"
    return Launcher("mpi", (MPIEXEC,), (), "libmpi.so.12", leaves, missing)


def debians_open_mpi() -> Launcher:
    """Open MPI, which wants to be told that root may use it, and on few cores."""
    program, missing = debians("mpiexec.openmpi", "openmpi-bin")
    as_root = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
    command = (program, "--oversubscribe", "--bind-to", "none")
    variables = tuple((name, "1") for name in as_root)
    return Launcher("openmpi", command, variables, "libmpi.so.40", missing=missing)


def debians_mpich() -> Launcher:
    """Another MPICH than the environment's."""
    program, missing = debians("mpiexec.mpich", "mpich")
    return Launcher("debian-mpich", (program,), (), "libmpich.so.12", missing=missing)


def debians(program: str, package: str) -> tuple[str, str]:
    """A program of a package of Debian, and what brings it if it is missing."""
    found = shutil.which(program)
    return found or program, "" if found else f"apt-get install {package}"


def launcher_of(param: object) -> Launcher | None:
    """The launcher that a test with this parameter runs under."""
    param = param.launcher if isinstance(param, Place) else param
    return param if isinstance(param, Launcher) else None


def matrix() -> list[Place]:
    """Every engine on every number of ranks; MPI with shared memory, by messages, and by both."""
    first, *others = launchers()
    places = [Place("threads", n) for n in RANKS]
    places += [Place("mpi", n, first) for n in RANKS]
    places += [Place("mpi", n, first, shared=False) for n in (2, 3, 5, 8)]
    places += [Place("mpi", 4, first, per_node=2), Place("mpi", 5, first, per_node=3)]
    return places + [Place("mpi", 3, launcher) for launcher in others]
