"""The figures of benches/dialects.py as tables."""

from dataclasses import dataclass
from datetime import date

from kernel_report import duration, table, verdict

# Number of operations, ranks and stage to seconds.
Stages = dict[tuple[int, int, str], float]

LEVELS = {
    "native": "what the processor has",
    "avx2": "AVX2 alone, for the peers too",
}
HEAD = """\
# Benchmarks of array programs

Written by `make bench-dialects`, part by part: text between comments is replaced, edit only what is
outside.

A step is timed through `partita run`: two runs that differ in their number of steps, each the best
of three, before and after the peers. "2 threads" of one rank share its loops; two ranks have a
thread each, exchange halos, and compute their cores meanwhile. The peers' steps are functions
called in a loop: C with streaming stores, numba and JAX on two threads, NumPy on one. The arrays of
C change places after every step, and it runs in turns with partita. Ratios of one run are what
counts.
"""
BARS = {"jacobi": ("C", 1.1), "water": ("NumPy", 8.0)}
NAMES = {
    "jacobi": "5-point Jacobi, 4096x4096, float64",
    "water": "shallow water, 1024x1024, float64",
}


@dataclass(frozen=True)
class Beside:
    """Seconds of a step: partita's by the way it is run, and the peers'."""

    ways: dict[str, float]
    peers: dict[str, float]


def about(facts: dict[str, str]) -> str:
    """What the figures were taken on."""
    rows = [[name, value] for name, value in facts.items()]
    return f"## Machine\n\nMeasured on {date.today()}.\n\n" + table(["", ""], rows)


def beside(name: str, found: Beside) -> str:
    """One program beside its peers: how many times as fast partita is."""
    judge, bar = BARS[name]
    peers = sorted(found.peers, key=lambda peer: found.peers[peer])
    rows = []
    for way, mine in found.ways.items():
        ratios = [f"{found.peers[peer] / mine:.2f}" for peer in peers]
        judged = verdict(found.peers[judge] / mine, bar, at_least=True)
        rows.append([way, duration(mine), *ratios, f"{judged} times {judge}'s speed"])
    rows.append(["the peer's time", "", *(duration(found.peers[peer]) for peer in peers), ""])
    head = ["partita on", "step", *(f"x {peer}" for peer in peers), "bar"]
    return f"### {NAMES[name]}\n\n" + table(head, rows)


def programs(found: dict[str, Beside], level: str) -> str:
    """All programs at a level."""
    parts = [f"## Steps, with {LEVELS[level]}\n", *(beside(*pair) for pair in found.items())]
    return "\n".join(parts)


def pipeline(stages: Stages, level: str) -> str:
    """From text to running kernels."""
    bars = {20: 5e-3, 500: 50e-3}
    names = ["parse", "verify", "passes", "first run"]
    rows = []
    for n, n_ranks in sorted({(n, n_ranks) for n, n_ranks, _ in stages}):
        times = [stages[n, n_ranks, name] for name in names]
        total = sum(times)
        each = duration(total / n)
        if n in bars:
            is_met = "met" if total <= bars[n] else "**missed**"
            bar = f"{duration(bars[n])}: {is_met}"
        else:
            bar = "linear"
        row = [str(n), str(n_ranks), *map(duration, times), duration(total), each, bar]
        rows.append(row)
    head = ["operations", "ranks", *names, "together", "per operation", "bar"]
    return (
        f"## From text to running kernels, with {LEVELS[level]}\n\n"
        "Best of fifteen rounds, each with a machine that knows no kernel, on 64x64 elements.\n\n"
        + table(head, rows)
    )
