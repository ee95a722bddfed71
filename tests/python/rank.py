"""The program of one rank: runs test bodies in turn and leaves each result in a file.

`python rank.py FOLDER` under a launcher of MPI; `python rank.py FOLDER N` makes N threads.
FOLDER has a file `orders`: whether to run a single body bare, as a program of its own; the bodies
as (number, "module:function", arguments); and the seconds that each may take. After that every
rank writes where it stands, and the program ends.
"""

from __future__ import annotations

import ast
import faulthandler
import importlib
import os
import platform
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import partita as pt

Order: TypeAlias = tuple[int, str, tuple[Any, ...]]

# Status of a process that was ended because it hung.
HUNG = 97


class Watchdog:
    """Writes down where every thread stands when time is up, then ends the process."""

    def __init__(self, path: Path, seconds: float) -> None:
        self._file, self._seconds = path.open("w"), seconds
        self._timer: threading.Timer | None = None

    def feed(self) -> None:
        """Start counting anew."""
        if self._timer is not None:
            self._timer.cancel()
        # The stack is written without the interpreter's help, even if a thread keeps it.
        faulthandler.dump_traceback_later(self._seconds, file=self._file)
        # Other ranks shall have time to write theirs before the launcher ends them.
        self._timer = threading.Timer(self._seconds + 1, os._exit, [HUNG])
        self._timer.daemon = True
        self._timer.start()


def write(path: Path, outcome: tuple[str, Any]) -> None:
    """Leave an outcome in a file that is there as a whole or not at all."""
    part = path.with_suffix(path.suffix + ".part")
    part.write_text(repr(outcome))
    part.rename(path)


def find(name: str) -> Callable[..., Any]:
    """The function that "module:function" names."""
    module, function = name.split(":")
    body: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return body


def attempt(team: pt.Team, body: Callable[..., Any], args: tuple[Any, ...]) -> tuple[str, Any]:
    """A body's outcome; the other ranks hear of a failure by their next call."""
    try:
        with team:
            return "done", body(team, *args)
    except BaseException:
        return "failed", traceback.format_exc()


def all_done(team: pt.Team, folder: Path, number: int) -> bool:
    """Whether the body went well everywhere; waits by files, so that it trusts no engine."""
    for rank in range(team.size):
        path = folder / f"{number}.{rank}"
        while not path.exists():
            time.sleep(0.001)
        if not path.read_text().startswith("('done'"):
            return False
    return True


def serve(team: pt.Team, folder: Path, orders: list[Order], feed: Callable[[], None]) -> None:
    """Run the bodies until one fails somewhere: the ranks may then be out of step."""
    for number, name, args in orders:
        feed()
        outcome = attempt(team, find(name), args)
        write(folder / f"{number}.{team.rank}", outcome)
        if not all_done(team, folder, number):
            os._exit(1)


def serve_bare(team: pt.Team, folder: Path, order: Order) -> None:
    """Run one body as a program would: an error in it is an error of the program."""
    number, name, args = order
    write(folder / f"{number}.{team.rank}", ("done", find(name)(team, *args)))


def main() -> None:
    """Read the orders and serve."""
    folder = Path(sys.argv[1])
    is_bare, orders, seconds = ast.literal_eval((folder / "orders").read_text())
    watchdog = Watchdog(folder / f"stacks.{platform.node()}.{os.getpid()}", seconds)
    watchdog.feed()
    if len(sys.argv) > 2:
        pt.spmd(serve_bare, int(sys.argv[2]), (folder, orders[0]))
    elif is_bare:
        serve_bare(pt.world(), folder, orders[0])
    else:
        serve(pt.world(), folder, orders, watchdog.feed)


if __name__ == "__main__":
    main()
