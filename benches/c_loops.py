"""The loops in C that programs are measured beside; loads nothing but NumPy.

    python benches/c_loops.py LIBRARY jacobi|read4

prints the seconds of a step. LIBRARY is benches/kernels.c, compiled.
"""

import ctypes
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import numpy as np

Work = Callable[[], object]
SIDE, N_LONG = 4096, 100_000_000
N_STEPS = {"jacobi": 8, "read4": 1}


def numbers(n: int, place: int) -> np.ndarray:
    """Numbers at a place of their own within a page, as the kernels have them."""
    raw = np.arange(n + 1024) % 1000 / 1000 + 0.5
    skip = (-raw.ctypes.data % 4096) // 8 + place * 8 * 9
    return raw[skip : skip + n]


def elapsed(work: Work) -> float:
    """Seconds of a call."""
    begin = perf_counter()
    work()
    return perf_counter() - begin


class Library:
    """The programs in C."""

    def __init__(self, path: Path, n_threads: int):
        self.c = ctypes.CDLL(str(path))
        self.c.read4.restype = ctypes.c_double
        self.c.threads(n_threads)

    def work(self, name: str, arrays: list[np.ndarray], n: int) -> Work:
        """A call of one of them."""
        f = getattr(self.c, name)

        # The pointers are taken anew, so that the arrays live as long as the work.
        def run() -> None:
            f(*[ctypes.c_void_p(array.ctypes.data) for array in arrays], ctypes.c_long(n))

        return run

    def jacobi_steps(self) -> Work:
        """Steps of a simulation: the arrays change places, so that a step reads the one before."""
        one, other = numbers(SIDE * SIDE, 0), numbers(SIDE * SIDE, 1)
        there = self.work("jacobi", [other, one], SIDE)
        back = self.work("jacobi", [one, other], SIDE)

        def steps() -> None:
            for _ in range(N_STEPS["jacobi"] // 2):
                there()
                back()

        return steps

    def read_streams(self) -> Work:
        """Four read streams over as many numbers as the reductions have."""
        return self.work("read4", [numbers(N_LONG, 0)], N_LONG)

    def named(self, name: str) -> Work:
        """One of the two, by its name."""
        return {"jacobi": self.jacobi_steps, "read4": self.read_streams}[name]()


def main() -> None:
    """Measure one and print."""
    path, name = sys.argv[1:]
    work = Library(Path(path), 2).named(name)
    work()
    print(min(elapsed(work) for _ in range(9)) / N_STEPS[name])


if __name__ == "__main__":
    main()
