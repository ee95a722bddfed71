"""What stands in brackets: an index for each dimension."""

from __future__ import annotations

from typing import Any


def indices_of(key: Any, ndim: int) -> list[Any]:
    """Return an index for each dimension; an ellipsis is all dimensions that are not named."""
    given = list(key) if isinstance(key, tuple) else [key]
    dots = [at for at, one in enumerate(given) if one is Ellipsis]
    if len(dots) > 1:
        raise IndexError(f"{len(dots)} ellipses (...) as an index; use at most one")
    for at in dots:
        given[at : at + 1] = [slice(None)] * (ndim + 1 - len(given))
    if len(given) > ndim:
        raise IndexError(f"{len(given)} indices for {ndim} dimensions; use at most {ndim}")
    return given + [slice(None)] * (ndim - len(given))


def checked_slice(index: slice, n: int) -> slice:
    """Return a slice whose ends are numbers, and whose step has 64 bits, as long as others."""
    named = range(*index.indices(n))
    if len(named) > 1:
        return index
    # With at most one element the step does not matter, however long it is.
    first = max(named.start, 0)
    return slice(first, first + len(named))
