"""Moving arrays: partita on threads and on MPI, beside mpi4py, as ratios to a copy.

Run as a script it is one rank: `mpiexec -n N python benches/movement.py OUT.json`, or all ranks of
one process: `python benches/movement.py OUT.json --threads N`.
"""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import numpy as np

import partita as pt
from partita._command.doctor import mpiexec

# Bars by case: threads, MPI on one node, MPI by messages only.
BARS = {
    "row blocks to column blocks": (1.0, 1.1, 2.0),
    "row blocks to cyclic(64) x cyclic(64)": (1.0, 1.1, 2.4),
    "row blocks to cyclic(1)": (1.15, 1.3, 3.0),
    "sum of all ranks on one, 64 MiB float32 each": (3.0, 4.0, 12.0),
    "random permutation of 2^24": (9.0, 10.0, None),
}
BARS |= {f"{name}, 512 x 512, bound": (None, 1.5, None) for name in list(BARS)[:3]}
HALO_BARS_US = {"halo rows": (3, 4, 10), "halo columns": (80, 80, 100)}
ENGINES = ("threads", "MPI, one node", "MPI, messages")


@dataclass(frozen=True)
class Figure:
    """One case on one engine."""

    name: str
    seconds: float
    ratio: float | None
    peer: float | None = None


def _layouts(n: int, size: int) -> dict[str, tuple[pt.Layout, pt.Layout]]:
    square = {1: "1x1", 2: "1x2", 4: "2x2", 8: "2x4", 16: "4x4"}[size]
    rows = pt.Layout((n, n), f"block, * @ {size}")
    targets = {
        "row blocks to column blocks": f"*, block @ {size}",
        "row blocks to cyclic(64) x cyclic(64)": f"cyclic(64), cyclic(64) @ {square}",
        "row blocks to cyclic(1)": f"*, cyclic(1) @ {size}",
    }
    return {name: (rows, pt.Layout((n, n), text)) for name, text in targets.items()}


