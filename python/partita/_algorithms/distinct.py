"""Different elements of a row, how often each occurs, and where.

Every rank finds its own different elements. These, with their counts, go to the rank whose part of
the order they belong to, which puts equal ones together; its answers go back to where they came
from.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._algorithms.rows import Row
from partita._algorithms.sample_sort import sorted_copy
from partita._local import choosing, sorting
from partita._team.routing import route, routed

if TYPE_CHECKING:
    from partita._team.team import Team

Local = np.ndarray[Any, Any]

# Keys that each rank shows, so that the order is divided evenly.
_N_SAMPLES = 64


class Places(NamedTuple):
    """Where different elements are first, and for each element of a row which of them it is."""

    firsts: Local
    inverse: Local


class Distinct(NamedTuple):
    """Different elements in order, and how often each occurs; where, if that was asked for."""

    values: Local
    counts: Local
    places: Places | None


def distinct_here(local: Local, *, equal_nan: bool, wants_places: bool) -> Distinct:
    """The different elements of this rank's memory."""
    if wants_places:
        order = sorting.positions(local)
        run = choosing.gather(local, order)
    else:
        run = sorted_copy(local)
    begins = _begins(run, equal_nan)
    at = choosing.where_true(begins)
    counts = np.diff(at, append=len(run)).astype(np.int64)
    if not wants_places:
        return Distinct(run[at], counts, None)
    inverse = np.empty(len(run), np.int64)
    choosing.scatter(inverse, order, np.cumsum(begins) - 1)
    return Distinct(run[at], counts, Places(order[at], inverse))


def distinct_values(team: Team, row: Row, *, equal_nan: bool) -> tuple[Local, list[int]]:
    """The different elements of a row alone, and how many of them each rank has. Collective."""
    own = distinct_here(row.local, equal_nan=equal_nan, wants_places=False).values
    cuts = _cuts(team, own, equal_nan)
    run = sorting.merge(route(team, np.split(own, cuts[1:-1])))
    values = choosing.pack(_begins(run, equal_nan), run)
    return values, team.gather_inside("numbers of different elements", len(values))


def distinct(
    team: Team, row: Row, *, equal_nan: bool, wants_places: bool
) -> tuple[Distinct, list[int]]:
    """The different elements of a row, and how many of them each rank has. Collective."""
    own = distinct_here(row.local, equal_nan=equal_nan, wants_places=wants_places)
    cuts = _cuts(team, own.values, equal_nan)
    counts = np.asarray(team.gather_inside("different elements to send", np.diff(cuts).tolist()))

    def sent(what: Local) -> list[Local]:
        return routed(team, np.split(what, cuts[1:-1]), counts.tolist())

    runs = sent(own.values)
    order = sorting.merging_positions(runs)
    run = np.concatenate(runs)[order]
    begins = _begins(run, equal_nan)
    at = choosing.where_true(begins)
    n_equal = np.concatenate(sent(own.counts))[order]
    total = np.add.reduceat(n_equal, at) if len(at) else n_equal
    sizes = team.gather_inside("numbers of different elements here", len(at))
    if own.places is None:
        return Distinct(run[at], total, None), sizes
    # Of equal keys those of the first rank come first, and with them the first position.
    firsts = np.concatenate(sent(own.places.firsts + row.first(team.rank)))[order][at]
    numbers = np.empty(len(run), np.int64)
    numbers[order] = np.cumsum(begins) - 1 + sum(sizes[: team.rank])
    ends = np.cumsum(counts[:, team.rank])[:-1]
    answers = routed(team, np.split(numbers, ends), counts.T.tolist())
    inverse = choosing.gather(np.concatenate(answers), own.places.inverse)
    return Distinct(run[at], total, Places(firsts, inverse)), sizes


def _begins(run: Local, equal_nan: bool) -> Local:
    """Where another element begins in a sorted run."""
    begins = np.full(len(run), True)
    begins[1:] = run[1:] != run[:-1]
    if equal_nan and run.dtype.kind in "fc":
        is_nan = np.isnan(run)
        begins[1:] &= ~(is_nan[1:] & is_nan[:-1])
    return begins


def _cuts(team: Team, keys: Local, equal_nan: bool) -> Local:
    """Where this rank's different elements are divided among the ranks, equal ones never."""
    shown = keys[np.linspace(0, len(keys) - 1, min(len(keys), _N_SAMPLES), dtype=np.int64)]
    samples = np.concatenate(team.gather_inside("samples of different elements", shown))
    if len(samples) == 0:
        return np.zeros(team.size + 1, np.int64)
    sorting.sort(samples)
    splitters = samples[np.arange(1, team.size) * len(samples) // team.size]
    inside = sorting.search(keys, splitters)
    if equal_nan and len(keys) and np.isnan(keys[-1]):
        # Complex numbers are not numbers in several ways, which count as one.
        inside = np.minimum(inside, len(keys) - 1)
    return np.asarray([0, *inside.tolist(), len(keys)], np.int64)
