"""Different elements, and arrays as sets."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from partita._algorithms.distinct import distinct, distinct_here, distinct_values
from partita._algorithms.lookup import asked, is_among, is_brought
from partita._algorithms.rows import from_here, from_row, is_here, mapped, row_of
from partita._algorithms.sample_sort import sorted_copy, sorted_row
from partita._array import parts
from partita._array.array import Array
from partita._functions.creation import an_array, axis_of, ndim, shape, size
from partita._functions.elementwise import logical_not
from partita._functions.gathered import whole
from partita._functions.manipulation import concat, reshape
from partita._functions.sorting import sort
from partita._functions.types import result_type
from partita._team.alike import digest


class UniqueAll(NamedTuple):
    """What `unique_all` returns."""

    values: Array
    indices: Array
    inverse_indices: Array
    counts: Array


class UniqueCounts(NamedTuple):
    """What `unique_counts` returns."""

    values: Array
    counts: Array


class UniqueInverse(NamedTuple):
    """What `unique_inverse` returns."""

    values: Array
    inverse_indices: Array


def _values(x: Any, *, equal_nan: bool) -> Array:
    """Different elements alone."""
    flat = reshape(x, -1)
    if is_here(flat):
        return _counted(flat, equal_nan=equal_nan).values
    flat.team.say(f"unique(equal_nan={bool(equal_nan)})")
    values, sizes = distinct_values(flat.team, row_of(flat), equal_nan=equal_nan)
    return from_row(values, sizes, flat.team)


def _counted(x: Any, *, equal_nan: bool) -> UniqueCounts:
    """Different elements and how often they occur."""
    flat = reshape(x, -1)
    team = flat.team
    if is_here(flat):
        local = np.ascontiguousarray(flat.local)
        made = distinct_here(local, equal_nan=equal_nan, wants_places=False)
        return UniqueCounts(from_here(made.values, team), from_here(made.counts, team))
    team.say(f"unique(return_counts=True, equal_nan={bool(equal_nan)})")
    made, sizes = distinct(team, row_of(flat), equal_nan=equal_nan, wants_places=False)
    return UniqueCounts(from_row(made.values, sizes, team), from_row(made.counts, sizes, team))


def _placed(x: Any, *, equal_nan: bool) -> UniqueAll:
    """Different elements, how often they occur and where."""
    array = an_array(x)
    team, flat = array.team, reshape(array, -1)
    if is_here(flat):
        local = np.ascontiguousarray(flat.local)
        sizes = n_elements = None
        made = distinct_here(local, equal_nan=equal_nan, wants_places=True)
    else:
        team.say(f"unique(return_inverse=True, equal_nan={bool(equal_nan)})")
        row = row_of(flat)
        n_elements = row.sizes
        made, sizes = distinct(team, row, equal_nan=equal_nan, wants_places=True)

    def spread(local: Any, sizes: list[int] | None) -> Array:
        return from_here(local, team) if sizes is None else from_row(local, sizes, team)

    assert made.places is not None
    values, counts, firsts = (
        spread(one, sizes) for one in (made.values, made.counts, made.places.firsts)
    )
    inverse = spread(made.places.inverse, n_elements)
    return UniqueAll(values, firsts, reshape(inverse, array.shape), counts)


def unique_all(x: Any) -> UniqueAll:
    """Return different elements, their first positions, each element's number, and counts."""
    return _placed(x, equal_nan=False)


def unique_counts(x: Any) -> UniqueCounts:
    """Return the different elements in order, and how often each occurs."""
    return _counted(x, equal_nan=False)


def unique_inverse(x: Any) -> UniqueInverse:
    """Return the different elements in order, and for each element which of them it is."""
    found = _placed(x, equal_nan=False)
    return UniqueInverse(found.values, found.inverse_indices)


