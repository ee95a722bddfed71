"""Masks and index arrays on arrays that are spread, on threads and on processes."""

from __future__ import annotations

import bodies_chosen as bodies
import engines
import pytest
from engines import Case
from places import Place, launchers

PLACES = [Place("threads", n) for n in (1, 2, 3, 4)]
PLACES += [Place("mpi", n, launchers()[0]) for n in (2, 3)]


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_beside_numpy(place: Place) -> None:
    cases = [Case(f"keys from {first}", bodies.keys, (first, 100)) for first in (0, 1000)]
    cases += [Case("reshaped", bodies.reshaped), Case("outside", bodies.outside)]
    cases += [Case("little", bodies.moves_little), Case("empty", bodies.masks_without_entries)]
    cases += [Case("many", bodies.many_positions), Case("own", bodies.own_positions)]
    found = engines.run(place, cases)
    failures = [f"{name} at {place}:\n{one.failure}" for name, one in found.items() if one.failure]
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)
