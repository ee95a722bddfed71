"""One process of a run: the suite's tests in lockstep with other processes; rank 0 reports."""

from __future__ import annotations

import os
import sys

import pytest

import partita


def main() -> int:
    team = partita.world()
    is_mpi = os.environ["PARTITA_CONFORMANCE_ENGINE"] == "mpi"
    wanted = int(os.environ["PARTITA_CONFORMANCE_RANKS"]) if is_mpi else 1
    if team.size != wanted:
        print(f"{team.size} processes found each other where {wanted} were started")
        return 2
    if team.rank:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
    code = int(pytest.main(["-p", "lockstep", *sys.argv[1:]]))
    sys.stdout.flush()
    return code if team.rank == 0 or code == 3 else 0


if __name__ == "__main__":
    sys.exit(main())
