"""Columns of every dtype of pandas come through tables with values, missing values and dtype."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from launch import launch
from test_pandas import table

import partita as pt
from partita._tables import column_moves

LINES = 6
TIMES = pd.date_range("2020-01-01", periods=LINES, freq="D")
ODD_TEXT = ["x\0", "", "\0\0", None, "\ud800 half", "ß" * 300]

COLUMNS: dict[str, Any] = {
    "Int64": pd.array([1, None, 3, 2**62 + 1, -5, None], dtype="Int64"),
    "UInt8": pd.array([1, None, 3, 255, 0, None], dtype="UInt8"),
    "boolean": pd.array([True, None, False, None, True, False], dtype="boolean"),
    "Float64": pd.array([1.5, None, -0.0, 1e300, None, 2], dtype="Float64"),
    "Float32": pd.array([1.5, None, -0.0, 3, None, 2], dtype="Float32"),
    "string": pd.array(["x\0", None, "", "word", "é", "a b"], dtype="string"),
    "str": pd.Series(ODD_TEXT, dtype="str"),
    "text in objects": pd.Series(ODD_TEXT, dtype=object),
    "missing in objects": pd.Series([None, np.nan, pd.NA, pd.NaT, "a", np.nan], dtype=object),
    "mixed objects": pd.Series([True, 1, 1.0, b"x\0", 2**200, -1], dtype=object),
    "scalars in objects": pd.Series(
        [np.int8(3), np.float32(0.1), np.bool_(True), np.datetime64("2020-01-01", "s"), 1, None],
        dtype=object,
    ),
    "booleans in objects": pd.Series([True, None, False, True, None, True], dtype=object),
    "ordered": pd.Categorical(list("zyxzyx"), categories=list("zyxw"), ordered=True),
    "unordered": pd.Categorical(["b", None, "a", "b", "b", None], categories=["b", "a", "c"]),
    "counted": pd.Categorical([3, 1, 2, 3, 1, None], categories=[3, 2, 1, 0]),
    "named categories": pd.Categorical(
        list("uvuvuv"), dtype=pd.CategoricalDtype(pd.Index(["v", "u"], name="letters"))
    ),
    "many categories": pd.Categorical(range(LINES), categories=range(300)),
    "dated categories": pd.Categorical(TIMES),
    "nothing but missing": pd.Categorical([None] * LINES, categories=["never"]),
    "UTC": TIMES.tz_localize("UTC"),
    "Berlin": pd.Series(TIMES.tz_localize("Europe/Berlin")).where([True, False] * 3),
    "offset": TIMES.tz_localize(timezone(timedelta(hours=-5))),
    "seconds": TIMES.astype("datetime64[s]"),
    "nanoseconds": TIMES.astype("datetime64[ns]"),
    "spans": pd.Series(pd.to_timedelta(range(LINES), unit="h")).where([True, False] * 3),
    "periods": pd.PeriodIndex(["2020-01", None, "2020-03", "1999-12", None, "2020-01"], freq="M"),
    "weeks": pd.period_range("2020-01-01", periods=LINES, freq="W-SUN"),
    "intervals": pd.IntervalIndex.from_breaks(range(LINES + 1), closed="left"),
    "gaps": pd.IntervalIndex.from_arrays([0.5, np.nan] * 3, [1.5, np.nan] * 3),
    "dated intervals": pd.interval_range(TIMES[0], periods=LINES, freq="D"),
    "zoned intervals": pd.interval_range(TIMES.tz_localize("UTC")[0], periods=LINES, freq="D"),
    "float16": np.arange(LINES, dtype="float16"),
    "complex64": np.arange(LINES, dtype="complex64") * 1j,
    "other byte order": np.arange(LINES, dtype=np.dtype("int32").newbyteorder()) * 1000,
    "uint8": np.arange(LINES, dtype="uint8"),
}


def whole_table() -> pd.DataFrame:
    whole = pd.DataFrame(dict(COLUMNS))
    whole.columns = pd.Index(list(COLUMNS), name="kind")
    for label in COLUMNS:
        if isinstance(COLUMNS[label], pd.Series):
            assert whole[label].dtype == COLUMNS[label].dtype
    return whole


def exactly(found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(found, wanted, check_exact=True, check_freq=False)
    assert found.columns.names == wanted.columns.names
    assert found.index.names == wanted.index.names
    for at, label in enumerate(wanted.columns):
        one, other = found.iloc[:, at], wanted.iloc[:, at]
        assert one.dtype == other.dtype, label
        if isinstance(one.dtype, pd.CategoricalDtype):
            assert one.dtype.ordered == other.dtype.ordered
            assert one.dtype.categories.tolist() == other.dtype.categories.tolist()
        if one.dtype == object:
            assert [type(v) for v in one] == [type(v) for v in other], label


Pairs = list[tuple[pd.DataFrame, pd.DataFrame]]


def compared(body: Callable[[pt.Team], Pairs], n_ranks: int) -> None:
    """Compare what ranks found with what they wanted, here: pandas' comparison wants one thread."""
    for pairs in pt.spmd(body, ranks=n_ranks):
        assert pairs
        for found, wanted in pairs:
            exactly(found, wanted)


