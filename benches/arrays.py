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


def partita(python: Path, library: Path, environment: dict[str, str]) -> dict[str, Times]:
    """Partita's times, by the way it is run, and those of loops in C beside it."""
    own = [python, HERE / "array_times.py", "partita", "--library", library]
    # Threads of C that wait must leave the cores to the others.
    passive = environment | {"OMP_WAIT_POLICY": "passive"}
    return {
        "1 rank, 2 threads": asked(own, passive),
        "2 ranks, threads": asked([*own, "--threads-as-ranks", "2"], passive),
        "2 ranks, MPI": asked([python.parent / "mpiexec", "-n", "2", *own], passive),
    }


def others(python: Path, neighbours: Path, library: Path, environment: dict[str, str]) -> dict:
    """The peers' times by case and peer."""
    plain = asked([python, HERE / "array_times.py", "numpy"], environment)
    found: dict[str, Times] = {case: {"NumPy": seconds} for case, seconds in plain.items()}
    found["water 1024"] |= {
        peer: time for peer, time in dialects.water_peers(environment).items() if peer != "NumPy"
    }
    for group in ("jacobi", "scholes", "reduce"):
        for (peer, case, _), time in kernels.peers(group, 2, library, environment).items():
            # C is measured in turns with partita.
            if case in report.NAMES and (peer, case) != ("C", "jacobi 4096"):
                found.setdefault(case, {})[peer] = time
    for case, times in asked([neighbours, HERE / "array_peers.py"], environment).items():
        found.setdefault(case, {}).update(times)
    return found


def measured(python: Path, neighbours: Path, level: str) -> str:
    """All programs at a level, partita before and after the peers."""
    environment = dict(os.environ) | (kernels.ONLY_AVX2 if level == "avx2" else {})
    with tempfile.TemporaryDirectory() as folder:
        library = kernels.library(Path(folder), level)
        before = partita(python, library, environment)
        peers = others(python, neighbours, library, environment)
        after = partita(python, library, environment)
    ways = {way: dialects.better(times, after[way]) for way, times in before.items()}
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
