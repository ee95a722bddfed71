"""NumPy's ways to treat floating point errors: they concern NumPy's arrays and users' functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy
import pytest

import partita

# Their types are stricter than what tests give to them.
np: Any = numpy
pt: Any = partita

pytestmark = pytest.mark.filterwarnings("ignore::partita.GatherWarning")

MOST = np.finfo("f8").max
# Only the last rank has what overflows, is too small or divided by zero.
ROW = np.r_[np.linspace(1, 2, 12), MOST, -MOST, 5e-324, 0.0, 1e-200, 1e200]
TABLE = ROW.reshape(6, 3)

WORKS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "ldexp": lambda m, v, x: m.ldexp(v, 1100),
    "fmod": lambda m, v, x: m.fmod(v, v[::-1]),
    "spacing": lambda m, v, x: m.spacing(v),
    "i0": lambda m, v, x: m.i0(v / 1e200),
    "divide.reduce": lambda m, v, x: m.divide.reduce(x, axis=1),
    "multiply.at": lambda m, v, x: _changed(m.multiply.at, v),
    "divide.at": lambda m, v, x: _changed(m.divide.at, v),
    "median": lambda m, v, x: m.median(v),
    "lines": lambda m, v, x: m.median(x, axis=1),
    "quantile": lambda m, v, x: m.quantile(v, [0.1, 0.9]),
    "histogram": lambda m, v, x: m.histogram(v, bins=5, range=(-1, 3))[0],
    "hypot": lambda m, v, x: m.hypot.accumulate(v),
    "fft": lambda m, v, x: m.fft.ifft(m.where(abs(x) > 10, 5e-324, x), axis=1),
    "bincount": lambda m, v, x: m.bincount(m.arange(18) % 2, weights=v),
    "interp": lambda m, v, x: m.interp(v, m.arange(3.0), m.arange(3.0) * 1e300),
}


def _changed(at: Callable[..., None], v: Any) -> Any:
    made = v.copy()
    at(made, [1, 12, 13, 14], 1e-300)
    return made


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_no_rank_raises_for_what_another_does_not_have(n_ranks: int) -> None:
    def body(_: Any) -> None:
        v, x = pt.asarray(ROW, "block"), pt.asarray(TABLE, "block")
        for name, work in WORKS.items():
            with np.errstate(all="ignore"):
                wanted = work(np, ROW, TABLE)
            with np.errstate(all="raise"):
                found = work(pt, v, x).gather()
            np.testing.assert_allclose(found, wanted, rtol=1e-12, err_msg=name)

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_users_functions_raise_as_the_user_wants_it(n_ranks: int) -> None:
    calls: list[Callable[[Any, Any], Any]] = [
        lambda v, x: pt.vectorize(lambda a: a * np.float64(4.0))(v),
        lambda v, x: pt.vectorize(lambda a: a.max() * 4.0, signature="(n)->()")(x),
        lambda v, x: pt.apply_along_axis(lambda a: a * 4.0, 1, x),
    ]

    def body(team: Any) -> None:
        v, x = pt.asarray(ROW, "block"), pt.asarray(TABLE, "block")
        for call in calls:
            with np.errstate(all="raise"), pytest.raises((FloatingPointError, pt.RemoteError)):
                call(v, x)
            with np.errstate(all="ignore"):
                call(v, x)
        assert team.allgather_data(team.rank) == list(range(team.size))

    pt.spmd(body, n_ranks)