def there_and_back(whole: pd.DataFrame, n_ranks: int) -> None:
    """By rows, by columns, dealt, and gathered."""
    n_rows, n_columns = whole.shape

    def body(team: pt.Team) -> Pairs:
        cuts = [round(n_rows * at / n_ranks) for at in range(n_ranks + 1)]
        given = table(whole, cuts, [0, n_columns], [(team.rank, 0)])
        a = pt.from_partitioned(given, team=team)
        columns = a.redistribute(pt.Layout(whole.shape, f"*, block @ 1x{n_ranks}"))
        wanted = np.array_split(np.arange(n_columns), n_ranks)[team.rank]
        dealt = columns.redistribute(pt.Layout(whole.shape, f"cyclic, cyclic(2) @ 1x{n_ranks}"))
        rows = dealt.redistribute(pt.Layout(whole.shape, f"cyclic(2), * @ {n_ranks}x1"))
        chosen = [at for at in range(n_rows) if at // 2 % n_ranks == team.rank]
        root = rows.gather(root=0)
        assert (root is None) == (team.rank != 0)
        return [
            (a.gather(), whole),
            (columns.local, whole.iloc[:, wanted]),
            (dealt.gather(), whole),
            (rows.local, whole.iloc[chosen]),
        ]

    compared(body, n_ranks)


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_comes_back_as_it_was(kind: str) -> None:
    whole = whole_table()[[kind, "uint8", kind]]
    there_and_back(whole, 2)


@pytest.mark.parametrize("n_ranks", [1, 2, 3, 8])
def test_all_columns_at_once_also_with_ranks_without_rows(n_ranks: int) -> None:
    there_and_back(whole_table(), n_ranks)


LABELS: dict[str, Any] = {
    "text": pd.Index(ODD_TEXT, name="word"),
    "objects": pd.Index([1, "a", None, 2.5, b"b", True], dtype=object),
    "dates": pd.DatetimeIndex(TIMES, name="day"),
    "zoned": TIMES.tz_localize("Europe/Berlin"),
    "periods": pd.period_range("2020-01", periods=LINES, freq="M", name=7),
    "categories": pd.CategoricalIndex(list("abcabc"), categories=list("cbad"), ordered=True),
    "intervals": pd.interval_range(0, LINES),
    "nullable": pd.Index(pd.array([1, None, 3, 4, 5, 5], dtype="Int64")),
    "spans": pd.to_timedelta(range(LINES), unit="h"),
    "floats": pd.Index([0.5, np.nan, 1, 1, 2, 3]),
    "booleans": pd.Index([True, False] * 3),
    "range": pd.RangeIndex(10, 10 - 2 * LINES, -2, name="down"),
}


@pytest.mark.parametrize("kind", LABELS)
@pytest.mark.parametrize("n_ranks", [1, 3])
def test_row_labels_come_back_as_they_were(kind: str, n_ranks: int) -> None:
    whole = pd.DataFrame({"a": range(LINES), "b": list("uvwxyz"), "a ": 1.5}, index=LABELS[kind])

    def body(team: pt.Team) -> Pairs:
        cuts = [LINES * at // n_ranks for at in range(n_ranks + 1)]
        a = pt.from_partitioned(table(whole, cuts, [0, 3], [(team.rank, 0)]), team=team)
        columns = a.redistribute(pt.Layout(whole.shape, f"*, block @ 1x{n_ranks}"))
        found = columns.gather()
        assert type(found.index) is type(whole.index)
        return [(found, whole)]

    compared(body, n_ranks)


COLUMN_LABELS: dict[str, Any] = {
    "twice the same": pd.Index(["a", "a", "b"], name="letters"),
    "not a number": pd.Index([np.nan, 1.0, np.nan]),
    "numbers and text": pd.Index([1, "1", None], dtype=object),
    "dates": pd.DatetimeIndex(TIMES[:3], name="day"),
    "counted": pd.RangeIndex(3),
}


@pytest.mark.parametrize("kind", COLUMN_LABELS)
def test_column_labels_come_back_as_they_were(kind: str) -> None:
    whole = pd.DataFrame(np.arange(12).reshape(4, 3), columns=COLUMN_LABELS[kind])
    there_and_back(whole, 2)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
def test_empty_tables_keep_their_dtypes(shape: tuple[int, int]) -> None:
    columns = {"a": pd.array([], dtype="Int64"), "b": pd.Categorical([], ["x"]), "c": []}
    whole = pd.DataFrame(columns) if shape[0] == 0 else pd.DataFrame(index=list("xyz"))
    whole = whole.iloc[:, : shape[1]]
    assert whole.shape == shape

    def body(team: pt.Team) -> Pairs:
        cuts = [0, shape[0], shape[0]]
        given = table(whole, cuts, [0, shape[1]], [(team.rank, 0)])
        assert pt.check(given, team=team) == []
        a = pt.from_partitioned(given, team=team)
        again = a.redistribute(pt.Layout(shape, "*, * @ 1x1x2")).local
        return [(again, whole), (a.gather(), whole)]

    compared(body, 2)


def test_a_piece_without_rows_has_no_say_in_dtypes() -> None:
    whole = pd.DataFrame({"a": [1, 2], "b": pd.array([1, None], dtype="Int64")}, index=["x", "y"])
    given = table(whole, [0, 2, 2], [0, 2], [(0, 0), (1, 0)])
    given["partitions"][(1, 0)]["data"] = pd.DataFrame(columns=["a", "b"])
    assert pt.check(given) == []
    exactly(pt.from_partitioned(given).gather(), whole)


def test_very_wide_tables() -> None:
    whole = pd.DataFrame({f"c{at}": [at, at + 1] for at in range(1500)})
    whole = whole.astype({f"c{at}": "str" for at in range(0, 1500, 3)})
    there_and_back(whole, 2)


def test_text_takes_about_its_own_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["w"] * 1000
    words[500] = "long" * 25_000
    whole = pd.DataFrame({"a": words})
    made: list[int] = []
    moved = column_moves.moved

    def counted(*args: Any) -> Any:
        arrays = moved(*args)
        made.extend(array.nbytes for array in arrays)
        return arrays

    def body(team: pt.Team) -> None:
        given = table(whole, [0, 500, 1000], [0, 1], [(team.rank, 0)])
        assert pt.from_partitioned(given, team=team).gather()["a"][500] == words[500]

    pt.spmd(body, ranks=2)
    # Memory of partita itself is not traced.
    monkeypatch.setattr(column_moves, "moved", counted)
    tracemalloc.start()
    pt.spmd(body, ranks=2)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert 2 * 100_000 <= sum(made) < 400_000
    assert peak < 4 << 20


PROCESSES = """
import sys
sys.path.insert(0, FOLDER)
import partita as pt
from test_pandas_dtypes import exactly, table, whole_table

team, whole = pt.world(), whole_table()
cuts = [0, 4, 6]
given = table(whole, cuts, [0, whole.shape[1]], [(team.rank, 0)])
a = pt.from_partitioned(given, team=team)
dealt = a.redistribute(pt.Layout(whole.shape, "cyclic, cyclic(2) @ 1x2"))
exactly(dealt.gather(), whole)
if team.rank == 0:
    given["partitions"][(0, 0)]["data"] = a.local.assign(uint8=[[1]] * 4)
try:
    pt.from_partitioned(given, team=team)
except pt.ProtocolError as error:
    assert error.reason == "frame-dtype", error
else:
    raise AssertionError("a list went through")
exactly(dealt.gather(), whole)
"""


def test_tables_of_processes(tmp_path: Path) -> None:
    launch(tmp_path, PROCESSES.replace("FOLDER", repr(str(Path(__file__).parent))), 2)
