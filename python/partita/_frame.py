"""Tables spread over a team: a frame in, a frame out.

A frame is cut into rows and columns like any array of two dimensions. To move it, its columns are
grouped by element type, and each group moves as an array with a plan of its own; row labels move
like one more column. Column labels are few, and every rank knows all of them.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

import numpy as np

from partita import _joint
from partita._array import Array
from partita._columns import Codec, codec_of
from partita._errors import ProtocolError
from partita._partita import Block, Layout, Whole, plan
from partita._run import apply

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._partita import Piece
    from partita._team import Team

Table = Any
Box = tuple[tuple[int, ...], tuple[int, ...]]


class Frame(Array):
    """A table of which every rank of a team holds rows, columns or tiles."""

    def __init__(
        self,
        tables: Sequence[Table],
        layout: Layout,
        team: Team,
        columns: Sequence[Any],
        codecs: Sequence[Codec],
        index: Codec,
        *,
        reasons: Sequence[str] | None = None,
    ) -> None:
        plain = {codec.dtype for codec in codecs}
        dtype = plain.pop() if len(plain) == 1 else object
        super().__init__(tables, layout, team, dtype, reasons=reasons)
        self._columns, self._codecs, self._index = list(columns), list(codecs), index

    @property
    def columns(self) -> list[Any]:
        """Labels of all columns."""
        return list(self._columns)

    @property
    def owned(self) -> Any:
        """This rank's table."""
        return self.local

    @property
    def pieces(self) -> list[tuple[Piece, Any]]:
        """One (piece, table) pair per piece that this rank holds."""
        pairs: list[tuple[Piece, Any]] = []
        if not self._has_part(self._layout):
            return pairs
        for piece in self._layout.pieces(self._team.rank):
            cut = zip(piece.local_start, piece.shape, strict=True)
            box = tuple(slice(start, start + length) for start, length in cut)
            pairs.append((piece, self._view(piece.buffer, box)))
        return pairs

    def _view(self, buffer: int, box: tuple[slice, ...]) -> Any:
        tables: list[Any] = self._buffers
        return tables[buffer].iloc[box]

    def redistribute(self, layout: Layout, *, out: Any = None) -> Frame:
        """The same table in another layout. Collective."""
        if out is not None:
            raise ProtocolError("a table cannot be written into; leave out= away", "frame-out")
        parts: dict[Codec, list[Any]] = {}
        for codec, columns in self._groups().items():
            source, target = _boxes(self._layout, columns, codec), _boxes(layout, columns, codec)
            own = [
                codec.encode(table.iloc[:, _local(piece, columns)]) for piece, table in self.pieces
            ]
            parts[codec] = _moved(source, target, own, self._team, codec)
        labels = self._moved_labels(layout)
        tables = self._assembled(layout, parts, labels) if self._has_part(layout) else []
        moved = (self._columns, self._codecs, self._index)
        return Frame(tables, layout, self._team, *moved)

    def _has_part(self, layout: Layout) -> bool:
        return self._team.rank in layout.ranks

    def _groups(self) -> dict[Codec, list[int]]:
        """Columns by element type, in an order that all ranks find alike."""
        groups: dict[Codec, list[int]] = {}
        for number, codec in enumerate(self._codecs):
            groups.setdefault(codec, []).append(number)
        return groups

    def _moved_labels(self, layout: Layout) -> dict[int, Any]:
        """Row labels of this rank's target pieces, by the first row of each."""
        source, own = _rows(self._layout, self._team.rank)
        target, wanted = _rows(layout, self._team.rank)
        tables = {piece.start[0]: table for piece, table in self.pieces} if own else {}
        sent = [self._index.encode_labels(tables[start].index) for start in own]
        got = _moved(
            _lines(source, self.shape[0], self._index),
            _lines(target, self.shape[0], self._index),
            sent,
            self._team,
            self._index,
        )
        return dict(zip(wanted, got, strict=True))

    def _assembled(
        self, layout: Layout, parts: dict[Codec, list[Any]], labels: dict[int, Any]
    ) -> list[Table]:
        """This rank's tables from the pieces of each group."""
        from pandas import DataFrame, Index, Series  # type: ignore[import-untyped]

        rank, groups = self._team.rank, self._groups()
        tables = []
        for number in range(layout.n_buffers(rank)):
            _, n_columns = layout.local_shape(rank, buffer=number)
            values: list[Any] = [[] for _ in range(n_columns)]
            numbers = _column_numbers(layout, rank, number)
            index: dict[int, Any] = {}
            for at, piece in enumerate(layout.pieces(rank)):
                if piece.buffer != number:
                    continue
                index[piece.local_start[0]] = labels[piece.start[0]]
                for codec, columns in groups.items():
                    for place, column in enumerate(_inside(piece, columns)):
                        local = piece.local_start[1] + column - piece.start[1]
                        decoded = codec.decode(parts[codec][at][:, place])
                        values[local].append((piece.local_start[0], decoded))
            rows = [index[start] for start in sorted(index)]
            stored = self._index.decode(np.concatenate(rows)) if rows else []
            labels_of_rows = Index(stored, name=self._index.name, dtype=self._index.given or None)
            data = {}
            for at, column in enumerate(numbers):
                codec = self._codecs[column]
                joined = _joined(values[at], codec)
                data[at] = Series(joined, labels_of_rows, codec.given or None)
            table = DataFrame(data, index=labels_of_rows)
            table.columns = Index([self._columns[column] for column in numbers])
            tables.append(table)
        return tables

    def gather(self, root: int | None = None) -> Any:
        """The whole table on every rank, or on one; None elsewhere. Collective."""
        whole = [Whole(), Whole()]
        if root is None:
            target = Layout(self.shape, whole, grid=(1, 1, self._team.size))
        else:
            target = Layout(self.shape, whole, ranks=[root])
        tables = self.redistribute(target)._buffers
        return tables[0] if tables else None

    def exchange_halo(self) -> Frame:
        """Nothing to fill: tables have no halos."""
        return self

    def __distarray__(self) -> dict[str, Any]:
        """Refused: the protocol hands over buffers of one element type."""
        message = "a table is no buffer of one element type; use __partitioned__"
        raise ProtocolError(message, "frame-distarray")


