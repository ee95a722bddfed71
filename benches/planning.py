"""The figures that `crates/partita-plan/benches/planning.rs` wrote."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Figure:
    """One planned case: how many moves, and how long it took to find them."""

    topic: str
    case: str
    n_moves: int
    median: float
    fastest: float
    n_samples: int


@dataclass(frozen=True)
class Elsewhere:
    """Seconds that others were reported to need for one rank's plan, on another machine."""

    costa: float
    scalapack: float


# Not measured here. COSTA 2.3.2: layouts plus preparation of sends and receives; ScaLAPACK 2.2.1
# pdgemr2d: its scans without its allreduce. Both planned 64x64 to 96x96 blocks of a 65536x65536
# array on a two-core Sapphire Rapids machine.
REPORTED = {
    "2x2": Elsewhere(27e-3 + 449e-3, 0.034e-3),
    "8x8": Elsewhere(8.5e-3 + 22e-3, 0.065e-3),
    "32x32": Elsewhere(7.4e-3 + 0.94e-3, 0.22e-3),
    "128x128": Elsewhere(7.2e-3 + 0.08e-3, 1.0e-3),
}


def read(path: Path) -> list[Figure]:
    """Fields between tabs, times in nanoseconds."""
    figures = []
    for line in path.read_text().splitlines():
        topic, case, n_moves, median_ns, fastest_ns, n_samples = line.split("\t")
        times = float(median_ns) * 1e-9, float(fastest_ns) * 1e-9
        figures.append(Figure(topic, case, int(n_moves), *times, int(n_samples)))
    return figures
