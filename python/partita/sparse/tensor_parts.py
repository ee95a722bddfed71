"""What `t[...]` gives of a tensor of other than two dimensions: at numbers, slices and a list."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.sparse.agreement import agreed
from partita.sparse.keys import checked_slice, indices_of
from partita.sparse.wishes import positions, words_of

if TYPE_CHECKING:
    from collections.abc import Sequence

Local = np.ndarray[Any, Any]
Index = int | range | Local


def tensor_part(tensor: Any, key: Any, format: str = "coo") -> Any:
    """Return a part as a tensor of the dimensions that are not numbered; a value if all are.

    Entries are chosen where they lie, and then travel to whoever holds their new place. A matrix
    is in the format that is asked for, anything else in COO. Collective.
    """

    def look() -> tuple[list[Index], dict[str, Any], None]:
        chosen = _checked(tensor.shape, key)
        return chosen, {"the index": ", ".join(map(_words, chosen))}, None

    chosen, _ = agreed(tensor.team, "__getitem__", look, tensor._words)
    coords, values = _entries_at(tensor, chosen)
    sides = [one for one in chosen if not isinstance(one, int)]
    if not sides:
        told = tensor.team.gather_inside("entries at a place", values)
        return tensor.dtype.type(np.concatenate(told).sum(dtype=tensor.dtype))
    for at, one in enumerate(sides):
        if isinstance(one, np.ndarray):
            which, places = _listed(coords[at], one)
            coords, values = [along[which] for along in coords], values[which]
            coords[at] = places
    if _list_comes_first(chosen):
        at = next(at for at, one in enumerate(sides) if isinstance(one, np.ndarray))
        for lists in (coords, sides):
            lists.insert(0, lists.pop(at))
    shape = [len(one) for one in sides]
    wanted = format if len(shape) == 2 else "coo"
    return type(tensor).from_coo(shape, coords, values, team=tensor.team, format=wanted)


def _entries_at(tensor: Any, chosen: Sequence[Index]) -> tuple[list[Any], Local]:
    """Entries at numbers and in ranges, by their coordinates in these; lists are left for later."""
    coords, values = tensor._own_entries()
    is_here = np.ones(len(values), bool)
    kept = []
    for one, by in zip(coords, chosen, strict=True):
        if isinstance(by, int):
            is_here &= one == by
            continue
        if isinstance(by, range):
            steps = one.astype(np.int64) - by.start
            is_here &= (steps % by.step == 0) & (steps // by.step >= 0)
            is_here &= steps // by.step < len(by)
            kept.append(steps // by.step)
        else:
            kept.append(one)
    return [one[is_here] for one in kept], values[is_here]


def _listed(coords: Local, listed: Local) -> tuple[Local, Local]:
    """The entries whose coordinate is listed, as often as it is, and where in the list."""
    order = np.argsort(listed, kind="stable")
    rising = listed[order]
    first = np.searchsorted(rising, coords, "left")
    n = np.searchsorted(rising, coords, "right") - first
    which = np.repeat(np.arange(len(coords)), n)
    inside = np.arange(len(which)) - np.repeat(np.cumsum(n) - n, n)
    return which, order[np.repeat(first, n) + inside]


def _list_comes_first(chosen: Sequence[Index]) -> bool:
    """Whether NumPy puts what a list names first: where a slice is between it and numbers."""
    named = [at for at, one in enumerate(chosen) if not isinstance(one, range)]
    has_list = any(isinstance(one, np.ndarray) for one in chosen)
    return has_list and named[-1] - named[0] >= len(named)


def _words(index: Index) -> str:
    if isinstance(index, int):
        return str(index)
    if isinstance(index, range):
        return f"{index.start}:{index.stop}:{index.step}"
    return words_of(index)


def _checked(shape: Sequence[int], key: Any) -> list[Index]:
    """For each dimension a number, the range of those that are kept, or, for one, a list."""
    given = indices_of(key, len(shape))
    found = [_one(one, n) for one, n in zip(given, shape, strict=True)]
    if sum(isinstance(one, np.ndarray) for one in found) > 1:
        what = f"lists for several of {len(shape)} dimensions"
        raise IndexError(f"{what}; use one, then another of the result")
    return found


def _one(index: Any, n: int) -> Index:
    if isinstance(index, slice):
        return range(*checked_slice(index, n).indices(n))
    if isinstance(index, list | np.ndarray) and np.ndim(index) == 1:
        return positions(index, n)
    try:
        number = None if isinstance(index, bool | np.bool_) else operator.index(index)
    except TypeError:
        number = None
    if number is None:
        what = f"an index of type {type(index).__name__} beside other than 2 dimensions"
        raise IndexError(f"{what}; use numbers, slices and one list")
    return int(positions(number, n)[0])
