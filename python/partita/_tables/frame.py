"""Tables spread over a team: a frame in, a frame out.

A frame is cut into rows and columns like any array of two dimensions. Its columns are moved as
plain arrays and become what they were, with the same dtype; row labels move like one more column.
Labels of columns, dtypes and names are few, and every rank knows all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.array import Array
from partita._array.notation import layout_for
from partita._errors import LayoutError, ProtocolError
from partita._findings import share
from partita._partita import Block, Layout, Whole, a_layout
from partita._tables.column_moves import ColumnMoves, Rectangle, Rectangles
from partita._tables.columns import Codec, Encoded, codec_of
from partita._tables.schema import (
    ROW_LABELS,
    agreed,
    n_columns_of,
    parts_of,
    reason_of,
    told_in,
    told_of,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._partita import Partitions, Piece
    from partita._tables.schema import Schema
    from partita._team.team import Team

Table = Any


class Frame(Array):
    """A distributed table: every rank of a team holds rows, columns or tiles."""

    def __init__(
        self,
        tables: Sequence[Table],
        layout: Layout,
        team: Team,
        schema: Schema,
        *,
        reasons: Sequence[str] | None = None,
    ) -> None:
        dtypes = {codec.dtype for codec in schema.codecs}
        dtype = dtypes.pop() if len(dtypes) == 1 else object
        super().__init__(tables, layout, team, dtype, reasons=reasons)
        self._schema = schema

    @property
    def columns(self) -> list[Any]:
        """Labels of all columns."""
        return list(self._schema.columns)

    @property
    def nbytes(self) -> int:
        """Total size of the columns in bytes as they travel, each counted once, without text."""
        lanes = (lane for codec in self._schema.codecs for lane in codec.lanes)
        return self.shape[0] * sum(np.dtype(lane).itemsize for lane in lanes)

    @property
    def owned(self) -> Any:
        """This rank's part of the table."""
        return self.local

    def _view(self, buffer: Any, box: tuple[slice, ...]) -> Any:
        # A part is copied when it is written to; the table itself is the producer's.
        is_all = box == tuple(slice(0, length) for length in buffer.shape)
        return buffer if is_all else buffer.iloc[box]

    def redistribute(self, layout: Layout | str, *, out: Any = None) -> Frame:
        """Return the same table in another layout, given as one or by notation. Collective."""
        team = self._team
        with team:
            if out is not None:
                raise ProtocolError("a table cannot be written into; leave out= away", "frame-out")
            if isinstance(layout, str):
                layout = layout_for(self.shape, layout, team.size)
            check_layout(layout, self.shape)
            columns, labels = self._sent()
            source, target = _rectangles(self.layout), _rectangles(layout)
        n_rows, schema = self.shape[0], self._schema
        source_rows, target_rows = _rows_of(source), _rows_of(target)
        one_each = [[labels[one.row, one.n_rows]] for one in source_rows.get(team.rank, [])]
        moved = ColumnMoves([schema.rows], n_rows, source_rows, target_rows, team).moved(one_each)
        wanted = target_rows.get(team.rank, [])
        new_labels = {(w.row, w.n_rows): one for w, (one,) in zip(wanted, moved, strict=True)}
        parts = ColumnMoves(schema.codecs, n_rows, source, target, team).moved(columns)
        with team:
            tables = _assembled(schema, layout, team.rank, parts, new_labels)
        return Frame(tables, layout, team, schema)

    def _sent(self) -> tuple[list[list[Encoded]], dict[tuple[int, int], Encoded]]:
        """This rank's pieces as they travel: their columns, and labels by first row and length."""
        layout, rank = self.layout, self._team.rank
        pieces = list(layout.pieces(rank)) if rank in layout.ranks else []
        columns: list[list[Encoded]] = [[] for _ in pieces]
        labels: dict[tuple[int, int], Encoded] = {}
        tables: list[Any] = self._buffers
        places = _by_buffer(pieces, len(tables))
        for buffer, (table, here) in enumerate(zip(tables, places, strict=True)):
            _check_shape(table, layout.local_shape(rank, buffer=buffer))
            bounds = [_local_rows(pieces[at]) for at in here]
            rows = _encoded(self._schema.rows, table.index, ROW_LABELS).cut(bounds)
            labels |= {_row_key(pieces[at]): one for at, one in zip(here, rows, strict=True)}
            numbers = _column_numbers(layout, rank, [pieces[at] for at in here])
            for local, number in enumerate(numbers):
                what = f"column {self._schema.columns[number]!r}"
                column = _encoded(self._schema.codecs[number], table.iloc[:, local], what)
                inside = [at for at in here if _has_column(pieces[at], local)]
                cuts = column.cut([_local_rows(pieces[at]) for at in inside])
                for at, one in zip(inside, cuts, strict=True):
                    columns[at].append(one)
        return columns, labels

    def gather(self, root: int | None = None) -> Any:
        """Return the whole table on every rank, or on `root` with None elsewhere. Collective."""
        whole = [Whole(), Whole()]
        if root is None:
            target = Layout(self.shape, whole, grid=(1, 1, self._team.size))
        else:
            target = Layout(self.shape, whole, ranks=[self._team._root(root, None)])
        tables = self.redistribute(target)._buffers
        return tables[0] if tables else None

    def exchange_halo(self) -> Frame:
        """Do nothing: tables have no halos."""
        return self

    def to_dask(self, client: Any = None, *, root: int | None = None) -> Any:
        """Always refused: a `dask.array` has no labels and a single dtype."""
        message = (
            "a table is no dask.array, which has no labels; use .gather() on one rank with "
            "dask.dataframe.from_pandas, or hand on its __partitioned__"
        )
        raise ProtocolError(message, "frame-dask")

    def __distarray__(self) -> dict[str, Any]:
        """Refused: the protocol hands over buffers of one element type."""
        message = "a table is no buffer of one element type; use __partitioned__"
        raise ProtocolError(message, "frame-distarray")

    def __dlpack__(self, **options: Any) -> Any:
        """Refused, as consumers of DLPack expect it."""
        raise BufferError("a table is no buffer of one element type; use __partitioned__")


