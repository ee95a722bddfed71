"""Random movements on both engines; `PARTITA_CASES` says how many in all, `PARTITA_SEED` the first.

Each place runs the same seeds, so shared memory, messages and threads are compared with one model.
"""

from __future__ import annotations

import os

import engines
import generate
import pytest
from bodies_random import movements
from engines import Case
from places import Place, launchers

PLACES = [Place("threads", n) for n in range(1, 6)]
PLACES += [Place("mpi", n, launchers()[0]) for n in range(1, 6)]
PLACES += [Place("mpi", n, launchers()[0], shared=False) for n in range(1, 6)]

FIRST_SEED = int(os.environ.get("PARTITA_SEED", "1"))
# Seeds of one body: few enough to end within its time on a busy machine.
N_TOGETHER = 50


def bodies() -> list[Case]:
    """The seeds of a place, some to a body."""
    n_each = -(-generate.n_cases(300) // len(PLACES))
    firsts = range(FIRST_SEED, FIRST_SEED + n_each, N_TOGETHER)
    counts = [min(N_TOGETHER, FIRST_SEED + n_each - first) for first in firsts]
    return [
        Case(f"seeds-{first}", movements, (first, count))
        for first, count in zip(firsts, counts, strict=True)
    ]


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_random_movements(place: Place) -> None:
    print(f"first seed {FIRST_SEED}, at {place}")
    found = engines.run(place, bodies())
    failures = [f"{name} at {place}:\n{one.failure}" for name, one in found.items() if one.failure]
    if failures:
        pytest.fail("\n".join(failures).replace("PLACE", f"{place}]"), pytrace=False)
