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


def to_other_root(a: Any, is_last: bool) -> Any:
    return [a.gather(root=a.team.size - 1 if is_last else 0)]


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
    to_other_root,
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
        words = "gather(root=0)" if work is to_other_root else "bodies_alike.py, line "
        assert words in told[3], (work.__name__, told)
        assert work(pt.arange(8.0 * team.size), False) is not None or work is write_positions
        assert team.allgather_data(team.rank) == list(range(team.size))


def _square(a: Any) -> Any:
    """A positive definite matrix, spread."""
    n = 6
    return a[: n * n].reshape(n, n) / 1000 + np.eye(n)


OPTIONS: dict[str, Callable[[Any, bool], Any]] = {
    "cholesky": lambda a, last: pt.linalg.cholesky(_square(a), upper=last),
    "cholesky of stacks": lambda a, last: pt.linalg.cholesky(
        _square(a)[None] + np.zeros((4, 1, 1)), upper=last
    ),
    "qr": lambda a, last: pt.linalg.qr(_square(a), "r" if last else "reduced"),
    "eigh": lambda a, last: pt.linalg.eigh(_square(a), "U" if last else "L"),
    "pinv": lambda a, last: pt.linalg.pinv(_square(a), rcond=0.5 if last else None),
    "fft": lambda a, last: pt.fft.fft(a, norm="ortho" if last else None),
    "fft of rows": lambda a, last: pt.fft.fft(a.reshape(8, -1), norm="ortho" if last else None),
    "other fft": lambda a, last: (pt.fft.ifft if last else pt.fft.fft)(a.reshape(8, -1)),
    "sort of rows": lambda a, last: pt.sort(a.reshape(8, -1), descending=last),
    "argsort of rows": lambda a, last: pt.argsort(a.reshape(8, -1), descending=last),
    "searchsorted": lambda a, last: pt.searchsorted(a, a, side="right" if last else "left"),
    "searchsorted here": lambda a, last: pt.searchsorted(
        np.arange(3), a, side="right" if last else "left"
    ),
    "digitize": lambda a, last: pt.digitize(a, [1.0, 2.0 + last]),
    "histogram": lambda a, last: pt.histogram(a, range=(0, 5 + last))[0],
    "bounds": lambda a, last: pt.histogram(a, [0, 2 + last, 5])[0],
    "histogram2d": lambda a, last: pt.histogram2d(a, a, [[0, 2 + last, 5], [0, 5]])[0],
    "quantile": lambda a, last: pt.quantile(a, 0.3 + last / 10),
    "quantile of rows": lambda a, last: pt.quantile(a.reshape(8, -1), 0.3 + last / 10, axis=1),
    "method": lambda a, last: pt.quantile(
        a.reshape(8, -1), 0.3, axis=1, method="lower" if last else "higher"
    ),
    "nanmedian": lambda a, last: (pt.nanmedian if last else pt.median)(a.reshape(8, -1), axis=1),
    "unique": lambda a, last: pt.unique(a, equal_nan=last),
    "sets": lambda a, last: pt.intersect1d(a, a[:5] + 0, assume_unique=last),
    "isin": lambda a, last: pt.isin(a, [1.0, 2.0 + last]),
    "packbits": lambda a, last: pt.packbits(a > 3, bitorder="little" if last else "big"),
    "interp": lambda a, last: pt.interp(a, [0, 9], [0, 1], period=2 if last else None),
    "accumulate": lambda a, last: (pt.maximum if last else pt.minimum).accumulate(a),
    "matrix_rank": lambda a, last: pt.linalg.matrix_rank(_square(a), rtol=0.5 if last else None),
    "function at": lambda a, last: _changed(pt.multiply if last else pt.add, a, [1, 30], 5.0),
    "positions at": lambda a, last: _changed(pt.add, a, [1, 30 + last], 5.0),
    "operand at": lambda a, last: _changed(pt.add, a, [1, 30], 5.0 + last),
    "reduce": lambda a, last: pt.subtract.reduce(a.reshape(8, -1), axis=1, initial=1.0 + last),
    "choice": lambda a, last: pt.random.default_rng(1).choice(a, 5, replace=last),
    "distribution": lambda a, last: _drawn("standard_normal" if last else "random"),
}


def _changed(function: Any, a: Any, positions: list[int], by: float) -> Any:
    function.at(a, np.asarray(positions), by)
    return a


def _drawn(name: str) -> Any:
    return getattr(pt.random.default_rng(1), name)(24)


def options(team: pt.Team) -> None:
    """Options that differ are told too, at the latest when ranks meet for the result."""
    for name, work in OPTIONS.items():
        told = attempt(partial(_looked_at, work, team, team.rank == team.size - 1))
        if team.size == 1:
            assert told is None, (name, told)
            continue
        assert told is not None, name
        assert told[0] == "MismatchError", (name, told)
        assert f"rank {team.size - 1}" in told[3], (name, told)
        _looked_at(work, team, False)
        assert team.allgather_data(team.rank) == list(range(team.size))


def _looked_at(work: Callable[[Any, bool], Any], team: pt.Team, is_last: bool) -> None:
    a: Any = pt.arange(48.0) + 0
    a.sync()
    made = work(a, is_last)
    for one in made if isinstance(made, tuple) else [made]:
        one.gather()
    # Where a rank has the whole result, the next meeting tells.
    team.barrier()


def options_alone(team: pt.Team) -> None:
    """With arrays that it has whole, a rank may do what it likes."""
    x = np.arange(24.0).reshape(4, 6)
    if team.rank == team.size - 1:
        pt.sort(pt.asarray(x), descending=True)
        pt.fft.fft(pt.asarray(x), norm="ortho")
        pt.quantile(pt.asarray(x), 0.25)
        pt.searchsorted(pt.asarray(x[0]), pt.asarray(x[1]), side="right")
        pt.unique(pt.asarray(x), equal_nan=False)
        pt.histogram(pt.asarray(x), range=(0, 3))
        pt.isin(pt.asarray(x), [3.0])
        pt.sort(pt.asarray(x), axis=0)
        pt.take(pt.asarray(x), [0, 1], axis=1)
        pt.quantile(pt.asarray(x), [0.25, 0.5], axis=1)
    team.barrier()


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


BODIES = (no_exchange, pickled, differing, options, options_alone)
