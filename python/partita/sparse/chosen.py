"""What `t[rows, columns]` gives: a matrix, a row or column with one dimension, or a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from partita._array.parts import cut_along
from partita._team.together import together
from partita.sparse.agreement import agreed
from partita.sparse.block import Block
from partita.sparse.columns import in_range, is_repeated, listed
from partita.sparse.hollow import first_rows
from partita.sparse.keys import checked_slice, indices_of
from partita.sparse.rowwise import rows_slices, rowwise
from partita.sparse.slices import Slices
from partita.sparse.tensor_parts import tensor_part
from partita.sparse.wishes import positions, words_of

if TYPE_CHECKING:
    from partita._local.sparse import Csr
    from partita.sparse.base import Base

Local = np.ndarray[Any, Any]
Index = int | slice | Local
# What lists of rows and columns name: a block, pairs in a shape, or pairs in a row.
Form = Literal["a block"] | tuple[int, int] | None

# With fewer rows than this, or fewer for each entry, entries are found by their rows.
_MANY_ROWS = 1 << 20
_ROWS_PER_ENTRY = 4


def chosen(tensor: Any, key: Any) -> Any:
    """Return what an index chooses of a matrix. Collective."""

    def look() -> tuple[tuple[Index, Index, Form], dict[str, Any], None]:
        rows, columns, form = _checked(tensor, key)
        pairs = zip((rows, columns), tensor.shape, strict=True)
        words = ", ".join(_words(one, n) for one, n in pairs)
        return (rows, columns, form), {"the index": f"{words} as {form}" if form else words}, None

    (rows, columns, form), _ = agreed(tensor.team, "__getitem__", look, tensor._words)
    if isinstance(rows, np.ndarray) and isinstance(columns, np.ndarray) and form != "a block":
        points = _points(tensor, rows, columns)
        return points if form is None else points.reshape(form)
    if isinstance(rows, int) and isinstance(columns, int):
        return _value(tensor, rows, columns)
    if not isinstance(rows, np.ndarray) and not isinstance(columns, np.ndarray):
        n_rows = _count(rows, tensor.shape[0])
        if tensor.format != "csr" and _is_hollow(tensor, tensor.shape[0]):
            format = "coo" if _is_hollow(tensor, n_rows) else "csr"
            return tensor_part(tensor, (rows, columns), format)
    found = tensor
    if not _is_all(rows, tensor.shape[0]):
        found = _with_rows(found, rows)
    if not _is_all(columns, tensor.shape[1]):
        found = _with_columns(found, columns)
    for dim, one in enumerate((rows, columns)):
        if isinstance(one, int):
            return _one_line(found, dim)
    # What is chosen of a tensor keeps its content, whatever `set_slice` does to it.
    return tensor._same() if found is tensor else found


def _is_hollow(tensor: Base, n_rows: int) -> bool:
    """Whether a pointer for each of so many rows would take more than all entries. Collective."""
    return n_rows > _MANY_ROWS and n_rows > _ROWS_PER_ENTRY * tensor.nnz


def _checked(tensor: Base, key: Any) -> tuple[Index, Index, Form]:
    """Rows, columns, and what lists of both name."""
    given = indices_of(key, 2)
    form = _form(*given)
    if form is not None:
        given = [np.asarray(one) for one in given]
        sides = given if form == "a block" else np.broadcast_arrays(*given)
        given = [one.reshape(-1) for one in sides]
    rows, columns = (_one(one, n) for one, n in zip(given, tensor.shape, strict=True))
    return rows, columns, form


def _form(rows: Any, columns: Any) -> Form:
    if _names_block(rows, columns):
        return "a block"
    if isinstance(rows, slice) or isinstance(columns, slice):
        return None
    shapes = np.shape(rows), np.shape(columns)
    if max(map(len, shapes)) != 2:
        return None
    try:
        m, n = np.broadcast_shapes(*shapes)
    except ValueError:
        message = f"rows of shape {shapes[0]} beside columns of shape {shapes[1]}"
        raise IndexError(f"{message}; give pairs") from None
    return m, n


def _names_block(rows: Any, columns: Any) -> bool:
    """Whether indices are rows below each other beside columns, as those of `np.ix_`."""
    shapes: list[tuple[int, ...]] = [
        () if isinstance(one, slice) else np.shape(one) for one in (rows, columns)
    ]
    below, beside = shapes
    return below[1:] == (1,) and (len(beside) == 1 or (len(beside) == 2 and beside[0] == 1))


def _one(index: Any, n: int) -> Index:
    if isinstance(index, slice):
        return checked_slice(index, n)
    if np.ndim(index) == 0 and not isinstance(index, bool | np.bool_):
        return int(positions(index, n)[0])
    if np.ndim(index) > 1:
        message = f"an index of shape {np.shape(index)}"
        raise IndexError(f"{message}; use lists, or t[np.ix_(rows, columns)]")
    return positions(index, n)


def _words(index: Index, n: int) -> str:
    """What ranks compare of an index: they must give the same."""
    if isinstance(index, slice):
        return "{}:{}:{}".format(*index.indices(n))
    if isinstance(index, int):
        return str(index)
    return words_of(index)


def _is_all(index: Index, n: int) -> bool:
    return isinstance(index, slice) and index.indices(n) == (0, n, 1)


def _listed(index: Index, n: int, start: int = 0, end: int | None = None) -> Local:
    """Return a stretch of the positions that an index names."""
    if isinstance(index, slice):
        named = range(*index.indices(n))[start:end]
        return np.arange(named.start, named.stop, named.step)
    return np.atleast_1d(np.asarray(index, np.int64))[start:end]


def _count(index: Index, n: int) -> int:
    if isinstance(index, slice):
        return len(range(*index.indices(n)))
    return 1 if isinstance(index, int) else len(index)


def _with_rows(tensor: Any, index: Index) -> Any:
    """Return rows, in blocks on all ranks."""
    n, team = tensor.shape[0], tensor.team
    shape = (_count(index, n), tensor.shape[1])
    slices = Slices(cut_along(shape, 0, team.size))
    n_before = sum(slices.slice_shape((rank, 0))[0] for rank in range(team.rank))
    n_here = slices.slice_shape((team.rank, 0))[0]
    wanted = _listed(index, n, n_before, n_before + n_here)
    step = f"rows {_words(index, n)}"
    return tensor._made(first_rows(tensor, wanted), step, slices)


def _with_columns(tensor: Any, index: Index) -> Any:
    """Return columns; the rows stay where they are."""
    found = rowwise(tensor)
    n = tensor.shape[1]
    count = _count(index, n)
    lines = found._block.lines
    if isinstance(index, np.ndarray) and is_repeated(index):
        # They may be more entries than the indices of some rank can count.
        lines = together(tensor.team, lambda: listed(found._block.lines, index, n))
    else:
        lines = _columns(lines, index, n)
    shape = (found._block.shape[0], count)
    slices = rows_slices(found._slices, (tensor.shape[0], count))
    step = f"columns {_words(index, n)}"
    return tensor._made(Block.of_lines(shape, "csr", lines), step, slices)


def _columns(lines: Csr, index: Index, n: int) -> Csr:
    if isinstance(index, np.ndarray):
        return listed(lines, index, n)
    named = range(*index.indices(n)) if isinstance(index, slice) else range(index, index + 1)
    return in_range(lines, named, n)


def _one_line(tensor: Any, dim: int) -> Any:
    """Return a matrix of one row or column as a tensor of one dimension."""
    slices = tensor._slices
    coords = slices.globalized(tensor.slice_id, tensor._block.all_coords())
    data = tensor._block.data
    if slices.owner(tensor.slice_id) != tensor.team.rank:
        coords, data = [one[:0] for one in coords], data[:0]
    shape = (tensor.shape[1 - dim],)
    return type(tensor).from_coo(shape, [coords[1 - dim]], data, team=tensor.team, format="coo")


def _value(tensor: Any, row: int, column: int) -> Any:
    """Return one value on every rank: of entries in one place, the sum."""
    slices, team = tensor._slices, tensor.team
    owners, (at_row, at_column) = slices.ranks([np.array([row]), np.array([column])])
    found = np.zeros((), tensor.dtype)
    if team.rank == owners[0]:
        rows, columns = tensor._block.all_coords()
        is_there = (rows == at_row) & (columns == at_column)
        found = tensor._block.data[is_there].sum(dtype=tensor.dtype)
    if team.size > 1:
        found = np.asarray(
            team.broadcast_alike(
                "inside partita:", np.asarray(found), int(owners[0]), argument="an entry"
            )
        )
    return tensor.dtype.type(found)


def _points(tensor: Any, rows: Local, columns: Local) -> Any:
    """Return the values at pairs of indices, as a tensor of one dimension."""
    if 1 in (len(rows), len(columns)):
        rows, columns = np.broadcast_arrays(rows, columns)
    if len(rows) != len(columns):
        message = f"{len(rows)} rows beside {len(columns)} columns; give pairs"
        raise IndexError(f"{message}, or use t[rows][:, columns]")
    slices = Slices(cut_along((len(rows),), 0, tensor.team.size))
    before = sum(slices.slice_shape((rank,))[0] for rank in range(tensor.team.rank))
    here = slice(before, before + slices.slice_shape((tensor.team.rank,))[0])
    found = first_rows(tensor, rows[here])
    coords = found.all_coords()
    is_wanted = coords[1] == columns[here][coords[0]]
    places = coords[0][is_wanted] + before
    shape = (len(rows),)
    data = found.data[is_wanted]
    return type(tensor).from_coo(shape, [places], data, team=tensor.team, format="coo")
