"""What calls cost as teams grow: counted for up to 4096 ranks, measured on this machine.

`make scaling` writes docs/scaling.md and docs/scaling.svg. What `calls.py` and `movement.py` have
measured on 16 cores lies in sixteen_cores.json.
"""

import argparse
import json
import math
import subprocess
from pathlib import Path
from typing import Any

import calls
from machine import facts

ROOT = Path(__file__).resolve().parents[1]
CALLS = (
    "barrier",
    "allgather_data of 8 bytes",
    "redistribution, first",
    "redistribution, again",
    "halo exchange",
)
COLOURS = ("#1f77b4", "#d62728", "#9467bd", "#2ca02c", "#ff7f0e", "#8c564b")
# What a picture shows of what was measured on processes.
MEASURED = (
    "MPI_Barrier",
    "barrier",
    "allgather_data",
    "redistribution",
    "halo rows",
    "halo rows by Sendrecv",
)
Line = tuple[str, str, list[tuple[float, float]]]
SIXTEEN_CORES = Path(__file__).with_name("sixteen_cores.json")


def counted(most: int) -> list[dict[str, str]]:
    """The rows of the simulation."""
    command = ["cargo", "run", "--release", "--quiet", "-p", "partita-team"]
    command += ["--example", "scaling", "--", str(most)]
    lines = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    names, *rows = (line.split("\t") for line in lines.splitlines())
    return [dict(zip(names, row, strict=True)) for row in rows]


def counted_lines(rows: list[dict[str, str]]) -> list[Line]:
    """Messages that a rank sends, by the number of ranks; the first line is for comparison."""
    lines: list[Line] = [("each to each", "#999999", [(2**p, 2**p - 1) for p in range(1, 13)])]
    for call, colour in zip(CALLS, COLOURS, strict=False):
        of = [row for row in rows if row["call"] == call]
        lines.append((call, colour, [(int(row["ranks"]), int(row["sent"])) for row in of]))
    return lines


def measured_lines(times: calls.Times) -> list[Line]:
    """Microseconds on processes that have a core each, by their number."""
    by_ranks = {int(n): of for n, of in times["processes"].items() if int(n) <= 16}
    return [
        (call, colour, [(n, of[call]) for n, of in by_ranks.items()])
        for call, colour in zip(MEASURED, COLOURS, strict=True)
    ]


def panel(title: str, lines: list[Line], top: int, powers: tuple[range, range]) -> list[str]:
    """Lines by the number of ranks, both axes logarithmic, with the powers of two on each."""
    width, height, left = 400, 290, 50
    along, up = powers

    def place(ranks: float, value: float) -> tuple[float, float]:
        x = left + width * (math.log2(ranks) - along[0]) / (along[-1] - along[0])
        share = (math.log2(max(value, 2 ** up[0])) - up[0]) / (up[-1] - up[0])
        return x, top + 26 + height * (1 - share)

    parts = [f'<text x="{left}" y="{top + 14}">{title}</text>']
    for power in up:
        _, y = place(2 ** along[0], 2**power)
        parts.append(f'<text x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{2**power}</text>')
    for power in along:
        x, y = place(2**power, 2 ** up[0])
        parts.append(f'<text x="{x:.1f}" y="{y + 18:.1f}" text-anchor="middle">{2**power}</text>')
    parts.append(f'<text x="{left + width + 20}" y="{top + height + 44}">ranks</text>')
    for number, (name, colour, points) in enumerate(lines):
        line = " ".join("{:.1f},{:.1f}".format(*place(*point)) for point in points)
        dashes = ' stroke-dasharray="5 4"' if number == 0 else ""
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}"{dashes}/>')
        y = top + 40 + 18 * number
        parts.append(f'<text x="{left + width + 20}" y="{y}" fill="{colour}">{name}</text>')
    return parts


def picture(rows: list[dict[str, str]], times: calls.Times) -> str:
    """What was counted, and below it what was measured on 16 cores."""
    counted_title = "control messages that a rank sends per call, counted"
    measured_title = "microseconds per call, measured on 16 cores"
    powers = (range(1, 13), range(0, 13, 2)), (range(1, 5), range(0, 9))
    parts = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 660 720" '
        'font-family="sans-serif" font-size="12">',
        '<rect width="660" height="720" fill="white"/>',
        *panel(counted_title, counted_lines(rows), 0, powers[0]),
        *panel(measured_title, measured_lines(times), 360, powers[1]),
    ]
    return "\n".join([*parts, "</svg>", ""])


