"""Where new arrays go, what programs cost, what they did, how much they may take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import partita as pt


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
        "block(last), block(last) @ 2x2",
        "block(last), block(last) @ 2x2",
        "block(last) @ 4",
        "*, block(last) @ 1x4",
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


def test_a_bar_for_long_computations(capfd: pytest.CaptureFixture[str]) -> None:
    array = pt.ones(3_000_000)
    with pt.progress():
        for _ in range(40):
            array = pt.sin(pt.cumulative_sum(array) * 1e-6) + 1
        array.sync()
    assert " loops, " in capfd.readouterr().err
    pt.compute(array + 1)
    assert capfd.readouterr().err == ""


def test_ranks_that_differ_are_told_where() -> None:
    def job(team: pt.Team) -> str:
        array = pt.ones(8)
        if team.rank == 1:
            array = array * 3
        with pytest.raises(pt.MismatchError, match="same program") as told:
            float(array.sum())
        return str(told.value)

    for message in pt.spmd(job, 2):
        assert message.count("test_array_looking.py, line") == 2


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
