"""What one rank alone has wrong is told to the others, on threads and processes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bodies_sparse_telling
import engines
import numpy as np
import pytest
from engines import Case
from places import Place, launchers
from sparse_cases import raised

import partita as pt
import partita.sparse as ps
from partita.sparse import DistTensor

PLACES = [Place("threads", n) for n in (1, 2, 3)]
PLACES += [Place("mpi", 2, launchers()[0]), Place("mpi", 3, launchers()[0], shared=False)]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_the_others_are_told_and_all_are_in_step(place: Place) -> None:
    bodies = bodies_sparse_telling.BODIES
    found = engines.run(place, [Case(body.__name__, body) for body in bodies])
    failures = [f"{name} at {place}:\n{one.failure}" for name, one in found.items() if one.failure]
    assert not failures, "\n".join(failures)


WARNED: dict[str, Callable[[Any], Any]] = {
    "number": lambda t: t * 1e300,
    "power": lambda t: t**2,
    "astype": lambda t: t.astype("f4"),
    "function": lambda t: np.expm1(t),
    "array": lambda t: t * np.full(4, 1e300),
    "sum": lambda t: t.sum(dtype="f4"),
    "norm": lambda t: t.norm(),
    "norm of lines": lambda t: t.norm(3, axis=0),
    "diagonal": lambda t: t.astype("f4").with_diagonal(1e300),
    "stack": lambda t: ps.vstack([t, t], dtype="f4"),
    "sparse": lambda t: (t * 1.7e8).hypot(t * 1.7e8),
}


@pytest.mark.parametrize("name", WARNED)
@pytest.mark.filterwarnings("error:overflow:RuntimeWarning")
def test_warnings_that_are_errors_on_one_rank_are_told(name: str) -> None:
    def body(team: pt.Team) -> None:
        i = np.arange(4)[team.rank :: 2]
        values = np.array([1.0, 1.0, 1e300, 1e300])[i]
        t = DistTensor.from_coo((4, 4), (i, i), values, team=team, layout="block, *")

        def met() -> None:
            WARNED[name](t)
            team.barrier()

        said = raised(met, RuntimeWarning, pt.RemoteError)
        assert "overflow" in said
        team.barrier()

    pt.spmd(body, ranks=2)


def test_an_error_that_is_told_is_told_once() -> None:
    """However many blocks it leaves, and whatever else ranks do together inside."""
    from partita._team.together import together

    def body(team: pt.Team) -> None:
        def work() -> None:
            if team.rank == 1:
                with team, team:
                    raise KeyError("mine")

        def inside() -> None:
            with team:
                together(team, work)

        assert "mine" in raised(inside, KeyError, pt.RemoteError)
        team.barrier()

    pt.spmd(body, ranks=2)
