"""Where new arrays go, what programs cost, what they did, how much they may take."""

from __future__ import annotations

import inspect
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import partita as pt


def line() -> int:
    """The line of the caller."""
    return sys._getframe(1).f_lineno


def stepped(array: Any, n_steps: int = 3) -> None:
    for _ in range(n_steps):
        array[1:-1] = (array[:-2] + array[2:]) * 0.5


def test_layouts_by_notation() -> None:
    def job(team: pt.Team) -> list[str]:
        with pt.default_layout("block, block"):
            made: list[Any] = [pt.zeros((8, 8)), pt.ones((8, 8)) + 1, pt.arange(8.0)]
        made += [pt.zeros((6, 8), layout="*, block"), pt.arange(9.0, layout="cyclic")]
        made += [made[3] * 2, pt.asarray(np.ones((4, 4)), "block, *")]
        return [one.layout.notation for one in made]

    assert pt.spmd(job, 4)[0] == [
        "block, block @ 2x2",
        "block(last), block(last) @ 2x2",
        "block @ 4",
        "*, block @ 1x4",
        "cyclic @ 4",
        "*, block(last) @ 1x4",
        "block, * @ 4x1",
    ]


def test_a_default_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTITA_DEFAULT_LAYOUT", "*, block")
    made = pt.spmd(lambda team: pt.zeros((4, 8)).local.shape, 2)
    assert made == [(4, 4), (4, 4)]


def test_a_wrong_default_is_told_at_once() -> None:
    with pytest.raises(pt.LayoutError, match="blok"), pt.default_layout("blok"):
        pass


@pytest.mark.parametrize(
    ("notation", "told"),
    [
        ("block @ 7", r"needs rank 6 where there are 2 ranks; use 'block @ 2'"),
        ("block @ 1 on 2", r"needs rank 2 where there are 2 ranks"),
        (pt.Layout((8,), "block @ 3"), r"needs rank 2 where there are 2 ranks"),
    ],
)
def test_layouts_of_other_numbers_of_ranks_are_refused(notation: Any, told: str) -> None:
    def job(team: pt.Team) -> None:
        for make in (pt.ones, pt.arange):
            with pytest.raises(pt.LayoutError, match=told):
                make(8, layout=notation)
        if isinstance(notation, str):
            with pytest.raises(pt.LayoutError, match=told):
                pt.asarray(np.ones(8), layout=notation)

    pt.spmd(job, 2)


@pytest.mark.parametrize("n_ranks", [1, 2])
def test_defaults_that_cannot_be_had_are_refused(n_ranks: int) -> None:
    def job(team: pt.Team) -> None:
        words = f"needs rank 80 where there are {n_ranks}"
        with pytest.raises(pt.LayoutError, match=words), pt.default_layout("block, block @ 9x9"):
            pass
        with pytest.raises(TypeError, match="use a notation"), pt.default_layout(3):  # type: ignore[arg-type]
            pass

    pt.spmd(job, n_ranks)


def test_a_layout_may_be_the_default() -> None:
    def job(team: pt.Team) -> list[str]:
        with pt.default_layout(pt.Layout((8, 6), "*, block @ 1x2")):
            return [pt.zeros((4, 10)).layout.notation, pt.ones((2, 2)).layout.notation]

    assert pt.spmd(job, 2)[0] == ["*, block @ 1x2"] * 2


def test_layouts_that_can_be_had_are_kept() -> None:
    def job(team: pt.Team) -> list[str]:
        asked = ["block @ 2", "block @ 1 on 1", "block(5,3) @ 2", "block+halo(1,1) @ 2", "* @ 2"]
        made = [pt.arange(8.0, layout=one) for one in asked]
        padded: Any = made[3]
        padded[...] = np.arange(8.0) + 10
        padded.exchange_halo()
        wanted = [[10, 11, 12, 13, 14], [13, 14, 15, 16, 17]][team.rank]
        np.testing.assert_array_equal(padded.local, wanted)
        assert float(padded.sum()) == 108.0
        assert made[1].local.size == 8 * team.rank
        cyclic = made[0].redistribute("cyclic")
        np.testing.assert_array_equal(cyclic.local, np.arange(team.rank, 8, 2.0))
        with pytest.raises(pt.LayoutError, match="needs rank 8"):
            cyclic.redistribute("block @ 9")
        for one in made[:3]:
            np.testing.assert_array_equal((one * 2).gather(), np.arange(8.0) * 2)
        return [one.layout.notation for one in made]

    assert pt.spmd(job, 2)[0] == [
        "block @ 2",
        "block @ 1 on 1..2",
        "block(5,3) @ 2",
        "block+halo(1,1) @ 2",
        "* @ 2",
    ]


