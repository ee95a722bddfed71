"""Ranks on several hosts: bodies and faults of one host, who shares memory, links that go."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import bodies_deaths as deaths
import bodies_links as links
import engines
import pytest
import test_engines
import test_faults
import test_window
from across import (
    DEADLINE_SECONDS,
    SOON_SECONDS,
    check_clean,
    host_names,
    place_on,
    run_bare,
)
from engines import Case, Outcome
from hosts import Hosts
from job import Job
from places import Place

Made = Callable[[int], Hosts]

# Ranks per host, by the number of hosts.
SPREAD = {2: 2, 3: 1}

pytestmark = pytest.mark.timeout(600)


@pytest.fixture(scope="module")
def outcomes() -> dict[tuple[int, str], Outcome]:
    """What came of cases; those of a test and a number of hosts come all at once."""
    return {}


def settled(
    request: pytest.FixtureRequest, made: Made, n_hosts: int, case: Case, seconds: float
) -> Outcome:
    """How a case ended, with all others of its test on so many hosts."""
    outcomes = request.getfixturevalue("outcomes")
    if (n_hosts, case.name) not in outcomes:
        test = request.function
        items = [one for one in request.session.items if getattr(one, "function", None) is test]
        params = [item.callspec.params for item in items if isinstance(item, pytest.Function)]
        cases = [one["case"] for one in params if one["n_hosts"] == n_hosts]
        place = place_on(made(n_hosts), SPREAD[n_hosts])
        found = engines.run(place, cases, seconds)
        outcomes.update({(n_hosts, name): outcome for name, outcome in found.items()})
        check_clean(made(n_hosts))
    outcome: Outcome = outcomes[n_hosts, case.name]
    if outcome.failure:
        pytest.fail(outcome.failure, pytrace=False)
    return outcome


@pytest.mark.parametrize("n_hosts", SPREAD)
def test_only_ranks_of_one_host_share_memory(n_hosts: int, hosts_of: Made) -> None:
    hosts = hosts_of(n_hosts)
    place, wanted = place_on(hosts, 2), host_names(hosts, 2)
    found = engines.run(place, [Case("neighbours", links.neighbours)])["neighbours"]
    assert not found.failure, found.failure
    assert [name for name, _ in found.results] == wanted
    for name, shares in found.results:
        assert shares == [name == other for other in wanted]
    check_clean(hosts)


def test_what_a_host_wants_comes_to_it_once(hosts_of: Made) -> None:
    """Two ranks on each host want all that rank 0 has."""
    place = place_on(hosts_of(2), 2)
    found = engines.run(place, [Case("brought", links.brought)])["brought"]
    assert not found.failure, found.failure
    (_, at_home), _, *abroad = found.results
    for wanted, received in abroad:
        assert wanted <= received < 1.3 * wanted, (wanted, received)
    assert at_home < 0.3 * wanted, at_home
    check_clean(hosts_of(2))


@pytest.mark.parametrize("case", test_engines.CASES, ids=str)
@pytest.mark.parametrize("n_hosts", SPREAD)
def test_engine(n_hosts: int, case: Case, hosts_of: Made, request: pytest.FixtureRequest) -> None:
    outcome = settled(request, hosts_of, n_hosts, case, engines.SECONDS)
    if case.check is not None:
        case.check(outcome.results, *case.args)


@pytest.mark.parametrize("case", test_window.CASES, ids=str)
@pytest.mark.parametrize("n_hosts", [2])
def test_windows_of_other_hosts(
    n_hosts: int, case: Case, hosts_of: Made, request: pytest.FixtureRequest
) -> None:
    outcome = settled(request, hosts_of, n_hosts, case, test_window.SECONDS)
    if case.check is not None:
        case.check(outcome.results, *case.args)


@pytest.mark.parametrize("case", test_faults.faults_at(Place("mpi", 4)), ids=str)
@pytest.mark.parametrize("n_hosts", [2])
def test_a_fault_is_told_and_the_team_works_on(
    n_hosts: int, case: Case, hosts_of: Made, request: pytest.FixtureRequest
) -> None:
    outcome = settled(request, hosts_of, n_hosts, case, test_faults.SECONDS)
    name, bad = case.args
    names = host_names(hosts_of(n_hosts), SPREAD[n_hosts])
    all_told = [told for told, _, _ in outcome.results]
    test_faults.check_told(name, bad % len(names), all_told)
    assert all(goes_on for _, goes_on, _ in outcome.results)
    for told in all_told:
        if told is not None and told[0] in ("RemoteError", "DeadlineError"):
            assert f"on host {names[told[2]]}" in told[3], told


DEATHS = [
    death
    for death in test_faults.DEATHS
    if death.name
    in (
        "kill in a call",
        "exit while moving",
        "kill while moving",
        "skips the call and ends",
        "raises while moving",
        "Ctrl-C, moves for long",
    )
]


@pytest.mark.parametrize("death", DEATHS, ids=str)
def test_a_death_ends_the_job(death: test_faults.Death, hosts_of: Made, tmp_path: Path) -> None:
    hosts = hosts_of(2)
    place = place_on(hosts, 2)
    ended = test_faults.die(place, death, tmp_path)
    test_faults.check_ended(ended, place, death)
    results = {rank: value for (_, rank), (_, value) in ended.results.items()}
    test_faults.check_survivors(results, place, death, ended)
    if death.told is not None:
        names = host_names(hosts, 2)
        for told in filter(None, results.values()):
            assert f"on host {names[told[2]]}" in told[3], told
    check_clean(hosts, finalized=death.finalizes)


@pytest.mark.parametrize("body", ["call", "moving", "steps"])
@pytest.mark.parametrize(("n_hosts", "n_per_host"), [(2, 2), (2, 3), (3, 1)])
def test_survivors_on_all_hosts_notice_a_death_and_end(
    n_hosts: int, n_per_host: int, body: str, hosts_of: Made, tmp_path: Path
) -> None:
    """The launcher does not help: it neither tells them nor ends them."""
    hosts = hosts_of(n_hosts)
    place = place_on(hosts, n_per_host, "-disable-auto-cleanup")
    # After a signal it would end them in spite of its option.
    orders = [(0, deaths.notices, (body, "exit"))]
    ended = Job(place, tmp_path, orders, seconds=test_faults.SECONDS, is_bare=True).wait()
    assert not ended.stacks, f"a rank hung\n{ended.words()}"
    assert ended.status is not None, f"the launcher hung\n{ended.words()}"
    assert ended.left_processes == []
    for rank in range(place.n_ranks):
        if rank != deaths.BAD:
            test_faults.check_noticed(ended, rank)
    check_clean(hosts, finalized=False)


@pytest.mark.parametrize("bad", [2, 5])
def test_survivors_notice_a_death_of_one_they_never_spoke_to(
    bad: int, hosts_of: Made, tmp_path: Path
) -> None:
    """In barriers of six, ranks 3 and 0 send these nothing."""
    hosts = hosts_of(2)
    place = place_on(hosts, 3, "-disable-auto-cleanup")
    orders = [(0, links.dies_after_barriers, (bad,))]
    ended = Job(place, tmp_path, orders, seconds=test_faults.SECONDS, is_bare=True).wait()
    assert not ended.stacks, f"a rank hung\n{ended.words()}"
    for rank in set(range(6)) - {bad}:
        assert (0, rank) in ended.results, f"rank {rank} left no word\n{ended.words()}"
        _, told = ended.results[0, rank]
        assert told[:3] == ("RemoteError", "rank-left", bad), told
    check_clean(hosts, finalized=False)


@pytest.mark.parametrize(
    ("n_hosts", "which"),
    [
        *((2, which) for which in ("barrier", "moves", "gathers", "sums", "halos")),
        *((3, which) for which in ("data", "moves")),
    ],
)
def test_a_link_goes_down_in_the_middle(
    n_hosts: int, which: str, hosts_of: Made, tmp_path: Path
) -> None:
    """All are told soon after the deadline, those that still reach each other go on, all end."""
    hosts = hosts_of(n_hosts)
    n_per_host = SPREAD[n_hosts]
    names, lost = host_names(hosts, n_per_host), hosts.all[-1]
    survivors = [rank for rank, name in enumerate(names) if name != lost.name]

    def cut() -> None:
        time.sleep(0.3)
        hosts.cut(lost)

    args = (which, DEADLINE_SECONDS, survivors)
    try:
        ended = run_bare(hosts, n_per_host, tmp_path, links.until_cut, args, cut)
    finally:
        hosts.heal(lost)
    assert not ended.stacks, f"a rank hung\n{ended.words()}"
    assert ended.status is not None, f"the launcher hung\n{ended.words()}"
    assert ended.left_processes == [], ended.words()
    for rank, name in enumerate(names):
        assert (0, rank) in ended.results, f"rank {rank} left no word\n{ended.words()}"
        _, (told, seconds, goes_on, seconds_on) = ended.results[0, rank]
        check_cut_off(told, seconds, name, names, lost.name)
        assert goes_on == (name != lost.name)
        # What is on its way to the lost host keeps nobody.
        assert seconds_on < DEADLINE_SECONDS + SOON_SECONDS, (name, seconds_on)
    check_clean(hosts, finalized=False)


def check_cut_off(
    told: tuple[str, str, int, str] | None, seconds: float, own: str, names: list[str], lost: str
) -> None:
    """A rank was told in time, and where those are that did not come."""
    assert told is not None, f"a rank on {own} was told nothing"
    assert told[0] in ("DeadlineError", "RemoteError"), told
    assert seconds < DEADLINE_SECONDS + SOON_SECONDS, (own, seconds, told)
    assert f"on host {names[told[2]]}" in told[3], told
    # Somebody on the other side of the cut is missing.
    beyond = {name for name in names if (name == lost) != (own == lost)}
    if told[0] == "DeadlineError":
        assert any(f"on host {name}" in told[3] for name in beyond), (own, told)


def test_a_job_ends_though_a_link_went_down_that_nobody_used(
    hosts_of: Made, tmp_path: Path
) -> None:
    """MPI would wait for ever for those that it does not reach."""
    hosts = hosts_of(2)
    lost = hosts.all[1]
    try:
        ended = run_bare(hosts, 3, tmp_path, links.ends_untold, (), lambda: hosts.cut(lost), 80)
    finally:
        hosts.heal(lost)
    assert ended.status is not None, f"the launcher hung\n{ended.words()}"
    assert not ended.stacks, f"a rank hung\n{ended.words()}"
    assert ended.left_processes == []
    assert [ended.results[0, rank][1] for rank in range(6)] == ["the end"] * 6
    assert "is not reached" in ended.err, ended.words()
    check_clean(hosts, finalized=False)


def test_a_short_cut_harms_nothing(hosts_of: Made, tmp_path: Path) -> None:
    hosts = hosts_of(2)

    def cut_and_heal() -> None:
        time.sleep(0.3)
        hosts.cut(hosts.all[1])
        time.sleep(1.0)
        hosts.heal(hosts.all[1])

    ended = run_bare(hosts, 2, tmp_path, links.while_cut, (4.0,), cut_and_heal)
    assert ended.status == 0, ended.words()
    results = [ended.results[0, rank][1] for rank in range(4)]
    assert [told for told, _ in results] == [None] * 4, results
    # A test of the test: the cut was felt.
    assert max(longest for _, longest in results) > 0.5, results
    check_clean(hosts)


def test_nothing_is_left_when_hosts_end() -> None:
    """A test of the tests: a process on a host ends with it, and so does the host's network."""
    hosts = Hosts(2)
    inside = hosts.all[0].enter("sleep", "1000", forks=True)
    process = subprocess.Popen(inside, start_new_session=True)
    end = time.monotonic() + 5
    while not any("sleep 1000" in one for one in hosts.processes()):
        assert time.monotonic() < end, hosts.processes()
        time.sleep(0.01)
    keepers = [keeper.pid for keeper in [*hosts.all, hosts.head]]
    hosts.head.end()
    assert process.wait(timeout=5) != 0
    hosts.end()
    assert not any(Path(f"/proc/{pid}").exists() for pid in keepers)
