"""Runs a script under the launcher that lies beside this interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

MPIEXEC = str(Path(sys.executable).parent / "mpiexec")


def launch(folder: Path, source: str, n_ranks: int) -> None:
    """Run a script on some processes; every rank must print `fine`."""
    script = folder / "script.py"
    script.write_text(source + "\nprint('fine')\n")
    command = [MPIEXEC, "-n", str(n_ranks), sys.executable, str(script)]
    # One thread per rank: the processes share few cores.
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=110, check=False, env=environment
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("fine") == n_ranks, done.stdout + done.stderr
