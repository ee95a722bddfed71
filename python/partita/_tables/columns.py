"""Columns of tables as plain arrays that can be moved, and back with the dtype they had.

A column becomes one or more *lanes*, arrays of numbers as long as the column: numbers are their own
lane, times are ticks, what can be missing has a second lane for its mask, categories are codes.
Text is a lane of lengths with a row of bytes beside it. What a dtype says beyond that (zone,
frequency, categories and their order) is part of the codec, which all ranks know.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from partita._errors import ProtocolError
from partita._tables import texts

Numbers = np.ndarray[Any, Any]
Words = tuple[str, str, Any]
# Words of a codec, lanes, bytes of text, and a name.
PlainIndex = tuple[Words, list[bytes], bytes, Any]


class Encoded(NamedTuple):
    """A column as it travels."""

    lanes: list[Numbers]
    row: Numbers  # the bytes of text, else none

    @classmethod
    def joined(cls, stretches: list[Encoded]) -> Encoded:
        """Stretches of one column, one after the other."""
        if len(stretches) == 1:
            return stretches[0]
        lanes = zip(*(one.lanes for one in stretches), strict=True)
        return cls([np.concatenate(lane) for lane in lanes], _row(one.row for one in stretches))

    def cut(self, bounds: list[tuple[int, int]]) -> list[Encoded]:
        """Some stretches of it, each from one row to another."""
        lanes = [[lane[first:last] for lane in self.lanes] for first, last in bounds]
        if not len(self.row):
            return [Encoded(one, self.row) for one in lanes]
        ends = np.concatenate([[0], np.cumsum(np.maximum(self.lanes[0], 0))])
        return [
            Encoded(one, self.row[ends[first] : ends[last]])
            for one, (first, last) in zip(lanes, bounds, strict=True)
        ]


def _row(rows: Any) -> Numbers:
    return np.concatenate([NO_BYTES, *rows])


NO_BYTES = np.empty(0, dtype=np.uint8)


@dataclass(frozen=True)
class Codec:
    """How a column's elements become lanes; `words()` is the codec as plain data."""

    kind: str
    word: str  # the dtype, as its library writes it
    more: Any = None  # what the word leaves out: words of parts, categories

    def words(self) -> Words:
        """The codec as plain data."""
        return self.kind, self.word, self.more

    def plain(self) -> Codec:
        """The codec of the numbers, where it is that of a range."""
        return Codec("number", self.word) if self.kind == "range" else self

    @property
    def has_text(self) -> bool:
        """Whether bytes travel beside the lanes, as many as the first lane says."""
        return self.kind in ("text", "object")

    @property
    def dtype(self) -> np.dtype[Any]:
        """NumPy's element type of the column; objects where it has none."""
        return np.dtype(self.word if self.kind in ("number", "time", "range") else object)

    @property
    def lanes(self) -> tuple[str, ...]:
        """Element types of the lanes."""
        match self.kind:
            case "number" | "range":
                return (self.dtype.newbyteorder("=").name,)
            case "masked":
                return (self.more, "bool")
            case "object":
                return ("int64", "uint8")
            case "category":
                return (self.more[0],)
            case "interval":
                return Codec(*self.more).lanes * 2
            case _:
                return ("int64",)

    def empty(self) -> Encoded:
        """A column without rows."""
        return Encoded([np.empty(0, dtype=lane) for lane in self.lanes], NO_BYTES)

    def encode(self, values: Any) -> Encoded:
        """A column, or row labels, as it travels."""
        match self.kind:
            case "number" | "range":
                return Encoded([np.asarray(values.to_numpy(), dtype=self.lanes[0])], NO_BYTES)
            case "time":
                ticks = np.ascontiguousarray(values.to_numpy(), dtype=self.word)
                return Encoded([ticks.view(np.int64)], NO_BYTES)
            case "zoned" | "period":
                return Encoded([_index(values).asi8], NO_BYTES)
            case "masked":
                filled = values.array.to_numpy(dtype=self.more, na_value=np.dtype(self.more).type())
                return Encoded([filled, np.asarray(values.isna(), dtype=bool)], NO_BYTES)
            case "text":
                lengths, row = texts.packed_text(values)
                return Encoded([lengths], row)
            case "object":
                lengths, tags, row = texts.packed_objects(values)
                return Encoded([lengths, tags], row)
            case "category":
                return Encoded([np.asarray(values.array.codes)], NO_BYTES)
            case _:
                side, array = Codec(*self.more), values.array
                sides = side.encode(array.left).lanes + side.encode(array.right).lanes
                return Encoded(sides, NO_BYTES)

    def decode(self, column: Encoded) -> Any:
        """An array that pandas takes as it is."""
        import pandas as pd  # type: ignore[import-untyped]

        first = np.ascontiguousarray(column.lanes[0])
        match self.kind:
            case "number":
                return first.astype(self.word, copy=False)
            case "range":
                return _range(first)
            case "time":
                return first.view(self.word)
            case "zoned":
                dtype = pd.api.types.pandas_dtype(self.word)
                ticks = pd.DatetimeIndex(first.view(f"M8[{dtype.unit}]"))
                return ticks.tz_localize("UTC").tz_convert(dtype.tz).array
            case "period":
                freq = pd.api.types.pandas_dtype(self.word).freq
                return pd.PeriodIndex.from_ordinals(first, freq=freq).array
            case "masked":
                array = pd.api.types.pandas_dtype(self.word).construct_array_type()
                return array(first, np.ascontiguousarray(column.lanes[1]))
            case "text":
                na = pd.NA if self.more == "NA" else np.nan
                words = texts.unpacked_text(first, column.row, na)
                return pd.array(words, dtype=pd.StringDtype(self.word, na_value=na))
            case "object":
                return texts.unpacked_objects(first, column.lanes[1], column.row)
            case "category":
                _, is_ordered, categories = self.more
                dtype = pd.CategoricalDtype(index_of(categories), ordered=is_ordered)
                return pd.Categorical.from_codes(first, dtype=dtype)
            case _:
                side, half = Codec(*self.more), len(column.lanes) // 2
                ends = (column.lanes[:half], column.lanes[half:])
                left, right = (side.index(Encoded(lanes, NO_BYTES)) for lanes in ends)
                closed = pd.api.types.pandas_dtype(self.word).closed
                return pd.arrays.IntervalArray.from_arrays(left, right, closed=closed)

    def index(self, column: Encoded, name: Any = None) -> Any:
        """Labels as an index of pandas."""
        import pandas as pd

        labels = self.decode(column)
        # Objects stay objects, whatever they look like.
        dtype = object if self.kind == "object" else None
        return pd.Index(labels, dtype=dtype, name=name, tupleize_cols=False)

    def series(self, column: Encoded, labels: Any) -> Any:
        """The column of a table."""
        import pandas as pd

        values = self.decode(column)
        return pd.Series(values, labels, object if self.kind == "object" else None)


