"""Ranks that wait for each other on different teams are told at once; no other ranks are."""

from __future__ import annotations

from typing import Any

import bodies_circles as circles
import engines
import pytest
from bodies_circles import CROSSED, CROSSED_OF_THREADS, LEGAL
from engines import Case, Outcome
from places import Place, launchers

# Far less than the deadline of a team, far more than a busy machine needs.
AT_ONCE_SECONDS = 5.0
SECONDS = 60.0
N_RANDOM = 60

pytestmark = pytest.mark.timeout(600)


def places() -> list[Place]:
    """Both engines, under every launcher, and without shared memory."""
    found = [Place("threads", n) for n in (4, 6)]
    found += [Place("mpi", 4, launcher) for launcher in launchers()]
    return [*found, Place("mpi", 4, launchers()[0], shared=False)]


def outcome_of(place: Place, case: Case) -> list[Any]:
    found = engines.run(place, [case], SECONDS)[case.name]
    return results_of(found)


def results_of(outcome: Outcome) -> list[Any]:
    if outcome.failure:
        pytest.fail(outcome.failure, pytrace=False)
    return outcome.results


@pytest.mark.parametrize("place", places(), ids=str)
def test_a_circle_is_told_to_all_at_once(place: Place) -> None:
    cases = [Case(name, circles.cross, (name,)) for name in CROSSED]
    found = engines.run(place, cases, SECONDS)
    for name, (_, who) in CROSSED.items():
        check_told(name, who(place.n_ranks), results_of(found[name]))


def check_told(name: str, who: set[int], results: list[Any]) -> None:
    """All that take part are told the same, in time; nobody else is told anything."""
    texts = set()
    for rank, (told, works_on, seconds) in enumerate(results):
        assert works_on
        if rank not in who:
            assert told is None, (name, rank, told)
            continue
        assert told is not None, f"{name}: rank {rank} was told nothing"
        assert told[:3] == ("MismatchError", "teams-differ", None), (name, rank, told)
        assert seconds < AT_ONCE_SECONDS, (name, rank, seconds)
        texts.add(told[3])
    # Two circles may be found at once where a rank waits for two that wait for it.
    assert len(texts) <= (2 if name == "of a union" else 1), (name, texts)
    lengths = {"three": 3, "four": 4, "different axes": 4, "through a near call": 3}
    assert texts.pop().count(" waits in ") == lengths.get(name, 2), name


def test_a_circle_goes_through_a_rank_that_waits_for_others_to_copy() -> None:
    for name, (_, who) in CROSSED_OF_THREADS.items():
        results = outcome_of(Place("threads", 3), Case(name, circles.cross, (name,)))
        check_told(name, who(3), results)


@pytest.mark.parametrize("place", places(), ids=str)
def test_who_only_waits_is_not_accused(place: Place) -> None:
    cases = [Case(name, circles.obey, (name,)) for name in LEGAL]
    found = engines.run(place, cases, SECONDS)
    for name in LEGAL:
        assert results_of(found[name]) == [True] * place.n_ranks, name


@pytest.mark.parametrize("place", places(), ids=str)
def test_random_programs_in_one_order_never_fail(place: Place) -> None:
    case = Case("legal", circles.random_legal, (7, 3 * N_RANDOM))
    assert outcome_of(place, case) == [3 * N_RANDOM] * place.n_ranks


@pytest.mark.parametrize("place", places(), ids=str)
def test_random_programs_in_two_orders_always_fail(place: Place) -> None:
    case = Case("crossed", circles.random_crossed, (11, N_RANDOM))
    assert outcome_of(place, case) == [[]] * place.n_ranks
