"""What tables are refused, by import and check alike, and what they share with their producer."""

from __future__ import annotations

from datetime import date
from typing import Any

import numpy as np
import pandas as pd
import pytest
import ray
from dateutil.tz import tzoffset
from test_pandas import WHOLE, alike, table

import partita as pt

PLAIN = pd.DataFrame({"a": [1, 2, 3, 4], "b": [0.5, 1.5, 2.5, 3.5]})


def changed(piece: Any, whole: pd.DataFrame = PLAIN) -> list[pd.DataFrame]:
    """Two pieces of rows, the second replaced."""
    return [whole.iloc[:2], piece]


def categories(*names: str) -> pd.Categorical:
    return pd.Categorical(["x", "y"], categories=list(names))


HALF = PLAIN.iloc[2:]
CODED = pd.DataFrame({"a": pd.Categorical(list("xyxy")), "b": 1.5})
NESTED = pd.MultiIndex.from_tuples([("u", 1), ("v", 2)])

REFUSED: dict[str, tuple[list[pd.DataFrame], str, str]] = {
    "labels": (changed(HALF.rename(columns={"a": "z"})), "frame-columns", "'a' and 'z'"),
    "types of labels": (
        [PLAIN.iloc[:2].set_axis([1, 2], axis=1), HALF.set_axis([1.0, 2.0], axis=1)],
        "frame-columns",
        "1 and 1.0",
    ),
    "dtypes": (changed(HALF.astype({"a": "float64"})), "data-dtypes-differ", "'a' holds int64"),
    "nullable": (changed(HALF.astype({"a": "Int64"})), "data-dtypes-differ", "Int64"),
    "categories": (
        changed(pd.DataFrame({"a": categories("x", "y", "z"), "b": 1.5}), CODED),
        "frame-categories",
        "CategoricalDtype",
    ),
    "order of categories": (
        changed(pd.DataFrame({"a": categories("y", "x"), "b": 1.5}), CODED),
        "frame-categories",
        "column 'a'",
    ),
    "names of columns": (changed(HALF.rename_axis(columns="n")), "frame-names", "columns.name"),
    "names of rows": (changed(HALF.rename_axis(index="n")), "frame-names", "index.name"),
    "dtypes of rows": (changed(HALF.set_axis(["r", "s"])), "data-dtypes-differ", "index of rows"),
    "odd names": (
        changed(HALF.set_axis(pd.Index([2, 3], name=date(2020, 1, 1)))),
        "frame-names",
        "datetime.date",
    ),
    "zones without a name": (
        changed(HALF.assign(a=pd.date_range("2020", periods=2, tz=tzoffset("here", 3601)))),
        "frame-dtype",
        "tz_convert",
    ),
    "levels of rows": (changed(HALF.set_axis(NESTED)), "frame-levels", "2 levels; .*reset_index"),
    "levels of columns": (
        changed(HALF.set_axis(NESTED, axis=1)),
        "frame-levels",
        "index of columns has 2 levels",
    ),
    "objects": (
        changed(HALF.assign(a=[date(2020, 1, 1), None])),
        "frame-dtype",
        "'a' holds object: place 0 is a date",
    ),
    "sparse": (changed(HALF.astype({"a": "Sparse[int64]"})), "frame-dtype", "'a' holds Sparse"),
    "long numbers": (changed(HALF.astype({"b": "longdouble"})), "frame-dtype", "astype"),
    "categories of objects": (
        changed(HALF.assign(a=pd.Categorical([date(2020, 1, 1), None]))),
        "frame-dtype",
        "categories of column 'a'",
    ),
}


def dictionary(pieces: list[pd.DataFrame], local: list[int]) -> dict[str, Any]:
    found = table(PLAIN, [0, 2, 4], [0, 2], [(at, 0) for at in local])
    for at in local:
        found["partitions"][(at, 0)]["data"] = pieces[at]
    return found


@pytest.mark.parametrize("case", REFUSED)
def test_check_finds_what_import_refuses(case: str) -> None:
    pieces, reason, words = REFUSED[case]
    given = dictionary(pieces, [0, 1])
    with pytest.raises(pt.ProtocolError, match=words) as caught:
        pt.from_partitioned(given)
    assert caught.value.reason == reason
    assert [finding.reason for finding in pt.check(given)] == [reason]
    every = [dictionary(pieces, [rank]) for rank in range(2)]
    assert [finding.reason for finding in pt.check(every)] == [reason]


