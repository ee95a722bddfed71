"""Measure the primitives beside raw mpi4py and DistDL, and write a page of tables.

    python benches/distdl.py [--distdl PATH_TO_DISTDL] [--write docs/benchmarks-distdl.md]

64 MiB of float32 per rank, on 2 and 4 processes. DistDL takes part if a checkout of it is given;
it is copied and adapted as `tests/peers/distdl_suite.py` does.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import machine

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "peers"))

HEAD = """\
# Primitives compared with mpi4py and DistDL

Written by `benches/distdl.py`; do not edit. Times are in milliseconds, medians of the slowest
rank's times; all methods of a row take turns in one run. `partita` and mpi4py work on NumPy arrays
and write into existing arrays; `partita.torch` and DistDL are modules with autograd, which make new
tensors. Ratios are medians of the rounds' ratios: the time of mpi4py relative to partita, and that
of DistDL relative to partita.torch. For halos, `engine` is the exchange without this interface, and
`autograd` is the backward of functions that do nothing; the last column excludes its time.

"""


def run(n_ranks: int, source: Path | None) -> list[dict[str, Any]]:
    """The figures of one job."""
    launcher = Path(sys.executable).parent / "mpiexec"
    job = Path(__file__).with_name("distdl_job.py")
    command = [str(launcher), "-n", str(n_ranks), sys.executable, str(job)]
    command += [str(source)] if source else []
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=900, check=False
    )
    if done.returncode:
        raise SystemExit(done.stdout + done.stderr)
    figures: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    return figures


def row(name: str, times: dict[str, list[float]]) -> list[str]:
    """One operation and direction."""

    def ms(method: str) -> str:
        return f"{1e3 * median(times[method]):.3g}" if method in times else ""

    def over(method: str, base: str) -> str:
        if method not in times:
            return ""
        return f"{median(a / b for a, b in zip(times[method], times[base], strict=True)):.2f}"

    methods = ("partita", "mpi4py", "engine", "autograd", "partita.torch", "DistDL")
    ratios = [over("mpi4py", "partita"), over("DistDL", "partita.torch"), net(times)]
    return [name, *(ms(one) for one in methods), *ratios]


def net(times: dict[str, list[float]]) -> str:
    """DistDL over partita.torch without what autograd itself takes of both."""
    if "autograd" not in times or "DistDL" not in times:
        return ""
    rounds = zip(times["DistDL"], times["partita.torch"], times["autograd"], strict=True)
    # A round in which autograd alone took longer than all says nothing.
    ratios = [(a - own) / (b - own) for a, b, own in rounds if b > own]
    return f"{median(ratios):.2f}" if ratios else ""


def table(results: list[dict[str, Any]]) -> str:
    head = ["", "partita", "mpi4py", "engine", "autograd", "partita.torch", "DistDL"]
    head += ["mpi4py /", "DistDL /", "DistDL / net"]
    lines = [head, ["---"] + ["---:"] * (len(head) - 1)]
    for one in results:
        lines.append(row(one["name"], one["forward"]))
        lines.append(row(one["name"] + ", adjoint", one["adjoint"]))
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--distdl", type=Path)
    parser.add_argument("--write", type=Path)
    args = parser.parse_args()
    page = HEAD
    with tempfile.TemporaryDirectory(prefix="distdl-") as name:
        source = None
        if args.distdl:
            import distdl_suite

            distdl_suite.build(args.distdl.resolve())
            distdl_suite.prepare(args.distdl.resolve(), Path(name))
            source = Path(name) / "src"
        facts = ", ".join(f"{key}: {value}" for key, value in machine.facts().items())
        page += f"Machine: {facts}\n"
        for n_ranks in (2, 4):
            page += f"\n## {n_ranks} ranks\n\n{table(run(n_ranks, source))}"
    print(page)
    if args.write:
        args.write.write_text(page)


main()