def test_explain_names_lines_of_exchanges_and_takes_several_arrays() -> None:
    def job(team: pt.Team) -> Any:
        array = pt.arange(64.0)
        array.sync()
        moved = array[::-1] * array
        told = pt.explain(moved, array)
        assert str(told).startswith("1 operation becomes ")
        assert "1 exchange of 512 bytes" in str(told)
        (exchange,) = [step for step in told.steps if step.startswith("exchange")]
        moved.sync()
        return exchange

    line = job.__code__.co_firstlineno + 3
    for exchange in pt.spmd(job, 2):
        assert f"test_array_looking.py, line {line}" in exchange


@pytest.mark.parametrize("given", [(3,), ([1, 2],), (), (np.ones(3),)])
def test_explain_refuses_what_is_no_array(given: Any) -> None:
    with pytest.raises(TypeError, match=r"use explain\(a\)"):
        pt.explain(*given)


def test_explain_counts_what_a_run_does() -> None:
    def job(team: pt.Team) -> tuple[Any, int]:
        array = pt.zeros((64, 8))
        array[0] = 1.0
        stepped(array)
        told = pt.explain(array)
        before = team.arrays.n_kernels
        pt.compute(array)
        return told, team.arrays.n_kernels - before

    for told, n_kernels in pt.spmd(job, 2):
        assert told.n_kernels == n_kernels
        assert (told.n_exchanges, told.bytes_moved) == (3, 3 * 2 * 8 * 8)
        assert "test_array_looking.py, line" in str(told)
        assert "3 exchanges of 384 bytes" in str(told)


def test_programs_that_would_not_fit_are_refused_before_they_run() -> None:
    def job(team: pt.Team) -> str:
        array = pt.arange(999.0)
        array.sync()
        in_use = team.arrays.memory_in_use
        with (
            pt.memory_limit(in_use + 1000),
            pytest.raises(MemoryError, match="memory_limit") as told,
        ):
            pt.compute(array * 2 + array)
        twice = array * 2
        assert pt.explain(twice).peak_bytes >= in_use + 8 * 999 // team.size
        assert float(twice[998]) == 1996.0
        return str(told.value.reason)  # type: ignore[attr-defined]

    assert pt.spmd(job, 1) == ["memory-limit"]
    assert pt.spmd(job, 3) == ["memory-limit"] * 3


@pytest.mark.parametrize(("given", "wanted"), [("2 GiB", 2**31), ("1.5kB", 1500), (77, 77)])
def test_amounts_of_memory(given: Any, wanted: int) -> None:
    with pt.memory_limit(given):
        assert pt.world().arrays.memory_limit == wanted
    assert pt.world().arrays.memory_limit is None


def test_wrong_amounts_and_files_are_refused() -> None:
    with pytest.raises(pt.LayoutError, match="2 GiB"):
        pt.memory_limit("much")
    with pytest.raises(pt.LayoutError, match=r"FILE\.svg"):
        pt.profile("run.png")


def test_a_profile_has_kernels_and_exchanges_of_every_rank(tmp_path: Path) -> None:
    def job(team: pt.Team) -> str:
        array = pt.zeros((64, 64))
        array[0] = 1.0
        with pt.profile(tmp_path / "run.json") as run:
            stepped(array)
        run.save(tmp_path / f"rank{team.rank}.svg")
        return run.trace

    traces = pt.spmd(job, 2)
    assert traces[0] == traces[1] == (tmp_path / "run.json").read_text(encoding="utf-8")
    events = json.loads(traces[0])["traceEvents"]
    for rank in range(2):
        names = [one["name"] for one in events if one["pid"] == rank and one["ph"] == "X"]
        assert any(name.startswith("kernel") for name in names)
        assert sum(name.startswith("exchange") for name in names) == 3
    assert (tmp_path / "rank1.svg").read_text(encoding="utf-8").startswith("<svg")


