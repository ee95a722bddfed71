"""Sparse matrices: products, assembly, slices and rows, with SciPy, mpi4py and with partita.

    python benches/sparse_cases.py                    partita beside SciPy, in turns, on one rank
    python benches/sparse_cases.py --threads 2        the same on ranks that are threads
    mpiexec -n 2 python benches/sparse_cases.py       the same on processes, rows beside mpi4py

Prints seconds by case and method as JSON, on rank 0. SMALL=1 takes a hundredth, to try it.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator

import numpy as np
import scipy.sparse as sp
from sparse_peers import AlltoallvRows, petsc_product
from timing import in_turns

import partita
from partita.sparse import DistTensor

PART = 100 if os.environ.get("SMALL") else 1
Method = Callable[[], object]
Cases = Iterator[tuple[str, dict[str, Method]]]


def laplacian(n_cells: int) -> sp.csr_array:
    """Five points on a square."""
    side = int(n_cells**0.5)
    line = sp.diags_array([-1.0, 2.0, -1.0], offsets=[-1, 0, 1], shape=(side, side))
    one = sp.eye_array(side)
    return sp.csr_array(sp.kron(line, one) + sp.kron(one, line))


def rmat(scale: int, per_row: int) -> sp.csr_array:
    """A graph with a few rows that are long and many that are short."""
    rng = np.random.default_rng(1)
    n = per_row << scale
    rows, columns = np.zeros(n, np.int32), np.zeros(n, np.int32)
    for _ in range(scale):
        draw = rng.random(n, np.float32)
        rows = 2 * rows + (draw > 0.76)
        columns = 2 * columns + (((draw > 0.57) & (draw <= 0.76)) | (draw > 0.95))
    shape = (1 << scale, 1 << scale)
    return sp.coo_array((np.ones(n), (rows, columns)), shape=shape).tocsr()


def random_rows(n: int, per_row: int) -> sp.csr_array:
    """Entries anywhere, as many in each row."""
    rng = np.random.default_rng(2)
    columns = np.sort(rng.integers(0, n, (n, per_row), np.int32), axis=1).reshape(-1)
    starts = np.arange(0, n * per_row + 1, per_row, dtype=np.int32)
    return sp.csr_array((np.ones(n * per_row), columns, starts), shape=(n, n))


def world(team: partita.Team):
    """The communicator of mpi4py on the same ranks; none where they are no processes."""
    if team.size == 1 or team.engine != "mpi":
        return None
    from mpi4py import MPI

    return MPI.COMM_WORLD


def spread(values: np.ndarray) -> "partita.Array":
    """The same elements, divided among the ranks."""
    made = partita.zeros(values.shape, dtype=values.dtype)
    made[...] = values
    made.sync()
    return made


def products(team: partita.Team) -> Cases:
    """Times vectors and matrices."""
    matrices = {
        "SpMV Laplacian": (lambda: laplacian(4_000_000 // PART), None),
        "SpMV R-MAT": (lambda: rmat(20 if PART == 1 else 13, 16), None),
        "SpMM Laplacian, 64 columns": (lambda: laplacian(1_000_000 // PART), 64),
    }
    for name, (made, n_columns) in matrices.items():
        whole = made()
        shape = (whole.shape[1],) if n_columns is None else (whole.shape[1], n_columns)
        x = np.random.default_rng(3).random(shape)
        # Blocks of a graph's rows have very different numbers of entries.
        t, y = DistTensor.from_scipy(whole, team=team), spread(x)
        t = t.balanced() if "R-MAT" in name else t
        methods: dict[str, Method] = {"SciPy": lambda m=whole, x=x: m @ x}
        methods["partita"] = lambda t=t, y=y: t @ y
        comm = world(team)
        if n_columns is None and (team.size == 1 or comm is not None):
            petsc = petsc_product(comm, t.to_scipy(), whole.shape[0])
            methods |= {} if petsc is None else {"PETSc": petsc}
        yield name, methods


def sparse_products(team: partita.Team) -> Cases:
    """A matrix times itself."""
    whole = laplacian(1_000_000 // PART)
    t = DistTensor.from_scipy(whole, team=team)
    yield "SpGEMM Laplacian", {"SciPy": lambda: whole @ whole, "partita": lambda: t @ t}


def assembly(team: partita.Team) -> Cases:
    """Triplets in any order to rows; each rank has some."""
    n = 10_000_000 // PART
    rng = np.random.default_rng(4)
    rows, columns = rng.integers(0, n // 10, (2, n), np.int32)
    values = rng.random(n)
    shape = (n // 10, n // 10)
    mine = slice(team.rank * n // team.size, (team.rank + 1) * n // team.size)
    own = [rows[mine], columns[mine]], values[mine]
    yield (
        "COO to CSR",
        {
            "SciPy": lambda: sp.coo_array((values, (rows, columns)), shape=shape).tocsr(),
            "partita": lambda: DistTensor.from_coo(shape, *own, team=team),
        },
    )


def slices(team: partita.Team) -> Cases:
    """A slice of 64 MiB of another rank beside a copy of as many bytes."""
    if team.size == 1:
        return
    n_bytes = 64 * 2**20 // PART
    n_rows = n_bytes // (16 * 12 + 4)
    t = DistTensor.from_scipy(random_rows(n_rows * team.size, 16), team=team)
    other = ((team.rank + 1) % team.size, 0)
    source = np.ones(n_bytes, np.uint8)

    def copied() -> None:
        team.empty(source.shape, "uint8")[...] = source

    yield "get_slice 64 MiB", {"a copy": copied, "partita": lambda: t.get_slice(other)}


def rows(team: partita.Team) -> Cases:
    """One row in a hundred, at random: asked for once, by a kept plan, again while it is warm."""
    n = 1_000_000 // PART
    whole = random_rows(n, 16)
    t = DistTensor.from_scipy(whole, team=team)
    rng = np.random.default_rng(5 + team.rank)
    wanted = [rng.integers(0, n, n // 100) for _ in range(24)]
    own, comm = t.to_scipy(), world(team)
    peer: Callable[[np.ndarray], object] = lambda one: whole[one]  # noqa: E731
    if comm is not None:
        lengths = team.allgather_data(own.shape[0])
        peer = AlltoallvRows(comm, own, [0, *np.cumsum(lengths)[:-1].tolist()])
    name = "Alltoallv" if comm is not None else "SciPy"
    has_peer = team.size == 1 or comm is not None
    plans = [t.plan_rows(one) for one in wanted]
    # Other memory between two calls, so that rows are read from memory.
    other = np.ones(2**25 // PART)
    turns = {"peer": 0, "first": 0, "kept": 0}

    def next_of(kind: str) -> int:
        turns[kind] += 1
        return turns[kind] % len(wanted)

    away: dict[str, Method] = {"(memory)": lambda: other.sum()}
    for case, method in {
        "first": lambda: t.get_rows(wanted[next_of("first")]),
        "kept": lambda: plans[next_of("kept")](t),
    }.items():
        methods = dict(away)
        if has_peer:
            methods[name] = lambda: peer(wanted[next_of("peer")])
            methods["(memory again)"] = away["(memory)"]
        yield f"get_rows 1 %, {case}", methods | {"partita": method}
    cold: dict[str, Method] = dict(away)
    if has_peer:
        cold[name] = lambda: peer(wanted[next_of("peer")])
    # The peer has cold rows here too: it is what the bar speaks of.
    cold |= {"(once)": lambda: plans[0](t), "partita": lambda: plans[0](t)}
    yield "get_rows 1 %, warm", cold


def run(team: partita.Team, *, is_rows: bool) -> None:
    """Measure rows, or all other cases and rows after them, one group in memory at a time."""
    found: dict[str, dict[str, float]] = {}
    groups = (rows,) if is_rows else (products, sparse_products, assembly, slices, rows)
    for group in groups:
        for case, methods in group(team):
            name_here = f"{case}, after other work" if group is rows and not is_rows else case
            # SciPy has one rank only, and the others wait; what ranks do together, all of them do.
            own = {
                name: _nothing if name == "SciPy" and team.rank > 0 else one
                for name, one in methods.items()
            }
            times = in_turns(own, 5, team.barrier)
            taken = {name: one.fastest for name, one in times.items() if "(" not in name}
            found[name_here] = taken
    if team.rank == 0:
        print(json.dumps(found))


def _nothing() -> None:
    """What a rank does while another works alone."""


def main() -> None:
    """Measure on the ranks that there are, or on threads."""
    is_rows = "--rows" in sys.argv
    if "--threads" in sys.argv:
        n_ranks = int(sys.argv[sys.argv.index("--threads") + 1])
        partita.spmd(lambda team: run(team, is_rows=is_rows), n_ranks, deadline=600)
    else:
        run(partita.world(), is_rows=is_rows)


if __name__ == "__main__":
    main()
