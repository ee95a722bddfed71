"""Runs the NumPy programs of NPBench, from a checkout, with partita for NumPy.

    python tests/peers/third_party.py PATH_TO_NPBENCH [-r 1 2 4] [-k NAME ...] [--limit SECONDS]

Only the import of each program is changed, in memory; the checkout stays as it is. Each program
runs in a process of its own with NumPy and on teams of threads, with the smallest sizes that
NPBench has; one that takes longer than the limit is run again with its sizes divided by four.
Arguments and results are compared with NumPy's. The data are made by the program's own
initialiser, with partita too where that gives the same numbers, and are divided among the ranks.
"""

from __future__ import annotations

import argparse
import inspect
import json
import re
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import partita as pt
from partita._array.held import default_layout

IMPORT = re.compile(r"^(\s*(?:import|from) )numpy\b", re.MULTILINE)
SMALL = 20  # sizes up to this one stay as they are


def loaded(path: Path, library: str) -> dict[str, Any]:
    """The names of a program that imports this library for NumPy."""
    source = IMPORT.sub(rf"\g<1>{library}", path.read_text())
    names: dict[str, Any] = {"__name__": path.stem}
    exec(compile(source, str(path), "exec"), names)
    return names


class Program:
    """One program of NPBench: where it is, and how it is called."""

    def __init__(self, checkout: Path, description: Path, shrink: int) -> None:
        info = json.loads(description.read_text())["benchmark"]
        self.info, self.name = info, description.stem
        folder = checkout / "npbench" / "benchmarks" / info["relative_path"]
        self.data = folder / f"{info['module_name']}.py"
        self.kernel = folder / f"{info['module_name']}_numpy.py"
        sizes = info["parameters"]["S"]
        self.sizes = {name: _shrunk(size, shrink) for name, size in sizes.items()}

    def arguments(self, library: str) -> dict[str, Any]:
        """What the kernel is given, made by the program's own initialiser."""
        made = dict(self.sizes)
        init = self.info.get("init")
        if init:
            function = loaded(self.data, library)[init["func_name"]]
            found = function(*(self.sizes[name] for name in init["input_args"]))
            several = isinstance(found, tuple) and len(init["output_args"]) > 1
            made.update(zip(init["output_args"], found if several else [found], strict=True))
        return {name: made[name] for name in self.info["input_args"]}

    def results(self, library: str, arguments: dict[str, Any]) -> list[Any]:
        """What the kernel returns, and every array that it was given."""
        function = loaded(self.kernel, library)[self.info["func_name"]]
        names = list(inspect.signature(function).parameters)
        # NPBench calls by position.
        assert len(names) >= len(arguments)
        returned = function(*arguments.values())
        listed = list(returned) if isinstance(returned, tuple) else [returned]
        arrays = [one for one in arguments.values() if isinstance(one, np.ndarray | pt.Array)]
        return [np.asarray(_gathered(one)) for one in [*listed, *arrays] if one is not None]


