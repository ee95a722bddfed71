"""Which rows a rank asks for: any of all ranks' rows, in any order, some repeatedly."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._args import shown
from partita._errors import LayoutError
from partita._local import sparse
from partita._team.together import together
from partita.sparse.access import access_of
from partita.sparse.agreement import OfOneTensor
from partita.sparse.asking import Asked
from partita.sparse.base import Base
from partita.sparse.block import Block, read_only
from partita.sparse.carrying import Carried, entries_of
from partita.sparse.kinds import checked_dtype
from partita.sparse.outside import is_foreign
from partita.sparse.reading import Reading, Wanted
from partita.sparse.replicas import summed_over_holders
from partita.sparse.rowwise import rowwise

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._keeper import Keeper
    from partita._local.sparse import Csr
    from partita._team.team import Team
    from partita.sparse.access import Access

Local = np.ndarray[Any, Any]


class RowPlan:
    """Rows that this rank wants of a matrix, planned once: `rows(t)` brings them.

    Made by `t.plan_rows(indices)`. It serves all matrices of `t`'s pattern.
    """

    def __init__(self, tensor: Base, indices: Any) -> None:
        self._pattern = tensor._plans
        self._shape = tensor.shape
        source = rowwise(tensor)
        # Where rows are read in place, and what they were when they were planned: `set_slice` may
        # give the one other entries.
        self._live, self._source = source, source._same()
        self._wanted, problem = _located(source, indices)
        self._way: _Way | None = None
        self._reading: Reading | None = None
        is_read, self._access = _is_read(source), access_of(source)
        if is_read:
            self._reading = Reading(source, self._wanted)
            lines = self._reading.lines(problem)
        else:
            self._way = _Way(self._source, self._wanted, problem, self._access)
            lines = self._way.ordered(self._way.carried.first)
        self._indptr, self._indices = lines[:2]
        self._first: Local | None = lines[2]

    @property
    def shape(self) -> tuple[int, int]:
        """How many rows it brings, and their length."""
        return len(self._indptr) - 1, self._shape[1]

    def __call__(self, tensor: Base) -> Any:
        """Return the rows of a matrix of the same pattern, as a SciPy array. Collective.

        Its coordinates are the plan's, and read only.
        """
        values = self.block(tensor).data
        lines = (read_only(self._indptr), read_only(self._indices), values)
        return Block.of_lines(self.shape, "csr", lines).to_scipy()

    def block(self, tensor: Base) -> Block:
        """Return the rows of a matrix of the same pattern. Collective."""
        check_planned(tensor, self._pattern, self._source.team)
        with OfOneTensor("planned rows of", tensor):
            return self._brought(tensor)

    def _brought(self, tensor: Base) -> Block:
        if tensor is self._live and _is_read(tensor):
            return self._block(self._read())
        source = self._source if tensor.dtype == self._source.dtype else None
        if source is None or source._block.data is not tensor._block.data:
            source = rowwise(tensor)
        way = self._there()
        self._access.count(way.n_rows_between)
        values = way.carried.values(source._block.data, f"rows of {tensor._words}")
        return self._block(way.ordered(values)[2])

    def _read(self) -> Local:
        """Values read where they are. Collective."""
        if self._reading is None:
            self._reading = Reading(self._live, self._wanted)
        return self._reading.values()

    def _there(self) -> _Way:
        """How rows travel, planned when they first do. Collective."""
        if self._way is None:
            self._way = _Way(self._source, self._wanted, None, self._access)
        return self._way

    def first(self) -> Block:
        """Return the rows that came when they were planned; once."""
        values, self._first = self._first, None
        assert values is not None
        return self._block(values)

    def pattern(self) -> Block:
        """Return where entries come, without values."""
        return self._block(np.empty(len(self._indices), bool))

    def adjoint(self, rows: Any) -> Any:
        """Return a matrix in which each rank's rows are added to where they come from. Collective.

        `rows` are values in the order of what `rows(t)` gives, or a SciPy array of its pattern.
        """
        return self.added_back(lambda: self.checked(rows))

    def added_back(self, values: Callable[[], Local]) -> Any:
        """Return the adjoint of what a function gives: this rank's values, or an error of all."""
        team = self._source.team
        given = together(team, values, "DistTensor rows adjoint", self._source._words)
        # All ranks compute with one type, though each has an array of its own.
        names = (
            team.gather_inside("types of rows", given.dtype.name)
            if team.size > 1
            else [given.dtype.name]
        )
        given = given.astype(np.result_type(*map(np.dtype, names)), copy=False)
        own = np.zeros(self._source._block.nnz, given.dtype)
        way = self._there()
        way.carried.add_back(way.as_came(given), own)
        return self._source._revalued(summed_over_holders(self._source, own), "rows.adjoint")

    def checked(self, rows: Any) -> Local:
        """Return values of rows, if there is one for each entry that came."""
        n = len(self._indices)
        if is_foreign(rows) and hasattr(rows, "indices"):
            same = rows.shape == self.shape and np.array_equal(rows.indices, self._indices)
            if not (same and np.array_equal(rows.indptr, self._indptr)):
                message = "rows of another pattern than those that came; give their values"
                raise ValueError(f"{message} in the same places")
            rows = rows.data
        values = np.asarray(rows)
        if values.dtype.kind not in "biufc":
            message = f"a {type(rows).__name__} as rows; give numbers, one for each entry that came"
            raise LayoutError(f"{message}, or a SciPy array of their pattern", "sparse-type")
        checked_dtype(values.dtype)
        values = np.ascontiguousarray(values)
        if values.shape != (n,):
            raise ValueError(f"values of shape {values.shape} for {n} entries; give one for each")
        return values

    def _block(self, values: Local) -> Block:
        lines = (self._indptr, self._indices, values)
        return Block.of_lines(self.shape, "csr", lines)


