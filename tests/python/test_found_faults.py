"""Faults that random programs beside NumPy have found, each as the smallest program that had it."""

from __future__ import annotations

import threading
from typing import Any

import numpy
import pytest

import partita as pt

# Its types are stricter than what tests give to it.
np: Any = numpy
RANKS = [1, 2, 3, 4]


def same(found: Any, wanted: Any) -> None:
    wanted = np.asarray(wanted)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(found.gather(), wanted)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_one_position_is_read_and_written_once(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        x = np.arange(42).reshape(7, 6)
        for layout in ("block", "*, block", "cyclic", "*"):
            y, a = x.copy(), pt.asarray(x.copy(), layout)
            for index in (np.array(-2), pt.asarray(np.array(-2))):
                same(a[index, 1:], y[-2, 1:])
                same(a[index, 3], y[-2, 3])
                a[index, 1:] = 5
                a[index, 0] += 7
                y[-2, 1:] = 5
                y[-2, 0] += 7
                same(a, y)

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_medians_leave_out_complex_numbers_that_are_none(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        z = np.array(
            [-2 + 2j, np.inf, 2, np.nan, 1.5 + 2j, 1.5 - 2j, complex(1, np.nan), 0, 0, -1j]
        )
        same(pt.nanmedian(pt.asarray(z, "block")), np.nanmedian(z))
        assert np.isnan(pt.median(pt.asarray(z, "block")).gather())

    pt.spmd(body, n_ranks)


@pytest.mark.filterwarnings("ignore:Mean of empty slice")
@pytest.mark.parametrize("n_ranks", [1, 3])
def test_quantiles_of_nothing_are_numpys(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        x = np.empty((4, 0))
        same(pt.nanquantile(pt.asarray(x), 0.5, axis=1), np.full(4, np.nan))
        same(pt.nanquantile(pt.asarray(x), [0.5, 0.1], axis=1), np.full((2, 4), np.nan))
        same(pt.nanquantile(pt.asarray(x), [], axis=1), np.empty((0, 4)))
        same(pt.quantile(pt.asarray(x), [0.5, 0.1], axis=0), np.quantile(x, [0.5, 0.1], axis=0))

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_the_middle_of_a_correlation_is_numpys(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        for short in (1, 2, 3, 4):
            x, y = np.arange(short) * (1 + 2j), np.arange(9) - 4j
            for mode in ("same", "full", "valid"):
                for a, b in ((x, y), (y, x)):
                    found = pt.correlate(pt.asarray(a, "block"), pt.asarray(b), mode)
                    np.testing.assert_allclose(found.gather(), np.correlate(a, b, mode))

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_parts_that_are_no_boxes_see_what_is_written_at_positions(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        for size in (1, 6, 11):
            x = np.arange(float(size))
            a = pt.asarray(x.copy(), "cyclic")
            a[[0, -1]] = [7.0, 8.0]
            x[[0, -1]] = [7.0, 8.0]
            same(a, x)
            a[::-1][[0]] = 9.0
            x[-1] = 9.0
            # What the ranks hold, and not only what they compute with.
            mine = np.concatenate(team.allgather_data(a.local))
            np.testing.assert_array_equal(np.sort(mine), np.sort(x))

    pt.spmd(body, n_ranks)


@pytest.mark.filterwarnings("ignore::partita.GatherWarning")
@pytest.mark.parametrize("n_ranks", RANKS)
def test_transforms_of_nothing_are_zeros(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        for shape, axis in (((0, 5), 0), ((4, 0), 1), ((0,), 0), ((0, 1), 0)):
            for layout in ("block", "*, block", "cyclic"):
                x = np.empty(shape, complex)
                same(pt.fft.fft(pt.asarray(x, layout), 6, axis), np.fft.fft(x, 6, axis))

    pt.spmd(body, n_ranks)


def test_threads_of_one_rank_write_at_positions() -> None:
    a = pt.asarray(np.zeros(400))
    failures: list[BaseException] = []

    def work(number: int) -> None:
        own = np.arange(number * 100, number * 100 + 100)
        try:
            for step in range(200):
                a[own] = float(step + number)
        except BaseException as error:  # a thread's own would be lost
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    same(a, np.repeat(np.arange(4.0) + 199, 100))
