"""The command `partita`."""

import os
import sys

from partita._partita import run_command


def _facts() -> list[tuple[str, str]]:
    """Versions of the packages that matter, without importing them."""
    from importlib.metadata import PackageNotFoundError, version

    facts = [("Python", sys.version.split()[0])]
    for package in ("numpy", "mpi4py", "mpich", "dask", "ray", "torch"):
        try:
            facts.append((package, version(package)))
        except PackageNotFoundError:
            facts.append((package, "not installed"))
    return facts


def main() -> None:
    """Run the command and leave with its exit status."""
    args = ["partita", *sys.argv[1:]]
    facts = _facts() if "doctor" in args else []
    status, out, err = run_command(args, sys.stdout.isatty(), facts)
    try:
        sys.stdout.write(out)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader has seen enough; the interpreter must not complain about it at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.stderr.write(err)
    raise SystemExit(status)


if __name__ == "__main__":
    main()
