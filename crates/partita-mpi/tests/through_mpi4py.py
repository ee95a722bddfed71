"""Compare our constants with mpi4py's and share its communicators.

Run by `under_mpiexec.rs`:

    mpiexec -n 2 python through_mpi4py.py target/debug/examples/libthrough_mpi4py.so
"""

import ctypes
import sys

from mpi4py import MPI


def load(path):
    library = ctypes.CDLL(path)
    library.partita_mpi_constants.restype = ctypes.c_char_p
    library.partita_mpi_constants.argtypes = [ctypes.c_char_p]
    library.partita_mpi_exercise.restype = ctypes.c_char_p
    library.partita_mpi_exercise.argtypes = [ctypes.c_char_p, ctypes.c_uint64]
    return library


def value_in_mpi4py(kind, name):
    """The value that mpi4py has for a row of our tables."""
    if kind == "size":
        return MPI._sizeof(getattr(MPI, name))
    value = getattr(MPI, name)
    if kind == "handle":
        return MPI._handleof(value) % 2**64
    return int(value)


def compare_constants(text):
    """Every row of our tables against mpi4py; returns what differs."""
    wrong, n_rows = [], 0
    for line in text.splitlines()[1:]:
        kind, name, ours = line.split()
        theirs = value_in_mpi4py(kind, name)
        n_rows += 1
        # An int handle may come back signed.
        width = 2 ** (8 * MPI._sizeof(MPI.Comm)) if kind == "handle" else 2**64
        if int(ours) % width != theirs % width:
            wrong.append(f"{kind} {name}: ours {ours}, mpi4py {theirs}")
    return wrong, n_rows


def main():
    library = load(sys.argv[1])
    module = MPI.__file__.encode()
    text = library.partita_mpi_constants(module).decode()
    if text.startswith("error"):
        sys.exit(text)
    wrong, n_rows = compare_constants(text)
    if wrong or n_rows < 30:
        sys.exit("\n".join([f"{n_rows} constants compared", *wrong]))
    world = MPI.COMM_WORLD
    turned = world.Split(0, -world.rank)
    for comm in (world, turned):
        answer = library.partita_mpi_exercise(module, MPI._handleof(comm) % 2**64).decode()
        if answer != "ok":
            print(answer, file=sys.stderr, flush=True)
            world.Abort(1)
    # Ours were dups: theirs still work, and are still theirs to free.
    assert turned.allreduce(1) == world.size
    turned.Free()
    if world.rank == 0:
        print(f"mpi4py: {text.splitlines()[0]}, {n_rows} constants equal, {world.size} ranks ok")


main()
