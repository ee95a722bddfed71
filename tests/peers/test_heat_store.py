"""The example `heat_store.py` with Zarr stores: NumPy and ranks go on from each other's."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import zarr

ROOT = Path(__file__).parents[2]
SCRIPT = str(ROOT / "examples" / "heat_store.py")


def ran(folder: Path, *words: str) -> None:
    command = [sys.executable, *words, "--size", "31"]
    # The tests' own path is relative, and this runs elsewhere.
    env = os.environ | {"PYTHONPATH": str(ROOT / "python")}
    done = subprocess.run(
        command, cwd=folder, env=env, capture_output=True, text=True, timeout=110, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_plate_goes_through_stores(tmp_path: Path) -> None:
    on_three = ("-m", "partita", "run", "-n", "3", SCRIPT)
    ran(tmp_path, SCRIPT, "--numpy", "--steps", "30", "--end", "all.npy")
    ran(tmp_path, *on_three, "--steps", "10", "--end", "some.zarr")
    ran(tmp_path, SCRIPT, "--numpy", "--start", "some.zarr", "--steps", "10", "--end", "some.zarr")
    ran(tmp_path, *on_three, "--start", "some.zarr", "--steps", "10", "--end", "some.zarr")
    found = zarr.open(tmp_path / "some.zarr", mode="r")[...]
    np.testing.assert_allclose(found, np.load(tmp_path / "all.npy"), rtol=1e-12, atol=1e-12)