def measured(times: calls.Times) -> str:
    """Tables of microseconds, one for each engine."""
    tables = []
    for engine, by_ranks in times.items():
        names = list(next(iter(by_ranks.values())))
        lines = [f"| {engine} | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
        for n_ranks, of in by_ranks.items():
            cells = " | ".join(f"{of[name]:.1f}" for name in names)
            lines.append(f"| {n_ranks} | {cells} |")
        tables.append("\n".join(lines))
    return "\n\n".join(tables)


def moved(figures: dict[str, list[list[Any]]]) -> str:
    """A table of ratios to a plain copy, one column for each way that data went."""
    names = [name for name, _, ratio, _ in figures["one node"] if ratio and "512" not in name]
    lines = ["| movement | " + " | ".join(figures) + " | Alltoallw |", "|---" * 5 + "|"]
    for name in names:
        found = {way: {one[0]: one[2:] for one in of}[name] for way, of in figures.items()}
        peers = [peer for _, peer in found.values() if peer]
        ratios = " | ".join(f"{ratio:.2f}" for ratio, _ in found.values())
        lines.append(f"| {name} | {ratios} | {f'{min(peers):.2f}' if peers else ''} |")
    return "\n".join(lines)


def page(rows: list[dict[str, str]], elsewhere: dict[str, Any], times: calls.Times) -> str:
    """The text of docs/scaling.md."""
    sizes = sorted({int(row["ranks"]) for row in rows})
    cells = {(row["call"], int(row["ranks"])): row for row in rows}

    def table(what: str) -> str:
        lines = ["| ranks | " + " | ".join(CALLS) + " |", "|---" * (len(CALLS) + 1) + "|"]
        for size in sizes:
            values = " | ".join(cells[call, size][what] for call in CALLS)
            lines.append(f"| {size} | {values} |")
        return "\n".join(lines)

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
is the agreement on plan and buffers, *again* every later run with the same buffers. A halo \
exchange is that of a two-dimensional grid with halos on all sides, once all have agreed on its \
plan: it tells its partners alone, here that it has come and that it has copied.

![messages per rank](scaling.svg)

Control messages that a rank sends in a call; it gets as many.

{table("sent")}

Bytes of these messages. A message of a barrier has a few numbers, however many ranks it speaks \
of; what all tell all comes to each rank once.

{table("bytes")}

Messages that follow one another before the last rank goes on.

{table("hops")}

Data come on top. Rows to columns has each rank give to every other one ({partners}): in one \
node they copy straight, between nodes each is a message. Halos go to at most eight.

Rounds in which somebody waits for more than 20 ms cost a message to every member, once, from \
each that waits.

## Measured

From Python, microseconds on the slowest rank, by the number of ranks; the calls of a table take \
turns in one run (`benches/calls.py`). Halo rows are those of 4096x4096 float64; *bound* is \
`plan.bind(...).run()`, *by Sendrecv* two calls of mpi4py. A redistribution is that of 512x512 \
float64 from rows to columns. With more ranks than cores the figures \
are those of the system's scheduler.

{elsewhere["processor"]}, {elsewhere["cores"]} cores, {elsewhere["mpi"]}:

{measured(elsewhere["times"])}

Moving 8192x8192 float64 there on 16 processes, as ratios to a plain copy by the same ranks, \
beside mpi4py's Alltoallw with derived types: in one node, as on two nodes of eight, and by \
messages alone.

{moved(elsewhere["moves"])}

{here["processor"]}, {here["cores"]} cores, MPICH:

{measured(times)}
"""


def main() -> None:
    """Count, measure, and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--most", type=int, default=4096, help="ranks of the largest team")
    options = parser.parse_args()
    rows = counted(options.most)
    times = calls.measured()
    elsewhere = json.loads(SIXTEEN_CORES.read_text())
    (ROOT / "docs" / "scaling.svg").write_text(picture(rows, elsewhere["times"]))
    (ROOT / "docs" / "scaling.md").write_text(page(rows, elsewhere, times))


if __name__ == "__main__":
    main()