def _in_turns(
    team: pt.Team, works: dict[str, Callable[[], object]], n_rounds: int
) -> dict[str, list[float]]:
    """Seconds of each work per round, on the slowest rank."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for number in range(n_rounds + 2):
        for name, work in works.items():
            team.barrier()
            start = time.perf_counter()
            work()
            team.barrier()
            if number > 1:
                times[name].append(time.perf_counter() - start)
    return times


def _figure(name: str, times: dict[str, list[float]]) -> Figure:
    def ratio(work: str) -> float | None:
        if work not in times:
            return None
        return median(a / b for a, b in zip(times[work], times["copy"], strict=True))

    return Figure(name, median(times["partita"]), ratio("partita"), ratio("mpi4py"))


def _alltoallw(
    source: pt.Layout, target: pt.Layout, local: np.ndarray, out: np.ndarray
) -> Callable[[], object] | None:
    """The same move by MPI itself: derived types and one Alltoallw."""
    if "mpi4py.MPI" not in sys.modules:
        return None
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    plan = pt.plan(source, target)
    send = _types(plan, comm.rank, comm.size, local, "source")
    receive = _types(plan, comm.rank, comm.size, out, "target")
    zeros, ones = [0] * comm.size, [1] * comm.size
    return lambda: comm.Alltoallw([local, ones, zeros, send], [out, ones, zeros, receive])


def _types(plan: pt.Plan, rank: int, size: int, buffer: np.ndarray, side: str) -> list:
    """An indexed type per partner, from the rows and columns that go there."""
    from mpi4py import MPI

    types = []
    for other in range(size):
        giver, taker = (rank, other) if side == "source" else (other, rank)
        rows, columns = _places(plan, giver, taker, side)
        row = MPI.DOUBLE.Create_indexed(*_blocks(columns)).Commit()
        lengths, starts = _blocks(rows)
        row = row.Create_resized(0, buffer.strides[0]).Commit()
        types.append(row.Create_indexed(lengths, starts).Commit())
    return types


def _places(plan: pt.Plan, giver: int, taker: int, side: str) -> tuple[np.ndarray, np.ndarray]:
    """Local rows and columns of what one rank gives another."""
    layout, own = (plan.source, giver) if side == "source" else (plan.target, taker)
    both = []
    for dim in range(2):

        def held(layout: pt.Layout, rank: int, dim: int = dim) -> np.ndarray:
            local = np.zeros((layout.local_shape(rank)[dim], 2), dtype=np.int64)
            local[:, dim] = np.arange(len(local))
            return layout.globalize(rank, local)[:, dim]

        other = held(plan.target, taker) if side == "source" else held(plan.source, giver)
        both.append(np.flatnonzero(np.isin(held(layout, own), other)))
    return both[0], both[1]


def _blocks(positions: np.ndarray) -> tuple[list[int], list[int]]:
    cuts = np.flatnonzero(np.diff(positions) != 1) + 1
    parts = np.split(positions, cuts)
    return [len(part) for part in parts], [int(part[0]) if len(part) else 0 for part in parts]


def _moves(team: pt.Team, n: int, n_rounds: int) -> list[Figure]:
    """The movements by `plan.apply`, and where they are small by plans that were bound, too."""
    figures = []
    for name, (source, target) in _layouts(n, team.size).items():
        plan = pt.plan(source, target)
        local = team.empty(source.local_shape(team.rank))
        out = team.empty(target.local_shape(team.rank))
        local[:] = team.rank
        plain, copied = np.ones(local.size), np.zeros(local.size)
        works: dict[str, Callable[[], object]] = {
            "copy": lambda plain=plain, copied=copied: np.copyto(copied, plain),
            "partita": lambda plan=plan, local=local, out=out: plan.apply(local, team, out=out),
        }
        peer = _alltoallw(source, target, local, out)
        if peer is not None:
            works["mpi4py"] = peer
        is_small = n < 1000
        if is_small:
            works["bound"] = plan.bind(local, team, out=out).run
        times = _in_turns(team, works, n_rounds)
        words = f"{name}, {n} x {n}" if is_small else name
        figures.append(_figure(words, times))
        if is_small:
            bound = {"partita": times["bound"], "copy": times["copy"]}
            figures.append(_figure(f"{words}, bound", bound))
    return figures


def _halos(team: pt.Team, n_turns: int) -> list[Figure]:
    figures = []
    for name, text in (("rows", "block+halo(1,1), *"), ("columns", "*, block+halo(1,1)")):
        layout = pt.Layout((4096, 4096), f"{text} @ {team.size}")
        local = team.empty(layout.local_shape(team.rank))
        local[:] = team.rank
        array = pt.from_local(local, layout, team)
        seconds = []
        for _ in range(5):
            team.barrier()
            start = time.perf_counter()
            for _ in range(n_turns):
                array.exchange_halo()
            seconds.append((time.perf_counter() - start) / n_turns)
        figures.append(Figure(f"halo {name}", min(seconds), None))
    return figures


def _nothing(team: pt.Team, n_turns: int) -> list[Figure]:
    """What a call costs that moves nothing."""
    layout = pt.Layout((0,), f"block @ {team.size}")
    plan = pt.plan(layout, layout)
    local, out = team.empty((0,)), team.empty((0,))
    works: dict[str, Callable[[], object]] = {
        "nothing, bound": plan.bind(local, team, out=out).run,
        "nothing, applied": lambda: plan.apply(local, team, out=out),
    }
    figures = []
    for name, work in works.items():
        seconds = []
        for _ in range(9):
            team.barrier()
            start = time.perf_counter()
            for _ in range(n_turns):
                work()
            seconds.append((time.perf_counter() - start) / n_turns)
        figures.append(Figure(name, min(seconds), None))
    return figures


def _collectives(team: pt.Team) -> list[Figure]:
    """From one rank to all and the sums of all ranks, beside MPI's own."""
    n = 16 << 20
    one = pt.Layout((n,), [pt.Whole()], ranks=[0])
    everywhere = pt.Layout((n,), [pt.Whole()], grid=(team.size,))
    summands = pt.Layout((n,), [pt.Whole()], grid=(team.size,), partial=(0,))
    pairs = {
        "one rank to all, 64 MiB float32": (one, everywhere),
        "sum of all ranks on one, 64 MiB float32 each": (summands, one),
        "sum of all ranks on all, 64 MiB float32 each": (summands, everywhere),
    }
    plain, copied = np.ones(n, "float32"), np.zeros(n, "float32")
    figures = []
    for name, (source, target) in pairs.items():
        plan = pt.plan(source, target, "float32")
        local, out = (_memory(team, layout) for layout in (source, target))
        works: dict[str, Callable[[], object]] = {
            "copy": lambda: np.copyto(copied, plain),
            "partita": lambda plan=plan, local=local, out=out: plan.apply(local, team, out=out),
        }
        if "mpi4py.MPI" in sys.modules:
            works["mpi4py"] = _collective(name, plain, copied)
        figures.append(_figure(name, _in_turns(team, works, 7)))
    return figures


def _memory(team: pt.Team, layout: pt.Layout) -> np.ndarray | None:
    """Ones where this rank has a part."""
    if team.rank >= layout.n_ranks:
        return None
    memory = team.empty(layout.local_shape(team.rank), "float32")
    memory[:] = 1
    return memory


def _collective(name: str, source: np.ndarray, target: np.ndarray) -> Callable[[], object]:
    """What MPI has for it."""
    from mpi4py import MPI

    comm = MPI.COMM_WORLD
    if name.startswith("one rank"):
        return lambda: comm.Bcast(target, 0)
    if "on one" in name:
        return lambda: comm.Reduce(source, target, MPI.SUM, 0)
    return lambda: comm.Allreduce(source, target, MPI.SUM)


