"""Elements of neighbours that a rank has copies of: never older than what their owner has."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import partita as pt

RANKS = [1, 2, 3, 4]


def at_positions(x: Any) -> None:
    x[[4]] = 50.0


def added_at_positions(x: Any) -> None:
    x[[3, 4]] += 7.0


def put(x: Any) -> None:
    (pt if isinstance(x, pt.Array) else numpy).put(x, [2, 5], [40.0, 60.0])


def by_a_mask(x: Any) -> None:
    x[x > 5] = x[:2]


def in_its_own_memory(x: Any) -> None:
    own = x.local if isinstance(x, pt.Array) else x
    own[...] = 2.0


def differences(x: Any) -> Any:
    return x[2:] - 2 * x[1:-1] + x[:-2]


def turned(x: Any) -> Any:
    return x + x[::-1]


WRITES = [at_positions, added_at_positions, put, by_a_mask, in_its_own_memory]


@pytest.mark.parametrize("n_ranks", RANKS)
@pytest.mark.parametrize("use", [differences, turned])
@pytest.mark.parametrize("write", WRITES)
def test_what_is_written_is_seen_by_neighbours(
    write: Callable[[Any], None], use: Callable[[Any], Any], n_ranks: int
) -> None:
    wanted = numpy.arange(8.0)
    before = use(wanted).sum()
    write(wanted)

    def body(_team: pt.Team) -> None:
        x = pt.arange(8.0)
        for _ in range(2):
            # Neighbours get copies of elements.
            assert float(use(x).sum()) == before
        write(x)
        assert use(x).gather().tolist() == use(wanted).tolist()
        assert x.tolist() == wanted.tolist()
        x[:4] = 1.0
        assert use(x).gather().tolist() == use(numpy.r_[numpy.ones(4), wanted[4:]]).tolist()

    pt.spmd(body, ranks=n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_running_sums_of_one_number(n_ranks: int) -> None:
    def body(_team: pt.Team) -> None:
        assert pt.cumsum(pt.ones(8)).tolist() == numpy.cumsum(numpy.ones(8)).tolist()
        assert pt.cumprod(pt.full(6, 2)).tolist() == numpy.cumprod(numpy.full(6, 2)).tolist()
        found, wanted = pt.ones((4, 3)), numpy.ones((4, 3))
        for axis in (0, 1):
            assert pt.cumsum(found, axis=axis).tolist() == numpy.cumsum(wanted, axis).tolist()
        assert float(found.sum()) == 12

    pt.spmd(body, ranks=n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_a_mask_writes_where_some_ranks_have_no_row(n_ranks: int) -> None:
    wanted = numpy.arange(6.0).reshape(3, 2)
    wanted[wanted > 1] = wanted[::-1][wanted > 1]

    def body(_team: pt.Team) -> None:
        y = pt.arange(6.0).reshape(3, 2)
        mask = y > 1
        y[mask] = y[::-1][mask]
        assert y.tolist() == wanted.tolist()

    pt.spmd(body, ranks=n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_a_row_of_what_lies_apart_is_a_copy(n_ranks: int) -> None:
    def body(_team: pt.Team) -> None:
        a = pt.zeros((3, 2))
        for apart in (a[:, 0], a[::-1], a[::2], a.T):
            row = apart.ravel()
            row[...] = 1
            assert float(a.sum()) == 0
        for together in (a, a[1:], a[2]):
            row = together.ravel()
            row[...] += 1
        assert a.tolist() == [[1, 1], [2, 2], [3, 3]]

    pt.spmd(body, ranks=n_ranks)
