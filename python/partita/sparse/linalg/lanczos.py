"""A few eigenvalues of Hermitian matrices, by Lanczos with thick restarts."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._functions.creation import asarray
from partita._team.together import by_first, together
from partita.linalg.given import float_type
from partita.random.generator import default_rng
from partita.sparse.linalg.basis import Basis
from partita.sparse.linalg.operators import LinearOperator, aslinearoperator, check_dense
from partita.sparse.linalg.system import a_team, put, rows_layout, same_on_all, turns_of
from partita.sparse.linalg.tall import Tall

if TYPE_CHECKING:
    from partita._array.array import Array

Local = np.ndarray[Any, Any]

KINDS = ("LM", "SM", "LA", "SA", "BE")


class NoConvergence(RuntimeError):
    """Too few eigenvalues were found; those that were are `eigenvalues` and `eigenvectors`."""

    def __init__(self, message: str, values: Array, vectors: Array) -> None:
        super().__init__(message)
        self.eigenvalues, self.eigenvectors = values, vectors


def eigsh(
    A: Any,
    k: int = 6,
    M: Any = None,
    sigma: float | None = None,
    which: str = "LM",
    v0: Any = None,
    ncv: int | None = None,
    maxiter: int | None = None,
    tol: float = 0,
    return_eigenvectors: bool = True,
    Minv: Any = None,
    OPinv: Any = None,
    mode: str = "normal",
    rng: Any = None,
) -> Any:
    """Return k eigenvalues of a Hermitian matrix, rising, and their eigenvectors. Collective.

    They rise for complex matrices, too, where SciPy has an order of its own.

    With `sigma`, those near it (`which` is then about 1 / (eigenvalue - sigma)): `OPinv` must solve
    with A - sigma. Problems with two matrices are for `lobpcg`.
    """
    team = a_team(A, v0)
    (a, solved), asked = together(
        team,
        lambda: (
            _checked(A, k, M, Minv, sigma, which, OPinv, mode, v0, ncv),
            turns_of(maxiter),
        ),
    )
    n = a.shape[0]
    n_vectors = min(n, max(2 * k + 1, 20) if ncv is None else ncv)
    turns = 10 * n if asked is None else asked
    facts = {"the rows of A": n, "k": k, "sigma": sigma, "which": which, "ncv": n_vectors}
    facts |= {"maxiter": turns, "tol": tol, "return_eigenvectors": return_eigenvectors}
    same_on_all(team, facts)
    dtype = float_type(a.dtype)
    layout = rows_layout(a, n, team)
    if v0 is None:
        start = default_rng(0 if rng is None else rng, team=team).uniform(-1.0, 1.0, n)
    else:
        start = asarray(v0, team=team)
    basis = Basis(n_vectors + 1, layout, team, dtype)
    basis.begin(put(start, layout, np.result_type(dtype, start.dtype)))
    values, vectors, n_found = _restarted(
        a if solved is None else solved, basis, k, which, turns, float(tol)
    )
    if sigma is not None:
        values = sigma + 1 / values
    order = np.argsort(values)
    found = asarray(values[order], team=team)
    tall = Tall(layout, team, dtype)
    rows = tall.array((vectors[:, order].T @ basis.rows[: len(vectors)]).T)
    if n_found < k:
        message = f"{n_found} of {k} eigenvalues after {turns} restarts"
        raise NoConvergence(f"{message}; a larger ncv= or maxiter= helps", found, rows)
    return (found, rows) if return_eigenvectors else found


def _checked(
    a: Any,
    k: int,
    m: Any,
    m_inverse: Any,
    sigma: Any,
    which: str,
    solved: Any,
    mode: str,
    v0: Any,
    ncv: int | None,
) -> tuple[LinearOperator, LinearOperator | None]:
    operator = aslinearoperator(a)
    n = operator.shape[0]
    if operator.shape[1] != n:
        raise ValueError(f"a matrix of shape {operator.shape}; expected a square matrix")
    if not 0 < k < n:
        raise ValueError(f"k={k} eigenvalues of a matrix of {n} rows; use from 1 to {n - 1}")
    if which not in KINDS:
        raise ValueError(f"which={which!r}; use one of {', '.join(KINDS)}")
    if m is not None or m_inverse is not None or mode != "normal":
        raise NotImplementedError("eigsh with M= or another mode; use lobpcg(A, X, B=M)")
    if (sigma is None) != (solved is None):
        raise ValueError("sigma= and OPinv= belong together; give both, or none")
    check_dense(v0=v0)
    if v0 is not None and np.shape(v0) != (n,):
        raise ValueError(f"v0 of shape {np.shape(v0)}; use ({n},)")
    if ncv is not None and not k < ncv <= n:
        raise ValueError(f"ncv={ncv} for k={k} of a matrix of {n} rows; use from {k + 1} to {n}")
    return operator, None if solved is None else aslinearoperator(solved)


def _restarted(
    operator: LinearOperator, basis: Basis, k: int, which: str, turns: int, tol: float
) -> tuple[Local, Local, int]:
    """Eigenvalues, weights of the basis, and how many are right."""
    most = len(basis.rows) - 1
    small = np.zeros((most, most), basis.rows.dtype)
    tol = max(tol, float(np.finfo(basis.rows.dtype).eps))
    turn = 0
    while True:
        turn += 1
        below = _filled(operator, basis, small)
        found = partial(_small, small, below, k, which, tol)
        values, ways, chosen, right = by_first(basis.team, found)
        if right >= k or turn > turns or below == 0:
            return values[chosen], ways[:, chosen], right
        # What is kept beside the wanted ones makes those come sooner.
        n_kept = min(k + max((most - k) // 2, 1), most - 1)
        kept = _order(values, which)[:n_kept]
        last = basis.rows[most].copy()
        basis.rows[:n_kept] = ways[:, kept].T @ basis.rows[:most]
        basis.rows[n_kept] = last
        basis.n = n_kept + 1
        small[:] = 0
        small[range(n_kept), range(n_kept)] = values[kept]


def _filled(operator: LinearOperator, basis: Basis, small: Local) -> float:
    """Fill the basis with products; return how long what leads out of it is. Collective."""
    most = len(small)
    tiny = float(np.finfo(basis.rows.dtype).eps)
    below = 0.0
    for at in range(basis.n - 1, most):
        parts, own, below = basis.without(operator.matvec(basis.vector(at)))
        small[: at + 1, at] = parts
        small[at, : at + 1] = parts.conj()
        small[at, at] = parts[at].real
        scale = float(np.linalg.norm(small[: at + 1, : at + 1]))
        if below > 10 * tiny * scale:
            basis.take(own, below)
            continue
        below = 0.0
        if at + 1 < most:
            # The basis is closed; any other direction goes on from here.
            _another(basis, at)
    return below


def _another(basis: Basis, seed: int) -> None:
    """Append a random vector, orthogonal to the others. Collective."""
    n = basis.layout.shape[0]
    given = default_rng(seed + 1, team=basis.team).uniform(-1.0, 1.0, n)
    _, own, below = basis.without(given)
    basis.take(own, below)


def _small(
    small: Local, below: float, k: int, which: str, tol: float
) -> tuple[Local, Local, Local, int]:
    """Eigenvalues of the small matrix, their vectors, which are wanted, how many are right."""
    values, ways = np.linalg.eigh(small)
    chosen = _order(values, which)[:k]
    # Small eigenvalues of a large matrix have its rounding errors.
    floor = 4 * float(np.finfo(values.dtype).eps) * np.abs(values).max()
    errors = np.abs(below * ways[-1, chosen])
    right = errors <= np.maximum(tol * np.abs(values[chosen]), floor)
    return values, ways, chosen, int(right.sum())


def _order(values: Local, which: str) -> Local:
    """Positions of eigenvalues, the wanted ones first."""
    if which == "BE":
        rising = np.argsort(values)
        ends = np.empty(len(values), np.int64)
        ends[0::2] = rising[::-1][: (len(values) + 1) // 2]
        ends[1::2] = rising[: len(values) // 2]
        return ends
    by = values if which[1] == "A" else np.abs(values)
    order = np.argsort(by, kind="stable")
    return order[::-1] if which[0] == "L" else order
