"""What all tests share: which launchers of MPI there are, and that none goes missing silently."""

from __future__ import annotations

import os
import signal
from typing import Any

import places
import pytest

# Ranks are threads and processes of this machine: NumPy's own threads would fight them for cores.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# A shell that starts the tests in the background lets them ignore Ctrl-C, which some of them try.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="module")
def outcomes() -> dict[tuple[places.Place, str], Any]:
    """Outcomes of cases so far; `engines.settled` brings those of a place all at once."""
    return {}


def pytest_report_header() -> str:
    found = [one for one in places.launchers() if not one.missing]
    words = [f"{launcher.name} ({launcher.command[0]})" for launcher in found]
    return f"launchers of MPI: {', '.join(words) or 'none'}"


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Name a test whose launcher is missing as not run: the closing lines count them."""
    call = getattr(item, "callspec", None)
    for param in call.params.values() if call else ():
        launcher = places.launcher_of(param)
        if launcher is not None and launcher.missing:
            program = launcher.command[0]
            pytest.skip(f"not run, no {program} here: `{launcher.missing}` brings it")