def unique_values(x: Any) -> Array:
    """Return the different elements in order; each NaN differs from the others."""
    return _values(x, equal_nan=False)


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """Return the different elements in order, with what is asked for; with an axis it gathers.

    >>> import partita as pt
    >>> values, counts = pt.unique(pt.asarray([3, 1, 3]), return_counts=True)
    >>> values.tolist(), counts.tolist()
    ([1, 3], [1, 2])
    """
    wants = (return_index, return_inverse, return_counts)
    if axis is not None:
        axis_of(axis, ndim(ar))
    made: list[Array]
    if axis is not None and shape(ar) != (size(ar),):
        array = an_array(ar)
        if not is_here(array):
            array.team.say(f"unique(axis={axis!r}, equal_nan={bool(equal_nan)})")
        local = whole(array, "unique")
        found: Any = np.unique(local, True, True, True, axis, equal_nan=equal_nan)
        made = [from_here(one, array.team) for one in found]
    elif return_index or return_inverse:
        made = [*_placed(ar, equal_nan=equal_nan)]
    elif return_counts:
        values, counts = _counted(ar, equal_nan=equal_nan)
        made = [values, values, values, counts]
    else:
        return _values(ar, equal_nan=equal_nan)
    chosen = [one for one, is_wanted in zip(made[1:], wants, strict=True) if is_wanted]
    return (made[0], *chosen) if chosen else made[0]


def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Array:
    """Return whether each element is among others."""
    if kind not in (None, "sort", "table"):
        raise ValueError(f"kind={kind!r}; use 'sort', 'table' or None, which all find the same")
    array, tests = an_array(element), reshape(an_array(test_elements), -1)
    dtype = result_type(array, tests)
    if dtype.kind == "f" and array.dtype.kind in "iu" and tests.dtype.kind in "iu":
        return _isin_of_mixed_signs(array, tests, invert)
    array, tests = _as_type(array, dtype), _as_type(tests, dtype)
    if is_here(tests):
        run = sorted_copy(tests.local)
        if not is_here(array):
            array.team.say(f"isin({digest(run)})")
        made = mapped(array, lambda values: is_among(run, values), np.bool)
    elif is_brought(tests, array):
        array.team.say("isin")
        run = sorted_copy(parts.whole(tests))
        made = mapped(array, lambda values: is_among(run, values), np.bool)
    else:
        array.team.say("isin")
        team, row = array.team, sorted_row(array.team, row_of(tests))
        made = mapped(
            array,
            lambda values: asked(
                team, row, values, lambda run, _, some: is_among(run, some), right=True
            ),
            np.bool,
        )
    found: Array = logical_not(made) if invert else made
    return found


def _isin_of_mixed_signs(array: Array, tests: Array, invert: bool) -> Array:
    """`isin` of integers that no integer type has together; a float would not tell them apart."""
    limits = np.iinfo(tests.dtype)
    fits = array <= limits.max if array.dtype.kind == "u" else array >= 0
    found = isin(_as_type(array, tests.dtype), tests) & fits
    made: Array = logical_not(found) if invert else found
    return made


def _as_type(array: Array, dtype: np.dtype[Any]) -> Array:
    return array if array.dtype == dtype else array._cast(dtype)


def _as_set(x: Any, is_set: bool) -> Array:
    return reshape(x, -1) if is_set else _values(x, equal_nan=True)


def union1d(ar1: Any, ar2: Any) -> Array:
    """Return the different elements of two arrays together."""
    made: Array = unique(concat([ar1, ar2], axis=None))
    return made


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """Return the elements that both arrays have, in order; where they are if that is asked for."""
    if not return_indices:
        first = _as_set(ar1, assume_unique)
        common = first[isin(first, ar2)]
        made = _as_type(common, result_type(first, an_array(ar2)))
        return sort(made) if assume_unique else made
    (first, at_first), (second, at_second) = (unique(one, return_index=True) for one in (ar1, ar2))
    in_second, in_first = isin(first, second), isin(second, first)
    values = _as_type(first[in_second], result_type(first, second))
    return values, at_first[in_second], at_second[in_first]


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """Return the different elements of one array that another does not have."""
    first = _as_set(ar1, assume_unique)
    return first[isin(first, ar2, invert=True)]


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> Array:
    """Return the elements that one of two arrays has and the other has not, in order."""
    first, second = _as_set(ar1, assume_unique), _as_set(ar2, assume_unique)
    apart = [setdiff1d(first, second, True), setdiff1d(second, first, True)]
    return sort(concat(apart, axis=0))


__all__ = [
    "intersect1d",
    "isin",
    "setdiff1d",
    "setxor1d",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]