def check_layout(layout: Any, shape: tuple[int, ...]) -> None:
    """Refuse layouts that tables cannot have."""
    a_layout(layout)
    if layout.shape != shape:
        message = f"a table of {shape} for a layout of {layout.shape}; use one shape"
        raise LayoutError(message, "shapes-differ")
    if len(layout.shape) != 2:
        message = f"a layout of shape {layout.shape} for a table; use (rows, columns)"
        raise LayoutError(message, "frame-ndim")
    if layout.partial:
        message = f"summands on grid axes {layout.partial} of a table; tables are not added up"
        raise LayoutError(f"{message}, leave partial= away", "frame-partial")
    if any(isinstance(one, Block) and _has_halo(one) for one in layout.maps or ()):
        message = f"halos in the layout {layout.notation} of a table; leave halo= away"
        raise LayoutError(message, "frame-halo")


def _has_halo(block: Block) -> bool:
    return bool(np.any(block.halo))


def _check_shape(table: Table, wanted: tuple[int, ...]) -> None:
    if tuple(table.shape) != wanted:
        message = f"a table of {table.shape} where there was one of {wanted}; leave rows and "
        raise ProtocolError(f"{message}columns as they were taken over", "frame-changed")


def _encoded(codec: Codec, values: Any, what: str) -> Encoded:
    """A column as it travels, if it still is what all ranks think it is."""
    if not len(values):
        return codec.empty()
    now = codec_of(values, what)
    if now.plain() != codec.plain():
        message = f"{what} holds {now.word} now, {codec.word} was agreed, or other categories"
        raise ProtocolError(f"{message}; keep its dtype", "frame-changed")
    return codec.encode(values)


def _local_rows(piece: Piece) -> tuple[int, int]:
    return piece.local_start[0], piece.local_start[0] + piece.shape[0]


