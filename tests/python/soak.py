"""`make soak`: a million halo exchanges and a hundred thousand redistributions on every engine.

Bounded by `--seconds`, shared evenly. Values are checked in every call; memory, shared files and
open files must be flat. The short form is `test_soak.py`.
"""

from __future__ import annotations

import argparse
import sys
import time

import bodies_soak
import engines
from engines import Case
from places import Place, environments

N_TURNS = 100_000


def places() -> list[Place]:
    """Threads, processes that share memory, and processes that send messages."""
    mpi = environments()
    return [Place("threads", 2), Place("mpi", 2, mpi), Place("mpi", 2, mpi, shared=False)]


def run(place: Place, n_turns: int, seconds: float) -> int:
    """A soak at a place; how many turns it had. Raises if a value is wrong or anything grows."""
    case = Case("soak", bodies_soak.soak, (n_turns, seconds))
    # A rank that hangs is told from one that works on: time to look around is part of it.
    outcome = engines.run(place, [case], seconds * 1.2 + engines.SECONDS)["soak"]
    if outcome.failure:
        raise AssertionError(outcome.failure)
    bodies_soak.check_flat(outcome.results)
    return int(min(result[0] for result in outcome.results))


def main() -> int:
    """Soak all places, and say what was done."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=600.0)
    seconds = parser.parse_args().seconds
    begun, is_whole, left = time.monotonic(), True, places()
    while left:
        place, share = left[0], (begun + seconds - time.monotonic()) / len(left)
        start = time.monotonic()
        n_turns = run(place, N_TURNS, max(share - 5.0, 1.0))
        left.pop(0)
        is_whole &= n_turns == N_TURNS
        print(
            f"{place}: {n_turns * bodies_soak.N_HALOS} halo exchanges, {n_turns} redistributions "
            f"in {time.monotonic() - start:.0f} s; values right, memory and files flat",
            flush=True,
        )
    if not is_whole:
        print(f"{seconds:.0f} s were not enough for all of {N_TURNS} turns")
    return 0


if __name__ == "__main__":
    sys.exit(main())
