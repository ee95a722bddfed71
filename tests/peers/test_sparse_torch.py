"""Sparse products through autograd: values beside torch's own, gradients by differences."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
import torch

import partita as pt
import partita.torch.sparse as ps
from partita.sparse import DistTensor

LAYOUTS = ["block, *", "*, block", "cyclic, *", "block, block"]


def pattern(team: pt.Team, shape: tuple[int, int], layout: str, format: str) -> tuple[Any, Any]:
    rng = np.random.default_rng(3)
    whole = sp.random_array(shape, density=0.4, rng=rng, format="coo")
    mine = slice(team.rank, None, team.size)
    coords = [whole.row[mine], whole.col[mine]]
    made = DistTensor.from_coo(
        shape, coords, whole.data[mine], team=team, format=format, layout=layout
    )
    return made, whole.toarray()


def own(t: Any, whole: Any, dim: int) -> torch.Tensor:
    """This worker's rows of an operand."""
    from partita.sparse.operands import operands_of

    layout = operands_of(t).layouts[dim]
    n = layout.local_shape(t.team.rank)[0]
    which = layout.globalize(t.team.rank, np.arange(n)[:, None]).reshape(-1)
    return torch.from_numpy(whole[which].copy())


def joined(team: pt.Team, local: torch.Tensor) -> float:
    return float(sum(team.allgather_data(float(local.detach().sum()))))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_gradients_equal_those_of_dense_products(layout: str, format: str, ranks: int) -> None:
    def job(team: pt.Team) -> None:
        for shape in ((7, 7), (9, 5), (2, 6)):
            t, whole = pattern(team, shape, layout, format)
            rng = np.random.default_rng(1)
            x_all, y_all = rng.random((shape[1], 3)), rng.random((shape[0], 3))
            x = own(t, x_all, 1).requires_grad_()
            values = torch.from_numpy(t._block.data.copy()).requires_grad_()
            y = ps.spmm(t, x, values)
            weights = own(t, y_all, 0)
            np.testing.assert_allclose(y.detach(), own(t, whole @ x_all, 0))
            (y * weights).sum().backward()
            np.testing.assert_allclose(x.grad, own(t, whole.T @ y_all, 1))
            sampled = ps.sddmm(t, weights, x.detach())
            np.testing.assert_allclose(values.grad, sampled)

    pt.spmd(job, ranks=ranks)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("format", ["csr", "csc"])
def test_gradients_by_differences(dtype: torch.dtype, format: str) -> None:
    """On one worker torch's own check, also of second derivatives."""

    def job(team: pt.Team) -> None:
        t, _ = pattern(team, (5, 4), "block, *", format)
        values = torch.from_numpy(t._block.data).to(dtype).requires_grad_()
        x = torch.rand(4, 2, dtype=dtype).requires_grad_()
        y = torch.rand(5, 2, dtype=dtype).requires_grad_()
        vector = torch.rand(4, dtype=dtype).requires_grad_()
        for work, given in [
            (lambda v, x: ps.spmm(t, x, v), (values, x)),
            (lambda v, x: ps.spmv(t, x, v), (values, vector)),
            (lambda y, x: ps.sddmm(t, y, x), (y, x)),
        ]:
            assert torch.autograd.gradcheck(work, given)
            assert torch.autograd.gradgradcheck(work, given)

    pt.spmd(job, ranks=1)


def test_differences_on_two_workers() -> None:
    """A step of one worker's entry changes the sum over all workers as the gradient says."""

    def job(team: pt.Team) -> None:
        t, _ = pattern(team, (6, 6), "block, *", "csr")
        torch.manual_seed(team.rank)
        x = torch.rand(ps.operand_rows(t, 1), 2, dtype=torch.float64)
        own = team.allgather_data(ps.operand_indices(t, 1))
        np.testing.assert_array_equal(np.concatenate(own), np.arange(6))

        def loss(x: torch.Tensor) -> torch.Tensor:
            hidden = torch.tanh(ps.spmm(t, x))
            return (ps.sddmm(t, hidden, hidden) ** 2).sum()

        variable = x.clone().requires_grad_()
        loss(variable).backward()
        for rank in range(team.size):
            moved = [x.clone(), x.clone()]
            if team.rank == rank:
                moved[0][1, 0] += 1e-6
                moved[1][1, 0] -= 1e-6
            up, down = (joined(team, loss(one)) for one in moved)
            told = team.allgather_data(float(variable.grad[1, 0]))
            assert (up - down) / 2e-6 == pytest.approx(told[rank], rel=1e-5)

    pt.spmd(job, ranks=2)


def test_all_workers_take_part_if_one_needs_a_gradient() -> None:
    def job(team: pt.Team) -> None:
        t, whole = pattern(team, (6, 6), "block, *", "csr")
        x = own(t, np.ones((6, 1)), 1)
        if team.rank == 0:
            x.requires_grad_()
        y = ps.spmm(t, x)
        assert y.requires_grad
        y.sum().backward()
        if team.rank == 0:
            np.testing.assert_allclose(x.grad, own(t, whole.T @ np.ones((6, 1)), 1))
        else:
            assert x.grad is None

    pt.spmd(job, ranks=2)


def test_what_does_not_fit_is_refused_on_all() -> None:
    def job(team: pt.Team) -> None:
        t, _ = pattern(team, (6, 6), "block, *", "csr")
        n = ps.operand_rows(t, 1)
        # One rank's mistake is all ranks', of the same class.
        with pytest.raises(ValueError, match="shape"):
            ps.spmm(t, torch.ones(n + (team.rank == 1), dtype=torch.float64))
        with pytest.raises(pt.LayoutError, match="a NoneType as local tensor"):
            ps.spmm(t, None if team.rank else torch.ones(n, dtype=torch.float64))  # type: ignore[arg-type]
        with pytest.raises(pt.MismatchError, match="on rank 1"):
            ps.spmm(t, torch.ones((n, 1 + team.rank), dtype=torch.float64))
        ones = partial(torch.ones, dtype=torch.float64)
        for given, words in (
            ((ones(n), ones(3)), f"values of shape (3,) for this rank's {t.nnz_local} entries"),
            ((ones(n), ones(t.nnz_local, 1)), "give nnz_local of them"),
            ((ones(n, 2, 2),), f"x of shape ({n}, 2, 2), of 3 dimensions"),
            ((ones(n + 1),), f"x of shape ({n + 1},) where this rank has {n} rows"),
        ):
            with pytest.raises(pt.LayoutError, match=re.escape(words)):
                ps.spmm(t, *given)
        with pytest.raises(pt.LayoutError, match="a ndarray as the pattern"):
            ps.spmm(np.eye(6), ones(6))  # type: ignore[arg-type]
        with pytest.raises(pt.LayoutError, match="dimension 2 of a pattern; use 0 or 1"):
            ps.operand_rows(t, 2)
        with pytest.raises(ValueError, match="one type"):
            ps.spmm(t, torch.ones(n, dtype=torch.float32))
        whole, _ = pattern(team, (6, 6), "*, *", "csr")
        with pytest.raises(pt.LayoutError, match="one for each"):
            ps.spmm(whole, torch.ones(6, dtype=torch.float64))

    pt.spmd(job, ranks=2)
