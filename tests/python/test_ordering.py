"""Sorting, sets, order statistics and counts beside NumPy's, on threads and on processes."""

from __future__ import annotations

from collections.abc import Iterator

import bodies_counting
import bodies_ordering as bodies
import engines
import pytest
from engines import Case
from places import Place, launchers

from partita._algorithms import rows

PLACES = [Place("threads", n) for n in (1, 2, 3, 4)]
PLACES += [Place("mpi", n, launchers()[0]) for n in (2, 3)]

CASES = [Case("long rows", bodies.long_rows), Case("other orders", bodies.other_orders)]
CASES += [Case("counts", bodies_counting.counts), Case("refusals", bodies.refusals)]
CASES += [Case("gathers", bodies.gathers_only_what_it_says)]
CASES += [Case("odd layouts", bodies.odd_layouts)]
CASES += [Case(f"sorts {dtype}", bodies.sorts, (dtype,)) for dtype in bodies.DTYPES]
for dtype in ("float32", "complex128", "bool"):
    CASES += [Case(f"sets {dtype}", bodies.sets, (dtype,))]
    CASES += [Case(f"places {dtype}", bodies.places, (dtype,))]
for dtype in ("float32", "uint64"):
    CASES += [Case(f"statistics {dtype}", bodies_counting.statistics, (dtype,))]


@pytest.fixture(autouse=True)
def few_elements() -> Iterator[None]:
    """The bodies let smaller arrays be cut; afterwards all is as before."""
    before = rows.FEW_ELEMENTS
    yield
    rows.FEW_ELEMENTS = before


@pytest.mark.timeout(300)
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_beside_numpy(place: Place) -> None:
    # Processes cost more than threads: there a few bodies show that what travels arrives.
    few = CASES[:5] if place.engine == "mpi" else CASES
    found = engines.run(place, few)
    failures = [f"{name} at {place}:\n{one.failure}" for name, one in found.items() if one.failure]
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)
