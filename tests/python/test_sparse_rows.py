"""Rows of sparse matrices beside SciPy's, on threads and processes, in many layouts."""

from __future__ import annotations

import bodies_sparse_rows
import engines
import pytest
from engines import Case
from places import Place, launchers

PLACES = [Place("threads", n) for n in (1, 2, 3, 4, 5)]
PLACES += [Place("mpi", 2, launchers()[0]), Place("mpi", 3, launchers()[0], shared=False)]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_rows_are_those_of_scipy(place: Place) -> None:
    bodies = bodies_sparse_rows.BODIES
    found = engines.run(place, [Case(body.__name__, body) for body in bodies])
    failures = [f"{name} at {place}:\n{one.failure}" for name, one in found.items() if one.failure]
    assert not failures, "\n".join(failures)
