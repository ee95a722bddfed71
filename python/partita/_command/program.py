"""`partita run --engine mpi FILE.mlir`: run as a module it is one rank."""

from __future__ import annotations

import sys


def launch(n_ranks: int, command: list[str]) -> int:
    """Start a program under mpiexec; give the exit status."""
    from partita._command import script

    return script.launch(n_ranks, ["-m", "partita._command.program", *command])


def _rank(words: list[str]) -> int:
    from partita._partita import run_program_rank
    from partita._team.spmd import world

    status, out, err = run_program_rank(words, world().native)
    sys.stdout.write(out)
    sys.stdout.flush()
    sys.stderr.write(err)
    return status


if __name__ == "__main__":
    raise SystemExit(_rank(sys.argv[1:]))
