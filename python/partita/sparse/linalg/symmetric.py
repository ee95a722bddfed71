"""Minimal residuals, for Hermitian matrices that need not be definite."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._functions.likes import zeros_like
from partita.sparse.linalg.system import dot, numbers, system
from partita.sparse.telling import telling

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._array.array import Array
    from partita.sparse.linalg.system import System


@telling
def minres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    shift: float = 0.0,
    maxiter: int | None = None,
    M: Any = None,
    callback: Callable[[Array], Any] | None = None,
    show: bool = False,
    check: bool = False,
) -> tuple[Array, int]:
    """Solve (A - shift) x = b; return x and 0, or the number of steps if too few. Collective.

    It ends when the preconditioned rest is `rtol` times the preconditioned right side, or when it
    is as short as it can be. `show` prints how it ended; `check` looks whether A is Hermitian.
    """
    turns = 5 * np.shape(b)[0] if maxiter is None and np.ndim(b) else maxiter
    given = system(
        A,
        b,
        x0,
        M,
        rtol=rtol,
        atol=0.0,
        maxiter=turns,
        callback=callback,
        others={"shift": shift, "check": check},
        # SciPy computes with doubles at least.
        least=np.float64,
    )
    if given.b_length == 0:
        return given.told(given.b, 0)
    if check:
        _check(given)
    x, steps, is_done = _steps(given, rtol, shift)
    if show and given.team.rank == 0:
        print(f"minres: {steps} steps, {'done' if is_done else 'not done'}")
    return given.told(x, 0 if is_done else given.maxiter)


def _steps(given: System, rtol: float, shift: float) -> tuple[Array, int, bool]:
    """The vectors of Lanczos, turned into a triangle by rotations, one column at a time."""
    tiny = float(np.finfo(given.b.dtype).eps)
    x = given.x
    left = given.left() if shift == 0 or given.is_zero_start else given.left() + shift * x
    near = given.prepared(left)
    whole, start = numbers(dot(given.b, given.prepared(given.b)), dot(left, near))
    _positive(start.real)
    if not math.isfinite(start.real):
        # No step leads back to numbers.
        return x * np.nan, 0, False
    goal = rtol * math.sqrt(abs(whole))
    beta = rest = math.sqrt(start.real)
    if rest <= goal or beta == 0:
        return x, 0, True
    before = left
    old_way = way = zeros_like(left)
    old_beta = bar = epsilon = size = 0.0
    cosine, sine = -1.0, 0.0
    for step in range(1, given.maxiter + 1):
        vector = near / beta
        made = given.times(vector)
        if shift:
            made = made - shift * vector
        if step > 1:
            made = made - (beta / old_beta) * before
        alpha = numbers(dot(vector, made))[0].real
        made = made - (alpha / beta) * left
        before, left = left, made
        near = given.prepared(left)
        squared = numbers(dot(left, near))[0].real
        _positive(squared)
        old_beta, beta = beta, math.sqrt(max(squared, 0.0))
        size += alpha**2 + old_beta**2 + beta**2
        old_epsilon, delta = epsilon, cosine * bar + sine * alpha
        turned = sine * bar - cosine * alpha
        epsilon, bar = sine * beta, -cosine * beta
        gamma = max(math.hypot(turned, beta), tiny)
        cosine, sine = turned / gamma, beta / gamma
        # How long the matrix times the rest is: 0 where no step makes the rest shorter.
        useful = math.hypot(turned, bar)
        old_way, way = way, (vector - old_epsilon * old_way - delta * way) / gamma
        x = x + (cosine * rest) * way
        rest = sine * rest
        given.tell(x)
        if rest <= goal or beta <= tiny * math.sqrt(size) or useful <= tiny * math.sqrt(size):
            return x, step, True
    return x, given.maxiter, False


def _positive(squared: float) -> None:
    if squared < 0:
        raise ValueError(f"a preconditioner that is not definite ({squared}); use one that is")


def _check(given: System) -> None:
    """Whether products from both sides are the same, for one vector."""
    once = given.times(given.b)
    twice = given.times(once)
    one, other = numbers(dot(once, once), dot(given.b, twice))
    if abs(one - other) > abs(one) * float(np.finfo(given.b.dtype).eps) ** (1 / 3):
        raise ValueError("the matrix is not symmetric; use gmres or bicgstab")
