"""SciPy's `.npz` files of sparse matrices.

What is not compressed every rank reads for itself: its lines' starts, then its entries. The rest
rank 0 reads and hands out. Rank 0 writes, a block of each array at a time.
"""

from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.parts import array_of, cut_along
from partita._functions.files import bytes_of
from partita._functions.files.beside import written_beside
from partita._functions.files.header import Header
from partita._functions.files.npz import Writer, entry_head
from partita._functions.files.paths import path_of
from partita._team.together import by_first, together
from partita.sparse.agreement import members
from partita.sparse.block import Block
from partita.sparse.kinds import index_type
from partita.sparse.optional import scipy_sparse
from partita.sparse.slices import slices_for
from partita.sparse.tensor import DistTensor

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from partita._array.array import Array
    from partita._partita import Layout
    from partita._team.team import Team

Local = np.ndarray[Any, Any]


def save_npz(file: Any, matrix: DistTensor, compressed: bool = True) -> None:
    """Write a tensor to a file that `scipy.sparse.load_npz` reads. Collective."""
    path = path_of(file)
    path = path if path.name.endswith(".npz") else path.with_name(path.name + ".npz")
    if not isinstance(matrix, DistTensor):
        raise TypeError(f"a {type(matrix).__name__} to write; use a DistTensor")
    how = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    matrix.team.say(f"save_npz(compressed={bool(compressed)})")
    arrays = _arrays(matrix)
    with written_beside(matrix.team, path, lambda beside: beside.touch()) as beside:
        writer = Writer(matrix.team, beside, how)
        for name, one in arrays.items():
            writer.add(name, one)
        writer.add_own("format", matrix.format.encode("ascii"))
        writer.add_own("shape", matrix.shape)
        writer.add_own("_is_array", True)
        writer.end()


def _natural(format: str, ndim: int) -> tuple[str, ...]:
    """The dimension along which the arrays of a format are cut in stretches."""
    first = 1 if format == "csc" else 0
    return tuple("distributed" if dim == first else "replicated" for dim in range(ndim))


def _arrays(t: DistTensor) -> dict[str, Array]:
    """The arrays of the file, each spread over the ranks. Collective."""
    team = t.team
    cut = t.redistribute(_natural(t.format, t.ndim))
    block = cut._block.tidy()
    n_entries = team.allgather_data(block.nnz)
    asked = None if t.index_dtype == np.int32 else np.int64
    dtype = index_type(asked, max(t.shape), sum(n_entries))
    data = _spread(block.data, team)
    if t.format == "coo":
        found = cut._slices.globalized(cut.slice_id, block.coords)
        coords = np.stack(found).astype(dtype)
        if t.ndim == 2:
            return {"row": _spread(coords[0], team), "col": _spread(coords[1], team), "data": data}
        return {"coords": _spread(coords, team), "data": data}
    indptr, indices, _ = block.lines
    starts = indptr.astype(dtype) + dtype.type(sum(n_entries[: team.rank]))
    own = starts if team.rank == 0 else starts[1:]
    return {
        "indices": _spread(indices.astype(dtype, copy=False), team),
        "indptr": _spread(own, team),
        "data": data,
    }


def _spread(own: Local, team: Team) -> Array:
    """What all ranks have, one behind the other along the last dimension. Collective."""
    sizes = team.allgather_data(own.shape[-1])
    shape = (*own.shape[:-1], sum(sizes))
    return array_of(own, cut_along(shape, own.ndim - 1, team.size, sizes), team)


def load_npz(
    file: Any,
    dist: Sequence[str] | None = None,
    team: Team | None = None,
    format: str | None = None,
    *,
    layout: Layout | str | None = None,
    grid: Sequence[int] | None = None,
) -> DistTensor:
    """Return the tensor of a file as `scipy.sparse.save_npz` writes it. Collective."""
    team, path = members(team), path_of(file)
    kind, shape, heads = by_first(team, lambda: _about(path), path)
    if heads is None:
        whole = by_first_only(team, path)
        return DistTensor.from_scipy(whole, dist, team, format, 0, layout=layout, grid=grid)
    heads = {name: Header(tuple(one[0]), np.dtype(one[1]), one[2]) for name, one in heads.items()}
    reader = Reader(path, heads)
    if kind == "coo":
        coords, values = together(team, lambda: _own_entries(reader, team, len(shape)))
        return DistTensor.from_coo(
            shape, coords, values, dist, team, format or kind, layout=layout, grid=grid
        )
    natural = _natural(kind, 2)
    slices = slices_for(shape, team.size, natural)
    block = together(team, lambda: _own_lines(reader, kind, slices, team.rank))
    made = DistTensor.from_blocks(block, shape, natural, team)
    if dist is None and layout is None and grid is None:
        dist = ("distributed", "replicated")
    return made.redistribute(dist, layout=layout, grid=grid, format=format)


