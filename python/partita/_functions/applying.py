"""A user's function applied along axes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from partita._array.array import Array
from partita._errors import RemoteError, TeamError, words_of
from partita._functions.creation import an_array, axes_of, axis_of
from partita._functions.enclosed import with_whole_arrays
from partita._functions.gathered import few
from partita._functions.locally import each_line
from partita._functions.manipulation import expand_dims, moveaxis
from partita._team.spmd import alone

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partita._team.team import Team

F = TypeVar("F", bound="Callable[..., Any]")


def agreed(team: Team, work: Callable[[], Any], empty: Callable[[Any], Any]) -> Any:
    """Return what a user's function makes here, once all ranks know that it failed nowhere.

    `work` gives a list of arrays. What the function calls of partita is this rank's alone; arrays
    of the team are refused there, since ranks do not call it equally often. A rank with nothing to
    give to the function, for which `work` gives None, makes them with `empty`, of the shape and
    type that the first other rank tells. Collective.
    """
    made, trouble = None, None
    try:
        made = _called_alone(team, work)
    except Exception as error:
        trouble = error
    words = None if trouble is None else words_of(trouble)
    kinds = None if made is None else [(one.shape, one.dtype.str) for one in made]
    told = team.gather_inside("results of a function", (words, kinds))
    if trouble is not None:
        raise trouble
    for rank, (words, _) in enumerate(told):
        if words is not None:
            message = f"rank {rank} raised {words}; see there"
            raise RemoteError(message, "function-failed", rank)
    kinds = next((kinds for _, kinds in told if kinds is not None), None)
    if kinds is None:
        return [empty(((0,), "<f8"))]
    _refuse_other_counts(told, len(kinds))
    if made is None:
        return [empty(kind) for kind in kinds]
    # The first element's type is that of all, as for NumPy.
    return [one.astype(kind[1], copy=False) for one, kind in zip(made, kinds, strict=True)]


def _called_alone(team: Team, work: Callable[[], Any]) -> Any:
    if team.size == 1:
        return work()
    # What is pending runs now: nothing of the team can run inside.
    team.arrays.sync()
    try:
        with alone(team):
            return work()
    except TeamError as error:
        if error.reason != "team-busy":
            raise
        message = "a function that each rank calls for its own elements uses an array of all ranks"
        raise TeamError(f"{message}; give it a.gather(), taken before", error.reason) from error


def known(one: Any, name: str) -> Any:
    """What every call of a user's function gets as it is: arrays whole, as NumPy's."""
    return few(one, name) if isinstance(one, Array) else one


def _refuse_other_counts(told: Sequence[Any], n_results: int) -> None:
    for rank, (_, kinds) in enumerate(told):
        if kinds is not None and len(kinds) != n_results:
            message = f"the function gives {len(kinds)} results on rank {rank}, {n_results} before"
            raise ValueError(f"{message}; let it give as many for all elements")


def as_set_by_user(work: F) -> F:
    """The same work of a user's function, with floating point errors as they are set now."""
    return np.errstate(**np.geterr())(work)


def plain(function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, whose results are NumPy's arrays where they would be partita's."""

    def of_numpy(made: Any) -> Any:
        if isinstance(made, tuple):
            return tuple(of_numpy(one) for one in made)
        return np.asarray(made) if isinstance(made, Array) else made

    return lambda *args, **options: of_numpy(function(*args, **options))


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kw: Any
) -> Array:
    """Return what a function makes of each line along an axis, given to it as NumPy's array.

    Lines are on the rank that has them; a vector, which is one line, comes to every rank. So do
    arrays among the other arguments, and those that the function uses by name. An error that the
    function raises on one rank is one on all.
    """
    array = an_array(arr)
    at = axis_of(axis, array.ndim)
    n_others = array.ndim - 1
    function = plain(with_whole_arrays(func1d, "apply_along_axis"))
    rest = [known(one, "apply_along_axis") for one in args]
    more = {key: known(one, "apply_along_axis") for key, one in kw.items()}
    if 0 in array.shape[:at] + array.shape[at + 1 :]:
        raise ValueError(f"an array of shape {array.shape} has no lines along axis {at}")

    def lines(own: Any) -> Any:
        def work() -> Any:
            if 0 in own.shape[:-1]:
                return None
            return [np.asarray(np.apply_along_axis(function, -1, own, *rest, **more))]

        def empty(kind: Any) -> Any:
            return np.empty((*own.shape[:-1], *kind[0][n_others:]), kind[1])

        return agreed(array.team, work, empty)[0]

    made = each_line(as_set_by_user(lines), array, at, "apply_along_axis")
    n_new = made.ndim - n_others
    ends = tuple(range(n_others, made.ndim))
    return moveaxis(made, ends, tuple(range(at, at + n_new))) if n_new else made


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Array:
    """Return what a function makes of an array along one axis after the other."""
    array = an_array(a)
    for at in axes_of(tuple(np.atleast_1d(axes).tolist()), array.ndim):
        made = an_array(func(array, at))
        array = made if made.ndim == array.ndim else expand_dims(made, at)
    return array


__all__ = ["apply_along_axis", "apply_over_axes"]
