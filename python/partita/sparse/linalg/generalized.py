"""Generalised minimal residuals, for matrices of any kind."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._args import integer
from partita._team.together import together
from partita.sparse.linalg.basis import Basis
from partita.sparse.linalg.system import length, system
from partita.sparse.telling import telling

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._array.array import Array
    from partita.sparse.linalg.system import System

Local = np.ndarray[Any, Any]
KINDS = ("x", "pr_norm", "legacy")


class Triangle:
    """The small least-squares problem of one cycle, kept as a triangle by rotations."""

    def __init__(self, most: int, dtype: np.dtype[Any], length: float) -> None:
        self.columns: list[Local] = []
        self.rotations: list[tuple[Any, Any]] = []
        self.right = np.zeros(most + 1, dtype)
        self.right[0] = length

    def add(self, parts: Local, below: float) -> float:
        """Take one more column; return how long the preconditioned rest is now."""
        column = np.append(parts, below)
        for at, (c, s) in enumerate(self.rotations):
            first, second = column[at], column[at + 1]
            column[at] = c * first + s * second
            column[at + 1] = -np.conj(s) * first + c * second
        at = len(self.rotations)
        c, s = _rotation(column[at], column[at + 1])
        column[at] = c * column[at] + s * column[at + 1]
        self.rotations.append((c, s))
        self.columns.append(column[: at + 1])
        self.right[at + 1] = -np.conj(s) * self.right[at]
        self.right[at] = c * self.right[at]
        return float(abs(self.right[at + 1]))

    def solution(self) -> Local:
        """Return the weights of the basis; a column without a pivot gets none."""
        weights = self.right[: len(self.columns)].copy()
        for at in reversed(range(len(self.columns))):
            column = self.columns[at]
            weights[at] = weights[at] / column[at] if column[at] != 0 else 0
            weights[:at] -= weights[at] * column[:at]
        return weights


def _rotation(first: Any, second: Any) -> tuple[float, Any]:
    """Cosine and sine that turn the second of two numbers to zero."""
    long = np.hypot(abs(first), abs(second))
    if long == 0:
        return 1.0, 0.0 * first
    if first == 0:
        return 0.0, np.conj(second) / long
    return abs(first) / long, first / abs(first) * np.conj(second) / long


@telling
def gmres(
    A: Any,
    b: Any,
    x0: Any = None,
    *,
    rtol: float = 1e-5,
    atol: float = 0.0,
    restart: int | None = None,
    maxiter: int | None = None,
    M: Any = None,
    callback: Callable[[Any], Any] | None = None,
    callback_type: str | None = None,
) -> tuple[Array, int]:
    """Solve A x = b; return x and 0, or `maxiter` if that many cycles did not suffice. Collective.

    One cycle has `restart` steps, 20 by default; each reads inner products twice. The function is
    called with x after a cycle ("x"), or with the relative length of the preconditioned rest after
    a step ("pr_norm"; "legacy", the default, with `maxiter` as a number of steps).
    """
    kind = "legacy" if callback_type is None else callback_type
    given = system(
        A,
        b,
        x0,
        M,
        rtol=rtol,
        atol=atol,
        maxiter=maxiter,
        callback=callback,
        others={"restart": restart, "callback_type": kind},
    )
    together(given.team, lambda: _check(kind, restart))
    if given.b_length == 0:
        return given.told(given.b, 0)
    n = given.b.shape[0]
    most = min(20 if restart is None else restart, n)
    # Only whoever is told of steps has them counted.
    n_steps = given.maxiter if kind == "legacy" and callback is not None else None
    basis = Basis(most + 1, given.b.layout, given.team, given.b.dtype)
    x, left = given.x, given.left()
    goal = None
    far = length(left)
    share = 1.0
    done = 0
    for _ in range(given.maxiter):
        if far <= given.limit:
            return given.told(x, 0)
        prepared = basis.begin(given.prepared(left))
        if prepared == 0:
            break
        if not np.isfinite(prepared):
            # No step leads back to numbers.
            x = x * np.nan
            break
        # The rest that is seen is the preconditioned one; it shall shrink as the real one must.
        goal = prepared * min(share, given.limit / far)
        triangle = Triangle(most, given.b.dtype, prepared)
        near, is_exact, done = _cycle(given, basis, triangle, goal, kind, done, n_steps)
        x = x + basis.combined(triangle.solution())
        left = given.b - given.times(x)
        before, far = far, length(left)
        if kind == "x":
            given.tell(x)
        if n_steps is not None and done >= n_steps:
            break
        if is_exact and far >= before:
            break
        # Where the preconditioned rest was short enough and the real one was not: ask for more.
        share = 0.25 * share if near <= goal else min(1.0, 1.5 * share)
    return given.told(x, 0 if far <= given.limit else given.maxiter)


def _check(kind: str, restart: int | None) -> None:
    if kind not in KINDS:
        raise ValueError(f"Unknown callback_type: {kind!r}; use one of {', '.join(KINDS)}")
    if restart is not None and integer(restart, "restart") < 1:
        raise ValueError(f"restart={restart}; use a number of steps from 1 on")


def _cycle(
    given: System,
    basis: Basis,
    triangle: Triangle,
    goal: float,
    kind: str,
    done: int,
    n_steps: int | None,
) -> tuple[float, bool, int]:
    """Steps until the rest is short, the basis full, or nothing new comes."""
    tiny = float(np.finfo(given.b.dtype).eps)
    near, is_exact = 0.0, False
    while basis.n < len(basis.rows):
        made = given.prepared(given.times(basis.vector(basis.n - 1)))
        parts, own, below = basis.without(made)
        whole = float(np.hypot(np.linalg.norm(parts), below))
        is_exact = below <= tiny * whole
        near = triangle.add(parts, 0.0 if is_exact else below)
        done += 1
        if kind != "x":
            given.tell(near / given.b_length)
        if is_exact or near <= goal or done == n_steps:
            break
        basis.take(own, below)
    return near, is_exact, done
