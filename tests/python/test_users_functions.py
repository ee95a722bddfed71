"""Functions of users that each rank calls for its own elements, with arrays of all ranks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest
from numpy_corners import RANKS, Work, check

import partita

# Their types are stricter than what tests give to them.
np: Any = numpy
pt: Any = partita

pytestmark = pytest.mark.filterwarnings("ignore::partita.GatherWarning")
TABLE = np.arange(16.0).reshape(4, 4)


@pytest.mark.parametrize("n_ranks", [*RANKS, 2, 4])
def test_arguments_of_a_function_of_lines_come_to_every_rank(n_ranks: int) -> None:
    works: dict[str, Work] = {
        "by place": lambda np, array: np.apply_along_axis(np.dot, 1, array(TABLE), array(TABLE[1])),
        "by name": lambda np, array: np.apply_along_axis(
            lambda line, by: np.sum(line * by), 0, array(TABLE), by=array(TABLE[1])
        ),
        "excluded": lambda np, array: np.vectorize(
            lambda x, row: np.sum(row) * x, excluded=["row"]
        )(array(TABLE), row=array(TABLE[2])),
    }
    check(works, n_ranks)


class Keeper:
    """An array where no function shows it."""

    def __init__(self, array: Any) -> None:
        self.array = array


@pytest.mark.parametrize("n_ranks", [2, 3, 4])
def test_arrays_of_all_ranks_are_refused_inside(n_ranks: int) -> None:
    def body(team: Any) -> None:
        kept = Keeper(pt.asarray(np.arange(8.0) ** 2, "block"))
        x = pt.asarray(np.arange(8.0), "block")
        rows = pt.asarray(TABLE, "block")
        calls: list[Callable[[], Any]] = [
            lambda: pt.vectorize(lambda one: pt.sum(kept.array * one))(x),
            lambda: pt.vectorize(lambda one: one + kept.array.gather()[0])(x),
            lambda: pt.apply_along_axis(lambda line: line - kept.array[:4], 1, rows),
            lambda: pt.vectorize(lambda one: one + team.allgather_data(1)[0])(x),
            lambda: pt.vectorize(lambda r: float(kept.array[0]), signature="(n)->()")(rows),
        ]
        for call in calls:
            with pytest.raises(pt.TeamError, match=r"uses an array of all ranks|see there"):
                call()
            # All ranks go on alike, with the arrays as they were.
            assert float(kept.array.sum()) == 140.0
        taken = kept.array.gather()
        found = pt.vectorize(lambda one: np.sum(taken * one) + pt.arange(3).sum())(x)
        np.testing.assert_array_equal(found.gather(), 140.0 * np.arange(8.0) + 3)

    pt.spmd(body, n_ranks)