@pytest.mark.parametrize("case", REFUSED)
def test_every_rank_is_told_and_the_team_works_on(case: str) -> None:
    pieces, reason, words = REFUSED[case]

    def body(team: pt.Team) -> str:
        given = dictionary(pieces, [team.rank])
        found = pt.check(given, team=team)
        assert [finding.reason for finding in found] == [reason]
        with pytest.raises(pt.ProtocolError, match=words) as caught:
            pt.from_partitioned(given, team=team)
        assert caught.value.reason == reason
        assert team.allgather_data(team.rank) == [0, 1]
        return str(caught.value)

    one, other = pt.spmd(body, ranks=2)
    assert one == other


def test_pieces_of_the_same_rows_have_the_same_labels() -> None:
    given = table(PLAIN, [0, 4], [0, 1, 2], [(0, 0), (0, 1)])
    given["partitions"][(0, 1)]["data"] = PLAIN[["b"]].set_axis([5, 6, 7, 8])
    with pytest.raises(pt.ProtocolError, match="row 0 have other labels") as caught:
        pt.from_partitioned(given)
    assert caught.value.reason == "frame-rows"
    assert [finding.reason for finding in pt.check(given)] == ["frame-rows"]
    given["partitions"][(0, 1)]["data"] = PLAIN[["b"]].set_axis([0, 1, 2, 3])
    assert pt.check(given) == []
    alike(pt.from_partitioned(given).gather(), PLAIN)


def test_tables_and_arrays_behind_one_get() -> None:
    given = dictionary([PLAIN.iloc[:2], HALF], [])
    del given["locals"]
    store = {"first": PLAIN.iloc[:2], "second": HALF.to_numpy()}
    for at, name in enumerate(store):
        given["partitions"][(at, 0)]["data"] = name
    given["get"] = lambda names: [store[name] for name in names]
    with pytest.raises(pt.ProtocolError, match="ndarray beside tables") as caught:
        pt.from_partitioned(given)
    assert caught.value.reason == "data-types-differ"


def test_a_column_that_has_changed_since_is_refused_on_all_ranks() -> None:
    def body(team: pt.Team) -> None:
        pieces = [PLAIN.iloc[:2].copy(), HALF.copy()]
        a = pt.from_partitioned(dictionary(pieces, [team.rank]), team=team)
        if team.rank == 1:
            a.local["a"] = ["now", "text"]
        with pytest.raises((pt.ProtocolError, pt.RemoteError), match="column 'a' holds"):
            a.gather()
        if team.rank == 1:
            a.local["a"] = [3, 4]
        assert a.gather()["a"].tolist() == [1, 2, 3, 4]

    pt.spmd(body, ranks=2)


def test_writes_are_seen_where_memory_is_shared() -> None:
    given = dictionary([PLAIN.iloc[:2].copy(), HALF.copy()], [0, 1])
    for copy in (None, False):
        a = pt.asarray(given, copy=copy)
        assert [one.shares_memory for one in a.copies()] == [True, True]
        a.pieces[0][1].iloc[0, 0] = 99
        assert given["partitions"][(0, 0)]["data"].iloc[0, 0] == 99
        a.pieces[0][1].iloc[0, 0] = 1


def test_copies_are_copies() -> None:
    given = dictionary([PLAIN.iloc[:2].copy(), HALF.copy()], [0, 1])
    a = pt.asarray(given, copy=True)
    assert [(one.shares_memory, one.why) for one in a.copies()] == [(False, "copy=True")] * 2
    assert a.partition((0, 0)) is not given["partitions"][(0, 0)]["data"]
    given["partitions"][(0, 0)]["data"].iloc[0, 0] = 99
    alike(a.gather(), PLAIN)


@pytest.mark.parametrize("whole", [PLAIN, PLAIN.to_numpy()], ids=["table", "array"])
def test_a_copy_of_what_is_held_already(whole: Any) -> None:
    a = pt.asarray(whole)
    assert pt.asarray(a) is a
    b = pt.asarray(a, copy=True)
    assert type(b) is type(a)
    assert b.local is not a.local
    assert [one.why for one in b.copies()] == ["copy=True"]
    assert [one.shares_memory for one in a.copies()] == [True]
    assert np.array_equal(b.gather(), whole)


