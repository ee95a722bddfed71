"""Hosts for the tests, made when they are first needed and removed at the end, whatever happens.

`make test-hosts` runs this folder. Where there can be no hosts, every test is named as not run.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

# The bodies are those that run on one host.
BODIES = str(Path(__file__).parent.parent / "python")
sys.path.insert(0, BODIES)
os.environ["PYTHONPATH"] = str(Path(__file__).parent)
# Ranks share two cores or so: NumPy's own threads would fight them.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

pytest.register_assert_rewrite("across", "test_faults", "test_engines")

import hosts  # noqa: E402
import places  # noqa: E402

SLOWED: list[str] = []


@pytest.fixture(scope="session")
def hosts_of() -> Iterator[Callable[[int], hosts.Hosts]]:
    """Two hosts that look like containers of one computer, or three computers on slow links."""
    made: dict[int, hosts.Hosts] = {}

    def find(n_hosts: int) -> hosts.Hosts:
        if n_hosts not in made:
            made[n_hosts] = hosts.Hosts(n_hosts, own_boots=n_hosts == 3)
            if n_hosts == 3:
                SLOWED.append(made[n_hosts].slow())
        return made[n_hosts]

    yield find
    for one in made.values():
        one.end()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Name all tests as not run where there can be no hosts."""
    if why := hosts.missing():
        for item in items:
            item.add_marker(pytest.mark.skip(reason=f"not run, no hosts can be made here: {why}"))


def pytest_report_header() -> str:
    return f"launcher across hosts: {places.MPIEXEC}"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for words in SLOWED:
        terminalreporter.write_line(f"links between three hosts: {words}")
