"""What goes wrong on one rank is told on every rank: no hang, no wrong result, nothing left behind.

The fourteen faults of raw MPI (a skipped call, four ways to die, different calls, sizes, types,
roots, lengths and orders) and more, on threads and under every launcher of MPI on this machine.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import bodies_deaths as deaths
import bodies_faults as faults
import engines
import pytest
from bodies_deaths import BAD
from bodies_faults import FAULTS, FAULTS_OF_PROCESSES, PLANS
from bodies_refusals import Told, attempt
from engines import Case
from job import Ended, Job
from odd_errors import ODD
from places import Place, launchers
from rank import HUNG

import partita as pt

# Long enough for every fault on a busy machine, shorter than the deadline of a team: whoever waits
# for the deadline hangs.
SECONDS = 15.0
N_JOBS_AT_ONCE = 4

# The first test of a place runs all of them; each fault has a limit of its own.
pytestmark = pytest.mark.timeout(900)


def places(n_ranks: int) -> list[Place]:
    """Both engines, under every launcher, and without shared memory."""
    found = [Place("threads", n_ranks)]
    found += [Place("mpi", n_ranks, launcher) for launcher in launchers()]
    return [*found, Place("mpi", n_ranks, launchers()[0], shared=False)]


PLACES = [*places(3), *(Place("threads", n) for n in (2, 5)), Place("mpi", 2, launchers()[0])]
PLACES += [Place("mpi", 5, launchers()[0]), Place("mpi", 4, launchers()[0], per_node=2)]


def faults_at(place: Place) -> list[Case]:
    """The faults that can be committed at a place: by the last rank, and by the first."""
    known = FAULTS if place.engine == "threads" else FAULTS | FAULTS_OF_PROCESSES
    return [
        Case(f"{name}, rank {bad % place.n_ranks}", faults.survive, (name, bad))
        for name, (_, _, least) in known.items()
        for bad in (-1, 0)
        if place.n_ranks >= least
    ]


@pytest.mark.parametrize(
    ("place", "case"), [(place, case) for place in PLACES for case in faults_at(place)], ids=str
)
def test_a_fault_is_told_and_the_team_works_on(
    place: Place,
    case: Case,
    request: pytest.FixtureRequest,
) -> None:
    outcome = engines.settled(request, place, case, SECONDS)
    name, bad = case.args
    check_told(name, bad % place.n_ranks, [told for told, _, _ in outcome.results])
    assert all(goes_on for _, goes_on, _ in outcome.results)


def check_told(name: str, bad: int, all_told: list[Told]) -> None:
    """What every rank was told of a fault on one of them."""
    _, wanted, _ = (FAULTS | FAULTS_OF_PROCESSES)[name]
    n_ranks = len(all_told)
    for rank, told in enumerate(all_told):
        kind = wanted.bad if rank == bad else wanted.others
        if kind == ("", ""):
            assert told is None, (rank, told)
            continue
        assert told is not None, f"rank {rank} was told nothing"
        assert told[:2] == kind, (rank, told)
        for word in wanted.words:
            assert word in told[3], (rank, told)
        if kind[0] in ("RemoteError", "DeadlineError"):
            assert told[2] == bad, (rank, told)
        if kind[0] == "MismatchError":
            check_mismatch(name, bad, n_ranks, told)
    if wanted.bad[0] == "MismatchError":
        assert len({told[3] for told in all_told if told is not None}) == 1


def check_mismatch(name: str, bad: int, n_ranks: int, told: tuple[Any, ...]) -> None:
    """Both sides are named, with their ranks."""
    text = told[3]
    if told[1] == "teams-differ":
        pair = [bad, (bad + 1) % n_ranks]
        assert f"rank {bad} waits in" in text
        for team in (pair, list(range(n_ranks))):
            assert f"on the team {team} " in text, text
        return
    assert "rank 0 " in text
    assert f"rank {bad or 1} " in text, text
    assert told[2] == (bad or 1), told
    if name in PLANS:
        for plan in PLANS[name]:
            assert plan(n_ranks).fingerprint in text, text
    elif told[1] == "plans-differ":
        assert len(set(re.findall(r"\b[0-9a-f]{16}\b", text))) == 2, text


def two_at_once(team: Any, which: str) -> Any:
    """Faults that are nobody's alone; see `test_faults_of_several_ranks`."""
    fault = {"two raise": faults.two_raise, "other team": faults.other_team}[which]
    told = attempt(lambda: fault(team, team.size - 2))
    return told, faults.works(team)


