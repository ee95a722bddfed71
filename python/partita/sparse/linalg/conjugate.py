"""Conjugate gradients, for matrices that are Hermitian and positive definite."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from partita.sparse.linalg.system import dot, numbers, system
from partita.sparse.telling import telling

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._array.array import Array


@telling
def cg(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Callable[[Array], Any] | None = None,
) -> tuple[Array, int]:
    """Solve A x = b; return x and 0, or the number of steps if they did not suffice. Collective.

    Two sums are read in each step. A, M and b may be whatever the other solvers take.
    """
    given = system(A, b, x0, M, rtol=rtol, atol=atol, maxiter=maxiter, callback=callback)
    if given.b_length == 0:
        return given.told(given.b, 0)
    x, left = given.x, given.left()
    near = given.prepared(left)
    squared, rho = numbers(dot(left, left), dot(left, near))
    towards = near
    for _ in range(given.maxiter):
        if math.sqrt(abs(squared)) < given.limit:
            return given.told(x, 0)
        pulled = given.times(towards)
        (steep,) = numbers(dot(towards, pulled))
        if steep == 0:
            # No step leads anywhere: the matrix, or the preconditioner, is singular.
            break
        far = rho / steep
        x = x + far * towards
        left = left - far * pulled
        near = given.prepared(left)
        before = rho
        if given.inverse is None:
            (squared,) = numbers(dot(left, left))
            rho = squared
        else:
            squared, rho = numbers(dot(left, left), dot(left, near))
        towards = near + rho / before * towards
        given.tell(x)
    return given.told(x, given.maxiter)
