"""Plans as tasks, on a scheduler of the simplest kind: a task runs when it is submitted.

`tests/peers` runs the same on Dask and Ray.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from itertools import cycle
from typing import Any

import execute
import generate
import numpy as np
import pytest
from oracle import Values

import partita as pt
from partita._partita import join_parts, local_shapes, pack_parts
from partita._tasks import loans, worker
from partita._tasks.array import TaskArray
from partita._tasks.chunks import chunk_grid, chunk_layout
from partita._tasks.plain_layouts import from_plain, to_plain
from partita._tasks.schedule import Cut, Schedule, choose_places, schedule
from partita._team.wire import decode, encode

PLACES = ("here", "there", "elsewhere")


class Slot:
    """A handle: data, and the only place that may look at it."""

    def __init__(self, data: Any, place: str | None) -> None:
        self.data, self.place = data, place


class PlainArray(TaskArray):
    """Slots in three places of one process."""

    engine = "plain"

    def _homes(self) -> dict[int, Sequence[str]]:
        return {
            rank: [str(handles[0].place)] if handles else []
            for rank, handles in self._handles.items()
        }

    def _all_places(self) -> Sequence[str]:
        return PLACES

    def _locations(self, handles: list[Any]) -> list[list[tuple[str, int]]]:
        return [[(str(handle.place), 0)] for handle in handles]

    def _submit_cuts(self, made: pt.Plan, cuts: list[Cut]) -> list[Any]:
        pickled = pickle.dumps(made)
        slots = []
        for one in cuts:
            handles = self._handles[one.source]
            assert all(handle.place == one.place for handle in handles)
            buffers = [handle.data for handle in handles]
            data = worker.cut(pickled, one, buffers)
            slots.append(Slot(data, one.place))
        return slots

    def _run(self, made: pt.Plan, tasks: Schedule) -> dict[int, list[Any]]:
        cuts = self._submit_cuts(made, tasks.cuts)
        result = {}
        for one in tasks.joins:
            parts: list[Any] = []
            for take in one.takes:
                if take.cut is None:
                    handles = self._handles[take.source]
                    assert all(handle.place == one.place for handle in handles)
                    parts.append([handle.data for handle in handles])
                else:
                    assert cuts[take.cut].place != one.place
                    parts.append(self.carried(cuts[take.cut].data))
            joined = worker.join(pickle.dumps(made), one.target, one.takes, parts)
            result[one.target] = [Slot(data, one.place) for data in joined]
        return result

    def carried(self, part: Any) -> Any:
        """A part as it arrives elsewhere."""
        return part

    def _fetch(self, handles: list[Any]) -> list[Any]:
        return [handle.data for handle in handles]

    def _wait(self, handles: list[Any]) -> None: ...

    def _get(self) -> Callable[[Any], Any]:
        return get


def get(handles: Any) -> Any:
    return [handle.data for handle in handles]


def values(layout: pt.Layout, rng: np.random.Generator) -> Values:
    return {
        (rank, number): rng.integers(-9, 9, shape).astype("float64")
        for rank in layout.ranks
        for number, shape in enumerate(local_shapes(layout, rank))
    }


def spread(data: Values, layout: pt.Layout, kind: type[PlainArray] = PlainArray) -> PlainArray:
    places = dict(zip(layout.ranks, cycle(PLACES), strict=False))
    handles = {
        rank: [Slot(data[rank, n], places[rank]) for n in range(layout.n_buffers(rank))]
        for rank in layout.ranks
    }
    return kind(handles, layout, "float64", places)


def zeros(layout: pt.Layout) -> Values:
    return {key: np.zeros_like(one) for key, one in values(layout, np.random.default_rng()).items()}


def pairs() -> list[tuple[int, pt.Layout, pt.Layout]]:
    found = []
    for seed in range(generate.n_cases(400)):
        source, target = map(generate.build, generate.pair(seed))
        try:
            pt.plan(source, target)
        except pt.LayoutError:
            continue
        found.append((seed, source, target))
    return found


def test_every_pair_of_layouts() -> None:
    cases = pairs()
    assert len(cases) > generate.n_cases(400) // 2
    for seed, source, target in cases:
        data = values(source, np.random.default_rng(seed))
        wanted = execute.run(pt.plan(source, target), data, zeros(target))
        moved = spread(data, source).redistribute(target)
        found = moved._fetch(moved.handles)
        assert len(found) == len(wanted), seed
        for one, other in zip(found, wanted.values(), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=f"seed {seed}")


class LendingArray(PlainArray):
    """The same in places of one machine."""

    def _machines(self) -> dict[str, str]:
        return dict.fromkeys(PLACES, "machine")

    def carried(self, part: Any) -> Any:
        assert len(pickle.dumps(part)) < 500
        return pickle.loads(pickle.dumps(part))


def test_parts_are_lent_on_one_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loans, "SMALLEST_LOAN_BYTES", 1)
    for seed, source, target in pairs()[:150]:
        data = values(source, np.random.default_rng(seed))
        wanted = execute.run(pt.plan(source, target), data, zeros(target))
        moved = spread(data, source, LendingArray).redistribute(target)
        for one, other in zip(moved._fetch(moved.handles), wanted.values(), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=f"seed {seed}")


class ForgetfulArray(LendingArray):
    """Lenders that drop their parts before others have read them."""

    n_lost = 0

    def carried(self, part: Any) -> Any:
        if isinstance(part, np.ndarray):
            return part
        note = pickle.dumps(part)
        part._memory = None
        type(self).n_lost += 1
        return pickle.loads(note)


def test_what_is_lent_no_more_is_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loans, "SMALLEST_LOAN_BYTES", 1)
    rows, columns = (pt.Layout((6, 6), n) for n in ("block, * @ 3x1", "*, block @ 1x3"))
    data = values(rows, np.random.default_rng(1))
    moved = spread(data, rows, ForgetfulArray).redistribute(columns)
    assert ForgetfulArray.n_lost > 0
    np.testing.assert_array_equal(moved.gather(), np.concatenate(list(data.values())))


def test_only_the_same_machine_lends() -> None:
    rows, columns = (pt.Layout((6, 6), n) for n in ("block, * @ 3x1", "*, block @ 1x3"))
    plan = pt.plan(rows, columns)
    homes = {rank: [PLACES[rank]] for rank in rows.ranks}
    places = dict(enumerate(PLACES))
    machines = {"here": "a", "there": "a", "elsewhere": ""}
    near = {
        (cut.place, places[cut.targets[0]])
        for cut in schedule(plan, homes, places, machines).cuts
        if cut.is_near
    }
    assert near == {("here", "there"), ("there", "here")}
    # A place that does not lend names no machine; neither does one that nobody knows.
    nowhere = dict.fromkeys(PLACES, "")
    assert not any(cut.is_near for cut in schedule(plan, homes, places, nowhere).cuts)


def test_adjoints_run_as_tasks_too() -> None:
    for seed, source, target in pairs()[:150]:
        plan = pt.plan(source, target).adjoint()
        data = values(plan.source, np.random.default_rng(seed))
        wanted = execute.run(plan, data, zeros(plan.target))
        a = spread(data, plan.source)
        homes = a._homes()
        done = a._run(plan, schedule(plan, homes, choose_places(plan, homes, PLACES), {}))
        found = [slot.data for slots in done.values() for slot in slots]
        for one, other in zip(found, wanted.values(), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=f"seed {seed}")


def test_one_message_per_slot_and_place() -> None:
    rows, columns = (pt.Layout((24, 24), n) for n in ("block, * @ 6x1", "*, block @ 1x12"))
    plan = pt.plan(rows, columns)
    homes = {rank: [PLACES[rank // 2]] for rank in rows.ranks}
    places = choose_places(plan, homes, PLACES)
    assert [list(places.values()).count(place) for place in PLACES] == [4, 4, 4]
    tasks = schedule(plan, homes, places, {})
    assert len(tasks.cuts) == 6 * 2
    assert sum(cut.n_bytes for cut in tasks.cuts) == 24 * 24 * 8 * 2 // 3
    assert all(len(cut.targets) == 4 for cut in tasks.cuts)


def test_slots_go_where_most_of_them_is() -> None:
    layout = pt.Layout((12, 4), "block, * @ 6x1")
    coarse = pt.Layout((12, 4), "block, * @ 3x1")
    homes = {rank: [PLACES[2 - rank // 2]] for rank in layout.ranks}
    plan = pt.plan(layout, coarse)
    places = choose_places(plan, homes, PLACES)
    assert places == {0: PLACES[2], 1: PLACES[1], 2: PLACES[0]}
    assert not schedule(plan, homes, places, {}).cuts


def test_parts_that_do_not_fit_are_refused() -> None:
    rows, columns = (pt.Layout((4, 4), n) for n in ("block, * @ 2x1", "*, block @ 1x2"))
    plan = pt.plan(rows, columns, "float64")
    source, target = np.ones((2, 4)), np.empty((4, 2))
    good = np.zeros(32, np.uint8)
    calls: list[tuple[str, Callable[[], None]]] = [
        ("buffer-shape", lambda: pack_parts(plan, 0, [1], [source], np.zeros(31, np.uint8))),
        ("buffer-shape", lambda: pack_parts(plan, 0, [1], [source.T], good)),
        ("buffer-dtype", lambda: pack_parts(plan, 0, [1], [source.astype("f4")], good)),
        ("part-memory", lambda: pack_parts(plan, 0, [1], [source], bytes(32))),
        ("part-memory", lambda: pack_parts(plan, 0, [1], [source], np.zeros((4, 8), np.uint8))),
        ("buffer-count", lambda: join_parts(plan, 0, [(0, good)], [target])),
        ("buffer-shape", lambda: join_parts(plan, 0, [(0, good), (1, good[:8])], [target])),
        ("buffer-shape", lambda: join_parts(plan, 0, [(0, good), (1, [source.T])], [target])),
        ("buffer-shape", lambda: join_parts(plan, 0, [(0, good), (1, good)], [source])),
    ]
    for reason, call in calls:
        with pytest.raises(pt.LayoutError) as caught:
            call()
        assert caught.value.reason == reason


def test_grids_of_chunks() -> None:
    for seed in range(generate.n_cases(400)):
        layout = generate.build(generate.case(seed))
        assert from_plain(decode(encode(to_plain(layout)))) == layout, seed
        grid = chunk_grid(chunk_layout(layout))
        assert grid is not None, seed
        assert tuple(map(sum, grid.lengths)) == layout.shape
        found = chunk_grid(layout)
        if found is None:
            continue
        assert chunk_layout(layout) == layout
        for (rank, buffer), (start, shape) in zip(found.slots, found.boxes(), strict=True):
            assert layout.local_shape(rank, buffer=buffer) == shape, seed
            if np.prod(shape):
                assert layout.locate_one(start)[:2] == (rank, buffer), seed


def test_names_and_words() -> None:
    layout = pt.Layout((6, 4), "block, * @ 3x1")
    data = values(layout, np.random.default_rng(1))
    a = spread(data, layout)
    assert (a.shape, a.ndim, a.dtype, a.nbytes) == ((6, 4), 2, np.dtype("float64"), 192)
    assert repr(a) == "<PlainArray (6, 4) float64, block, * @ 3x1, 3 pieces in 3 places>"
    assert [piece.start for piece, _ in a.pieces] == [(0, 0), (2, 0), (4, 0)]
    assert a.locations == [[(place, 0)] for place in PLACES]
    partitioned = a.__partitioned__
    assert partitioned["partition_tiling"] == (3, 1)
    assert partitioned["partitions"][2, 0]["start"] == (4, 0)
    whole = np.concatenate(list(data.values()))
    np.testing.assert_array_equal(a.gather(), whole)
    shown = a._repr_html_()
    assert "<svg" in shown
    assert all(place in shown for place in PLACES)
    long = pt.Layout((40, 4), [pt.Block(sizes=[1] * 40), pt.Whole()], grid=(40, 1))
    assert len(repr(spread(values(long, np.random.default_rng(1)), long))) <= 80


def test_every_rank_of_a_team_fetches_its_own() -> None:
    layout = pt.Layout((9, 5), "block, * @ 3x1")
    data = values(layout, np.random.default_rng(2))
    whole = np.concatenate(list(data.values()))
    a = spread(data, layout)

    def rank(team: pt.Team) -> bool:
        columns = a.to_team(team, pt.Layout(a.shape, "*, cyclic @ 1x2"))
        np.testing.assert_array_equal(columns.local, whole[:, team.rank :: 2])
        return bool(columns.team == team)

    assert pt.spmd(rank, ranks=2) == [True, True]
