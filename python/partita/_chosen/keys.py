"""What an index with arrays says: a view, and what arrays select in its first dimensions."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._array.enter import index as as_index
from partita._chosen.truth import where_true

if TYPE_CHECKING:
    from partita._array.array import Array


class Chosen(NamedTuple):
    """Elements of a view: its first dimensions are those that arrays select in."""

    view: Array
    # Either one mask of the first dimensions, or an index array for each of them.
    mask: Array | None
    indices: list[Array]
    # Where the arrays' common dimensions come in the result.
    at: int
    # Which dimensions of the array the index arrays are for.
    dims: list[int]


def chosen(array: Array, key: Any) -> Chosen:
    """Read an index that has arrays, lists or truth values among its entries."""
    entries = _filled(array, [*key] if isinstance(key, tuple) else [key], array._rank)
    # Everything that is no array is a view, in which arrays stand for whole dimensions.
    basic: list[Any] = []
    picks: list[tuple[int, int, Any]] = []
    # Which dimension of the array each of the view is; a new one counts as the next.
    dims: list[int] = []
    dim = 0
    for number, entry in enumerate(entries):
        if entry is Ellipsis:
            # It stands for slices that follow it; what is beside it does not stand together.
            continue
        first = sum(one is not None for one in basic)
        if entry is None or isinstance(entry, slice):
            basic.append(entry)
            dim += 1
        elif isinstance(entry, int):
            basic.append(slice(None))
            picks.append((dim, number, np.asarray(entry)))
            dim += 1
        else:
            n_dims = _n_picked(entry)
            basic.extend([slice(None)] * n_dims if n_dims else [None])
            picks.append((dim, number, entry))
            dim += max(n_dims, 1)
        dims += range(first, first + dim - len(dims))
    view = array[tuple(basic)]
    numbers = [number for _, number, _ in picks]
    together = all(b == a + 1 for a, b in pairwise(numbers))
    at = picks[0][0] if together else 0
    _check_masks(view, picks)
    _check_positions(view, picks)
    if len(picks) == 1 and picks[0][2].dtype == bool and _covers(view, picks[0]):
        dim, _, mask = picks[0]
        mask = mask.reshape(1) if mask.ndim == 0 else mask
        order = [*range(dim, dim + mask.ndim)]
        return Chosen(_first(view, order), mask, [], at, [])
    axes: list[int] = []
    indices: list[Any] = []
    for dim, _, pick in picks:
        if pick.dtype == bool:
            found = where_true(pick.reshape(1) if pick.ndim == 0 else pick)
            axes += range(dim, dim + len(found))
            indices += found
        else:
            axes.append(dim)
            indices.append(pick)
    return Chosen(_first(view, axes), None, indices, at, [dims[axis] for axis in axes])


def _covers(view: Array, pick: tuple[int, int, Any]) -> bool:
    """Whether a mask has the shape of what it selects from; one truth value always has."""
    dim, _, mask = pick
    return bool(mask.ndim == 0 or view.shape[dim : dim + mask.ndim] == mask.shape)


def _first(view: Array, dims: list[int]) -> Array:
    """The view with some dimensions before the others."""
    if dims == [*range(len(dims))]:
        return view
    return view._permute([*dims, *(dim for dim in range(view.ndim) if dim not in dims)])


def _filled(array: Array, entries: list[Any], rank: Any) -> list[Any]:
    """The entries with full slices for the ellipsis, or behind, and objects as arrays."""
    read = [_entry(one, rank) for one in entries]
    taken = sum(_n_dims(one) for one in read)
    if taken > array.ndim:
        raise IndexError(f"{taken} indices for {array.ndim} dimensions; use no more")
    dots = [at for at, one in enumerate(read) if one is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index has two ellipses; use one")
    at = dots[0] + 1 if dots else len(read)
    return [*read[:at], *[slice(None)] * (array.ndim - taken), *read[at:]]


def _entry(given: Any, rank: Any) -> Any:
    if given is None or given is Ellipsis or isinstance(given, slice):
        return given
    if not isinstance(given, bool | np.bool_) and hasattr(type(given), "__index__"):
        is_array = getattr(given, "ndim", None) is not None and not isinstance(given, np.generic)
        if not is_array:
            return given.__index__()
    return as_index(given, rank)


def _n_picked(entry: Any) -> int:
    """In how many dimensions an array selects."""
    n_dims: int = entry.ndim if entry.dtype == np.bool_ else 1
    return n_dims


def _n_dims(entry: Any) -> int:
    if entry is None or entry is Ellipsis:
        return 0
    return 1 if isinstance(entry, int | slice) else _n_picked(entry)


def _check_positions(view: Array, picks: list[tuple[int, int, Any]]) -> None:
    """Refuse single positions outside: where nothing is selected, nobody looks at them later."""
    for dim, _, pick in picks:
        size = view.shape[dim]
        if isinstance(pick, np.ndarray) and not -size <= pick < size:
            message = f"index {pick} is outside of dimension {dim} with {size} entries"
            raise IndexError(f"{message}; use -{size} to {size - 1}" if size else message)


def _check_masks(view: Array, picks: list[tuple[int, int, Any]]) -> None:
    for dim, _, pick in picks:
        covered = view.shape[dim : dim + pick.ndim]
        # As in NumPy, a mask without entries along a dimension fits any.
        fits = all(size in (0, n) for size, n in zip(pick.shape, covered, strict=False))
        if pick.dtype == bool and pick.ndim and not fits:
            message = (
                f"a mask of shape {pick.shape} for dimensions {dim} on of an array of shape"
                f" {view.shape}; use the shape of what it selects from"
            )
            raise IndexError(message)
