"""What calls cost as teams grow: counted for up to 4096 ranks, measured on this machine.

`make scaling` writes docs/scaling.md and docs/scaling.svg.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from machine import facts

if TYPE_CHECKING:
    from mpi4py import MPI

ROOT = Path(__file__).resolve().parents[1]
CALLS = (
    "barrier",
    "allgather_data of 8 bytes",
    "redistribution, first",
    "redistribution, again",
    "halo exchange",
)
COLOURS = ("#1f77b4", "#d62728", "#9467bd", "#2ca02c", "#ff7f0e")
MEASURED = ("MPI_Barrier", "barrier", "allgather_data", "halo rows", "halo rows by Sendrecv")

# 16 cores of a machine with AVX-512, Open MPI 4.1.6, before posts went by other hands.
EARLIER = """\
| ranks | MPI_Barrier | barrier | allgather_data | halo rows |
|---|---|---|---|---|
| 2 | 1.0 | 2 | 20 | 9.4 |
| 4 | - | 11 | 31 | 12.8 |
| 8 | 2.8 | 8 | 58 | 24 |
| 16 | 3.7 | 23 | 120 | 734 |
| 64 | - | 504 | 2142 | - |"""


def counted(most: int) -> list[dict[str, str]]:
    """The rows of the simulation."""
    command = ["cargo", "run", "--release", "--quiet", "-p", "partita-team"]
    command += ["--example", "scaling", "--", str(most)]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names, *rows = (line.split("\t") for line in lines.splitlines())
    return [dict(zip(names, row, strict=True)) for row in rows]


def _turns(body: Callable[[], object], n_turns: int, meet: Callable[[], object]) -> float:
    """Microseconds of one turn, the middle of five repetitions."""
    for _ in range(5):
        body()
    times = []
    for _ in range(5):
        meet()
        start = time.perf_counter()
        for _ in range(n_turns):
            body()
        times.append((time.perf_counter() - start) / n_turns * 1e6)
    return sorted(times)[2]


def _exchanged_rows(comm: "MPI.Comm", local: np.ndarray, nobody: int) -> None:
    """A row to each neighbour, as mpi4py's tutorials write it."""
    above = comm.rank - 1 if comm.rank > 0 else nobody
    below = comm.rank + 1 if comm.rank < comm.size - 1 else nobody
    first, last = int(above != nobody), len(local) - 1 - int(below != nobody)
    comm.Sendrecv(local[first], above, 0, local[-1], below, 0)
    comm.Sendrecv(local[last], below, 1, local[0], above, 1)


def rank(n_turns: int) -> None:
    """One rank of a measurement; rank 0 prints what the slowest needed."""
    from mpi4py import MPI

    import partita as pt

    comm, team = MPI.COMM_WORLD, pt.world()
    layout = pt.Layout((1024, 1024), f"block+halo(1,1), * @ {team.size}")
    local = team.empty(layout.local_shape(team.rank))
    local[:] = team.rank
    halo = pt.plan(layout, layout).bind(local, team, out=local)
    gather = partial(team.allgather_data, team.rank)
    by_hand = partial(_exchanged_rows, comm, local, MPI.PROC_NULL)
    bodies = (comm.Barrier, team.barrier, gather, halo.run, by_hand)
    times = [_turns(body, n_turns, comm.Barrier) for body in bodies]
    slowest = [comm.allreduce(one, MPI.MAX) for one in times]
    if team.rank == 0:
        print(json.dumps(slowest))


