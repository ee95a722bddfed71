"""Sparse matrices beside SciPy, PETSc and mpi4py, in one run.

python benches/sparse_matrices.py --mpiexec MPIEXEC --write PAGE
"""

import argparse
import sys
from pathlib import Path

import machine
from algorithms import judged, measured
from dialect_report import about
from kernel_report import duration, table, teller

HERE = Path(__file__).parent
HEAD = """\
# Benchmarks of sparse matrices

Written by `make bench-sparse`, part by part: text between comments is replaced, edit only what is
outside.

A 2-d Laplacian of 4 million rows (1 million for products with 64 columns and with itself), an R-MAT
graph of 2^20 rows and 16 entries per row, 10^7 triplets, slices of 64 MiB, and a random 1 % of 10^6
rows of 16 entries on each rank (benches/sparse_cases.py). On one rank partita has two threads and
takes turns with SciPy, which has one core. On two ranks each has one. Speeds are the peer's time
over partita's: SciPy's on one core, in turns with partita while other ranks wait; for slices a
plain copy of their bytes; for rows on two MPI ranks two rounds of Alltoallv with mpi4py and NumPy,
always of rows that are not in a cache, beside partita asked for the first time, with a kept plan,
and with a kept plan and rows in a cache. Rows are measured in a program of their own, and again
after the other cases: what these have freed, the system's allocator keeps, and arrays of the
peer's, of which each call makes a dozen, no longer cost fresh memory.
"""
# By case: how many times the peer's speed is asked for on two ranks.
BARS = {
    "SpMV Laplacian": 1.7,
    "SpMV R-MAT": 2.0,
    "SpMM Laplacian, 64 columns": 3.5,
    "SpGEMM Laplacian": 1.8,
    "COO to CSR": 2.5,
    "get_slice 64 MiB": 0.77,
    "get_rows 1 %, first": 3.0,
    "get_rows 1 %, kept": 4.0,
    "get_rows 1 %, warm": 10.0,
    "get_rows 1 %, first, after other work": None,
    "get_rows 1 %, kept, after other work": None,
    "get_rows 1 %, warm, after other work": None,
}


def row_of(case: str, runs: list[dict[str, dict[str, float]]]) -> list[str]:
    """What one rank, two threads and two processes take, each beside its peer."""
    cells = [case]
    serial = runs[0].get(case, {}).get("SciPy")
    for number, run in enumerate(runs):
        methods = run.get(case, {})
        mine = methods.get("partita")
        peers = {name: time for name, time in methods.items() if name not in ("partita", "PETSc")}
        name, theirs = next(iter(peers.items()), ("SciPy", serial))
        if mine is None or theirs is None:
            cells += ["", ""]
            continue
        # Rows of threads have no peer among threads: nobody writes that by hand.
        has_bar = number > 0 and not (case.startswith("get_rows") and name == "SciPy")
        cells += [duration(mine), judged(theirs / mine, BARS[case] if has_bar else None)]
        cells[-1] += f", {name} {duration(theirs)}"
    petsc = [run.get(case, {}).get("PETSc") for run in runs]
    cells.append(" / ".join(duration(one) for one in petsc if one is not None))
    return cells


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--mpiexec", required=True)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    cases = [sys.executable, str(HERE / "sparse_cases.py")]
    ways = [cases, [*cases, "--threads", "2"], [arguments.mpiexec, "-n", "2", *cases]]
    runs = [measured(way) | measured([*way, "--rows"]) for way in ways]
    head = ["", "1 rank", "speed", "2 threads", "speed", "2 MPI ranks", "speed", "PETSc"]
    tell = teller(arguments.write, HEAD)
    tell("machine", about(machine.facts()))
    tell("sparse", "## Sparse\n\n" + table(head, [row_of(case, runs) for case in BARS]))


if __name__ == "__main__":
    main()
