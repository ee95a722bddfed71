"""Ranks that do not do the same with sparse tensors are told, on threads and processes."""

from __future__ import annotations

import bodies_sparse_alike
import engines
import pytest
from engines import Case
from places import Place, launchers

PLACES = [Place("threads", n) for n in (1, 2, 3)]
PLACES += [Place("mpi", 2, launchers()[0]), Place("mpi", 3, launchers()[0], shared=False)]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_ranks_that_differ_are_told(place: Place) -> None:
    bodies = bodies_sparse_alike.BODIES
    found = engines.run(place, [Case(body.__name__, body) for body in bodies])
    failures = [f"{name} at {place}:\n{one.failure}" for name, one in found.items() if one.failure]
    assert not failures, "\n".join(failures)
