"""Kernels beside numba, NumPy, JAX and C, in one run; writes docs/benchmarks-kernels.md.

    python benches/kernels.py BENCH --write docs/benchmarks-kernels.md

BENCH is the bench of crates/partita-kernel; it runs before and after the peers, the better time
counts, so that a busy moment of the machine does not decide.
"""

import argparse
import ctypes
import os
import subprocess
import tempfile
from collections.abc import Callable
from datetime import date
from pathlib import Path
from time import perf_counter

import numba
import numpy as np

HERE = Path(__file__).parent
SIZES = {"0.5 MB": 1 << 14, "32 MB": 1_000_000, "960 MB": 30_000_000}
BEGIN, END = "<!-- programs -->", "<!-- end of programs -->"
Times = dict[tuple[str, int], float]

INTRODUCTION = """\
## Programs

Written by `benches/kernels.py` on {day}, level {level}; do not edit. Best of the repetitions of one
run, in which kernels come before and after the peers. A ratio is partita's time to the peer's,
less is better, unless the column says otherwise.
"""


def best(work: Callable[[], object], seconds: float = 0.6) -> float:
    """The shortest of the repetitions that fit the time, at least three."""
    start, fastest, n = perf_counter(), float("inf"), 0
    while n < 3 or perf_counter() - start < seconds:
        begin = perf_counter()
        work()
        fastest = min(fastest, perf_counter() - begin)
        n += 1
    return fastest


def kernels(bench: Path, level: str | None) -> Times:
    """What the Rust bench measures."""
    with tempfile.NamedTemporaryFile() as file:
        environment = os.environ | ({"PARTITA_SIMD": level} if level else {})
        subprocess.run([bench, file.name], check=True, stdout=subprocess.DEVNULL, env=environment)
        lines = [line.split("\t") for line in Path(file.name).read_text().splitlines()]
    return {(name, int(n)): float(value) for name, n, value in lines if name != "level"}


def sqrt8(a, b, c):
    """The first expression."""
    return np.sqrt(a * a + b * b) * 0.5 + (c - a) * b


def poly8(a, b, c):
    """The second expression."""
    return ((a * b + c) * a - 0.25) * (b * c + 3) + a


def loops(formula: Callable, *, parallel: bool) -> Callable:
    """A compiled loop over all elements."""
    scalar = numba.njit(formula)

    def loop(a, b, c, out):
        for i in numba.prange(len(a)):
            out[i] = scalar(a[i], b[i], c[i])

    return numba.njit(loop, parallel=parallel)


