"""Runs DistDL's own test-suite, from a checkout of DistDL, with partita as its back-end.

    python tests/peers/distdl_suite.py PATH_TO_DISTDL -n 4 [-k EXPRESSION] [--own]

The checkout stays as it is: sources and tests are copied to a folder and changed only where
today's NumPy, torch and pytest require it. `--own` keeps DistDL's own back-end, to compare.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# What has gone since DistDL was written: aliases of NumPy, arrays of tensors, marks on fixtures.
CHANGES = [
    (re.compile(r"\bnp\.int\b(?!\d)"), "int"),
    (re.compile(r"np\.array\(\[(torch\.sum\(torch\.mul\(\w+, \w+\)\))\]\)"), r"float(\1)"),
    (re.compile(r"@pytest\.mark\.mpi\n(@pytest\.fixture)"), r"\1"),
]

PLUGIN = """
import os
import sys

import pytest

if os.environ.get("PARTITA_BACKEND") == "1":
    import partita.torch.backend

    partita.torch.backend.install()


def pytest_configure(config):
    config.addinivalue_line("markers", "mpi(min_size): needs so many processes")


def pytest_collection_modifyitems(items):
    from mpi4py import MPI

    for item in items:
        sizes = [mark.kwargs.get("min_size", 1) for mark in item.iter_markers("mpi")]
        call = getattr(item, "callspec", None)
        if call is not None:
            # Some tests say it only here.
            sizes.append(call.params.get("comm_split_fixture", 1))
        needed = max(sizes, default=1)
        if needed > MPI.COMM_WORLD.size:
            item.add_marker(pytest.mark.skip(reason=f"needs {needed} processes"))


def pytest_sessionfinish(session):
    module = sys.modules.get("distdl.backends.mpi")
    if module is not None:
        print(f"back-end: {module.Partition.__module__}")
"""

RANK = """
import os
import sys

import torch
from mpi4py import MPI

torch.set_num_threads(1)
rank = MPI.COMM_WORLD.rank
if rank:
    log = os.open(f"rank{rank}.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
import pytest

code = pytest.main(sys.argv[1:])
codes = MPI.COMM_WORLD.allgather(int(code))
sys.stdout.flush()
sys.exit(max(codes))
"""


def prepare(checkout: Path, folder: Path) -> None:
    """Copies of sources and tests that today's libraries accept."""
    for part in ("src", "tests"):
        shutil.copytree(checkout / part, folder / part)
    for file in folder.rglob("*.py"):
        text = file.read_text()
        for pattern, new in CHANGES:
            text = pattern.sub(new, text)
        file.write_text(text)
    (folder / "partita_plugin.py").write_text(PLUGIN)
    (folder / "rank.py").write_text(RANK)
    (folder / "pytest.ini").write_text("[pytest]\npython_files = test_*.py\n")


def build(checkout: Path) -> None:
    """The compiled part of DistDL, beside its sources."""
    if not list((checkout / "src").rglob("_cpp*.so")):
        command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
        subprocess.run(command, cwd=checkout, check=True)


def run(folder: Path, n_ranks: int, options: list[str], own: bool) -> int:
    """The suite under a launcher; what the first rank prints is shown."""
    launcher = Path(sys.executable).parent / "mpiexec"
    command = [str(launcher), "-n", str(n_ranks), sys.executable, "-u", "rank.py"]
    command += ["-p", "partita_plugin", "-p", "no:cacheprovider", "-q", "-rf", *options, "tests"]
    here = Path(__file__).resolve().parents[2] / "python"
    paths = [str(folder), str(folder / "src"), str(folder / "tests"), str(here)]
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(paths),
        "PARTITA_BACKEND": "0" if own else "1",
        "OMP_NUM_THREADS": "1",
    }
    return subprocess.run(command, cwd=folder, env=environment, check=False).returncode


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("-n", dest="n_ranks", type=int, default=4)
    parser.add_argument("--own", action="store_true", help="keep DistDL's own back-end")
    parser.add_argument("--folder", type=Path, help="keep copies and logs in this new folder")
    arguments, options = parser.parse_known_args()
    build(arguments.checkout.resolve())
    with tempfile.TemporaryDirectory(prefix="distdl-") as name:
        folder = arguments.folder or Path(name)
        prepare(arguments.checkout.resolve(), folder)
        sys.exit(run(folder, arguments.n_ranks, options, arguments.own))


if __name__ == "__main__":
    main()