def check_planned(tensor: Any, pattern: Keeper, team: Team) -> None:
    """Refuse what is no tensor of the pattern that rows were planned for; the others are told."""
    if not isinstance(tensor, Base):
        message = f"rows of a {type(tensor).__name__}; give a DistTensor of the planned pattern"
        raise team.told(LayoutError(message, "sparse-type"))
    if tensor._plans is not pattern:
        problem = "rows were planned for another pattern; use plan_rows of this tensor"
        raise tensor.team.told(ValueError(problem))


class _Way:
    """Rows that travel from their owners, and values that travel back."""

    def __init__(
        self, source: Base, wanted: Wanted, problem: IndexError | None, access: Access
    ) -> None:
        words = f"of {source._words}"
        asked = Asked(source.team, wanted.owners, wanted.places, problem, words=words)
        self.carried = Carried(asked, source._block.lines, source._words)
        counts = asked.routes.counts
        self.n_rows_between = sum(
            n for at, row in enumerate(counts) for to, n in enumerate(row) if at != to
        )
        access.count(self.n_rows_between)
        # Where each row is among those that came.
        self._order = _inverse(asked.order)

    def ordered(self, values: Local) -> Csr:
        """Return the rows that came, in the order in which they were asked for."""
        came = (self.carried.indptr, self.carried.indices, values)
        return came if self._order is None else sparse.taken_rows(*came, self._order)

    def as_came(self, values: Local) -> Local:
        """Return values in the order in which their rows came."""
        if self._order is None:
            return values
        found = np.empty_like(values)
        found[entries_of(self.carried.indptr, self._order)] = values
        return found


def _is_read(tensor: Base) -> bool:
    """Whether all ranks read rows where they are, which may begin now. Collective."""
    access = access_of(tensor)
    if access.is_to_copy:
        access.copy(tensor)
    return access.is_read


def _inverse(order: Local | None) -> Local | None:
    if order is None:
        return None
    found = np.empty(len(order), np.int64)
    found[order] = np.arange(len(order))
    return found


