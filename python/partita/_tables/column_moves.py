"""Moving columns: all lanes of one element type in one plan, then the bytes of text.

Rectangles of rows and columns say who has what. Lanes move as arrays of two dimensions. Bytes of
text move as one long row, column after column: the ranks first tell each other how many bytes lie
between two cuts of rows, so that each knows where in that row every rectangle begins.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._partita import Layout, plan
from partita._tables.columns import NO_BYTES, Codec, Encoded

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._team.team import Team

Numbers = np.ndarray[Any, Any]
Box = tuple[tuple[int, ...], tuple[int, ...]]
Boxes = list[Box]


class Rectangle(NamedTuple):
    """Rows and columns that lie in one place."""

    row: int
    n_rows: int
    column: int
    n_columns: int

    def span(self, columns: Sequence[int]) -> tuple[int, int]:
        """Which of some columns, given in order, lie inside: from, to."""
        last = self.column + self.n_columns
        return bisect_left(columns, self.column), bisect_left(columns, last)

    def of(self, codecs: Sequence[Codec]) -> Sequence[Codec]:
        """The codecs of its columns."""
        return codecs[self.column : self.column + self.n_columns]


# What every rank has.
Rectangles = dict[int, list[Rectangle]]
Columns = list[Encoded]


class ColumnMoves(NamedTuple):
    """A table's columns on their way from some rectangles to others."""

    codecs: Sequence[Codec]
    n_rows: int
    source: Rectangles
    target: Rectangles
    team: Team

    def moved(self, sent: list[Columns]) -> list[Columns]:
        """The columns of this rank's target rectangles. Collective."""
        lanes = self._move_lanes(sent)
        rows = self._move_rows(sent)
        return [
            [Encoded(lane, row) for lane, row in zip(*one, strict=True)]
            for one in zip(lanes, rows, strict=True)
        ]

    @property
    def _wanted(self) -> list[Rectangle]:
        return self.target.get(self.team.rank, [])

    @property
    def _given(self) -> list[Rectangle]:
        return self.source.get(self.team.rank, [])

    def _move_lanes(self, sent: list[Columns]) -> list[list[list[Numbers]]]:
        """Lanes of every column of every target rectangle."""
        slots: dict[str, list[tuple[int, int]]] = {}
        for column, codec in enumerate(self.codecs):
            for lane, kind in enumerate(codec.lanes):
                slots.setdefault(kind, []).append((column, lane))
        got = [
            [[NO_BYTES] * len(codec.lanes) for codec in wanted.of(self.codecs)]
            for wanted in self._wanted
        ]
        for kind, lanes in slots.items():
            columns = [column for column, _ in lanes]
            own = []
            for held, encoded in zip(self._given, sent, strict=True):
                first, last = held.span(columns)
                own.append(np.empty((held.n_rows, last - first), dtype=kind))
                for at, (column, lane) in enumerate(lanes[first:last]):
                    own[-1][:, at] = encoded[column - held.column].lanes[lane]
            extent = (self.n_rows, len(lanes))
            source, target = (
                {rank: [_lane_box(one, columns) for one in has] for rank, has in side.items()}
                for side in (self.source, self.target)
            )
            arrays = moved(extent, source, target, kind, own, self.team)
            for wanted, array, into in zip(self._wanted, arrays, got, strict=True):
                first, last = wanted.span(columns)
                for at, (column, lane) in enumerate(lanes[first:last]):
                    into[column - wanted.column][lane] = array[:, at]
        return got

    def _move_rows(self, sent: list[Columns]) -> list[list[Numbers]]:
        """Bytes of every column of every target rectangle; none where it has no text."""
        columns = [at for at, codec in enumerate(self.codecs) if codec.has_text]
        got = [[NO_BYTES] * wanted.n_columns for wanted in self._wanted]
        if not columns:
            return got
        marks = self._marks(sent, columns)
        source, target = (
            {rank: [box for one in has for box in marks.boxes(one)] for rank, has in side.items()}
            for side in (self.source, self.target)
        )
        own = [
            encoded[column - held.column].row
            for held, encoded in zip(self._given, sent, strict=True)
            for column in columns[slice(*held.span(columns))]
        ]
        rows = iter(moved((marks.n_bytes,), source, target, "uint8", own, self.team))
        for wanted, into in zip(self._wanted, got, strict=True):
            for column in columns[slice(*wanted.span(columns))]:
                into[column - wanted.column] = next(rows)
        return got

    def _marks(self, sent: list[Columns], columns: list[int]) -> _Marks:
        """Where in the long row the bytes between two cuts begin, for all ranks. Collective."""
        sides = [*self.source.values(), *self.target.values()]
        ends = {end for has in sides for one in has for end in (one.row, one.row + one.n_rows)}
        cuts = sorted(ends | {0, self.n_rows})
        place = {row: at for at, row in enumerate(cuts)}
        own = []
        for held, encoded in zip(self._given, sent, strict=True):
            first, last = held.span(columns)
            here = cuts[place[held.row] : place[held.row + held.n_rows] + 1]
            own.append(np.empty((len(here) - 1, last - first), dtype=np.int64))
            for at, column in enumerate(columns[first:last]):
                lengths = encoded[column - held.column].lanes[0]
                ends_of_rows = np.concatenate([[0], np.cumsum(np.maximum(lengths, 0))])
                own[-1][:, at] = np.diff(ends_of_rows[np.array(here) - held.row])
        extent = (len(cuts) - 1, len(columns))
        source = {
            rank: [_mark_box(one, columns, place) for one in has]
            for rank, has in self.source.items()
        }
        everyone: dict[int, Boxes] = {rank: [((0, 0), extent)] for rank in range(self.team.size)}
        (n_bytes,) = moved(extent, source, everyone, "int64", own, self.team)
        starts = np.concatenate([[0], np.cumsum(n_bytes.T.ravel())])
        return _Marks(columns, place, starts.astype(np.int64))


class _Marks(NamedTuple):
    """Where the bytes of a column begin at a cut of rows."""

    columns: list[int]  # those with text
    place: dict[int, int]  # of a cut, by its row
    starts: Numbers  # by column, then by cut

    @property
    def n_bytes(self) -> int:
        return int(self.starts[-1])

    def boxes(self, one: Rectangle) -> Boxes:
        """The stretch of bytes of each column of a rectangle."""
        n_cuts = len(self.place) - 1
        found: Boxes = []
        for at in range(*one.span(self.columns)):
            first = int(self.starts[at * n_cuts + self.place[one.row]])
            last = int(self.starts[at * n_cuts + self.place[one.row + one.n_rows]])
            found.append(((first,), (last - first,)))
        return found


def _lane_box(one: Rectangle, columns: list[int]) -> Box:
    first, last = one.span(columns)
    return (one.row, first), (one.n_rows, last - first)


def _mark_box(one: Rectangle, columns: list[int], place: dict[int, int]) -> Box:
    first, last = one.span(columns)
    start, end = place[one.row], place[one.row + one.n_rows]
    return (start, first), (end - start, last - first)


def moved(
    extent: tuple[int, ...],
    source: dict[int, Boxes],
    target: dict[int, Boxes],
    dtype: str,
    own: list[Numbers],
    team: Team,
) -> list[Numbers]:
    """This rank's target boxes, filled by a plan."""
    with team:
        before, after = (
            Layout.from_boxes(extent, list(side.values()), ranks=list(side))
            for side in (source, target)
        )
        moves = plan(before, after, dtype)
    filled = moves.apply(own, team)
    if filled is None:
        return []
    return filled if isinstance(filled, list) else [filled]
