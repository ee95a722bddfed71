"""Arrays in memory of others, work that is refused or fails, memory that does not grow."""

from __future__ import annotations

import gc
import resource
import subprocess
import sys
import time
from typing import Any

import numpy as np
import pytest

import partita as pt


def test_arrays_of_one_numpy_array_see_each_others_writes() -> None:
    x = np.arange(6.0)
    first: Any = pt.asarray(x)
    second: Any = pt.asarray(x)
    second *= 2
    assert first.gather().tolist() == [0, 2, 4, 6, 8, 10]
    first += 1
    second += 1
    assert pt.sum(first).item() == pt.sum(second).item() == 42
    front: Any = pt.asarray(x[:4])
    back: Any = pt.asarray(x[2:])
    front[...] = back * 10
    assert back.gather().tolist() == [100, 120, 10, 12]
    assert x.tolist() == [60, 80, 100, 120, 10, 12]


def test_views_of_a_transposed_array_share_its_memory() -> None:
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    whole: Any = pt.asarray(x)
    turned: Any = pt.asarray(x[:, ::-1])
    turned[0, 0] = 50
    assert whole.gather().tolist() == [[0, 1, 50], [3, 4, 5]]
    assert x[0, 2] == 50


def test_threads_that_are_given_one_numpy_array_write_copies() -> None:
    shared = np.zeros(4)

    def job(team: pt.Team) -> Any:
        array: Any = pt.asarray(shared)
        array += 1
        return array.gather().tolist()

    assert pt.spmd(job, 3) == [[1.0] * 4] * 3
    assert not shared.any()


@pytest.mark.parametrize("name", ["concat", "stack", "roll", "repeat", "tile", "flip"])
def test_numpy_operands_are_copied_when_they_are_recorded(name: str) -> None:
    x = np.arange(3.0)
    calls: dict[str, Any] = {
        "concat": lambda np_, x: np_.concat([np_.ones(2), x]),
        "stack": lambda np_, x: np_.stack([np_.ones(3), x]),
        "roll": lambda np_, x: np_.roll(x, 1),
        "repeat": lambda np_, x: np_.repeat(x, 2),
        "tile": lambda np_, x: np_.tile(x, 2),
        "flip": lambda np_, x: np_.flip(x) + np_.ones(3),
    }
    wanted = calls[name](np, x).copy()
    given = calls[name](pt, x)
    x[:] = 7
    np.testing.assert_array_equal(given.gather(), wanted)


def test_refused_work_waits() -> None:
    a: Any = pt.zeros(1000)
    a.sync()
    a += 1
    b = a * 2
    with pt.memory_limit("1 KiB"), pytest.raises(MemoryError, match="1024"):
        b.sync()
    assert b[:3].tolist() == [2, 2, 2]
    assert float(a.sum()) == 1000


def test_memory_that_cannot_be_had_harms_nothing_else() -> None:
    a = pt.ones(3)
    b = a * 3
    with pytest.raises(MemoryError):
        pt.repeat(a, 10**11).sync()
    assert b.tolist() == [3, 3, 3]


def test_limits_of_memory_are_those_of_all_ranks() -> None:
    def job(team: pt.Team) -> tuple[str, float]:
        a = pt.ones((100, 100))
        a.sync()
        b = a + 1
        # Rows are uneven: one rank alone would need more.
        with pt.memory_limit(26_700), pytest.raises(MemoryError) as refused:
            b.sync()
        return str(refused.value), float(b.sum())

    found = pt.spmd(job, 3)
    assert found == [found[0]] * 3
    assert "on rank 2" in found[0][0]
    assert found[0][1] == 20_000


COPIES: dict[str, Any] = {
    "gather": lambda a, x: a.gather(),
    "gather of what came in": lambda a, x: pt.asarray(x).gather(),
    "redistribute": lambda a, x: a.redistribute("*, block"),
    "gather on one rank": lambda a, x: a.gather(root=0),
    "asarray": lambda a, x: pt.asarray(x, copy=True),
    "array": lambda a, x: pt.array(x),
}


@pytest.mark.parametrize("name", COPIES)
@pytest.mark.parametrize("n_ranks", [1, 2])
@pytest.mark.parametrize("n_rows", [10, 1000])
def test_copies_that_would_not_fit_are_refused_before_they_are_made(
    name: str, n_ranks: int, n_rows: int
) -> None:
    def job(team: pt.Team) -> tuple[bool, str]:
        x = np.ones((n_rows, 20))
        x.flags.writeable = False
        a = pt.arange(20.0 * n_rows).reshape(n_rows, 20)
        a.sync()
        limit = team.arrays.memory_in_use + 70 * n_rows
        with pt.memory_limit(limit), pytest.raises((MemoryError, pt.RemoteError)) as told:
            COPIES[name](a, x)
        COPIES[name](a, x)
        team.barrier()
        return isinstance(told.value, MemoryError), str(told.value)

    found = pt.spmd(job, n_ranks)
    assert any(is_memory for is_memory, _ in found)
    assert all("where" in words and "memory_limit" in words for _, words in found), found


