"""Products and linear algebra beside NumPy's, on threads and processes, in several layouts."""

from __future__ import annotations

import bodies_linalg
import bodies_products
import engines
import pytest
from engines import Case
from places import Place, launchers

import partita as pt

BODIES = [*bodies_products.BODIES, *bodies_linalg.BODIES]
PLACES = [Place("threads", n) for n in (1, 2, 3, 4)]
PLACES += [Place("mpi", 2, launchers()[0]), Place("mpi", 3, launchers()[0], shared=False)]


@pytest.mark.timeout(300)
@pytest.mark.filterwarnings("ignore::partita.GatherWarning")
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_linear_algebra_means_what_numpy_means(place: Place) -> None:
    found = engines.run(place, [Case(body.__name__, body) for body in BODIES])
    failures = [f"{name} at {place}:\n{one.failure}" for name, one in found.items() if one.failure]
    assert not failures, "\n".join(failures)


def test_what_gathers_says_so() -> None:
    def body(team: pt.Team) -> None:
        pt.linalg.eigh(pt.eye(70))

    with pytest.warns(pt.GatherWarning, match=r"linalg\.eigh brings all 4,900 elements"):
        pt.spmd(body, 2)
