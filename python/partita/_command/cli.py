"""The command `partita`."""

import os
import signal
import sys
from collections.abc import Callable
from typing import TextIO

from partita._partita import run_command, run_doctor


def _facts() -> list[tuple[str, str]]:
    """Versions of the packages that matter, without importing them."""
    from importlib.metadata import PackageNotFoundError, version

    facts = [("Python", sys.version.split()[0])]
    for package in ("numpy", "mpi4py", "mpich", "dask", "ray", "torch", "jax", "pandas"):
        try:
            facts.append((package, version(package)))
        except PackageNotFoundError:
            facts.append((package, "not installed"))
    from partita._command import doctor

    return facts + doctor.facts()


def _print(text: str, stream: TextIO | None) -> str:
    """Write text that may not fit the stream's encoding; gives what went wrong, if anything."""
    if stream is None:  # closed by whoever started us
        return ""
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "replace").decode(encoding))
        stream.flush()
    except OSError as error:
        # The interpreter must not complain a second time at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        # A reader that has seen enough is no failure; a full disk is one.
        if not isinstance(error, BrokenPipeError):
            return f"error: cannot write the output: {error.strerror}\n"
    return ""


def main() -> None:
    """Run the command and leave with its exit status."""
    # Bytes that are no text would be refused without a word about where they stand.
    args = [arg.encode("utf-8", "replace").decode() for arg in ["partita", *sys.argv[1:]]]
    is_terminal = sys.stdout is not None and sys.stdout.isatty()
    # The core runs without Python, which would note Ctrl-C and wait until the end.
    is_pythons = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_pythons:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    (what, *task), out, err = run_command(args, is_terminal)
    if is_pythons:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    failure = _print(out, sys.stdout)
    _print(err + failure, sys.stderr)
    raise SystemExit(_ENDINGS[what](*task) or bool(failure))


def _run(n_ranks: int, engine: str, command: list[str]) -> int:
    from partita._command import script

    return script.main(n_ranks, engine, command)


def _program(n_ranks: int, command: list[str]) -> int:
    from partita._command import program

    return program.launch(n_ranks, command)


def _check(target: str, strict: bool) -> int:
    from partita._command import check_object

    return check_object.main(target, strict)


def _doctor() -> int:
    from partita._command import doctor

    status, out, err = run_doctor(_facts(), doctor.mpiexec())
    failure = _print(out, sys.stdout)
    _print(err + failure, sys.stderr)
    return status or bool(failure)


# What the core leaves to Python, by its name.
_ENDINGS: dict[str, Callable[..., int]] = {
    "status": int,
    "run": _run,
    "program": _program,
    "check": _check,
    "doctor": _doctor,
}


if __name__ == "__main__":
    main()
