"""Kernels beside numba, NumPy, numexpr, JAX and C, in one run; writes docs/benchmarks-kernels.md.

    python benches/kernels.py --bench BENCH --ulp ULP [--errors FILE] --write PAGE

BENCH is the bench of crates/partita-kernel, ULP its example of that name. Group by group of
programs the kernels run, then the peers, then the kernels again; the better time counts, so that a
busy moment of the machine does not decide. All of it twice: with what the processor has, and with
AVX2 alone, to which the peers are held then too. FILE has errors as ULP prints them; without it
those of the page stay.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import kernel_report as report

HERE = Path(__file__).parent
GROUPS = ("sqrt8", "poly8", "jacobi", "scholes", "reduce", "small")
Times = dict[tuple[str, str, int], float]

# What keeps each peer from instructions beyond AVX2.
ONLY_AVX2 = {
    "PARTITA_SIMD": "avx2",
    "NUMBA_CPU_NAME": "haswell",
    "NUMBA_CPU_FEATURES": "+avx2,+fma,+bmi,+bmi2",
    "XLA_FLAGS": "--xla_cpu_max_isa=AVX2",
    "NPY_DISABLE_CPU_FEATURES": "AVX512_ICL AVX512_SPR X86_V4",
}
COMPILE = ["-O3", "-ffast-math", "-fopenmp", "-fPIC", "-c"]


def library(folder: Path, level: str) -> Path:
    """The C programs, compiled for a level."""
    source, object_file, target = (
        HERE / "kernels.c",
        folder / f"{level}.o",
        folder / f"{level}.so",
    )
    wide = ["-march=native", "-mprefer-vector-width=512"]
    machine = ["-march=haswell"] if level == "avx2" else wide
    subprocess.run(["gcc", *COMPILE, *machine, source, "-o", object_file], check=True)
    # Without -ffast-math: at the link it would flush subnormals in the whole process.
    link = ["gcc", "-shared", "-fopenmp", object_file, "-o", target, "-lmvec", "-lm"]
    subprocess.run(link, check=True)
    return target


def kernels(bench: Path, group: str, environment: dict[str, str]) -> tuple[str, Times]:
    """The level and the times of a group, as the Rust bench measures them."""
    with tempfile.NamedTemporaryFile() as file:
        own = environment | {"PARTITA_BENCH": group}
        subprocess.run([bench, file.name], check=True, stdout=subprocess.DEVNULL, env=own)
        lines = [line.split("\t") for line in Path(file.name).read_text().splitlines()]
    level = next(value for name, _, value in lines if name == "level")
    times = {("partita", name, int(n)): float(v) for name, n, v in lines if name != "level"}
    return level, times


def peers(group: str, n_threads: int, target: Path, environment: dict[str, str]) -> Times:
    """The times of the peers on so many threads; one thread has one core."""
    command = [sys.executable, HERE / "kernel_peers.py", group, str(n_threads), target]
    cores = sorted(os.sched_getaffinity(0))[:n_threads]
    own = environment | {
        "NUMBA_NUM_THREADS": str(n_threads),
        "OMP_NUM_THREADS": str(n_threads),
        "JAX_PLATFORMS": "cpu",
    }
    found = subprocess.run(
        command,
        check=True,
        stdout=subprocess.PIPE,
        env=own,
        preexec_fn=lambda: os.sched_setaffinity(0, cores),
    )
    programs = json.loads(found.stdout)
    return {
        (peer, name, n_threads): seconds
        for name, case in programs.items()
        for peer, seconds in case.items()
    }


def measure(bench: Path, level: str, groups: list[str]) -> tuple[str, Times]:
    """All groups at a level."""
    environment = dict(os.environ) | (ONLY_AVX2 if level == "avx2" else {})
    times: Times = {}
    with tempfile.TemporaryDirectory() as folder:
        target = library(Path(folder), level)
        for group in groups:
            name, before = kernels(bench, group, environment)
            for n_threads in (1, 2):
                times |= peers(group, n_threads, target, environment)
            _, after = kernels(bench, group, environment)
            times |= {key: min(before[key], after[key]) for key in before}
    return name, times


def mathematics(ulp: Path) -> str:
    """Times beside libmvec, as the example prints them."""
    return subprocess.run([ulp, "speed"], check=True, stdout=subprocess.PIPE, text=True).stdout


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", type=Path, required=True)
    parser.add_argument("--ulp", type=Path)
    parser.add_argument("--errors", type=Path)
    parser.add_argument("--level", choices=["native", "avx2"], action="append")
    parser.add_argument("--group", choices=GROUPS, action="append")
    parser.add_argument("--write", type=Path)
    arguments = parser.parse_args()
    tell = report.teller(arguments.write)
    for level in arguments.level or ["native", "avx2"]:
        name, times = measure(arguments.bench, level, arguments.group or list(GROUPS))
        tell(f"programs {level}", report.programs(times, name))
    if arguments.ulp:
        tell("speed", report.speed(mathematics(arguments.ulp)))
    if arguments.errors:
        tell("errors", report.errors(arguments.errors.read_text()))


if __name__ == "__main__":
    main()
