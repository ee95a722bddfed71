"""Products of dense matrices, only where a sparse one has entries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from partita._array.array import Array
from partita._errors import LayoutError
from partita._local import sparse
from partita._memory.warm import empty
from partita._team.spmd import own_team
from partita.sparse.agreement import OfOneTensor, agreed
from partita.sparse.axes import rows_along, rows_here
from partita.sparse.base import Base
from partita.sparse.lines import lines_of, reach_of
from partita.sparse.multiplying import operand_problem, product_type, without
from partita.sparse.teams import on_team
from partita.sparse.telling import telling

if TYPE_CHECKING:
    from partita._team.team import Team

T = TypeVar("T", bound=Base)
Local = np.ndarray[Any, Any]


@telling
def sddmm(pattern: T, x: Any, y: Any) -> T:
    """Return `x @ y.T` where the pattern has entries: at (i, j) the sum of `x[i] * y[j]`.

    `x` has a row for each row of the pattern, `y` one for each of its columns; both are arrays of
    partita or of NumPy. The values of the pattern do not matter. Collective.
    """
    x, y = _checked(pattern, x, y)
    lines = lines_of(pattern)
    # The lines' own rows are all here, those across the lines are fetched.
    near, far = (x, y) if lines.dim == 0 else (y, x)
    dtype = product_type(x.dtype, y.dtype)
    with OfOneTensor("sddmm with", pattern):
        left = _matrix(rows_along(near, pattern._slices, lines.dim, pattern.team), dtype)
        local, layout = rows_here(far, pattern.team)
        own = _matrix(local, dtype)
        reach = reach_of(pattern, layout)
        ghosts = reach.fetch.rows(own, f"sddmm with {pattern._words}")
    out = empty((len(reach.indices),), dtype)
    sparse.sampled(reach.indptr, reach.indices, left, own, ghosts, out)
    return pattern._revalued(lines.restored(out), "sddmm")


def _checked(pattern: Base, *operands: Any) -> list[Any]:
    """The operands as arrays, if they fit the pattern and each other.

    Arrays of partita meet later; where there are none, ranks meet here, once.
    """
    team = _team_of(pattern, operands)
    given = [on_team(one, team) if isinstance(one, Array) else np.asarray(one) for one in operands]
    found = [operand_problem(pattern, one, over) for over, one in enumerate(given)]
    problem = found[0] or found[1]
    x, y = (one.shape[1:] for one in given)
    if problem is None and x != y:
        problem = f"rows of {x} beside rows of {y}; use rows of one length"
    if not any(isinstance(one, Array) for one in given):
        facts = {"the length of rows": x}
        call = "partita.sparse.sddmm"
        checked: list[Any] = agreed(team, call, lambda: (without(problem, given), facts, None))[0]
        return checked
    if problem is not None:
        raise team.told(ValueError(problem))
    return given


def _team_of(pattern: Any, operands: tuple[Any, ...]) -> Team:
    """Return the ranks that take part; what is no pattern is refused, as the others are told."""
    if isinstance(pattern, Base):
        return pattern.team
    message = f"a {type(pattern).__name__} as the pattern of sddmm; use a DistTensor"
    problem = LayoutError(message, "sparse-type")
    arrays = [one for one in operands if isinstance(one, Array)]
    if arrays:
        raise arrays[0].team.told(problem)

    def refuse() -> tuple[Team, dict[str, Any], None]:
        raise problem

    return agreed(own_team(None), "partita.sparse.sddmm", refuse)[0]


def _matrix(rows: Local, dtype: np.dtype[Any]) -> Local:
    found = rows.astype(dtype, copy=False)
    return found[:, None] if found.ndim == 1 else found
