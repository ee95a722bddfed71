"""Convolution and pooling on grids of workers against serial torch: values and all gradients."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from divided import check, compare, cut, on_grid

import partita as pt
import partita.torch as ptt
from partita.distdl import Partition

# grid, shape, kernel, padding, stride, dilation
CONVOLUTIONS: list[Any] = [
    ((1, 1, 2, 2), (2, 3, 10, 10), 3, 1, 1, 1),
    ((1, 1, 2, 2), (2, 3, 10, 10), 5, 2, 2, 1),
    ((1, 1, 2, 2), (2, 3, 5, 5), 3, 1, 2, 1),
    ((1, 1, 2, 2), (2, 3, 6, 10), 5, 2, 4, 1),
    ((1, 1, 2, 2), (2, 3, 10, 8), 5, 1, 1, 1),
    ((1, 1, 2, 2), (2, 3, 8, 8), 4, 1, 1, 1),
    ((1, 1, 2, 2), (2, 3, 10, 10), 5, 1, 1, 2),
    ((1, 1, 2, 2), (2, 3, 20, 20), 7, 3, 2, 1),
    ((1, 1, 2, 1, 2), (2, 3, 5, 5, 6), 5, 2, (2, 2, 1), 1),
    ((1, 1, 4), (2, 3, 15), 3, 1, 1, 1),
    ((1, 1, 4, 4), (1, 2, 10, 10), 5, 2, 2, 1),
    ((1, 1, 3, 3, 2), (1, 1, 20, 19, 18), (5, 4, 3), (1, 1, 2), (3, 1, 2), (3, 3, 1)),
    ((1, 1, 4), (1, 1, 12), 9, 4, 1, 1),
    ((1, 1, 4), (1, 1, 10), 1, 0, 4, 1),
    ((1, 1, 4), (1, 1, 10), 2, 0, 2, 1),
    ((2, 1, 2), (3, 2, 9), 3, 1, 1, 1),
    ((3, 1, 1, 2), (2, 2, 7, 6), (3, 2), (1, 0), 1, 1),
    ((1, 1, 4), (1, 1, 3), 3, 1, 1, 1),
    # Channels divided too; some workers have none.
    ((1, 2, 2), (2, 3, 9), 3, 1, 1, 1),
    ((1, 3, 1, 2), (2, 5, 6, 7), (3, 2), (1, 0), 1, 1),
    ((2, 2, 1, 2), (3, 2, 5, 5), 3, 1, 2, 1),
    ((1, 5, 2), (1, 3, 8), 5, 2, 1, 1),
    ((1, 2, 3), (1, 4, 2), 1, 0, 1, 1),
]


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize(("grid", "shape", "k", "p", "s", "d"), CONVOLUTIONS)
def test_convolutions(grid: Any, shape: Any, k: Any, p: Any, s: Any, d: Any, even: bool) -> None:
    n_dims = len(shape) - 2
    serial = getattr(torch.nn, f"Conv{n_dims}d")(shape[1], 4, k, s, p, d)
    layer = getattr(ptt, f"DistributedConv{n_dims}d")
    compare(grid, shape, serial, lambda P: layer(P, shape[1], 4, k, s, p, d), even)


def test_groups_no_bias_and_named_padding() -> None:
    grid, shape = (1, 1, 2, 2), (1, 4, 9, 7)
    compare(
        grid,
        shape,
        torch.nn.Conv2d(4, 6, 3, padding="same", groups=2, bias=False),
        lambda P: ptt.DistributedConv2d(P, 4, 6, 3, padding="same", groups=2, bias=False),
    )


POOLS: list[Any] = [
    ((1, 1, 2, 2), (2, 3, 10, 10), 3, 1, 1, 1),
    ((1, 1, 2, 2), (2, 3, 10, 9), 2, 0, None, 1),
    ((2, 1, 4), (3, 3, 15), 3, 1, 2, 1),
    ((1, 1, 4), (1, 1, 10), 2, 0, 4, 1),
    ((1, 1, 2, 1, 2), (2, 2, 5, 5, 6), 3, 1, (2, 2, 1), 1),
    ((1, 1, 4), (1, 1, 12), 9, 4, 1, 1),
    ((1, 3, 2), (2, 4, 9), 3, 1, 2, 1),
]


@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize("kind", ["Max", "Avg"])
@pytest.mark.parametrize(("grid", "shape", "k", "p", "s", "d"), POOLS)
def test_pools(
    grid: Any, shape: Any, k: Any, p: Any, s: Any, d: Any, kind: str, even: bool
) -> None:
    n_dims = len(shape) - 2
    serial = getattr(torch.nn, f"{kind}Pool{n_dims}d")(k, s, p)
    layer = getattr(ptt, f"Distributed{kind}Pool{n_dims}d")
    # A pool leaves channels where they are.
    compare(grid, shape, serial, lambda P: layer(P, k, s, p), even, keep=2)


def test_dilated_max_pools() -> None:
    compare(
        (1, 1, 2, 2),
        (1, 2, 12, 9),
        torch.nn.MaxPool2d(3, 2, 1, 2),
        lambda P: ptt.DistributedMaxPool2d(P, 3, 2, 1, 2),
    )


def layers(P: Any) -> list[torch.nn.Module]:
    return [
        ptt.DistributedConv2d(P, 2, 3, 3, padding=1),
        torch.nn.ReLU(),
        ptt.DistributedMaxPool2d(P, 2),
        ptt.DistributedConv2d(P, 3, 2, 5, stride=2, padding=2),
        torch.nn.Tanh(),
    ]


def serial_layers() -> list[torch.nn.Module]:
    return [
        torch.nn.Conv2d(2, 3, 3, padding=1),
        torch.nn.ReLU(),
        torch.nn.MaxPool2d(2),
        torch.nn.Conv2d(3, 2, 5, stride=2, padding=2),
        torch.nn.Tanh(),
    ]


@pytest.mark.parametrize("shape", [(2, 2, 16, 12), (1, 2, 9, 11), (1, 2, 4, 4)])
@pytest.mark.parametrize("even", [True, False])
def test_one_exchange_for_a_stack_or_one_per_layer(shape: Any, even: bool) -> None:
    serial = torch.nn.Sequential(*serial_layers())
    grid = (1, 1, 2, 2)
    compare(grid, shape, serial, lambda P: ptt.DistributedStack(P, *layers(P)), even)
    serial.zero_grad()
    compare(grid, shape, serial, lambda P: torch.nn.Sequential(*layers(P)), even)


def test_a_stack_exchanges_its_inputs_once() -> None:
    def job(team: pt.Team) -> None:
        P = on_grid(team, (1, 1, 2, 2))
        stack = ptt.DistributedStack(P, *layers(P))
        stack(torch.randn(1, 2, 8, 8))
        assert len(stack.exchange._movements) == 1
        for layer in stack.layers:
            exchange = getattr(layer, "exchange", None)
            assert exchange is None or not exchange._movements

    pt.spmd(job, ranks=4)


def test_leaves_and_strided_tensors_stay_as_they_are() -> None:
    """A leaf that needs no halo, and a transposed one: neither is written to nor copied."""

    def job(team: pt.Team) -> None:
        P = on_grid(team, (1, 1, 4))
        layer = ptt.DistributedConv1d(P, 1, 1, 2, stride=2).double()
        whole = torch.arange(10.0, dtype=torch.float64).reshape(1, 1, 10)
        x = cut(whole, (1, 1, 4), P.index).clone().requires_grad_()
        layer(x).sum().backward()
        assert x.grad is not None
        y = cut(whole, (1, 1, 4), P.index)
        room = torch.stack([y, y], dim=-1)[..., 0].transpose(0, 1)
        assert not room.is_contiguous() or room.numel() <= 1
        check(layer(room), layer(x))

    pt.spmd(job, ranks=4)


WRONG: list[tuple[Any, str]] = [
    (lambda P: ptt.DistributedConv2d(P, 1, 1, (3, 3, 3)), "window-kernel"),
    (lambda P: ptt.DistributedConv2d(P, 1, 1, 3, stride=0), "window-stride"),
    (lambda P: ptt.DistributedConv2d(P, 1, 1, 3, padding=(1,)), "window-padding"),
    (lambda P: ptt.DistributedConv2d(P, 1, 1, 3, 2, padding="same"), "window-padding"),
    (lambda P: ptt.DistributedConv2d(P, 1, 1, 3, padding="some"), "window-padding"),
    (lambda P: ptt.DistributedMaxPool2d(P, 2, ceil_mode="no"), "ceil_mode-not-flag"),
    (lambda P: ptt.DistributedConv2d(P, 1, 1, 3, padding_mode="circular"), "padding-mode"),
    (lambda P: ptt.DistributedConv1d(P, 1, 1, 3), "partition-ndim"),
    (lambda P: ptt.DistributedAvgPool2d(P, 2, dilation=2), "window-dilation"),
    (lambda P: ptt.DistributedMaxPool2d(P, 2, padding=2), "window-padding"),
    (lambda P: ptt.DistributedStack(P, torch.nn.ReLU()), "stack-empty"),
    (
        lambda P: ptt.DistributedStack(P, ptt.DistributedMaxPool2d(P, 2), torch.nn.Linear(1, 1)),
        "stack-layer",
    ),
    (lambda P: ptt.DistributedMaxPool2d(P, 2)(torch.zeros(1, 1, 2)), "array-ndim"),
    (lambda P: ptt.DistributedMaxPool2d(P, 2)([1.0]), "local-type"),
]


@pytest.mark.parametrize("number", range(len(WRONG)))
def test_wrong_layers_fail_on_every_worker(number: int) -> None:
    action, reason = WRONG[number]

    def job(team: pt.Team) -> str:
        with pytest.raises(pt.LayoutError) as error:
            action(on_grid(team, (1, 1, 2, 2)))
        return error.value.reason

    assert pt.spmd(job, ranks=4) == [reason] * 4


def test_divided_groups_and_missing_channels_are_refused() -> None:
    def job(team: pt.Team) -> list[str]:
        P = on_grid(team, (1, 2, 1))
        with pytest.raises(pt.LayoutError, match="groups") as groups:
            ptt.DistributedConv1d(P, 2, 2, 3, groups=2)
        with pytest.raises(pt.LayoutError, match="3 input channels where 4") as missing:
            ptt.DistributedConv1d(P, 4, 2, 3)(torch.zeros(1, 1 + P.index[1], 5))
        return [groups.value.reason, missing.value.reason]

    assert pt.spmd(job, ranks=2) == [["channels-divided", "features-count"]] * 2


def test_a_stack_with_divided_channels() -> None:
    serial = torch.nn.Sequential(
        torch.nn.Conv1d(3, 4, 3, padding=1), torch.nn.ReLU(), torch.nn.Conv1d(4, 5, 3, stride=2)
    )

    def make(P: Any) -> torch.nn.Module:
        first = ptt.DistributedConv1d(P, 3, 4, 3, padding=1)
        second = ptt.DistributedConv1d(P, 4, 5, 3, stride=2)
        return ptt.DistributedStack(P, first, torch.nn.ReLU(), second)

    compare((1, 2, 2), (2, 3, 12), serial, make)


def test_workers_outside_get_their_tensor_back() -> None:
    def job(team: pt.Team) -> None:
        few = Partition(team).create_partition_inclusive([1])
        P = few.create_cartesian_topology_partition([1, 1, 1])
        x = torch.ones(1, 1, 4) if team.rank == 1 else torch.zeros(0)
        y = ptt.DistributedConv1d(P, 1, 2, 3)(x)
        assert tuple(y.shape) == ((1, 2, 2) if team.rank == 1 else (0,))

    pt.spmd(job, ranks=2)
