"""Algorithms on arrays beside NumPy and SciPy, in one run.

python benches/algorithms.py --mpiexec MPIEXEC --write PAGE
"""

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

import machine
from dialect_report import about
from kernel_report import duration, table, teller, verdict

HERE = Path(__file__).parent
HEAD = """\
# Benchmarks of algorithms

Written by `make bench-algorithms`, part by part: text between comments is replaced, edit only what
is outside.

10^7 numbers, matrices of 4096x4096, files of 512 MiB (benches/algorithm_cases.py). On one rank
partita has two threads and takes turns with its peer, which has both cores where it can use them
(products, transforms). On two MPI ranks each has one; mpi4py-fft, where it is installed, has the
same two. Ratios are speeds: the peer's time over partita's.
"""
# By case: how many times the peer's speed is asked for on one rank and on two.
BARS = {
    "sort": (1.0, 1.6),
    "argsort": (3.0, None),
    "matmul float64": (0.9, None),
    "matmul float32": (0.85, None),
    "matmul complex128": (0.85, None),
    "fft2": (1.6, None),
    "mask": (3.0, None),
    "positions": (1.0, 1.0),
    "normal": (3.0, None),
    "save": (1.0, None),
    "load": (None, None),
}


def measured(command: list[str]) -> dict[str, dict[str, float]]:
    """What the cases take, run by a command."""
    more = os.environ.get("PYTHONPATH", "")
    path = os.pathsep.join([str(HERE.parent / "python"), str(HERE), more])
    done = subprocess.run(
        command, check=True, stdout=subprocess.PIPE, env=os.environ | {"PYTHONPATH": path}
    )
    return json.loads(done.stdout)


def spread_rows(two: dict[str, dict[str, float]]) -> list[list[str]]:
    """The row of what is measured beside its peer on two ranks, if that is installed."""
    if "fft2 spread" not in two:
        return []
    (peer, theirs), (_, mine) = two["fft2 spread"].items()
    shown = f"{peer}, 2 ranks, {duration(theirs)}"
    return [["fft2", shown, "", "", duration(mine), judged(theirs / mine, 2.5)]]


def judged(ratio: float, bar: float | None) -> str:
    """A speed beside its bar, if it has one."""
    return f"{ratio:.2f}" if bar is None else verdict(ratio, bar, at_least=True)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    cases = [sys.executable, str(HERE / "algorithm_cases.py")]
    one = measured(cases)
    two = measured([arguments.mpiexec, "-n", "2", *cases])
    rows = []
    for case, bars in BARS.items():
        (peer, theirs), (_, mine) = one[case].items()
        ours = two[case]["partita"]
        speeds = [judged(theirs / time, bar) for time, bar in zip((mine, ours), bars, strict=True)]
        rows.append(
            [
                case,
                f"{peer} {duration(theirs)}",
                duration(mine),
                speeds[0],
                duration(ours),
                speeds[1],
            ]
        )
    rows += spread_rows(two)
    head = ["", "peer", "1 rank", "speed", "2 MPI ranks", "speed"]
    tell = teller(arguments.write, HEAD)
    tell("machine", about(machine.facts()))
    tell("algorithms", "## Algorithms\n\n" + table(head, rows))


if __name__ == "__main__":
    main()
