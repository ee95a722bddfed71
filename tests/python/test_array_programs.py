"""Random array programs on one rank and on several, threads and processes, in every layout.

`PARTITA_PROGRAMS` says how many on one rank; each place has a share of it for each layout.
"""

from __future__ import annotations

import os

import bodies_aliases
import bodies_reshaped
import bodies_shapes
import engines
import pytest
from array_programs import LAYOUTS, Program
from bodies_arrays import (
    differing,
    placed,
    placements,
    programs,
    read_only,
    wholes,
    without_elements,
)
from engines import Case, Outcome
from places import Place, launchers

import partita as pt

N_PROGRAMS = int(os.environ.get("PARTITA_PROGRAMS", "2500"))
PLACES = [Place("threads", n) for n in (2, 3, 4)]
PLACES += [Place("mpi", n, launchers()[0]) for n in (1, 2, 3, 4)]
N_EACH = max(1, N_PROGRAMS // (len(PLACES) * len(LAYOUTS)))


@pytest.mark.parametrize("part", range(4))
def test_programs_mean_what_numpy_means(part: int) -> None:
    for seed in range(part, N_PROGRAMS, 4):
        Program(seed).run()


@pytest.mark.timeout(1800)
@pytest.mark.parametrize("place", PLACES, ids=str)
def test_programs_on_ranks_mean_what_numpy_means(place: Place) -> None:
    first = PLACES.index(place) * N_EACH
    cases = [Case(layout, programs, (first, N_EACH, layout)) for layout in LAYOUTS]
    others = (wholes, placed, without_elements, read_only)
    cases += [Case(body.__name__, body) for body in others]
    found = engines.run(place, cases)
    refuse_failures(place, found)


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_programs_take_no_more_memory_than_was_foretold(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        for layout in LAYOUTS:
            for seed in range(max(1, N_EACH // 2)):
                Program(seed, layout).run_measured()

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_where_results_go_and_where_programs_differ(place: Place) -> None:
    cases = [Case("placements", placements), Case("differing", differing)]
    refuse_failures(place, engines.run(place, cases))


@pytest.mark.parametrize("place", [Place("threads", 1), *PLACES], ids=str)
def test_shapes_are_assigned_as_in_numpy(place: Place) -> None:
    cases = [Case(body.__name__, body) for body in bodies_shapes.BODIES]
    refuse_failures(place, engines.run(place, cases))


@pytest.mark.parametrize("place", [Place("threads", 1), *PLACES], ids=str)
def test_reshaped_arrays_follow_what_is_written(place: Place) -> None:
    # Every layout on two ranks; elsewhere the one that tells most.
    every = bodies_reshaped.LAYOUTS
    layouts = every if place.n_ranks == 2 else every[1:2] if place.n_ranks == 4 else every[:1]
    cases = [Case(f"followed {one}", bodies_reshaped.followed, (one,)) for one in layouts]
    cases += [Case("shown", bodies_reshaped.shown)]
    refuse_failures(place, engines.run(place, cases))


@pytest.mark.parametrize("place", [Place("threads", 1), *PLACES], ids=str)
def test_arrays_over_one_memory_see_each_other(place: Place) -> None:
    cases = [Case(body.__name__, body) for body in bodies_aliases.BODIES]
    refuse_failures(place, engines.run(place, cases))


def refuse_failures(place: Place, found: dict[str, Outcome]) -> None:
    failures = [f"{name} at {place}:\n{one.failure}" for name, one in found.items() if one.failure]
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)
