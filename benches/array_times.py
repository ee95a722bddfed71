"""Measures array programs as people write them; benches/arrays.py starts it.

    python benches/array_times.py numpy|partita [--threads-as-ranks N] [--library LIBRARY]

On several ranks each measures and the first prints. The output is JSON: seconds by case. The same
functions run with both. LIBRARY is benches/kernels.c, compiled: its loops then run in turns.
"""

import argparse
import importlib
import json
from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import Any

from c_loops import N_STEPS, Library, Work, elapsed

# The loops in C that cases are measured beside.
BESIDE = {"jacobi 4096": "jacobi"} | dict.fromkeys(("sum", "mean", "std", "argmax"), "read4")
N_ROUNDS = {"numpy": 5, "partita": 15}
# More calls after each loop in C.
N_AWAKE = 3
HALF_STEP, GRAVITY = 1e-4, 9.81
N_OPTIONS, N_LONG = 10_000_000, 100_000_000


def jacobi(np: Any, side: int, n_steps: int) -> Work:
    """Steps of the mean of four neighbours and the point itself, written through a view."""
    grid = np.zeros((side, side))
    grid[0] = 1.0
    center, north, south = grid[1:-1, 1:-1], grid[:-2, 1:-1], grid[2:, 1:-1]
    east, west = grid[1:-1, 2:], grid[1:-1, :-2]

    def steps() -> None:
        for _ in range(n_steps):
            work = 0.2 * (center + north + south + east + west)
            center[:] = work
        finished(np, grid)

    return steps


def shallow_water(np: Any, side: int, n_steps: int) -> Work:
    """Steps of height and two velocities."""
    h, u, v = (np.zeros((side, side)) + start for start in (1.0, 0.1, 0.1))

    def shifted(x: Any) -> tuple[Any, ...]:
        return x[1:-1, 1:-1], x[:-2, 1:-1], x[2:, 1:-1], x[1:-1, :-2], x[1:-1, 2:]

    def steps() -> None:
        for _ in range(n_steps):
            (hc, hn, hs, hw, he), (uc, un, us, uw, ue) = shifted(h), shifted(u)
            vc, vn, vs, vw, ve = shifted(v)
            height = hc - HALF_STEP * ((he * ue - hw * uw) + (hs * vs - hn * vn))
            east = uc - HALF_STEP * (uc * (ue - uw) + vc * (us - un) + GRAVITY * (he - hw))
            south = vc - HALF_STEP * (uc * (ve - vw) + vc * (vs - vn) + GRAVITY * (hs - hn))
            hc[:], uc[:], vc[:] = height, east, south
        finished(np, h, u, v)

    return steps


def black_scholes(np: Any) -> Work:
    """Calls and puts of ten million options."""
    price, strike, years = (
        np.linspace(low, high, N_OPTIONS) for low, high in ((10.0, 50.0), (10.0, 50.0), (1.0, 2.0))
    )
    finished(np, price, strike, years)

    def priced() -> None:
        risk = 0.3 * np.sqrt(years)
        ratio = (np.log(price / strike) + (0.1 + 0.045) * years) / risk
        near, far = 0.5 + 0.5 * np.erf(ratio * 0.5**0.5), np.erf((ratio - risk) * 0.5**0.5)
        later = strike * np.exp(-0.1 * years)
        call = price * near - later * (0.5 + 0.5 * far)
        finished(np, call, call - price + later)

    return priced


def reduction(np: Any, name: str, holds: dict[str, Any]) -> Work:
    """A number of a hundred million."""
    if "long" not in holds:
        holds["long"] = np.linspace(0.0, 1.0, N_LONG)
        finished(np, holds["long"])
    long = holds["long"]
    return lambda: float(getattr(np, name)(long))


def finished(np: Any, *arrays: Any) -> None:
    """Waits for arrays that are computed later."""
    if np.__name__ == "partita":
        np.compute(*arrays)


