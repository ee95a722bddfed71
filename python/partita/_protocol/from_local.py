"""An array from what each rank already has."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._errors import LayoutError
from partita._memory.views import is_frame, refuse_mask
from partita._partita import local_shapes
from partita._team.spmd import world

if TYPE_CHECKING:
    from partita._partita import Layout
    from partita._team.team import Team


def from_local(local: Any, layout: Layout, team: Team | None = None) -> Array:
    """Return an array from this rank's buffer, or a list of its buffers, without a copy.

    With tables the call is collective: the ranks exchange labels and dtypes.
    """
    team = team or world()
    given_ones = local if isinstance(local, list | tuple) else [local]
    if any(is_frame(one) for one in given_ones):
        from partita._tables.frame import from_local_tables

        return from_local_tables(list(given_ones), layout, team)
    with team:
        for one in given_ones:
            refuse_mask(one)
    buffers = [np.asarray(one) for one in given_ones]
    reasons = ["" if _is_shown(one) else "it was no array" for one in given_ones]
    wanted = local_shapes(layout, team.rank)
    given = [buffer.shape for buffer in buffers]
    if local is None:
        buffers, given, reasons = [], [], []
    if given != wanted:
        message = f"local shapes {given} on rank {team.rank}, the layout says {wanted}; use those"
        raise team.told(LayoutError(message, "buffer-shape"))
    dtype = buffers[0].dtype if buffers else np.dtype("float64")
    if not dtype.isnative:
        message = f"elements of {dtype} in foreign byte order; use astype({dtype.name!r})"
        raise team.told(LayoutError(message, "byte-order"))
    return Array(buffers, layout, team, dtype, reasons=reasons)


def _is_shown(one: Any) -> bool:
    """Whether NumPy sees an object's own memory."""
    if isinstance(one, np.ndarray) or hasattr(one, "__array_interface__"):
        return True
    try:
        memoryview(one)
    except TypeError:
        return False
    return True
