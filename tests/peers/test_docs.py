"""What docs/distdl.md and the example show: every block runs, every remark is true."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import partita.torch

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "distdl.md").read_text()


MODULES = [
    "partita.jax",
    "partita.torch",
    *(one.name for one in pkgutil.walk_packages(partita.torch.__path__, "partita.torch.")),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name: str) -> None:
    found = doctest.testmod(importlib.import_module(name), verbose=False)
    assert found.failed == 0
    if name in ("partita.jax", "partita.torch.primitives", "partita.torch.stack"):
        assert found.attempted > 0


def test_blocks_run_and_their_remarks_are_true() -> None:
    blocks = re.findall(r"^```python\n(.*?)^```", PAGE, flags=re.MULTILINE | re.DOTALL)
    assert len(blocks) >= 5
    namespace: dict[str, Any] = {"__name__": "page"}
    n_remarks = 0
    for block in blocks:
        exec(compile(block, "distdl.md", "exec"), namespace)
        for expression, value in re.findall(
            r"^([^#\n]+?)\s+# ([\[(].*[\])])$", block, flags=re.MULTILINE
        ):
            assert eval(expression, namespace) == eval(value), expression
            n_remarks += 1
    assert n_remarks >= 7


def trained(example: str, engine: str, folder: Path) -> str:
    """What an example writes, which must come to a good end on four ranks."""
    launcher = [str(Path(sys.executable).parent / "mpiexec"), "-n", "4"]
    command = [sys.executable, str(ROOT / "examples" / example), str(folder)]
    command = launcher + command if engine == "mpi" else command
    done = subprocess.run(command, capture_output=True, text=True, timeout=110, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("engine", ["threads", "mpi"])
def test_the_example_trains_to_the_serial_losses(tmp_path: Path, engine: str) -> None:
    done = trained("train_convnet.py", engine, tmp_path)
    found = re.findall(r"serial (\S+), four ranks (\S+)", done)
    assert len(found) == 6
    assert all(serial == divided for serial, divided in found)
    assert float(found[-1][0]) < 0.01
    assert "<svg" in (tmp_path / "training.svg").read_text()


@pytest.mark.parametrize("engine", ["threads", "mpi"])
def test_the_graph_layer_trains_to_the_dense_losses(tmp_path: Path, engine: str) -> None:
    done = trained("graph_layer.py", engine, tmp_path)
    found = re.findall(r"dense (\S+), on ranks (\S+)", done)
    assert len(found) == 4
    assert all(dense == spread for dense, spread in found)
    assert float(found[-1][0]) < 0.5 * float(found[0][0])
    assert (tmp_path / "graph_layer.png").read_bytes().startswith(b"\x89PNG")
