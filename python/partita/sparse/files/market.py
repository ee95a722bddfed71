"""Matrix Market files, of which every rank reads a part and sends entries to their owners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._args import shown
from partita._errors import LayoutError
from partita._functions.files.paths import path_of
from partita._team.together import by_first, together_telling
from partita.sparse.agreement import members
from partita.sparse.files.damage import DamagedLine, reading
from partita.sparse.files.header import Head, read_head
from partita.sparse.files.parsing import Lines, parsed
from partita.sparse.files.stretch import own_lines
from partita.sparse.telling import telling
from partita.sparse.tensor import DistTensor

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._partita import Layout
    from partita._team.team import Team

Local = np.ndarray[Any, Any]
# Rows, columns and values of entries.
Entries = tuple[Local, Local, Local]


@telling
def mmread(
    source: Any,
    dist: Sequence[str] | None = None,
    team: Team | None = None,
    format: str | None = None,
    *,
    layout: Layout | str | None = None,
    grid: Sequence[int] | None = None,
    spmatrix: bool = False,
) -> Any:
    """Return the matrix of a Matrix Market file: a DistTensor, or an array if it is dense.

    Every rank reads its part of the text. Files that end in `.gz` or `.bz2` rank 0 reads alone.
    `spmatrix` is SciPy's, for matrices whose `*` is a product; tensors are none. Collective.
    """
    if spmatrix:
        message = "mmread(spmatrix=True); tensors are as SciPy's sparse arrays: use spmatrix=False"
        raise LayoutError(message, "sparse-type")
    team, path = members(team), path_of(source)
    head = _head(path, team)

    def read() -> tuple[Lines, int]:
        if head.is_dense and format is not None:
            message = f"format={shown(format)} for {path}, whose matrix is dense: an array of"
            message += " partita; read it without, and use DistTensor.from_dense"
            raise LayoutError(message, "sparse-format")
        with reading(path):
            text, begin = own_lines(path, head.begin, team.rank, team.size)
            try:
                found = parsed(text, head)
            except DamagedLine as damage:
                raise damage.in_file(path, begin) from None
            _check_signs(head, found[1])
        return found, len(found[1])

    (coords, given), counts = together_telling(team, read)
    if sum(counts) != head.n_entries:
        message = f"{path} says it has {head.n_entries} entries and has {sum(counts)}"
        raise LayoutError(f"{message}; it is not complete, or damaged", "file-damaged")
    before = sum(counts[: team.rank])
    rows, columns = coords or _places(head, before + np.arange(len(given)))
    rows, columns, values = _mirrored(head.symmetry, rows, columns, given)
    made = DistTensor.from_coo(
        head.shape, (rows, columns), values, dist, team, format, layout=layout, grid=grid
    )
    return made.to_dense() if head.is_dense else made


@telling
def mminfo(source: Any, *, team: Team | None = None) -> tuple[int, int, int, str, str, str]:
    """Return rows, columns, entries, format, field and symmetry of a Matrix Market file.

    As SciPy's function; of a dense matrix, entries are all its elements. Collective.
    """
    team, path = members(team), path_of(source)
    head = _head(path, team)
    n_rows, n_columns = head.shape
    n_entries = n_rows * n_columns if head.is_dense else head.n_entries
    form = "array" if head.is_dense else "coordinate"
    return n_rows, n_columns, n_entries, form, head.field, head.symmetry


def _head(path: Any, team: Team) -> Head:
    def read() -> tuple[Any, ...]:
        with reading(path):
            found = read_head(path)
        about = (found.is_dense, found.field, found.symmetry)
        return *about, found.shape, found.n_entries, found.begin

    return Head(*by_first(team, read, path))


def _check_signs(head: Head, values: Local) -> None:
    """Refuse numbers without signs whose negatives are in the other half."""
    if head.symmetry == "skew-symmetric" and head.dtype.kind == "u" and values.any():
        raise ValueError("a skew-symmetric matrix of unsigned integers; use the field 'integer'")


def _mirrored(symmetry: str, rows: Local, columns: Local, values: Local) -> Entries:
    """All entries, also those of the upper half, which the file leaves out."""
    if symmetry == "general":
        return rows, columns, values
    beside = rows != columns
    mirrored = values[beside]
    if symmetry == "skew-symmetric":
        mirrored = -mirrored
    if symmetry == "hermitian":
        mirrored = mirrored.conj()
    return (
        np.concatenate([rows, columns[beside]]),
        np.concatenate([columns, rows[beside]]),
        np.concatenate([values, mirrored]),
    )


def _places(head: Head, at: Local) -> tuple[Local, Local]:
    """Row and column of the numbers of a dense matrix, which stands column by column."""
    n_rows, n_columns = head.shape
    if head.symmetry == "general":
        return at % max(n_rows, 1), at // max(n_rows, 1)
    # Of each column what is on and below the diagonal, or below it only.
    below = 1 if head.symmetry == "skew-symmetric" else 0
    starts = np.concatenate([[0], np.cumsum(n_rows - below - np.arange(n_columns))])
    columns = np.searchsorted(starts, at, side="right") - 1
    return columns + below + at - starts[columns], columns
