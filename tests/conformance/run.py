"""Runs the Array API's own test-suite on several ranks, with arrays that are really split.

    python tests/conformance/run.py SUITE -n 2 --layout block --engine mpi [arguments of pytest]

SUITE is a checkout of data-apis/array-api-tests with its submodule. Ranks that are processes all
run the tests, in lockstep (see lockstep.py). Ranks that are threads carry out what one run of the
tests asks for (see everywhere.py). New arrays are where the layout says.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1] / "python"
VERSION = "2025.12"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("suite", type=Path)
    parser.add_argument("-n", "--ranks", type=int, default=2)
    parser.add_argument("--layout", default="block")
    parser.add_argument("--engine", choices=["mpi", "threads"], default="mpi")
    parser.add_argument("--examples", type=int, default=20, help="20 or more")
    options, rest = parser.parse_known_args()
    tests = [one for one in rest if one.startswith("array_api_tests")] or ["array_api_tests"]
    others = [one for one in rest if one not in tests]
    launcher = [str(Path(sys.executable).parent / "mpiexec"), "-n", str(options.ranks)]
    command = [
        *(launcher if options.engine == "mpi" else []),
        *(sys.executable, str(HERE / "rank.py"), *tests, "-q", "--tb=line"),
        *("-p", "no:cacheprovider", "--disable-warnings", "--disable-deadline", "--derandomize"),
        *("--max-examples", str(options.examples), *others),
    ]
    return subprocess.run(command, cwd=options.suite, env=environment(options)).returncode


def environment(options: argparse.Namespace) -> dict[str, str]:
    """What all ranks must have alike."""
    return os.environ | {
        "ARRAY_API_TESTS_MODULE": "partita" if options.engine == "mpi" else "everywhere",
        "ARRAY_API_TESTS_VERSION": VERSION,
        "PARTITA_CONFORMANCE_ENGINE": options.engine,
        "PARTITA_CONFORMANCE_RANKS": str(options.ranks),
        "PARTITA_DEFAULT_LAYOUT": options.layout,
        "PYTHONHASHSEED": "0",
        "PYTHONPATH": os.pathsep.join([str(PACKAGE), str(HERE)]),
    }


if __name__ == "__main__":
    sys.exit(main())
