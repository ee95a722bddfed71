"""Tables of pandas: a frame in, a frame out, by rows, columns and tiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import partita as pt

WHOLE = pd.DataFrame(
    {
        "a": np.arange(7),
        "b": np.arange(7) * 1.5,
        "c": [f"w{k}" for k in range(6)] + [None],
        "d": pd.date_range("2020-01-01", periods=7),
        "e": np.arange(7) % 2 == 0,
        "f": np.arange(7, dtype="float32"),
    }
)
LABELLED = WHOLE.set_index(pd.Index([f"row {k}" for k in range(7)], name="row"))
DATED = WHOLE.set_index(pd.date_range("1999-12-31", periods=7, name="day"))


def same(handles: Any) -> Any:
    return handles


def table(whole: pd.DataFrame, rows: list[int], columns: list[int], local: Any) -> dict[str, Any]:
    parts = {}
    for i in range(len(rows) - 1):
        for j in range(len(columns) - 1):
            piece = whole.iloc[rows[i] : rows[i + 1], columns[j] : columns[j + 1]]
            parts[(i, j)] = {
                "start": (rows[i], columns[j]),
                "shape": piece.shape,
                "data": piece if (i, j) in local else None,
                "location": [("h", 1)],
            }
    tiling = (len(rows) - 1, len(columns) - 1)
    found = {"shape": whole.shape, "partition_tiling": tiling, "partitions": parts, "get": same}
    return {**found, "locals": list(local)}


def alike(found: pd.DataFrame, wanted: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(found, wanted, check_freq=False, check_index_type=False)


@pytest.mark.parametrize("whole", [WHOLE, LABELLED, DATED], ids=["counted", "labelled", "dated"])
@pytest.mark.parametrize("n_ranks", [1, 2, 3, 5])
def test_tiles_to_rows_to_columns(whole: pd.DataFrame, n_ranks: int) -> None:
    positions = [(i, j) for i in range(2) for j in range(3)]

    def body(team: pt.Team) -> None:
        local = positions[team.rank :: team.size]
        given = table(whole, [0, 3, 7], [0, 2, 5, 6], local)
        a = pt.from_partitioned(given, team=team)
        assert isinstance(a, pt.Frame)
        assert a.columns == list("abcdef")
        assert [piece for _, piece in a.pieces] or not local
        for position in local:
            assert a.partition(position) is given["partitions"][position]["data"]
        rows = a.redistribute(pt.Layout(whole.shape, f"block, * @ {n_ranks}x1"))
        wanted = np.array_split(np.arange(7), n_ranks)[team.rank]
        alike(rows.local, whole.iloc[wanted])
        columns = rows.redistribute(pt.Layout(whole.shape, f"*, block @ 1x{n_ranks}"))
        wanted = np.array_split(np.arange(6), n_ranks)[team.rank]
        if len(wanted):
            alike(columns.local, whole.iloc[:, wanted])
        dealt = columns.redistribute(pt.Layout(whole.shape, f"cyclic(2), * @ {n_ranks}x1"))
        alike(dealt.gather(), whole)
        handed = columns.__partitioned__
        assert pt.check(handed, strict=True) == []
        again = pt.from_partitioned(handed, team=team)
        alike(again.gather(), whole)
        root = a.gather(root=n_ranks - 1)
        assert (root is None) == (team.rank != n_ranks - 1)

    pt.spmd(body, ranks=n_ranks)


def test_frames_behind_handles() -> None:
    store = {"first": WHOLE.iloc[:4], "second": WHOLE.iloc[4:]}
    given = table(WHOLE, [0, 4, 7], [0, 6], [])
    del given["locals"]
    given["partitions"][(0, 0)]["data"] = "first"
    given["partitions"][(1, 0)]["data"] = "second"
    given["get"] = lambda names: [store[name] for name in names]
    a = pt.from_partitioned(given)
    alike(a.gather(), WHOLE)
    assert all(copied.shares_memory for copied in a.copies())


def test_what_cannot_be_moved_is_refused_by_name() -> None:
    odd = pd.DataFrame({"x": [object()], "y": [1]})
    with pytest.raises(pt.ProtocolError, match="'x' holds object") as caught:
        pt.from_partitioned(table(odd, [0, 1], [0, 2], [(0, 0)]))
    assert caught.value.reason == "frame-dtype"
    renamed = table(WHOLE, [0, 3, 7], [0, 6], [(0, 0), (1, 0)])
    renamed["partitions"][(1, 0)]["data"] = WHOLE.iloc[3:].rename(columns={"a": "z"})
    with pytest.raises(pt.ProtocolError, match="'a' and 'z'"):
        pt.from_partitioned(renamed)
    retyped = table(WHOLE, [0, 3, 7], [0, 6], [(0, 0), (1, 0)])
    retyped["partitions"][(1, 0)]["data"] = WHOLE.iloc[3:].astype({"a": "float64"})
    with pytest.raises(pt.ProtocolError, match="'a'") as caught:
        pt.from_partitioned(retyped)
    assert caught.value.reason == "data-dtypes-differ"
    good = pt.from_partitioned(table(WHOLE, [0, 7], [0, 6], [(0, 0)]))
    with pytest.raises(pt.ProtocolError, match="__partitioned__"):
        good.__distarray__()
    assert repr(good) == "<Frame (7, 6) object, *, * @ 1x1>"
    assert "Frame" in type(good).__name__
    assert "<svg" in good._repr_html_()