def events_of(trace: str, rank: int, kind: str) -> list[dict[str, Any]]:
    events = json.loads(trace)["traceEvents"]
    return [one for one in events if one["pid"] == rank and one.get("cat") == kind]


def test_the_file_of_a_profile_is_there_when_any_rank_goes_on(tmp_path: Path) -> None:
    class Slow(pt.profile):
        def save(self, file: Any) -> None:
            time.sleep(0.2)
            super().save(file)

    def job(_: pt.Team) -> bool:
        with Slow(tmp_path / "run.json"):
            pt.compute(pt.arange(10.0) + 1)
        return (tmp_path / "run.json").exists()

    def nowhere(_: pt.Team) -> None:
        with pt.profile(tmp_path / "nowhere" / "run.json"):
            pass

    assert pt.spmd(job, 3) == [True] * 3
    with pytest.raises(OSError, match="nowhere"):
        pt.spmd(nowhere, 2)


def test_a_profile_shows_waiting_for_other_ranks() -> None:
    def job(team: pt.Team) -> tuple[str, str]:
        array = pt.zeros((64, 64))
        with pt.profile() as run:
            array[0] = 1.0
            if team.rank == 1:
                time.sleep(0.5)
            assert float(array.sum()) == 64.0
        return run.trace, run.svg

    trace, svg = pt.spmd(job, 2)[0]
    longest = max(one["dur"] for one in events_of(trace, 0, "waiting"))
    assert 3e5 < longest < 5e6
    assert all(one["dur"] < 3e5 for one in events_of(trace, 1, "waiting"))
    assert all(one["dur"] < 3e5 for one in events_of(trace, 0, "exchange"))
    assert "waiting" in svg


def test_a_profile_inside_another_takes_nothing_from_it() -> None:
    with pt.profile() as outer:
        pt.compute(pt.arange(1000.0) + 1)
        with pt.profile() as inner:
            pt.compute(pt.arange(2000.0) * 2)
        pt.compute(pt.arange(3000.0) - 1)
    kernels = [one["name"] for one in events_of(outer.trace, 0, "kernel")]
    assert kernels == ["kernel 1000", "kernel 2000", "kernel 3000"]
    assert [one["name"] for one in events_of(inner.trace, 0, "kernel")] == ["kernel 2000"]


@pytest.mark.parametrize("n_ranks", [1, 2])
def test_a_profile_notes_what_was_pending(n_ranks: int) -> None:
    def job(team: pt.Team) -> None:
        array = pt.zeros((64, 64))
        array[1:] = array[:-1] + 1
        with pt.profile() as run:
            pt.compute(array)
        assert events_of(run.trace, team.rank, "kernel")

    pt.spmd(job, n_ranks)


def test_a_profile_of_one_rank_is_named() -> None:
    def job(team: pt.Team) -> list[str]:
        if team.rank == 1:
            with pytest.raises(pt.MismatchError, match="profile") as alone, pt.profile():
                pass
            return [str(alone.value), *alone.value.__notes__]
        with pytest.raises(pt.MismatchError) as other:
            team.barrier()
        return [str(other.value)]

    barrier, profile = pt.spmd(job, 2)
    assert barrier[0] == profile[0]
    assert "rank 1 has profile" in profile[0]
    assert "test_array_looking.py, line " in profile[1]


def test_a_profile_of_what_is_refused_ends() -> None:
    array = pt.arange(1000.0) + 1
    with pytest.raises(MemoryError), pt.memory_limit(10), pt.profile():
        pass
    pt.compute(array)
    assert array._rank.record_activity(False) == ""