def _row_key(piece: Piece) -> tuple[int, int]:
    return piece.start[0], piece.shape[0]


def _has_column(piece: Piece, local: int) -> bool:
    return 0 <= local - piece.local_start[1] < piece.shape[1]


def _rectangles(layout: Layout) -> Rectangles:
    """The pieces of every rank."""
    return {
        rank: [
            Rectangle(piece.start[0], piece.shape[0], piece.start[1], piece.shape[1])
            for piece in layout.pieces(rank)
        ]
        for rank in layout.ranks
    }


def _rows_of(pieces: Rectangles) -> Rectangles:
    """The rows of every rank, once each, as a table of one column."""
    return {
        rank: [Rectangle(*rows, 0, 1) for rows in dict.fromkeys(one[:2] for one in own)]
        for rank, own in pieces.items()
    }


def _assembled(
    schema: Schema,
    layout: Layout,
    rank: int,
    parts: list[list[Encoded]],
    labels: dict[tuple[int, int], Encoded],
) -> list[Table]:
    """A rank's tables from the columns of its pieces."""
    from pandas import DataFrame  # type: ignore[import-untyped]

    if rank not in layout.ranks:
        return []
    pieces = list(layout.pieces(rank))
    tables = []
    for places in _by_buffer(pieces, layout.n_buffers(rank)):
        here = [(pieces[at], parts[at]) for at in places]
        rows = {piece.local_start[0]: labels[_row_key(piece)] for piece, _ in here}
        index = schema.rows.index(_joined(schema.rows, rows), schema.rows_name)
        numbers = _column_numbers(layout, rank, [piece for piece, _ in here])
        stretches: list[dict[int, Encoded]] = [{} for _ in numbers]
        for piece, columns in here:
            for at, column in enumerate(columns, piece.local_start[1]):
                stretches[at][piece.local_start[0]] = column
        codecs = [schema.codecs[column] for column in numbers]
        made = enumerate(zip(codecs, stretches, strict=True))
        data = {at: codec.series(_joined(codec, own), index) for at, (codec, own) in made}
        table = DataFrame(data, index=index)
        table.columns = schema.columns.take(numbers)
        tables.append(table)
    return tables


def _joined(codec: Codec, stretches: dict[int, Encoded]) -> Encoded:
    """The stretches of one column, in the order of the buffer."""
    if not stretches:
        return codec.empty()
    return Encoded.joined([stretches[start] for start in sorted(stretches)])


def _by_buffer(pieces: list[Piece], n_buffers: int) -> list[list[int]]:
    """Places of the pieces of each buffer."""
    places: list[list[int]] = [[] for _ in range(n_buffers)]
    for at, piece in enumerate(pieces):
        places[piece.buffer].append(at)
    return places


def _column_numbers(layout: Layout, rank: int, pieces: list[Piece]) -> list[int]:
    """The columns of a rank's table, in its order, by the table's pieces."""
    if not pieces and layout.maps is not None:
        # Without rows there are no pieces to ask; with as many rows as ranks there are.
        probe = [Block(), layout.maps[1]]
        shape, grid = (layout.n_ranks, layout.shape[1]), layout.grid_shape
        made = Layout(shape, probe, grid=grid, ranks=list(layout.ranks))
        pieces = list(made.pieces(rank))
    return _numbers_along(pieces, 1)


def _numbers_along(pieces: list[Piece], dim: int) -> list[int]:
    """Global numbers of a table's rows or columns, by its pieces."""
    spans = {(one.local_start[dim], one.start[dim], one.shape[dim]) for one in pieces}
    return [at for _, start, length in sorted(spans) for at in range(start, start + length)]