@pytest.mark.parametrize("place", [*places(4), Place("threads", 8)], ids=str)
def test_faults_of_several_ranks(place: Place) -> None:
    cases = [Case(which, two_at_once, (which,)) for which in ("two raise", "other team")]
    found = engines.run(place, cases, SECONDS)
    for case in cases:
        assert not found[case.name].failure, found[case.name].failure
    n, bad = place.n_ranks, place.n_ranks - 2
    for rank, (told, _) in enumerate(found["two raise"].results):
        if rank in (bad, bad + 1):
            assert told[0] == "OSError"
        else:
            # Threads agree on the lowest of those that failed; of processes, the one is named
            # whose note comes first.
            named = (bad,) if place.engine == "threads" else (bad, bad + 1)
            assert told[:2] == ("RemoteError", "rank-raised"), told
            assert told[2] in named, told
            assert f"disk full on {told[2]}" in told[3]
    members = [*range(1, n), 0]
    for told, _ in found["other team"].results:
        assert told[:2] == ("MismatchError", "teams-differ"), told
        assert f"rank {bad} waits in barrier on the team {members[::-1]}" in told[3], told


@dataclass(frozen=True)
class Death:
    """A body that ends a rank, and what is wanted of the job."""

    name: str
    body: Callable[..., Any]
    args: tuple[Any, ...] = ()
    told: tuple[str, str] | None = None
    """(reason, words) that every surviving rank is told; none if the launcher may end them."""
    succeeds: bool = False
    """Whether the job's status is 0."""
    in_error: tuple[str, ...] = ()
    """What the job writes to its standard error."""
    interrupt: bool = False
    """Whether the launcher gets Ctrl-C once all ranks are ready."""
    finalizes: bool = True
    """Whether MPI is ended properly: no process dies."""

    def __str__(self) -> str:
        return self.name.replace(" ", "-")


LEFT = ("rank-left", "")
BOOM = ("rank-left", "ValueError: boom")
EXIT = ("rank-left", "SystemExit: 3")

DEATHS = [
    *(
        Death(f"{how} in a call", deaths.dies_before, (how,), finalizes=False)
        for how in ("exit", "kill", "segfault", "abort")
    ),
    *(
        Death(f"{how} while moving", deaths.dies_while_moving, (how,), finalizes=False)
        for how in ("exit", "kill")
    ),
    Death("sys.exit", deaths.dies_before, ("sys.exit",), EXIT),
    Death("sys.exit beside steps", deaths.dies_beside_steps, ("sys.exit",), EXIT),
    Death("skips the call and ends", deaths.ends_early, (), LEFT, succeeds=True),
    Death("ends before data moves", deaths.ends_early_while_moving, (), LEFT, succeeds=True),
    Death("ends while others compute", deaths.ends_while_others_compute, (), LEFT, succeeds=True),
    Death("raises", deaths.raises, (), BOOM, in_error=("ValueError: boom",)),
    Death(
        "raises, nobody catches", deaths.raises_and_nobody_catches, in_error=("ValueError: boom",)
    ),
    Death(
        "raises while moving", deaths.raises_while_moving, (), BOOM, in_error=("ValueError: boom",)
    ),
    Death("two raise", deaths.two_raise_uncaught, (), ("rank-left", f"ValueError: boom on {BAD}")),
    Death("panics", deaths.panics, (), ("rank-left", "Panic: boom"), in_error=("Panic: boom",)),
    *(
        Death(f"raises oddly, {name}", deaths.raises_oddly, (name,), ("rank-left", ODD[name][2][0]))
        for name in ("half a character", "no text", "no attributes", "too deep")
    ),
    *(
        Death(f"Ctrl-C, {body.__name__}".replace("_", " "), body, interrupt=True, finalizes=False)
        for body in (deaths.waits_in_a_call, deaths.waits_in_python, deaths.moves_for_long)
    ),
    Death("leaves a plan", deaths.leaves_a_plan, succeeds=True),
    Death("leaves a thread", deaths.leaves_a_thread, succeeds=True),
    Death("leaves teams", deaths.leaves_teams, succeeds=True),
]

# Where a rank is a process of its own.
DEATHS_OF_PROCESSES = [
    Death("one is interrupted", deaths.one_is_interrupted, (), ("rank-raised", "interrupted")),
]


@pytest.fixture(scope="module")
def endings() -> dict[tuple[Place, Death], Ended]:
    """Jobs that have ended; those of a place come all at once."""
    return {}


def die(place: Place, death: Death, folder: Path) -> Ended:
    """One job, from its start to its end."""
    job = Job(place, folder, [(0, death.body, death.args)], seconds=SECONDS, is_bare=True)
    if death.interrupt:
        interrupt(job, place)
    return job.wait()


def die_together(
    place: Place, all_deaths: list[Death], folders: pytest.TempPathFactory
) -> dict[tuple[Place, Death], Ended]:
    """Several jobs at once: most of their time they wait."""
    # Made once, before several ask for it at the same time.
    folders.getbasetemp()
    with ThreadPoolExecutor(N_JOBS_AT_ONCE) as pool:
        ended = list(pool.map(lambda death: die(place, death, folders.mktemp("job")), all_deaths))
    return {(place, death): end for death, end in zip(all_deaths, ended, strict=True)}