def by_first_only(team: Team, path: Path) -> Any:
    """What SciPy reads on rank 0, None elsewhere; its errors are all ranks'. Collective."""

    def read() -> Any:
        if team.rank > 0:
            return None
        return scipy_sparse("reading compressed matrices").load_npz(path)

    return together(team, read)


def _about(path: Path) -> tuple[str, tuple[int, ...], Any]:
    """Format and shape; where the arrays are, if ranks can read their parts of them."""
    # Opened here: NumPy leaves files open that are no archives.
    with path.open("rb") as file, np.load(file) as loaded:
        if "format" not in loaded.files:
            raise ValueError(f"{path} has no sparse matrix; it has {', '.join(loaded.files)}")
        kind, names = loaded["format"].item(), loaded.files
        shape = tuple(int(n) for n in loaded["shape"])
    kind = kind if isinstance(kind, str) else kind.decode("ascii")
    coords = ["coords"] if "coords" in names else ["row", "col"]
    wanted = {"csr": ["indptr", "indices"], "csc": ["indptr", "indices"], "coo": coords}.get(kind)
    if wanted is None:
        return kind, shape, None
    heads = {}
    for name in [*wanted, "data"]:
        head, is_stored = entry_head(path, f"{name}.npy")
        if not is_stored or head.is_fortran or not head.dtype.isnative:
            return kind, shape, None
        heads[name] = (head.shape, head.dtype.str, head.offset)
    _check_lengths(path, kind, shape, {name: one[0] for name, one in heads.items()})
    return kind, shape, heads


def _check_lengths(
    path: Path, kind: str, shape: tuple[int, ...], found: dict[str, tuple[int, ...]]
) -> None:
    """Refuse arrays that do not fit each other: ranks read parts of them only."""
    n = found["data"][0] if found["data"] else 0
    wanted: dict[str, tuple[int, ...]] = dict.fromkeys(found, (n,))
    if "coords" in found:
        wanted["coords"] = (len(shape), n)
    if "indptr" in found:
        wanted["indptr"] = (shape[0 if kind == "csr" else 1] + 1,)
    for name, one in found.items():
        if one != wanted[name]:
            message = f"{path}: '{name}' has shape {one} where {wanted[name]} fits"
            raise ValueError(f"{message}; the file is damaged")


class Reader:
    """Stretches of the arrays of a file."""

    def __init__(self, path: Path, heads: dict[str, Header]) -> None:
        self._path, self.heads = path, heads

    def read(self, name: str, first: int, end: int) -> Local:
        """Return some elements of an array, counted in C order."""
        head = self.heads[name]
        n_elements = int(np.prod(head.shape))
        if not 0 <= first <= end <= n_elements:
            message = f"elements {first} to {end} of '{name}', which has {n_elements}"
            raise ValueError(f"{message}; the file is damaged")
        found = np.empty(end - first, head.dtype)
        file = os.open(self._path, os.O_RDONLY)
        try:
            bytes_of.read(file, head.offset + first * found.itemsize, found)
        finally:
            os.close(file)
        return found


def _own_lines(reader: Reader, kind: str, slices: Any, rank: int) -> Block:
    own = slices.slice_of(rank)
    dim = 0 if kind == "csr" else 1
    first, end = slices.stretch(dim, own[dim])
    indptr = reader.read("indptr", first, end + 1)
    begin, stop = int(indptr[0]), int(indptr[-1])
    indices, data = reader.read("indices", begin, stop), reader.read("data", begin, stop)
    return Block.of_lines(slices.slice_shape(own), kind, (indptr - indptr[0], indices, data))


def _own_entries(reader: Reader, team: Team, ndim: int) -> tuple[list[Local], Local]:
    n = reader.heads["data"].shape[0]
    first, end = (n * rank // team.size for rank in (team.rank, team.rank + 1))
    values = reader.read("data", first, end)
    if "coords" in reader.heads:
        rows = [reader.read("coords", dim * n + first, dim * n + end) for dim in range(ndim)]
        return rows, values
    return [reader.read(name, first, end) for name in ("row", "col")], values
