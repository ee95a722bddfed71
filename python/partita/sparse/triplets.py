"""Entries in arrays of partita: each counts once, on any number of ranks.

Such an array means the same wherever it lies. Of entries in them, each rank gives those that it
owns, or its share where every rank has all; what lies beside them in another layout is brought
there. NumPy's arrays and lists beside them are whole on every rank, as elsewhere.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.enter import is_everywhere
from partita._array.parts import cut_along
from partita._errors import LayoutError
from partita._team.together import together
from partita.sparse.axes import rows_layout
from partita.sparse.teams import on_team, part_on

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._partita import Layout
    from partita._team.team import Team

Local = np.ndarray[Any, Any]

#: What ranks compare that give entries in arrays of partita.
SPREAD = "entries in arrays of partita"


def arrays_among(indices: Any, values: Any) -> list[Array]:
    """The arrays of partita among the numbers of entries."""
    lists = indices if isinstance(indices, list | tuple) else [indices]
    return [one for one in (*lists, values) if isinstance(one, Array)]


def own_share(team: Team, indices: Any, values: Any) -> tuple[list[Local], Local]:
    """Return the entries that this rank gives, of those in arrays of partita. Collective."""
    lists = together(team, lambda: _checked(indices, values), "DistTensor.from_coo", SPREAD)
    lists = [on_team(one, team) if isinstance(one, Array) else one for one in lists]
    layout = _common_layout([one for one in lists if isinstance(one, Array)], team)
    n_here = layout.local_shape(team.rank)[0]
    here = layout.globalize(team.rank, np.arange(n_here)[:, None])[:, 0]
    *coords, data = (
        part_on(one, layout, team) if isinstance(one, Array) else one[here] for one in lists
    )
    return coords, data


def _checked(indices: Any, values: Any) -> list[Any]:
    """The lists, those of values last, if they have one length."""
    lists = [one if isinstance(one, Array) else np.asarray(one) for one in (*indices, values)]
    wanted = tuple(lists[-1].shape)
    if len(wanted) != 1:
        message = f"values of shape {wanted}; give one row of them"
        raise LayoutError(message, "sparse-values")
    for dim, one in enumerate(lists[:-1]):
        if tuple(one.shape) != wanted:
            message = f"indices of dimension {dim} of shape {tuple(one.shape)} beside values of"
            message += f" {wanted}, some in arrays of partita; give as many of each, whole"
            raise LayoutError(f"{message} where they are NumPy's", "sparse-lengths")
    return lists


def _common_layout(arrays: Sequence[Array], team: Team) -> Layout:
    """The layout of the first array that is cut, if each element lies on one rank; else blocks."""
    for one in arrays:
        found = rows_layout(one.layout, team.size)
        if found is not None and not is_everywhere(found, team.size):
            return found
    return cut_along(tuple(arrays[0].shape), 0, team.size)
