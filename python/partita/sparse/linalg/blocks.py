"""Eigenvectors of Hermitian matrices, several at once, by locally optimal conjugate gradients."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.linalg import LinAlgError

from partita._array.array import Array
from partita._functions.creation import asarray
from partita._team.together import by_first, together
from partita.linalg.given import float_type
from partita.sparse.linalg.operators import (
    LinearOperator,
    aslinearoperator,
    check_dense,
    of_function,
)
from partita.sparse.linalg.system import (
    a_team,
    number_of,
    preconditioner,
    rows_layout,
    same_on_all,
    turns_of,
)
from partita.sparse.linalg.tall import Tall
from partita.sparse.telling import telling

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._team.team import Team

Local = np.ndarray[Any, Any]


@dataclass
class Columns:
    """Columns and what the two matrices make of them."""

    own: Local
    a: Local
    b: Local

    def __matmul__(self, weights: Local) -> Columns:
        return Columns(self.own @ weights, self.a @ weights, self.b @ weights)

    def beside(self, other: Columns) -> Columns:
        """These columns, then the others."""
        pairs = ((self.own, other.own), (self.a, other.a), (self.b, other.b))
        return Columns(*(np.concatenate(pair, axis=1) for pair in pairs))

    def since(self, first: int) -> Columns:
        """The columns from one on."""
        return Columns(self.own[:, first:], self.a[:, first:], self.b[:, first:])


@telling
def lobpcg(
    A: Any,
    X: Any,
    B: Any = None,
    M: Any = None,
    Y: Any = None,
    tol: float | None = None,
    maxiter: int | None = None,
    largest: bool = True,
    verbosityLevel: int = 0,
    retLambdaHistory: bool = False,
    retResidualNormsHistory: bool = False,
    restartControl: int = 20,
) -> Any:
    """Return eigenvalues and eigenvectors of A x = λ B x near the columns of X. Collective.

    Those of the largest eigenvalues, or the smallest; orthogonal to the columns of Y. Eigenvalues
    are whole on every rank, eigenvectors lie as the matrix's rows. Four meetings in each step.
    Histories are SciPy's: the start, each step up to the best one, and the answer.
    """
    team = a_team(X, A)
    (a, b, m), asked, goal = together(
        team, lambda: (_checked(A, X, B, M, Y), turns_of(maxiter), number_of(tol or 0, "tol"))
    )
    n, k = np.shape(X)
    tol = goal if goal > 0 else np.sqrt(1e-15) * n
    maxiter = 20 if asked is None else asked
    facts: dict[str, Any] = {"the shape of X": (n, k), "tol": tol, "maxiter": maxiter}
    same_on_all(team, {**facts, "largest": largest, "restartControl": restartControl})
    dtype = float_type(*(one.dtype for one in (a, _array(X, team), b) if one is not None))
    solver = _Solver(Tall(rows_layout(a, n, team), team, dtype), a, b, m, largest)
    if Y is not None:
        solver.avoid(solver.tall.local(_array(Y, team)))
    values, found, history = solver.run(
        solver.tall.local(_array(X, team)), tol, maxiter, max(1, restartControl)
    )
    worst = history[-1][1].max(initial=0.0)
    if worst > tol and team.rank == 0:
        message = f"lobpcg ended after {len(history) - 2} steps with a residual of {worst:g}"
        warnings.warn(f"{message} > tol={tol:g}; more steps or a preconditioner help", stacklevel=2)
    if verbosityLevel and team.rank == 0:
        print(f"lobpcg: {len(history) - 2} steps, largest residual {worst:g}")
    answer: list[Any] = [asarray(values, team=team), solver.tall.array(found)]
    if retLambdaHistory:
        answer.append([one for one, _ in history])
    if retResidualNormsHistory:
        answer.append([one for _, one in history])
    return tuple(answer)


def _array(given: Any, team: Team) -> Array:
    return given if isinstance(given, Array) else asarray(np.asarray(given), team=team)


def _checked(
    a: Any, x: Any, b: Any, m: Any, y: Any
) -> tuple[LinearOperator, LinearOperator | None, LinearOperator | None]:
    check_dense(X=x, Y=y)
    if np.ndim(x) != 2:
        raise ValueError(f"X of {np.ndim(x)} dimensions; use a matrix of start vectors")
    n, k = np.shape(x)
    if k > n or k == 0:
        raise ValueError(f"X of shape {(n, k)}; use from 1 to {n} columns")
    if y is not None and (np.ndim(y) != 2 or np.shape(y)[0] != n):
        raise ValueError(f"Y of shape {np.shape(y)}; use a matrix of {n} rows")
    operators = [_operator(one, n, name) for one, name in ((a, "A"), (b, "B"))]
    if operators[0] is None:
        raise ValueError("no matrix A; give one")
    for one in operators:
        if one is not None and one.shape != (n, n):
            raise ValueError(f"a matrix of shape {one.shape} for X of shape {(n, k)}")
    return operators[0], operators[1], preconditioner(m, n)


def _operator(given: Any, n: int, name: str) -> LinearOperator | None:
    if given is None:
        return None
    if callable(given) and not hasattr(given, "shape"):
        return of_function(n, name, matmat=given)
    return aslinearoperator(given)


class _Solver:
    """One problem, and the columns that its answers stay orthogonal to."""

    def __init__(
        self,
        tall: Tall,
        a: LinearOperator,
        b: LinearOperator | None,
        m: LinearOperator | None,
        largest: bool,
    ) -> None:
        self.tall, self.a, self.b, self.m, self.largest = tall, a, b, m, largest
        self.avoided: Callable[[Local], Local] = lambda local: local

    def avoid(self, own: Local) -> None:
        """Keep everything orthogonal to columns from now on."""
        image = self.tall.times(self.b, own)
        (gram,) = self.tall.products((own, image))
        inverse = by_first(self.tall.team, lambda: np.linalg.pinv(gram, hermitian=True))

        def avoided(local: Local) -> Local:
            (parts,) = self.tall.products((image, local))
            return local - own @ (inverse @ parts)

        self.avoided = avoided

    def columns(self, own: Local) -> Columns:
        """Columns with their products. Collective."""
        return Columns(own, self.tall.times(self.a, own), self.tall.times(self.b, own))

    def run(
        self, start: Local, tol: float, maxiter: int, refresh: int
    ) -> tuple[Local, Local, list[tuple[Local, Local]]]:
        """Eigenvalues, eigenvectors, and those of each step with their residuals."""
        k = start.shape[1]
        values, weights = self.best(span := self.columns(self.avoided(start)), k)
        x, p = span @ weights, (span @ weights).since(k)
        history: list[tuple[Local, Local]] = []
        nearest = x
        # As many steps as SciPy makes: the one that begins at `maxiter` is made, too.
        for step in range(max(maxiter, -1) + 2):
            rest = x.a - x.b * values
            lengths = self.tall.lengths(rest)
            is_nearest = all(lengths.sum() < before.sum() for _, before in history)
            nearest = x if is_nearest else nearest
            history.append((values, lengths))
            active = lengths > tol
            if step > maxiter or not active.any():
                break
            w = self.outside(x, self.avoided(self.tall.times(self.m, rest[:, active])))
            span = x.beside(self.columns(w)).beside(p)
            values, weights = self.best(span, k)
            below = weights.copy()
            below[:k] = 0
            x, p = span @ weights, span @ below
            if (step + 1) % refresh == 0:
                # Sums of products drift away from products of sums.
                x, p = self.columns(x.own), self.columns(p.own)
        return self.ended(nearest, history)

    def ended(
        self, nearest: Columns, history: list[tuple[Local, Local]]
    ) -> tuple[Local, Local, list[tuple[Local, Local]]]:
        """The best columns of all steps, with products made anew; the history ends with them."""
        span = self.columns(self.avoided(nearest.own))
        values, weights = self.best(span, nearest.own.shape[1])
        x = span @ weights
        at = min(range(len(history)), key=lambda step: history[step][1].sum())
        last = (values, self.tall.lengths(x.a - x.b * values))
        return values, x.own, [*history[: at + 1], last]

    def outside(self, x: Columns, local: Local) -> Local:
        """What columns have that is orthogonal to the best ones so far, at length 1. Collective."""
        (parts,) = self.tall.products((x.b, local))
        local = local - x.own @ parts
        lengths = self.tall.lengths(local)
        return local / np.where(lengths > 0, lengths, 1)

    def best(self, span: Columns, k: int) -> tuple[Local, Local]:
        """The best eigenvalues within some columns, and the weights of these. Collective."""
        inner, outer = self.tall.products((span.own, span.b), (span.own, span.a))
        return by_first(self.tall.team, lambda: _ritz(inner, outer, k, self.largest))


def _ritz(inner: Local, outer: Local, k: int, largest: bool) -> tuple[Local, Local]:
    """Solve the small problem, without directions that are hardly there."""
    scale = np.sqrt(np.abs(np.diagonal(inner).real))
    scale = np.where(scale > 0, 1 / np.where(scale > 0, scale, 1), 0)
    gram = inner * scale[:, None] * scale
    sizes, ways = np.linalg.eigh((gram + gram.conj().T) / 2)
    kept = sizes > len(sizes) * 10 * np.finfo(sizes.dtype).eps * max(sizes[-1], 0)
    if kept.sum() < k:
        message = f"only {kept.sum()} of {k} start vectors are independent, or B is not definite"
        raise LinAlgError(f"{message}; use other columns for X")
    white = scale[:, None] * ways[:, kept] / np.sqrt(sizes[kept])
    small = white.conj().T @ outer @ white
    values, turned = np.linalg.eigh((small + small.conj().T) / 2)
    order = np.argsort(values)
    order = order[::-1][:k] if largest else order[:k]
    return values[order], white @ turned[:, order]
