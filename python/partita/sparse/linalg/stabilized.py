"""Solvers for matrices of any kind that keep a few vectors only."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.sparse.linalg.system import dot, numbers, system
from partita.sparse.telling import telling

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._array.array import Array

# As SciPy tells them: the shadow residual is of no use any more; a step has no length.
SHADOW_LOST, STEP_LOST = -10, -11


@telling
def bicgstab(
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
    """Solve A x = b; return x and 0, the number of steps if too few, or less than 0. Collective.

    Two products and three meetings of ranks in each step.
    """
    given = system(A, b, x0, M, rtol=rtol, atol=atol, maxiter=maxiter, callback=callback)
    if given.b_length == 0:
        return given.told(given.b, 0)
    tiny = np.finfo(given.b.dtype).eps ** 2
    x, left = given.x, given.left()
    shadow = towards = pulled = left
    (rho,) = numbers(dot(left, left))
    squared, far, damp = rho, 1.0, 1.0
    before = None
    for _ in range(given.maxiter):
        if math.sqrt(abs(squared)) < given.limit:
            return given.told(x, 0)
        if abs(rho) < tiny:
            return given.told(x, SHADOW_LOST)
        if before is not None:
            if abs(damp) < tiny:
                return given.told(x, STEP_LOST)
            towards = left + rho / before * (far / damp) * (towards - damp * pulled)
        near = given.prepared(towards)
        pulled = given.times(near)
        (across,) = numbers(dot(shadow, pulled))
        if across == 0:
            return given.told(x, STEP_LOST)
        far = rho / across
        half = left - far * pulled
        near_half = given.prepared(half)
        turned = given.times(near_half)
        short, along, wide = numbers(dot(half, half), dot(turned, half), dot(turned, turned))
        x = x + far * near
        if math.sqrt(abs(short)) < given.limit:
            return given.told(x, 0)
        if wide == 0:
            return given.told(x, STEP_LOST)
        damp = along / wide
        x = x + damp * near_half
        left = half - damp * turned
        before = rho
        squared, rho = numbers(dot(left, left), dot(shadow, left))
        given.tell(x)
    return given.told(x, given.maxiter)


@telling
def cgs(
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
    """Solve A x = b by squared conjugate gradients; results as those of `bicgstab`. Collective."""
    given = system(A, b, x0, M, rtol=rtol, atol=atol, maxiter=maxiter, callback=callback)
    if given.b_length == 0:
        return given.told(given.b, 0)
    tiny = np.finfo(given.b.dtype).eps ** 2
    x, left = given.x, given.left()
    shadow = towards = first = second = left
    (rho,) = numbers(dot(left, left))
    squared, before = rho, None
    for _ in range(given.maxiter):
        if math.sqrt(abs(squared)) < given.limit:
            return given.told(x, 0)
        if abs(rho) < tiny:
            return given.told(x, SHADOW_LOST)
        if before is not None:
            share = rho / before
            first = left + share * second
            towards = first + share * (second + share * towards)
        pulled = given.times(given.prepared(towards))
        (across,) = numbers(dot(shadow, pulled))
        if across == 0:
            return given.told(x, STEP_LOST)
        far = rho / across
        second = first - far * pulled
        step = given.prepared(first + second)
        x = x + far * step
        left = left - far * given.times(step)
        before = rho
        squared, rho = numbers(dot(left, left), dot(shadow, left))
        given.tell(x)
    return given.told(x, given.maxiter)
