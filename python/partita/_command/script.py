"""`partita run`: a Python script on several ranks."""

from __future__ import annotations

import subprocess
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita._errors import LayoutError, text_of, words_of
from partita._partita import NO_MPIEXEC

if TYPE_CHECKING:
    from types import CodeType

    from partita._team.team import Team


def _body(team: Team, code: CodeType, path: str) -> None:
    """One rank: the script as the main program, in a namespace of its own."""
    namespace: dict[str, Any] = {
        "__name__": "__main__",
        "__file__": path,
        "__builtins__": __builtins__,
    }
    exec(code, namespace)


def main(n_ranks: int, engine: str, command: list[str]) -> int:
    """Run a script with its arguments; give the exit status."""
    if engine == "mpi":
        return launch(n_ranks, command)
    script = Path(command[0])
    try:
        source = script.read_bytes()
    except OSError as error:
        print(f"error: cannot read {script}: {error.strerror}", file=sys.stderr)
        return 1
    from partita._team.spmd import spmd

    sys.argv = [str(script), *command[1:]]
    sys.path.insert(0, str(script.resolve().parent))
    try:
        code = compile(source, str(script), "exec")
        spmd(_body, n_ranks, (code, str(script)))
    except SystemExit as leaving:
        return _status(leaving)
    except KeyboardInterrupt:
        return 130
    except BaseException as error:
        return _failure(error)
    return 0


def _failure(error: BaseException) -> int:
    """Show an error; the status for it."""
    if type(error) is LayoutError and error.reason.startswith("ranks"):
        print(f"error[{error.reason}]: {error}", file=sys.stderr)
        return 2
    try:
        traceback.print_exception(error)
    except Exception:  # the exception's own code, asked for its notes
        print(words_of(error), file=sys.stderr)
    return 1


def launch(n_ranks: int, command: list[str]) -> int:
    """Start the script under mpiexec, the environment's own before the system's."""
    from partita._command.doctor import mpiexec as find
    from partita._team.spmd import a_number_of_ranks

    mpiexec = find()
    if mpiexec is None:
        print(f"error: {NO_MPIEXEC}", file=sys.stderr)
        return 1
    try:
        a_number_of_ranks(n_ranks)
    except LayoutError as error:
        return _failure(error)
    launch = [mpiexec, "-n", str(n_ranks), sys.executable, *command]
    return subprocess.run(launch, check=False).returncode


def _status(leaving: SystemExit) -> int:
    """The status of `sys.exit(...)`: a number, or 1 and a message."""
    if leaving.code is None:
        return 0
    if isinstance(leaving.code, int):
        return leaving.code
    print(text_of(leaving), file=sys.stderr)
    return 1
