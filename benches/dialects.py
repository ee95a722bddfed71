"""Array programs beside C, numba, JAX and NumPy, in one run; writes docs/benchmarks-dialects.md.

    python benches/dialects.py --command PARTITA --pipeline BENCH --write PAGE

PARTITA is the command, BENCH the bench of crates/partita-array of that name. A program's step is
timed through `partita run`: two runs that differ only in their number of steps, and the difference
is that of the steps. Programs run before and after the peers, or in turns with the loop in C, and
everyone keeps its best time.
All of it twice: with what the processor has, and with AVX2 alone, to which the peers are held too.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

import dialect_programs as programs
import dialect_report as report
import kernels
import machine
from kernel_report import teller

HERE = Path(__file__).parent
N_ROUNDS = 3
CHAINS = (20, 500, 5000)
# Seconds of a step in every way.
Timed = Callable[[], dict[str, float]]


@dataclass(frozen=True)
class Way:
    """How a program is run: name, ranks, engine."""

    name: str
    n_ranks: int
    engine: str


WAYS = (
    Way("1 rank, 2 threads", 1, "threads"),
    Way("2 ranks, threads", 2, "threads"),
    Way("2 ranks, MPI", 2, "mpi"),
)


@dataclass(frozen=True)
class Case:
    """A program with the numbers of steps of a short and a long run."""

    name: str
    text: str
    n_short: int
    n_long: int


CASES = (
    Case("jacobi", programs.jacobi(4096), 4, 44),
    Case("water", programs.shallow_water(1024), 10, 210),
)


def wall(command: list[str], environment: dict[str, str]) -> float:
    """Seconds of a command."""
    start = perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    return perf_counter() - start


def step(partita: Path, file: Path, case: Case, way: Way, environment: dict[str, str]) -> float:
    """Seconds of one step of a program."""

    def run(n_steps: int) -> float:
        ranks = ["run", "-n", str(way.n_ranks), "--engine", way.engine]
        return wall([str(partita), *ranks, str(file), "--arg", f"0={n_steps}"], environment)

    short, long = (min(run(n) for _ in range(N_ROUNDS)) for n in (case.n_short, case.n_long))
    return (long - short) / (case.n_long - case.n_short)


def steps(partita: Path, folder: Path, case: Case, environment: dict[str, str]) -> dict[str, float]:
    """Seconds of a step in every way."""
    file = folder / f"{case.name}.mlir"
    file.write_text(case.text)
    return {way.name: step(partita, file, case, way, environment) for way in WAYS}


def water_peers(environment: dict[str, str]) -> dict[str, float]:
    """Seconds of a step of shallow water by the peers on two threads; NumPy has one."""
    own = environment | {"NUMBA_NUM_THREADS": "2", "JAX_PLATFORMS": "cpu"}
    command = [sys.executable, HERE / "dialect_peers.py", "1024", "2"]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=own)
    return json.loads(found.stdout)


def jacobi_peers(library: Path, environment: dict[str, str]) -> dict[str, float]:
    """Seconds of a step by the peers on two threads; NumPy has one."""
    two = kernels.peers("jacobi", 2, library, environment)
    found = {peer: seconds for (peer, name, _), seconds in two.items() if name == "jacobi 4096"}
    one = kernels.peers("jacobi", 1, library, environment)
    return found | {"NumPy": one["NumPy", "jacobi 4096", 1]}


def c_steps(library: Path, environment: dict[str, str]) -> float:
    """Seconds of a Jacobi step of the loop in C, whose two arrays change places."""
    command = [sys.executable, HERE / "c_loops.py", library, "jacobi"]
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
    return float(found.stdout)


def better(one: dict[str, float], other: dict[str, float]) -> dict[str, float]:
    """The shorter of two times of everything."""
    return {name: min(time, other[name]) for name, time in one.items()}


def jacobi(folder: Path, level: str, timed: Timed, environment: dict[str, str]) -> report.Beside:
    """Jacobi steps in turns with the loop in C: memory's speed changes by the minute."""
    library = kernels.library(folder, level)
    peers = jacobi_peers(library, environment)
    ways, peers["C"] = timed(), c_steps(library, environment)
    for _ in range(2):
        ways = better(ways, timed())
        peers["C"] = min(peers["C"], c_steps(library, environment))
    return report.Beside(ways, peers)


def water(timed: Timed, environment: dict[str, str]) -> report.Beside:
    """Steps of shallow water, before and after the peers."""
    before, peers = timed(), water_peers(environment)
    return report.Beside(better(before, timed()), peers)


def measured(partita: Path, level: str) -> dict[str, report.Beside]:
    """Steps of all programs at a level, beside the peers."""
    environment = dict(os.environ) | (kernels.ONLY_AVX2 if level == "avx2" else {})
    found = {}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for case in CASES:
            timed = partial(steps, partita, folder, case, environment)
            if case.name == "jacobi":
                found[case.name] = jacobi(folder, level, timed, environment)
            else:
                found[case.name] = water(timed, environment)
    return found


def pipeline(bench: Path, level: str) -> report.Stages:
    """Seconds of every stage from text to running kernels."""
    environment = dict(os.environ) | (kernels.ONLY_AVX2 if level == "avx2" else {})
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files = {folder / f"{n}.mlir": n for n in CHAINS}
        for file, n in files.items():
            file.write_text(programs.chain(n, 64))
        command = [str(bench), str(folder / "times"), *map(str, files)]
        wall(command, environment)
        lines = [line.split("\t") for line in (folder / "times").read_text().splitlines()]
    return {(files[Path(file)], int(n), stage): float(t) for stage, file, n, t in lines}


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--command", type=Path, required=True)
    parser.add_argument("--pipeline", type=Path, required=True)
    parser.add_argument("--level", choices=["native", "avx2"], action="append")
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    tell = teller(arguments.write, report.HEAD)
    tell("machine", report.about(machine.facts()))
    for level in arguments.level or ["native", "avx2"]:
        tell(f"programs {level}", report.programs(measured(arguments.command, level), level))
        tell(f"pipeline {level}", report.pipeline(pipeline(arguments.pipeline, level), level))


if __name__ == "__main__":
    main()
