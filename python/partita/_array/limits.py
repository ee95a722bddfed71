"""Copies and movements of whole arrays: counted, and refused where `memory_limit` says so."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from partita._team.team import Team


def taken(team: Team) -> dict[str, tuple[int, int]]:
    """How often gathers, movements and copies have taken how many bytes on this rank so far."""
    return {what: (n_times, n_bytes) for what, [n_times, n_bytes] in _counts(team).items()}


def _counts(team: Team) -> dict[str, list[int]]:
    return team.kept("taken", dict[str, list[int]])


def take(team: Team, n_bytes: int, what: str) -> None:
    """Count what a copy takes on this rank; refuse it, before anything moves, if it is too much.

    The other ranks hear of it when they meet for it.
    """
    refuse_too_much(team, n_bytes, what)
    note(team, n_bytes, what)


def note(team: Team, n_bytes: int, what: str) -> None:
    """Count what a copy has taken on this rank."""
    counted = _counts(team).setdefault(what, [0, 0])
    counted[0] += 1
    counted[1] += n_bytes


def hold(team: Team, made: np.ndarray[Any, Any]) -> None:
    """Count memory that was made outside the engine as that of arrays, until it is let go."""
    # Views keep the innermost array alive, so that is what is waited for.
    owner = made.base if isinstance(made.base, np.ndarray) else made
    rank, n_bytes = team.arrays, made.nbytes
    rank.hold_memory(n_bytes)
    weakref.finalize(owner, rank.release_memory, n_bytes).atexit = False


def refuse_too_much(team: Team, n_bytes: int, what: str) -> None:
    """Refuse what would take more than this rank may have; the other ranks are told."""
    limit = team.arrays.memory_limit
    if limit is None:
        return
    needed = team.arrays.memory_in_use + n_bytes
    if needed <= limit:
        return
    message = (
        f"{what} would need {needed} bytes for arrays on rank {team.rank} where {limit} are "
        "allowed; use smaller arrays, more ranks, or a higher memory_limit"
    )
    error = MemoryError(message)
    error.reason = "memory-limit"  # type: ignore[attr-defined]
    raise team.told(error)
