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
for body in (bodies.sets, bodies.places):
    CASES += [
        Case(f"{body.__name__} {dtype}", body, (dtype,))
        for dtype in ("float32", "complex128", "bool")
    ]
for dtype in ("float32", "uint64"):
    CASES += [Case(f"statistics {dtype}", bodies_counting.statistics, (dtype,))]


@pytest.fixture(autouse=True)
def few_elements() -> Iterator[None]:
    """The bodies let smaller arrays be cut; afterwards all is as before."""
    before = rows.FEW_ELEMENTS
    yield
    rows.FEW_ELEMENTS = before


def chosen(place: Place) -> list[Case]:
    """All bodies on 1 and 2 threads, half of the types on 3 and half on 4; a few on processes."""
    n_general = 6
    if place.engine == "mpi":
        return CASES[: n_general - 1]
    if place.n_ranks < 3:
        return CASES
    return CASES[:n_general] + CASES[n_general + place.n_ranks % 2 :: 2]


@pytest.mark.timeout(300)
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_beside_numpy(place: Place) -> None:
    found = engines.run(place, chosen(place))
    failures = [f"{name} at {place}:\n{one.failure}" for name, one in found.items() if one.failure]
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)