def cases(np: Any) -> dict[str, tuple[Callable[[], Work], int]]:
    """Programs by name: how to make one, and how many steps a call has."""
    small: dict[str, Any] = {}
    found: dict[str, tuple[Callable[[], Work], int]] = {
        "jacobi 64": (lambda: jacobi(np, 64, 500), 500),
        "jacobi 4096": (lambda: jacobi(np, 4096, 8), 8),
        "water 1024": (lambda: shallow_water(np, 1024, 20), 20),
        "read": (lambda: read(np), 200),
        "record": (lambda: record(np), 1000),
    }
    if np.__name__ == "partita":
        found["black-scholes"] = (lambda: black_scholes(np), 1)
    for name in ("sum", "mean", "std", "argmax"):
        found[name] = (lambda name=name: reduction(np, name, small), 1)
    return found


def read(np: Any) -> Work:
    """A number of a small array, read each time."""
    array = np.ones((64, 64)) * 2.0
    return lambda: [float(array.sum()) for _ in range(200)]


def record(np: Any) -> Work:
    """Operations that nobody asks for."""
    a, b = np.ones((64, 64)) * 2.0, np.ones((64, 64)) * 3.0

    def many() -> None:
        for _ in range(1000):
            a + b

    return many


class Stopwatch:
    """Times a case, in turns with a loop in C where there is one to be measured beside.

    Memory's speed changes by the minute on a shared machine; turns let both have the same. Every
    rank makes the same number of rounds; while the first runs the loop in C the others sleep, so
    that it has all cores. Then there are several calls: who has slept wakes in the first ones, and
    may be moved to the core that is free, as a program that computes is only when it begins.
    """

    def __init__(self, np: Any, library: Path | None) -> None:
        self._np = np
        self._loops = Library(library, 2) if library else None
        self._known: dict[str, Work] = {}

    def _loop(self, name: str) -> Work | None:
        if not self._loops or name not in BESIDE:
            return None
        if BESIDE[name] not in self._known:
            self._known[BESIDE[name]] = self._loops.named(BESIDE[name])
        return self._known[BESIDE[name]]

    def best(self, name: str, work: Work) -> tuple[float, float | None]:
        """The shortest time of a case, and of the loop in C."""
        other = self._loop(name)
        work()
        mine, beside = float("inf"), float("inf")
        for _ in range(N_ROUNDS[self._np.__name__]):
            if other:
                beside = min(beside, self._alone(other))
                mine = min(mine, *(elapsed(work) for _ in range(N_AWAKE)))
            mine = min(mine, elapsed(work))
        return mine, beside / N_STEPS[BESIDE[name]] if other else None

    def _alone(self, work: Work) -> float:
        team = self._np.world() if self._np.__name__ == "partita" else None
        if team and team.rank > 0:
            sleep(0.25)
            seconds = float("inf")
        else:
            seconds = elapsed(work)
        if team:
            team.barrier()
        return seconds


def times(np: Any, library: Path | None) -> dict[str, float]:
    """Seconds of one step of each case; those of the loops in C have "in C" behind their name."""
    found, stopwatch = {}, Stopwatch(np, library)
    for name, (make, n_steps) in cases(np).items():
        if name == "jacobi 64":
            # A shape of its own, so that nothing of it is known; the second call loads no module.
            jacobi(np, 50, 1)()
            found["first step"] = elapsed(jacobi(np, 66, 1))
        seconds, beside = stopwatch.best(name, make())
        found[name] = seconds / n_steps
        if beside:
            found[f"{name} in C"] = beside
    return found


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("namespace", choices=list(N_ROUNDS))
    parser.add_argument("--threads-as-ranks", type=int)
    parser.add_argument("--library", type=Path)
    arguments = parser.parse_args()
    np = importlib.import_module(arguments.namespace)
    if arguments.threads_as_ranks:
        found = np.spmd(lambda team: times(np, arguments.library), arguments.threads_as_ranks)[0]
    else:
        found = times(np, arguments.library)
    if arguments.namespace == "numpy" or np.world().rank == 0:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