def _index(values: Any) -> Any:
    import pandas as pd

    return pd.Index(values)


def _range(labels: Numbers) -> Any:
    """Labels that count on as a range, as they were; else the labels."""
    import pandas as pd

    step = int(labels[1] - labels[0]) if len(labels) > 1 else 1
    if step == 0 or np.any(np.diff(labels) != step):
        return labels
    start = int(labels[0]) if len(labels) else 0
    return pd.RangeIndex(start, start + step * len(labels), step)


def plain_index(index: Any, what: str) -> PlainIndex:
    """Labels as plain data that can be told and compared."""
    codec = codec_of(index, what)
    lanes, row = codec.encode(index)
    plain = [np.ascontiguousarray(lane).tobytes() for lane in lanes]
    return codec.words(), plain, row.tobytes(), plain_name(index.name, what)


def plain_name(name: Any, what: str) -> Any:
    """The name of labels, if it can be told."""
    name = name.item() if isinstance(name, np.generic) else name
    if name is None or type(name) in (str, int, float, bool):
        return name
    message = f"{what} has the name {name!r}, a {type(name).__name__}; use text or a number"
    raise ProtocolError(message, "frame-names")


def index_of(plain: PlainIndex) -> Any:
    """The labels again."""
    words, lanes, row, name = plain
    codec = Codec(*words)
    arrays = [
        np.frombuffer(lane, dtype=kind) for lane, kind in zip(lanes, codec.lanes, strict=True)
    ]
    return codec.index(Encoded(arrays, np.frombuffer(row, dtype=np.uint8)), name)


