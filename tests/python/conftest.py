"""What all tests share: they say which launchers of MPI they found."""

from __future__ import annotations

import places


def pytest_report_header() -> str:
    found = [f"{launcher.name} ({launcher.command[0]})" for launcher in places.launchers()]
    return f"launchers of MPI: {', '.join(found) or 'none'}"
