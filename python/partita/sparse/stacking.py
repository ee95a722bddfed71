"""Matrices beside and below each other, in one matrix: as SciPy's functions of these names.

>>> import partita as pt
>>> a, b = pt.sparse.eye(2), pt.sparse.diags([2.0], shape=(2, 1))
>>> print(pt.sparse.block_array([[a, b], [b.T, None]]).gather().toarray())
[[1. 0. 2.]
 [0. 1. 0.]
 [2. 0. 0.]]

Entries travel to whoever holds their place in the whole. Nothing is kept where it lies: what is
stacked has other rows than its parts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._args import is_listed, shown
from partita._array.array import Array
from partita._errors import LayoutError
from partita._team.spmd import own_team
from partita.sparse.agreement import agreed
from partita.sparse.base import Base
from partita.sparse.block import Block, checked_format
from partita.sparse.elements import number_words
from partita.sparse.generators import made, own_numbers
from partita.sparse.kinds import checked_dtype
from partita.sparse.outside import block_of, is_foreign
from partita.sparse.slices import check_extents
from partita.sparse.teams import on_team
from partita.sparse.telling import telling
from partita.sparse.tensor import DistTensor

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from partita._team.team import Team

Local = np.ndarray[Any, Any]


@dataclass
class Part:
    """One matrix, and where it begins in the whole."""

    given: Any
    starts: tuple[int, int] = (0, 0)

    @property
    def sides(self) -> tuple[int, int]:
        """Its extents; a vector is a row."""
        n_rows, n_columns = (1, *self.given.shape)[-2:]
        return n_rows, n_columns

    @property
    def format(self) -> str:
        """How it lies in memory; dense ones are lists of their entries."""
        return str(getattr(self.given, "format", "coo"))

    @property
    def words(self) -> str:
        """What ranks compare of it."""
        if isinstance(self.given, Base):
            return self.given._words
        if isinstance(self.given, np.ndarray) and self.given.size == 1:
            return f"{number_words(self.given.reshape(-1)[0])} at {self.starts}"
        return f"{self.given.dtype} of shape {self.given.shape} in {self.format} at {self.starts}"

    def entries(self, team: Team) -> tuple[list[Local], Local]:
        """Coordinates in the whole, and values, of what this rank gives. Collective."""
        tensor = self.given
        if isinstance(tensor, Array):
            tensor = DistTensor.from_dense(tensor, team=team)
        if isinstance(tensor, Base):
            owned: Any = on_team(tensor, team)
            coords, values = owned._own_entries()
        else:
            coords, values = _share(tensor, team)
        if len(coords) == 1:
            coords = [np.zeros(len(values), np.int64), *coords]
        pairs = zip(coords, self.starts, strict=True)
        return [one.astype(np.int64) + start for one, start in pairs], values


@dataclass
class Whole:
    """All parts, and the extents of what they make."""

    parts: list[Part]
    shape: tuple[int, int]

    def format(self, asked: str | None, default: str | None) -> str:
        """The format that is asked for; else the one that all parts have, or COO."""
        if asked is None:
            formats = {one.format for one in self.parts}
            common = formats.pop() if len(formats) == 1 else "coo"
            asked = default or (common if common in ("csr", "csc") else "coo")
        return checked_format(asked, 2)


@telling
def block_array(
    blocks: Any,
    *,
    format: str | None = None,
    dtype: Any = None,
    team: Team | None = None,
    **where: Any,
) -> DistTensor:
    """Return a matrix of rows of matrices; None is one of zeros. Collective.

    They are sparse tensors, SciPy's matrices and NumPy's arrays, which every rank has whole, and
    arrays of partita. `dist=`, `grid=` or `layout=` say where the result lies: in even blocks of
    rows if none does.
    """
    rows = _rows(blocks)
    return _stacked("block_array", rows, lambda: _grid(rows), (format, None, dtype), team, where)


@telling
def hstack(
    blocks: Any,
    format: str | None = None,
    dtype: Any = None,
    *,
    team: Team | None = None,
    **where: Any,
) -> DistTensor:
    """Return a matrix of matrices beside each other. Collective."""
    rows = [_listed(blocks)]
    return _stacked("hstack", rows, lambda: _grid(rows), (format, None, dtype), team, where)


@telling
def vstack(
    blocks: Any,
    format: str | None = None,
    dtype: Any = None,
    *,
    team: Team | None = None,
    **where: Any,
) -> DistTensor:
    """Return a matrix of matrices below each other. Collective."""
    rows = [[one] for one in _listed(blocks)]
    return _stacked("vstack", rows, lambda: _grid(rows), (format, None, dtype), team, where)


@telling
def block_diag(
    mats: Any,
    format: str | None = None,
    dtype: Any = None,
    *,
    team: Team | None = None,
    **where: Any,
) -> DistTensor:
    """Return a matrix of matrices along its diagonal, in COO if no format is named. Collective."""
    rows = [_listed(mats)]
    return _stacked(
        "block_diag", rows, lambda: _steps(rows[0]), (format, "coo", dtype), team, where
    )


def _listed(given: Any) -> list[Any]:
    """What a list holds; whatever is none becomes one that is refused when ranks meet."""
    return list(given) if is_listed(given) and not isinstance(given, Base) else [given]


def _rows(blocks: Any) -> list[list[Any]]:
    return [_listed(row) for row in _listed(blocks)]


def _stacked(
    call: str,
    rows: Sequence[Sequence[Any]],
    arrange: Callable[[], Whole],
    how: tuple[str | None, str | None, Any],
    team: Team | None,
    where: dict[str, Any],
) -> DistTensor:
    """The matrix of parts, in a format (asked for, and usual) and an element type. Collective."""
    team = _team_of(rows) if team is None else team

    def look() -> tuple[tuple[Whole, str, np.dtype[Any]], dict[str, Any], None]:
        asked, default, dtype = how
        whole = arrange()
        check_extents(whole.shape)
        wanted = whole.format(asked, default)
        kind = checked_dtype(_type_of(whole.parts) if dtype is None else dtype)
        words = [one.words for one in whole.parts]
        facts = {"the shape": whole.shape, "the format": wanted, "the element type": kind.name}
        return (whole, wanted, kind), {**facts, "the blocks": words}, None

    (whole, format, kind), _ = agreed(team, f"sparse.{call}", look)
    found = [one.entries(team) for one in whole.parts]
    coords = [_joined([places[dim] for places, _ in found], np.dtype(np.int64)) for dim in (0, 1)]
    values = _joined([data for _, data in found], kind)
    return made(whole.shape, coords, values, team, format, where)


def _joined(lists: Sequence[Local], kind: np.dtype[Any]) -> Local:
    return np.concatenate([np.empty(0, kind), *(one.astype(kind, copy=False) for one in lists)])


def _team_of(rows: Sequence[Sequence[Any]]) -> Team:
    """The team of the first part that has one; else this rank's."""
    spread = (one for row in rows for one in row if isinstance(one, Base | Array))
    first = next(spread, None)
    return own_team(None) if first is None else first.team


