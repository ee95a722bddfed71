"""The figures of benches/kernels.py as a page of tables."""

from collections.abc import Callable, Sequence
from datetime import date
from pathlib import Path

Times = dict[tuple[str, str, int], float]

PEERS = ("numba", "NumPy", "numexpr", "JAX", "C")
SIZES = {"0.5 MB": 1 << 14, "32 MB": 1_000_000, "960 MB": 30_000_000}

PROGRAMS = """\
## Programs, {level}

Measured on {day}. A ratio is partita's time to the peer's: less is better. "Bar" is what the
project asks of itself on a quiet machine with two cores.
{peers}
"""
NATIVE = "Peers use whatever instructions the processor has."
AVX2 = "numba, NumPy, JAX and C are held to AVX2 too; numexpr chooses for itself."


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table in Markdown."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def verdict(ratio: float, bar: float, *, at_least: bool = False) -> str:
    """A ratio beside its bar."""
    is_met = ratio >= bar if at_least else ratio <= bar
    return f"{ratio:.2f} (bar {bar:g}: {'met' if is_met else '**missed**'})"


def duration(seconds: float) -> str:
    """A time in the unit that fits."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def against(times: Times, name: str, n_threads: int) -> list[str]:
    """Ratios to all peers; nothing where a peer has no such program."""
    mine = times["partita", name, n_threads]
    found = [times.get((peer, name, n_threads)) for peer in PEERS]
    return [f"{mine / other:.2g}" if other else "" for other in found]


def row(times: Times, label: str, name: str, n_threads: int, bar: str) -> list[str]:
    """One program on so many threads."""
    mine = times["partita", name, n_threads]
    return [label, str(n_threads), duration(mine), *against(times, name, n_threads), bar]


def expressions(times: Times) -> list[list[str]]:
    """The two expressions, judged by numba's time."""
    rows = []
    for size, n in SIZES.items():
        for name in (f"sqrt8 {size}", f"poly8 {size}"):
            for n_threads in (1, 2):
                if ("partita", name, n_threads) not in times:
                    continue
                ratio = times["partita", name, n_threads] / times["numba", name, n_threads]
                bar = verdict(ratio, 0.92 if n > 1 << 22 else 1.05) + " of numba's time"
                rows.append(row(times, name, name, n_threads, bar))
    return rows


def stencils(times: Times) -> list[list[str]]:
    """The stencil, judged by a plain loop in C and by the triad's bandwidth."""
    rows = []
    for n_threads in (1, 2):
        mine = times.get(("partita", "jacobi 4096", n_threads))
        if mine is None:
            continue
        faster = verdict(times["C", "jacobi 4096", n_threads] / mine, 1.15, at_least=True)
        # The triad moves three arrays, the stencil two.
        share = verdict(2 / 3 * times["C", "triad", n_threads] / mine, 0.85, at_least=True)
        bar = f"{faster} times C's speed; {share} of the triad"
        rows.append(row(times, "Jacobi 4096x4096", "jacobi 4096", n_threads, bar))
    return rows


def options(times: Times) -> list[list[str]]:
    """Black-Scholes, judged by C with libmvec."""
    rows = []
    for n_threads in (1, 2):
        mine = times.get(("partita", "black-scholes", n_threads))
        if mine is not None:
            ratio = mine / times["C", "black-scholes", n_threads]
            bar = verdict(ratio, 1.2) + " of C's time"
            rows.append(row(times, "Black-Scholes 10^7", "black-scholes", n_threads, bar))
    return rows


def reductions(times: Times) -> list[list[str]]:
    """Reductions, judged by four read streams in C."""
    rows = []
    for name in ("sum", "min", "max", "argmax"):
        for n_threads in (1, 2):
            mine = times.get(("partita", name, n_threads))
            if mine is not None:
                share = times["C", "read4", n_threads] / mine
                bar = verdict(share, 0.95, at_least=True) + " of four read streams"
                rows.append(row(times, f"{name} of 10^8", name, n_threads, bar))
    return rows


def small(times: Times) -> list[list[str]]:
    """Calls on 64 elements and compilation; peers are called from Python."""
    bars = {"call of 64": 150e-9, "look-up and call of 64": 300e-9, "compile 30": 200e-6}
    rows = []
    for name, bar in bars.items():
        mine = times.get(("partita", name, 1))
        if mine is not None:
            words = f"{duration(bar)}: {'met' if mine <= bar else '**missed**'}"
            rows.append(row(times, name, name, 1, words))
    return rows


def programs(times: Times, level: str) -> str:
    """All programs at a level."""
    head = ["program", "threads", "partita", *(f"/ {peer}" for peer in PEERS), "bar"]
    peers = AVX2 if level == "avx2" else NATIVE
    text = PROGRAMS.format(level=level, day=date.today(), peers=peers)
    for rows in (
        expressions(times),
        stencils(times) + options(times),
        reductions(times),
        small(times),
    ):
        text += "\n" + table(head, rows) if rows else ""
    return text


def speed(printed: str) -> str:
    """The vector mathematics beside libmvec, judged where there is a bar."""
    head, _, *lines = [
        [cell.strip() for cell in line.strip("|\n ").split("|")] for line in printed.splitlines()
    ]
    bars = dict.fromkeys(("exp", "log", "pow", "erf", "tanh"), 1.5) | {"sin": 1.8, "cos": 1.8}
    rows = []
    for line in lines:
        bar = bars.get(line[0])
        rows.append([*line[:-1], verdict(float(line[-1]), bar) if bar else line[-1]])
    introduction = (
        f"## Vector mathematics, time\n\nMeasured on {date.today()} by `examples/ulp speed`: 1024 "
        "elements in the first cache, best of\n400, alternating with libmvec in one process.\n\n"
    )
    return introduction + table(head, rows)


def errors(printed: str) -> str:
    """The errors as the example prints them."""
    introduction = (
        f"## Vector mathematics, errors\n\nMeasured on {date.today()} by `examples/ulp`.\n"
    )
    return f"{introduction}\n{printed}"


HEAD = "# Benchmarks of the kernels\n"


def teller(page: Path | None, head: str = HEAD) -> Callable[[str, str], None]:
    """Prints a part, and writes it to the page, if there is one, leaving its other parts."""

    def tell(name: str, text: str) -> None:
        print(text, flush=True)
        if page is not None:
            _replace(page, name, text, head)

    return tell


def _replace(page: Path, name: str, text: str, head: str) -> None:
    begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
    before, _, rest = (page.read_text() if page.exists() else head).partition(begin)
    _, _, after = rest.partition(end)
    page.write_text(f"{before.rstrip()}\n\n{begin}\n{text.rstrip()}\n{end}\n{after.lstrip()}")
