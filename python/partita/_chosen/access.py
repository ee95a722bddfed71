"""`a[key]` and `a[key] = value` where arrays say which elements: no rank sees the whole array."""

from __future__ import annotations

import math
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.enter import elements, from_numpy, is_everywhere
from partita._array.place import here
from partita._chosen.keys import Chosen, chosen
from partita._chosen.rows import (
    Rows,
    as_rows,
    cut_like,
    even_sizes,
    evenly,
    from_rows,
    from_stretches,
    starts_of,
)
from partita._chosen.taking import Asked
from partita._local import choosing
from partita._partita import lazy_empty, lazy_where
from partita._team import alike

if TYPE_CHECKING:
    from partita._array.array import Array

Local = np.ndarray[Any, Any]


def read(array: Array, key: Any) -> Array:
    """Return the elements that an index with arrays selects. Collective."""
    found = chosen(array, key)
    if found.mask is not None:
        made = _masked(found.view, found.mask)
        return _moved(made, 1, found.at)
    made, n_dims = _taken(found)
    return _moved(made, n_dims, found.at)


def write(array: Array, key: Any, value: Any) -> None:
    """Set the elements that an index with arrays selects. Collective."""
    found = chosen(array, key)
    value = elements(value, array.dtype)
    view, mask = found.view, found.mask
    if mask is not None and np.ndim(value) == 0:
        _fill(view, mask, value)
        return
    if mask is not None:
        rest = view.shape[mask.ndim :]
        n_true = int(mask.sum())
        index_shape: tuple[int, ...] = (n_true,)
    else:
        index_shape = _common([one.shape for one in found.indices])
        rest = view.shape[len(found.indices) :]
    shape = _result_shape(index_shape, rest, found.at)
    values = lazy_empty(view._rank, shape, view.dtype)
    values[...] = value
    n_index = len(index_shape)
    order = [*range(found.at, found.at + n_index)]
    order += [dim for dim in range(len(shape)) if dim not in order]
    values = values._permute(order)
    if mask is not None:
        _put_where(view, mask, values)
    else:
        _put(found, index_shape, values)


def _masked(view: Array, mask: Array) -> Array:
    """The rows of a view where a mask of its first dimensions is true."""
    team = view.team
    rows = as_rows(view)
    if rows.starts is None and team.size > 1 and not is_everywhere(mask.layout, team.size):
        # The mask says who has what: the view is everywhere.
        cut = as_rows(mask)
        rows = Rows(rows.local[cut.range_of(team.rank)], cut.starts, is_own=False)
        truth = cut.local
    else:
        truth = cut_like(mask, rows)
    rest = view.shape[mask.ndim :]
    given = mask if team.size > 1 and _is_here(mask) else None
    if not rest:
        return from_stretches(choosing.pack(truth, rows.local), rows, team, given)
    table = _table(rows.local, mask.ndim, rest)
    return from_stretches(choosing.gather(table, choosing.where_true(truth)), rows, team, given)


def _taken(found: Chosen) -> tuple[Array, int]:
    """The rows at index arrays, and how many dimensions those have."""
    view, team = found.view, found.view.team
    shape = _common([one.shape for one in found.indices])
    n_picked = len(found.indices)
    rest = view.shape[n_picked:]
    rows = as_rows(view)
    if rows.starts is None and all(_is_here(one) for one in found.indices):
        table = _table(rows.local, n_picked, rest)
        local = _rows_at(table, found, shape)
        return from_numpy(local.reshape(shape + rest), team.arrays), len(shape)
    length = shape[0] if shape else 1
    sizes = even_sizes(length, team)
    first = sum(sizes[: team.rank])
    part = slice(first, first + sizes[team.rank])
    positions = _agreed(found, shape, part)
    table = _table(rows.local, n_picked, rest)
    if rows.starts is None:
        local = choosing.gather(table, positions)
    else:
        local = _asked(view, rows.starts, n_picked, positions).read(table)
    local = local.reshape(sizes[team.rank], *shape[1:], *rest)
    made = from_rows(local, sizes, team)
    return (made if shape else made.reshape(rest)), len(shape)


def _asked(view: Array, starts: list[int], n_picked: int, positions: Local) -> Asked:
    """Who has rows: the first dimensions as one, of which each rank has a stretch."""
    width = math.prod(view.shape[1:n_picked])
    return Asked(view.team, positions, [start * width for start in starts])


def _rows_at(table: Local, found: Chosen, shape: tuple[int, ...]) -> Local:
    """Rows that this rank has, at positions that it has, too."""
    indices = found.indices
    if len(indices) == 1 and shape and table.size:
        # Who gathers counts from the end and looks outside; what is wrong is said below.
        with suppress(IndexError):
            return choosing.gather(table, _part(indices[0], shape, slice(None)).reshape(-1))
    return choosing.gather(table, _agreed(found, shape, slice(None)))


def _put(found: Chosen, shape: tuple[int, ...], values: Array) -> None:
    """Write rows at index arrays; of repeated positions the last counts."""
    view, n_picked = found.view, len(found.indices)
    team = view.team
    rest = view.shape[n_picked:]
    view._check_writable()
    rows = as_rows(view)
    if team.size == 1 or rows.starts is None:
        positions = _agreed(found, shape, slice(None))
        places, came = positions, _everything(values).reshape(len(positions), *rest)
    else:
        length = shape[0] if shape else 1
        spread = values.reshape(length, *shape[1:], *rest)
        local, starts = evenly(spread)
        part = slice(starts[team.rank], starts[team.rank + 1])
        positions = _agreed(found, shape, part)
        asked = _asked(view, rows.starts, n_picked, positions)
        places, came = asked.send(np.ascontiguousarray(local).reshape(len(positions), *rest))
    _stored(view, rows, n_picked, rest, places, came)