def measured(n_ranks: int) -> list[float]:
    """Microseconds of the calls on so many processes of this machine."""
    from partita._command.doctor import mpiexec

    launcher = [mpiexec() or "mpiexec", "-n", str(n_ranks)]
    turns = str(max(20, 4000 // n_ranks))
    again = "OMPI_ALLOW_RUN_AS_ROOT"
    environment = {again: "1", f"{again}_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1"}
    done = subprocess.run(
        [*launcher, sys.executable, __file__, "--rank", turns],
        check=True,
        capture_output=True,
        text=True,
        timeout=120,
        env=os.environ | environment,
    )
    times: list[float] = json.loads(done.stdout)
    return times


def picture(rows: list[dict[str, str]]) -> str:
    """Messages that a rank sends, by the number of ranks, both on logarithmic axes."""
    width, height, left, bottom = 640, 360, 50, 40

    def place(ranks: float, sent: float) -> str:
        x = left + (width - left - 190) * (math.log2(ranks) - 1) / 11
        y = height - bottom - (height - bottom - 20) * math.log2(max(sent, 1)) / 12
        return f"{x:.1f},{y:.1f}"

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="12">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for power in range(0, 13, 2):
        x, y = place(2**power, 2**power).split(",")
        parts.append(f'<text x="{left - 6}" y="{float(y) + 4}" text-anchor="end">{2**power}</text>')
        if power:
            label = f'<text x="{x}" y="{height - bottom + 18}" text-anchor="middle">'
            parts.append(f"{label}{2**power}</text>")
    parts.append(f'<text x="{left}" y="14">control messages that a rank sends per call</text>')
    parts.append(f'<text x="{width - 300}" y="{height - 6}">ranks</text>')
    lines = [("each to each", "#999999", [(2**p, 2**p - 1) for p in range(1, 13)])]
    for call, colour in zip(CALLS, COLOURS, strict=True):
        of = [row for row in rows if row["call"] == call]
        lines.append((call, colour, [(int(row["ranks"]), int(row["sent"])) for row in of]))
    for number, (name, colour, points) in enumerate(lines):
        line = " ".join(place(*point) for point in points)
        dashes = ' stroke-dasharray="5 4"' if number == 0 else ""
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}"{dashes}/>')
        y = 40 + 18 * number
        parts.append(f'<text x="{width - 180}" y="{y}" fill="{colour}">{name}</text>')
    return "\n".join([*parts, "</svg>", ""])


def page(rows: list[dict[str, str]], times: dict[int, list[float]]) -> str:
    """The text of docs/scaling.md."""
    sizes = sorted({int(row["ranks"]) for row in rows})
    cells = {(row["call"], int(row["ranks"])): row for row in rows}

    def table(what: str) -> str:
        lines = ["| ranks | " + " | ".join(CALLS) + " |", "|---" * (len(CALLS) + 1) + "|"]
        for size in sizes:
            values = " | ".join(cells[call, size][what] for call in CALLS)
            lines.append(f"| {size} | {values} |")
        return "\n".join(lines)

    measured_rows = "\n".join(
        f"| {size} | " + " | ".join(f"{one:.1f}" for one in of) + " |" for size, of in times.items()
    )
    here = facts()
    partners = ", ".join(
        f"{cells['partners of a redistribution', size]['sent']} on {size}" for size in sizes[-2:]
    )
    return f"""# How calls scale

Written by `make scaling`. How posts travel is told beside the code, in \
`crates/partita-team/src/mpi/README.md`.

## Counted

The code of rounds and of planning, run on a network in memory for every number of ranks: no \
data moves, and every message is one that processes would send. Each figure is that of the rank \
which has most. A redistribution has two meetings, one before the copying and one after; *first* \
tells the buffers, *again* is every later run with the same buffers. A halo exchange is that of \
a two-dimensional grid with halos on all sides, once all have agreed on its plan: it tells its \
partners alone, here that it has come and that it has copied.

![messages per rank](scaling.svg)

Control messages that a rank sends in a call; it gets as many.

{table("sent")}

Bytes of these messages. Those of a barrier have a fixed length; what all tell all comes to each \
rank once.

{table("bytes")}

Messages that follow one another before the last rank goes on.

{table("hops")}

Data come on top. Rows to columns has each rank give to every other one ({partners}): in one \
node they copy straight, between nodes each is a message. Halos go to at most eight.

Rounds in which somebody waits for more than 20 ms cost a message to every member, once, from \
each that waits.

## Measured

{here["processor"]}, {here["cores"]} cores, from Python, all ranks on this machine, microseconds \
on the slowest rank. With more ranks than cores the figures are those of the system's scheduler.

| ranks | {" | ".join(MEASURED)} |
{"|---" * (len(MEASURED) + 1)}|
{measured_rows}

Fewer messages are not always less time: each step waits for ranks that must first get a core. On \
2 cores, 64 ranks that sent each to each needed 5198 us for a barrier, 9827 for `allgather_data`; \
on 16 and fewer the two ways were within the noise of single runs.

Measured earlier on 16 cores, when each rank still sent its post to every other one:

{EARLIER}
"""


def main() -> None:
    """Count, measure, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rank", type=int, help="be one rank, with so many turns")
    parser.add_argument("--most", type=int, default=4096, help="ranks of the largest team")
    options = parser.parse_args()
    if options.rank is not None:
        rank(options.rank)
        return
    rows = counted(options.most)
    times = {size: measured(size) for size in (2, 4, 8, 16, 64)}
    (ROOT / "docs" / "scaling.svg").write_text(picture(rows))
    (ROOT / "docs" / "scaling.md").write_text(page(rows, times))


if __name__ == "__main__":
    main()
