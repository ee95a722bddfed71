"""Half precision, empty channels, second derivatives, and norms of all gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from divided import cut, on_grid

import partita as pt
import partita.torch as ptt
from partita.distdl import Partition

HALVES = [torch.float16, torch.bfloat16]


@pytest.mark.parametrize("dtype", HALVES)
def test_sums_of_halves_do_not_overflow(dtype: torch.dtype) -> None:
    torch.manual_seed(1)
    whole = (torch.randn(8, 2, 4096) + 20).to(dtype)
    serial = torch.nn.BatchNorm1d(2).to(dtype)
    wanted = serial(whole)

    def job(team: pt.Team) -> None:
        P = on_grid(team, (1, 1, 2))
        x = cut(whole, (1, 1, 2), P.index)
        for layer in (ptt.DistributedBatchNorm(P, 2).to(dtype), ptt.DistributedBatchNorm(P, 2)):
            y = layer(x)
            assert y.dtype == dtype
            part = cut(wanted, (1, 1, 2), P.index)
            torch.testing.assert_close(y, part, rtol=0.05, atol=0.05)
            found = layer.running_mean.to(dtype)
            torch.testing.assert_close(found, serial.running_mean, rtol=0.02, atol=0.02)
        loss = ptt.DistributedMSELoss(P)(torch.full_like(x, 2.0), torch.zeros_like(x))
        assert loss.dtype == dtype
        assert loss.item() == (4.0 if team.rank == 0 else 0.0)
        pool = ptt.DistributedAvgPool1d(P, 4, ceil_mode=True)
        assert (pool(torch.full_like(x, 30000.0)) == torch.tensor(30000.0, dtype=dtype)).all()

    pt.spmd(job, ranks=2)


def test_integers_are_pooled_to_integers() -> None:
    whole = torch.arange(16).reshape(1, 1, 4, 4)
    wanted = torch.nn.functional.avg_pool2d(whole, 2, ceil_mode=True)

    def job(team: pt.Team) -> None:
        P = on_grid(team, (1, 1, 2, 1))
        x = cut(whole, (1, 1, 2, 1), P.index)
        y = ptt.DistributedAvgPool2d(P, 2, ceil_mode=True)(x)
        assert torch.equal(y, cut(wanted, (1, 1, 2, 1), P.index))

    pt.spmd(job, ranks=2)


@pytest.mark.parametrize("kind", [ptt.DistributedMaxPool1d, ptt.DistributedAvgPool1d])
def test_workers_without_channels_pool_nothing(kind: Any) -> None:
    def job(team: pt.Team) -> tuple[int, ...]:
        P = on_grid(team, (1, 4, 1))
        x = torch.randn(1, 1, 8, requires_grad=True)
        y = kind(P, 2)(ptt.DistributedConv1d(P, 4, 3, 3, padding=1)(x))
        y.sum().backward()
        assert x.grad is not None
        return tuple(y.shape)

    assert pt.spmd(job, ranks=4) == [(1, 1, 4)] * 3 + [(1, 0, 4)]


def test_second_derivatives_through_memory_that_is_written_are_refused() -> None:
    def job(team: pt.Team) -> None:
        x = torch.arange(3.0).requires_grad_()
        y = ptt.HaloExchange(Partition(team), [1], in_place=True)(x * 1)
        (g,) = torch.autograd.grad((y**2).sum(), x, create_graph=True)
        with pytest.raises(RuntimeError, match="once_differentiable"):
            g.sum().backward()

    pt.spmd(job, ranks=2)


def test_a_loss_without_terms_is_zero_elsewhere() -> None:
    def job(team: pt.Team) -> float:
        P = on_grid(team, (2, 1))
        loss = ptt.DistributedCrossEntropyLoss(P)(torch.zeros(2, 3), torch.full((2,), -100))
        return loss.item()

    first, second = pt.spmd(job, ranks=2)
    assert first != first  # as torch: nothing by nothing
    assert second == 0.0


def test_states_that_do_not_fit_together_are_refused() -> None:
    def job(team: pt.Team) -> str:
        layer = ptt.DistributedConv1d(on_grid(team, (1, 2, 1)), 2, 4, 3)
        if team.rank == 1:
            layer.double()
        with pytest.raises(pt.PartitaError) as refusal:
            ptt.serial_state_dict(layer)
        return refusal.value.reason

    reasons = pt.spmd(job, ranks=2)
    assert reasons[0] == reasons[1]


def test_gradients_are_clipped_by_the_norm_of_all() -> None:
    torch.manual_seed(4)
    serial = torch.nn.Conv1d(2, 4, 3).double()
    whole = torch.randn(2, 2, 9, dtype=torch.float64)
    serial(whole).square().sum().backward()
    wanted = torch.nn.utils.clip_grad_norm_(serial.parameters(), 1.0).item()

    def job(team: pt.Team) -> float:
        P = on_grid(team, (1, 2, 1))
        layer = ptt.DistributedConv1d(P, 2, 4, 3, dtype=torch.float64)
        layer.load_state_dict(serial.state_dict())
        layer(cut(whole, (1, 2, 1), P.index)).square().sum().backward()
        norm = ptt.clip_grad_norm_(layer.parameters(), 1.0, P)
        rows = slice(*layer.out_range)
        assert serial.weight.grad is not None
        torch.testing.assert_close(layer.weight.grad, serial.weight.grad[rows])
        return norm

    assert all(abs(norm - wanted) < 1e-9 for norm in pt.spmd(job, ranks=2))
