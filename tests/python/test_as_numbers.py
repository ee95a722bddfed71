"""Results without dimensions and what loops yield, used as numbers."""

from __future__ import annotations

import math
import statistics
from typing import Any

import numpy
import pytest

import partita as pt

np: Any = numpy
RANKS = [1, 2, 3, 4]


@pytest.mark.parametrize("ranks", RANKS)
def test_results_are_rounded_as_numbers(ranks: int) -> None:
    def body(_: pt.Team) -> None:
        x = np.array([1.23456, 2.5, -7.25, 3.0])
        a = pt.asarray(x, "block")
        for made, wanted in ((a.mean(), x.mean()), (a.min(), x.min()), (a[1], x[1])):
            assert round(made, 2) == round(wanted, 2)
            assert round(made) == round(wanted)
            assert isinstance(round(made), int)
            assert math.trunc(made) == math.trunc(wanted)
            assert math.floor(made) == math.floor(wanted)
            assert math.ceil(made) == math.ceil(wanted)
        whole = pt.asarray([15, 27]).sum()
        assert round(whole, -1) == 40
        for call in (round, math.trunc, math.floor, math.ceil):
            with pytest.raises(TypeError, match=r"partita\."):
                call(a)

    pt.spmd(body, ranks)


@pytest.mark.parametrize("ranks", RANKS)
def test_rows_yield_numbers(ranks: int) -> None:
    def body(_: pt.Team) -> None:
        a = pt.asarray([3, 1, 3, 2, 3], "block")
        found = dict(zip(*pt.unique(a, return_counts=True), strict=True))
        assert found == {1: 1, 2: 1, 3: 3}
        assert set(a) == {1, 2, 3}
        assert {type(one) for one in a} == {np.int64}
        assert {type(one) for one in a.astype("float32")} == {np.float32}
        assert [bool(one) for one in a > 2] == [True, False, True, False, True]
        assert statistics.mean(a.astype(float)) == statistics.mean([3.0, 1.0, 3.0, 2.0, 3.0])
        assert max(a) == 3
        assert "".join("abcd"[one] for one in a) == "dbdcd"
        assert list(pt.zeros(0)) == []
        rows = list(pt.asarray([[1, 2], [3, 4]], "block, *"))
        rows[0][1] = 7
        assert isinstance(rows[0], pt.Array)

    pt.spmd(body, ranks)


@pytest.mark.parametrize("ranks", RANKS)
def test_loops_see_what_they_write(ranks: int) -> None:
    def body(_: pt.Team) -> None:
        x, a = np.arange(6.0), pt.arange(6.0, layout="block")
        for row in (x, a):
            for at, one in enumerate(row):
                if at + 1 < len(row):
                    row[at + 1] += 2 * one
        assert a.tolist() == x.tolist()

    pt.spmd(body, ranks)
