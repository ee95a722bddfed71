"""Whether this process has the place in a job of MPI that its environment speaks of.

A launcher gives each process a rank by environment variables, and children inherit them. A child
of a rank is no rank: if it joined, MPI would end it or the whole job.
"""

from __future__ import annotations

import os
import sys

from partita._errors import TeamError
from partita._partita import launcher_is_cut_off, launcher_place

# Set by a process that has joined: its number and its place.
_MARK = "PARTITA_JOINED"

# Whether this process was forked from one in which mpi4py had started MPI.
_is_child_of_mpi4py = False


def mpi4py_runs() -> bool:
    """Whether mpi4py has started MPI in this process."""
    MPI = sys.modules.get("mpi4py.MPI")
    return MPI is not None and bool(MPI.Is_initialized())


def _note_fork() -> None:
    global _is_child_of_mpi4py
    _is_child_of_mpi4py = _is_child_of_mpi4py or mpi4py_runs()


# What partita itself has started it knows without this.
os.register_at_fork(after_in_child=_note_fork)


def check_fork() -> None:
    """Refuse in a forked child: MPI, if it runs, is the parent's."""
    if _is_child_of_mpi4py:
        message = "this process was forked from a rank and is none; call partita.world() there"
        raise TeamError(message, "forked")


def check() -> None:
    """Refuse where an ancestor has joined the job in this place, or holds the way to do so."""
    holder, _, taken = os.environ.get(_MARK, "").partition(" ")
    if holder and holder != str(os.getpid()) and taken == launcher_place():
        raise _refusal(f"process {holder}, which started it,")
    if launcher_is_cut_off():
        raise _refusal("the process that started it")


def mark() -> dict[str, str]:
    """What the environment of children shall have besides, once this process has joined."""
    return {_MARK: f"{os.getpid()} {launcher_place()}"}


def _refusal(holder: str) -> TeamError:
    message = (
        f"process {os.getpid()} is no rank of the job: {holder} holds the place that its "
        "environment names; call partita.world() there, or partita.spmd(fn, 1) for a team of "
        "this process alone"
    )
    return TeamError(message, "not-a-rank")
