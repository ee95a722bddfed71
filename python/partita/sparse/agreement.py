"""What all ranks must say alike when they make a tensor together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from partita._args import integer
from partita._errors import MismatchError, TeamError
from partita._team.spmd import own_team
from partita._team.team import unknown_root
from partita._team.together import together, together_telling

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import TracebackType

    from partita._team.team import Team
    from partita.sparse.base import Base

T = TypeVar("T")
Facts = dict[str, Any]


def members(team: Team | None) -> Team:
    """The team that is given, or this rank's, if this rank is a member of it."""
    found = own_team(team)
    if not found.active:
        message = f"this rank is no member of the {found.size} ranks of the team"
        raise TeamError(f"{message}; call it on its members only", "sparse-member")
    return found


def checked_root(root: Any, team: Team) -> int:
    """Return the rank that is named, if the team has it."""
    at = integer(root, "root")
    if not 0 <= at < team.size:
        raise unknown_root(at, team.size)
    return at


def agreed(
    team: Team,
    call: str,
    work: Callable[[], tuple[T, Facts, Any]],
    argument: str = "",
) -> tuple[T, list[Any]]:
    """What this rank's work returns, and what each rank tells, if all facts are the same.

    The call is that of a tensor's method unless it names its module. The work returns a value,
    facts by name, and what else the others shall know. An error of one rank is raised on all.
    Collective.
    """

    def told() -> tuple[T, tuple[Facts, Any]]:
        value, facts, more = work()
        return value, (facts, more)

    name_of_call = call if "." in call else f"DistTensor.{call}"
    value, found = together_telling(team, told, name_of_call, argument)
    first = found[0][0]
    for rank, (facts, _) in enumerate(found):
        for name, wanted in first.items():
            if facts.get(name) != wanted:
                message = f"{call}: {name} is {facts.get(name)} on rank {rank} and {wanted} on 0"
                message += "; give the same on every rank"
                raise MismatchError(message, "sparse-ranks-differ", rank)
    return value, [more for _, more in found]


def computed(team: Team, work: Callable[[], T]) -> T:
    """What this rank computes of its own values.

    Whether NumPy raises depends on these only where the user has asked for it by `np.errstate`:
    then ranks meet, and an error of one is raised on all. Else no communication.
    """
    may_raise = not {"raise", "call"}.isdisjoint(np.geterr().values())
    return together(team, work) if may_raise else work()


class OfOneTensor:
    """Names this rank's tensor where ranks turn out to make different calls.

    What is planned for one tensor may have been kept for another one: then some ranks plan and the
    others run, and neither says why.
    """

    def __init__(self, what: str, tensor: Base) -> None:
        self._what, self._tensor = what, tensor

    def __enter__(self) -> None:
        pass

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if not isinstance(error, MismatchError) or error.reason != "calls-differ":
            return
        here = f"(here: {self._what} {self._tensor._words})"
        if here not in str(error):
            # The same error: that the others know it is noted on it.
            error.args = (f"{error}, with one tensor and operands that lie alike {here}",)
