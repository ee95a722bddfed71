"""The figures of benches/arrays.py as tables."""

from dataclasses import dataclass

from dialect_report import LEVELS
from kernel_report import duration, table, verdict

HEAD = """\
# Benchmarks of arrays

Written by `make bench-arrays`, part by part: text between comments is replaced, edit only what is
outside.

The same functions, written as NumPy programs (benches/array_times.py), run with NumPy on one thread
and with `import partita as np`: on one rank with two threads, on two ranks of threads and on two
MPI processes. numba, JAX and C have two threads and their own words. Times are those of a step, the
best of several, before and after the peers; ratios of one run are what counts. The loops in C that
bars name run in turns with partita, in the same process: Jacobi steps with streaming stores, whose
two arrays change places, and four read streams.
"""


@dataclass(frozen=True)
class Bar:
    """What the project asks of itself: the peer, and partita's time or speed beside it."""

    peer: str
    bar: float
    is_speed: bool = False

    def judged(self, mine: float, other: float) -> str:
        """The ratio beside the bar."""
        if self.is_speed:
            return verdict(other / mine, self.bar, at_least=True) + f" times {self.peer}'s speed"
        return verdict(mine / other, self.bar) + f" of {self.peer}'s time"


BARS = {
    "jacobi 64": Bar("NumPy", 0.6),
    "read": Bar("NumPy", 1.5),
    "jacobi 4096": Bar("C", 1.05, is_speed=True),
    "water 1024": Bar("NumPy", 8.0, is_speed=True),
    "black-scholes": Bar("torch.compile", 0.45),
    "sum": Bar("four read streams", 0.85, is_speed=True),
    "mean": Bar("four read streams", 0.85, is_speed=True),
    "std": Bar("four read streams", 0.85, is_speed=True),
    "argmax": Bar("four read streams", 0.85, is_speed=True),
}
# Seconds that are asked for whatever the peers take: by case and way.
ABSOLUTE = {("jacobi 64", "2 ranks, MPI"): 40e-6, ("record", "1 rank, 2 threads"): 0.4e-6}
ABSOLUTE |= {("first step", "1 rank, 2 threads"): 20e-3}
NAMES = {
    "jacobi 64": "Jacobi step, 64x64",
    "read": "`float(a.sum())`, 64x64",
    "record": "recording `a + b`",
    "first step": "first Jacobi step, 64x64, with its compilation",
    "jacobi 4096": "Jacobi step with slices, 4096x4096",
    "water 1024": "shallow water step, 1024x1024",
    "black-scholes": "Black-Scholes, 10^7 options",
    "sum": "sum of 10^8",
    "mean": "mean of 10^8",
    "std": "standard deviation of 10^8",
    "argmax": "argmax of 10^8",
}

Ways = dict[str, dict[str, float]]


def programs(ways: Ways, peers: dict[str, dict[str, float]], level: str) -> str:
    """All programs at a level."""
    rows = []
    for case, name in NAMES.items():
        for way, times in ways.items():
            if case not in times:
                continue
            mine, others = times[case], dict(peers.get(case, {}))
            if f"{case} in C" in times:
                others[BARS[case].peer] = times[f"{case} in C"]
            ratios = [f"{peer} {mine / other:.2f}" for peer, other in sorted(others.items())]
            rows.append(
                [name, way, duration(mine), ", ".join(ratios), judged(case, way, mine, others)]
            )
    head = ["program", "partita on", "time", "of the time of", "bar"]
    return f"## Programs, with {LEVELS[level]}\n\n" + table(head, rows)


def judged(case: str, way: str, mine: float, others: dict[str, float]) -> str:
    """What the bars say of a time."""
    found = []
    if (case, way) in ABSOLUTE:
        asked = ABSOLUTE[case, way]
        found.append(f"bar {duration(asked)}: {'met' if mine <= asked else '**missed**'}")
    bar = BARS.get(case)
    is_small = case in ("jacobi 64", "read")
    if bar and bar.peer in others and not (is_small and way != "1 rank, 2 threads"):
        found.append(bar.judged(mine, others[bar.peer]))
    return "; ".join(found)