def from_tables(
    raw: list[Table],
    parts: Partitions,
    own: Sequence[int],
    layout: Layout,
    team: Team,
    *,
    copy: bool | None,
) -> Frame:
    """A frame from this rank's partitions, once all ranks agree on its columns. Collective."""
    n_columns = n_columns_of(parts)
    told, problems = told_in(parts_of(parts, own, raw), n_columns)
    every = share(team, problems, told, "__partitioned__")
    schema = agreed((one for rank in every for one in rank), n_columns)
    if copy:
        raw = [table.copy() for table in raw]
    return Frame(raw, layout, team, schema, reasons=["copy=True" if copy else ""] * len(raw))


def _check_count(tables: list[Table], n_buffers: int) -> None:
    if len(tables) != n_buffers:
        message = f"{len(tables)} tables, the layout says {n_buffers}; use one per buffer"
        raise ProtocolError(message, "buffer-count")


def from_local_tables(tables: list[Table], layout: Layout, team: Team) -> Frame:
    """A frame from this rank's buffers, once all ranks agree on its columns. Collective."""
    with team:
        check_layout(layout, layout.shape)
        if sorted(layout.ranks) != list(range(team.size)):
            message = "a layout of tables without some ranks of the team; use asarray or "
            raise LayoutError(f"{message}from_partitioned, or a subteam", "frame-ranks")
    told, problems = [], []
    try:
        pieces = list(layout.pieces(team.rank))
        _check_count(tables, layout.n_buffers(team.rank))
        for buffer, places in enumerate(_by_buffer(pieces, len(tables))):
            table, here = tables[buffer], [pieces[at] for at in places]
            shape = layout.local_shape(team.rank, buffer=buffer)
            numbers = _column_numbers(layout, team.rank, here)
            row = here[0].start[0] if len(here) == 1 else None
            told.append(told_of(table, numbers, shape, row))
    except Exception as error:
        problems = [("local", *reason_of(error))]
    every = share(team, problems, told, "from_local")
    schema = agreed((one for rank in every for one in rank), layout.shape[1])
    return Frame(tables, layout, team, schema, reasons=[""] * len(tables))


def from_whole_table(
    table: Table, layout: Layout | None, team: Team, *, copy: bool | None
) -> Frame:
    """A frame from a table that every rank has; each keeps its part."""
    shape = tuple(table.shape)
    if layout is None:
        layout = Layout(shape, [Whole(), Whole()], grid=(1, 1, team.size))
    check_layout(layout, shape)
    try:
        told = told_of(table, range(shape[1]), shape, None)
    except Exception as error:
        reason, message = reason_of(error)
        raise ProtocolError(message, reason) from None
    schema = agreed([told], shape[1])
    if team.rank not in layout.ranks:
        return Frame([], layout, team, schema)
    pieces = list(layout.pieces(team.rank))
    places = _by_buffer(pieces, layout.n_buffers(team.rank))
    pairs = [_part(table, layout, team.rank, [pieces[at] for at in here], copy) for here in places]
    frame = Frame(
        [part for part, _ in pairs], layout, team, schema, reasons=[why for _, why in pairs]
    )
    frame._held.keep = table
    return frame


def _part(
    table: Table, layout: Layout, rank: int, pieces: list[Piece], copy: bool | None
) -> tuple[Table, str]:
    """A rank's part of a table, and why it does not share memory with it."""
    rows, columns = _numbers_along(pieces, 0), _column_numbers(layout, rank, pieces)
    is_all = all(own == list(range(n)) for own, n in zip((rows, columns), table.shape, strict=True))
    if is_all and not copy:
        return table, ""
    if copy is False:
        message = "a part of a table needs a copy: pandas makes one when it is written to"
        raise ProtocolError(f"{message}; use copy=None", "copy-needed")
    if copy:
        return table.iloc[rows, columns].copy(), "copy=True"
    return table.iloc[_slice(rows), _slice(columns)], "pandas copies a part when it is written to"


def _slice(numbers: list[int]) -> Any:
    """Numbers in a row as a slice, which copies nothing yet."""
    if not numbers or numbers[-1] - numbers[0] != len(numbers) - 1 or numbers != sorted(numbers):
        return numbers
    return slice(numbers[0], numbers[-1] + 1)
