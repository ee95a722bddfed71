"""A few eigenvalues of Hermitian matrices: what is asked for, and what comes back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._functions.creation import asarray
from partita._team.together import together
from partita.linalg.given import float_type
from partita.random.generator import default_rng
from partita.sparse.linalg.basis import Basis
from partita.sparse.linalg.operators import LinearOperator, aslinearoperator, check_dense
from partita.sparse.linalg.restarts import Search
from partita.sparse.linalg.system import a_team, number_of, put, rows_layout, same_on_all, turns_of
from partita.sparse.linalg.tall import Tall
from partita.sparse.telling import telling

if TYPE_CHECKING:
    from partita._array.array import Array

Local = np.ndarray[Any, Any]

KINDS = ("LM", "SM", "LA", "SA", "BE")


class NoConvergence(RuntimeError):
    """Too few eigenvalues were found; those that were are `eigenvalues` and `eigenvectors`."""

    def __init__(self, message: str, values: Array, vectors: Array) -> None:
        super().__init__(message)
        self.eigenvalues, self.eigenvectors = values, vectors


@telling
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
    with A - sigma. Problems with two matrices are for `lobpcg`. Eigenvalues come as often as the
    matrix has them.
    """
    team = a_team(A, v0)
    (a, solved), asked, limit = together(
        team,
        lambda: (
            _checked(A, k, M, Minv, sigma, which, OPinv, mode, v0, ncv),
            turns_of(maxiter),
            number_of(tol, "tol"),
        ),
    )
    n = a.shape[0]
    n_vectors = min(n, max(2 * k + 1, 20) if ncv is None else ncv)
    turns = 10 * n if asked is None else asked
    facts = {"the rows of A": n, "k": k, "sigma": sigma, "which": which, "ncv": n_vectors}
    facts |= {"maxiter": turns, "tol": limit, "return_eigenvectors": return_eigenvectors}
    same_on_all(team, facts)
    dtype = float_type(a.dtype)
    layout = rows_layout(a, n, team)
    if v0 is None:
        start = default_rng(0 if rng is None else rng, team=team).uniform(-1.0, 1.0, n)
    else:
        start = asarray(v0, team=team)
    # Space to look for eigenvalues beside those that are found.
    basis = Basis(min(n, max(n_vectors, k + 4)) + 1, layout, team, dtype)
    basis.begin(put(start, layout, np.result_type(dtype, start.dtype)))
    search = Search(a if solved is None else solved, basis, k, which, limit)
    # One eigenvalue has no copies, and a random start does not miss the best.
    values, vectors, n_found = search.found(turns, is_sure=k == 1 and v0 is None)
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
        raise ValueError(_lonely(sigma))
    check_dense(v0=v0)
    if v0 is not None and np.shape(v0) != (n,):
        raise ValueError(f"v0 of shape {np.shape(v0)}; use ({n},)")
    if ncv is not None and not k < ncv <= n:
        raise ValueError(f"ncv={ncv} for k={k} of a matrix of {n} rows; use from {k + 1} to {n}")
    return operator, None if solved is None else aslinearoperator(solved)


def _lonely(sigma: float | None) -> str:
    """What to say where one of sigma= and OPinv= is missing."""
    if sigma is None:
        return "OPinv= without sigma=; give both, or none"
    shifted = f"A - {sigma} * eye(n)" if sigma else "A"
    made = f"LinearOperator(A.shape, lambda x: cg({shifted}, x, rtol=1e-12)[0], dtype=A.dtype)"
    return f"sigma={sigma} without OPinv=; give both: OPinv={made}, gmres for cg if not definite"
