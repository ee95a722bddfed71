"""Arrays of NumPy that ranks have whole: they cost no exchange, and those that differ are found."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
from bodies_refusals import attempt

import partita as pt


def no_exchange(team: pt.Team) -> None:
    """One rank makes and reads such arrays while the others do nothing of the kind."""
    x = np.arange(6.0).reshape(2, 3)
    if team.rank == team.size - 1:
        for given in (x, x.T, x[0], [1, 2.5], [[1], [2]], 7, np.float32(2), np.int64(3), range(4)):
            made: Any = pt.asarray(given)
            np.testing.assert_array_equal(made.local, given)
            np.testing.assert_array_equal(made.gather(), given)
            np.testing.assert_array_equal(np.asarray(made), given)
            np.testing.assert_array_equal(pickle.loads(pickle.dumps(made)).local, given)
            assert str(made) == str(np.asarray(given))
        assert float(pt.asarray(2.5)) == 2.5
    team.barrier()
    both: Any = pt.asarray(x) + pt.ones((2, 3))
    np.testing.assert_array_equal(both.gather(), x + 1)
    assert pt.asarray(x).layout.notation == f"*, * @ 1x1x{team.size}"


def pickled(team: pt.Team) -> None:
    """Where a rank has the whole array, pickling asks nobody; parts are refused."""
    spread: Any = pt.arange(12.0).reshape(6, 2) + 0
    whole: Any = pt.asarray(np.arange(3)) * 2
    pt.compute(spread, whole)
    if team.rank == 0:
        for again in (pickle.loads(pickle.dumps(whole)), pickle.loads(pickle.dumps(whole, 5))):
            assert isinstance(again, pt.Array)
            assert again.local.tolist() == [0, 2, 4]
        if team.size == 1:
            assert pickle.loads(pickle.dumps(spread[::2].T)).tolist() == [[0, 4, 8], [1, 5, 9]]
        else:
            with pytest.raises(pt.ProtocolError, match="gather") as told:
                pickle.dumps(spread)
            assert told.value.reason == "array-divided"
    team.barrier()
    gathered = pickle.loads(pickle.dumps(spread.gather()))
    np.testing.assert_array_equal(gathered, np.arange(12.0).reshape(6, 2))


def by_positions(a: Any, is_last: bool) -> Any:
    return a[np.array([1, 2, 3 + is_last])]


def by_more_positions(a: Any, is_last: bool) -> Any:
    return a[[1, 2] + [3] * is_last]


def by_other_type(a: Any, is_last: bool) -> Any:
    return a[np.array([1, 2], "int32" if is_last else "int64")]


def by_pairs(a: Any, is_last: bool) -> Any:
    return a.reshape(-1, 2)[np.array([1, 2]), np.array([0, int(is_last)])]


def by_mask(a: Any, is_last: bool) -> Any:
    mask = np.arange(a.size) % 3 == 0
    mask[-1] ^= is_last
    return a[mask]


def write_positions(a: Any, is_last: bool) -> None:
    a[np.array([1, 2, 3 + is_last])] = 5.0


def other_shape(a: Any, is_last: bool) -> Any:
    return (pt.asarray(np.arange(4 + is_last)) * 2).gather()


def other_type(a: Any, is_last: bool) -> Any:
    return (pt.asarray(np.arange(4, dtype="int32" if is_last else "int64")) * 2).gather()


DIFFER: list[Callable[[Any, bool], Any]] = [
    by_positions,
    by_more_positions,
    by_other_type,
    by_pairs,
    by_mask,
    write_positions,
    other_shape,
    other_type,
]


def differing(team: pt.Team) -> None:
    """Every rank is told, at once, and the team is as good as before."""
    for work in DIFFER:
        a = pt.arange(8.0 * team.size)
        told = attempt(partial(work, a, team.rank == team.size - 1))
        if team.size == 1:
            assert told is None, (work.__name__, told)
            continue
        assert told is not None, work.__name__
        assert told[0] == "MismatchError", (work.__name__, told)
        assert f"rank {team.size - 1}" in told[3], (work.__name__, told)
        assert work(pt.arange(8.0 * team.size), False) is not None or work is write_positions
        assert team.allgather_data(team.rank) == list(range(team.size))


def checked(team: pt.Team) -> None:
    """What PARTITA_CHECK finds besides: elements of operands and of arrays that come in."""
    a = pt.ones(6)
    works: list[Callable[[float], Any]] = [
        lambda own: (a + np.full(6, own)).gather(),
        lambda own: pt.asarray(np.full(6, own)),
        lambda own: pt.asarray([1.0, own]),
    ]
    for work in works:
        told = attempt(partial(work, float(team.rank)))
        assert told is not None
        assert told[1] == "ranks-differ", told
        assert work(1.0).shape
    large = np.zeros(10_000)
    large[5003] = team.rank
    told = attempt(lambda: pt.asarray(large))
    assert told is not None
    assert told[1] == "ranks-differ", told


BODIES = (no_exchange, pickled, differing)
