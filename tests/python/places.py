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


@dataclass(frozen=True)
class Place:
    """An engine with a number of ranks; `shared` is false where MPI may use messages only."""

    engine: str
    n_ranks: int
    launcher: Launcher | None = None
    shared: bool = True

    def __str__(self) -> str:
        name = self.launcher.name if self.launcher else self.engine
        return f"{name}{'' if self.shared else '-messages'}-{self.n_ranks}"

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
        if not self.shared:
            added["PARTITA_SHARED_MEMORY"] = "0"
        return os.environ | added | dict(self.launcher.variables if self.launcher else ())


@functools.cache
def launchers() -> list[Launcher]:
    """The launchers of this machine: the environment's own first, then those Debian has."""
    beside = Path(sys.executable).parent / "mpiexec"
    found = []
    if beside.is_file():
        leaves = "mpich_shm_[0-9a-f]+_0"
        found.append(Launcher("mpi", (str(beside),), library="libmpi.so.12", leaves=leaves))
    if open_mpi := shutil.which("mpiexec.openmpi"):
        as_root = ("OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM")
        command = (open_mpi, "--oversubscribe", "--bind-to", "none")
        variables = tuple((name, "1") for name in as_root)
        found.append(Launcher("openmpi", command, variables, "libmpi.so.40"))
    if mpich := shutil.which("mpiexec.mpich"):
        # The environment's library would do, too; this is about Debian's.
        variables = (("PARTITA_MPI_LIBRARY", "libmpich.so.12"),)
        found.append(Launcher("debian-mpich", (mpich,), variables, "libmpich.so.12"))
    return found


def matrix() -> list[Place]:
    """Every engine on every number of ranks: threads, MPI with shared memory, by messages alone."""
    first, *others = launchers()
    places = [Place("threads", n) for n in RANKS]
    places += [Place("mpi", n, first) for n in RANKS]
    places += [Place("mpi", n, first, shared=False) for n in (2, 3, 5, 8)]
    return places + [Place("mpi", 3, launcher) for launcher in others]
