"""Pools that overhang the end or count padding otherwise, and padding 'same', against torch."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from divided import compare

import partita.torch as ptt

# grid, shape, kernel, stride, padding
POOLS: list[Any] = [
    ((1, 1, 2), (2, 3, 7), 2, 2, 0),
    ((1, 1, 3), (1, 2, 11), 3, 2, 1),
    ((1, 1, 4), (1, 1, 10), 4, 3, 2),
    ((1, 1, 4), (1, 1, 5), 2, 4, 1),
    ((1, 1, 2), (1, 1, 6), 3, 5, 1),
    ((1, 1, 2, 2), (2, 1, 8, 7), (3, 2), (2, 3), (1, 1)),
    ((1, 2, 1, 3), (1, 2, 5, 9), (2, 5), 2, (0, 2)),
    ((1, 1, 2, 1, 2), (1, 1, 5, 4, 6), 3, 2, 1),
]


def check_pool(kind: str, grid: Any, shape: Any, even: bool, *numbers: Any, **options: Any) -> None:
    """A pool on a grid against torch's own."""
    name = f"{kind}Pool{len(shape) - 2}d"
    serial = getattr(torch.nn, name)(*numbers, **options)
    layer = getattr(ptt, f"Distributed{name}")
    compare(grid, shape, serial, lambda P: layer(P, *numbers, **options), even)


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize(("grid", "shape", "k", "s", "p"), POOLS)
def test_average_pools(
    grid: Any, shape: Any, k: Any, s: Any, p: Any, even: bool, ceil_mode: bool
) -> None:
    for counts in (True, False):
        options = {"ceil_mode": ceil_mode, "count_include_pad": counts}
        check_pool("Avg", grid, shape, even, k, s, p, **options)


@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize(("grid", "shape", "k", "s", "p"), POOLS)
def test_maximum_pools_that_overhang(
    grid: Any, shape: Any, k: Any, s: Any, p: Any, even: bool, dilation: int
) -> None:
    # Windows wide apart need more than these small tensors have.
    shape = (*shape[:2], *(length + 4 * (dilation - 1) for length in shape[2:]))
    check_pool("Max", grid, shape, even, k, s, p, dilation, ceil_mode=True)


@pytest.mark.filterwarnings("ignore:Using padding='same'")
@pytest.mark.parametrize("even", [True, False])
@pytest.mark.parametrize(("kernel", "dilation"), [(4, 1), (2, 3), (3, 2), (6, 1)])
def test_same_padding_with_any_kernel(kernel: int, dilation: int, even: bool) -> None:
    options: Any = {"padding": "same", "dilation": dilation}
    for n_dims, grid in ((1, (1, 1, 3)), (2, (1, 1, 2, 2))):
        shape = (1, 2, *[9, 7][:n_dims])
        serial = getattr(torch.nn, f"Conv{n_dims}d")(2, 3, kernel, **options)
        layer = getattr(ptt, f"DistributedConv{n_dims}d")
        compare(grid, shape, serial, lambda P: layer(P, 2, 3, kernel, **options), even)  # noqa: B023


@pytest.mark.filterwarnings("ignore:Using padding='same'")
def test_a_stack_of_pools_that_overhang() -> None:
    serial = torch.nn.Sequential(
        torch.nn.AvgPool1d(3, 2, 1, ceil_mode=True, count_include_pad=False),
        torch.nn.Tanh(),
        torch.nn.Conv1d(2, 2, 4, padding="same"),
        torch.nn.AvgPool1d(2, 2, 1, ceil_mode=True),
        torch.nn.MaxPool1d(2, 2, ceil_mode=True),
    )

    def make(P: Any) -> torch.nn.Module:
        return ptt.DistributedStack(
            P,
            ptt.DistributedAvgPool1d(P, 3, 2, 1, ceil_mode=True, count_include_pad=False),
            torch.nn.Tanh(),
            ptt.DistributedConv1d(P, 2, 2, 4, padding="same"),
            ptt.DistributedAvgPool1d(P, 2, 2, 1, ceil_mode=True),
            ptt.DistributedMaxPool1d(P, 2, 2, ceil_mode=True),
        )

    for n_workers in (1, 2, 3, 5):
        for length in (4, 13, 18):
            serial.zero_grad()
            compare((1, 1, n_workers), (1, 2, length), serial, make)
