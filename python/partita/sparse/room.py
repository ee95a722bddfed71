"""Memory that a dense result or many entries need: what cannot be is refused by its shape."""

from __future__ import annotations

import contextlib
import math
from typing import TYPE_CHECKING

import numpy as np

from partita._errors import LayoutError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from partita._team.team import Team

# More bytes than these no address counts.
_MOST_BYTES = 2**63 - 1


@contextlib.contextmanager
def room(team: Team, what: str, n_bytes: int, cure: str) -> Iterator[None]:
    """Refuse what no memory holds; name it, and a cure, where this rank's memory is too small.

    Then the others are told.
    """
    if n_bytes > _MOST_BYTES:
        message = f"{what} would take {n_bytes:.1e} bytes, more than any memory has"
        raise team.told(LayoutError(f"{message}; {cure}", "shape-overflow"))
    try:
        yield
    except MemoryError as error:
        raise team.told(
            MemoryError(f"{what} does not fit into memory ({error}); {cure}")
        ) from error


def dense_room(
    team: Team, shape: Sequence[int], dtype: Any, cure: str
) -> contextlib.AbstractContextManager[None]:
    """Room for a dense array, of which this rank has its part."""
    what = f"a dense array of shape {tuple(shape)} and type {np.dtype(dtype)}"
    return room(team, what, math.prod(shape) * np.dtype(dtype).itemsize, cure)


def entries_room(
    team: Team, shape: Sequence[int], n_entries: int
) -> contextlib.AbstractContextManager[None]:
    """Room for entries of a tensor, which ranks make together."""
    # A value and a coordinate for each dimension.
    n_bytes = n_entries * 8 * (len(shape) + 1)
    what = f"a tensor of shape {tuple(shape)} with {n_entries} entries"
    return room(team, what, n_bytes, "make one of fewer entries, or use more ranks")