def test_a_bar_for_long_computations(capfd: pytest.CaptureFixture[str]) -> None:
    array = pt.ones(12_000_000)
    with pt.progress():
        for _ in range(40):
            array = pt.sin(pt.cumulative_sum(array) * 1e-6) + 1
        array.sync()
    assert " loops, " in capfd.readouterr().err
    pt.compute(array + 1)
    assert capfd.readouterr().err == ""


def test_a_bar_moves_while_one_loop_runs(capfd: pytest.CaptureFixture[str]) -> None:
    long = pt.arange(100_000_000.0)
    for function in (pt.sin, pt.exp, pt.tan, pt.cosh, pt.log, pt.cos, pt.sinh, pt.atan, pt.tanh):
        long = function(long)
    # Nothing but the sum is stored.
    long = long.sum()
    with pt.progress():
        long.sync()
        shown = capfd.readouterr().err
        bars = shown.rstrip("\n").split("\r")[1:]
        n_all = int(bars[0].split(" of ")[1].split()[0])
        assert f" 0 of {n_all} loops" in bars[0], shown
        assert f" {n_all} of {n_all} loops" in bars[-1], shown
        # One line, which ends with the computation.
        assert shown.endswith("s\n")
        assert shown.count("\n") == 1
        pt.compute(pt.arange(10.0) + 1)
        assert capfd.readouterr().err == ""


def test_explain_names_the_line_of_a_fill_and_of_shares() -> None:
    def job(team: pt.Team) -> None:
        plate = pt.zeros((63, 65))
        here = line() - 1
        plate[1:3] = 2.0
        steps = pt.explain(plate).steps
        assert steps[0].endswith(f"line {here}"), steps
        x = plate * 2
        y = pt.ones((63, 65)) + plate
        told = pt.explain((x + y).sum(axis=0))
        assert all("from" in step for step in told.steps), told

    pt.spmd(job, 1)
    pt.spmd(job, 3)


def test_what_is_too_much_is_named_with_line_shape_and_type() -> None:
    def job(team: pt.Team) -> str:
        made = pt.arange(40_000.0).reshape(200, 200) + 1
        here = line() - 1
        with pytest.raises(MemoryError, match="largest") as told, pt.memory_limit(1000):
            made.sync()
        message = str(told.value)
        assert "float64 [200, 200] with " in message, message
        assert f"test_array_looking.py, line {here}" in message, message
        return message

    pt.spmd(job, 1)
    assert len(set(pt.spmd(job, 2))) == 1


def test_shapes_that_do_not_fit_are_named_with_types_and_layouts() -> None:
    with pytest.raises(ValueError, match=r"\[4, 6\] and \[3, 5\].*of float64 and float32"):
        pt.zeros((4, 6)) + pt.ones((3, 5), dtype="float32")

    def job(_: pt.Team) -> None:
        a = pt.arange(12.0)
        a.sync()
        with pytest.raises(ValueError, match=r"float64 in block\(6,6\)"):
            a + pt.ones(5)

    pt.spmd(job, 2)


@pytest.mark.parametrize("n_ranks", [1, 2])
@pytest.mark.parametrize("dtype", ["complex128", "complex64"])
def test_the_program_of_complex_arrays(dtype: str, n_ranks: int) -> None:
    start = (np.arange(6.0) + 2j).astype(dtype)

    def job(team: pt.Team) -> None:
        array: Any = pt.empty(6, dtype=dtype)
        array[...] = start
        array.sync()
        made = (array * (1 - 2j) + complex(0, np.inf)).conj()
        program = made.ir()
        for module in (program.before, program.after):
            _, found = module.run("program", start, team=team)
            np.testing.assert_array_equal(found, made.gather())

    pt.spmd(job, n_ranks)


def test_a_program_has_no_word_of_what_was_dropped() -> None:
    array = pt.arange(4.0)
    array.sync()
    dropped = pt.random.default_rng(1).random(4) * 1j
    del dropped
    text = str((array + 1).ir())
    assert "complex" not in text, text


