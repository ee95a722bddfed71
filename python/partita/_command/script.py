"""`partita run`: a Python script on several ranks."""

from __future__ import annotations

import argparse
import subprocess
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

from partita._errors import LayoutError, text_of, words_of

if TYPE_CHECKING:
    from types import CodeType

    from partita._team.team import Team


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="partita run", description="Run a Python script on several ranks."
    )
    parser.add_argument("-n", type=int, required=True, metavar="N", help="number of ranks")
    parser.add_argument(
        "--engine", choices=["threads", "mpi"], default="threads", help="what the ranks are"
    )
    parser.add_argument("script", type=Path, help="a Python file")
    parser.add_argument("args", nargs=argparse.REMAINDER, help="arguments of the script")
    return parser


def _body(team: Team, code: CodeType, path: str) -> None:
    """One rank: the script as the main program, in a namespace of its own."""
    namespace: dict[str, Any] = {
        "__name__": "__main__",
        "__file__": path,
        "__builtins__": __builtins__,
    }
    exec(code, namespace)


def main(args: list[str]) -> int:
    """Run the script; give the exit status."""
    from partita._team.spmd import spmd

    options = _parser().parse_args(args)
    if options.engine == "mpi":
        return _launch(options)
    try:
        source = options.script.read_bytes()
    except OSError as error:
        print(f"error: cannot read {options.script}: {error.strerror}", file=sys.stderr)
        return 1
    sys.argv = [str(options.script), *options.args]
    sys.path.insert(0, str(options.script.resolve().parent))
    try:
        code = compile(source, str(options.script), "exec")
        spmd(_body, options.n, (code, str(options.script)))
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


def _launch(options: argparse.Namespace) -> int:
    """Start the script under mpiexec, the environment's own before the system's."""
    from partita._command.doctor import mpiexec as find

    mpiexec = find()
    if mpiexec is None:
        print("error: no mpiexec found; pip install mpich brings one", file=sys.stderr)
        return 1
    if options.n < 1:
        print(f"error[ranks-zero]: {options.n} ranks; use at least 1", file=sys.stderr)
        return 2
    command = [mpiexec, "-n", str(options.n), sys.executable, str(options.script), *options.args]
    return subprocess.run(command, check=False).returncode


def _status(leaving: SystemExit) -> int:
    """The status of `sys.exit(...)`: a number, or 1 and a message."""
    if leaving.code is None:
        return 0
    if isinstance(leaving.code, int):
        return leaving.code
    print(text_of(leaving), file=sys.stderr)
    return 1
