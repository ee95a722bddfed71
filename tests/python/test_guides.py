"""The guides whose neighbours are always installed: their snippets run."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from places import MPIEXEC
from snippets import DOCS, script


def run_page(page: str, folder: Path, *launcher: str) -> str:
    """All snippets of a page as one script; what it prints, and `fine` for each rank."""
    file = folder / "plate.py"
    file.write_text(script(page) + "\nprint('fine')\n")
    command = [*launcher, str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    # As if it had been started where it is.
    return done.stdout.replace(f"{folder}/", "")


def by_mpi(n_ranks: int) -> tuple[str, ...]:
    return (MPIEXEC, "-n", str(n_ranks), sys.executable)


def by_threads(n_ranks: int) -> tuple[str, ...]:
    return (sys.executable, "-m", "partita", "run", "-n", str(n_ranks))


@pytest.mark.parametrize("n_ranks", [1, 4])
def test_the_guide_for_mpi4py(tmp_path: Path, n_ranks: int) -> None:
    said = run_page("guides/from-mpi4py.md", tmp_path, *by_mpi(n_ranks))
    assert said.count("fine") == n_ranks


@pytest.mark.parametrize("page", ["from-numpy.md", "what-is-different.md"])
@pytest.mark.parametrize("n_ranks", [1, 3, 4])
@pytest.mark.parametrize("launcher", [by_threads, by_mpi])
def test_the_pages_for_users_of_numpy(
    tmp_path: Path, page: str, n_ranks: int, launcher: Callable[[int], tuple[str, ...]]
) -> None:
    said = run_page(page, tmp_path, *launcher(n_ranks))
    assert said.count("fine") == n_ranks


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_the_page_about_sparse_tensors(tmp_path: Path, n_ranks: int) -> None:
    said = run_page("sparse.md", tmp_path, *by_threads(n_ranks))
    assert said.count("fine") == n_ranks


def test_the_tutorial_shows_what_four_ranks_print(tmp_path: Path) -> None:
    said = run_page("from-numpy.md", tmp_path, *by_threads(4))
    page = (DOCS / "from-numpy.md").read_text()
    blocks = re.findall(r"^```text\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    assert len(blocks) == 2
    # Ranks that are threads may share a line.
    shown = [line for block in blocks for line in block.splitlines()]
    assert [line for line in shown if line not in said] == []
    # What one rank prints is all there.
    assert blocks[1].strip() + "\nfunc.func" in said
