"""SciPy's `.npz` files of sparse matrices.

What is not compressed every rank reads for itself: its lines' starts, then its entries. The rest
rank 0 reads and hands out. Rank 0 writes, a block of each array at a time.
"""

from __future__ import annotations

import os
import zipfile
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from partita._array.parts import array_of, cut_along
from partita._errors import LayoutError
from partita._functions.files import bytes_of
from partita._functions.files.beside import written_beside
from partita._functions.files.header import Header
from partita._functions.files.npz import Writer, entry_head, is_zip
from partita._functions.files.paths import path_of
from partita._team.together import by_first, together
from partita.sparse.agreement import members
from partita.sparse.block import Block
from partita.sparse.files.damage import reading
from partita.sparse.kinds import index_type
from partita.sparse.optional import scipy_sparse
from partita.sparse.outside import block_of, check_inside
from partita.sparse.slices import slices_for
from partita.sparse.telling import telling
from partita.sparse.tensor import DistTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from partita._array.array import Array
    from partita._partita import Layout
    from partita._team.team import Team

Local = np.ndarray[Any, Any]
T = TypeVar("T")


@telling
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
    n_entries = team.gather_inside("numbers of entries to write", block.nnz)
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
    sizes = team.gather_inside("lengths to write", own.shape[-1])
    shape = (*own.shape[:-1], sum(sizes))
    return array_of(own, cut_along(shape, own.ndim - 1, team.size, sizes), team)


@telling
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
        coords, values = _read(team, path, lambda: _own_entries(reader, team, shape))
        return DistTensor.from_coo(
            shape, coords, values, dist, team, format or kind, layout=layout, grid=grid
        )
    natural = _natural(kind, 2)
    slices = slices_for(shape, team.size, natural)
    block = _read(team, path, lambda: _own_lines(reader, kind, slices, team.rank))
    made = DistTensor.from_blocks(block, shape, natural, team)
    if dist is None and layout is None and grid is None:
        dist = ("distributed", "replicated")
    return made.redistribute(dist, layout=layout, grid=grid, format=format)


def _read(team: Team, path: Path, work: Callable[[], T]) -> T:
    """What each rank reads of a file; what one finds damaged is so for all. Collective."""

    def named() -> T:
        with reading(path):
            return work()

    return together(team, named)


def by_first_only(team: Team, path: Path) -> Any:
    """What SciPy reads on rank 0, None elsewhere; its errors are all ranks'. Collective."""

    def read() -> Any:
        if team.rank > 0:
            return None
        library = scipy_sparse("reading compressed matrices")
        with reading(path):
            return block_of(library.load_npz(path))

    return together(team, read)


def _about(path: Path) -> tuple[str, tuple[int, ...], Any]:
    """Format and shape; where the arrays are, if ranks can read their parts of them."""
    if not is_zip(path):
        raise LayoutError(f"{path} is no .npz file; use one of save_npz", "file-unknown")
    with reading(path):
        return _about_archive(path)


def _about_archive(path: Path) -> tuple[str, tuple[int, ...], Any]:
    # Opened here: NumPy leaves files open that are no archives.
    with path.open("rb") as file, np.load(file) as loaded:
        names = loaded.files
        if "format" not in names:
            message = f"{path} has no sparse matrix; it has {', '.join(names)}"
            raise LayoutError(message, "file-unknown")
        kind = _format_of(loaded)
        shape = _shape_of(loaded)
        if "_is_array" in names and loaded["_is_array"].size != 1:
            raise ValueError("'_is_array' is no single flag")
    coords = ["coords"] if "coords" in names else ["row", "col"]
    wanted = {"csr": ["indptr", "indices"], "csc": ["indptr", "indices"], "coo": coords}.get(kind)
    if wanted is None:
        return kind, shape, None
    if missing := [name for name in [*wanted, "data"] if name not in names]:
        raise ValueError(f"it has no array '{missing[0]}', only {', '.join(names)}")
    if "coords" not in wanted and len(shape) != 2:
        raise ValueError(f"its shape {shape} has not two numbers")
    heads = {}
    is_read = True
    for name in [*wanted, "data"]:
        head, is_stored = entry_head(path, f"{name}.npy")
        if name != "data" and head.dtype.kind not in "iu":
            raise ValueError(f"'{name}' has {head.dtype}, where integers are")
        is_read &= is_stored and not head.is_fortran and bool(head.dtype.isnative)
        heads[name] = (head.shape, head.dtype.str, head.offset)
    _check_lengths(kind, shape, {name: one[0] for name, one in heads.items()})
    return kind, shape, heads if is_read else None


def _format_of(loaded: Any) -> str:
    """The format that a file names: text, or its bytes."""
    found = loaded["format"]
    kind = found.item() if found.size == 1 else found.tolist()
    if isinstance(kind, bytes):
        kind = kind.decode("ascii")
    if not isinstance(kind, str):
        raise ValueError(f"its format {kind!r} is no name")
    return kind


def _shape_of(loaded: Any) -> tuple[int, ...]:
    if "shape" not in loaded.files:
        raise ValueError(f"it has no array 'shape', only {', '.join(loaded.files)}")
    found = loaded["shape"]
    if found.ndim != 1 or found.dtype.kind not in "iu" or not found.size or found.min() < 0:
        raise ValueError(f"its shape {found.tolist()!r} is no list of integers from 0 on")
    return tuple(int(n) for n in found)


def _check_lengths(kind: str, shape: tuple[int, ...], found: dict[str, tuple[int, ...]]) -> None:
    """Refuse arrays that do not fit each other: ranks read parts of them only."""
    n = found["data"][0] if found["data"] else 0
    wanted: dict[str, tuple[int, ...]] = dict.fromkeys(found, (n,))
    if "coords" in found:
        wanted["coords"] = (len(shape), n)
    if "indptr" in found:
        wanted["indptr"] = (shape[0 if kind == "csr" else 1] + 1,)
    for name, one in found.items():
        if one != wanted[name]:
            raise ValueError(f"'{name}' has shape {one} where {wanted[name]} fits")


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
            raise ValueError(f"{message} elements")
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
    lines = (indptr - indptr[0], indices, data)
    # Looked at here, where the file is known.
    return block_of(Block.of_lines(slices.slice_shape(own), kind, lines))


def _own_entries(reader: Reader, team: Team, shape: tuple[int, ...]) -> tuple[list[Local], Local]:
    n = reader.heads["data"].shape[0]
    first, end = (n * rank // team.size for rank in (team.rank, team.rank + 1))
    values = reader.read("data", first, end)
    if "coords" in reader.heads:
        stretches = [(dim * n + first, dim * n + end) for dim in range(len(shape))]
        coords = [reader.read("coords", *one) for one in stretches]
    else:
        coords = [reader.read(name, first, end) for name in ("row", "col")]
    for dim, one in enumerate(coords):
        check_inside(one, shape[dim], dim)
    return coords, values