def expression(times: Times, formula: Callable, size: str, n: int) -> None:
    """Times of numba and NumPy on one of the two expressions of eight operations."""
    arrays = [np.arange(n) % 1000 / 1000 + 0.5 for _ in range(3)]
    out = np.empty(n)
    repeats = max(1, (1 << 22) // n)
    name = f"{formula.__name__} {size}"
    for n_threads in (1, 2):
        loop = loops(formula, parallel=n_threads == 2)
        loop(*arrays, out)
        many = best(lambda: [loop(*arrays, out) for _ in range(repeats)])  # noqa: B023
        times[f"numba {name}", n_threads] = many / repeats
    if n < 1 << 22:
        times[f"NumPy {name}", 1] = best(lambda: formula(*arrays))


def library(folder: Path) -> ctypes.CDLL:
    """The C programs, compiled as their authors would."""
    target = folder / "kernels.so"
    flags = ["-O3", "-march=native", "-ffast-math", "-fopenmp", "-shared", "-fPIC"]
    # Fast mathematics is for the loops alone: at the link it would flush subnormals everywhere.
    object_file = folder / "kernels.o"
    source = HERE / "kernels.c"
    subprocess.run(["gcc", *flags[:4], "-fPIC", "-c", source, "-o", object_file], check=True)
    link = ["gcc", "-shared", "-fopenmp", object_file, "-o", target, "-lmvec", "-lm"]
    subprocess.run(link, check=True)
    found = ctypes.CDLL(str(target))
    found.read4.restype = ctypes.c_double
    return found


def aligned(n: int, place: int) -> np.ndarray:
    """Numbers at the start of a page, moved by some lines."""
    raw = np.empty(n + 1024)
    skip = (-raw.ctypes.data % 4096) // 8 + place * 8 * 9
    part = raw[skip : skip + n]
    part[:] = np.arange(n) % 1000 / 1000 + 0.5
    return part


def programs_in_c(times: Times) -> None:
    """Jacobi, triad, Black-Scholes, four read streams."""
    with tempfile.TemporaryDirectory() as folder:
        c = library(Path(folder))

        def pointers(*arrays: np.ndarray) -> list[ctypes.c_void_p]:
            return [ctypes.c_void_p(array.ctypes.data) for array in arrays]

        side = 4096
        squares = [aligned(side * side, place) for place in range(3)]
        options = [aligned(10_000_000, place) for place in range(5)]
        long = aligned(100_000_000, 0)
        n = ctypes.c_long
        work = {
            "triad": lambda: c.triad(*pointers(*squares), n(side * side)),
            "jacobi 4096": lambda: c.jacobi(*pointers(*squares[:2]), n(side)),
            "black-scholes": lambda: c.black_scholes(*pointers(*options), n(10_000_000)),
            "read4": lambda: c.read4(*pointers(long), n(100_000_000)),
        }
        for n_threads in (1, 2):
            c.threads(n_threads)
            for name, run in work.items():
                times[f"C {name}", n_threads] = best(run)


def row(*cells: object) -> str:
    """One line of a table."""
    return f"| {' | '.join(str(cell) for cell in cells)} |\n"


def verdict(ratio: float, bar: float, *, at_least: bool = False) -> str:
    """A ratio beside its bar."""
    met = ratio >= bar if at_least else ratio <= bar
    return f"{ratio:.2f} ({'met' if met else '**missed**'}, {bar:g})"


def page(times: Times, level: str) -> str:
    """All tables."""
    text = INTRODUCTION.format(day=date.today(), level=level)
    text += "\n### Expressions of eight operations\n\n"
    text += row("case", "threads", "ns per element", "/ numba (bar)", "/ NumPy")
    text += row(*["---"] * 5)
    for size, n in SIZES.items():
        for name in (f"sqrt8 {size}", f"poly8 {size}"):
            for n_threads in (1, 2):
                mine = times[name, n_threads]
                bar = 0.92 if n > 1 << 22 else 1.05
                ratio = verdict(mine / times[f"numba {name}", n_threads], bar)
                numpy = times.get((f"NumPy {name}", 1))
                against = f"{mine / numpy:.2f}" if numpy and n_threads == 1 else ""
                text += row(name, n_threads, f"{mine / n * 1e9:.3f}", ratio, against)
    text += "\n### Stencil, options, reductions\n\n"
    text += row("case", "threads", "ms", "C, ms", "against C (bar)", "of the triad (bar)")
    text += row(*["---"] * 6)
    for n_threads in (1, 2):
        mine, c = times["jacobi 4096", n_threads], times["C jacobi 4096", n_threads]
        share = 2 / 3 * times["C triad", n_threads] / mine
        speed = verdict(c / mine, 1.15, at_least=True) + " times as fast"
        cells = [f"{1e3 * mine:.2f}", f"{1e3 * c:.2f}", speed, verdict(share, 0.85, at_least=True)]
        text += row("Jacobi 4096x4096", n_threads, *cells)
    for n_threads in (1, 2):
        mine, c = times["black-scholes", n_threads], times["C black-scholes", n_threads]
        cells = [f"{1e3 * mine:.1f}", f"{1e3 * c:.1f}", verdict(mine / c, 1.2), ""]
        text += row("Black-Scholes 10^7", n_threads, *cells)
    for name in ("sum", "min", "max", "argmax"):
        for n_threads in (1, 2):
            mine, c = times[name, n_threads], times["C read4", n_threads]
            share = verdict(c / mine, 0.95, at_least=True) + " of four streams"
            cells = [f"{1e3 * mine:.1f}", f"{1e3 * c:.1f}", share, ""]
            text += row(f"{name} of 10^8", n_threads, *cells)
    text += "\n### Small calls\n\n" + row("case", "time", "bar") + row("---", "---", "---")
    for name, bar in (
        ("call of 64", 150),
        ("look-up and call of 64", 300),
        ("compile 30", 200_000),
    ):
        nanoseconds = times[name, 1] * 1e9
        met = "met" if nanoseconds <= bar else "**missed**"
        text += row(name, f"{nanoseconds:.0f} ns", f"{bar} ns: {met}")
    return text


def replace(path: Path, text: str) -> None:
    """Write this part of a page, and leave the others."""
    page = path.read_text() if path.exists() else "# Benchmarks of kernels\n"
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(f"{before.rstrip()}\n\n{BEGIN}\n{text}{END}{after or chr(10)}")


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("bench", type=Path)
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    level = os.environ.get("PARTITA_SIMD")
    times = kernels(arguments.bench, level)
    for size, n in SIZES.items():
        for formula in (sqrt8, poly8):
            expression(times, formula, size, n)
    programs_in_c(times)
    for key, value in kernels(arguments.bench, level).items():
        times[key] = min(value, times[key])
    text = page(times, level or "best")
    if arguments.write:
        replace(arguments.write, text)
    print(text)


if __name__ == "__main__":
    main()
