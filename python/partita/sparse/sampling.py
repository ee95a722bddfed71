"""Products of dense matrices, only where a sparse one has entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from partita._array.array import Array
from partita._local import sparse
from partita._memory.warm import empty
from partita.sparse.axes import rows_along, rows_here
from partita.sparse.lines import lines_of, reach_of
from partita.sparse.multiplying import checked_operand, product_type

if TYPE_CHECKING:
    from partita.sparse.base import Base

    T = TypeVar("T", bound=Base)

Local = np.ndarray[Any, Any]


def sddmm(pattern: T, x: Any, y: Any) -> T:
    """Return `x @ y.T` where the pattern has entries: at (i, j) the sum of `x[i] * y[j]`.

    `x` has a row for each row of the pattern, `y` one for each of its columns; both are arrays of
    partita or of NumPy. The values of the pattern do not matter. Collective.
    """
    is_met = isinstance(x, Array) or isinstance(y, Array)
    x = checked_operand(pattern, x, 0, is_met=is_met)
    y = checked_operand(pattern, y, 1, is_met=is_met)
    if x.shape[1:] != y.shape[1:]:
        problem = f"rows of {x.shape[1:]} beside rows of {y.shape[1:]}; use rows of one length"
        raise pattern.team.told(ValueError(problem))
    lines = lines_of(pattern)
    # The lines' own rows are all here, those across the lines are fetched.
    near, far = (x, y) if lines.dim == 0 else (y, x)
    dtype = product_type(x.dtype, y.dtype)
    left = _matrix(rows_along(near, pattern._slices, lines.dim, pattern.team), dtype)
    local, layout = rows_here(far, pattern.team)
    own = _matrix(local, dtype)
    reach = reach_of(pattern, layout)
    ghosts = reach.fetch.rows(own, f"sddmm with {pattern._words}")
    out = empty((len(reach.indices),), dtype)
    sparse.sampled(reach.indptr, reach.indices, left, own, ghosts, out)
    return pattern._revalued(lines.restored(out), "sddmm")


def _matrix(rows: Local, dtype: np.dtype[Any]) -> Local:
    found = rows.astype(dtype, copy=False)
    return found[:, None] if found.ndim == 1 else found