def test_a_whole_table_is_a_frame() -> None:
    a = pt.asarray(WHOLE)
    assert isinstance(a, pt.Frame)
    assert a.local is WHOLE
    assert [one.shares_memory for one in a.copies()] == [True]
    copied = pt.asarray(WHOLE, copy=True)
    assert not np.shares_memory(copied.local["a"].to_numpy(), WHOLE["a"].to_numpy())
    assert [one.why for one in copied.copies()] == ["copy=True"]


@pytest.mark.parametrize("words", ["block, * @ 3x1", "*, block @ 1x3", "cyclic(2), cyclic @ 3x1"])
def test_ranks_keep_their_part_of_a_whole_table(words: str) -> None:
    layout = pt.Layout(WHOLE.shape, words)

    def body(team: pt.Team) -> pd.DataFrame:
        a = pt.asarray(WHOLE, layout, team)
        assert [one.shares_memory for one in a.copies()] == [False]
        with pytest.raises(pt.ProtocolError, match="copy=None") as caught:
            pt.asarray(WHOLE, layout, team, copy=False)
        assert caught.value.reason == "copy-needed"
        b = pt.from_local(a.local.copy(), layout, team)
        assert isinstance(b, pt.Frame)
        assert [one.shares_memory for one in b.copies()] == [True]
        assert b.columns == list(WHOLE.columns)
        alike(b.gather(), a.gather())
        return b.gather()

    alike(pt.spmd(body, ranks=3)[1], WHOLE)


def test_local_tables_that_do_not_fit_are_refused_on_all_ranks() -> None:
    layout = pt.Layout(PLAIN.shape, "block, * @ 2x1")

    def body(team: pt.Team) -> None:
        own = PLAIN.iloc[: 2 + team.rank]
        with pytest.raises(pt.ProtocolError, match=r"ranks\[1\]") as caught:
            pt.from_local(own, layout, team)
        assert caught.value.reason == "data-shape"
        with pytest.raises(pt.LayoutError, match="without some ranks") as wrong:
            pt.from_local(PLAIN, pt.Layout(PLAIN.shape, "*, * @ 1x1"), team)
        assert wrong.value.reason == "frame-ranks"

    pt.spmd(body, ranks=2)


WRONG_LAYOUTS: dict[str, Any] = {
    "shapes-differ": pt.Layout((5, 2), "*, * @ 1x1"),
    "frame-halo": pt.Layout((4, 2), [pt.Block(halo=(1, 1)), pt.Whole()], grid=(1, 1)),
    "frame-partial": pt.Layout((4, 2), "*, * @ 1x1x1", partial=[2]),
    "layout-type": 5,
}


def test_tables_take_layouts_as_text() -> None:
    table = pt.asarray(PLAIN).redistribute("*, *")
    assert table.layout.notation.startswith("*, * @ ")


@pytest.mark.parametrize("reason", WRONG_LAYOUTS)
def test_layouts_that_tables_cannot_have(reason: str) -> None:
    with pytest.raises(pt.LayoutError) as caught:
        pt.asarray(PLAIN).redistribute(WRONG_LAYOUTS[reason])
    assert caught.value.reason == reason


def test_ray_gets_the_tables_themselves() -> None:
    ray.init(num_cpus=1, include_dashboard=False, log_to_driver=False)
    try:
        refs = pt.asarray(WHOLE).to_ray()
        assert refs is not None
        (found,) = ray.get(refs)
    finally:
        ray.shutdown()
    alike(found, WHOLE)


def test_bytes_and_dtypes_of_tables() -> None:
    nullable = pd.DataFrame({"a": pd.array([1, None], dtype="Int16")})
    times = pd.DataFrame({"t": pd.to_datetime(["2020-01-01"]).astype("datetime64[s]")})
    assert (pt.asarray(PLAIN).nbytes, pt.asarray(nullable).nbytes) == (4 * 16, 2 * 3)
    assert pt.asarray(times).dtype == np.dtype("datetime64[s]")
    assert pt.asarray(nullable).dtype == object


def test_tables_are_no_plain_buffers() -> None:
    a = pt.asarray(PLAIN)
    with pytest.raises(pt.ProtocolError, match="from_pandas") as caught:
        a.to_dask()
    assert caught.value.reason == "frame-dask"
    with pytest.raises(BufferError, match="__partitioned__"):
        np.from_dlpack(a)
    with pytest.raises(pt.LayoutError, match="root 5"):
        a.gather(root=5)
