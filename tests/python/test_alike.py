"""Arrays of NumPy that every rank has whole, on threads and processes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import bodies_alike
import engines
import pytest
from engines import Case
from places import Place, launchers

PLACES = [Place("threads", n) for n in (1, 2, 3)] + [Place("mpi", 2, launchers()[0])]


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_whole_arrays_cost_nothing_and_are_compared(place: Place) -> None:
    found = engines.run(place, [Case(body.__name__, body) for body in bodies_alike.BODIES])
    failures = [f"{name}:\n{one.failure}" for name, one in found.items() if one.failure]
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)


def test_the_environment_may_ask_for_all_to_be_compared() -> None:
    source = "import bodies_alike, partita; partita.spmd(bodies_alike.checked, 2)"
    environment = {**os.environ, "PARTITA_CHECK": "1"}
    where = str(Path(__file__).parent)
    command = [sys.executable, "-c", source]
    subprocess.run(command, env=environment, timeout=60, check=True, cwd=where)
