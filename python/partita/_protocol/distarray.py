"""Taking over what has `__distarray__`: each rank its own buffer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from partita._array.array import Array
from partita._errors import ProtocolError
from partita._findings import Problem, share
from partita._memory.views import as_numpy
from partita._protocol.across_ranks import read_dims
from partita._protocol.taking_over import common_dtype, dtype_words, taker

if TYPE_CHECKING:
    import numpy as np

    from partita._team.team import Team


def from_distarray(obj: Any, *, team: Team | None = None, copy: bool | None = None) -> Array:
    """Return an array from an object with `__distarray__`, or from the dictionary. Collective.

    Every rank of the team passes its own dictionary, in the order of the process grid. The buffer
    is shared unless `copy` is true or sharing is impossible.
    """
    team, copy = taker(team, copy)
    read, layout, halo = read_dims(obj, team)
    problems: list[Problem] = []
    buffers: list[np.ndarray[Any, Any]] = []
    reasons: list[str] = []
    try:
        buffer, why = as_numpy(read.buffer, copy)
        buffers, reasons = [buffer], [why]
    except ProtocolError as error:
        problems = [("buffer", error.reason, str(error))]
    dtypes = share(team, problems, dtype_words(buffers), "__distarray__", "elements")
    array = Array(buffers, layout, team, common_dtype(dtypes, None), reasons=reasons)
    array._held.keep = obj
    array._held.halo_layout = halo
    array._held.boundary = read.boundary
    return array
