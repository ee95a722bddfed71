"""Work that each rank does alone, and whose errors all ranks raise.

A file that is missing, full or forbidden for one rank is so for the team: no rank goes on while
another has stopped.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Any, TypeVar

from partita._errors import text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._team.team import Team

T = TypeVar("T")

# Kind, error number, text and file of an exception.
Told = tuple[str, int | None, str, str | None]


def together(team: Team, work: Callable[[], T]) -> T:
    """What this rank's work returns, once all ranks have done theirs. Collective."""
    if team.size == 1:
        return work()
    value, error = _tried(work)
    _raise_first(team, error, team.allgather_data(None if error is None else _told(error)))
    return value  # type: ignore[return-value]


def by_first(team: Team, work: Callable[[], T]) -> T:
    """What the work of rank 0 returns, on every rank: plain data. Collective."""
    if team.size == 1:
        return work()
    value, error = _tried(work) if team.rank == 0 else (None, None)
    told = None if error is None else _told(error)
    shared: T
    shared, told = team.broadcast_data((value, told))
    _raise_first(team, error, [told])
    return shared


def _tried(work: Callable[[], T]) -> tuple[T | None, Exception | None]:
    try:
        return work(), None
    except Exception as error:
        return None, error


def _raise_first(team: Team, own: Exception | None, told: list[Told | None]) -> None:
    """Raise the first rank's error, if one has any; what it was, as far as it can be told."""
    for rank, problem in enumerate(told):
        if problem is not None:
            raise _made(problem, rank) if own is None else own


def _told(error: Exception) -> Told:
    number = error.errno if isinstance(error, OSError) else None
    text = error.strerror if isinstance(error, OSError) and error.strerror else text_of(error)
    name = getattr(error, "filename", None)
    kinds = [one.__name__ for one in type(error).__mro__ if one.__module__ == "builtins"]
    return kinds[0], number, text, None if name is None else str(name)


def _made(problem: Told, rank: int) -> Exception:
    kind, number, text, name = problem
    error: Exception
    made: Any = getattr(builtins, kind)
    if issubclass(made, OSError) and number is not None:
        error = OSError(number, text, name)
    else:
        try:
            error = made(text)
        except TypeError:
            # Such as those of Unicode, which want more than a text.
            error = ValueError(text)
    error.add_note(f"(on rank {rank})")
    return error
