"""What all ranks must know alike of a table: labels, dtypes and names.

Each rank tells what its own tables are (`told_of`), and all find the same schema in what was told
(`agreed`), or the same error. Checking does the same, so what importing refuses, checking finds.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

from partita._errors import ProtocolError, is_a, text_of, words_of
from partita._memory.views import is_frame
from partita._partita import read_partitioned
from partita._tables.columns import Codec, codec_of, index_of, plain_index, plain_name

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from partita._partita import Partitions

# What messages call them.
COLUMN_LABELS, ROW_LABELS = "the index of columns", "the index of rows"

Table = Any
Problem = tuple[str, str, str]
Told = dict[str, Any]
# Position, start and shape of a partition, and its table.
Part = tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...], Table]


@dataclass(frozen=True)
class Schema:
    """Labels and codecs of a table's columns, the codec of its row labels, and its names."""

    columns: Any  # an index of pandas
    codecs: Sequence[Codec]
    rows: Codec
    rows_name: Any


def told_of(table: Table, numbers: Sequence[int], shape: Sequence[int], row: int | None) -> Told:
    """A table as plain data: what it is, not what it holds.

    `numbers` says which columns of the whole it has. `row` is its first row, where the labels of
    its rows are to be compared with those of its neighbours.
    """
    if not is_frame(table):
        message = f"a {type(table).__name__} beside tables; use one type for all partitions"
        raise ProtocolError(message, "data-types-differ")
    if tuple(table.shape) != tuple(shape):
        message = f"a table of {table.shape} in a partition of {tuple(shape)}; make them equal"
        raise ProtocolError(message, "data-shape")
    labels = list(table.columns)
    codecs = [
        codec_of(table.iloc[:, at], f"column {label!r}").words() for at, label in enumerate(labels)
    ]
    return {
        "numbers": list(numbers),
        "labels": plain_index(table.columns, COLUMN_LABELS),
        "codecs": codecs,
        "names": [
            plain_name(table.columns.name, COLUMN_LABELS),
            plain_name(table.index.name, ROW_LABELS),
        ],
        "rows": codec_of(table.index, ROW_LABELS).words(),
        "row": row,
        "digest": None if row is None else _digest(table.index),
        "has_rows": bool(len(table)),
    }


def _digest(labels: Any) -> str:
    _, lanes, row, _ = plain_index(labels, ROW_LABELS)
    return blake2b(b"".join([*lanes, row]), digest_size=16).hexdigest()


def told_in(parts: Iterable[Part], n_columns: int) -> tuple[list[Told], list[Problem]]:
    """What the tables of some partitions are, and what is wrong with them."""
    told: list[Told] = []
    problems: list[Problem] = []
    for position, start, shape, table in parts:
        # Labels need no comparison where no other piece has the same rows.
        row = start[0] if shape[1] < n_columns else None
        try:
            told.append(told_of(table, range(start[1], start[1] + shape[1]), shape, row))
        except Exception as error:
            problems.append((f"partitions[{position}].data", *reason_of(error)))
    return told, problems


def parts_of(parts: Partitions, numbers: Sequence[int], tables: Sequence[Table]) -> list[Part]:
    """Partitions by their numbers, each with its table."""
    listed = parts.parts()
    return [(*listed[at], table) for at, table in zip(numbers, tables, strict=True)]


def n_columns_of(parts: Partitions) -> int:
    """How many columns the table of a dictionary has; the same on every rank."""
    shape = parts.shape
    if len(shape) != 2:
        message = (
            f"tables in a dictionary of shape {shape}; use (rows, columns), or hand over arrays"
        )
        raise ProtocolError(message, "data-shape")
    return shape[1]


def told_in_dictionary(dictionary: Any) -> tuple[list[Told], list[Problem]]:
    """The same of a dictionary of `__partitioned__` in which nothing else is wrong.

    What is behind handles is not looked at, nor are tables of others than pandas.
    """
    partitions = dict.get(dictionary, "partitions") or {}
    if not any(is_pandas(dict.get(entry, "data")) for entry in dict.values(partitions)):
        return [], []
    _, parts = read_partitioned(dictionary)
    if parts is None:
        return [], []
    numbers = list(range(len(parts)) if parts.locals is None else parts.locals)
    return told_in(parts_of(parts, numbers, parts.data(numbers)), n_columns_of(parts))


def disagreement(told: Sequence[Told]) -> list[Problem]:
    """What is wrong with tables together. Labels that nobody here has are no problem."""
    known = sorted({at for one in told for at in one["numbers"]})
    place = {number: at for at, number in enumerate(known)}
    dense = [{**one, "numbers": [place[at] for at in one["numbers"]]} for one in told]
    try:
        if told:
            agreed(dense, len(known))
    except ProtocolError as error:
        return [("partitions", error.reason, str(error))]
    return []