def test_ranks_that_differ_are_told_where() -> None:
    def job(team: pt.Team) -> str:
        array = pt.arange(8.0)
        if team.rank == 1:
            array = array * 3
        with pytest.raises(pt.MismatchError, match="same program") as told:
            float(array.sum())
        return str(told.value)

    for message in pt.spmd(job, 2):
        assert message.count("test_array_looking.py, line") == 2
        # What stands there, and what each rank does.
        assert "(`float(array.sum())`)" in message, message
        assert "(`array = array * 3`)" in message, message
        assert "sum over axes [0] of float64 (8,)" in message, message
        assert "multiply of float64 (8,)" in message, message


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_the_program_of_an_array_gives_the_array(n_ranks: int) -> None:
    start = np.random.default_rng(1).random((12, 8))

    def job(team: pt.Team) -> None:
        array: Any = pt.empty((12, 8))
        array[...] = start
        array.sync()
        stepped(array, 2)
        turned = array.T[::-2] * 2 + pt.arange(12.0)
        spread = pt.var(turned, axis=1, keepdims=True, correction=1)
        program = array.ir()
        for module in (program.before, program.after):
            found = module.run("program", start, team=team)
            for one, wanted in zip(found, (array, turned, spread), strict=True):
                np.testing.assert_allclose(one, wanted.gather(), rtol=1e-13)
        assert "ndarray.insert_slice" in str(program)

    pt.spmd(job, n_ranks)


VIEWS: dict[str, Any] = {
    "another shape": lambda a: a.reshape(4, 6) + 1,
    "a part in another shape": lambda a: a[1:13].reshape(3, 4) * 2,
    "every other": lambda a: a.reshape(4, 6)[::2, ::-1] - 1,
    "columns": lambda a: a.reshape(4, 6)[:, 1:3] * 2,
    "turned": lambda a: a.reshape(2, 3, 4).transpose((2, 0, 1)) + 1,
    "repeated": lambda a: a.reshape(4, 6)[:, None] * a[:2].reshape(1, 2, 1),
    "diagonals": lambda a: a[3:21].reshape(2, 9)[:, ::4] + 1,
    "diagonals from below": lambda a: a[:18].reshape(2, 9)[::-1, 7:0:-2] + 1,
}


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
@pytest.mark.parametrize("name", VIEWS)
def test_the_program_of_reshaped_arrays(name: str, n_ranks: int) -> None:
    start = np.random.default_rng(2).random(24)
    wanted = VIEWS[name](start)

    def job(team: pt.Team) -> None:
        array: Any = pt.empty(24)
        array[...] = start
        array.sync()
        made = VIEWS[name](array)
        program = made.ir()
        for module in (program.before, program.after):
            # The array itself is a result, too.
            _, found = module.run("program", start, team=team)
            np.testing.assert_allclose(found, wanted, rtol=1e-13)
        np.testing.assert_allclose(made.gather(), wanted, rtol=1e-13)

    pt.spmd(job, n_ranks)


@pytest.mark.parametrize("n_ranks", [1, 2])
def test_the_program_of_writes_to_reshaped_arrays(n_ranks: int) -> None:
    start = np.random.default_rng(3).random(24)
    wanted = start.copy()
    wanted[2:14].reshape(3, 4)[:, 1:3] = 7.0

    def job(team: pt.Team) -> None:
        array: Any = pt.empty(24)
        array[...] = start
        array.sync()
        array[2:14].reshape(3, 4)[:, 1:3] = 7.0
        program = array.ir()
        for module in (program.before, program.after):
            found = module.run("program", start, team=team)
            np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(array.gather(), wanted)

    pt.spmd(job, n_ranks)


@pytest.mark.parametrize("n_ranks", [1, 2])
@pytest.mark.parametrize("part", [slice(None, None, 6), slice(4, 21, 4), slice(23, None, -6)])
def test_the_program_of_a_diagonal(part: slice, n_ranks: int) -> None:
    start = np.random.default_rng(4).random((5, 5))
    wanted = start.copy()
    wanted.reshape(25)[part] *= 2.0

    def job(team: pt.Team) -> None:
        array: Any = pt.empty((5, 5))
        array[...] = start
        array.sync()
        array.reshape(25)[part] *= 2.0
        program = array.ir()
        for module in (program.before, program.after):
            found = module.run("program", start, team=team)
            np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(array.gather(), wanted)

    pt.spmd(job, n_ranks)


