"""Work that each rank does alone, and whose errors all ranks raise.

A file that is missing, full or forbidden for one rank is so for the team: no rank goes on while
another has stopped.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TypeVar

from partita import _errors
from partita._errors import PartitaError, RemoteError, TeamError, is_a, text_of
from partita._team.known import begin

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from partita._team.team import Team

T = TypeVar("T")
F = TypeVar("F")

# Module and name of a class.
Kind = tuple[str, str]
# Classes, error number, text, file and reason of an exception; its own class first.
Told = tuple[list[Kind], int | None, str, str | None, str | None]


def together(team: Team, work: Callable[[], T], call: str = "together", argument: str = "") -> T:
    """What this rank's work returns, once all ranks have done theirs. Collective.

    All ranks must name the same call and argument.
    """
    if team.size == 1:
        return work()
    value, error = _tried(team, work)
    own = None if error is None else _told(error)
    _raise_first(team, error, team.gather_alike(call, argument, own))
    return value  # type: ignore[return-value]


def together_telling(
    team: Team,
    work: Callable[[], tuple[T, F]],
    call: str = "together",
    argument: str = "",
) -> tuple[T, list[F]]:
    """What this rank's work returns, and what every rank's tells: plain data. Collective.

    All ranks must name the same call and argument.
    """
    if team.size == 1:
        value, fact = work()
        return value, [fact]
    found, error = _tried(team, work)
    own = None if found is None else found[1]
    told = team.gather_alike(call, argument, (None if error is None else _told(error), own))
    _raise_first(team, error, [problem for problem, _ in told])
    assert found is not None
    return found[0], [fact for _, fact in told]


def by_first(team: Team, work: Callable[[], T], path: Path | None = None) -> T:
    """What the work of rank 0 returns, on every rank: plain data. Collective.

    With the path of a file, it must be the same on every rank.
    """
    if team.size == 1:
        return work()
    value, error = _tried(team, work) if team.rank == 0 else (None, None)
    told = None if error is None else _told(error)
    shared: T
    # Ranks may be in different folders, where the same name is another file.
    file = "" if path is None else f"the file {os.path.abspath(path)!r}"
    shared, told = team.broadcast_alike("broadcast_data", (value, told), argument=file)
    _raise_first(team, error, [told])
    return shared


def is_known(
    team: Team, error: BaseException, of_meetings: Sequence[type[Exception]] = (RemoteError,)
) -> bool:
    """Whether the others know an error: they are told where they have come, or come next.

    What a meeting gives to one rank it gives to all, though not each notes whom: errors of these
    classes.
    """
    is_of_meeting = any(is_a(error, kind) for kind in of_meetings)
    return team.knows(error) or (is_of_meeting and not hasattr(error, "told"))


def _tried(team: Team, work: Callable[[], T]) -> tuple[T | None, Exception | None]:
    begin()
    try:
        return work(), None
    except Exception as error:
        if is_known(team, error):
            raise
        return None, error


def _raise_first(team: Team, own: Exception | None, told: list[Told | None]) -> None:
    """Raise the first rank's error, if one has any; what it was, as far as it can be told."""
    for rank, problem in enumerate(told):
        if problem is not None:
            raise team.knowing(_made(problem, rank) if own is None else own)


def _told(error: Exception) -> Told:
    number = error.errno if isinstance(error, OSError) else None
    text = error.strerror if isinstance(error, OSError) and error.strerror else _text(error)
    name = getattr(error, "filename", None)
    kinds = [_name_of(one) for one in type(error).__mro__ if issubclass(one, Exception)]
    reason = error.reason if is_a(error, PartitaError) else None
    known = [one for one in kinds if one is not None]
    return known, number, text, None if name is None else str(name), reason


def _text(error: Exception) -> str:
    """What an exception was made of: that of a missing key shows it in quotes."""
    if is_a(error, KeyError) and len(error.args) == 1 and type(error.args[0]) is str:
        return text_of(Exception(error.args[0]))
    return text_of(error)


def _name_of(kind: type[Exception]) -> Kind | None:
    """Module and name of a class, if it tells them: classes may have their own ideas."""
    try:
        return str(kind.__module__), str(kind.__qualname__)
    except Exception:
        return None


def _class_of(kind: Kind) -> type[Exception] | None:
    """The class of a name, if its module is loaded here, too."""
    found: Any = sys.modules.get(kind[0])
    for part in kind[1].split("."):
        found = getattr(found, part, None)
    return found if isinstance(found, type) and issubclass(found, Exception) else None


def _made(problem: Told, rank: int) -> Exception:
    kinds, number, text, name, reason = problem
    classes = [found for one in kinds if (found := _class_of(one)) is not None]
    error: Exception
    if reason is not None:
        made: Any = next(one for one in classes if one.__module__ == _errors.__name__)
        error = made(text, reason)
        if is_a(error, TeamError):
            error.rank = rank
    elif number is not None and any(issubclass(one, OSError) for one in classes):
        error = OSError(number, text, name)
    else:
        error = next(made for one in classes if (made := _of_text(one, text)) is not None)
    error.add_note(f"(on rank {rank})")
    return error


def _of_text(kind: type[Exception], text: str) -> Exception | None:
    """An exception of a class that wants no more than a text, and says it."""
    try:
        error = kind(text)
        return error if kind.__module__ == "builtins" or text in str(error) else None
    except BaseException:
        # Such as those of Unicode, which want more; what others do when made is their own.
        return None
