"""Where masks are true."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from partita._chosen.rows import as_rows, from_stretches
from partita._local import choosing

if TYPE_CHECKING:
    from partita._array.array import Array


def where_true(mask: Array) -> list[Array]:
    """Where a mask is true: positions along each of its dimensions, in C order. Collective."""
    team = mask.team
    rows = as_rows(mask)
    local, first = np.ascontiguousarray(rows.local), rows.range_of(team.rank).start
    flat = choosing.where_true(local)
    positions = []
    width = math.prod(mask.shape[1:])
    for dim, size in enumerate(mask.shape):
        step = math.prod(mask.shape[dim + 1 :])
        if dim == 0:
            positions.append(flat // max(width, 1) + first)
        else:
            positions.append(flat // step % size)
    return [from_stretches(one, rows, team) for one in positions]