def _located(source: Base, indices: Any) -> tuple[Wanted, IndexError | None]:
    """Return the owners of rows, where they are there, and what is wrong with them."""
    n_rows, slices = source.shape[0], source._slices
    owners: Local
    starts: Local | None
    if slices.is_straight(0):
        owners, starts = np.array([source.team.rank]), np.zeros(1, np.int64)
    else:
        owners, starts = source._plans.kept("owners of rows", lambda: _owners_of_rows(source))
    if starts is not None and _is_plain(indices):
        found = sparse.located(indices, n_rows, starts, owners)
        if found is not None:
            return Wanted(*found), None
    try:
        wanted = positions(indices, n_rows)
    except IndexError as problem:
        none = np.empty(0, np.int64)
        return Wanted(none, none, []), problem
    if starts is None:
        parts, places = slices.places(0, wanted)
        return Wanted.of(owners[parts], places), None
    found = sparse.located(wanted, n_rows, starts, owners)
    assert found is not None
    return Wanted(*found), None


def _is_plain(indices: Any) -> bool:
    """Whether indices are numbers as loops want them."""
    if type(indices) is not np.ndarray or indices.ndim != 1 or indices.dtype != np.int64:
        return False
    flags = indices.flags
    return bool(flags.c_contiguous and flags.aligned)


def _owners_of_rows(source: Base) -> tuple[Local, Local | None]:
    """The rank to ask for each part of the rows, and where each begins, if parts lie in order."""
    slices, rank = source._slices, source.team.rank
    parts = range(slices.counts[0])
    owners = np.array([slices.owner((part, 0)) for part in parts])
    # Of ranks that hold the same rows, this one asks itself.
    owners[slices.slice_of(rank)[0]] = rank
    stretches = [slices.stretch(0, part) for part in parts]
    if None in stretches:
        return owners, None
    return owners, np.array([one[0] for one in stretches if one is not None])


def words_of(listed: Local) -> str:
    """What ranks compare of a list of indices that all must give alike."""
    number = zlib.crc32(np.ascontiguousarray(listed).view(np.uint8).data)
    return f"{len(listed)} indices ({number:08x})"


def positions(indices: Any, n: int) -> Local:
    """Return indices along a dimension of n entries from 0 on; a mask, or numbers as NumPy's."""
    if indices is None or isinstance(indices, slice):
        what = "None as an index" if indices is None else f"{indices} in a list of indices"
        raise IndexError(f"{what}; use a list of integers or a mask, or slices as in t[3:9]")
    given = np.atleast_1d(np.asarray(indices))
    if given.size == 0:
        return np.empty(0, np.int64)
    if given.ndim != 1 or given.dtype.kind not in "biu":
        raise _no_positions(indices, given, n)
    if given.dtype == bool:
        if len(given) != n:
            raise IndexError(f"a mask of {len(given)} for {n} entries; use one for each")
        return np.flatnonzero(given)
    # Looked at before they are converted: the largest ones would become negative.
    low, high = int(given.min()), int(given.max())
    if low < -n or high >= n:
        raise _outside(low if low < -n else high, n)
    wanted = given.astype(np.int64)
    if low < 0:
        wanted[wanted < 0] += n
    return wanted


def _outside(wrong: int, n: int) -> IndexError:
    if n == 0:
        return IndexError(f"index {shown(wrong)} where there are none; use an empty list")
    numbers = f"use numbers from {-n} to {n - 1}"
    return IndexError(f"index {shown(wrong)} where there are {n}; {numbers}")


def _no_positions(indices: Any, given: Local, n: int) -> IndexError:
    """What is wrong with indices of which NumPy makes no integers: some may be too long for it."""
    if isinstance(indices, int | list | tuple):
        listed = np.asarray(indices, object).reshape(-1).tolist()
        wrong = [one for one in listed if type(one) is int and not -n <= one < n]
        if wrong and all(isinstance(one, int) for one in listed):
            return _outside(wrong[0], n)
    what = f"indices of {given.dtype} in {given.ndim} dimensions"
    if np.ndim(indices) == 0:
        what = f"a {type(indices).__name__} as an index"
    return IndexError(f"{what}; use a list of integers or a mask")