def _shrunk(size: Any, by: int) -> Any:
    return size if not isinstance(size, int) or size <= SMALL else max(size // by, SMALL // 2)


def _gathered(one: Any) -> Any:
    return one.gather() if isinstance(one, pt.Array) else one


def _spread(given: Any) -> Any:
    if not isinstance(given, np.ndarray):
        return given
    return pt.asarray(given, layout=default_layout(given.shape, pt.world()))


def difference(found: list[Any], wanted: list[Any], *, is_rough: bool = False) -> str:
    """What differs, in a few words; nothing if the results are equal but for rounding.

    Rough results are computed from numbers of single precision, whatever their own type.
    """
    if len(found) != len(wanted):
        return f"{len(found)} results, not {len(wanted)}"
    for number, (mine, theirs) in enumerate(zip(found, wanted, strict=True)):
        if mine.shape != theirs.shape:
            return f"result {number} has shape {mine.shape}, not {theirs.shape}"
        if mine.dtype != theirs.dtype:
            return f"result {number} is {mine.dtype}, not {theirs.dtype}"
        if theirs.dtype.kind not in "fc":
            if not np.array_equal(mine, theirs):
                return f"result {number} differs"
            continue
        finite = np.abs(theirs[np.isfinite(theirs)])
        is_single = theirs.dtype in (np.dtype("f4"), np.dtype("c8"))
        # Some programs make differences of the last bit a million times larger.
        rtol = 1e-4 if is_single or is_rough else 1e-7
        atol = rtol * float(finite.max(initial=0))
        if not np.allclose(mine, theirs, rtol=rtol, atol=atol, equal_nan=True):
            worst = np.nanmax(np.abs(mine - theirs), initial=0)
            return f"result {number} differs by up to {worst:.1e}"
    return ""


def run_one(program: Program, n_ranks: int) -> dict[str, Any]:
    """Run a program with NumPy and on a team, and say how they agree."""
    warnings.simplefilter("ignore")
    assert pt.Array  # loads it before the clock runs
    theirs = program.arguments("numpy")
    copies = {name: _copied(one) for name, one in theirs.items()}
    begun = time.perf_counter()
    wanted = program.results("numpy", copies)
    numpy_s = time.perf_counter() - begun

    def body(_team: Any) -> dict[str, Any]:
        outcome: dict[str, Any] = {"data": "own", "numpy_s": numpy_s}
        try:
            mine = program.arguments("partita")
            apart = [_gathered(one) for one in mine.values()]
            if reason := difference(_numbers(apart), _numbers(theirs.values())):
                raise ValueError(reason)
        except Exception as error:
            outcome["data"] = f"NumPy's, since {_words(error)}"
            mine = {name: _spread(_copied(one)) for name, one in theirs.items()}
        begun = time.perf_counter()
        found = program.results("partita", mine)
        outcome["seconds"] = time.perf_counter() - begun
        outcome["differs"] = difference(found, wanted)
        return outcome

    try:
        return pt.spmd(body, ranks=n_ranks)[0] | {"gathers": pt.gathers()}
    except Exception as error:
        return {"error": _words(error), "numpy_s": numpy_s}


def _numbers(given: Any) -> list[Any]:
    return [np.asarray(one) for one in given]


def _copied(one: Any) -> Any:
    return one.copy() if isinstance(one, np.ndarray) else one


def _words(error: BaseException) -> str:
    """The error in one line."""
    cause = error.__cause__ or error
    return f"{type(cause).__name__}: {' '.join(str(cause).split())}"[:300]


class Tried(NamedTuple):
    """A program on so many ranks: how it went."""

    mark: str
    notes: list[str]


def tried(given: argparse.Namespace, name: str, n_ranks: int) -> Tried:
    """Run a program in a process of its own, with smaller sizes if it is slow."""
    for shrink in (given.shrink, 4 * given.shrink):
        command = [sys.executable, __file__, str(given.checkout), "--case", name]
        command += ["-r", str(n_ranks), "--shrink", str(shrink)]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=given.limit, check=False
            )
        except subprocess.TimeoutExpired:
            continue
        if done.returncode:
            return Tried("died", [done.stderr.strip().splitlines()[-1][:200]])
        return _read(json.loads(done.stdout.splitlines()[-1]), shrink)
    return Tried("slow", [f"not done in {given.limit:.0f} s, at smaller sizes either"])


def _read(outcome: dict[str, Any], shrink: int) -> Tried:
    if "error" in outcome:
        return Tried("fails", [outcome["error"]])
    mark = "differs" if outcome["differs"] else "equal"
    notes = [outcome["differs"]] if outcome["differs"] else []
    notes += [f"sizes divided by {shrink}"] if shrink > 1 else []
    notes += [f"data: {outcome['data']}"] if outcome["data"] != "own" else []
    notes += [f"gathers: {outcome['gathers']}"] if outcome["gathers"] else []
    notes.append(f"{outcome['seconds']:.2f} s; NumPy {outcome['numpy_s']:.2f} s")
    return Tried(mark, notes)


def main() -> None:
    """Run what was asked for, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("-r", "--ranks", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("-k", "--only", nargs="+", default=[])
    parser.add_argument("--limit", type=float, default=60.0)
    parser.add_argument("--shrink", type=int, default=1)
    parser.add_argument("--case", help="run this one here and print the outcome as JSON")
    given = parser.parse_args()
    folder = given.checkout / "bench_info"
    if given.case:
        program = Program(given.checkout, folder / f"{given.case}.json", given.shrink)
        print(json.dumps(run_one(program, given.ranks[0])))
        return
    names = given.only or sorted(one.stem for one in folder.glob("*.json"))
    n_equal = dict.fromkeys(given.ranks, 0)
    for name in names:
        outcomes = {n_ranks: tried(given, name, n_ranks) for n_ranks in given.ranks}
        for n_ranks, outcome in outcomes.items():
            n_equal[n_ranks] += outcome.mark == "equal"
        marks = "  ".join(f"{outcome.mark:7}" for outcome in outcomes.values())
        print(f"{name:26} {marks}", flush=True)
        for n_ranks, outcome in outcomes.items():
            print(f"    {n_ranks}: {'; '.join(outcome.notes)}", flush=True)
    counted = ", ".join(f"{n} on {ranks}" for ranks, n in n_equal.items())
    print(f"equal of {len(names)}: {counted} ranks")


if __name__ == "__main__":
    main()
