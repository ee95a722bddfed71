"""Windows: arrays of one rank that others read without its help, on threads and processes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import bodies_window as windows
import bodies_window_faults as faults
import bodies_window_soak as soaks
import engines
import pytest
from engines import Case
from job import Job
from places import Place, launchers
from rank import HUNG

SECONDS = 60.0

# What a process may grow by in thousands of turns; a leak of one small array per turn is more.
NOISE_BYTES = 16 << 20

pytestmark = pytest.mark.timeout(600)

PLACES = [Place("threads", n) for n in (1, 3)]
PLACES += [Place("mpi", 3, launcher) for launcher in launchers()]
PLACES += [Place("mpi", n, launchers()[0]) for n in (1, 2, 5)]
PLACES.append(Place("mpi", 3, launchers()[0], shared=False))

# Whether arrays lie where neighbours can map them, and whether others are read where they are.
MEMORIES = (("plain", True), ("plain", False), ("warm", True))
ON_MEMORIES = (windows.reads, windows.replaced, windows.written)
ALONE = (
    windows.an_error_of_the_view_is_its_own,
    windows.refused,
    windows.mismatched,
    windows.read_while_the_owner_computes,
    windows.subteams,
    windows.unserved,
    faults.forked,
    faults.waits,
)


def named(body: Callable[..., Any], *args: Any, check: Any = None) -> Case:
    words = [body.__name__.replace("_", " "), *(str(arg) for arg in args)]
    return Case(", ".join(words), body, args, check)


def is_flat(results: list[tuple[int, int]], *args: Any) -> None:
    """No rank has grown."""
    for rank, (n_bytes, n_files) in enumerate(results):
        assert n_bytes < NOISE_BYTES, (rank, results)
        # Rings and mappings of teams may come late.
        assert n_files <= 4, (rank, results)


CASES = [named(body, *memory) for body in ON_MEMORIES for memory in MEMORIES]
CASES += [named(windows.closed, how) for how in ("close", "drop")]
CASES += [named(body) for body in ALONE]
CASES += [named(soaks.soak, *memory, check=is_flat) for memory in MEMORIES]
CASES.append(named(soaks.many_windows, check=is_flat))


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_windows(
    place: Place,
    case: Case,
    request: pytest.FixtureRequest,
) -> None:
    outcome = engines.settled(request, place, case, SECONDS)
    if case.check is not None:
        case.check(outcome.results, *case.args)


def test_an_interrupt_ends_the_waiting() -> None:
    case = named(faults.interrupted)
    outcome = engines.run(Place("mpi", 2, launchers()[0]), [case], SECONDS)[case.name]
    assert not outcome.failure, outcome.failure
    assert outcome.results == ["wrote", "interrupted"]


def test_an_owner_that_is_stopped_is_waited_for_up_to_the_deadline() -> None:
    case = named(faults.halted)
    place = Place("mpi", 2, launchers()[0], shared=False)
    outcome = engines.run(place, [case], SECONDS)[case.name]
    assert not outcome.failure, outcome.failure
    told, waited, then = outcome.results[1]
    assert told[:3] == ("DeadlineError", "deadline", 0), told
    assert 3 <= waited < 5, waited
    assert then == "interrupted"


@pytest.mark.parametrize("how", ["reading", "writing"])
@pytest.mark.parametrize("memory", MEMORIES, ids=str)
def test_readers_are_told_of_a_death(memory: tuple[str, bool], how: str, tmp_path: Path) -> None:
    """The launcher does not help: it neither tells them nor ends them."""
    launcher = launchers()[0]
    command = (*launcher.command, "-disable-auto-cleanup")
    place = Place("mpi", 3, replace(launcher, command=command))
    orders = [(0, faults.dies, (*memory, how))]
    ended = Job(place, tmp_path, orders, seconds=SECONDS, is_bare=True).wait()
    assert not ended.stacks, f"a rank hung\n{ended.words()}"
    assert ended.status not in (None, HUNG), ended.words()
    assert ended.left_processes == []
    for rank in (0, 2):
        _, (told, reach, seconds) = ended.results[0, rank]
        assert told[:3] == ("RemoteError", "rank-left", 1), told
        assert reach == told[3]
        assert seconds < 0.3 + 5, f"noticed after {seconds} s"


@pytest.mark.parametrize("place", [Place("threads", 3), Place("mpi", 3, launchers()[0])], ids=str)
def test_readers_are_told_when_a_program_ends(place: Place, tmp_path: Path) -> None:
    ended = Job(place, tmp_path, [(0, faults.leaves, ())], seconds=SECONDS, is_bare=True).wait()
    assert not ended.stacks, f"a rank hung\n{ended.words()}"
    for rank in (0, 2):
        _, told = ended.results[0, rank]
        assert told[:3] == ("TeamError", "window-closed", 1), told