def reason_of(error: Exception) -> tuple[str, str]:
    """Reason and message; a table's own code may raise anything."""
    if is_a(error, ProtocolError):
        return error.reason, text_of(error)
    words = f"reading the table raised {words_of(error)}; mend the table"
    return "frame-unreadable", words


def is_pandas(table: Any) -> bool:
    """Whether it is a table of pandas, which is loaded then."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(table, pandas.DataFrame)


def agreed(told: Iterable[Told], n_columns: int) -> Schema:
    """The one schema of all tables; the same on every rank, or the same error."""
    # What has no rows has no say in dtypes where others have rows: it often has none itself.
    pieces = sorted(told, key=lambda one: not one["has_rows"])
    columns = _agreed_labels(pieces, n_columns)
    codecs: dict[int, Codec] = {}
    rows: Codec | None = None
    for one in pieces:
        for at, words in zip(one["numbers"], one["codecs"], strict=True):
            known = codecs.setdefault(at, Codec(*words))
            if one["has_rows"]:
                _compare(known, Codec(*words), f"column {columns[at]!r}")
        own = Codec(*one["rows"])
        rows = _widest_rows(rows, own, has_rows=one["has_rows"])
    _compare_rows(pieces)
    _compare_names(pieces)
    if rows is None or len(codecs) < n_columns:
        message = "no rank has a table for some columns, so their dtype is unknown; give one"
        raise ProtocolError(message, "frame-columns")
    name = pieces[0]["names"][1]
    return Schema(columns, [codecs[at] for at in range(n_columns)], rows, name)


def _agreed_labels(pieces: list[Told], n_columns: int) -> Any:
    """The labels of all columns as one index."""
    import pandas as pd  # type: ignore[import-untyped]

    labels: dict[int, Any] = {}
    dtypes = []
    for one in pieces:
        index = index_of(one["labels"])
        dtypes.append(index.dtype)
        for at, label in zip(one["numbers"], index, strict=True):
            if not _same(labels.setdefault(at, label), label):
                message = f"column {at} is called {labels[at]!r} and {label!r}; use one name"
                raise ProtocolError(message, "frame-columns")
    if any(at not in labels for at in range(n_columns)):
        message = "no rank has a table for some columns, so their labels are unknown; give one"
        raise ProtocolError(message, "frame-columns")
    dtype = dtypes[0] if dtypes and all(one == dtypes[0] for one in dtypes) else object
    listed = [labels[at] for at in range(n_columns)]
    name = pieces[0]["names"][0] if pieces else None
    return pd.Index(listed, dtype=dtype, name=name, tupleize_cols=False)


def _same(a: Any, b: Any) -> bool:
    """Equal and of one type; not-a-number is itself."""
    if a is b:
        return True
    return type(a) is type(b) and bool(a == b or (a != a and b != b))


def _compare(known: Codec, other: Codec, what: str) -> None:
    if known == other:
        return
    if known.kind == other.kind == "category":
        message = f"{what} has other categories, or another order of them, in two pieces"
        cure = "give all pieces one dtype by astype(pandas.CategoricalDtype(...))"
        raise ProtocolError(f"{message}; {cure}", "frame-categories")
    words = f"{what} holds {_shown(known)} in one piece and {_shown(other)} in another"
    raise ProtocolError(f"{words}; use one dtype", "data-dtypes-differ")


def _shown(codec: Codec) -> str:
    """A dtype as its library writes it."""
    if codec.kind == "text":
        return f"string of {codec.word} with {codec.more}"
    return codec.word


def _widest_rows(known: Codec | None, other: Codec, *, has_rows: bool) -> Codec:
    """The codec of the labels of all rows; ranges and numbers are numbers together."""
    if known is None or known == other or not has_rows:
        return known or other
    _compare(known.plain(), other.plain(), ROW_LABELS)
    return known.plain()


def _compare_rows(pieces: list[Told]) -> None:
    """Pieces of the same rows must call them alike."""
    seen: dict[int, str] = {}
    for one in pieces:
        row = one["row"]
        if row is None or not one["has_rows"]:
            continue
        if seen.setdefault(row, one["digest"]) != one["digest"]:
            message = f"the rows from row {row} have other labels in another piece; use one index"
            raise ProtocolError(f"{message} for all pieces of the same rows", "frame-rows")


def _compare_names(pieces: list[Told]) -> None:
    for one in pieces:
        names = zip(("columns", "index"), pieces[0]["names"], one["names"], strict=True)
        for what, known, name in names:
            if one["has_rows"] and not _same(known, name):
                message = f"{what}.name is {known!r} in one piece and {name!r} in another"
                raise ProtocolError(f"{message}; use one name", "frame-names")
