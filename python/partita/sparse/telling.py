"""Errors that leave a call that ranks make together: those that do not know of them are told.

What is wrong may be so on one rank only, before ranks meet: a list that NumPy refuses, a path that
is none, a warning that this rank's program has made an error. The others would wait, or meet it in
another call; once told they get a `RemoteError`, and all ranks are in step again. What ranks have
told each other already is not told twice.

Where nothing is wrong nothing is asked, and no rank waits for another.
"""

from __future__ import annotations

import contextlib
import functools
import types
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from partita._errors import MismatchError, RemoteError
from partita._team.known import begin
from partita._team.spmd import own_team
from partita._team.team import Team
from partita._team.together import is_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

P = ParamSpec("P")
R = TypeVar("R")
K = TypeVar("K", bound=type)

# What looks at this rank's part alone, or is asked of anything by Python and by libraries.
_LOCAL = {"get_slice", "to_scipy", "grid_size", "pattern_is"}
_LOCAL |= {"__init__", "__repr__", "__str__", "__len__", "__array__"}
_LOCAL |= {"__copy__", "__deepcopy__", "__reduce__"}

# What a rank gets of a meeting: no rank alone finds these in a call on sparse tensors.
_OF_MEETINGS = (RemoteError, MismatchError)


def telling(call: Callable[P, R]) -> Callable[P, R]:
    """A call whose errors the ranks of what it is given are told of, if they do not know them."""

    @functools.wraps(call)
    def told(*args: P.args, **options: P.kwargs) -> R:
        begin()
        try:
            return call(*args, **options)
        except BaseException as error:
            _tell(error, (*args, *options.values()))
            raise

    return told


def _tell(error: BaseException, given: Iterable[Any]) -> None:
    """Tell the ranks of what a call was given, or this rank's own; without a team, nobody."""
    team = _team_of(given)
    if team is None:
        with contextlib.suppress(Exception):
            team = own_team(None)
    if team is None:
        return
    if is_known(team, error, _OF_MEETINGS):
        team.knowing(error)
    team.__exit__(type(error), error, error.__traceback__)


def telling_methods(kind: K) -> K:
    """A class all of whose methods that ranks call together are such calls."""
    for name in dir(kind):
        is_public = not name.startswith("_") or name.endswith("__")
        found = next((vars(one)[name] for one in kind.__mro__ if name in vars(one)), None)
        if not is_public or name in _LOCAL:
            continue
        if isinstance(found, types.FunctionType):
            setattr(kind, name, telling(found))
        elif isinstance(found, classmethod):
            setattr(kind, name, classmethod(telling(found.__func__)))
    return kind


def _team_of(given: Iterable[Any], depth: int = 3) -> Team | None:
    """The ranks of the first that has some, also in lists of lists."""
    for one in given:
        own = one if isinstance(one, Team) else None
        # What is given may have ideas of its own, one of which may have failed just now.
        with contextlib.suppress(Exception):
            own = one.team if own is None else own
        if not isinstance(own, Team) and isinstance(one, list | tuple) and depth:
            own = _team_of(one, depth - 1)
        if isinstance(own, Team):
            return own
    return None
