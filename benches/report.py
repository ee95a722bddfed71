"""The figures as a page of tables."""

from collections.abc import Iterable, Sequence
from datetime import date

from command import SHAPE, SOURCE, TARGET, Run
from numba_methods import N_THREADS
from planning import REPORTED, Figure
from protocols import BAR_GROWTH, BAR_SECONDS, Handed
from startup import Look
from timing import Times
from translation import Result

INTRODUCTION = """\
# Benchmarks

Written by `make bench` on {day}; do not edit. Every figure is the median of its repetitions.
Methods that are compared run in the same process on the same data and take turns, repetition by
repetition; their ratio is the median of the rounds' ratios. Other work on the machine changes
single figures by tens of per cent, and more if memory is read at random, but ratios much less:
trust the ratios. "Bar" is the project's own target on a quiet machine, compared with the median;
"fastest" is the time of the least disturbed repetition.
"""

TRANSLATION = """\
Ten million random global indices to (rank, local index), in nanoseconds per index; partita and
NumPy use one thread. NumPy computes with `//` and `%` for block-cyclic and block, `searchsorted`
for given sizes, `take` from one packed table for the permutation, and `searchsorted` among the
sorted ids for 64-bit ids ({percent} of the indices, scaled). numba runs the same as a compiled
loop, with an open-addressing hash table for 64-bit ids; compilation is not counted. Only partita
checks that every index is held by some rank.
"""


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [head, ["---"] + ["---:"] * (len(head) - 1), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def _seconds(value: float) -> str:
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def _bar(is_met: bool, words: str) -> str:
    return f"{words}: {'met' if is_met else '**missed**'}"


def _translation_row(result: Result, times: dict[str, Times], *, has_bar: bool) -> list[str]:
    def ns(name: str) -> str:
        return f"{times[name].median * 1e9:.2f}" if name in times else ""

    def over(name: str) -> str:
        return f"{times[name].over(times['partita']):.1f}" if name in times else ""

    row = [result.name, ns("partita"), f"{times['partita'].fastest * 1e9:.2f}", ns("NumPy")]
    row += [ns("numba"), ns("numba, all threads"), over("NumPy"), over("numba")]
    if has_bar:
        bar = result.bar_ns
        is_met = bar is not None and times["partita"].median * 1e9 <= bar
        row.append("" if bar is None else _bar(is_met, f"{bar:g} ns"))
    return row


def _translation(results: list[Result]) -> str:
    head = ["map", "partita", "fastest", "NumPy", "numba, 1 thread"]
    head += [f"numba, {N_THREADS} threads", "NumPy / partita", "numba 1 / partita"]
    warm = [_translation_row(result, result.warm, has_bar=True) for result in results]
    fresh = [_translation_row(result, result.fresh, has_bar=False) for result in results]
    return (
        "## Index translation\n\n"
        + TRANSLATION.format(percent="1 %")
        + "\nInto existing arrays (`out=`):\n\n"
        + _table([*head, "bar"], warm)
        + "\nInto new arrays: fresh memory for NumPy and numba, "
        + "warm memory from the pool for partita:\n\n"
        + _table(head, fresh)
    )


def _cyclic(figures: list[Figure]) -> str:
    rows = []
    for figure in figures:
        reported = REPORTED[figure.case]
        is_met = figure.median <= 50e-6
        bar = _bar(is_met, "50 µs") if figure.case == "128x128" else ""
        row = [figure.case, str(figure.n_moves), _seconds(figure.median), bar]
        rows.append([*row, _seconds(reported.costa), _seconds(reported.scalapack)])
    head = ["grid", "moves", "partita", "bar", "COSTA, reported", "pdgemr2d, reported"]
    return (
        "## One rank's plan\n\nThe sends and receives of one rank, given two layouts.\n\n"
        "Block-cyclic 64 to 96, 65536x65536. The last two columns were reported elsewhere, on\n"
        "another machine, and were not measured here: COSTA 2.3.2 (layouts, sends and receives),\n"
        "ScaLAPACK 2.2.1 `pdgemr2d` (its scans without its allreduce).\n\n" + _table(head, rows)
    )


def _planning(figures: list[Figure]) -> str:
    def of(*topics: str) -> list[Figure]:
        return [figure for figure in figures if figure.topic in topics]

    def rows(chosen: list[Figure]) -> list[list[str]]:
        return [[f.case, f"{f.n_moves:,}", _seconds(f.median), str(f.n_samples)] for f in chosen]

    head = ["case", "moves", "time", "samples"]
    return (
        _cyclic(of("cyclic"))
        + "\nOther patterns:\n\n"
        + _table(head, rows(of("rank")))
        + "\nUnstructured: a permutation of 10^6 indices in 8 lists, to blocks.\n\n"
        + _table(head, rows(of("unstructured")))
        + "\n## Totals of a million ranks\n\nExact messages and bytes over all ranks.\n\n"
        + _table(head, rows(of("totals")))
    )


def _command(runs: list[Run]) -> str:
    rows = []
    for run in runs:
        time_bar = _bar(run.times.median <= run.bar_seconds, _seconds(run.bar_seconds))
        peak = f"{run.peak_bytes / 2**20:.0f} MB"
        memory_bar = ""
        if run.bar_bytes is not None:
            memory_bar = _bar(run.peak_bytes <= run.bar_bytes, f"{run.bar_bytes >> 20} MB")
        row = [run.what, run.starter, _seconds(run.times.median), time_bar, peak, memory_bar]
        rows.append(row)
    head = ["asked for", "started as", "wall time", "bar", "peak memory", "bar"]
    return (
        "## The command\n\nIncluding the start and end of the process:\n\n"
        f'    partita plan {SHAPE} "{SOURCE}" "{TARGET}" --json\n\n'
        "A peak below that of a bare interpreter (about 10 MB) is not visible.\n\n"
        + _table(head, rows)
    )


def _startup(imports: dict[str, Times], looks: list[Look]) -> str:
    bare = imports["nothing"]
    rows = []
    for name, times in imports.items():
        added = "" if name == "nothing" else _seconds(max(times.median - bare.median, 0.0))
        rows.append([name, _seconds(times.median), added])
    shown = [
        [look.what, _seconds(look.small.median), _seconds(look.large.median)] for look in looks
    ]
    return (
        "## Import, text and pictures\n\nA fresh interpreter that imports one module and exits:\n\n"
        + _table(["import", "process", "above nothing"], rows)
        + "\nWhat a notebook shows, from the second time on, because a plan keeps its totals.\n\n"
        + _table(["call", "16x16 on 2x2 ranks", f"{SHAPE} on 1024x1024 ranks"], shown)
    )


def _protocols(handed: list[Handed]) -> str:
    small, large = handed
    rows = []
    for one in handed:
        if one is small:
            is_met = one.take.median <= BAR_SECONDS
            bar = _bar(is_met, _seconds(BAR_SECONDS))
        else:
            growth = large.take.median / small.take.median
            bar = _bar(growth <= BAR_GROWTH, f"{BAR_GROWTH:g} times the first, {growth:.2f}")
        times = [_seconds(t.median) for t in (one.check, one.take)]
        fastest, give = _seconds(one.take.fastest), _seconds(one.give.median)
        rows.append([f"{one.n_partitions:,}", *times, fastest, bar, give])
    head = ["partitions", "check", "check and take over", "fastest", "bar", "hand on"]
    return (
        "## Protocol dictionaries\n\n"
        "`__partitioned__` with one handle per partition, all fetched.\n\n" + _table(head, rows)
    )


def page(
    facts: dict[str, str],
    results: list[Result],
    figures: list[Figure],
    runs: list[Run],
    shown: tuple[dict[str, Times], list[Look]],
    handed: list[Handed],
) -> str:
    """The whole page."""
    parts = [
        INTRODUCTION.format(day=date.today().isoformat()),
        "## Machine\n\n" + _table(["", ""], [[name, value] for name, value in facts.items()]),
        _translation(results),
        _planning(figures),
        _command(runs),
        _startup(*shown),
        _protocols(handed),
    ]
    return "\n".join(parts)