def deaths_at(place: Place) -> list[Death]:
    return DEATHS if place.engine == "threads" else DEATHS + DEATHS_OF_PROCESSES


@pytest.mark.parametrize(
    ("place", "death"),
    [(place, death) for place in places(3) for death in deaths_at(place)],
    ids=str,
)
def test_a_death_ends_the_job(
    place: Place,
    death: Death,
    endings: dict[tuple[Place, Death], Ended],
    tmp_path_factory: pytest.TempPathFactory,
    request: pytest.FixtureRequest,
) -> None:
    if (place, death) not in endings:
        deaths = engines.chosen(request, place, "death")
        endings.update(die_together(place, deaths, tmp_path_factory))
    ended = endings[place, death]
    check_ended(ended, place, death)
    results = {rank: value for (_, rank), (_, value) in ended.results.items()}
    check_survivors(results, place, death, ended)


def interrupt(job: Job, place: Place) -> None:
    """Ctrl-C to the launcher when all ranks are ready; to the process where ranks are threads."""
    end = time.monotonic() + SECONDS
    while len(list(job.folder.glob("ready-*"))) < place.n_ranks:
        assert time.monotonic() < end, "the ranks did not come"
        time.sleep(0.01)
    time.sleep(0.2)
    os.kill(job.process.pid, signal.SIGINT)


def check_ended(ended: Ended, place: Place, death: Death) -> None:
    """The job came to its end by itself, with the right status, and left nothing."""
    assert not ended.stacks, f"a rank hung\n{ended.words()}"
    assert ended.status is not None, f"the launcher hung\n{ended.words()}"
    assert ended.status != HUNG, ended.words()
    assert (ended.status == 0) == death.succeeds, ended.words()
    for words in death.in_error:
        assert words in ended.err, ended.words()
    if death.succeeds:
        assert "panicked" not in ended.err, ended.err
        assert "Traceback" not in ended.err, ended.err
    assert ended.left_processes == []
    assert ended.left_files == []
    if death.finalizes:
        assert ended.left_by_mpi == []


def check_survivors(results: dict[int, Any], place: Place, death: Death, ended: Ended) -> None:
    """No rank went on as if nothing had happened."""
    survivors = [rank for rank in range(place.n_ranks) if rank != BAD]
    if death.name == "two raise":
        survivors.remove(BAD + 1)
    if death.told is None:
        if not death.succeeds:
            for told in results.values():
                assert told is not None, ended.words()
                assert told[0] in ("RemoteError", "TeamError"), told
        return
    reason, words = death.told
    for rank in survivors:
        assert rank in results, f"rank {rank} left no word\n{ended.words()}"
        told = results[rank]
        assert told is not None, f"rank {rank} was told nothing"
        assert told[:3] == ("RemoteError", reason, BAD), told
        assert words in told[3], told


def patient(shared: bool) -> Place:
    """A place whose launcher lets processes live when another has died."""
    launcher = launchers()[0]
    command = (*launcher.command, "-disable-auto-cleanup")
    return Place("mpi", 3, replace(launcher, command=command), shared=shared)


@pytest.mark.parametrize("body", ["call", "moving", "steps"])
@pytest.mark.parametrize("shared", [True, False], ids=["memory", "messages"])
def test_survivors_notice_a_death_within_a_second_and_end(
    shared: bool, body: str, tmp_path: Path
) -> None:
    """The launcher does not help: it neither tells them nor ends them."""
    place = patient(shared)
    # After a signal it would end them in spite of its option.
    orders = [(0, deaths.notices, (body, "exit"))]
    job = Job(place, tmp_path, orders, seconds=SECONDS, is_bare=True)
    ended = job.wait()
    assert not ended.stacks, f"a rank hung\n{ended.words()}"
    assert ended.status not in (None, HUNG), ended.words()
    assert ended.left_processes == []
    for rank in (0, 2):
        check_noticed(ended, rank)


def check_noticed(ended: Ended, rank: int) -> None:
    """A survivor was told in time, and is told so again when it calls again."""
    assert (0, rank) in ended.results, f"rank {rank} left no word\n{ended.words()}"
    _, (told, seconds, again) = ended.results[0, rank]
    assert told[:3] == again[:3] == ("RemoteError", "rank-left", BAD), (told, again)
    # Until it dies it takes a moment, and the machine may be busy.
    assert seconds < 0.3 + 1.5, f"noticed after {seconds} s"


OF_MPI4PY = """
import os, time
from mpi4py import MPI
import partita as pt

team = pt.world()
team.barrier()
if team.rank == 1:
    os._exit(3)
try:
    team.barrier()
except pt.RemoteError as error:
    print(error.reason, flush=True)
"""


