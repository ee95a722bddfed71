"""Functions of users that each rank calls for its own elements, with arrays of all ranks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
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


@pytest.mark.parametrize("n_ranks", [*RANKS, 2, 4])
def test_arrays_that_a_function_names_come_to_every_rank(n_ranks: int) -> None:
    def closed_over(np: Any, array: Any) -> Any:
        table, scale = array(TABLE[3] ** 2), array(TABLE).mean()

        def helper(x: Any) -> Any:
            return np.sum(table * x) if x > scale else helper(x + 5)

        return np.vectorize(lambda x: helper(x) + scale, otypes=[float])(array(TABLE))

    def by_default(np: Any, array: Any) -> Any:
        table, by = array(TABLE[2]), array(TABLE[1])

        def chosen(line: Any, table: Any = table, *, by: Any = by) -> Any:
            return np.dot(line, table) + by[0]

        return np.apply_along_axis(chosen, 1, array(TABLE))

    def by_partial(np: Any, array: Any) -> Any:
        def scaled(table: Any, line: Any, by: Any) -> Any:
            return table * line + by

        made = partial(scaled, array(TABLE[2]), by=array(TABLE[0]))
        return np.vectorize(made, signature="(n)->(n)")(array(TABLE))

    works: dict[str, Work] = {"closure": closed_over, "defaults": by_default, "partial": by_partial}
    check(works, n_ranks)


@pytest.mark.filterwarnings("ignore::partita.GatherWarning")
@pytest.mark.parametrize("n_ranks", RANKS)
def test_margins_are_filled_by_functions(n_ranks: int) -> None:
    def framed(shape: tuple[int, ...], np: Any, array: Any) -> Any:
        fill = array([7.0, 8.0])

        def with_fill(line: Any, width: Any, axis: int, options: Any) -> None:
            line[: width[0]] = fill[0] + axis
            line[len(line) - width[1] :] = options.get("last", fill[1])

        given = array(numpy.arange(float(numpy.prod(shape))).reshape(shape))
        return np.pad(given, 2, with_fill), np.pad(given, (1, 3), with_fill, last=-1)

    works: dict[str, Work] = {
        str(shape): partial(framed, shape) for shape in ((5,), (3, 4), (2, 3, 2), (0,))
    }
    check(works, n_ranks)


def test_global_names_are_looked_up_and_may_be_set() -> None:
    source = """
def made(np, array):
    global table, n_calls
    table = array(TABLE[3])
    return np.vectorize(helped)(array(TABLE))

def helped(x):
    return float(table.sum()) * x + len(table)

def counted(np, array):
    global n_calls
    n_calls = 0
    found = np.vectorize(counting, otypes=[float])(array(TABLE[:, 0]))
    return n_calls, found

def counting(x):
    global n_calls
    n_calls += 1
    return x
"""

    def body(_: Any) -> None:
        own: dict[str, Any] = {"TABLE": TABLE, "__name__": "of_a_user"}
        exec(source, own)
        found = own["made"](pt, lambda x: pt.asarray(x, "block"))
        np.testing.assert_array_equal(found.gather(), own["made"](np, np.asarray).tolist())
        n_calls, found = own["counted"](pt, lambda x: pt.asarray(x, "block"))
        assert n_calls == len(found.local)
        np.testing.assert_array_equal(found.gather(), TABLE[:, 0])

    pt.spmd(body, 2)


def test_what_a_function_names_is_only_read() -> None:
    def body(_: Any) -> None:
        seen = pt.zeros(8)

        def note(x: Any) -> Any:
            seen[int(x)] = 1.0
            return x

        with pytest.raises((ValueError, pt.RemoteError), match="read-only"):
            pt.vectorize(note)(pt.asarray(np.arange(8.0), "block"))
        assert float(seen.sum()) == 0.0

    pt.spmd(body, 2)


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
