"""Lines of a Matrix Market file as numbers: by SciPy's parser where it is, else by NumPy's.

SciPy's is about twice as fast; NumPy's says what is wrong with a damaged line.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np

from partita.sparse.files.damage import refuse_damaged
from partita.sparse.files.header import FIELDS

if TYPE_CHECKING:
    from partita.sparse.files.header import Head

Local = np.ndarray[Any, Any]
# Rows and columns, counted from 0, and values; of a dense matrix only values.
Lines = tuple[list[Local], Local]


def parsed(text: bytes, head: Head) -> Lines:
    """Return the coordinates and values that stand on whole lines."""
    found = _by_scipy(text, head)
    if found is not None:
        return found
    try:
        coords, values = _by_numpy(text, head)
    except ValueError:
        refuse_damaged(text, head)
        raise
    # NumPy's parser does not see where lines end: what it has read may be shifted.
    n_lines = sum(bool(line.strip()) for line in text.split(b"\n"))
    if n_lines != len(values) or not _are_inside(coords, head):
        refuse_damaged(text, head)
    return coords, values


def _are_inside(coords: list[Local], head: Head) -> bool:
    pairs = zip(coords, head.shape, strict=False)
    return all(not len(one) or (one.min() >= 0 and one.max() < n) for one, n in pairs)


def _by_scipy(text: bytes, head: Head) -> Lines | None:
    """What SciPy reads of the lines as if they were a file; None if it cannot."""
    # Its parser counts empty lines, and leaves its memory behind a last space and at zero bytes.
    given, text = text, text.strip() + b"\n"
    n_lines = text.count(b"\n")
    if text == b"\n" or b"\n\n" in text or b"\0" in text:
        return None
    try:
        from scipy.io import mmread
    except ImportError:
        return None
    form = "array" if head.is_dense else "coordinate"
    sizes = f"{n_lines} 1" if head.is_dense else f"{head.shape[0]} {head.shape[1]} {n_lines}"
    first = f"%%MatrixMarket matrix {form} {head.field} general\n{sizes}\n"
    try:
        found = mmread(io.BytesIO(first.encode() + text))
    except (ValueError, OverflowError):
        # What is wrong with the lines is said here; if nothing is, the other parser reads them.
        refuse_damaged(given, head)
        return None
    if head.is_dense:
        return [], found[:, 0]
    return [found.row, found.col], found.data


def _by_numpy(text: bytes, head: Head) -> Lines:
    kind, per_value, _ = FIELDS[head.field]
    found = _numbers(text, kind, per_value + (0 if head.is_dense else 2))
    coords = [] if head.is_dense else [_whole(found[:, 0]), _whole(found[:, 1])]
    given = np.ascontiguousarray(found[:, len(coords) :])
    if head.field == "pattern":
        return coords, np.ones(len(found), head.dtype)
    return coords, given.view(np.complex128)[:, 0] if head.field == "complex" else given[:, 0]


def _numbers(text: bytes, dtype: str, n_columns: int) -> Local:
    """The numbers of lines, a row of them for each."""
    if not text.strip():
        return np.empty((0, n_columns), dtype)
    try:
        found = np.fromstring(text, dtype, sep=" ")
    except ValueError:
        raise ValueError(f"a line of the file has no {n_columns} numbers of {dtype}") from None
    if len(found) % n_columns:
        raise ValueError(f"{len(found)} numbers are no lines of {n_columns}; the file is damaged")
    return found.reshape(-1, n_columns)


def _whole(given: Local) -> Local:
    """Indices from 1 on, as they stand in the file, from 0 on."""
    found = given.astype(np.int64)
    if (found != given).any():
        raise ValueError(f"{given[found != given][0]} is no index; the file is damaged")
    return found - 1
