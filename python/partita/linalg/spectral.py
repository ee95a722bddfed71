"""Singular values and eigenvalues.

Tall and wide matrices go through an orthogonal factorisation first. Other matrices that are spread
are brought to every rank, which `partita.gathers()` counts: they must fit one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._array.parts import spread
from partita._functions.products import matmul
from partita._functions.serving import served_as
from partita._local import matrices
from partita.linalg.given import agreed, all_of, matrix, square
from partita.linalg.orthogonal import is_tall, is_wide, of_tall
from partita.linalg.stacks import is_local, of_stacks
from partita.linalg.triangles import adjoint

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partita._array.array import Array

Local = np.ndarray[Any, Any]


class SVDResult(NamedTuple):
    """Left singular vectors, singular values, adjoints of right singular vectors."""

    U: Array
    S: Array
    Vh: Array


class EighResult(NamedTuple):
    """Eigenvalues and eigenvectors of self-adjoint matrices."""

    eigenvalues: Array
    eigenvectors: Array


class EigResult(NamedTuple):
    """Eigenvalues and eigenvectors."""

    eigenvalues: Array
    eigenvectors: Array


def _everywhere(work: Callable[[Local], Sequence[Local]], array: Array, name: str) -> list[Array]:
    """What a function makes of matrices; one that is spread is brought to every rank."""
    if is_local(array):
        return of_stacks(work, array)
    local = all_of(array, name)
    return [spread(one, array.team) for one in agreed(array.team, lambda: work(local))]


@served_as("linalg.svd")
def svd(
    a: Any, full_matrices: bool = True, compute_uv: bool = True, hermitian: bool = False
) -> Any:
    """Return singular vectors and values, the largest first. Collective.

    A tall or wide matrix stays where it is unless all vectors are wanted; any other that is spread
    is brought to every rank.
    """
    array = square(a) if hermitian else matrix(a)
    array.team.say(f"linalg.svd(full_matrices={bool(full_matrices)})")
    if not compute_uv:
        return svdvals(array)
    n_rows, n_columns = array.shape[-2:]
    if not is_local(array) and (n_rows == n_columns or not full_matrices):
        if is_tall(array):
            return SVDResult(*_of_tall(array))
        if is_wide(array):
            u, s, vh = _of_tall(adjoint(array))
            return SVDResult(adjoint(vh), s, adjoint(u))
    return SVDResult(*_everywhere(lambda one: matrices.svd(one, full=full_matrices), array, "svd"))


def _of_tall(array: Array) -> tuple[Array, Array, Array]:
    q, r = of_tall(array)
    u, s, vh = agreed(array.team, lambda: matrices.svd(r, full=False))
    first, *others = (spread(one, array.team) for one in (u, s, vh))
    return matmul(q, first), others[0], others[1]


def svdvals(x: Any, /) -> Array:
    """Return the singular values, the largest first. Collective.

    A tall or wide matrix stays where it is; any other that is spread is brought to every rank.
    """
    array = matrix(x)
    array.team.say("linalg.svdvals")
    if not is_local(array) and (is_tall(array) or is_wide(array)):
        _, r = of_tall(array if is_tall(array) else adjoint(array))
        return spread(agreed(array.team, lambda: _values(r))[0], array.team)
    return _everywhere(_values, array, "svdvals")[0]


def _values(local: Local) -> Sequence[Local]:
    return matrices.svd(local, vectors=False)


def _is_lower(side: str) -> bool:
    if side.upper() not in ("L", "U"):
        raise ValueError(f"UPLO {side!r}; use 'L' or 'U'")
    return side.upper() == "L"


@served_as("linalg.eigh")
def eigh(a: Any, UPLO: str = "L") -> EighResult:
    """Return eigenvalues, the smallest first, and eigenvectors of self-adjoint matrices.

    A matrix that is spread is brought to every rank. Collective.
    """
    array, lower = square(a), _is_lower(UPLO)
    array.team.say(f"linalg.eigh(UPLO={UPLO.upper()!r})")
    return EighResult(*_everywhere(lambda one: matrices.eigh(one, lower=lower), array, "eigh"))


@served_as("linalg.eigvalsh")
def eigvalsh(a: Any, UPLO: str = "L") -> Array:
    """Return eigenvalues of self-adjoint matrices, the smallest first.

    A matrix that is spread is brought to every rank. Collective.
    """
    array, lower = square(a), _is_lower(UPLO)
    array.team.say(f"linalg.eigvalsh(UPLO={UPLO.upper()!r})")
    work = lambda one: matrices.eigh(one, lower=lower, vectors=False)  # noqa: E731
    return _everywhere(work, array, "eigvalsh")[0]


def eig(a: Any) -> EigResult:
    """Return complex eigenvalues and eigenvectors.

    A matrix that is spread is brought to every rank. Collective.
    """
    return EigResult(*_everywhere(matrices.eig, square(a), "eig"))


def eigvals(a: Any) -> Array:
    """Return complex eigenvalues.

    A matrix that is spread is brought to every rank. Collective.
    """
    return _everywhere(lambda one: matrices.eig(one, vectors=False), square(a), "eigvals")[0]
