"""Programs that go wrong say so alike with passes and without, and print no rank's own number."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import partita as pt

ENV = "#dist.dist_env<team = 1 loffs = ? lparts = ?,?,?>"
TYPES = f"""
!a = !ndarray.ndarray<6xf64, {ENV}>
!i = !ndarray.ndarray<6xi64, {ENV}>
!c = !ndarray.ndarray<6xcomplex<f64>, {ENV}>
!n = !ndarray.ndarray<?xf64, {ENV}>
!s = !ndarray.ndarray<f64, #dist.dist_env<team = 1>>
"""


def run(tmp_path: Path, text: str, n_ranks: int, *options: str) -> subprocess.CompletedProcess[str]:
    file = tmp_path / "program.mlir"
    file.write_text(text)
    program = Path(sys.executable).parent / "partita"
    command = [str(program), "run", "-n", str(n_ranks), str(file), *options]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


RANK = """
func.func @f() -> index {
  %r = "distruntime.team_member"() {team = 1 : i64} : () -> index
  return %r : index
}
"""


@pytest.mark.parametrize("passes", ["none", "default"])
def test_a_number_that_differs_between_ranks_is_not_printed(tmp_path: Path, passes: str) -> None:
    done = run(tmp_path, RANK, 3, "--passes", passes)
    assert done.returncode != 0
    assert "0 on rank 0 and 1 on rank 1" in done.stderr
    done = run(tmp_path, RANK, 3, "--passes", passes, "--local")
    assert done.stdout == "rank 0:\n0\nrank 1:\n1\nrank 2:\n2\n"


@pytest.mark.parametrize("passes", ["none", "default"])
def test_a_slice_that_leaves_its_array_is_named(tmp_path: Path, passes: str) -> None:
    text = f"""{TYPES}
func.func @f(%o: index) -> !n {{
  %x = arith.constant 1.0 : f64
  %c6 = arith.constant 6 : index
  %a = ndarray.create %c6 value %x : (index, f64) -> !a
  %v = ndarray.subview %a[%o][%o][1] : !a to !n
  return %v : !n
}}
"""
    done = run(tmp_path, text, 2, "--passes", passes, "--arg", "0=4")
    assert done.returncode != 0
    assert "line 12" in done.stderr
    assert "4 entries from 4 on with stride 1 leaves dimension 0 of size 6" in done.stderr
    done = run(tmp_path, text, 2, "--passes", passes, "--arg", "0=3")
    assert done.stdout == "[1. 1. 1.]\n"


@pytest.mark.parametrize(
    ("element", "array"),
    [("!i", np.arange(6.0)), ("!a", np.arange(6) * 1j), ("!i", np.arange(6, dtype=np.uint64))],
)
def test_an_array_is_not_cut_down_to_its_argument(
    element: str, array: np.ndarray[Any, Any]
) -> None:
    module = pt.ir.parse(
        f"{TYPES}\nfunc.func @f(%a: {element}) -> {element} {{\n  return %a : {element}\n}}"
    )
    with pytest.raises(pt.ProgramError, match=f"has elements of {array.dtype}") as error:
        module.run("f", array)
    assert error.value.reason == "argument"
    with pytest.raises(pt.ProgramError, match="convert the array to"):
        module.run("f", array)


@pytest.mark.parametrize("passes", [[], ["default"]])
@pytest.mark.parametrize("n_ranks", range(1, 6))
def test_variance_of_complex_numbers_is_numpys(n_ranks: int, passes: list[str]) -> None:
    module = pt.ir.parse(
        f"{TYPES}\nfunc.func @f(%a: !c) -> (!s, !s) {{\n"
        "  %v = ndarray.reduction var %a : (!c) -> !s\n"
        "  %d = ndarray.reduction std %a : (!c) -> !s\n"
        "  return %v, %d : !s, !s\n}"
    ).apply(*passes)
    array = np.array([1 + 2j, -3j, 4, 2 - 1j, 7j, -5 + 1j])
    for variance, deviation in pt.spmd(lambda team: module.run("f", array, team=team), n_ranks):
        np.testing.assert_allclose(variance, array.var())
        np.testing.assert_allclose(deviation, array.std())


def test_a_use_behind_a_delete_is_seen_before_the_run() -> None:
    module = pt.ir.parse(
        f"{TYPES}\nfunc.func @f(%a: !a) -> !a {{\n"
        "  ndarray.delete %a : (!a) -> ()\n  return %a : !a\n}"
    )
    with pytest.raises(pt.ProgramError) as error:
        module.verify()
    assert error.value.reason == "use-after-delete"


def test_a_file_without_a_function_is_told(tmp_path: Path) -> None:
    done = run(tmp_path, "module {}\n", 1)
    assert done.returncode != 0
    assert "has no function with a body; write one" in done.stderr
