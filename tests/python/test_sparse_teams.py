"""Operands of sparse tensors on teams that count the same ranks in another order, or on others."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import partita as pt
from partita.sparse import DistTensor, diags, sddmm
from partita.sparse import linalg as ours

SHAPE = (11, 11)
DENSE = np.diag(np.arange(20.0, 31.0)) + np.random.default_rng(2).integers(-1, 2, SHAPE)
MATRIX = sp.csr_array(DENSE)
X = np.arange(11.0)
WIDE = np.random.default_rng(3).integers(-3, 4, (11, 2)).astype(float)

# Each of a tensor, one on the other team, and a function that brings arrays there.
Work = Callable[[Any, Any, Callable[[Any], Any]], Any]

WORKS: list[tuple[str, Work, Any]] = [
    ("add", lambda t, u, there: t + u, 2 * DENSE),
    ("subtract", lambda t, u, there: t - 2 * u, -DENSE),
    ("multiply", lambda t, u, there: t * u, DENSE * DENSE),
    ("maximum", lambda t, u, there: t.maximum(2 * u), np.maximum(DENSE, 2 * DENSE)),
    ("compare", lambda t, u, there: t != u, np.zeros(SHAPE, bool)),
    ("greater", lambda t, u, there: 2 * t > u, 2 * DENSE > DENSE),
    ("product", lambda t, u, there: t @ u, DENSE @ DENSE),
    ("vector", lambda t, u, there: t @ there(X), DENSE @ X),
    ("matrix", lambda t, u, there: t @ there(WIDE), DENSE @ WIDE),
    ("adjoint", lambda t, u, there: t.rmatvec(there(X)), DENSE.T @ X),
    ("left", lambda t, u, there: there(X) @ t, X @ DENSE),
    ("row", lambda t, u, there: t * there(X), DENSE * X),
    ("column", lambda t, u, there: t * there(X[:, None]), DENSE * X[:, None]),
    ("quotient", lambda t, u, there: t / there(DENSE + 100), DENSE / (DENSE + 100)),
    ("sum", lambda t, u, there: t + there(DENSE), 2 * DENSE),
    ("sampled", lambda t, u, there: sddmm(t, there(WIDE), WIDE), WIDE @ WIDE.T * (DENSE != 0)),
    ("diagonal", lambda t, u, there: t.with_diagonal(there(X)).diagonal(), X),
    ("diagonals", lambda t, u, there: diags([there(X)], team=t.team), np.diag(X)),
    (
        "dense",
        lambda t, u, there: DistTensor.from_dense(there(DENSE), team=t.team, layout=t.layout),
        DENSE,
    ),
    ("cg", lambda t, u, there: ours.gmres(t, there(X), rtol=1e-12)[0], np.linalg.solve(DENSE, X)),
    (
        "preconditioned",
        lambda t, u, there: ours.gmres(t, there(X), M=ours.jacobi(u), rtol=1e-12)[0],
        np.linalg.solve(DENSE, X),
    ),
    (
        "eigenvalues",
        lambda t, u, there: ours.lobpcg(t + t.T, there(WIDE[:, :1]), tol=1e-9, maxiter=60)[0],
        np.linalg.eigvalsh(DENSE + DENSE.T)[-1:],
    ),
]


def whole(found: Any) -> Any:
    """All elements of a result."""
    got = found.gather()
    return got.toarray() if sp.issparse(got) else got


@pytest.mark.parametrize(("work", "wanted"), [one[1:] for one in WORKS], ids=[o[0] for o in WORKS])
@pytest.mark.parametrize("layout", ["block, *", "*, cyclic"])
def test_ranks_are_counted_in_another_order(work: Work, wanted: Any, layout: str) -> None:
    def body(team: pt.Team) -> None:
        for order in ([2, 1, 0], [1, 2, 0]):
            for here, there in ((team, team.subteam(order)), (team.subteam(order), team)):
                t = DistTensor.from_scipy(MATRIX, team=here, layout=layout)
                u = DistTensor.from_scipy(MATRIX, team=there)
                found = work(t, u, partial(pt.asarray, team=there))
                np.testing.assert_allclose(whole(found), wanted, rtol=1e-7, atol=1e-8)

    pt.spmd(body, 3, deadline=60.0)


def test_near_ones_on_other_teams_are_near() -> None:
    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(MATRIX, team=team)
        assert t.allclose(DistTensor.from_scipy(MATRIX, team=team.subteam([1, 2, 0])))

    pt.spmd(body, 3, deadline=60.0)


def test_teams_of_other_ranks_are_refused() -> None:
    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(MATRIX, team=team)
        x = pt.asarray(X, team=team)
        some = team.subteam([0, 1])
        if some.active:
            s = DistTensor.from_scipy(MATRIX, team=some)
            works: list[tuple[Any, Any]] = [(operator.add, t), (operator.matmul, t)]
            for work, other in [*works, (operator.matmul, x), (operator.mul, x)]:
                with pytest.raises(pt.MismatchError, match="ranks") as met:
                    work(s, other)
                assert met.value.reason == "operand-team"

    pt.spmd(body, 3, deadline=60.0)
