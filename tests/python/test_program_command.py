"""`partita run FILE.mlir` and `partita opt`: what they read, print and refuse."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import partita as pt

ROOT = Path(__file__).parents[2]
ARRAY = "!ndarray.ndarray<3xf64, #dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>>"
SAME = f"func.func @same(%a: {ARRAY}) -> {ARRAY} {{ return %a : {ARRAY} }}\n"
DIVIDE = """func.func @divide(%n: index) -> index {
  %c8 = arith.constant 8 : index
  %q = arith.divsi %c8, %n : index
  return %q : index
}
"""


def ran(*words: str) -> subprocess.CompletedProcess[str]:
    command = [str(Path(sys.executable).parent / "partita"), *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


@pytest.fixture
def program(tmp_path: Path) -> Any:
    def write(text: str) -> str:
        path = tmp_path / "program.mlir"
        path.write_bytes(text.encode())
        return str(path)

    return write


def test_numbers_that_json_lacks_are_texts(tmp_path: Path, program: Any) -> None:
    np.save(tmp_path / "a.npy", [np.nan, np.inf, -np.inf])
    done = ran("run", "-n", "2", program(SAME), "--arg", f"0={tmp_path / 'a.npy'}", "--json")
    strict = json.loads(done.stdout, parse_constant=lambda word: pytest.fail(word))
    assert strict["results"][0]["data"] == ["NaN", "Infinity", "-Infinity"]


def test_the_big_end_may_come_first(tmp_path: Path, program: Any) -> None:
    np.save(tmp_path / "a.npy", np.array([1.5, -2.0, 3.0], ">f8"))
    done = ran("run", "-n", "2", program(SAME), "--arg", f"0={tmp_path / 'a.npy'}")
    assert done.stdout == "[ 1.5 -2.   3. ]\n", done.stderr


def test_texts_in_arrays_are_refused(tmp_path: Path, program: Any) -> None:
    np.save(tmp_path / "a.npy", np.array(["x"]))
    done = ran("run", "-n", "1", program(SAME), "--arg", f"0={tmp_path / 'a.npy'}")
    assert done.returncode == 2
    assert "has elements of `<U1`; save numbers" in done.stderr


def test_default_is_a_pass_among_others(program: Any) -> None:
    heat = str(ROOT / "examples/heat.mlir")
    for passes in ("default", "default,cse", "none", "cse, default"):
        done = ran("run", "-n", "2", heat, "--arg", "0=3", "--passes", passes, "--json")
        assert done.returncode == 0, done.stderr
    assert ran("opt", "--list-passes").stdout.startswith("default ")
    twice = ran("opt", heat, "--pass", "default,cse").stdout
    assert twice == ran("opt", heat, "--pass", "default", "--pass", "cse").stdout != ""
    assert ran("run", "-n", "1", heat, "--arg", "0=3", "--passes", "default,x").returncode == 2


def test_a_mark_of_the_byte_order_is_no_part_of_a_program(program: Any) -> None:
    done = ran("run", "-n", "1", program("\ufeff" + DIVIDE), "--arg", "0=2")
    assert done.stdout == "4\n", done.stderr


def test_missing_arguments_are_named(program: Any) -> None:
    done = ran("run", "-n", "1", program(DIVIDE))
    assert "which takes 1; give 1 with --arg I=VALUE, I from 0 to 0" in done.stderr


def test_a_failed_run_shows_its_line(program: Any) -> None:
    done = ran("run", "-n", "2", program(DIVIDE), "--arg", "0=0")
    assert done.returncode == 1
    assert "line 3, column 8" in done.stderr
    assert done.stderr.endswith("\n    %q = arith.divsi %c8, %n : index\n         ^\n"), done.stderr
    with pytest.raises(
        pt.ProgramError, match=r"\n    %q = arith.divsi %c8, %n : index\n         \^"
    ):
        pt.ir.parse(DIVIDE).run("divide", 0)


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ((), 1, "which takes 1; give 1"),
        (("--arg", "0=no-such-file.npy"), 2, "is no number and no file"),
        (("--arg", "0=0"), 1, "divided by 0"),
        (("--arg", "0=1", "--passes", "x"), 2, "there is no pass `x`"),
    ],
)
def test_processes_tell_what_is_wrong_once(
    program: Any, words: tuple[str, ...], status: int, said: str
) -> None:
    done = ran("run", "-n", "3", "--engine", "mpi", program(DIVIDE), *words)
    assert done.stderr.count(said) == 1, done.stderr
    told = [line for line in done.stderr.splitlines() if line.startswith("error")]
    assert len(told) == 1, done.stderr
    assert done.returncode == status


def test_programs_with_numbers_and_any_operation_are_explained(program: Any) -> None:
    heat = str(ROOT / "examples/heat.mlir")
    explained = ran("opt", heat, "--explain", "3", "--arg", "0=4")
    assert "@heat on 3 ranks" in explained.stdout, explained.stderr
    assert ran("opt", heat, "--explain", "3").returncode == 1
    running = f"""
    func.func @f(%a: {ARRAY}) -> {ARRAY} {{
      %b = ndarray.cumulative sum %a {{axis = 0 : i64}} : ({ARRAY}) -> {ARRAY}
      return %b : {ARRAY}
    }}"""
    done = ran("opt", program(running), "--explain", "2")
    assert "counted by running it with arrays of zeros" in done.stdout, done.stderr
    assert "@heat on 2 ranks" in pt.ir.parse(Path(heat).read_text()).explain(2, 4)


def test_iota_has_a_form_for_people(program: Any) -> None:
    text = """func.func @f(%n: index) -> !ndarray.ndarray<?x3xi64> {
  %c3 = arith.constant 3 : index
  %0 = ndarray.iota %n, %c3 {axis = 1 : i64} : (index, index) -> !ndarray.ndarray<?x3xi64>
  return %0 : !ndarray.ndarray<?x3xi64>
}
"""
    assert ran("opt", program(text), "--form", "rfc").stdout == text
    assert ran("run", "-n", "1", program(text), "--arg", "0=2").stdout == "[[0 1 2]\n [0 1 2]]\n"
