"""Programs in Python and from the command: the same results on every number of ranks."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import partita as pt

ANY = "-9223372036854775808"


def dist(sizes: str, ndim: int) -> str:
    """The type of a distributed array of float64."""
    part = f"array<i64: {', '.join([ANY] * ndim)}>"
    env = f"#dist.dist_env<1 : i64, {part}, [{part}, {part}, {part}]>"
    return f"!ndarray.ndarray<tensor<{sizes}xf64>, {env}>"


WHOLE, INNER = dist("9x7", 2), dist("7x7", 2)


def view(name: str, row: int) -> str:
    slices = (
        f"{{static_offsets = array<i64: {row}, 0>, static_sizes = array<i64: 7, 7>, "
        "static_strides = array<i64: 1, 1>}"
    )
    return f'%{name} = "ndarray.subview"(%a) {slices} : ({WHOLE}) -> {INNER}'


# Each inner row becomes the sum of its neighbours, n times.
SMOOTH = f"""
func.func @smooth(%a: {WHOLE}, %n: index) -> ({WHOLE}, index) {{
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  scf.for %i = %c0 to %n step %c1 {{
    {view("x", 0)}
    {view("y", 2)}
    %z = "ndarray.ewbin"(%x, %y) {{op = 0 : i32}} : ({INNER}, {INNER}) -> {INNER}
    "ndarray.insert_slice"(%a, %z) {{static_offsets = array<i64: 1, 0>,
      static_sizes = array<i64: 7, 7>, static_strides = array<i64: 1, 1>}}
      : ({WHOLE}, {INNER}) -> ()
  }}
  return %a, %n : {WHOLE}, index
}}
"""


def smoothed(a: np.ndarray[Any, Any], n: int) -> np.ndarray[Any, Any]:
    a = a.copy()
    for _ in range(n):
        a[1:-1] = a[:-2] + a[2:]
    return a


START = np.arange(63.0).reshape(9, 7)


def _run(team: pt.Team, passes: tuple[str, ...]) -> Any:
    module = pt.ir.parse(SMOOTH).apply(*passes)
    found = module.run("smooth", START, 3, team=team)
    assert module.last_run is not None
    return found, module.last_run["exchanges"]


@pytest.mark.parametrize("passes", [(), ("ndarray-dist",), ("default",)])
@pytest.mark.parametrize("n_ranks", range(1, 6))
def test_results_are_numpys_on_every_number_of_ranks(n_ranks: int, passes: tuple[str, ...]) -> None:
    for (array, number), exchanges in pt.spmd(_run, n_ranks, (passes,)):
        np.testing.assert_array_equal(array, smoothed(START, 3))
        assert number == 3
        assert exchanges > 0 or n_ranks == 1


def test_numbers_and_text() -> None:
    module = pt.ir.parse(SMOOTH)
    assert module.functions == ["smooth"]
    assert str(pt.ir.parse(str(module))) == str(module)
    assert "smooth" in repr(module)
    assert "<pre>" in module._repr_html_()
    assert "dist-coalesce" in pt.ir.passes()


def test_what_is_wrong_is_named() -> None:
    with pytest.raises(pt.ProgramError, match="2:"):
        pt.ir.parse("func.func @f() {\n  %x = nonsense\n}")
    module = pt.ir.parse(SMOOTH)
    with pytest.raises(pt.ProgramError) as error:
        module.apply("no-such-pass")
    assert error.value.reason == "pass-unknown"
    with pytest.raises(pt.ProgramError) as error:
        module.run("smooth", START)
    assert error.value.reason == "argument-count"
    with pytest.raises(pt.ProgramError) as error:
        module.run("smooth", START[1:], 1)
    assert error.value.reason == "argument"
    with pytest.raises(pt.ProgramError) as error:
        module.run("rough", START, 1)
    assert error.value.reason == "function-unknown"


def _fails_on_one(team: pt.Team) -> str:
    text = """
    func.func @f() -> index {
      %r = "distruntime.team_member"() {team = 1 : i64} : () -> index
      %c1 = arith.constant 1 : index
      %d = arith.subi %r, %c1 : index
      %q = arith.divsi %c1, %d : index
      return %q : index
    }"""
    try:
        pt.ir.parse(text).run("f", team=team)
    except pt.PartitaError as error:
        return str(error)
    return ""


def test_one_ranks_error_is_everyones() -> None:
    for message in pt.spmd(_fails_on_one, 3):
        assert "line 6" in message
        assert "divided by 0" in message


@pytest.mark.parametrize(("engine", "n_ranks"), [("threads", 3), ("mpi", 2), ("mpi", 3)])
def test_the_command_prints_results(tmp_path: Path, engine: str, n_ranks: int) -> None:
    file, array = tmp_path / "smooth.mlir", tmp_path / "a.npy"
    file.write_text(SMOOTH)
    np.save(array, START)
    program = Path(sys.executable).parent / "partita"
    command = [str(program), "run", "-n", str(n_ranks), str(file)]
    command += ["--engine", engine, "--arg", f"0={array}", "--arg", "1=3"]
    done = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["results"][0]["shape"] == [9, 7]
    assert found["results"][0]["dtype"] == "float64"
    np.testing.assert_array_equal(found["results"][0]["data"], smoothed(START, 3))
    assert found["results"][1] == 3
    assert found["exchanges"] > 0
    assert found["bytes"] > 0
    assert found["kernels"] > 0
    plain = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert plain.stdout == f"{smoothed(START, 3)}\n3\n"


def test_broken_rules_are_told_together_and_refuse_to_run() -> None:
    module = pt.ir.parse(
        "!a = !ndarray.ndarray<4xf64, #dist.dist_env<team = 1 loffs = 0 lparts = 0,4,0>>\n"
        "!b = !ndarray.ndarray<4xf64, #dist.dist_env<team = 2 loffs = 0 lparts = 0,4,0>>\n"
        "func.func @f(%x: !a, %y: !b) {\n"
        "  %z = dist.ewbin add %x, %y : (!a, !b) to !a\n"
        "  return\n"
        "}\n"
    )
    with pytest.raises(pt.ProgramError) as error:
        module.verify()
    assert error.value.reason == "teams-differ"
    assert "4:" in str(error.value)
    with pytest.raises(pt.ProgramError):
        module.run("f", np.zeros(4), np.zeros(4))


def test_a_program_is_explained_without_running_it() -> None:
    folder = Path(__file__).parents[2] / "crates/partita-ir/tests/text/passes"
    text = (folder / "stencil.mlir").read_text()
    module = pt.ir.parse(text)
    module.verify()
    explained = module.explain(3)
    assert "on 3 ranks\n  before: 5 exchanges, 480 bytes\n  after:  1 exchanges, " in explained


@pytest.mark.parametrize("steps", [8.9, float("nan"), 1 + 2j, 1e300, 2**63, 10**30])
def test_a_number_that_is_no_index_is_refused(steps: complex) -> None:
    module = pt.ir.parse((Path(__file__).parents[2] / "examples/heat.mlir").read_text())
    with pytest.raises(pt.ProgramError) as error:
        module.run("heat", steps)
    assert error.value.reason == "argument"


def test_numbers_that_decide_how_often_loops_run_are_not_guessed() -> None:
    module = pt.ir.parse((Path(__file__).parents[2] / "examples/heat.mlir").read_text())
    with pytest.raises(pt.ProgramError, match="argument 0 of `heat`"):
        module.explain(3)


def test_ctrl_c_ends_a_long_loop() -> None:
    code = (
        "import partita as pt, signal, threading, time\n"
        "from pathlib import Path\n"
        "module = pt.ir.parse(Path('examples/heat.mlir').read_text())\n"
        "pt.world()\n"
        "threading.Timer(0.5, signal.raise_signal, [signal.SIGINT]).start()\n"
        "start = time.monotonic()\n"
        "try:\n"
        "    module.run('heat', 10**12)\n"
        "except KeyboardInterrupt:\n"
        "    print('ended', time.monotonic() - start < 20)\n"
    )
    command, root = [sys.executable, "-c", code], Path(__file__).parents[2]
    done = subprocess.run(
        command, cwd=root, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "ended True\n", done.stderr


def heated(n_steps: int) -> np.ndarray[Any, Any]:
    plate = np.zeros((16, 16))
    plate[0] = 100
    for _ in range(n_steps):
        vertical = plate[:-2, 1:-1] + plate[2:, 1:-1]
        across = plate[1:-1, :-2] + plate[1:-1, 2:]
        plate[1:-1, 1:-1] = (vertical + across) * 0.25
    return plate


@pytest.mark.parametrize("passes", [[], ["default"]])
@pytest.mark.parametrize("n_ranks", [1, 2, 3, 5, 20])
def test_the_heated_plate_is_numpys(n_ranks: int, passes: list[str]) -> None:
    module = pt.ir.parse((Path(__file__).parents[2] / "examples/heat.mlir").read_text())
    module = module.apply(*passes)
    results = pt.spmd(lambda team: module.run("heat", 9, team=team), ranks=n_ranks)
    for plate in results:
        np.testing.assert_array_equal(plate, heated(9))


@pytest.mark.parametrize(("how", "wanted"), [("sum", 0.0), ("prod", 1.0)])
@pytest.mark.parametrize("n_ranks", [1, 3])
def test_nothing_adds_up_to_nothing(n_ranks: int, how: str, wanted: float) -> None:
    env = "#dist.dist_env<team = 1 loffs = {} lparts = {},{},{}>"
    module = pt.ir.parse(
        f"!e = !ndarray.ndarray<6x0xf64, {env.format('?,?', '?x?', '?x?', '?x?')}>\n"
        f"!r = !ndarray.ndarray<6xf64, {env.format('?', '?', '?', '?')}>\n"
        "func.func @f(%a: !e) -> !r {\n"
        f"  %r = ndarray.reduction {how} %a [1] : (!e) -> !r\n"
        "  return %r : !r\n"
        "}\n"
    )
    for passes in ([], ["default"]):
        changed = module.apply(*passes)
        results = pt.spmd(
            lambda team, program=changed: program.run("f", np.zeros((6, 0)), team=team),
            ranks=n_ranks,
        )
        assert all(result.tolist() == [wanted] * 6 for result in results)


def test_passes_write_the_same_program_every_time() -> None:
    module = pt.ir.parse((Path(__file__).parents[2] / "examples/heat.mlir").read_text())
    assert len({module.apply("default").text() for _ in range(20)}) == 1


def test_ctrl_c_ends_the_command() -> None:
    root = Path(__file__).parents[2]
    command = [sys.executable, "-m", "partita", "run", "-n", "2", "examples/heat.mlir"]
    with subprocess.Popen([*command, "--arg", "0=1000000000"], cwd=root) as running:
        with pytest.raises(subprocess.TimeoutExpired):
            running.wait(2)
        running.send_signal(signal.SIGINT)
        assert running.wait(10) == -signal.SIGINT


@pytest.mark.parametrize("engine", ["threads", "mpi"])
def test_the_timeline_has_every_rank(tmp_path: Path, engine: str) -> None:
    trace, picture = tmp_path / "run.json", tmp_path / "run.svg"
    options = ["-n", "2", "--engine", engine, "--arg", "0=3"]
    for file in (trace, picture):
        command = [sys.executable, "-m", "partita", "run", *options]
        heat = Path(__file__).parents[2] / "examples/heat.mlir"
        command += [str(heat), "--timeline", str(file)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert done.returncode == 0, done.stderr
    events = [one for one in json.loads(trace.read_text())["traceEvents"] if one["ph"] == "X"]
    found = {(one["pid"], one["cat"]) for one in events}
    assert {(rank, cat) for rank in (0, 1) for cat in ("kernel", "exchange")} <= found
    assert all(one["dur"] >= 0 for one in events)
    assert picture.read_text().startswith("<svg ")
    assert "rank 1" in picture.read_text()


def test_a_timeline_of_another_form_is_refused(tmp_path: Path) -> None:
    heat = Path(__file__).parents[2] / "examples/heat.mlir"
    command = [sys.executable, "-m", "partita", "run", "-n", "1", str(heat), "--arg", "0=1"]
    command += ["--timeline", str(tmp_path / "run.png")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "FILE.svg or FILE.json" in done.stderr