MADE: dict[str, Any] = {
    "random": lambda: pt.random.default_rng(1).random(10_000),
    "normal": lambda: pt.random.normal(size=(100, 100)),
    "integers": lambda: pt.random.default_rng(1).integers(0, 9, 10_000),
    "asarray of a list": lambda: pt.asarray([[1.0] * 100] * 100),
    "asarray of a copy": lambda: pt.asarray(np.ones(10_000), copy=True),
    "asarray in a layout": lambda: pt.asarray(np.ones(20_000), "cyclic"),
}


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("n_ranks", [1, 2])
def test_what_is_made_elsewhere_counts_as_long_as_it_is_there(name: str, n_ranks: int) -> None:
    def job(team: pt.Team) -> tuple[bool, str]:
        MADE[name]()
        gc.collect()
        before = team.arrays.memory_in_use
        with pt.memory_limit(before + 30_000), pytest.raises((MemoryError, pt.RemoteError)) as told:
            MADE[name]()
        made = MADE[name]()
        assert team.arrays.memory_in_use >= before + 39_000
        # What is computed of it is refused, too, where both together are too much.
        with pt.memory_limit(team.arrays.memory_in_use + 1000), pytest.raises(MemoryError):
            (made + 1).sync()
        del made
        # The work that was refused waits until something is computed, and is dropped then.
        assert float(pt.arange(3.0).sum()) == 3.0
        end = time.monotonic() + 20
        while team.arrays.memory_in_use != before and time.monotonic() < end:
            # What one rank lets go may be freed by the thread of another.
            gc.collect()
            time.sleep(0.01)
        assert team.arrays.memory_in_use == before
        team.barrier()
        return isinstance(told.value, MemoryError), str(told.value)

    found = pt.spmd(job, n_ranks)
    assert any(is_memory for is_memory, _ in found)
    assert all("memory_limit" in words for _, words in found), found


KINDS: dict[str, Any] = {
    "redistribute": lambda x: x.redistribute("*, block"),
    "a mask": lambda x: x[x >= 0],
    "positions": lambda x: x[np.arange(99, -1, -1)],
    "sort": lambda x: pt.sort(x),
    "argsort": lambda x: pt.argsort(x, axis=0),
    "a product": lambda x: x @ x,
    "a transform": lambda x: pt.fft.fft(x),
    "nonzero": lambda x: pt.nonzero(x + 1)[0],
    "an operand": lambda x: x + np.ones((100, 100)),
}


@pytest.mark.parametrize("n_ranks", [1, 2])
@pytest.mark.parametrize("name", KINDS)
def test_all_that_functions_make_counts_as_long_as_it_is_there(name: str, n_ranks: int) -> None:
    def job(team: pt.Team) -> None:
        x = pt.arange(10_000.0).reshape(100, 100) + 0.0
        x.sync()
        x[x >= 0].sync()  # what is kept for the next time
        before = team.arrays.memory_in_use
        made = KINDS[name](x)
        n_bytes = made.local.nbytes
        taken = team.arrays.memory_in_use - before
        assert n_bytes <= taken <= 1.2 * n_bytes
        assert pt.explain(x, made).peak_bytes == before + taken
        del made
        pt.compute(x)
        assert team.arrays.memory_in_use <= before

    pt.spmd(job, n_ranks)


def test_arrays_that_are_kept_reach_the_limit() -> None:
    def job(_: pt.Team) -> int:
        x = pt.ones((100, 100))
        x.sync()
        kept: list[Any] = []
        with pytest.raises(MemoryError), pt.memory_limit("600 kB"):
            kept.extend(x.redistribute("*, block") for _ in range(30))
        return len(kept)

    assert pt.spmd(job, 1)[0] < 8


def test_what_differing_programs_were_to_write_is_lost_and_says_so() -> None:
    def job(team: pt.Team) -> list[Any]:
        other, a = pt.ones(6), pt.arange(6.0)
        other.sync()
        a += 5 if team.rank == 0 else np.ones(6)
        with pytest.raises(pt.MismatchError):
            float(a.sum())
        with pytest.raises(RuntimeError, match="lost") as lost:
            float(a.sum())
        seen = [lost.value.reason, float(other.sum())]  # type: ignore[attr-defined]
        a[:] = 3
        return [*seen, float(a.sum())]

    assert pt.spmd(job, 2) == [["elements-lost", 6.0, 18.0]] * 2


def test_a_mean_over_ranks_is_divided_once() -> None:
    def job(team: pt.Team) -> float:
        return float(pt.mean(pt.asarray(np.array([-2.25, 1, 1.25], "float32"), "block")))

    assert pt.spmd(job, 3) == [0.0] * 3


