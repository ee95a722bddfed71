"""NumPy's own functions on each rank's part, for what has no native kernel.

A function of each element alone needs no other rank: operands are brought to one layout, and the
function sees this rank's memory. A function of lines sees them whole, on the rank that has them.

What `numpy.seterr` says is left aside meanwhile: a part that overflows would raise on its rank
alone, and arrays of partita have no such errors.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.held import default_layout
from partita._array.parts import alone
from partita._functions.creation import an_array, asarray
from partita._functions.gathered import whole
from partita._functions.manipulation import broadcast_arrays, broadcast_to
from partita._partita import Block, Layout, Whole

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partita._team.team import Team

Local = np.ndarray[Any, Any]


def each_element(work: Callable[..., Any], *operands: Any) -> Any:
    """Return what a function of elements makes of operands, on the ranks that own them.

    Numbers of Python stay what they are, so that types follow NumPy. Collective.
    """
    numbers = [type(one) in (bool, int, float, complex) for one in operands]
    if all(numbers):
        operands, numbers = tuple(map(an_array, operands)), [False] * len(operands)
    arrays = iter(broadcast_arrays(*_arrays(operands, numbers)))
    given = [one if bare else next(arrays) for one, bare in zip(operands, numbers, strict=True)]
    first: Array = next(one for one in given if isinstance(one, Array))
    layout = default_layout(first.shape, first.team)
    first.team.say(getattr(work, "__name__", "a function of elements"))
    parts = [_part(one, layout) if isinstance(one, Array) else one for one in given]
    with np.errstate(all="ignore"):
        made = work(*parts)
    if isinstance(made, tuple):
        return tuple(_as_array(one, layout, first.team) for one in made)
    return _as_array(made, layout, first.team)


def _arrays(operands: Any, numbers: list[bool]) -> list[Array]:
    return [an_array(one) for one, bare in zip(operands, numbers, strict=True) if not bare]


def _part(array: Array, layout: Layout) -> Local:
    """This rank's part in a layout."""
    held = array if array.layout == layout else array.redistribute(layout)
    return held.local


def _as_array(local: Any, layout: Layout, team: Team) -> Array:
    buffer = np.ascontiguousarray(local).reshape(np.shape(local))
    return Array([buffer], layout, team, buffer.dtype)


def each_line(work: Callable[[Local], Any], array: Array, axis: int, name: str) -> Array:
    """Return what a function makes of whole lines along an axis, which come last and may change.

    The result has what the function gives for a line in place of the axis, at the end. A vector is
    one line, which every rank takes whole, counted under `name`. Collective.
    """
    work = np.errstate(all="ignore")(work)
    lines = array._permute([*(at for at in range(array.ndim) if at != axis), axis])
    if lines.team.size == 1:
        return asarray(np.asarray(work(alone(lines)), order="C"))
    if lines.ndim == 1:
        return asarray(np.asarray(work(whole(lines, name))))
    lines.team.say(f"{name} along axis {axis}")
    others = lines.shape[:-1]
    cut = max(range(len(others)), key=lambda at: others[at])
    held = _part(+lines, _cut_along(lines.shape, cut, lines.team))
    made = np.ascontiguousarray(work(held))
    shape = (*others, *made.shape[len(others) :])
    return Array([made], _cut_along(shape, cut, lines.team), lines.team, made.dtype)


def each_entry(
    work: Callable[..., Sequence[Local]], arrays: Sequence[Array], n_inner: Sequence[int], name: str
) -> list[Array]:
    """Return what a function makes of the entries of stacks, which it gets whole.

    Of each array so many dimensions as `n_inner` says belong to an entry; the others are broadcast
    and come first. Without others there is one entry, which every rank takes, counted under `name`.
    Collective.
    """
    work = np.errstate(all="ignore")(work)
    team = arrays[0].team
    inner = [one.shape[one.ndim - n :] for one, n in zip(arrays, n_inner, strict=True)]
    leads = [one.shape[: one.ndim - n] for one, n in zip(arrays, n_inner, strict=True)]
    lead = np.broadcast_shapes(*leads)
    wide = [broadcast_to(one, (*lead, *own)) for one, own in zip(arrays, inner, strict=True)]
    if team.size == 1 or not lead:
        seen = [alone(one) if team.size == 1 else whole(one, name) for one in wide]
        return [asarray(np.asarray(one), team=team) for one in work(*seen)]
    team.say(name)
    cut = max(range(len(lead)), key=lambda at: lead[at])
    parts = [_part(+one, _cut_along(one.shape, cut, team)) for one in wide]
    found = [np.ascontiguousarray(one) for one in work(*parts)]
    shapes = [(*lead, *one.shape[len(lead) :]) for one in found]
    return [
        Array([one], _cut_along(shape, cut, team), team, one.dtype)
        for one, shape in zip(found, shapes, strict=True)
    ]


def _cut_along(shape: tuple[int, ...], cut: int, team: Team) -> Layout:
    maps = [Block(rule="last") if at == cut else Whole() for at in range(len(shape))]
    return Layout(shape, maps, grid=[team.size if at == cut else 1 for at in range(len(shape))])


__all__ = ["each_element", "each_entry", "each_line"]
