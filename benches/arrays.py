"""NumPy programs on partita beside NumPy, numba, JAX, C, torch.compile, Dask and Heat, in one run.

    python benches/arrays.py --python PYTHON --neighbours PYTHON --write PAGE

The first interpreter has partita, the second the heavy neighbours; numba and JAX belong to whoever
runs this. All of it twice: with what the processor has, and with AVX2 alone.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

import array_report as report
import dialects
import kernels
import machine
from dialect_report import about
from kernel_report import teller

HERE = Path(__file__).parent
Times = dict[str, float]


def asked(command: list[str | Path], environment: dict[str, str]) -> dict:
    """What a program prints as JSON."""
    found = subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment)
    return json.loads(found.stdout)


def partita(python: Path, environment: dict[str, str]) -> dict[str, Times]:
    """Partita's times, by the way it is run."""
    script = HERE / "array_times.py"
    start: list[str | Path] = [python.parent / "mpiexec", "-n", "2"]
    return {
        "1 rank, 2 threads": asked([python, script, "partita"], environment),
        "2 ranks, threads": asked([python, script, "partita", "2"], environment),
        "2 ranks, MPI": asked([*start, python, script, "partita"], environment),
    }


def others(python: Path, neighbours: Path, level: str, environment: dict[str, str]) -> dict:
    """The peers' times by case and peer."""
    plain = asked([python, HERE / "array_times.py", "numpy"], environment)
    found: dict[str, Times] = {case: {"NumPy": seconds} for case, seconds in plain.items()}
    found["water 1024"] |= {
        peer: time for peer, time in dialects.water_peers(environment).items() if peer != "NumPy"
    }
    with tempfile.TemporaryDirectory() as folder:
        library = kernels.library(Path(folder), level)
        for group in ("jacobi", "scholes", "reduce"):
            for (peer, case, _), time in kernels.peers(group, 2, library, environment).items():
                if case == "read4":
                    for name in ("sum", "mean", "std", "argmax"):
                        found[name]["four read streams"] = time
                elif case in report.NAMES:
                    found.setdefault(case, {})[peer] = time
    for case, times in asked([neighbours, HERE / "array_peers.py"], environment).items():
        found.setdefault(case, {}).update(times)
    return found


def measured(python: Path, neighbours: Path, level: str) -> str:
    """All programs at a level, partita before and after the peers."""
    environment = dict(os.environ) | (kernels.ONLY_AVX2 if level == "avx2" else {})
    before = partita(python, environment)
    peers = others(python, neighbours, level, environment)
    after = partita(python, environment)
    ways = {
        way: {case: min(time, after[way][case]) for case, time in times.items()}
        for way, times in before.items()
    }
    return report.programs(ways, peers, level)


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--python", type=Path, required=True)
    parser.add_argument("--neighbours", type=Path, required=True)
    parser.add_argument("--level", choices=["native", "avx2"], action="append")
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    tell = teller(arguments.write, report.HEAD)
    tell("machine", about(machine.facts()))
    for level in arguments.level or ["native", "avx2"]:
        page = measured(arguments.python.absolute(), arguments.neighbours.absolute(), level)
        tell(f"programs {level}", page)


if __name__ == "__main__":
    main()