def test_loops_that_never_repeat_keep_their_memory() -> None:
    s: Any = pt.arange(50.0)

    def steps() -> int:
        nonlocal s
        for i in range(100_000):
            s = s + 1 if i % 100 else s.copy()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    steps()
    assert steps() - steps() >= -3000, "kilobytes of 100,000 steps"


def test_an_ellipsis_parts_index_arrays_even_without_dimensions() -> None:
    ours, theirs = pt.zeros((4, 5, 3)), np.zeros((4, 5, 3))
    keys: list[Any] = [(slice(None), [0, 1], ..., [0, 1]), (slice(0, 4, 2), 4, ..., [0, 1, 1, 0])]
    for key in keys:
        assert ours[key].shape == theirs[key].shape


def test_squeezed_elements_are_views() -> None:
    a = pt.ones(1)
    s = pt.squeeze(a, axis=0)
    a[:] = 5
    assert float(s) == 5


def test_writes_to_nothing_are_checked() -> None:
    a = pt.zeros(5)
    with pytest.raises(ValueError, match=r"\[0\] and \[3\]"):
        a[2:2] = pt.ones(3)
    a[[1, 2]] = pt.ones((1, 2))
    assert a.tolist() == [0, 1, 1, 0, 0]


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
@pytest.mark.parametrize("maps", ["cyclic", "cyclic(2)", "block+halo(1,1)+periodic"])
def test_parts_that_are_no_boxes_are_written(maps: str, n_ranks: int) -> None:
    def job(team: pt.Team) -> None:
        ours: Any = pt.zeros(8, layout=maps)
        theirs: Any = np.zeros(8)
        for one in (ours, theirs):
            one += 1
            one[0] = 5
            view = one[2:7]
            view[:] = view[::-1] * 2 + np.arange(5)
        assert maps in ours.layout.notation
        np.testing.assert_array_equal(ours.gather(), theirs)
        for piece, held in ours.pieces:
            inside = [at % 8 for at in range(piece.start[0], piece.start[0] + piece.shape[0])]
            np.testing.assert_array_equal(held, theirs[inside])
        twin = ours.copy()
        twin[1] = 9
        assert ours.gather()[1] == theirs[1]
        assert twin.gather()[1] == 9

    pt.spmd(job, n_ranks)


def test_writes_reach_numpys_memory_though_their_array_is_dropped() -> None:
    def add_one(x: Any) -> None:
        a = pt.asarray(x)
        a += 1

    x = np.zeros(4)
    b = pt.asarray(x)
    add_one(x)
    assert float(b.sum()) == 4
    pt.asarray(x)[1:] = 5
    np.testing.assert_array_equal(b.gather(), [1, 5, 5, 5])
    a = pt.asarray(x)
    a += 1
    total = a.sum()
    del a
    assert float(total) == 20
    np.testing.assert_array_equal(x, [2, 6, 6, 6])


def test_empty_views_leave_the_memory_of_others_alone() -> None:
    x = np.array([1.0, 2, 3, 4])
    a, nothing, c = pt.asarray(x), pt.asarray(x[4:1]), pt.asarray(x[1:])
    seen, none = c * 1, nothing + 1
    a *= 2
    c += 1
    a *= 2
    np.testing.assert_array_equal(a.gather(), [4, 10, 14, 18])
    np.testing.assert_array_equal(seen.gather(), [2, 3, 4])
    assert none.shape == (0,)


def test_what_was_refused_and_dropped_is_forgotten() -> None:
    kept = pt.arange(4.0) * 2
    huge = pt.empty(10**13)
    huge[0] = 1
    for _ in range(3):
        with pytest.raises(MemoryError):
            float(huge[0])
    del huge
    assert float(pt.zeros(3).sum()) == 0
    np.testing.assert_array_equal((kept + 1).gather(), [1, 3, 5, 7])


def test_what_is_kept_for_later_counts_with_a_limit() -> None:
    """Arrays of many sizes leave blocks behind; together with a limit they must fit it."""
    script = """
import partita as pt
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * 4096
before = resident()
with pt.memory_limit(100_000_000):
    for i in range(1, 41):
        a = pt.ones(i * 200_000) + 1
        a.sync()
        del a
    print(resident() - before)
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert int(done.stdout) < 110_000_000


@pytest.mark.parametrize("n_ranks", [1, 2])
def test_many_results_with_numbers_of_their_own(n_ranks: int) -> None:
    def body(_: Any) -> None:
        a = pt.ones(8)
        a.sync()
        many = [a * (i + 0.5) for i in range(200)]
        assert [float(one[0]) for one in many] == [i + 0.5 for i in range(200)]
        stacked = pt.stack([pt.full(5, float(i)) + 1 for i in range(80)])
        assert float(stacked.sum()) == 5 * sum(range(1, 81))

    pt.spmd(body, n_ranks)
