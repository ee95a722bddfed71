"""Sparse tensors whose ranks, or whose rows and columns, do not lie in their order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp

import partita as pt
from partita.sparse import DistTensor, sddmm

SIDE = 5
DENSE = np.arange(1.0, 1.0 + SIDE * SIDE).reshape(SIDE, SIDE)
ROW = np.arange(1.0, 1.0 + SIDE)
ORDER = [2, 0, 4, 3, 1]


def one_list(first: Any, second: Any, grid: tuple[int, ...]) -> pt.Layout:
    return pt.Layout((SIDE, SIDE), [first, second], grid=grid)


LAYOUTS: list[tuple[int, Any]] = [
    (2, "block, * @ 2x1 on 1,0"),
    (2, "*, block @ 1x2 on 1,0"),
    (3, "block, * @ 3x1 on 2,0,1"),
    (4, "block, block @ 2x2 on 3,1,0,2"),
    (4, "block, * @ 2x2 on 3,1,0,2"),
    (1, one_list(pt.Unstructured([ORDER]), pt.Whole(), (1, 1))),
    (1, one_list(pt.Whole(), pt.Unstructured([ORDER]), (1, 1))),
    (2, one_list(pt.Block(), pt.Unstructured([ORDER]), (2, 1))),
    (2, one_list(pt.Unstructured([ORDER]), pt.Block(), (1, 2))),
    (2, one_list(pt.Unstructured([ORDER]), pt.Whole(), (1, 2))),
]


def replicated(x: Any, team: pt.Team) -> Any:
    """An array that every rank has whole."""
    layout = pt.Layout(
        x.shape, [pt.Whole() for _ in x.shape], grid=(*(1 for _ in x.shape), team.size)
    )
    return pt.from_local(x.copy(), layout, team)


def reordered(x: Any, team: pt.Team) -> Any:
    """An array that every rank has whole, its rows in another order."""
    maps: list[Any] = [pt.Unstructured([ORDER]), *(pt.Whole() for _ in x.shape[1:])]
    grid = (*(1 for _ in x.shape), team.size)
    return pt.from_local(x[ORDER].copy(), pt.Layout(x.shape, maps, grid=grid), team)


def same(found: Any, wanted: Any, what: str) -> None:
    whole = found.gather()
    dense = whole.toarray() if sp.issparse(whole) else whole
    np.testing.assert_allclose(dense, wanted, err_msg=what)


def check_reductions(t: Any) -> None:
    for axis in (0, 1):
        for name in ("sum", "mean", "max", "min", "argmax"):
            same(getattr(t, name)(axis=axis), getattr(DENSE, name)(axis=axis), f"{name} {axis}")
        same(t.count_nonzero(axis=axis), np.count_nonzero(DENSE, axis=axis), "count")
        same(t.norm(axis=axis), np.linalg.norm(DENSE, axis=axis), f"norm {axis}")
    same(t.diagonal(), DENSE.diagonal(), "diagonal")


def check_operands(t: Any, team: pt.Team) -> None:
    for of in (replicated, reordered):
        what = of.__name__
        row, matrix = of(ROW, team), of(DENSE, team)
        same(t * row, DENSE * ROW, f"* {what} row")
        same(t / row, DENSE / ROW, f"/ {what} row")
        same(t * of(ROW[:, None], team), DENSE * ROW[:, None], f"* {what} column")
        same(t * matrix, DENSE * DENSE, f"* {what} matrix")
        same(t + matrix, DENSE + DENSE, f"+ {what} matrix")
        same(t @ row, DENSE @ ROW, f"@ {what} row")
        same(t.rmatvec(row), DENSE.T @ ROW, f"rmatvec {what}")
        same(sddmm(t, matrix, matrix), DENSE @ DENSE.T, f"sddmm {what}")
    same(t * ROW, DENSE * ROW, "* row of NumPy")
    same(t @ ROW, DENSE @ ROW, "@ row of NumPy")
    same(t.rmatvec(ROW), DENSE.T @ ROW, "rmatvec of NumPy")


def check_moves(t: Any, team: pt.Team) -> None:
    same(t, DENSE, "gather")
    same(t.T, DENSE.T, "T")
    same(t.to_dense(), DENSE, "to_dense")
    same(DistTensor.from_dense(DENSE, team=team, layout=t.layout), DENSE, "from_dense")
    same(t.redistribute(layout="cyclic, *"), DENSE, "redistribute")
    same(t.balanced(), DENSE, "balanced")
    same(t.tril(), np.tril(DENSE), "tril")
    same(t @ t, DENSE @ DENSE, "t @ t")
    straight = DistTensor.from_scipy(sp.csr_array(DENSE), team=team)
    same(t + straight, 2 * DENSE, "t + other")
    same(straight + t, 2 * DENSE, "other + t")
    same(t[1:3], DENSE[1:3], "t[1:3]")
    same(t[[3, 0]], DENSE[[3, 0]], "t[[3, 0]]")
    same(t[:, [2, 0]], DENSE[:, [2, 0]], "t[:, [2, 0]]")
    assert t[3, 1] == DENSE[3, 1]
    np.testing.assert_array_equal(t.get_rows([3, 1]).toarray(), DENSE[[3, 1]])
    rows, columns, values = (one.gather() for one in t.find())
    np.testing.assert_array_equal(DENSE[rows, columns], values)


@pytest.mark.parametrize(("n_ranks", "layout"), LAYOUTS, ids=[str(one) for _, one in LAYOUTS])
def test_whatever_order_ranks_and_rows_lie_in(n_ranks: int, layout: Any) -> None:
    m = sp.csr_array(DENSE)

    def body(team: pt.Team) -> None:
        given = m.tocoo()
        here = slice(team.rank, None, team.size)
        coords, data = [one[here] for one in given.coords], given.data[here]
        where: Any = {"team": team, "layout": layout}
        for t in (
            DistTensor.from_scipy(m, format="csr", **where),
            DistTensor.from_coo(m.shape, coords, data, format="csc", **where),
            DistTensor.from_coo(m.shape, coords, data, format="coo", **where),
        ):
            check_reductions(t)
            check_operands(t, team)
            check_moves(t, team)

    pt.spmd(body, n_ranks, deadline=60.0)


def test_lines_of_three_dimensions_stay_where_they_lie() -> None:
    cube = np.arange(1.0, 25.0).reshape(4, 3, 2)

    def body(team: pt.Team) -> None:
        coords = np.nonzero(cube)
        here = slice(team.rank, None, team.size)
        maps: list[Any] = [pt.Block(), pt.Unstructured([[2, 0, 1]]), pt.Whole()]
        layout = pt.Layout(cube.shape, maps, grid=(2, 1, 1), ranks=[1, 0])
        t = DistTensor.from_coo(
            cube.shape, [one[here] for one in coords], cube[coords][here], team=team, layout=layout
        )
        same(t.sum(axis=2), cube.sum(axis=2), "one axis")
        same(t.sum(axis=(0, 2)), cube.sum(axis=(0, 2)), "two axes")

    pt.spmd(body, 2, deadline=60.0)
