"""Sorting, products, transforms, choosing, random numbers and files: with NumPy and with partita.

    python benches/algorithm_cases.py             partita beside its peers, in turns, on one rank
    mpiexec -n 2 python benches/algorithm_cases.py    partita alone, on each of the ranks

Prints seconds by case and method as JSON, on rank 0. On several ranks transforms are measured
beside mpi4py-fft, if it is installed (it needs FFTW's headers, so no list of requirements has it).
"""

import importlib.util
import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy
from timing import in_turns

import partita

N = 10**7
SIDE = 4096
Method = Callable[[], object]


def spread(values: numpy.ndarray) -> "partita.Array":
    """The same elements, divided among the ranks."""
    made = partita.zeros(values.shape, dtype=values.dtype)
    made[...] = values
    made.sync()
    return made


def sorting() -> dict[str, dict[str, Method]]:
    """Rows of random numbers in order."""
    values = numpy.random.default_rng(1).random(N)
    array = spread(values)
    return {
        "sort": {"NumPy": lambda: numpy.sort(values), "partita": lambda: partita.sort(array)},
        "argsort": {
            "NumPy": lambda: numpy.argsort(values),
            "partita": lambda: partita.argsort(array),
        },
    }


def products() -> dict[str, dict[str, Method]]:
    """Square matrices."""
    cases = {}
    for dtype in ("float64", "float32", "complex128"):
        a = numpy.random.default_rng(2).random((SIDE, SIDE)).astype(dtype)
        b = spread(a)
        cases[f"matmul {dtype}"] = {"NumPy": lambda a=a: a @ a, "partita": lambda b=b: b @ b}
    return cases


def transforms() -> dict[str, dict[str, Method]]:
    """Both axes of a square of complex numbers."""
    from scipy import fft

    values = numpy.random.default_rng(3).random((SIDE, SIDE)) + 1j
    array = spread(values)
    return {
        "fft2": {
            "SciPy": lambda: fft.fft2(values, workers=2),
            "partita": lambda: partita.fft.fft2(array),
        }
    }


def spread_transforms() -> dict[str, dict[str, Method]]:
    """The same on several ranks, beside mpi4py-fft: it leaves the result cut along columns, too."""
    if partita.world().size == 1 or not importlib.util.find_spec("mpi4py_fft"):
        return {}
    from mpi4py import MPI
    from mpi4py_fft import PFFT, newDistArray

    values = numpy.random.default_rng(3).random((SIDE, SIDE)) + 1j
    array = spread(values)
    plan = PFFT(MPI.COMM_WORLD, (SIDE, SIDE), dtype=numpy.complex128, backend="fftw")
    given, made = newDistArray(plan, forward_output=False), newDistArray(plan, forward_output=True)
    given[...] = values[given.local_slice()]

    def theirs() -> None:
        plan.forward(given, made, normalize=False)
        MPI.COMM_WORLD.Barrier()

    def ours() -> None:
        partita.fft.fft2(array)
        MPI.COMM_WORLD.Barrier()

    return {"fft2 spread": {"mpi4py-fft": theirs, "partita": ours}}


def choosing() -> dict[str, dict[str, Method]]:
    """Masks and positions."""
    source = numpy.random.default_rng(4)
    values = source.random(N)
    mask, positions = values > 0.5, source.integers(0, N, N)
    array, truth, places = spread(values), spread(mask), spread(positions)
    return {
        "mask": {"NumPy": lambda: values[mask], "partita": lambda: array[truth]},
        "positions": {"NumPy": lambda: values[positions], "partita": lambda: array[places]},
    }


def numbers() -> dict[str, dict[str, Method]]:
    """Normal random numbers."""
    theirs, ours = numpy.random.default_rng(5), partita.random.default_rng(5)
    return {
        "normal": {
            "NumPy": lambda: theirs.standard_normal(N),
            "partita": lambda: ours.standard_normal(N).sync(),
        }
    }


def files() -> dict[str, dict[str, Method]]:
    """512 MiB written to a file of NumPy's, beside `cp` of such a file."""
    folder = partita.world().broadcast_data(tempfile.mkdtemp(dir=os.environ.get("TMPDIR")))
    values = numpy.ones(2**26)
    array = spread(values)
    there, copy = Path(folder) / "there.npy", Path(folder) / "copy.npy"
    partita.save(there, array)
    return {
        "save": {
            "cp": lambda: shutil.copyfile(there, copy),
            "partita": lambda: partita.save(Path(folder) / "new.npy", array),
        },
        "load": {
            "NumPy": lambda: numpy.load(there),
            "partita": lambda: partita.load(there).sync(),
        },
        "": {"end": lambda: shutil.rmtree(folder, ignore_errors=True)},
    }


def main() -> None:
    """Measure all cases, one group of them in memory at a time."""
    team = partita.world()
    found: dict[str, dict[str, float]] = {}
    for group in (sorting, products, transforms, spread_transforms, choosing, numbers, files):
        for case, methods in group().items():
            beside = team.size == 1 or not case or case == "fft2 spread"
            wanted = methods if beside else {"partita": methods["partita"]}
            team.barrier()
            times = in_turns(wanted, 5 if case else 0)
            if case:
                found[case] = {name: one.fastest for name, one in times.items()}
    if team.rank == 0:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
