"""Stacks with one exchange: random ones against serial torch, and what a stack refuses."""

from __future__ import annotations

import random
from math import prod
from typing import Any

import pytest
import torch
from divided import check, compare, cut, on_grid

import partita as pt
import partita.torch as ptt
from partita.distdl import Partition, Window

N_CASES = 60

ACTIVATIONS = [
    torch.nn.Sigmoid,
    torch.nn.Tanh,
    torch.nn.Identity,
    torch.nn.ReLU,
    lambda: torch.nn.Softmax(dim=1),
]


def n_outputs(numbers: Any, extents: list[int], overhangs: bool) -> list[int]:
    windows = [Window(*one, overhangs=overhangs) for one in numbers]
    return [window.n_outputs(extent) for window, extent in zip(windows, extents, strict=True)]


def random_window(rng: random.Random, extents: list[int], is_pool: bool) -> Any:
    """Numbers of a kernel that has outputs everywhere; None if none was found."""
    for _ in range(20):
        found = []
        for _ in extents:
            kernel, stride = rng.randint(1, 4), rng.randint(1, 3)
            padding = rng.randint(0, kernel // 2 if is_pool else 4)
            found.append((kernel, stride, padding, 1 if is_pool else rng.randint(1, 2)))
        if all(n_outputs(found, extents, False)):
            return found
    return None


def random_stack(seed: int) -> Any:
    """Grid, shape, and makers of serial and divided layers."""
    rng = random.Random(seed)
    n_dims = rng.choice([1, 1, 2])
    space = rng.choice([[1], [2], [3], [4], [5], [6]])
    if n_dims == 2:
        space = rng.choice([[1, 2], [2, 2], [2, 3], [3, 1], [1, 5]])
    n_channels = rng.randint(1, 3)
    shape = (rng.randint(1, 2), n_channels, *(rng.randint(1, 12) for _ in range(n_dims)))
    extents, parts = list(shape[2:]), []
    for _ in range(rng.randint(1, 4)):
        kind = rng.choice(["conv", "conv", "max", "avg"])
        if rng.random() < 0.5:
            parts.append(("activation", rng.choice(ACTIVATIONS)))
        numbers = random_window(rng, extents, kind != "conv")
        if numbers is None:
            continue
        options: dict[str, bool] = {}
        if kind != "conv":
            options["ceil_mode"] = rng.random() < 0.5
        if kind == "avg":
            options["count_include_pad"] = rng.random() < 0.5
        extents = n_outputs(numbers, extents, options.get("ceil_mode", False))
        columns = [tuple(one) for one in zip(*numbers, strict=True)]
        after = rng.randint(1, 3) if kind == "conv" else n_channels
        parts.append((kind, (n_channels, after, columns, options)))
        n_channels = after
    # A kernel of one element, so that there is one in every stack.
    columns = [(1,) * n_dims, (1,) * n_dims, (0,) * n_dims, (1,) * n_dims]
    parts.append(("conv", (n_channels, 2, columns, {})))
    return n_dims, (1, 1, *space), shape, parts, rng.random() < 0.5


def made(parts: Any, n_dims: int, P: Any = None) -> list[torch.nn.Module]:
    home, start = (torch.nn, "") if P is None else (ptt, "Distributed")
    first = [] if P is None else [P]
    found = []
    for kind, what in parts:
        if kind == "activation":
            found.append(what())
            continue
        before, after, (kernel, stride, padding, dilation), options = what
        if kind == "conv":
            layer = getattr(home, f"{start}Conv{n_dims}d")
            found.append(layer(*first, before, after, kernel, stride, padding, dilation))
        else:
            layer = getattr(home, f"{start}{kind.capitalize()}Pool{n_dims}d")
            found.append(layer(*first, kernel, stride, padding, **options))
    return found


@pytest.mark.parametrize("seed", range(N_CASES))
def test_random_stacks(seed: int) -> None:
    n_dims, grid, shape, parts, even = random_stack(seed)
    serial = torch.nn.Sequential(*made(parts, n_dims))

    def make(P: Any) -> torch.nn.Module:
        return ptt.DistributedStack(P, *made(parts, n_dims, P))

    compare(grid, shape, serial, make, even)


def test_workers_that_see_only_padding() -> None:
    serial = torch.nn.Sequential(torch.nn.MaxPool1d(1), torch.nn.Conv1d(1, 1, 1, padding=2))

    def make(P: Any) -> torch.nn.Module:
        pool, conv = ptt.DistributedMaxPool1d(P, 1), ptt.DistributedConv1d(P, 1, 1, 1, padding=2)
        return ptt.DistributedStack(P, pool, conv)

    compare((1, 1, 4), (1, 1, 4), serial, make)


def test_padding_does_not_pass_through_the_layers_before_a_kernel() -> None:
    serial = torch.nn.Sequential(torch.nn.Sigmoid(), torch.nn.MaxPool1d(3, 1, 1))

    def make(P: Any) -> torch.nn.Module:
        return ptt.DistributedStack(P, torch.nn.Sigmoid(), ptt.DistributedMaxPool1d(P, 3, 1, 1))

    compare((1, 1, 3), (1, 2, 7), serial, make)


def test_inner_stacks_and_marked_functions() -> None:
    activation = torch.nn.ReLU()
    serial = torch.nn.Sequential(
        torch.nn.Sequential(torch.nn.Conv1d(2, 3, 3, padding=1), activation),
        torch.nn.Conv1d(3, 2, 3, padding=1),
        activation,
        torch.nn.SiLU(),
    )

    def make(P: Any) -> torch.nn.Module:
        relu = torch.nn.ReLU()
        first = ptt.DistributedConv1d(P, 2, 3, 3, padding=1)
        second = ptt.DistributedConv1d(P, 3, 2, 3, padding=1)
        marked = ptt.pointwise(lambda x: x * torch.sigmoid(x))
        inner = ptt.DistributedStack(P, first, relu)
        return ptt.DistributedStack(P, inner, second, relu, marked)

    compare((1, 1, 3), (2, 2, 11), serial, make)


def test_a_layer_used_twice_counts_twice() -> None:
    def job(team: pt.Team) -> None:
        P = on_grid(team, (1, 1, 2))
        pool = ptt.DistributedAvgPool1d(P, 3, 1, 1)
        whole = torch.arange(9.0).square().reshape(1, 1, 9)
        serial = torch.nn.AvgPool1d(3, 1, 1)
        found = ptt.DistributedStack(P, pool, pool)(cut(whole, P.shape, P.index))
        check(found, cut(serial(serial(whole)), P.shape, P.index), 1e-6)

    pt.spmd(job, ranks=2)


LAYERS: dict[str, Any] = {
    "AvgPool1d": lambda: torch.nn.AvgPool1d(3, 1, 1),
    "Softmax over space": lambda: torch.nn.Softmax(dim=2),
    "Softmax2d of divided channels": lambda: torch.nn.Softmax2d(),
    "Softmax of divided channels": lambda: torch.nn.Softmax(dim=1),
    "Flatten": lambda: torch.nn.Flatten(),
    "Upsample": lambda: torch.nn.Upsample(scale_factor=2),
    "AdaptiveAvgPool1d": lambda: torch.nn.AdaptiveAvgPool1d(2),
    "InstanceNorm1d": lambda: torch.nn.InstanceNorm1d(2),
    "LocalResponseNorm": lambda: torch.nn.LocalResponseNorm(2),
    "Dropout": lambda: torch.nn.Dropout(0.5),
    "RReLU": lambda: torch.nn.RReLU(),
    "PReLU": lambda: torch.nn.PReLU(),
    "None": lambda: None,
    "text": lambda: "relu",
    "a function": lambda: torch.relu,
    "marked text": lambda: ptt.pointwise("relu"),
    "a marked class": lambda: ptt.pointwise(torch.nn.ReLU),
    "marked parameters": lambda: ptt.pointwise(torch.nn.PReLU()),
    "Dropout in a sequence": lambda: torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Dropout()),
}


