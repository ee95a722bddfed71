"""The same bodies on threads and on MPI, with 1, 2, 3, 4, 5 and 8 ranks."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import bodies_buffers
import bodies_data
import bodies_handover
import bodies_memory
import bodies_moves
import bodies_refusals
import bodies_sums
import bodies_teams
import engines
import pytest
from engines import Case
from places import Launcher, Place, launchers, matrix

import partita as pt

CASES: list[Case] = [
    *bodies_moves.CASES,
    *bodies_sums.CASES,
    *bodies_buffers.CASES,
    *bodies_refusals.CASES,
    *bodies_handover.CASES,
    *bodies_teams.CASES,
    *bodies_data.CASES,
    *bodies_memory.CASES,
]


# The first test of a place runs all of them; each body has a limit of its own.
pytestmark = pytest.mark.timeout(900)


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("place", matrix(), ids=str)
def test_engine(
    place: Place,
    case: Case,
    request: pytest.FixtureRequest,
) -> None:
    outcome = engines.settled(request, place, case)
    if case.check is not None:
        case.check(outcome.results, *case.args)


def loaded_libraries(team: pt.Team) -> list[str]:
    """The MPI libraries in this process."""
    lines = Path("/proc/self/maps").read_text().splitlines()
    paths = {line.split(maxsplit=5)[5] for line in lines if "/libmpi" in line}
    return [team.engine, *sorted(str(Path(path).resolve()) for path in paths)]


@pytest.mark.parametrize("launcher", launchers(), ids=lambda launcher: launcher.name)
def test_each_launcher_meets_its_own_library(launcher: Launcher) -> None:
    place = Place("mpi", 2, launcher)
    found = engines.run(place, [Case("libraries", loaded_libraries)])["libraries"]
    assert not found.failure, found.failure
    inside = Path(sys.prefix).resolve()
    for engine, *libraries in found.results:
        assert engine == "mpi"
        main = [path for path in libraries if launcher.library in path]
        assert main, libraries
        assert (launcher.name == "mpi") == Path(main[0]).is_relative_to(inside), main


def test_a_launcher_was_found() -> None:
    assert not launchers()[0].missing, "no mpiexec beside Python; make build brings one"


def bad_body(team: pt.Team, what: str) -> int:
    """Fails on one rank, in one of the ways a body can."""
    if what == "hangs" and team.rank == 1:
        # Not for ever: threads that hang would stay until the end of all tests.
        time.sleep(6.0)
    if what == "wrong" and team.rank == 1:
        raise AssertionError("wrong on purpose")
    team.barrier()
    return team.rank


@pytest.mark.parametrize("engine", ["threads", "mpi"])
def test_the_helper_tells_failures_and_hangs(engine: str) -> None:
    """A test of the tests: a failing body is told with its rank, and the next one runs."""
    place = Place(engine, 3, launchers()[0] if engine == "mpi" else None)
    cases = [Case(what, bad_body, (what,)) for what in ("fine", "wrong", "hangs", "fine again")]
    found = engines.run(place, cases, seconds=3.0)
    assert found["fine"].results == found["fine again"].results == [0, 1, 2]
    assert "wrong on purpose" in found["wrong"].failure
    assert "bad_body" in found["hangs"].failure
    assert "barrier" in found["hangs"].failure
