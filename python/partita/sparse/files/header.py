"""The head of a Matrix Market file: what kind of matrix, and where its entries begin."""

from __future__ import annotations

import bz2
import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from partita._errors import LayoutError

# How the numbers of a field are read, how many stand for a value, and what values are.
FIELDS: dict[str, tuple[str, int, str]] = {
    "real": ("float64", 1, "float64"),
    "double": ("float64", 1, "float64"),
    "complex": ("float64", 2, "complex128"),
    "integer": ("int64", 1, "int64"),
    "unsigned-integer": ("uint64", 1, "uint64"),
    "pattern": ("int64", 0, "float64"),
}
SYMMETRIES = ("general", "symmetric", "skew-symmetric", "hermitian")
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open}


@dataclass(frozen=True)
class Head:
    """What a file says of itself."""

    is_dense: bool
    field: str
    symmetry: str
    shape: tuple[int, int]
    n_entries: int
    begin: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type of the values."""
        return np.dtype(FIELDS[self.field][2])


def damaged(where: object, why: str) -> LayoutError:
    """Return the error for a file whose content is wrong; `where` is the file, or a line of it."""
    return LayoutError(f"{where}: {why}; the file is damaged", "file-damaged")


def is_packed(path: Path) -> bool:
    """Whether a file must be read from its beginning."""
    return path.suffix in _OPENERS


def opened(path: Path) -> Any:
    """Return a file open for reading bytes, unpacked on the way."""
    return _OPENERS.get(path.suffix, open)(path, "rb")


def read_head(path: Path) -> Head:
    """Return the head of a file; what is none is refused."""
    with opened(path) as file:
        banner = file.readline().split()
        line = file.readline()
        while line and (not line.strip() or line.startswith(b"%")):
            line = file.readline()
        sizes = line.split()
        begin = file.tell()
    words = [one.decode("latin-1").lower() for one in banner]
    if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
        message = f"{path} is no Matrix Market file of a matrix; it has no such first line"
        raise LayoutError(message, "file-unknown")
    _, _, form, field, symmetry = words
    is_dense = form == "array"
    if form not in ("array", "coordinate") or symmetry not in SYMMETRIES or field not in FIELDS:
        message = f"{path}: a matrix in '{form} {field} {symmetry}' is not known"
        raise LayoutError(f"{message}; use a form of the standard", "file-unknown")
    if is_dense and field == "pattern":
        raise damaged(path, "an array of field 'pattern' has no values")
    try:
        numbers = [int(one) for one in sizes]
        n_rows, n_columns, *rest = numbers
        n_entries = _n_dense(n_rows, n_columns, symmetry) if is_dense else rest[0]
    except (ValueError, IndexError):
        raise damaged(path, f"{line!r} are no sizes of a matrix") from None
    if max(numbers) >= 2**63:
        raise damaged(path, f"{line!r} has sizes of more than 63 bits")
    if min(numbers) < 0 or (symmetry != "general" and n_rows != n_columns):
        raise damaged(path, f"a {symmetry} matrix of {n_rows} x {n_columns}")
    return Head(is_dense, field, symmetry, (n_rows, n_columns), n_entries, begin)


def _n_dense(n_rows: int, n_columns: int, symmetry: str) -> int:
    """How many numbers a dense matrix has in its file."""
    if symmetry == "general":
        return n_rows * n_columns
    return (
        n_rows * (n_rows - 1) // 2 if symmetry == "skew-symmetric" else n_rows * (n_rows + 1) // 2
    )