def _put_where(view: Array, mask: Array, values: Array) -> None:
    """Write rows where a mask of the first dimensions is true."""
    team = view.team
    rest = view.shape[mask.ndim :]
    view._check_writable()
    rows = as_rows(view)
    truth = cut_like(mask, rows)
    places = choosing.where_true(truth)
    if rows.starts is None:
        came = _everything(values)
    else:
        starts = starts_of(team.gather_inside("numbers of chosen elements", len(places)))
        came = cut_like(values, Rows(places, starts, is_own=False))
    _stored(view, rows, mask.ndim, rest, places, came)


def _stored(
    view: Array, rows: Rows, n_picked: int, rest: tuple[int, ...], places: Local, came: Local
) -> None:
    """Write to this rank's rows, and make them the view's if they are a copy."""
    local = rows.local
    if rows.is_own:
        view._rank.team.n_direct_writes += 1
    if np.may_share_memory(places, local):
        # An array that is written at positions of its own.
        places = places.copy()
    if rows.is_own and local.flags.c_contiguous and local.flags.writeable:
        choosing.scatter(_table(local, n_picked, rest), places, came)
        return
    copy = np.array(local, order="C")
    choosing.scatter(_table(copy, n_picked, rest), places, came)
    if rows.is_own and local.flags.writeable:
        local[...] = copy
        return
    team = view.team
    if rows.starts is None:
        view[...] = from_numpy(copy, team.arrays)
    else:
        view[...] = from_rows(copy, rows.sizes, team)


def _fill(view: Array, mask: Array, value: Any) -> None:
    """One value where a mask is true: a choice of each element, which needs no memory."""
    one = lazy_empty(view._rank, (), view.dtype)
    one[...] = value
    wide = mask.reshape(*mask.shape, *(1 for _ in view.shape[mask.ndim :]))
    view[...] = lazy_where(wide, one, view)


def _agreed(found: Chosen, shape: tuple[int, ...], part: slice) -> Local:
    """This rank's positions as numbers of rows; refused on all ranks if one is outside."""
    team, indices, extents = found.view.team, found.indices, found.view.shape
    problem, flat = None, None
    for dim, index in enumerate(indices):
        local = _part(index, shape, part)
        size = extents[dim]
        # Extremes are found at the speed of memory; most index arrays need nothing else.
        lowest, highest = (local.min(), local.max()) if local.size else (0, -1)
        if problem is None and (lowest < -size or highest >= size):
            wrong = (local < -size) | (local >= size)
            problem = (found.dims[dim], int(local[wrong].flat[0]), size)
        counted = np.where(local < 0, local + size, local) if lowest < 0 else local
        flat = counted if flat is None else flat * size + counted
    assert flat is not None
    # Positions that all ranks see are judged alike by all.
    is_seen_by_all = part == slice(None) and all(_is_here(one) for one in indices)
    if team.size > 1 and not is_seen_by_all:
        seen = [one for one in indices if _is_here(one)]
        digests = [alike.digest(one if isinstance(one, np.ndarray) else one.local) for one in seen]
        told = team.gather_inside("index arrays", (problem, digests))
        alike.refuse_different(
            [own for _, own in told],
            "index arrays",
            lambda: team.gather_inside("rows of index arrays", here()),
        )
        problem = next((one for one, _ in told if one is not None), None)
    if problem is not None:
        dim, position, size = problem
        cure = f"use -{size} to {size - 1}" if size else "there is nothing to choose"
        raise IndexError(
            f"index {position} is outside of dimension {dim} with {size} entries; {cure}"
        )
    return np.ascontiguousarray(flat.reshape(-1), np.int64)


def _part(index: Any, shape: tuple[int, ...], part: slice) -> Local:
    """A stretch of the first of the dimensions that index arrays have together."""
    if isinstance(index, np.ndarray):
        return np.broadcast_to(index, shape or (1,))[part]
    if not shape or _is_here(index):
        # One position is the work of one rank, as any other stretch.
        seen = np.broadcast_to(_everything(index), shape or (1,))[part]
        return seen.astype(np.int64, copy=False)
    is_wide = index.shape == shape
    wide = index if is_wide else index._broadcast(shape)
    if part == slice(None):
        return _everything(wide).astype(np.int64, copy=False)
    local, _ = evenly(wide if is_wide else +wide)
    return local.astype(np.int64, copy=False)


def _everything(array: Array) -> Local:
    """All elements, without a copy where they are here. Collective."""
    if _is_here(array):
        return array.local
    found = array.gather()
    assert found is not None
    return found


def _is_here(index: Any) -> bool:
    """Whether every rank has the whole array."""
    return isinstance(index, np.ndarray) or is_everywhere(index.layout, index.team.size)


def _table(local: Local, n_picked: int, rest: tuple[int, ...]) -> Local:
    """The first dimensions as one."""
    n_rows = math.prod(local.shape[:n_picked])
    return np.ascontiguousarray(local).reshape(n_rows, *rest)


def _common(shapes: list[tuple[int, ...]]) -> tuple[int, ...]:
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        words = " and ".join(map(str, shapes))
        raise IndexError(f"index arrays of shapes {words} do not fit; use one shape") from None


def _result_shape(index: tuple[int, ...], rest: tuple[int, ...], at: int) -> tuple[int, ...]:
    at = min(at, len(rest))
    return (*rest[:at], *index, *rest[at:])


def _moved(made: Array, n_index: int, at: int) -> Array:
    """The dimensions of the index arrays where NumPy puts them."""
    n_rest = made.ndim - n_index
    at = min(at, n_rest)
    if at == 0:
        return made
    rest = [*range(n_index, made.ndim)]
    return made._permute([*rest[:at], *range(n_index), *rest[at:]])