@pytest.mark.parametrize("name", LAYERS)
def test_layers_that_are_not_pointwise_are_refused(name: str) -> None:
    def job(team: pt.Team) -> None:
        P = on_grid(team, (1, 2, 2))
        with pytest.raises(pt.LayoutError) as refusal:
            ptt.DistributedStack(P, ptt.DistributedAvgPool1d(P, 3, 1, 1), LAYERS[name]())
        assert refusal.value.reason == "stack-layer"

    pt.spmd(job, ranks=4)


def test_kernels_of_one_stack_are_alike() -> None:
    def job(team: pt.Team) -> None:
        P = on_grid(team, (1, 1, 2))
        other = on_grid(team, (2, 1, 1))
        plane = on_grid(team, (1, 1, 1, 2))
        pool = ptt.DistributedMaxPool1d(P, 2)
        for kernel in (ptt.DistributedMaxPool1d(other, 2), ptt.DistributedMaxPool2d(plane, 2)):
            with pytest.raises(pt.LayoutError) as refusal:
                ptt.DistributedStack(P, pool, kernel)
            assert refusal.value.reason == "stack-layer"
        for partition in (None, "a", team):
            with pytest.raises(pt.LayoutError) as refusal:
                ptt.DistributedStack(partition, pool)
            assert refusal.value.reason == "partition-type"

    pt.spmd(job, ranks=2)


def test_a_marked_function_must_keep_the_shape() -> None:
    def job(team: pt.Team) -> None:
        P = on_grid(team, (1, 1, 2))
        shrinking = ptt.pointwise(lambda x: x[..., :1])
        stack = ptt.DistributedStack(P, ptt.DistributedMaxPool1d(P, 2), shrinking)
        with pytest.raises(pt.LayoutError, match="keep the shape"):
            stack(torch.zeros(1, 1, 8))

    pt.spmd(job, ranks=2)


def test_channels_inside_a_stack_must_fit() -> None:
    def job(team: pt.Team) -> str:
        P = on_grid(team, (1, 1, 4))
        convs = [ptt.DistributedConv1d(P, 1, 2, 1), ptt.DistributedConv1d(P, 3, 1, 1)]
        with pytest.raises(pt.LayoutError) as refusal:
            ptt.DistributedStack(P, *convs)(torch.zeros(1, 1, 1 if team.rank == 0 else 0))
        return refusal.value.reason

    assert pt.spmd(job, ranks=4) == ["features-count"] * 4


def test_a_worker_outside_gets_its_tensor_back() -> None:
    def job(team: pt.Team) -> None:
        few = Partition(team).create_partition_inclusive([1])
        P = few.create_cartesian_topology_partition((1, 1, 1))
        assert prod(P.grid_shape) == 1
        stack = ptt.DistributedStack(P, ptt.DistributedMaxPool1d(P, 2))
        shape = (1, 1, 4) if P.active else (0,)
        assert tuple(stack(torch.zeros(shape)).shape) == ((1, 1, 2) if P.active else (0,))

    pt.spmd(job, ranks=2)