def codec_of(values: Any, what: str) -> Codec:
    """The codec of a column or of labels; `what` names them in the refusal."""
    import pandas as pd

    dtype = values.dtype
    if isinstance(values, pd.MultiIndex):
        message = f"{what} has {values.nlevels} levels; use one: df.reset_index() for rows"
        raise ProtocolError(f"{message}, text such as 'a/b' for columns", "frame-levels")
    if isinstance(values, pd.RangeIndex):
        return Codec("range", "int64")
    if isinstance(dtype, np.dtype):
        return _plain_codec(values, dtype, what)
    if isinstance(dtype, pd.StringDtype):
        return Codec("text", dtype.storage, "NA" if dtype.na_value is pd.NA else "nan")
    if isinstance(dtype, pd.CategoricalDtype):
        # A range and the list of its numbers are the same categories.
        is_range = isinstance(dtype.categories, pd.RangeIndex)
        listed = pd.Index(dtype.categories.to_numpy()) if is_range else dtype.categories
        categories = plain_index(listed, f"the list of categories of {what}")
        codes = values.array.codes.dtype.name
        return Codec("category", "category", (codes, bool(dtype.ordered), categories))
    if isinstance(dtype, pd.IntervalDtype):
        side = codec_of(values.array.left, f"the list of bounds of {what}")
        # Bounds that happen to be a range are numbers like others.
        return Codec("interval", str(dtype), side.plain().words())
    if isinstance(dtype, pd.PeriodDtype):
        return Codec("period", str(dtype))
    if isinstance(dtype, pd.DatetimeTZDtype):
        return _zoned_codec(dtype, what)
    masked = (pd.arrays.IntegerArray, pd.arrays.FloatingArray, pd.arrays.BooleanArray)
    if isinstance(values.array, masked):
        return Codec("masked", str(dtype), np.dtype(dtype.type).name)
    message = f"{what} holds {dtype}; use a dtype of NumPy or of pandas itself, by astype"
    raise ProtocolError(message, "frame-dtype")


def _plain_codec(values: Any, dtype: np.dtype[Any], what: str) -> Codec:
    """The codec of a dtype of NumPy."""
    if dtype.kind in "mM":
        return Codec("time", dtype.newbyteorder("=").str)
    if dtype.kind in "biufc":
        if dtype.itemsize > (16 if dtype.kind == "c" else 8):
            other = "complex128" if dtype.kind == "c" else "float64"
            message = f"{what} holds {dtype}, which no plan moves; use astype({other!r})"
            raise ProtocolError(message, "frame-dtype")
        # The name of a foreign byte order is that of ours.
        return Codec("number", dtype.name if dtype.isnative else dtype.str)
    unknown = texts.first_unknown(values)
    if unknown is None:
        return Codec("object", "object")
    place, kind = unknown
    message = f"{what} holds {dtype}: place {place} is a {kind.__name__}; use text, bytes, numbers,"
    raise ProtocolError(f"{message} booleans, missing values, or one dtype", "frame-dtype")


def _zoned_codec(dtype: Any, what: str) -> Codec:
    """Zones travel by name, so they must have one."""
    import pandas as pd

    try:
        if pd.api.types.pandas_dtype(str(dtype)) == dtype:
            return Codec("zoned", str(dtype))
    except (TypeError, ValueError, KeyError):
        pass
    message = f"{what} holds {dtype}, a zone without a common name; use dt.tz_convert('UTC')"
    raise ProtocolError(message, "frame-dtype")
