"""Lanczos with thick restarts, which finds eigenvalues as often as a matrix has them.

The space of one start holds one vector of each eigenspace; others come by rounding errors, or not.
So what is found is kept, and the search goes on from a random vector beside it, until the best
eigenvalue that is left is none of the wanted ones. Each time, at least one takes the place of a
worse one: k + 1 searches at most.

Ranks decide by numbers that the first one has told, and random vectors belong to global positions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._team.together import by_first
from partita.random.generator import default_rng

if TYPE_CHECKING:
    from partita.sparse.linalg.basis import Basis
    from partita.sparse.linalg.operators import LinearOperator

Local = np.ndarray[Any, Any]

# The best eigenvalue beside those found is known so well, in parts of its distance to them. A
# wanted one would have outgrown it by then, unless the start had less than this part of it.
_NEAR = 1e-3
# What rounding errors leave of an eigenvector, in parts of the largest eigenvalue: of one that was
# just found, and of one that has been kept through many restarts.
_NEW, _KEPT = 4, 256


class Ritz(NamedTuple):
    """Eigenvalues of the matrix in the basis, the wanted ones first, and their weights."""

    values: Local
    ways: Local
    # How far eigenvalues of the whole matrix are at most, and how far they may be.
    errors: Local
    bounds: Local


class Search:
    """The search for k eigenvalues in a basis that has a first vector."""

    def __init__(
        self, operator: LinearOperator, basis: Basis, k: int, which: str, tol: float
    ) -> None:
        self.operator, self.basis, self.k, self.which = operator, basis, k, which
        self.most = len(basis.rows) - 1
        self.small = np.zeros((self.most, self.most), basis.rows.dtype)
        self.tol = max(tol, float(np.finfo(basis.rows.dtype).eps))
        # How many eigenvalues beside the wanted ones are looked at: one at each end.
        self.n_beside = 2 if which == "BE" else 1
        self.n_random = 0
        self.n_eps = _NEW

    def found(self, turns: int, *, is_sure: bool) -> tuple[Local, Local, int]:
        """Eigenvalues, weights of the basis, and how many are right. Collective.

        If one is sure that none is missed, nothing is looked for beside those found first.
        """
        if self.basis.n == 0:
            self._another()
        before: Local | None = None
        for turn in range(turns + 1):
            ritz = self._ritz()
            n_right = int((ritz.errors <= ritz.bounds)[: self.k].sum())
            is_better = before is None or self._is_better(ritz, before)
            if turn == turns or self.most == self.basis.layout.shape[0]:
                # Those that were right before are it still.
                n_right = n_right if is_better else self.k
                break
            if n_right < self.k or (before is not None and not self._is_alone(ritz)):
                self._go_on(ritz, self.k if before is None else self.k + self.n_beside)
                continue
            if is_sure or not is_better:
                break
            before = self._goodness(ritz.values)[: self.k]
            self._keep(ritz, self.k)
            self._another()
            self.n_eps = _KEPT
        return ritz.values[: self.k], ritz.ways[:, : self.k], n_right

    def _ritz(self) -> Ritz:
        below = self._filled()
        return Ritz(*by_first(self.basis.team, lambda: self._solved(below)))

    def _filled(self) -> float:
        """Fill the basis with products; return how long what leads out of it is. Collective."""
        basis, small, most, n = self.basis, self.small, self.most, self.basis.layout.shape[0]
        tiny = float(np.finfo(basis.rows.dtype).eps)
        below = 0.0
        for at in range(basis.n - 1, most):
            parts, own, below = basis.without(self.operator.matvec(basis.vector(at)))
            small[: at + 1, at] = parts
            small[at, : at + 1] = parts.conj()
            small[at, at] = parts[at].real
            scale = float(np.linalg.norm(small[: at + 1, : at + 1]))
            if at + 1 < n and below > 10 * tiny * scale:
                basis.take(own, below)
                continue
            below = 0.0
            if at + 1 < most:
                # The basis is closed; any other direction goes on from here.
                self._another()
        return below

    def _another(self) -> None:
        """Append a random vector, orthogonal to the others. Collective."""
        basis = self.basis
        self.n_random += 1
        rng = default_rng(self.n_random, team=basis.team)
        _, own, below = basis.without(rng.uniform(-1.0, 1.0, basis.layout.shape[0]))
        basis.take(own, below)

    def _solved(self, below: float) -> Ritz:
        values, ways = np.linalg.eigh(self.small)
        order = _order(values, self.which)
        values, ways = values[order], ways[:, order]
        # Small eigenvalues of a large matrix have its rounding errors.
        floor = self.n_eps * float(np.finfo(values.dtype).eps) * np.abs(values).max()
        bounds = np.maximum(self.tol * np.abs(values), floor)
        return Ritz(values, ways, np.abs(below * ways[-1]), bounds)

    def _goodness(self, values: Local) -> Local:
        """What grows with how much an eigenvalue is wanted, of eigenvalues in this order."""
        if self.which == "BE":
            return np.asarray(values * np.where(np.arange(len(values)) % 2, -1, 1))
        by = values if self.which[1] == "A" else np.abs(values)
        return by if self.which[0] == "L" else -by

    def _is_alone(self, ritz: Ritz) -> bool:
        """Whether the best eigenvalue that is not wanted is known to be none of the wanted ones."""
        good = self._goodness(ritz.values)
        beside = np.arange(max(self.k, self.n_beside), min(self.k + self.n_beside, self.most))
        gaps = good[beside - self.n_beside] - good[beside]
        return bool((ritz.errors[beside] <= np.maximum(ritz.bounds[beside], _NEAR * gaps)).all())

    def _is_better(self, ritz: Ritz, before: Local) -> bool:
        """Whether wanted eigenvalues have come that are better than what was there before."""
        gained = self._goodness(ritz.values)[: self.k] - before
        return bool((gained > 8 * ritz.bounds[: self.k]).any())

    def _go_on(self, ritz: Ritz, n_wanted: int) -> None:
        """Restart from the wanted vectors, and from where the basis leads."""
        # What is kept beside the wanted ones makes those come sooner.
        n_kept = min(n_wanted + max((self.most - n_wanted) // 2, 1), self.most - 1)
        last = self.basis.rows[self.most].copy()
        self._keep(ritz, n_kept)
        self.basis.take(last, 1.0)

    def _keep(self, ritz: Ritz, n_kept: int) -> None:
        """Take the first vectors as the basis."""
        rows = self.basis.rows
        rows[:n_kept] = ritz.ways[:, :n_kept].T @ rows[: self.most]
        self.basis.n = n_kept
        self.small[:] = 0
        self.small[range(n_kept), range(n_kept)] = ritz.values[:n_kept]


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
