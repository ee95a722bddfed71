"""What iterative solvers are given: a square matrix, a right side, a start, a preconditioner."""

from __future__ import annotations

import contextlib
import math
from dataclasses import dataclass
from operator import index
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._args import shown
from partita._array.array import Array
from partita._array.held import default_layout
from partita._errors import LayoutError, MismatchError, TeamError
from partita._functions.creation import asarray, zeros
from partita._functions.elementwise import conj
from partita._functions.manipulation import reshape
from partita._functions.products import cast
from partita._functions.statistics import sum as sum_of
from partita._partita import Block, Layout
from partita._team.spmd import own_team
from partita._team.together import together
from partita.linalg.given import float_type
from partita.sparse.linalg.operators import (
    LinearOperator,
    MatrixOperator,
    aslinearoperator,
    check_dense,
    of_function,
)
from partita.sparse.teams import on_team

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._team.team import Team


@dataclass
class System:
    """A system of equations whose vectors lie alike, and what is told of it at the end."""

    team: Team
    operator: LinearOperator
    inverse: LinearOperator | None
    """The preconditioner, if there is one."""
    x: Array
    b: Array
    is_zero_start: bool
    limit: float
    """How long what is left may be."""
    b_length: float
    maxiter: int
    callback: Callable[[Any], Any] | None
    layout: Layout
    """Where the solution shall lie."""

    def times(self, x: Array) -> Array:
        """Return the matrix times a vector."""
        return self._made(self.operator, x)

    def prepared(self, x: Array) -> Array:
        """Return the preconditioner times a vector."""
        return x if self.inverse is None else self._made(self.inverse, x)

    def _made(self, operator: LinearOperator, x: Array) -> Array:
        try:
            return on_team(operator.matvec(x), self.team)
        except Exception:
            _drop_pending(self.team)
            raise

    def left(self) -> Array:
        """Return what is left of the right side."""
        return self.b if self.is_zero_start else self.b - self.times(self.x)

    def tell(self, what: Any) -> None:
        """Call the user's function; an error of one rank is an error of all."""
        if self.callback is not None:
            callback = self.callback
            together(self.team, lambda: callback(what))

    def told(self, x: Array, info: int) -> tuple[Array, int]:
        """Return a solution where the right side lies, and how it was found."""
        if x.team.size > 1 and x.layout != self.layout:
            x = x.redistribute(self.layout)
        return x, info


def system(
    a: Any,
    b: Any,
    x0: Any,
    m: Any,
    *,
    rtol: float,
    atol: float,
    maxiter: int | None,
    callback: Callable[[Any], Any] | None,
    others: dict[str, Any] | None = None,
    least: Any = None,
) -> System:
    """Return what is given, checked on every rank. Collective.

    What else ranks must give alike is in `others`; `least` is computed with where types are less.
    """
    team = a_team(a, b)

    def look() -> tuple[LinearOperator, LinearOperator | None, tuple[Any, ...]]:
        if callback is not None and not callable(callback):
            raise LayoutError(f"callback={shown(callback)}; use a function", "callback-type")
        return _checked(a, b, x0, m, rtol, atol, maxiter)

    operator, inverse, limits = together(team, look)
    facts = dict(zip(("rtol", "atol", "maxiter"), limits, strict=True))
    facts |= {"the shape of A": operator.shape, "callback is None": callback is None}
    same_on_all(team, {**facts, **(others or {})})
    n = operator.shape[0]
    given, start = _vector(b, team), None
    dtypes = [operator.dtype, given.dtype, *([] if least is None else [np.dtype(least)])]
    if x0 is not None and not isinstance(x0, str):
        start = _vector(x0, team)
        dtypes.append(start.dtype)
    dtype = float_type(*dtypes)
    place = rows_layout(operator, n, team)
    right = put(given, place, dtype)
    # Where NumPy's vectors are given, the answer lies where the equations do.
    layout = given.layout if isinstance(b, Array) and b.ndim == 1 else place
    b_length = length(right)
    if start is not None:
        x = put(start, place, dtype)
    elif x0 is None or inverse is None:
        x = right.copy() if x0 is not None else zeros(n, dtype, layout=place, team=team)
    else:
        x = on_team(inverse.matvec(right), team)
    rtol, atol, turns = limits
    return System(
        team=team,
        operator=operator,
        inverse=inverse,
        x=x,
        b=right,
        is_zero_start=x0 is None,
        # Nothing comes near what is infinite.
        limit=max(atol, rtol * b_length) if math.isfinite(b_length) else -1.0,
        b_length=b_length,
        maxiter=10 * n if turns is None else turns,
        callback=callback,
        layout=layout,
    )


def _drop_pending(team: Team) -> None:
    """Give up what this rank has not computed yet, as the others do that are told of an error.

    Else it would be part of the next computation, here only.
    """
    if team.size == 1:
        return
    with contextlib.suppress(TeamError):
        # As long as the team is kept, no meeting can begin: what is pending fails here.
        kept = team.native.keep()
        try:
            team.arrays.sync()
        finally:
            kept.release()


