"""Copies and movements of whole arrays: counted, and refused where `memory_limit` says so."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._partita import SharedMemory

if TYPE_CHECKING:
    from partita._partita import Rank
    from partita._team.team import Team

# Less is not worth the object that waits for its end.
_HELD_FROM_BYTES = 1024


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


def hold(team: Team, made: Any) -> None:
    """Count memory that was made outside the engine as that of arrays, until it is let go.

    Tables are not counted: nobody computes with them here.
    """
    if not isinstance(made, np.ndarray) or made.nbytes < _HELD_FROM_BYTES:
        return
    # Views keep the innermost array alive, so that is what is waited for.
    owner = made
    while isinstance(owner.base, np.ndarray):
        owner = owner.base
    held = team.kept("memory held", set[int])
    if id(owner) in held or isinstance(owner.base, SharedMemory):
        return
    rank, n_bytes = team.arrays, owner.nbytes
    held.add(id(owner))
    rank.hold_memory(n_bytes)
    weakref.finalize(owner, _let_go, rank, held, id(owner), n_bytes).atexit = False


def _let_go(rank: Rank, held: set[int], owner: int, n_bytes: int) -> None:
    held.discard(owner)
    rank.release_memory(n_bytes)


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
