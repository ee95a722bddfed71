"""The guides whose neighbours are always installed: their snippets run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from places import MPIEXEC
from snippets import script


@pytest.mark.parametrize("n_ranks", [1, 4])
def test_the_guide_for_mpi4py(tmp_path: Path, n_ranks: int) -> None:
    file = tmp_path / "script.py"
    file.write_text(script("guides/from-mpi4py.md") + "\nprint('fine')\n")
    command = [MPIEXEC, "-n", str(n_ranks), sys.executable, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("fine") == n_ranks