def a_team(*given: Any) -> Team:
    """The ranks of the first that has some; this rank's own if none does."""
    teams = [found for one in given if (found := getattr(one, "team", None)) is not None]
    return teams[0] if teams else own_team(None)


def _checked(
    a: Any, b: Any, x0: Any, m: Any, rtol: float, atol: float, maxiter: int | None
) -> tuple[LinearOperator, LinearOperator | None, tuple[Any, ...]]:
    """What can be said without other ranks."""
    operator = aslinearoperator(a)
    n = operator.shape[0]
    if operator.shape[1] != n:
        raise ValueError(f"a matrix of shape {operator.shape}; expected a square matrix")
    check_dense(b=b, x0=x0)
    for name, one in (("b", b), ("x0", x0)):
        if isinstance(one, str) and one == "Mb" and name == "x0":
            continue
        if one is not None and np.shape(one) not in ((n,), (n, 1)):
            message = f"{name} of shape {np.shape(one)} for a matrix of shape {operator.shape}"
            raise ValueError(f"{message}; use ({n},) or ({n}, 1)")
    limits = limit_of(rtol, "rtol"), limit_of(atol, "atol")
    return operator, preconditioner(m, n), (*limits, turns_of(maxiter))


def number_of(given: Any, name: str) -> float:
    """Return a real number; what is none is refused by its name."""
    try:
        if isinstance(given, str | bytes):
            raise TypeError
        return float(given)
    except (TypeError, ValueError):
        raise TypeError(f"{name}={shown(given)}; use a number") from None


def limit_of(given: Any, name: str) -> float:
    """Return how much may be left: a number from 0 on, an infinite one, too."""
    limit = number_of(given, name)
    if not limit >= 0:
        raise ValueError(f"{name}={shown(given)}; use a number from 0 on")
    return limit


def turns_of(maxiter: Any) -> int | None:
    """How many turns are asked for, if anybody asks."""
    try:
        return None if maxiter is None else index(maxiter)
    except TypeError:
        raise TypeError(f"maxiter={maxiter!r}; use an integer") from None


def preconditioner(m: Any, n: int) -> LinearOperator | None:
    """Return what is to come near the inverse: a matrix, an operator, a function or nothing."""
    if m is None:
        return None
    is_function = callable(m) and not hasattr(m, "shape")
    inverse = of_function(n, "M", matvec=m) if is_function else aslinearoperator(m)
    if inverse.shape != (n, n):
        message = f"a preconditioner of shape {inverse.shape} for a matrix of {n} rows"
        raise ValueError(f"{message}; use one of the same shape")
    return inverse


def same_on_all(team: Team, facts: dict[str, Any]) -> None:
    """Refuse facts that differ between ranks: one would stop before the others. Collective."""
    if team.size == 1:
        return
    found = team.gather_inside("options of a solver", list(map(repr, facts.values())))
    for rank, other in enumerate(found):
        for name, one, first in zip(facts, other, found[0], strict=True):
            if one != first:
                message = f"{name} is {first} on rank 0 and {one} on rank {rank}"
                raise MismatchError(f"{message}; all ranks must give the same", "arguments-differ")


def rows_layout(operator: LinearOperator, n: int, team: Team) -> Layout:
    """Where vectors lie: as the matrix's rows, if those are cut into blocks over all ranks."""
    usual = default_layout((n,), team)
    if not isinstance(operator, MatrixOperator):
        return usual
    layout: Layout = operator.matrix.layout
    maps = layout.maps
    if layout.partial or not maps or not isinstance(maps[0], Block):
        return usual
    sides = tuple(layout.grid_shape)
    if not sides or sides[0] != team.size or math.prod(sides) != team.size:
        return usual
    found = Layout((n,), [maps[0]], grid=(team.size,))
    has_halo = any(found.n_held(rank) != found.n_owned(rank) for rank in range(team.size))
    return usual if has_halo else found


def _vector(given: Any, team: Team) -> Array:
    is_spread = isinstance(given, Array)
    made = on_team(given, team) if is_spread else asarray(np.asarray(given), team=team)
    return reshape(made, -1) if made.ndim == 2 else made


def put(array: Array, layout: Layout, dtype: np.dtype[Any]) -> Array:
    """Return an array of a type in a layout."""
    made = cast(array, dtype)
    return made if made.team.size == 1 or made.layout == layout else made.redistribute(layout)


def dot(x: Array, y: Array) -> Array:
    """Return the inner product, which is read later: several that are read together meet once."""
    return sum_of((conj(x) if x.dtype.kind == "c" else x) * y)


def numbers(*scalars: Array) -> list[Any]:
    """Return numbers that ranks have computed together. Collective."""
    return [one.item() for one in scalars]


def length(x: Array) -> float:
    """Return the length of a vector. Collective."""
    return math.sqrt(abs(dot(x, x).item()))
