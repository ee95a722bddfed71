"""What `t[...]` gives of a tensor of one dimension, or of three and more: numbers and slices."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.sparse.agreement import agreed
from partita.sparse.wishes import positions

if TYPE_CHECKING:
    from collections.abc import Sequence

Local = np.ndarray[Any, Any]


def tensor_part(tensor: Any, key: Any, format: str = "coo") -> Any:
    """Return a part as a tensor of the dimensions that are not numbered; a value if all are.

    Entries are chosen where they lie, and then travel to whoever holds their new place. A matrix
    is in the format that is asked for, anything else in COO. Collective.
    """

    def look() -> tuple[list[int | range], dict[str, Any], None]:
        chosen = _checked(tensor.shape, key)
        return chosen, {"the index": ", ".join(map(_words, chosen))}, None

    chosen, _ = agreed(tensor.team, "__getitem__", look, tensor._words)
    coords, values = tensor._own_entries()
    is_here = np.ones(len(values), bool)
    shape, kept = [], []
    for one, by in zip(coords, chosen, strict=True):
        if isinstance(by, int):
            is_here &= one == by
            continue
        steps = one.astype(np.int64) - by.start
        is_here &= (steps % by.step == 0) & (steps // by.step >= 0) & (steps // by.step < len(by))
        shape.append(len(by))
        kept.append(steps // by.step)
    if not shape:
        told = tensor.team.allgather_data(values[is_here])
        return tensor.dtype.type(np.concatenate(told).sum(dtype=tensor.dtype))
    kept = [one[is_here] for one in kept]
    wanted = format if len(shape) == 2 else "coo"
    return type(tensor).from_coo(shape, kept, values[is_here], team=tensor.team, format=wanted)


def _words(index: int | range) -> str:
    if isinstance(index, int):
        return str(index)
    return f"{index.start}:{index.stop}:{index.step}"


def _checked(shape: Sequence[int], key: Any) -> list[int | range]:
    """For each dimension a number, or the range of those that are kept."""
    given = list(key) if isinstance(key, tuple) else [key]
    at = next((at for at, one in enumerate(given) if one is Ellipsis), None)
    if at is not None:
        given[at : at + 1] = [slice(None)] * (len(shape) - len(given) + 1)
    if len(given) > len(shape):
        raise IndexError(f"{len(given)} indices for {len(shape)} dimensions; use at most as many")
    given += [slice(None)] * (len(shape) - len(given))
    return [_one(one, n) for one, n in zip(given, shape, strict=True)]


def _one(index: Any, n: int) -> int | range:
    if isinstance(index, slice):
        return range(*index.indices(n))
    try:
        number = None if isinstance(index, bool | np.bool_) else operator.index(index)
    except TypeError:
        number = None
    if number is None:
        what = f"an index of type {type(index).__name__} beside other than 2 dimensions"
        raise IndexError(f"{what}; use numbers and slices")
    return int(positions(number, n)[0])
