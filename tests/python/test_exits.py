"""Whether a process knows why it ends, when its exit hooks run."""

from __future__ import annotations

import subprocess
import sys

import pytest

ENDING = """
import atexit, sys
from partita._team import exits
exits.watch()
atexit.register(lambda: print("ends:", exits.reason()))
def end():
{body}
end()
"""


@pytest.mark.parametrize(
    ("body", "status", "reason"),
    [
        ("pass", 0, "None"),
        ("sys.exit()", 0, "None"),
        ("sys.exit(0)", 0, "None"),
        ("sys.exit(3)", 3, "SystemExit: 3"),
        ("sys.exit('disk full')", 1, "SystemExit: disk full"),
        ("1 / 0", 1, "ZeroDivisionError: division by zero"),
        ("try: sys.exit(3)\n finally: len('')", 3, "SystemExit: 3"),
        ("try: sys.exit(3)\n except SystemExit: pass", 0, "None"),
        ("try: sys.exit(3)\n except SystemExit as kept: error = kept; raise", 3, "SystemExit: 3"),
        ("try: sys.exit(3)\n except SystemExit: 1 / 0", 1, "ZeroDivisionError: division by zero"),
        (
            "import threading\n one = threading.Thread(target=sys.exit, args=(3,))\n"
            " one.start(); one.join()",
            0,
            "None",
        ),
    ],
)
def test_a_process_knows_why_it_ends(body: str, status: int, reason: str) -> None:
    program = ENDING.format(body=f" {body}")
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (status, f"ends: {reason}\n"), done.stderr
