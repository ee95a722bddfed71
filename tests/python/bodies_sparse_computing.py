"""Sparse tensors in arithmetic and in solvers on the ranks of a team, beside SciPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg as theirs
from engines import Case

import partita as pt
from partita.sparse import DistTensor, laplacian, rmat
from partita.sparse import linalg as ours


def whole_of(array: pt.Array) -> Any:
    return array.gather()


def solutions(team: pt.Team) -> None:
    matrix: Any = np.diag(np.linspace(4, 9, 31)) - np.eye(31, k=1) - np.eye(31, k=-1)
    b = np.cos(np.arange(31.0))
    wanted = np.linalg.solve(matrix, b)
    spread = pt.asarray(matrix, layout="block, *")
    for name in ("cg", "gmres", "bicgstab", "cgs", "minres"):
        x, info = getattr(ours, name)(spread, b, rtol=1e-12, M=ours.block_jacobi(spread))
        assert info == 0
        np.testing.assert_allclose(x.gather(), wanted, rtol=1e-9, atol=1e-11)
    values, _ = ours.eigsh(spread, 3)
    np.testing.assert_allclose(values.gather(), np.linalg.eigvalsh(matrix)[-3:], rtol=1e-9)
    values, _ = ours.lobpcg(spread, np.eye(31)[:, :2] + 0.1, tol=1e-7, maxiter=100)
    np.testing.assert_allclose(values.gather(), np.linalg.eigvalsh(matrix)[:-3:-1], rtol=1e-9)


def solutions_of_sparse_systems(team: pt.Team) -> None:
    """Matrices in every format and layout; rows where they are, or moved."""
    made = laplacian((7, 5))
    whole = made.gather()
    b = np.sin(np.arange(35.0))
    wanted = theirs.spsolve(whole.tocsc(), b)
    layouts = ("block(last), *", "*, block", "cyclic, *", "block, block")
    formats = ("csr", "csc", "coo", "csc")
    for layout, format in zip(layouts, formats, strict=True):
        spread = made.redistribute(layout=layout, format=format)
        for m in (ours.jacobi(spread), ours.block_jacobi(spread)):
            x, info = ours.cg(spread, b, rtol=1e-12, M=m)
            assert info == 0
            np.testing.assert_allclose(whole_of(x), wanted, rtol=1e-9)
        operator = ours.aslinearoperator(spread + spread.triu(1))
        turned = (whole + sp.triu(whole, 1)).T
        np.testing.assert_allclose(whole_of(operator.rmatvec(b)), turned @ b, atol=1e-12)
    x, info = ours.gmres(made + made.triu(1), b, rtol=1e-11)
    assert info == 0
    np.testing.assert_allclose((whole + sp.triu(whole, 1)) @ x.gather(), b, atol=1e-9)
    values, _ = ours.eigsh(made, 3, which="SA")
    np.testing.assert_allclose(values.gather(), np.linalg.eigvalsh(whole.toarray())[:3], rtol=1e-9)


def arithmetic(team: pt.Team) -> None:
    graph = rmat(5, 4)
    whole = graph.gather()
    for layout in ("block(last), *", "block, cyclic(2)"):
        a: Any = graph.redistribute(layout=layout)
        b: Any = DistTensor.from_scipy(whole.T.tocsr())
        for found, wanted in [
            (a + b, whole + whole.T),
            (a * b, whole * whole.T),
            (a.maximum(b), whole.maximum(whole.T)),
            (a != b, whole != whole.T),
            (a * np.arange(32.0), whole * np.arange(32.0)),
            (a.tril(), sp.tril(whole)),
        ]:
            np.testing.assert_array_equal(found.gather().toarray(), wanted.toarray())
        for axis in (0, 1):
            np.testing.assert_array_equal(a.sum(axis=axis).gather(), whole.sum(axis=axis))
            np.testing.assert_array_equal(a.argmax(axis=axis).gather(), whole.argmax(axis=axis))
        np.testing.assert_array_equal(a.diagonal().gather(), whole.diagonal())
        np.testing.assert_allclose(ours.norm(a, 1), theirs.norm(whole, 1))
        assert a.max() == whole.max()


CASES = [Case(body.__name__, body) for body in (solutions, solutions_of_sparse_systems, arithmetic)]