def _joined(own: list[tuple[int, Any]], codec: Codec) -> Any:
    """The stretches of one column, in the order of the buffer."""
    stretches = [values for _, values in sorted(own, key=lambda one: one[0])]
    if not stretches:
        return codec.decode(np.empty((0, *codec.tail), dtype=codec.dtype))
    return stretches[0] if len(stretches) == 1 else np.concatenate(stretches)


def _column_numbers(layout: Layout, rank: int, buffer: int) -> list[int]:
    """The columns of a rank's table, in its order."""
    if len(layout.pieces(rank)) == 0 and layout.maps is not None:
        # Without rows there are no pieces to ask; with as many rows as ranks there are.
        probe = [Block(), layout.maps[1]]
        shape, grid = (layout.n_ranks, layout.shape[1]), layout.grid_shape
        layout = Layout(shape, probe, grid=grid, ranks=list(layout.ranks))
    found: dict[int, int] = {}
    for piece in layout.pieces(rank):
        if piece.buffer == buffer:
            for at in range(piece.shape[1]):
                found[piece.local_start[1] + at] = piece.start[1] + at
    return [found[at] for at in sorted(found)]


def _inside(piece: Piece, columns: list[int]) -> list[int]:
    """The columns of a group that a piece has."""
    first, last = piece.start[1], piece.start[1] + piece.shape[1]
    return columns[bisect_left(columns, first) : bisect_left(columns, last)]


def _local(piece: Piece, columns: list[int]) -> list[int]:
    return [column - piece.start[1] for column in _inside(piece, columns)]


