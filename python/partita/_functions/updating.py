"""Changes of elements in place, one that is named several times being changed as often."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._array.array import Array
from partita._array.enter import from_numpy
from partita._array.held import default_layout
from partita._functions.creation import arange
from partita._functions.elementwise import beside
from partita._functions.gathered import whole
from partita._functions.manipulation import broadcast_to, ravel, reshape
from partita._functions.searching import where
from partita._team.alike import digest
from partita._team.routing import route

Local = np.ndarray[Any, Any]


def update(theirs: np.ufunc, a: Any, indices: Any, b: Any = None) -> None:
    """Apply a function to the elements that an index names, in the order of the index.

    Positions and operands go to the ranks that own the elements. Collective.
    """
    if not isinstance(a, Array):
        _update_here(theirs, a, indices, b)
        return
    if a.team.size == 1:
        _update_alone(theirs, a, _whole_index(indices), b)
        return
    _refuse_types(theirs, a, b)
    a.team.say(f"{theirs.__name__}.at({_digests(indices)}, {_digests(b)})")
    places = _places(a, indices)
    named = [ravel(places)]
    if b is not None:
        named.append(ravel(+broadcast_to(beside(b, a), places.shape)))
    row = ravel(a)
    changed = _changed(theirs, row, named)
    layout = default_layout(row.shape, a.team)
    a[...] = reshape(Array([changed], layout, a.team, a.dtype), a.shape)


def _digests(given: Any) -> Any:
    """What is given in a few words, of which equal ones have the same on every rank."""
    if isinstance(given, tuple):
        return [_digests(one) for one in given]
    if given is None or isinstance(given, slice):
        return given
    return given.shape if isinstance(given, Array) else digest(np.asarray(given))


@np.errstate(all="ignore")
def _update_alone(theirs: np.ufunc, a: Array, indices: Any, b: Any) -> None:
    """The same where one rank has all elements."""
    local = a.local
    if a._held.is_everywhere and a._held.rows is None and local.flags.writeable:
        # Other arrays of this memory may be cut into parts, which have to be looked at again.
        a._rank.team.n_direct_writes += 1
        _update_here(theirs, local, indices, b)
        return
    # Parts that are no boxes, or lie in an order of their own, are computed with elsewhere: what
    # was written to them would be lost.
    a._check_writable()
    copy = a.gather()
    assert copy is not None
    _update_here(theirs, copy, indices, b)
    a[...] = from_numpy(copy, a.team.arrays)


def _update_here(theirs: np.ufunc, local: Local, indices: Any, b: Any) -> None:
    """The same on local memory, by NumPy."""
    if b is None:
        theirs.at(local, indices)
        return
    operand = np.asarray(_whole(b))
    if operand.ndim:
        # NumPy 2.4 reads beyond operands that it has to repeat.
        operand = np.broadcast_to(operand, local[indices].shape).copy()
    theirs.at(local, indices, operand)


def _places(a: Array, indices: Any) -> Array:
    """The positions in a row of the elements that an index names."""
    is_array = isinstance(indices, Array | np.ndarray)
    if a.ndim != 1 or not is_array or indices.dtype.kind not in "iu" or indices.ndim == 0:
        numbers = reshape(arange(a.size, team=a.team), a.shape)
        return numbers[indices]
    # Positions in a vector are what they say, counted from the front.
    given = beside(indices, a).astype(np.int64, copy=False)
    places: Array = where(given < 0, given + a.size, given)
    if bool(((places < 0) | (places >= a.size)).any()):
        raise IndexError(f"a position outside {a.size} elements; use -{a.size} to {a.size - 1}")
    return places


def _whole(b: Any) -> Any:
    return whole(b, "at") if isinstance(b, Array) else b


def _whole_index(indices: Any) -> Any:
    return tuple(map(_whole, indices)) if isinstance(indices, tuple) else _whole(indices)


def _refuse_types(theirs: np.ufunc, a: Array, b: Any) -> None:
    """Refuse what NumPy refuses, before any rank sends."""
    operands = [] if b is None else [np.zeros(1, beside(b, a).dtype)]
    with np.errstate(all="ignore"):
        theirs.at(np.ones(1, a.dtype), [], *operands)
        theirs.at(np.ones(1, a.dtype), [0], *operands)


def _changed(theirs: np.ufunc, row: Array, named: list[Array]) -> Local:
    """This rank's part of a row of elements, with the changes that all ranks have for it."""
    team = row.team
    layout = default_layout(row.shape, team)
    own = np.array(_part(row, layout))
    sizes = [layout.local_shape(rank)[0] for rank in range(team.size)]
    starts = np.cumsum([0, *sizes])
    parts = [_part(one, default_layout(one.shape, team)) for one in named]
    # Parts are in rank order, and stay so: changes come in the order of the index.
    owners = np.searchsorted(starts[1:], parts[0], side="right")
    chosen = [np.flatnonzero(owners == rank) for rank in range(team.size)]
    came = [np.concatenate(route(team, [part[mine] for mine in chosen])) for part in parts]
    with np.errstate(all="ignore"):
        theirs.at(own, came[0] - starts[team.rank], *came[1:])
    return own


def _part(array: Array, layout: Any) -> Local:
    return (array if array.layout == layout else array.redistribute(layout)).local


__all__ = ["update"]
