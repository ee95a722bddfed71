"""One way to run a test body on either engine and any number of ranks.

A body is a function `body(team, *args)` at the top of a module, its arguments and its result are
plain values. Threads run in this process. Under MPI many bodies share one launch: each rank runs
them in turn and leaves what they return in files; after a failure the rest runs in a new launch.
Whoever does not come to an end in time has its stacks written and fails.
"""

from __future__ import annotations

import faulthandler
import tempfile
import threading
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from job import Ended, Job
from places import Place

import partita as pt

# Longer than any body takes on a busy machine, shorter than the tests' own limit.
SECONDS = 30.0


@dataclass(frozen=True)
class Case:
    """A body with its arguments, and who judges what all ranks return."""

    name: str
    body: Callable[..., Any]
    args: tuple[Any, ...] = ()
    check: Callable[..., None] | None = None
    """`check(results, *args)`, with the results by rank."""

    def __str__(self) -> str:
        return self.name


@dataclass
class Outcome:
    """What came of a case."""

    results: list[Any] = field(default_factory=list)
    failure: str = ""


def chosen(request: pytest.FixtureRequest, place: Place, name: str) -> list[Any]:
    """What this test has as a parameter at a place in this session; it is run all at once.

    Other tests have cases at the same places: those are theirs to run.
    """
    test = request.function
    items = [one for one in request.session.items if getattr(one, "function", None) is test]
    params = [item.callspec.params for item in items if isinstance(item, pytest.Function)]
    return [one[name] for one in params if one.get("place") == place]


def settled(
    request: pytest.FixtureRequest, place: Place, case: Case, seconds: float = SECONDS
) -> Outcome:
    """How a case ended, with all others of its test at this place; fails the test if it failed."""
    outcomes = request.getfixturevalue("outcomes")
    if (place, case.name) not in outcomes:
        found = run(place, chosen(request, place, "case"), seconds)
        outcomes.update({(place, name): outcome for name, outcome in found.items()})
    outcome: Outcome = outcomes[place, case.name]
    if outcome.failure:
        pytest.fail(outcome.failure, pytrace=False)
    return outcome


def run(place: Place, cases: list[Case], seconds: float = SECONDS) -> dict[str, Outcome]:
    """Run cases at a place; outcomes by name."""
    if place.engine == "threads":
        return {case.name: on_threads(place.n_ranks, case, seconds) for case in cases}
    outcomes: dict[str, Outcome] = {}
    while rest := [case for case in cases if case.name not in outcomes]:
        outcomes |= launch(place, rest, seconds)
    return outcomes


def on_threads(n_ranks: int, case: Case, seconds: float) -> Outcome:
    """A case on threads of this process."""
    outcome = Outcome(failure="it did not end")

    def work() -> None:
        try:
            outcome.results = pt.spmd(case.body, n_ranks, case.args)
            outcome.failure = ""
        except BaseException:
            outcome.failure = traceback.format_exc()

    worker = threading.Thread(target=work, daemon=True)
    worker.start()
    worker.join(seconds)
    if worker.is_alive():
        with tempfile.TemporaryFile("w+") as file:
            faulthandler.dump_traceback(file)
            file.seek(0)
            return Outcome(failure=f"still running after {seconds} s\n{file.read()}")
    return outcome


def launch(place: Place, cases: list[Case], seconds: float) -> dict[str, Outcome]:
    """Cases in one launch, up to the first that fails."""
    with tempfile.TemporaryDirectory() as folder:
        bodies = [(number, case.body, case.args) for number, case in enumerate(cases)]
        ended = Job(place, Path(folder), bodies, seconds=seconds).wait()
    outcomes: dict[str, Outcome] = {}
    for number, case in enumerate(cases):
        outcomes[case.name] = read(ended, number, place.n_ranks)
        if outcomes[case.name].failure:
            return outcomes
    left = ended.left_processes + ended.left_files + ended.left_by_mpi
    if ended.status != 0 or left:
        last = outcomes[cases[-1].name]
        last.failure = f"the launch ended badly, {left} left\n{ended.words()}"
    return outcomes


def read(ended: Ended, number: int, n_ranks: int) -> Outcome:
    """One body's outcome."""
    found = [ended.results.get((number, rank)) for rank in range(n_ranks)]
    failures = [
        f"rank {rank}: {one[1]}"
        for rank, one in enumerate(found)
        if one is not None and one[0] == "failed"
    ]
    silent = [rank for rank, one in enumerate(found) if one is None]
    if silent:
        failures.append(f"ranks {silent} left no result\n{ended.words()}")
    results = [one[1] for one in found if one is not None]
    return Outcome(results, "\n".join(failures))
