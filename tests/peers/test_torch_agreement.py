"""Layers that workers made with different arguments: all hear of it at once."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import jax
import pytest
import torch
from divided import on_grid

import partita as pt
import partita.torch as ptt
from partita import distdl
from partita.distdl import Partition
from partita.jax import function

X = torch.ones(1, 2, 6)
COUNTS = torch.zeros(1, 6, dtype=torch.int64)


def by_rank(P: Any, one: Any, other: Any) -> Any:
    return other if P.rank == 1 else one


def conv(P: Any, *numbers: Any, **options: Any) -> torch.Tensor:
    return ptt.DistributedConv1d(P, *numbers, **options)(X)


def linear(P: Any, outputs: int, **options: Any) -> torch.Tensor:
    row = P.create_cartesian_topology_partition((1, 2))
    single = P.create_partition_inclusive([0]).create_cartesian_topology_partition((1, 1))
    return ptt.DistributedLinear(row, single, row, 4, outputs, **options)(torch.ones(3, 2))


def norm(P: Any, **options: Any) -> torch.Tensor:
    return ptt.DistributedBatchNorm(P, 2, **options)(X)


def loss(P: Any, name: str, *targets: Any, **options: Any) -> torch.Tensor:
    return getattr(ptt, f"Distributed{name}Loss")(P, **options)(X, *(targets or (X,)))


def stack(P: Any, *layers: Any) -> torch.Tensor:
    return ptt.DistributedStack(P, *layers)(X)


def state(P: Any, *layers: Any) -> Any:
    return ptt.serial_state_dict(torch.nn.Sequential(*layers))


def clip(P: Any, most: float) -> float:
    return ptt.clip_grad_norm_([torch.nn.Parameter(torch.ones(2))], most, P)


# Called with a partition of two workers, (1, 1, 2); what the message must have of both sides.
DIFFERENT: dict[str, tuple[Callable[[Any], object], str, str]] = {
    "output channels": (lambda P: conv(P, 2, by_rank(P, 3, 4), 3), "2, 3,", "2, 4,"),
    "padding": (
        lambda P: conv(P, 2, 3, 3, padding=by_rank(P, 1, 0)),
        "padding=(1,)",
        "stride=(1,) on",
    ),
    "padding at the end": (
        lambda P: conv(P, 2, 3, 2, padding=by_rank(P, 0, "same")),
        "stride=(1,) on",
        "extra=[1]",
    ),
    "stride": (lambda P: conv(P, 2, 3, 3, by_rank(P, 1, 2)), "stride=(1,)", "stride=(2,)"),
    "dilation": (lambda P: conv(P, 2, 3, 2, dilation=by_rank(P, 1, 2)), "(1,) on", "dilation=(2,)"),
    "groups": (lambda P: conv(P, 2, 2, 3, groups=by_rank(P, 1, 2)), "(1,) on", "groups=2"),
    "a bias on one": (
        lambda P: conv(P, 2, 3, 3, bias=by_rank(P, True, False)),
        "(1,) on",
        "bias=False",
    ),
    "a convolution and a pool": (
        lambda P: by_rank(P, ptt.DistributedConv1d(P, 2, 2, 3), ptt.DistributedMaxPool1d(P, 3))(X),
        "DistributedConv1d",
        "DistributedMaxPool1d",
    ),
    "maximum and mean": (
        lambda P: by_rank(P, ptt.DistributedMaxPool1d, ptt.DistributedAvgPool1d)(P, 2)(X),
        "DistributedMaxPool1d",
        "DistributedAvgPool1d",
    ),
    "kernels of pools": (
        lambda P: ptt.DistributedMaxPool1d(P, by_rank(P, 2, 3), 2)(X),
        "kernel_size=(2,)",
        "kernel_size=(3,)",
    ),
    "what counts in a mean": (
        lambda P: ptt.DistributedAvgPool1d(P, 3, 1, 1, count_include_pad=by_rank(P, True, False))(
            X
        ),
        "padding=(1,) on",
        "count_include_pad=False",
    ),
    "outputs that overhang": (
        lambda P: ptt.DistributedMaxPool1d(P, 3, 2, ceil_mode=by_rank(P, False, True))(X),
        "(0,) on",
        "ceil_mode=True",
    ),
    "grids": (
        lambda P: ptt.DistributedMaxPool1d(
            by_rank(P, P, P.create_cartesian_topology_partition((1, 2, 1))), 2
        )(X),
        "1x1x2",
        "1x2x1",
    ),
    "eps": (lambda P: norm(P, eps=by_rank(P, 1e-5, 1e-3)), "eps=1e-05", "eps=0.001"),
    "momentum": (lambda P: norm(P, momentum=by_rank(P, 0.1, None)), "=0.1", "momentum=None"),
    "scale and shift": (
        lambda P: norm(P, affine=by_rank(P, True, False)),
        "affine=True",
        "affine=False",
    ),
    "types of norms": (
        lambda P: by_rank(
            P, ptt.DistributedBatchNorm(P, 2), ptt.DistributedBatchNorm(P, 2).double()
        )(X),
        "torch.float32",
        "torch.float64",
    ),
    "squares and distances": (
        lambda P: loss(P, by_rank(P, "MSE", "L1")),
        "DistributedMSELoss",
        "DistributedL1Loss",
    ),
    "reductions": (
        lambda P: loss(P, "MSE", reduction=by_rank(P, "mean", "sum")),
        "reduction=mean",
        "reduction=sum",
    ),
    "no reduction on one": (
        lambda P: loss(P, "MSE", reduction=by_rank(P, "mean", "none")),
        "reduction=mean",
        "reduction=none",
    ),
    "losses without reduction": (
        lambda P: loss(P, by_rank(P, "MSE", "L1"), reduction="none"),
        "DistributedMSELoss",
        "DistributedL1Loss",
    ),
    "options of losses": (
        lambda P: loss(P, "PoissonNLL", eps=by_rank(P, 1e-3, 1e-2)),
        "eps=0.001",
        "eps=0.01",
    ),
    "weights of classes": (
        lambda P: loss(P, "CrossEntropy", COUNTS, weight=torch.tensor([1.0, by_rank(P, 2.0, 3.0)])),
        "torch.float32(2,) (",
        "weight=",
    ),
    "output features": (lambda P: linear(P, by_rank(P, 2, 3)), "4, 2,", "4, 3,"),
    "a linear bias on one": (
        lambda P: linear(P, 2, bias=by_rank(P, True, False)),
        "=True",
        "bias=False",
    ),
    "linear types": (
        lambda P: linear(P, 2, dtype=by_rank(P, torch.float32, torch.float64)),
        "torch.float32",
        "torch.float64",
    ),
    "the order in a stack": (
        lambda P: stack(
            P,
            *[ptt.DistributedConv1d(P, 2, 2, 3, padding=1), ptt.DistributedMaxPool1d(P, 2)][
                :: by_rank(P, 1, -1)
            ],
        ),
        "of DistributedConv1d(",
        "of DistributedMaxPool1d(",
    ),
    "activations in a stack": (
        lambda P: stack(
            P, ptt.DistributedMaxPool1d(P, 2), by_rank(P, torch.nn.ReLU(), torch.nn.Tanh())
        ),
        "ReLU()",
        "Tanh()",
    ),
    "one layer more in a stack": (
        lambda P: stack(P, ptt.DistributedMaxPool1d(P, 1), *by_rank(P, [], [torch.nn.ReLU()])),
        "(0,)) on",
        "ReLU()",
    ),
    "states": (
        lambda P: state(P, ptt.DistributedConv1d(P, 2, by_rank(P, 3, 4), 3)),
        "(3, 2, 3)",
        "(4, 2, 3)",
    ),
    "one layer more in a state": (
        lambda P: state(
            P,
            ptt.DistributedConv1d(P, 2, 3, 3),
            *by_rank(P, [], [ptt.DistributedConv1d(P, 3, 5, 3)]),
        ),
        "0.bias (3,)",
        "1.bias (5,)",
    ),
    "norms of gradients": (lambda P: clip(P, by_rank(P, 1.0, 2.0)), "max_norm=1.0", "max_norm=2.0"),
    "axes of a sum": (
        lambda P: ptt.AllSumReduce(P, by_rank(P, [2], [0]))(X),
        "axes [2]",
        "axes [0]",
    ),
    "halos": (
        lambda P: ptt.HaloExchange(P, [0, 0, by_rank(P, 1, 2)])(X),
        "(1, 1)",
        "(2, 2)",
    ),
    "halos in place": (
        lambda P: ptt.HaloExchange(P, [0, 0, by_rank(P, 1, 2)], in_place=True)(X.clone()),
        "(1, 1)",
        "(2, 2)",
    ),
    "roots": (
        lambda P: ptt.Broadcast(P.create_partition_inclusive([by_rank(P, 0, 1)]), P)(X),
        "ranks 0 to",
        "ranks 1 to",
    ),
    "axes in JAX": (
        lambda P: function(distdl.AllSumReduce(P, by_rank(P, [2], [0])))(jax.numpy.ones(2)),
        "axes [2]",
        "axes [0]",
    ),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_all_workers_hear_that_layers_differ(name: str) -> None:
    call, one, other = DIFFERENT[name]

    def job(team: pt.Team) -> str:
        with pytest.raises(pt.MismatchError) as refusal:
            call(on_grid(team, (1, 1, 2)))
        assert team.allgather_data(team.rank) == [0, 1]
        return str(refusal.value)

    begun = time.monotonic()
    messages = pt.spmd(job, ranks=2, deadline=30)
    assert time.monotonic() - begun < 10
    assert messages[0] == messages[1]
    shown = messages[0]
    first, second = shown.split(", rank 1 has ")
    assert one in first, shown
    assert other in second, shown
    assert "rank 0 has" in first


def test_workers_in_any_order_of_a_grid() -> None:
    """Layers give what the grid says, though its workers meet in another order."""
    whole = torch.arange(24.0).reshape(1, 2, 12)
    torch.manual_seed(3)
    serial = torch.nn.Sequential(torch.nn.Conv1d(2, 3, 3, padding=1), torch.nn.BatchNorm1d(3))
    wanted = serial(whole)

    def job(team: pt.Team) -> None:
        few = Partition(team).create_partition_inclusive([2, 0, 1])
        P = few.create_cartesian_topology_partition((1, 1, 3))
        network = torch.nn.Sequential(
            ptt.DistributedConv1d(P, 2, 3, 3, padding=1), ptt.DistributedBatchNorm(P, 3)
        )
        network.load_state_dict({**serial.state_dict(), **FRESH})
        own = slice(4 * P.rank, 4 * P.rank + 4)
        found = network(whole[..., own])
        torch.testing.assert_close(found, wanted[..., own])
        value = ptt.DistributedMSELoss(P)(found, torch.zeros_like(found))
        if P.rank == 0:
            torch.testing.assert_close(value, wanted.square().mean())

    FRESH = {"1.running_mean": torch.zeros(3), "1.running_var": torch.ones(3)}
    pt.spmd(job, ranks=3)


@pytest.mark.parametrize("what", ["conj", "neg"])
def test_halos_in_place_need_the_numbers_in_memory(what: str) -> None:
    def job(team: pt.Team) -> str:
        P = on_grid(team, (1, 1, 2))
        x = torch.ones(1, 2, 6, dtype=torch.complex64).conj()
        x = x if what == "conj" else x.imag
        with pytest.raises(pt.LayoutError, match=f"resolve_{what}") as refusal:
            ptt.HaloExchange(P, [0, 0, 1], in_place=True)(x)
        with torch.no_grad(), pytest.raises(pt.LayoutError, match=f"resolve_{what}"):
            ptt.HaloExchange(P, [0, 0, 1], in_place=True)(x)
        return refusal.value.reason

    assert pt.spmd(job, ranks=2) == ["tensor-in-place"] * 2


def test_conjugated_tensors_and_gradients_count_as_what_they_show() -> None:
    def job(team: pt.Team) -> None:
        P = on_grid(team, (1, 1, 2))
        x = torch.full((1, 1, 3), 1 + 2j * (1 + team.rank)).conj()
        found = ptt.AllSumReduce(P, [2])(x)
        torch.testing.assert_close(found, torch.full((1, 1, 3), 2 - 6j))
        leaf = torch.zeros(1, 1, 3, dtype=torch.complex64, requires_grad=True)
        y = ptt.HaloExchange(P, [0, 0, 1], in_place=True)(leaf * 1)
        y.backward(torch.full((1, 1, 3), 1 + 1j).conj())
        halo, owned = (2, 1) if team.rank == 0 else (0, 1)
        assert leaf.grad is not None
        assert leaf.grad[0, 0, halo] == 0
        assert leaf.grad[0, 0, owned] == 2 - 2j

    pt.spmd(job, ranks=2)


def test_clipping_counts_both_parts_of_complex_gradients() -> None:
    def job(team: pt.Team) -> None:
        weight = torch.nn.Parameter(torch.zeros(2, dtype=torch.complex64))
        weight.grad = torch.tensor([3 + 4j, 0])
        assert ptt.clip_grad_norm_([weight], 1.0, Partition(team)) == pytest.approx(50**0.5)
        assert abs(weight.grad[0].item()) == pytest.approx(0.5**0.5, rel=1e-4)

    pt.spmd(job, ranks=2)


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested", "ignore:Sparse CSR")
@pytest.mark.parametrize("what", ["sparse", "compressed", "nested"])
def test_tensors_that_are_not_strided_are_refused_by_name(what: str) -> None:
    made = {
        "sparse": lambda: X.to_sparse(),
        "compressed": lambda: X[0].to_sparse_csr(),
        "nested": lambda: torch.nested.nested_tensor([X[0], X[0, :1]]),
    }[what]

    def job(team: pt.Team) -> list[str]:
        P = on_grid(team, (1, 1, 2))
        layers: list[Any] = [
            ptt.AllSumReduce(P, [2]),
            ptt.HaloExchange(P, [0, 0, 1], in_place=True),
            ptt.DistributedConv1d(P, 2, 1, 1),
            ptt.DistributedAvgPool1d(P, 2),
            ptt.DistributedBatchNorm(P, 2),
            lambda x: ptt.DistributedMSELoss(P)(x, X),
            lambda x: ptt.DistributedMSELoss(P)(X, x),
        ]
        reasons = []
        for layer in layers:
            with pytest.raises(pt.LayoutError, match="strided") as refusal:
                layer(made())
            reasons.append(refusal.value.reason)
        return reasons

    assert pt.spmd(job, ranks=2) == [["tensor-layout"] * 7] * 2


def test_an_array_of_keys_is_refused_in_jax() -> None:
    def job(team: pt.Team) -> str:
        total = function(distdl.AllSumReduce(Partition(team), [0]))
        given = jax.random.key(0) if team.rank == 1 else jax.numpy.ones(1)
        with pytest.raises(pt.PartitaError, match="use numbers") as refusal:
            total(given)
        return refusal.value.reason

    assert pt.spmd(job, ranks=2, deadline=30) == ["rank-raised", "dtype-unknown"]
