"""The bodies of sparse arithmetic and solvers on threads and on MPI."""

from __future__ import annotations

import bodies_sparse_computing
import engines
import pytest
from places import Place, launchers

PLACES = [Place("threads", 3), Place("mpi", 2, launchers()[0]), Place("mpi", 3, launchers()[0])]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_sparse_computing(place: Place) -> None:
    found = engines.run(place, bodies_sparse_computing.CASES)
    failures = [f"{name}:\n{one.failure}" for name, one in found.items() if one.failure]
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)