def test_arrays_go_where_larger_ones_are() -> None:
    def job(team: pt.Team) -> list[Any]:
        x = pt.arange(8.0)
        scattered = pt.zeros((8, 4))
        scattered[[1, 2], [3, 3]] = 1.0
        made = [x + x[:, None], pt.ones((8, 4)) * np.arange(4.0), scattered]
        return [one.local.shape for one in made]

    assert pt.spmd(job, 2) == [[(4, 8), (4, 4), (4, 4)]] * 2


def test_what_is_not_computed_is_shown_without_asking_others() -> None:
    def job(team: pt.Team) -> str:
        array = pt.ones(4) + 1
        shown = repr(array) if team.rank == 0 else ""
        assert float(array.sum()) == 8.0
        return shown

    assert pt.spmd(job, 2)[0] == "<Array (4,) float64, not computed yet>"


def test_simple_powers_are_exact() -> None:
    numbers = np.random.default_rng(0).random(1000)
    array: Any = pt.asarray(numbers)
    for exponent in (2, 0.5, -1, 2.0):
        np.testing.assert_array_equal((array**exponent).gather(), numbers**exponent)
    assert (pt.arange(5) ** 2).dtype == np.int64


@pytest.mark.parametrize("n_ranks", [1, 2])
def test_a_loop_that_never_reads_keeps_no_temporaries(n_ranks: int) -> None:
    def job(team: pt.Team) -> int:
        array = pt.zeros((256, 256))
        array[0] = 1.0
        most = 0
        for _ in range(200):
            stepped(array, 1)
            most = max(most, team.arrays.memory_in_use)
        return most

    # The array, its next content and the one before it, with margins.
    assert all(most < 3.5 * 8 * 256 * 256 / n_ranks for most in pt.spmd(job, n_ranks))


def test_explain_tells_of_what_was_brought_to_every_rank() -> None:
    def job(team: pt.Team) -> tuple[int, str]:
        before = pt.gathers().get("linalg.eigvalsh", 0)
        pt.linalg.eigvalsh(pt.ones((100, 100)))
        team.barrier()
        return pt.gathers()["linalg.eigvalsh"] - before, str(pt.explain(pt.ones(4) + 1))

    with pytest.warns(pt.GatherWarning, match=r"eigvalsh brings all 10,000 elements"):
        found = pt.spmd(job, 2)
    assert found[0][0] == 1
    assert "eigvalsh has brought whole arrays to every rank" in found[0][1]


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_asking_for_the_team_starts_nothing(n_ranks: int) -> None:
    def job(team: pt.Team) -> None:
        array: Any = pt.ones((8, 8)) * 2
        recorded = pt.explain(array).n_operations
        assert array.team is team
        assert pt.explain(array).n_operations == recorded > 0

    pt.spmd(job, n_ranks)


def test_copies_are_counted_on_every_rank() -> None:
    def job(team: pt.Team) -> Any:
        a = pt.arange(12.0).reshape(6, 2) + 0
        x = np.ones(3)
        x.flags.writeable = False
        before = pt.explain(a).taken
        a.gather()
        a.gather()
        a.redistribute("*, block")
        whole = pt.asarray(x, copy=True)
        told = pt.explain(a, whole)
        assert "so far gather has taken 192 bytes in 2 calls" in str(told)
        return before, told.taken

    for n_ranks in (1, 2):
        wanted = {"gather": (2, 192), "redistribute": (1, 96 // n_ranks), "asarray": (1, 24)}
        assert pt.spmd(job, n_ranks) == [({}, wanted)] * n_ranks


def test_equal_operations_have_the_lines_of_their_own() -> None:
    def earlier() -> None:
        x = pt.ones((10, 13)) * 2
        x.sync()

    def body(_: Any) -> None:
        earlier()
        again = pt.ones((10, 13)) * 2
        line = inspect.currentframe().f_lineno - 1  # type: ignore[union-attr]
        assert f"line {line}" in str(pt.explain(again))

    pt.spmd(body, 1)