def _permutation(team: pt.Team) -> Figure:
    n = 1 << 24
    lists = np.array_split(np.random.default_rng(1).permutation(n), team.size)
    source = pt.Layout((n,), f"block @ {team.size}")
    target = pt.Layout((n,), [pt.Unstructured(lists)], grid=(team.size,))
    plan = pt.plan(source, target)
    local, out = team.empty(source.local_shape(team.rank)), team.empty((len(lists[team.rank]),))
    local[:] = 1
    plain, copied = np.ones(local.size), np.zeros(local.size)
    works: dict[str, Callable[[], object]] = {
        "copy": lambda: np.copyto(copied, plain),
        "partita": lambda: plan.apply(local, team, out=out),
    }
    return _figure("random permutation of 2^24", _in_turns(team, works, 5))


def _rank(team: pt.Team) -> list[list]:
    """All cases on one team; the figures of rank 0."""
    figures = [*_moves(team, 8192, 7), *_moves(team, 512, 99), *_halos(team, 500)]
    figures += [*_nothing(team, 500), *_collectives(team)]
    if team.size == 2 and os.environ.get("PARTITA_SHARED_MEMORY") != "0":
        figures.append(_permutation(team))
    return [[f.name, f.seconds, f.ratio, f.peer] for f in figures]


@dataclass(frozen=True)
class Setting:
    """Where ranks run, and with which instructions."""

    n_ranks: int
    simd: str | None = None

    def __str__(self) -> str:
        return f"{self.n_ranks} ranks" + (f", {self.simd} alone" if self.simd else "")


# The last one is what processors without AVX-512 have.
SETTINGS = (Setting(2), Setting(4), Setting(2, "avx2"))


def _measured(setting: Setting, engine: str) -> list[Figure]:
    """What ranks in processes of their own have measured."""
    n_ranks = str(setting.n_ranks)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "figures.json"
        command = [sys.executable, __file__, str(out)]
        if engine == "threads":
            command += ["--threads", n_ranks]
        else:
            command = [str(mpiexec()), "-n", n_ranks, *command]
        env = {**os.environ, "PARTITA_SHARED_MEMORY": "0" if engine == "MPI, messages" else "1"}
        env |= {"PARTITA_SIMD": setting.simd} if setting.simd else {}
        subprocess.run(command, check=True, timeout=900, env=env)
        return [Figure(*values) for values in json.loads(out.read_text())]


Figures = dict[tuple[Setting, str], list[Figure]]


def measure(settings: tuple[Setting, ...] = SETTINGS) -> Figures:
    """Figures by setting and engine."""
    return {(one, engine): _measured(one, engine) for one in settings for engine in ENGINES}


def page(found: Figures) -> str:
    """The figures as tables."""
    text = INTRODUCTION
    for setting in dict.fromkeys(setting for setting, _ in found):
        has_bar = setting.n_ranks == 2
        text += f"\n{setting}:\n\n"
        head = ["movement", *ENGINES, "mpi4py", "bars" if has_bar else ""]
        text += f"| {' | '.join(head)} |\n| --- |{' ---: |' * 5}\n"
        tables = [{f.name: f for f in found[setting, engine]} for engine in ENGINES]
        for name in tables[0]:
            text += _row(name, [table.get(name) for table in tables], has_bar=has_bar)
    return text


def _row(name: str, figures: list[Figure | None], *, has_bar: bool) -> str:
    cells = [_cell(figure) for figure in figures]
    peers = [figure.peer for figure in figures if figure is not None and figure.peer is not None]
    bars = BARS.get(name) or HALO_BARS_US.get(name)
    words = ""
    if has_bar and bars is not None:
        words = " / ".join("" if bar is None else f"{bar:g}" for bar in bars)
    cells += [f"{min(peers):.2f}" if peers else "", words]
    return f"| {name} | {' | '.join(cells)} |\n"


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return ""
    if figure.ratio is None:
        return f"{figure.seconds * 1e6:.1f} µs"
    return f"{figure.ratio:.2f} ({figure.seconds * 1e3:.3g} ms)"


INTRODUCTION = """\
## Moving arrays

Ratios to a plain copy (`numpy.copyto`) of the same bytes by the same ranks in the same run, taking
turns, called from Python with warm target memory; times are in brackets. Arrays are 8192 x 8192
float64 unless a size is given. mpi4py (Alltoallw with derived types; Bcast, Reduce and Allreduce)
runs on the same MPI in the same run; the better figure of the two MPI runs is shown. Halo exchange
has width 1 on 4096 x 4096 float64; the time is that of one call. "Bound" is
`plan.bind(...).run()`; "nothing" is an array without elements; the bar is 1.5 µs from bound to
applied. "Messages" is the same engine with shared memory switched off. With four ranks, two ranks
share each of the machine's cores. "avx2 alone" is `PARTITA_SIMD=avx2`, for processors without
AVX-512. Bars: threads / one node / messages.
"""


def main() -> None:
    """One rank under a launcher, or all of them as threads."""
    out = Path(sys.argv[1])
    if sys.argv[2:3] == ["--threads"]:
        out.write_text(json.dumps(pt.spmd(_rank, int(sys.argv[3]), deadline=600)[0]))
        return
    import mpi4py.MPI  # noqa: F401  (partita then takes the same MPI)

    team = pt.world()
    figures = _rank(team)
    if team.rank == 0:
        out.write_text(json.dumps(figures))


if __name__ == "__main__":
    main()