def _boxes(layout: Layout, columns: list[int], codec: Codec) -> Layout:
    """The layout of the columns of a group, counted among themselves."""
    per_rank = []
    for rank in layout.ranks:
        boxes: list[Box] = []
        for piece in layout.pieces(rank):
            inside = _inside(piece, columns)
            first = bisect_left(columns, piece.start[1])
            start, shape = (piece.start[0], first), (piece.shape[0], len(inside))
            boxes.append((start + codec.tail_start, shape + codec.tail))
        per_rank.append(boxes)
    whole = (layout.shape[0], len(columns), *codec.tail)
    return Layout.from_boxes(whole, per_rank, ranks=list(layout.ranks))


def _rows(layout: Layout, rank: int) -> tuple[dict[int, dict[int, int]], list[int]]:
    """Stretches of rows of every rank (first row to length), and those of this one."""
    lines = {
        other: {piece.start[0]: piece.shape[0] for piece in layout.pieces(other)}
        for other in layout.ranks
    }
    return lines, list(lines.get(rank, ()))


def _lines(rows: dict[int, dict[int, int]], n_rows: int, codec: Codec) -> Layout:
    boxes = [
        [((start, *codec.tail_start), (length, *codec.tail)) for start, length in own.items()]
        for own in rows.values()
    ]
    return Layout.from_boxes((n_rows, *codec.tail), boxes, ranks=list(rows))


def _moved(source: Layout, target: Layout, own: list[Any], team: Team, codec: Codec) -> list[Any]:
    moved = apply(plan(source, target, codec.dtype.name), own, team, None)
    if moved is None:
        return []
    return moved if isinstance(moved, list) else [moved]


def from_tables(raw: list[Table], layout: Layout, team: Team) -> Frame:
    """A frame from this rank's tables, once all ranks agree on its columns. Collective."""
    problems: list[_joint.Problem] = []
    told: list[Any] = []
    own: Any = layout.pieces(team.rank) if team.rank in layout.ranks else []
    try:
        for piece, table in zip(own, raw, strict=True):
            told.append(_described(piece, table))
    except ProtocolError as error:
        problems = _joint.problem_of(error)
    shared = _joint.share(team, problems, told, "__partitioned__")
    labels: dict[int, Any] = {}
    codecs: dict[int, Codec] = {}
    index: Codec | None = None
    for first, names, words, row_words in (one for rank in shared for one in rank):
        index = Codec.widest(index, Codec.read(row_words), "the row labels")
        for at, (name, word) in enumerate(zip(names, words, strict=True), first):
            if labels.setdefault(at, name) != name:
                message = f"column {at} is called {labels[at]!r} and {name!r}; use one name"
                raise ProtocolError(message, "frame-columns")
            codecs[at] = Codec.widest(codecs.get(at), Codec.read(word), f"column {name!r}")
    order = range(layout.shape[1])
    if index is None or any(at not in codecs for at in order):
        message = "some columns have no rows on any rank, so their type is unknown; add a row"
        raise ProtocolError(message, "frame-columns")
    names = [labels[at] for at in order]
    reasons = [""] * len(raw)
    return Frame(raw, layout, team, names, [codecs[at] for at in order], index, reasons=reasons)


def _described(piece: Piece, table: Table) -> tuple[int, list[Any], list[Any], Any]:
    """First column, labels, element types, and the type of the row labels."""
    if tuple(table.shape) != piece.shape:
        message = f"a table of {table.shape} in a partition of {piece.shape}; make them equal"
        raise ProtocolError(message, "data-shape")
    names = [_plain_label(name) for name in table.columns]
    words = [codec_of(table.iloc[:, at], names[at]).words() for at in range(len(names))]
    row_words = codec_of(table.index, table.index.name).words()
    return piece.start[1], names, words, row_words


def _plain_label(label: Any) -> Any:
    if isinstance(label, np.generic):
        label = label.item()
    if not isinstance(label, str | int | float | bool):
        message = f"column label {label!r} is a {type(label).__name__}; use text or numbers"
        raise ProtocolError(message, "frame-columns")
    return label
