"""A sparse tensor in the memory of one rank, in one of three formats."""

from __future__ import annotations

from copy import copy
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._args import shown
from partita._errors import LayoutError
from partita._keeper import Keeper
from partita._local import sparse
from partita.sparse.optional import scipy_sparse
from partita.sparse.sorting import places_added, rises

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._local.sparse import Csr

Local = np.ndarray[Any, Any]

FORMATS = ("csr", "csc", "coo")

# With more rows than this for each entry, entries are sorted by pairs of coordinates.
_ROWS_PER_ENTRY = 4


class Block:
    """Entries by their coordinates; those of one place are meant to be added.

    CSR and CSC are `lines`: rows of a matrix, or of the transposed one. COO is `coords`, one list
    per dimension. What is made for a `pattern` is kept by it, for all blocks that share it.
    """

    def __init__(
        self,
        shape: Sequence[int],
        format: str,
        data: Local,
        *,
        indptr: Local | None = None,
        indices: Local | None = None,
        coords: Sequence[Local] = (),
        pattern: Keeper | None = None,
    ) -> None:
        self.shape = tuple(int(n) for n in shape)
        self.format = format
        self.data = data
        self.indptr = indptr
        self.indices = indices
        self.coords = tuple(coords)
        self.pattern = Keeper() if pattern is None else pattern

    @classmethod
    def of_lines(cls, shape: Sequence[int], format: str, lines: Csr) -> Block:
        """Return a matrix of its rows (CSR) or columns (CSC)."""
        indptr, indices, data = lines
        return cls(shape, format, data, indptr=indptr, indices=indices)

    @classmethod
    def of_coords(
        cls, shape: Sequence[int], format: str, coords: Sequence[Local], data: Local
    ) -> Block:
        """Return a tensor of entries in any order, sorted, those of one place added."""
        if format == "coo":
            return cls(shape, "coo", data, coords=coords).tidy()
        major, minor = (0, 1) if format == "csr" else (1, 0)
        extents = (shape[major], shape[minor])
        lines = sparse.compressed(coords[major], coords[minor], data, extents)
        return cls.of_lines(shape, format, lines).known_tidy()

    @classmethod
    def of_lists(cls, shape: Sequence[int], format: str, lists: list[Csr]) -> Block:
        """Return the matrix in CSR or CSC of several lists of entries, those of one place added.

        Each is the rows (CSR) or columns (CSC) of entries, the others, and their values.
        """
        extents = (shape[0], shape[1]) if format == "csr" else (shape[1], shape[0])
        return cls.of_lines(shape, format, sparse.compressed_lists(lists, extents)).known_tidy()

    @property
    def ndim(self) -> int:
        """Number of dimensions."""
        return len(self.shape)

    @property
    def nnz(self) -> int:
        """Number of entries that are stored."""
        return len(self.data)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Element type of the values."""
        found: np.dtype[Any] = self.data.dtype
        return found

    @property
    def index_dtype(self) -> np.dtype[Any]:
        """Element type of the coordinates."""
        found: np.dtype[Any] = self.arrays[0].dtype
        return found

    @property
    def lines(self) -> Csr:
        """The rows of a CSR matrix, the columns of a CSC matrix."""
        if self.indptr is None or self.indices is None:
            message = f"a block in {self.format} has no rows of its own; convert it to csr or csc"
            raise LayoutError(message, "sparse-format")
        return self.indptr, self.indices, self.data

    @property
    def arrays(self) -> list[Local]:
        """All memory of it, in the order in which `from_arrays` wants it."""
        if self.indptr is not None and self.indices is not None:
            return [self.indptr, self.indices, self.data]
        return [*self.coords, self.data]

    @classmethod
    def from_arrays(
        cls,
        shape: Sequence[int],
        format: str,
        arrays: Sequence[Local],
        pattern: Keeper | None = None,
    ) -> Block:
        """Return the block of its memory."""
        if format == "coo":
            return cls(shape, format, arrays[-1], coords=arrays[:-1], pattern=pattern)
        indptr, indices, data = arrays
        return cls(shape, format, data, indptr=indptr, indices=indices, pattern=pattern)

    def all_coords(self) -> list[Local]:
        """Return the coordinates of every entry, one list per dimension."""
        if self.format == "coo":
            return list(self.coords)
        indptr, indices, _ = self.lines
        major = sparse.rows_of(indptr)
        return [major, indices] if self.format == "csr" else [indices, major]

    def in_format(self, format: str) -> Block:
        """Return the same tensor in a format; itself where it has it already."""
        if format == self.format:
            return self
        checked_format(format, self.ndim)
        if format == "coo":
            return Block(self.shape, format, self.data, coords=self.all_coords())
        if self.format == "coo":
            return Block.of_coords(self.shape, format, self.coords, self.data)
        # The rows of one are the columns of the other.
        minor = self.shape[1] if self.format == "csr" else self.shape[0]
        lines = sparse.transposed(*self.tidy().lines, minor)
        return Block.of_lines(self.shape, format, lines).known_tidy()

    def with_data(self, data: Local) -> Block:
        """Return a tensor of the same pattern, which is shared, with other values."""
        arrays = [*self.arrays[:-1], data]
        return Block.from_arrays(self.shape, self.format, arrays, self.pattern)

    def with_indices(self, dtype: Any) -> Block:
        """Return the same tensor with coordinates of another type; itself where it has it."""
        if self.index_dtype == dtype:
            return self
        arrays = [one.astype(dtype) for one in self.arrays[:-1]]
        return Block.from_arrays(self.shape, self.format, [*arrays, self.data])

    def transposed(self, order: Sequence[int]) -> Block:
        """Return the tensor with dimensions in another order, over the same memory."""
        order = tuple(order)
        if order == tuple(range(self.ndim)):
            return self
        shape = [self.shape[dim] for dim in order]
        # The same for all values of this pattern, so that plans are made once.
        pattern = self.pattern.kept(("transposed", order), Keeper)
        if self.format == "coo":
            coords = [self.coords[dim] for dim in order]
            return Block(shape, "coo", self.data, coords=coords, pattern=pattern)
        turned = "csc" if self.format == "csr" else "csr"
        return Block.from_arrays(shape, turned, self.lines, pattern)

    def locked(self) -> Block:
        """Return the same tensor over the same memory, to which nobody can write through it."""
        arrays = [read_only(one) for one in self.arrays]
        return Block.from_arrays(self.shape, self.format, arrays, self.pattern)

    def copy(self) -> Block:
        """Return the same tensor in new memory."""
        return Block.from_arrays(self.shape, self.format, [one.copy() for one in self.arrays])

    @property
    def is_tidy(self) -> bool:
        """Whether entries are in order, each place at most once."""
        return self.pattern.kept("is tidy", self._looks_tidy)

    def _looks_tidy(self) -> bool:
        if self.format == "coo":
            return rises(self.coords)
        indptr, indices, _ = self.lines
        return sparse.is_tidy(indptr, indices)

    def known_tidy(self) -> Block:
        """Note that entries are in order, each place once, and return the block."""
        self.pattern.kept("is tidy", lambda: True)
        return self

    def tidy(self) -> Block:
        """Return the tensor with entries in order, each place at most once; itself if it is so."""
        if self.is_tidy:
            return self
        if self.format != "coo":
            lines = sparse.tidy(*self.lines)
            return Block.of_lines(self.shape, self.format, lines).known_tidy()
        # Compressed rows have a pointer each: too much where most rows are empty.
        if self.ndim == 2 and self.shape[0] <= _ROWS_PER_ENTRY * self.nnz:
            rows, columns = self.coords
            lines = sparse.compressed(rows, columns, self.data, (self.shape[0], self.shape[1]))
            indptr, indices, data = lines
            coords: Sequence[Local] = (sparse.rows_of(indptr), indices)
        else:
            coords, data = places_added(self.coords, self.data)
        return Block(self.shape, "coo", data, coords=coords).known_tidy()

    def with_tidy_lines(self) -> Block:
        """Return a block as tensors have it: rows and columns in order, each place once.

        COO stays in its own order, and in its memory, where no place comes twice.
        """
        found = self.tidy()
        return self if self.format == "coo" and found.nnz == self.nnz else found

    @classmethod
    def from_scipy(cls, matrix: Any, format: str | None = None) -> Block:
        """Return a block over the memory of a SciPy matrix, without a copy where formats agree."""
        is_plain = matrix.format in FORMATS and (matrix.format == "coo" or matrix.ndim == 2)
        found = matrix if is_plain else matrix.tocoo()
        if found.format == "coo":
            coords = found.coords if hasattr(found, "coords") else (found.row, found.col)
            block = cls(found.shape, "coo", found.data, coords=coords)
        else:
            # Their arrays may be longer than what they hold.
            n = int(found.indptr[-1])
            lines = (found.indptr, found.indices[:n], found.data[:n])
            block = cls.of_lines(found.shape, found.format, lines)
        return block if format is None else block.in_format(format)

    def to_scipy(self) -> Any:
        """Return the block as a SciPy array over the same memory."""
        made = copy(_empty_scipy(self.format, self.shape, self.dtype))
        # Given to the constructor, arrays would be copied: views of longer ones, wide coordinates.
        made.data = self.data
        if self.format == "coo":
            made.coords = self.coords
            made.has_canonical_format = False
        else:
            made.indptr, made.indices, _ = self.lines
        return made


@lru_cache(maxsize=64)
def _empty_scipy(format: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """A SciPy array for copies: making one anew takes as long as looking for a thousand rows."""
    sp = scipy_sparse("a SciPy array")
    makers = {"csr": sp.csr_array, "csc": sp.csc_array, "coo": sp.coo_array}
    made = makers[format](shape, dtype=dtype)
    if format != "coo":
        # Not as many pointers as it has rows.
        made.indptr = made.indices
    return made


def read_only(array: Local) -> Local:
    """Return a view of an array to which nobody can write."""
    view = array.view()
    view.flags.writeable = False
    return view


def checked_format(format: str | None, ndim: int, default: str | None = None) -> str:
    """Return a format, if tensors of so many dimensions have it; a usual one if none is named."""
    if format is None:
        format = default if default is not None and ndim == 2 else "csr" if ndim == 2 else "coo"
    if not isinstance(format, str) or format not in FORMATS:
        message = f"format {shown(format)}; use 'csr', 'csc' or 'coo'"
        raise LayoutError(message, "sparse-format")
    if format != "coo" and ndim != 2:
        message = f"format {format!r} for {ndim} dimensions; use 'coo', or a matrix"
        raise LayoutError(message, "sparse-format")
    return format
