"""The command `partita plan` at a million ranks, as users start it."""

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from timing import Times

ROOT = Path(__file__).resolve().parent.parent
SHAPE = "1048576x1048576"
SOURCE = "block, block @ 1024x1024"
TARGET = "cyclic(64), cyclic(64) @ 1024x1024"
RANK = 777_777
STARTERS = {"Python entry point": ".venv/bin/partita", "native binary": "target/release/partita"}


@dataclass(frozen=True)
class Run:
    """One command, by one way to start it."""

    what: str
    starter: str
    times: Times
    peak_bytes: int
    bar_seconds: float
    bar_bytes: int | None


def _environment() -> dict[str, str]:
    """What a user has: the installed package, not the one of this run."""
    hidden = ("PYTHONPATH", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if name not in hidden}


def started(n_runs: int, command: list[str]) -> tuple[Times, int]:
    """Times and largest peak memory of a command in processes of their own."""
    child = [sys.executable, "-I", "-S", str(ROOT / "benches/child.py"), str(n_runs), *command]
    done = subprocess.run(child, env=_environment(), check=True, capture_output=True, text=True)
    runs = json.loads(done.stdout)
    return Times([run["seconds"] for run in runs]), max(run["peak_bytes"] for run in runs)


def measure() -> list[Run]:
    """Totals and one rank's plan, through Python and without."""
    results = []
    for starter, path in STARTERS.items():
        command = [str(ROOT / path), "plan", SHAPE, SOURCE, TARGET, "--json"]
        times, peak_bytes = started(5, command)
        results.append(Run("totals of all ranks", starter, times, peak_bytes, 5.0, 500 << 20))
    for starter, path in STARTERS.items():
        command = [str(ROOT / path), "plan", SHAPE, SOURCE, TARGET, "--json", "--rank", str(RANK)]
        times, peak_bytes = started(21, command)
        results.append(Run(f"rank {RANK} only", starter, times, peak_bytes, 0.05, None))
    return results
