"""Measures array programs as people write them; benches/arrays.py starts it.

    python benches/array_times.py NAMESPACE [CASE...]

NAMESPACE is numpy or partita; on several ranks each measures and the first prints. The output is
JSON: seconds by case. The same functions run with both.
"""

import importlib
import json
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

Work = Callable[[], object]
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


def best(work: Work, seconds: float = 1.0) -> float:
    """The shortest of the repetitions that fit the time, at least three."""
    work()
    start, fastest, n_rounds = perf_counter(), float("inf"), 0
    while n_rounds < 3 or perf_counter() - start < seconds:
        begin = perf_counter()
        work()
        fastest = min(fastest, perf_counter() - begin)
        n_rounds += 1
        if n_rounds >= 50:
            break
    return fastest


def repeated(work: Work) -> float:
    """As `best`, but with the same number of repetitions on every rank."""
    work()
    fastest = float("inf")
    for _ in range(7):
        begin = perf_counter()
        work()
        fastest = min(fastest, perf_counter() - begin)
    return fastest


def times(np: Any, wanted: list[str], timed: Callable[[Work], float]) -> dict[str, float]:
    """Seconds of one step of each case."""
    found = {}
    for name, (make, n_steps) in cases(np).items():
        if wanted and name not in wanted:
            continue
        if name == "jacobi 64":
            # A shape of its own, so that nothing of it is known; the second call loads no module.
            jacobi(np, 50, 1)()
            first = perf_counter()
            jacobi(np, 66, 1)()
            found["first step"] = perf_counter() - first
        work = make()
        found[name] = timed(work) / n_steps
    return found


def main() -> None:
    """Measure and print."""
    np = importlib.import_module(sys.argv[1])
    n_threads_as_ranks = 1
    wanted = sys.argv[2:]
    if wanted and wanted[0].isdigit():
        n_threads_as_ranks, wanted = int(wanted[0]), wanted[1:]
    if n_threads_as_ranks > 1:
        found = np.spmd(lambda team: times(np, wanted, repeated), n_threads_as_ranks)[0]
    elif np.__name__ == "partita" and np.world().size > 1:
        found = times(np, wanted, repeated)
        if np.world().rank > 0:
            return
    else:
        found = times(np, wanted, best)
    print(json.dumps(found))


if __name__ == "__main__":
    main()
