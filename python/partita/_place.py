"""Whether this process has the place in a job of MPI that its environment speaks of.

A launcher gives each process a rank by environment variables, and children inherit them. A child
of a rank is no rank: if it joined, MPI would end it or the whole job.
"""

from __future__ import annotations

import os
import stat

from partita._errors import TeamError

# Set by a process that has joined: its number and its place.
_MARK = "PARTITA_JOINED"

# What tells the places of all jobs apart.
_VARIABLES = (
    "PMI_RANK",
    "PMI_ID",
    "PMI_PORT",
    "PMIX_NAMESPACE",
    "PMIX_RANK",
    "OMPI_COMM_WORLD_RANK",
    "SLURM_JOB_ID",
    "SLURM_STEP_ID",
    "SLURM_PROCID",
    "PALS_APID",
    "PALS_RANKID",
)


def check() -> None:
    """Refuse where an ancestor has joined the job in this place, or holds the way to do so."""
    holder, _, taken = os.environ.get(_MARK, "").partition(" ")
    if holder and holder != str(os.getpid()) and taken == _place():
        raise _refusal(f"process {holder}, which started it,")
    if "PMI_FD" in os.environ and not _connection():
        raise _refusal("the process that started it")


def mark() -> dict[str, str]:
    """What the environment of children shall have besides, once this process has joined."""
    return {_MARK: f"{os.getpid()} {_place()}"}


def _refusal(holder: str) -> TeamError:
    message = (
        f"process {os.getpid()} is no rank of the job: {holder} holds the place that its "
        "environment names; call partita.world() there, or partita.spmd(fn, 1) for a team of "
        "this process alone"
    )
    return TeamError(message, "not-a-rank")


def _place() -> str:
    values = [os.environ.get(name, "") for name in _VARIABLES]
    return "/".join([*values, _connection()])


def _connection() -> str:
    """The connection to the launcher; empty where there is none."""
    try:
        found = os.fstat(int(os.environ["PMI_FD"]))
    except (KeyError, ValueError, OSError):
        return ""
    return f"{found.st_dev}:{found.st_ino}" if stat.S_ISSOCK(found.st_mode) else ""
