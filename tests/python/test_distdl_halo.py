"""Halos and windows: widths, corners, many hops, and kernels against a serial convolution."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from adjoints import Local, random

import partita as pt
from partita.distdl import (
    HaloExchange,
    Partition,
    Window,
    WindowExchange,
    halo_widths,
    interpolation_needs,
    interpolation_widths,
    send_widths,
    split,
)
from partita.distdl.windows import needs, ranges_of, stack_needs

WIDTHS = [
    # (extent, workers, kernel, stride, padding, dilation), halos, outputs
    ((10, 4, 2, 2, 0, 1), [(0, 1), (0, 0), (0, 0), (0, 0)], [2, 1, 1, 1]),
    ((10, 3, 3, 1, 0, 1), [(0, 1), (1, 1), (1, 0)], [3, 3, 2]),
    ((7, 3, 3, 1, 0, 1), [(0, 1), (1, 1), (1, 0)], [2, 2, 1]),
    ((10, 3, 3, 1, 1, 1), [(0, 1), (1, 1), (1, 0)], [4, 3, 3]),
    ((10, 2, 5, 2, 2, 1), [(0, 2), (1, 0)], [3, 2]),
    ((8, 2, 4, 1, 1, 1), [(0, 2), (1, 0)], [4, 3]),
    ((12, 4, 9, 1, 4, 1), [(0, 4), (3, 4), (4, 3), (4, 0)], [3, 3, 3, 3]),
    ((10, 4, 1, 4, 0, 1), [(0, 0), (0, 0), (0, 1), (0, 0)], [1, 1, 1, 0]),
    ((3, 2, 5, 1, 0, 1), [(0, 0), (0, 0)], [0, 0]),
]


@pytest.mark.parametrize(("case", "halos", "outputs"), WIDTHS)
def test_widths(case: tuple[int, ...], halos: list[Any], outputs: list[int]) -> None:
    assert halo_widths(*case) == halos
    found = needs(Window(*case[2:]), case[0], case[1])
    assert [one.n_outputs for one in found] == outputs


def test_what_is_sent_and_where_the_needed_inputs_lie() -> None:
    sent = {
        (10, 4, 2, 2, 0, 1): [(0, 0), (1, 0), (0, 0), (0, 0)],
        (10, 3, 3, 1, 0, 1): [(0, 1), (1, 1), (1, 0)],
        (10, 2, 5, 2, 2, 1): [(0, 1), (2, 0)],
    }
    for case, wanted in sent.items():
        assert send_widths(halo_widths(*case)) == wanted
    halos = halo_widths(10, 4, 2, stride=2)
    owned = split(10, 4)
    local = [
        (one.start - (own[0] - left), one.stop - (own[0] - left))
        for one, own, (left, _) in zip(needs(Window(2, 2), 10, 4), owned, halos, strict=True)
    ]
    assert local == [(0, 4), (1, 3), (0, 2), (0, 2)]


@pytest.mark.parametrize(
    ("extent", "workers", "sizes"),
    [
        (10, 3, [4, 3, 3]),
        (10, 4, [3, 3, 2, 2]),
        (7, 3, [3, 2, 2]),
        (77, 4, [20, 19, 19, 19]),
        (55, 4, [14, 14, 14, 13]),
        (100, 7, [15, 15, 14, 14, 14, 14, 14]),
        (2, 4, [1, 1, 0, 0]),
        (3, 5, [1, 1, 1, 0, 0]),
    ],
)
def test_even_division(extent: int, workers: int, sizes: list[int]) -> None:
    found = split(extent, workers)
    assert [stop - start for start, stop in found] == sizes
    assert found == ranges_of(sizes)
    layout = pt.Layout((extent,), "block @ " + str(workers))
    assert [layout.local_shape(rank)[0] for rank in range(workers)] == sizes


def test_corners_arrive() -> None:
    whole = np.arange(16.0).reshape(4, 4)

    def job(team: pt.Team) -> None:
        grid = team.grid(2, 2)
        row, column = grid.index or (0, 0)
        block = (slice(row, row + 3), slice(column, column + 3))
        own = (slice(1 * row, 1 * row + 2), slice(1 * column, 1 * column + 2))
        buffer = np.full((3, 3), -9.0)
        buffer[own] = whole[2 * row : 2 * row + 2, 2 * column : 2 * column + 2]
        apart = HaloExchange(Partition(team).create_cartesian_topology_partition([2, 2]), [1, 1])
        np.testing.assert_array_equal(apart(buffer), whole[block])
        assert buffer.min() == -9.0
        assert pt.halo_exchange(buffer, grid, [1, 1]) is buffer
        np.testing.assert_array_equal(buffer, whole[block])
        back = pt.halo_exchange.adjoint(np.ones((3, 3)), grid, [1, 1])
        wanted = {
            0: [[1, 2, 0], [2, 4, 0], [0, 0, 0]],
            3: [[0, 0, 0], [0, 4, 2], [0, 2, 1]],
        }
        if team.rank in wanted:
            np.testing.assert_array_equal(back, wanted[team.rank])
        y = np.full((3, 3), team.rank + 1.0)
        fy = pt.halo_exchange.adjoint(y, grid, [1, 1])
        if team.rank == 0:
            np.testing.assert_array_equal(fy, [[1, 3, 0], [4, 10, 0], [0, 0, 0]])
        left = sum(team.allgather_data(float((buffer * y).sum())))
        right = sum(team.allgather_data(float((buffer * fy).sum())))
        assert left == right == 756.0

    pt.spmd(job, ranks=4)


def convolved(x: Local, weights: Local, window: Window) -> Local:
    """A serial convolution of one dimension."""
    padded = np.pad(x, window.padding)
    n_outputs = window.n_outputs(len(x))
    return np.array(
        [
            sum(
                weights[tap] * padded[at * window.stride + tap * window.dilation]
                for tap in range(window.kernel)
            )
            for at in range(n_outputs)
        ]
    ).reshape(n_outputs)


def brute_force(workers: int) -> list[tuple[int, Window]]:
    return [
        (extent, Window(kernel, stride, padding, dilation))
        for extent in range(4, 21)
        for kernel in range(1, 6)
        for stride in range(1, 5)
        for padding in range(kernel // 2 + 1)
        for dilation in (1, 2)
        if extent + 2 * padding >= dilation * (kernel - 1) + 1
    ]


@pytest.mark.parametrize("workers", [2, 3, 4])
def test_every_small_kernel_equals_the_serial_one(workers: int) -> None:
    """All kernels, strides, paddings and dilations; halos past neighbours, workers without work."""
    cases = brute_force(workers)
    assert len(cases) > 1300

    def job(team: pt.Team) -> None:
        P = Partition(team)
        for extent, window in cases:
            whole = np.arange(1.0, extent + 1) ** 2
            weights = np.arange(1.0, window.kernel + 1)
            start, stop = split(extent, workers)[team.rank]
            moved = WindowExchange(P, [[window]])
            x = moved(whole[start:stop])
            ((need,),) = moved.bound(whole[start:stop]).stages  # type: ignore[attr-defined]
            inner = Window(window.kernel, window.stride, 0, window.dilation)
            padded = np.pad(x, (need.before, need.after))
            y = convolved(padded, weights, inner) if need.n_outputs else np.zeros(0)
            first, last = split(window.n_outputs(extent), workers)[team.rank]
            np.testing.assert_array_equal(y, convolved(whole, weights, window)[first:last])

    pt.spmd(job, ranks=workers)


STACKS = [
    (20, 4, [Window(3, 1, 1), Window(3, 2, 1)]),
    (17, 3, [Window(5, 1, 2), Window(2, 2, 0), Window(3, 1, 1, 2)]),
    (9, 4, [Window(3, 3, 0), Window(3, 1, 1)]),
    (40, 2, [Window(7, 2, 3)] * 3),
]


@pytest.mark.parametrize(("extent", "workers", "stack"), STACKS)
def test_one_exchange_serves_a_stack(extent: int, workers: int, stack: list[Window]) -> None:
    whole = random((extent,), "int64", 3)
    weights = [random((window.kernel,), "int64", k) for k, window in enumerate(stack)]
    wanted = whole
    for window, taps in zip(stack, weights, strict=True):
        wanted = convolved(wanted, taps, window)
    widths = halo_widths(
        extent,
        workers,
        [w.kernel for w in stack],
        [w.stride for w in stack],
        [w.padding for w in stack],
        [w.dilation for w in stack],
    )

    def job(team: pt.Team) -> None:
        P = Partition(team)
        start, stop = split(extent, workers)[team.rank]
        exchange = WindowExchange(P, [stack])
        x = exchange(whole[start:stop])
        stages = [stage[0] for stage in exchange.bound(whole[start:stop]).stages]  # type: ignore[attr-defined]
        assert stages == stack_needs(stack, extent, workers)[team.rank]
        left, right = widths[team.rank]
        if stages[0].stop > stages[0].start:
            assert left == max(0, start - stages[0].start)
            assert right == max(0, stages[0].stop - stop)
        for window, taps, need in zip(stack, weights, stages, strict=True):
            inner = Window(window.kernel, window.stride, 0, window.dilation)
            padded = np.pad(x, (need.before, need.after))
            x = convolved(padded, taps, inner) if need.n_outputs else x[:0]
        first, last = split(len(wanted), workers)[team.rank]
        np.testing.assert_array_equal(x, wanted[first:last])
        y = random(x.shape, "int64", 5)
        assert y.shape == x.shape

    pt.spmd(job, ranks=workers)


def wrong(kind: str, team: pt.Team) -> None:
    P = Partition(team).create_cartesian_topology_partition([2, 2])
    if kind == "ndim":
        HaloExchange(P, [1])
    elif kind == "negative":
        HaloExchange(P, [1, -1])
    elif kind == "pairs":
        HaloExchange(P, [1, [(1, 1)] * 3])
    elif kind == "shape":
        HaloExchange(P, [1, 1])(np.zeros((3, 3 + (team.rank == 1))))
    elif kind == "past an end":
        HaloExchange(P, [3, 3])(np.zeros((4, 4)))
    elif kind == "window":
        WindowExchange(P, [[Window(0)], [Window()]])
    elif kind == "windows":
        WindowExchange(P, [[Window()]])


@pytest.mark.parametrize(
    ("kind", "reason"),
    [
        ("ndim", "halo-ndim"),
        ("negative", "halo-widths"),
        ("pairs", "halo-widths"),
        ("shape", "blocks-no-grid"),
        ("past an end", "halo-shape"),
        ("window", "window-kernel"),
        ("windows", "window-ndim"),
    ],
)
def test_wrong_halos_fail_on_every_worker(kind: str, reason: str) -> None:
    def job(team: pt.Team) -> str:
        with pytest.raises(pt.LayoutError) as error:
            wrong(kind, team)
        team.barrier()
        return error.value.reason

    assert pt.spmd(job, ranks=4) == [reason] * 4


def test_wrong_widths() -> None:
    for arguments in ((10, 0, 3), (10, 2, 0), (10, 2, 3, 0), (10, 2, 3, 1, -1)):
        with pytest.raises(pt.LayoutError):
            halo_widths(*arguments)
    with pytest.raises(pt.LayoutError, match="sizes"):
        halo_widths(10, 2, 3, sizes=[5, 6])
    with pytest.raises(pt.LayoutError, match="layers"):
        halo_widths(10, 2, [3, 3], [1, 1, 1])
    assert halo_widths(10, 2, 3, padding=1, sizes=[1, 9]) == [(0, 5), (0, 0)]


@pytest.mark.parametrize(
    ("extent", "outputs", "workers", "mode", "align", "widths"),
    [
        (10, 20, 2, "nearest", False, [(0, 0), (0, 0)]),
        (10, 20, 2, "linear", False, [(0, 1), (1, 0)]),
        (10, 20, 2, "linear", True, [(0, 1), (1, 0)]),
        (10, 15, 3, "linear", False, [(0, 0), (1, 0), (1, 0)]),
        (10, 15, 3, "nearest", False, [(0, 0), (1, 0), (1, 0)]),
    ],
)
def test_interpolation_widths(
    extent: int, outputs: int, workers: int, mode: str, align: bool, widths: list[Any]
) -> None:
    found = interpolation_widths(extent, outputs, workers, mode=mode, align_corners=align)
    assert found == widths


def test_interpolation_needs() -> None:
    assert interpolation_needs(10, 15, 3)[0] == (0, 3)
    scaled = interpolation_needs(10, 15, 3, mode="linear", scale=1.5)
    assert scaled == interpolation_needs(10, 15, 3, mode="linear")
    assert interpolation_needs(4, 2, 3) == [(0, 1), (2, 3), (0, 0)]
    with pytest.raises(pt.LayoutError, match="cubic"):
        interpolation_widths(4, 8, 2, mode="cubic")
