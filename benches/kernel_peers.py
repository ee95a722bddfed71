"""Measures the peers on one group of programs; benches/kernels.py starts it.

    python benches/kernel_peers.py GROUP N_THREADS LIBRARY

Prints JSON: seconds by program and peer. A process of its own has its threads and instructions set
from outside, before any library looks at them.
"""

import json
import sys
from pathlib import Path
from time import perf_counter

import kernel_programs as programs
import numexpr


def best(work: programs.Work, seconds: float = 0.5) -> float:
    """The shortest of the repetitions that fit the time, at least three, per call."""
    work()
    begin = perf_counter()
    work()
    # Many calls together where one is too short for the clock.
    n_calls = max(1, int(2e-4 / max(perf_counter() - begin, 1e-9)))
    start, fastest, n_rounds = perf_counter(), float("inf"), 0
    while n_rounds < 3 or perf_counter() - start < seconds:
        begin = perf_counter()
        for _ in range(n_calls):
            work()
        fastest = min(fastest, (perf_counter() - begin) / n_calls)
        n_rounds += 1
    return fastest


def once(work: programs.Work) -> float:
    """The shorter of two runs, the first of which also loads the compiler."""
    taken = []
    for _ in range(2):
        begin = perf_counter()
        work()
        taken.append(perf_counter() - begin)
    return min(taken)


def main() -> None:
    """Measure and print."""
    group, n_threads, library = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
    numexpr.set_num_threads(n_threads)
    cases = programs.cases(group, programs.Library(library, n_threads), n_threads)
    times = {
        name: {peer: best(work) for peer, work in case.items()} for name, case in cases.items()
    }
    if group == "small" and n_threads == 1:
        compilations = programs.compilations()
        times["compile 30"] = {peer: once(work) for peer, work in compilations.items()}
    print(json.dumps(times))


if __name__ == "__main__":
    main()
