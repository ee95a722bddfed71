"""Questions about a sorted row that is cut: each goes to the rank that can answer it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._algorithms.distinct import distinct_here
from partita._algorithms.rows import Row
from partita._local import choosing, sorting
from partita._team.routing import routed

if TYPE_CHECKING:
    from partita._array.array import Array
    from partita._team.team import Team

Local = np.ndarray[Any, Any]
# What a sorted part, the position of its first element and values give.
Answer = Callable[[Local, int, Local], Local]

# A rank that is asked for so many times its share holds up the others.
_UNEVEN = 1.5
# Fewer values are not worth another cut.
_FEW_VALUES = 1 << 12
# Keys that each rank shows of a run.
_N_SAMPLES = 256


def is_brought(row: Array, values: Array) -> bool:
    """Whether a row is so short that every rank takes it whole: no value has to travel then."""
    return row.size <= values.size // row.team.size


def asked(team: Team, row: Row, values: Local, answer: Answer, *, right: bool) -> Local:
    """What ranks answer about values; each is asked for those that belong into its part.

    A value belongs to the last rank that begins with a smaller one, or with an equal one too if
    the place to the right of equal ones is meant. If one rank would be asked for most values, the
    row is cut anew, and each rank asks for its different values only. Collective.
    """
    asking = _directed(team, _holders(team, row, values, right), values)
    if not _is_uneven(asking.counts):
        return _answered(team, asking, _of_part(team, row, answer))
    # Of complex numbers, those that are no numbers have an order.
    equal_nan = values.dtype.kind == "f"
    own = distinct_here(values, equal_nan=equal_nan, wants_places=True)
    assert own.places is not None
    splitters = _splitters(team, row.local, own.values)
    evenly = _cut_at(team, row, splitters)
    targets = sorting.search(splitters, own.values, right=right)
    asking = _directed(team, targets, own.values)
    found = _answered(team, asking, _of_part(team, evenly, answer))
    return choosing.gather(found, own.places.inverse)


class _Asking(NamedTuple):
    """Values in the order of the ranks that are asked, and how many go from which to which."""

    values: Local
    order: Local
    counts: Local


def _holders(team: Team, row: Row, values: Local, right: bool) -> Local:
    """The ranks into whose parts values belong."""
    starts = team.gather_inside("first elements of parts", row.local[:1])
    holders = np.asarray([rank for rank, start in enumerate(starts) if len(start)], np.int64)
    if len(holders) == 0:
        return np.zeros(len(values), np.int64)
    places = sorting.search(np.concatenate(starts), values, right=right) - 1
    found: Local = holders[np.maximum(places, 0)]
    return found


def _directed(team: Team, targets: Local, values: Local) -> _Asking:
    """Values brought into the order of the ranks that are to be asked."""
    order = sorting.positions(targets)
    n_asked = choosing.count_values(targets, team.size)
    counts = np.asarray(team.gather_inside("numbers of questions", n_asked.tolist()))
    return _Asking(choosing.gather(values, order), order, counts)


def _is_uneven(counts: Local) -> bool:
    """Whether one rank would be asked for far more than its share; all ranks find the same."""
    most, total = int(counts.sum(axis=0).max()), int(counts.sum())
    return total > _FEW_VALUES and most * len(counts) > _UNEVEN * total


def _of_part(team: Team, row: Row, answer: Answer) -> Callable[[Local], Local]:
    first = row.first(team.rank)
    return lambda some: answer(row.local, first, some)


def _answered(team: Team, asking: _Asking, answer: Callable[[Local], Local]) -> Local:
    values, order, counts = asking
    ends = np.cumsum(counts[team.rank])[:-1]
    questions = np.concatenate(routed(team, np.split(values, ends), counts.tolist()))
    ends = np.cumsum(counts[:, team.rank])[:-1]
    answers = np.concatenate(
        routed(team, np.split(answer(questions), ends), counts.T.tolist()),
    )
    found = np.empty(len(values), answers.dtype)
    choosing.scatter(found, order, answers)
    return found


def _cut_at(team: Team, row: Row, splitters: Local) -> Row:
    """The same row, each rank with what lies between two splitters."""
    own = [sorting.search(row.local, splitters, right=right) for right in (False, True)]
    low, high = np.sum(team.gather_inside("elements below splitters", np.stack(own)), axis=0)
    n_elements = sum(row.sizes)
    # Among those that equal a splitter a cut may be anywhere: where it leaves ranks as many of
    # them. One comes behind it, where it is looked for.
    evenly = np.arange(1, team.size) * n_elements // team.size
    ends = np.asarray([0, *np.clip(evenly, low, np.maximum(high - 1, low)).tolist(), n_elements])
    starts = np.cumsum([0, *row.sizes])
    inside = np.clip(ends, starts[:-1, None], starts[1:, None])
    counts = np.diff(inside, axis=1)
    parts = np.split(row.local, inside[team.rank, 1:-1] - starts[team.rank])
    came = np.concatenate(routed(team, parts, counts.tolist()))
    return Row(came, np.diff(ends).tolist(), True)


def _splitters(team: Team, *runs: Local) -> Local:
    """Keys between which ranks of a team have about as many elements of sorted runs."""
    shown = [(len(run), _samples(run)) for run in runs]
    told = [one for rank in team.gather_inside("samples of keys", shown) for one in rank if one[0]]
    keys = np.concatenate([samples for _, samples in told])
    weights = np.concatenate([np.full(len(samples), n / len(samples)) for n, samples in told])
    order = sorting.positions(keys)
    reached = np.cumsum(weights[order])
    wanted = np.arange(1, team.size) * reached[-1] / team.size
    found: Local = keys[order[np.searchsorted(reached, wanted)]]
    return found


def _samples(run: Local) -> Local:
    return run[np.linspace(0, len(run) - 1, min(len(run), _N_SAMPLES), dtype=np.int64)]


def is_among(run: Local, values: Local) -> Local:
    """Whether values are in a sorted run."""
    if len(run) == 0:
        return np.zeros(values.shape, bool)
    at = np.minimum(sorting.search(run, values), len(run) - 1)
    found: Local = run[at] == values
    return found
