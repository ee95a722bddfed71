"""Whole tensors, their blocks on a grid of workers, and comparisons with serial torch."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import torch

import partita as pt
from partita.distdl import CartesianPartition, Partition, split

torch.set_num_threads(1)


def on_grid(team: pt.Team, grid: Sequence[int]) -> CartesianPartition:
    return Partition(team).create_cartesian_topology_partition(grid)


def ranges(shape: Sequence[int], grid: Sequence[int], even: bool) -> list[list[tuple[int, int]]]:
    """Per dimension and coordinate; uneven puts as much as it can on the last."""
    if even:
        return [split(n, p) for n, p in zip(shape, grid, strict=True)]
    found = []
    for n, p in zip(shape, grid, strict=True):
        starts = [min(k, n) for k in range(p)] + [n]
        found.append(list(itertools.pairwise(starts)))
    return found


def cut(
    whole: torch.Tensor, grid: Sequence[int], index: Sequence[int], even: bool = True
) -> torch.Tensor:
    """A worker's block."""
    places = zip(ranges(whole.shape, grid, even), index, strict=True)
    return whole[tuple(slice(*one[at]) for one, at in places)]


def check(found: Any, wanted: Any, tolerance: float = 1e-10) -> None:
    assert tuple(found.shape) == tuple(wanted.shape)
    torch.testing.assert_close(found, wanted, rtol=tolerance, atol=tolerance)


def rows(P: CartesianPartition, parameter: torch.Tensor) -> list[int]:
    return [P.index[1], *[0] * (parameter.dim() - 1)]


def compare(
    grid: Sequence[int],
    shape: Sequence[int],
    serial: torch.nn.Module,
    make: Callable[[CartesianPartition], torch.nn.Module],
    even: bool = True,
    keep: int = 1,
) -> None:
    """Outputs and all gradients of a layer on a grid, against the serial layer.

    `keep` is the number of leading dimensions whose blocks do not change their sizes.
    """
    torch.manual_seed(7)
    whole = torch.randn(*shape, dtype=torch.float64, requires_grad=True)
    serial = serial.double()
    out = serial(whole)
    cotangent = torch.randn_like(out)
    out.backward(cotangent)
    assert whole.grad is not None
    gradient = whole.grad

    def outputs(tensor: torch.Tensor, index: Any) -> torch.Tensor:
        rest = len(grid) - keep
        part = cut(tensor, [*grid[:keep], *[1] * rest], [*index[:keep], *[0] * rest], even)
        return cut(part, [*[1] * keep, *grid[keep:]], [*[0] * keep, *index[keep:]])

    def job(team: pt.Team) -> None:
        P = on_grid(team, grid)
        layer = make(P).double()

        def own(parameter: torch.Tensor) -> torch.Tensor:
            """The rows of a parameter that belong to this worker's channels."""
            return cut(parameter, [grid[1], *[1] * (parameter.dim() - 1)], rows(P, parameter))

        with torch.no_grad():
            for name, parameter in layer.named_parameters():
                if parameter.numel():
                    parameter.copy_(own(serial.get_parameter(name)))
        x = cut(whole.detach(), grid, P.index, even).clone().requires_grad_()
        before = x.detach().clone()
        y = layer(x)
        check(y, outputs(out, P.index))
        y.backward(outputs(cotangent, P.index))
        check(x.detach(), before, 0.0)
        check(x.grad, cut(gradient, grid, P.index, even))
        for name, parameter in layer.named_parameters():
            if parameter.numel():
                check(parameter.grad, own(serial.get_parameter(name).grad))
            else:
                assert parameter.grad is None or parameter.grad.numel() == 0

    n_ranks = 1
    for length in grid:
        n_ranks *= length
    pt.spmd(job, ranks=n_ranks)