def test_survivors_end_where_mpi4py_started_mpi(tmp_path: Path) -> None:
    """mpi4py ends MPI when the interpreter has ended, and would wait for the dead."""
    script = tmp_path / "script.py"
    script.write_text(OF_MPI4PY)
    place = patient(shared=True)
    command, environment = place.command(str(script)), place.environment()
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    assert done.stdout.count("rank-left") == 2, done.stdout + done.stderr


@pytest.mark.parametrize("place", places(3), ids=str)
def test_a_plan_under_way_outlives_an_interrupt_and_its_object(place: Place) -> None:
    cases = [Case("broken off", faults.broken_off), Case("left", faults.left_under_way)]
    outcomes = engines.run(place, cases, SECONDS)
    assert not any(one.failure for one in outcomes.values()), outcomes
    told = [None if place.engine == "threads" else "KeyboardInterrupt", None, None]
    assert outcomes["broken off"].results == [(one, True, True) for one in told]
    assert outcomes["left"].results == [True] * 3


def raises_at_length(team: Any) -> Any:
    """One rank raises an exception whose message has 50 MB."""
    start = time.monotonic()
    told = attempt(lambda: faults.raises_with(team, team.size - 1, "x" * 50_000_000))
    seconds = time.monotonic() - start
    words = (
        None if told is None else (*told[:3], told[3][:200], len(told[3]), "left out" in told[3])
    )
    return words, seconds, faults.works(team)


@pytest.mark.parametrize("place", places(3), ids=str)
def test_a_long_message_is_cut_for_the_others(place: Place) -> None:
    outcome = engines.run(place, [Case("long", raises_at_length)], SECONDS)["long"]
    assert not outcome.failure, outcome.failure
    for rank, (told, seconds, _) in enumerate(outcome.results):
        assert seconds < 2.0, f"rank {rank} took {seconds} s"
        if rank == place.n_ranks - 1:
            assert told[0] == "OSError"
            assert told[4] == 50_000_000
            continue
        assert told[:3] == ("RemoteError", "rank-raised", place.n_ranks - 1)
        assert "OSError: xxx" in told[3]
        assert told[4] < 10_000
        assert told[5], "it does not say that something is missing"


def in_a_part(team: Any, which: str) -> Any:
    """Faults of the second rank of a team of two, which is rank 1 of the world."""
    pair = team.subteam([2, 1])
    if not pair.active:
        return None
    hasty, is_bad = pair.with_deadline(0.5), team.rank == 1
    if which == "late":
        # Who waited elsewhere for the other would be told of that instead.
        if is_bad:
            time.sleep(1.0)
        told = None if is_bad else attempt(hasty.barrier)
        team.subteam([1, 2]).barrier()
        return attempt(pair.barrier) if is_bad else told
    if which == "raises":
        return attempt(lambda: faults.raises_with(pair, 1, "disk full"))
    return attempt(pair.barrier if is_bad else lambda: pair.allgather_data(1))


@pytest.mark.parametrize("place", places(3), ids=str)
def test_errors_of_a_part_name_ranks_of_both(place: Place) -> None:
    cases = [Case(which, in_a_part, (which,)) for which in ("late", "raises", "differs")]
    found = engines.run(place, cases, SECONDS)
    for case in cases:
        assert not found[case.name].failure, found[case.name].failure
    second, first = "rank 1", "rank 0 of this team (rank 2 of the world)"
    late, raised, differs = (found[case.name].results[2] for case in cases)
    assert late[:3] == ("DeadlineError", "deadline", 1)
    assert f"{second} did not come" in late[3], late
    assert raised[:3] == ("RemoteError", "rank-raised", 1)
    assert f"{second} failed" in raised[3], raised
    assert differs[0] == "MismatchError"
    assert f"{first} has allgather_data, {second} has barrier" in differs[3], differs


PENDING = """
import threading, time
import partita as pt

def body(team):
    if team.rank:
        team.barrier()
    time.sleep(60)

threading.Thread(target=pt.spmd, args=(body, 3), daemon=True).start()
time.sleep(0.3)
"""


def test_a_process_ends_with_threads_in_a_call() -> None:
    """The main program ends while ranks, threads of it, wait for each other."""
    done = subprocess.run(
        [sys.executable, "-c", PENDING], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_one_plan_for_two_things_is_told() -> None:
    def body(team: pt.Team) -> bool:
        plan = faults.ring(team.size, 5)
        with pytest.raises(pt.MismatchError, match=r"0 has apples, .* has pears, "):
            faults.run(plan, team, "pears" if team.rank == 2 else "apples")
        faults.run(plan, team, "apples")
        return faults.works(team)

    assert all(pt.spmd(body, 3))