def _type_of(parts: Sequence[Part]) -> np.dtype[Any]:
    kinds = [one.given.dtype for one in parts]
    return np.result_type(*kinds) if kinds else np.dtype(np.float64)


def _matrix(given: Any, at: str) -> Part:
    """A part, if it is a matrix or a vector of numbers."""
    if isinstance(given, Base | Array):
        part = Part(given)
    elif is_foreign(given):
        part = Part(block_of(given))
    else:
        part = Part(np.atleast_2d(np.asarray(given)))
    if len(part.given.shape) not in (1, 2):
        message = f"{at} of shape {tuple(part.given.shape)}; use matrices"
        raise LayoutError(message, "sparse-blocks")
    if part.given.dtype.kind not in "biufc":
        message = f"{at} is {shown(given)}; use a sparse tensor, a matrix of numbers, or None"
        raise LayoutError(message, "sparse-blocks")
    return part


def _grid(rows: Sequence[Sequence[Any]]) -> Whole:
    """Parts in rows and columns, whose extents fit."""
    widths = {len(row) for row in rows}
    if len(widths) != 1 or 0 in widths:
        message = f"rows of {sorted(len(row) for row in rows)} blocks"
        raise LayoutError(f"{message}; give as many in each, one at least", "sparse-blocks")
    heights: dict[int, int] = {}
    lengths: dict[int, int] = {}
    found: list[tuple[int, int, Part]] = []
    for i, row in enumerate(rows):
        for j, given in enumerate(row):
            if given is None:
                continue
            part = _matrix(given, f"blocks[{i},{j}]")
            for sides, number, extent, what in (
                (heights, i, part.sides[0], "rows"),
                (lengths, j, part.sides[1], "columns"),
            ):
                wanted = sides.setdefault(number, extent)
                if extent != wanted:
                    message = f"blocks[{i},{j}] has {extent} {what} beside others of {wanted}"
                    raise LayoutError(f"{message}; use as many {what}", "sparse-blocks")
            found.append((i, j, part))
    tops, n_rows = _starts(heights, len(rows))
    lefts, n_columns = _starts(lengths, widths.pop())
    for i, j, part in found:
        part.starts = (tops[i], lefts[j])
    return Whole([part for _, _, part in found], (n_rows, n_columns))


def _starts(sides: dict[int, int], n: int) -> tuple[list[int], int]:
    """Where each begins, and where the last ends; rows of zeros alone have no extent."""
    # As numbers of Python: sums of NumPy's may be negative.
    ends = list(accumulate((sides.get(at, 0) for at in range(n)), initial=0))
    return ends[:-1], ends[-1]


def _steps(mats: Sequence[Any]) -> Whole:
    """Parts each of which begins where the one before ends."""
    parts = [_matrix(given, f"mats[{at}]") for at, given in enumerate(mats)]
    n_rows = n_columns = 0
    for one in parts:
        one.starts = (n_rows, n_columns)
        n_rows, n_columns = n_rows + one.sides[0], n_columns + one.sides[1]
    return Whole(parts, (n_rows, n_columns))


def _share(given: Block | Local, team: Team) -> tuple[list[Local], Local]:
    """What this rank gives of the entries of a matrix that every rank has whole."""
    if isinstance(given, Block):
        coords, values = given.all_coords(), given.data
    else:
        coords = list(np.nonzero(given))
        values = given[tuple(coords)]
    first, end = own_numbers(len(values), team)
    return [one[first:end] for one in coords], values[first:end]
