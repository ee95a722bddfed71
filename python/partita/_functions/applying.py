"""A user's function applied along axes and to elements."""

from __future__ import annotations

from functools import update_wrapper
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._errors import RemoteError, words_of
from partita._functions.creation import an_array, axes_of, axis_of
from partita._functions.locally import each_element, each_line
from partita._functions.manipulation import expand_dims, moveaxis

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._array.array import Array
    from partita._team.team import Team


def agreed(team: Team, work: Callable[[], Any], empty: Callable[[Any], Any]) -> Any:
    """Return what a user's function makes here, once all ranks know that it failed nowhere.

    A rank with nothing to give to the function, for which `work` gives None, makes its part with
    `empty` of what the first other rank tells. Collective.
    """
    made, trouble = None, None
    try:
        made = work()
    except Exception as error:
        trouble = error
    words = None if trouble is None else words_of(trouble)
    told = team.allgather_data((words, None if made is None else (made.shape, made.dtype.str)))
    if trouble is not None:
        raise trouble
    for rank, (words, _) in enumerate(told):
        if words is not None:
            message = f"rank {rank} raised {words}; see there"
            raise RemoteError(message, "function-failed", rank)
    kind = next((kind for _, kind in told if kind is not None), ((0,), "<f8"))
    # The first element's type is that of all, as for NumPy.
    return empty(kind) if made is None else made.astype(kind[1], copy=False)


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kw: Any
) -> Array:
    """Return what a function makes of each line along an axis, given to it as NumPy's array.

    Lines are on the rank that has them; a vector, which is one line, comes to every rank. An error
    that the function raises on one rank is one on all.
    """
    array = an_array(arr)
    at = axis_of(axis, array.ndim)
    n_others = array.ndim - 1
    if 0 in array.shape[:at] + array.shape[at + 1 :]:
        raise ValueError(f"an array of shape {array.shape} has no lines along axis {at}")

    def lines(own: Any) -> Any:
        def work() -> Any:
            if 0 in own.shape[:-1]:
                return None
            return np.apply_along_axis(func1d, -1, own, *args, **kw)

        def empty(kind: Any) -> Any:
            return np.empty((*own.shape[:-1], *kind[0][n_others:]), kind[1])

        return agreed(array.team, work, empty)

    made = each_line(lines, array, at, "apply_along_axis")
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


class vectorize:
    """A function of numbers, for arrays: each rank calls it for the elements that it owns.

    It is a loop of Python. A function made of partita's own functions takes arrays as it is and is
    many times as fast. Results have the type of `otypes`, or of the first element's result.

    >>> import partita as pt
    >>> print(pt.vectorize(lambda a, b: a if a > b else b)(pt.arange(4), 2))
    [2 2 2 3]
    """

    def __init__(self, pyfunc: Callable[..., Any], otypes: Any = None, **options: Any) -> None:
        if options.keys() - {"doc", "excluded", "cache"} or options.get("excluded"):
            raise TypeError("vectorize with excluded= or signature=; write a loop, or use numpy's")
        self.pyfunc = pyfunc
        self._otypes = otypes
        update_wrapper(self, pyfunc)

    def __call__(self, *args: Any) -> Any:
        """Return what the function makes of each element."""
        first = next((one for one in map(an_array, args)), None)
        if first is None:
            raise ValueError("a function of no operands; give one at least")
        team = first.team

        def parts(*own: Any) -> Any:
            local = np.vectorize(self.pyfunc, self._otypes)
            n_here = np.broadcast(*own).size

            def empty(kind: Any) -> Any:
                return np.empty(np.broadcast(*own).shape, kind[1])

            def work() -> Any:
                return None if n_here == 0 else np.asarray(local(*own))

            return agreed(team, work, empty)

        return each_element(parts, *args)


def frompyfunc(func: Callable[..., Any], /, nin: int, nout: int, **options: Any) -> vectorize:
    """Return a function of numbers for arrays; results are numbers here, never objects."""
    if nout < 1 or nin < 1:
        raise ValueError(f"{nin} operands and {nout} results; use 1 or more")
    return vectorize(func)


__all__ = ["apply_along_axis", "apply_over_axes", "frompyfunc", "vectorize"]
