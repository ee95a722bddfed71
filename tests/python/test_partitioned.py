"""`__partitioned__` both ways, on teams of threads: no copy, any grid, any neighbour."""

from __future__ import annotations

import gc
import pickle
import weakref
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

import partita as pt

Cuts = Sequence[Sequence[int]]
Array = np.ndarray[Any, Any]


def same(handles: Any) -> Any:
    return handles


class Handle:
    """A reference to data that lies elsewhere."""

    def __init__(self, value: Any) -> None:
        self.value = value


def table(whole: Array, cuts: Cuts, local: Sequence[Any] | None = None) -> dict[str, Any]:
    """A dictionary of an array's pieces: handles, or arrays where positions are local."""
    parts = {}
    for position in product(*(range(len(own)) for own in cuts)):
        start = tuple(sum(own[:k]) for own, k in zip(cuts, position, strict=True))
        shape = tuple(own[k] for own, k in zip(cuts, position, strict=True))
        box: Any = (*(slice(a, a + n) for a, n in zip(start, shape, strict=True)), ...)
        data: Any = None
        if local is None:
            data = Handle(whole[box])
        elif position in local:
            data = whole[box]
        parts[position] = {"start": start, "shape": shape, "data": data, "location": [("h", 1)]}
    found = {
        "shape": whole.shape,
        "partition_tiling": tuple(len(own) for own in cuts),
        "partitions": parts,
        "get": lambda handles: [handle.value for handle in handles] if local is None else handles,
    }
    if local is not None:
        found["locals"] = list(local)
    return found


GRIDS: list[tuple[tuple[int, ...], Cuts]] = [
    ((64,), [[16] * 4]),
    ((8, 8), [[4, 4], [4, 4]]),
    ((7, 2), [[3, 2, 2], [2]]),
    ((2,), [[1, 1, 0]]),
    ((0,), [[0, 0, 0]]),
    ((), []),
    ((5, 0, 3), [[2, 3], [0], [1, 1, 1]]),
    ((6, 5, 4), [[1, 5], [2, 2, 1], [4]]),
    ((9,), [[0, 9, 0]]),
]


def numbers(shape: tuple[int, ...]) -> Array:
    return np.arange(np.prod(shape, dtype=int), dtype=float).reshape(shape)


@pytest.mark.parametrize(("shape", "cuts"), GRIDS, ids=str)
@pytest.mark.parametrize("n_ranks", [1, 2, 3, 4])
def test_handles_on_any_number_of_ranks(shape: tuple[int, ...], cuts: Cuts, n_ranks: int) -> None:
    whole = numbers(shape)

    def body(team: pt.Team) -> None:
        asked: list[Any] = []
        given = table(whole, cuts)

        def get(handles: Any) -> Any:
            asked.append(handles)
            return [handle.value for handle in handles]

        given["get"] = get
        a = pt.from_partitioned(given, team=team)
        assert a.shape == shape
        assert len(asked) <= 1
        assert all(type(handles) is list for handles in asked)
        np.testing.assert_array_equal(a.gather(), whole)
        assert all(np.shares_memory(piece, whole) for _, piece in a.pieces if piece.size)
        assert all(copied.shares_memory for copied in a.copies())

    pt.spmd(body, ranks=n_ranks)


@pytest.mark.parametrize(("shape", "cuts"), GRIDS, ids=str)
@pytest.mark.parametrize("n_ranks", [1, 2, 3, 5])
def test_local_arrays_and_the_way_back(shape: tuple[int, ...], cuts: Cuts, n_ranks: int) -> None:
    whole = numbers(shape)
    positions = list(product(*(range(len(own)) for own in cuts)))

    def body(team: pt.Team) -> None:
        # Dealt out in turn, so that some ranks have several and some none.
        local = positions[team.rank :: team.size][::-1]
        given = table(whole, cuts, local)
        a = pt.from_partitioned(given, team=team)
        np.testing.assert_array_equal(a.gather(), whole)
        handed = a.__partitioned__
        assert pt.check(handed) == []
        assert pt.check(handed, strict=True) == []
        assert pt.check(handed, team=team) == []
        assert handed["locals"] == sorted(local)
        assert handed["partition_tiling"] == given["partition_tiling"]
        for position, part in handed["partitions"].items():
            wanted = given["partitions"][position]
            assert (part["start"], part["shape"]) == (wanted["start"], wanted["shape"])
            assert (part["data"] is None) == (position not in local)
            if part["data"] is not None and part["data"].size:
                assert np.shares_memory(part["data"], wanted["data"])
        b = pt.from_partitioned(handed, team=team)
        assert b.layout == a.layout
        if shape:
            dealt = pt.Layout(shape, maps(shape), grid=(team.size, *(1 for _ in shape[1:])))
            np.testing.assert_array_equal(b.redistribute(dealt).gather(), whole)

    pt.spmd(body, ranks=n_ranks)


def maps(shape: tuple[int, ...]) -> list[Any]:
    return [pt.Cyclic(), *(pt.Whole() for _ in shape[1:])]


LAYOUTS = [
    ((17,), "block @ {n}"),
    ((17,), "cyclic(3) @ {n}"),
    ((2,), "cyclic(5) @ {n}"),
    ((0,), "cyclic @ {n}"),
    ((0, 3), "block, * @ {n}x1"),
    ((12, 20), "block, * @ {n}x1"),
    ((12, 20), "*, cyclic(7) @ 1x{n}"),
    ((12, 20), "block+halo(1,1), * @ {n}x1"),
    ((12, 20), "block+halo(2,1)+periodic, * @ {n}x1"),
    ((12, 20), "block(last), cyclic(4) @ {n}x2"),
    ((5, 6), "*, * @ 1x{n}"),
    ((4, 6), "block, * @ 2x{n}"),
]


@pytest.mark.parametrize(("shape", "notation"), LAYOUTS, ids=str)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_layout_of_boxes_is_handed_on(shape: tuple[int, ...], notation: str, n: int) -> None:
    layout = pt.Layout(shape, notation.format(n=n))
    whole = numbers(shape)

    def body(team: pt.Team) -> None:
        a = pt.asarray(whole, layout, team, copy=True)
        handed = a.__partitioned__
        assert pt.check(handed, strict=True) == []
        for dialect in ("heat", "ip"):
            assert pt.check(a.partitioned(dialect=dialect)) == []
        for part in handed["partitions"].values():
            if part["data"] is not None:
                box = zip(part["start"], part["shape"], strict=True)
                wanted = whole[tuple(slice(start, start + size) for start, size in box)]
                np.testing.assert_array_equal(part["data"], wanted)
                assert not part["data"].size or np.shares_memory(part["data"], a.local)
        b = pt.from_partitioned(handed, team=team)
        np.testing.assert_array_equal(b.gather(), whole)

    pt.spmd(body, ranks=layout.n_ranks)


def test_layouts_without_boxes_are_refused_by_name() -> None:
    lists = pt.Layout(4, [pt.Unstructured([[3, 0], [1, 2]])], grid=2)
    partial = pt.Layout(4, "* @ 2 partial 0")
    holes = pt.Layout.from_boxes((4,), [[((0,), (1,))], [((2,), (1,))]])
    askew = pt.Layout.from_boxes(
        (4, 4), [[((0, 0), (2, 3)), ((2, 0), (2, 1))], [((0, 3), (2, 1)), ((2, 1), (2, 3))]]
    )

    def body(team: pt.Team) -> None:
        cases = [
            (lists, "layout-unstructured", "__distarray__"),
            (partial, "layout-partial", "partial"),
            (holes, "layout-not-a-grid", "redistribute"),
            (askew, "layout-not-a-grid", "redistribute"),
        ]
        for layout, reason, word in cases:
            shapes = [
                layout.local_shape(team.rank, buffer=k) for k in range(layout.n_buffers(team.rank))
            ]
            a = pt.from_local([np.zeros(shape) for shape in shapes], layout, team)
            with pytest.raises(pt.ProtocolError, match=word) as caught:
                _ = a.__partitioned__
            assert caught.value.reason == reason

    pt.spmd(body, ranks=2)


def test_boxes_are_handed_on() -> None:
    layout = pt.Layout.from_boxes(
        (4, 4), [[((2, 2), (2, 2)), ((0, 0), (2, 2))], [((0, 2), (2, 2)), ((2, 0), (2, 2))]]
    )
    whole = numbers((4, 4))

    def body(team: pt.Team) -> None:
        a = pt.asarray(whole, layout, team)
        handed = a.__partitioned__
        assert handed["partition_tiling"] == (2, 2)
        assert handed["locals"] == ([(0, 0), (1, 1)] if team.rank == 0 else [(0, 1), (1, 0)])
        np.testing.assert_array_equal(pt.from_partitioned(handed, team=team).gather(), whole)

    pt.spmd(body, ranks=2)


def test_writes_are_seen_on_both_sides() -> None:
    mine = np.zeros((3, 2))
    a = pt.from_partitioned(table(mine, [[3], [2]], [(0, 0)]))
    mine[1, 1] = 5
    assert a.local[1, 1] == 5
    a.local[0, 0] = 7
    assert mine[0, 0] == 7
    data = a.__partitioned__["partitions"][(0, 0)]["data"]
    data[2, 0] = 9
    assert (mine[2, 0], a.local[2, 0]) == (9, 9)


def test_the_producer_lives_as_long_as_its_memory() -> None:
    class Memory(bytearray):
        """A bytearray that can be watched."""

    class Producer:
        def __init__(self) -> None:
            self.memory = Memory(32)
            data = np.frombuffer(self.memory)
            self.__partitioned__ = table(data, [[4]], [(0,)])

    producer = Producer()
    watched = weakref.ref(producer)
    memory = producer.memory
    a = pt.from_partitioned(producer)
    del producer
    gc.collect()
    assert watched() is not None
    a.local[...] = 3
    with pytest.raises(BufferError):
        memory.append(1)
    del a
    gc.collect()
    assert watched() is None
    memory.append(1)


def test_read_only_stays_read_only() -> None:
    frozen = np.arange(4.0)
    frozen.flags.writeable = False
    a = pt.from_partitioned(table(frozen, [[4]], [(0,)]))
    assert np.shares_memory(a.local, frozen)
    with pytest.raises(ValueError, match="read-only"):
        a.local[0] = 1
    b = pt.from_partitioned(table(frozen, [[4]], [(0,)]), copy=True)
    b.local[0] = 9
    assert frozen[0] == 0
    assert [(c.shares_memory, c.why) for c in b.copies()] == [(False, "copy=True")]


@pytest.mark.parametrize(
    "data",
    [
        np.asfortranarray(numbers((4, 6))),
        numbers((8, 12))[::2, ::2],
        numbers((4, 6))[::-1, ::-1],
        np.broadcast_to(np.arange(6.0), (4, 6)),
        numbers((4, 6)).astype(np.complex64),
        numbers((4, 6)) > 3,
    ],
    ids=["F", "strided", "negative", "broadcast", "complex", "bool"],
)
def test_strides_of_every_kind_are_kept(data: Array) -> None:
    a = pt.from_partitioned(table(data, [[4], [6]], [(0, 0)]))
    assert a.local.strides == data.strides
    assert np.shares_memory(a.local, data)
    assert a.dtype == data.dtype
    np.testing.assert_array_equal(a.gather(), data)


def test_foreign_byte_order_is_turned_or_refused() -> None:
    data = np.arange(4, dtype=">f8")
    a = pt.from_partitioned(table(data, [[4]], [(0,)]))
    np.testing.assert_array_equal(a.gather(), np.arange(4.0))
    assert [c.shares_memory for c in a.copies()] == [False]
    assert "byte order" in a.copies()[0].why
    with pytest.raises(pt.ProtocolError, match="copy"):
        pt.from_partitioned(table(data, [[4]], [(0,)]), copy=False)
    with pytest.raises(pt.LayoutError, match="byte order"):
        pt.from_local(data, pt.Layout(4, "*"))


class OnlyInterface:
    def __init__(self, array: Array) -> None:
        self.__array_interface__ = array.__array_interface__
        self._keep = array


class OnlyDlpack:
    def __init__(self, array: Array) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


CONTAINERS: list[Any] = [np.asarray, OnlyInterface, OnlyDlpack, memoryview]


@pytest.mark.parametrize("wrap", CONTAINERS, ids=lambda wrap: wrap.__name__)
def test_containers(wrap: Callable[[Array], Any]) -> None:
    data = numbers((4, 3))
    given = table(data, [[2, 2], [3]], [(0, 0), (1, 0)])
    for part in given["partitions"].values():
        part["data"] = wrap(part["data"])
    a = pt.from_partitioned(given)
    np.testing.assert_array_equal(a.gather(), data)
    assert all(np.shares_memory(piece, data) for _, piece in a.pieces)
    given["partitions"][(1, 0)]["data"] = wrap(numbers((2, 2)))
    with pytest.raises(pt.ProtocolError) as caught:
        pt.from_partitioned(given)
    assert caught.value.reason == "data-shape"


def get_one(handle: Any) -> Any:
    return handle.value


def get_list(handles: Any) -> Any:
    return [handle.value for handle in list.copy(handles)]


def get_tuple(handles: Any) -> Any:
    return tuple(handle.value for handle in handles)


def get_both(handles: Any) -> Any:
    return [h.value for h in handles] if isinstance(handles, list) else handles.value


@pytest.mark.parametrize("get", [get_one, get_list, get_tuple, get_both])
def test_every_kind_of_get(get: Any) -> None:
    whole = numbers((6, 4))
    given = {**table(whole, [[2, 4], [3, 1]]), "get": get}
    np.testing.assert_array_equal(pt.from_partitioned(given).gather(), whole)


STACK = np.arange(6.0).reshape(2, 3)

ODD_GETS: dict[str, Callable[[Any], Any]] = {
    "indexes by one": lambda handles: STACK[handles],
    "a deque": lambda handles: deque(STACK[handle] for handle in handles),
    "a generator": lambda handles: (STACK[handle] for handle in handles),
    "an array of objects": lambda handles: objects(STACK[handle] for handle in handles),
}


def objects(items: Iterable[Any]) -> Any:
    listed = list(items)
    made = np.empty(len(listed), dtype=object)
    made[:] = listed
    return made


@pytest.mark.parametrize("name", ODD_GETS)
def test_get_may_answer_in_many_forms(name: str) -> None:
    given = table(STACK.reshape(6), [[3, 3]])
    for number, part in enumerate(given["partitions"].values()):
        part["data"] = number
    given["get"] = ODD_GETS[name]
    np.testing.assert_array_equal(pt.from_partitioned(given).gather(), STACK.reshape(6))


LIKE_DATA: dict[str, Callable[[int], Any]] = {
    "bytes as long as the partition": lambda number: bytes([number]) * 3,
    "longer bytes": lambda number: bytes([number]) * 16,
    "NumPy's numbers": np.int64,
    "arrays without dimensions": lambda number: np.array(number),
    "arrays": lambda number: np.full(3, number),
    "memory": lambda number: np.full(3, number).data,
}


@pytest.mark.parametrize("name", LIKE_DATA)
@pytest.mark.parametrize("takes", ["a list", "one"])
def test_what_get_gives_is_the_data(name: str, takes: str) -> None:
    """Handles may show memory of their own; `get` is asked for each once, by who needs it."""

    def number(handle: Any) -> int:
        return int(
            np.asarray(handle if isinstance(handle, np.generic) else memoryview(handle)).flat[0]
        )

    def body(team: pt.Team) -> None:
        asked: list[int] = []

        def fetch(handle: Any) -> Any:
            asked.append(number(handle))
            return STACK[asked[-1]]

        def get(handles: Any) -> Any:
            assert type(handles) is not tuple
            if takes == "one":
                if type(handles) is list:
                    raise TypeError("one handle at a time")
                return fetch(handles)
            return [fetch(handle) for handle in handles]

        given = {**table(STACK.reshape(6), [[3, 3]]), "get": get}
        for at, part in enumerate(given["partitions"].values()):
            part["data"] = LIKE_DATA[name](at)
        assert pt.check(given) == []
        a = pt.from_partitioned(given, team=team)
        assert asked == ([0, 1] if team.size == 1 else [team.rank])
        np.testing.assert_array_equal(a.gather(), STACK.reshape(6))
        assert all(np.shares_memory(piece, STACK) for _, piece in a.pieces)

    pt.spmd(body, ranks=1)
    pt.spmd(body, ranks=2)


def test_get_changes_arrays() -> None:
    whole = numbers((6,))
    given = table(whole, [[3, 3]], [(0,), (1,)])
    given["get"] = lambda arrays: [2 * array for array in arrays]
    np.testing.assert_array_equal(pt.from_partitioned(given).gather(), 2 * whole)
    given["get"] = lambda arrays: [array.astype("f4") for array in arrays]
    assert pt.from_partitioned(given).dtype == np.dtype("f4")
    given["get"] = get_raises
    with pytest.raises(pt.ProtocolError) as caught:
        pt.from_partitioned(given)
    assert caught.value.reason == "get-raised"


def test_an_array_of_all_pieces_is_asked_for_once() -> None:
    asked = []

    def get(handles: Any) -> Any:
        asked.append(handles)
        return STACK[handles]

    given = {**table(STACK.reshape(6), [[3, 3]]), "get": get}
    for number, part in enumerate(given["partitions"].values()):
        part["data"] = number
    np.testing.assert_array_equal(pt.from_partitioned(given).gather(), STACK.reshape(6))
    assert asked == [[0, 1]]


class Frame:
    """As much of a table as makes it one."""

    iloc = columns = None
    shape = (3, 2)


@pytest.mark.parametrize(
    ("shape", "cuts"), [((6,), [[3, 3]]), ((), []), ((2, 2, 2), [[2], [2], [2]])]
)
def test_tables_want_rows_and_columns(shape: tuple[int, ...], cuts: Cuts) -> None:
    def body(team: pt.Team) -> str:
        given = {**table(numbers(shape), cuts), "get": lambda handles: [Frame() for _ in handles]}
        with pytest.raises(pt.ProtocolError) as caught:
            pt.from_partitioned(given, team=team)
        return caught.value.reason

    for n_ranks in (1, 2):
        assert pt.spmd(body, ranks=n_ranks) == ["data-shape"] * n_ranks


def test_a_rank_that_has_nothing() -> None:
    whole = numbers((6,))

    def body(team: pt.Team) -> None:
        local = [(0,), (1,)] if team.rank == 1 else []
        a = pt.from_partitioned(table(whole, [[3, 3]], local), team=team)
        np.testing.assert_array_equal(a.gather(), whole)
        assert a.__partitioned__["locals"] == local

    pt.spmd(body, ranks=2)
    alone = pt.from_partitioned(table(whole, [[3, 3]], []))
    assert (alone.pieces, alone.shape) == ([], (6,))
    handed = alone.__partitioned__
    assert (handed["locals"], pt.check(handed)) == ([], [])
    with pytest.raises(pt.LayoutError):
        alone.gather()


def test_handles_that_name_their_dtype_are_fetched() -> None:
    given = table(STACK.reshape(6), [[3, 3]])
    for part in given["partitions"].values():
        part["dtype"] = np.dtype("float64")
    a = pt.asarray(given)
    np.testing.assert_array_equal(a.gather(), STACK.reshape(6))
    assert a.dtype == np.dtype("float64")


def get_raises(handles: Any) -> Any:
    raise OSError("the store is gone")


BAD_GETS: list[tuple[Callable[[Any], Any], str]] = [
    (get_raises, "get-raised"),
    (lambda handles: handles[:-1], "get-result"),
    (lambda handles: None, "get-result"),
    (lambda handles: 7, "get-result"),
    (lambda handles: [None] * len(handles), "get-result"),
    (lambda handles: [np.zeros(2)] * len(handles), "data-shape"),
    (lambda handles: [np.zeros(3), np.zeros(3, "f4")], "data-dtypes-differ"),
    (lambda handles: [np.zeros(3), np.zeros(3).data], "data-types-differ"),
    (lambda handles: [np.array([object()] * 3)] * 2, "data-type"),
    (lambda handles: [[1, 2, 3]] * 2, "data-type"),
    (lambda handles: handles, "data-type"),
]


@pytest.mark.parametrize(("get", "reason"), BAD_GETS, ids=[reason for _, reason in BAD_GETS])
@pytest.mark.parametrize("n_ranks", [1, 2])
def test_a_bad_get_is_an_error_on_every_rank(get: Any, reason: str, n_ranks: int) -> None:
    def body(team: pt.Team) -> str:
        given = table(numbers((6,)), [[3, 3]])
        if team.rank == n_ranks - 1:
            given["get"] = get
        if n_ranks == 2:
            given["partitions"] = {
                key: {**part, "location": [0, 1]} for key, part in given["partitions"].items()
            }
            # Both partitions on the last rank.
            for part in given["partitions"].values():
                part["location"] = [1]
        try:
            pt.from_partitioned(given, team=team)
        except pt.ProtocolError as error:
            return error.reason
        return "accepted"

    assert pt.spmd(body, ranks=n_ranks) == [reason] * n_ranks


def test_calls_back_into_partita() -> None:
    whole = numbers((6,))

    def get(handles: Any) -> Any:
        inner = pt.from_partitioned(table(whole, [[6]], [(0,)]))
        return [inner.local[:3], inner.local[3:]]

    np.testing.assert_array_equal(
        pt.from_partitioned({**table(whole, [[3, 3]]), "get": get}).gather(), whole
    )


def test_ranks_that_disagree_are_told_on_every_rank() -> None:
    def body(team: pt.Team) -> tuple[str, bool]:
        rows = 7 if team.rank == 1 else 6
        cuts = [[2, 2, rows - 4], [2]]
        given = table(numbers((rows, 2)), cuts, [(team.rank, 0)])
        with pytest.raises(pt.ProtocolError) as caught:
            pt.from_partitioned(given, team=team)
        good = table(numbers((6, 2)), [[2, 2, 2], [2]], [(team.rank, 0)])
        if team.rank == 2:
            good["partitions"][(2, 0)]["shape"] = (3, 2)
        with pytest.raises(pt.ProtocolError, match=r"ranks\[2\]"):
            pt.from_partitioned(good, team=team)
        team.barrier()
        return caught.value.reason, "(7, 2) on rank 1, (6, 2) on rank 0" in str(caught.value)

    assert pt.spmd(body, ranks=3) == [("ranks-differ", True)] * 3


def test_one_rank_of_several_alone() -> None:
    """A dictionary of rank 0, held without the other ranks."""
    whole = numbers((8, 8))
    given = table(whole, [[2] * 4, [8]], [(0, 0), (2, 0)])
    for number, part in enumerate(given["partitions"].values()):
        device = () if number % 2 == 0 else (f"kDLOneAPI:{number // 2}",)
        part["location"] = [(f"1.1.1.{1 + number % 2}", 7 + number % 2, *device)]
    a = pt.from_partitioned(given)
    assert [piece.start for piece, _ in a.pieces] == [(0, 0), (4, 0)]
    assert all(np.shares_memory(buffer, whole) for _, buffer in a.pieces)
    np.testing.assert_array_equal(a.partition((2, 0)), whole[4:6])
    with pytest.raises(
        pt.ProtocolError, match=r"partition \(1, 0\) is not local \(location .*1.1.1.2"
    ):
        a.partition((1, 0))
    with pytest.raises(pt.ProtocolError, match=r"no partition \(9, 0\)"):
        a.partition((9, 0))
    with pytest.raises(pt.LayoutError):
        a.gather()
    handed = a.__partitioned__
    assert pt.check(handed) == []
    assert handed["partitions"][(1, 0)]["location"] == [("1.1.1.2", 8, "kDLOneAPI:0")]


AS_THEY_CAME: list[list[Any]] = [
    [("1.1.1.2", 5, "kDLCUDA:1")],
    [("1.1.1.2", 5, "kDLCUDA")],
    [("1.1.1.2", 5)],
    ["1.1.1.2"],
    [3],
    [("1.1.1.2", 5, "kDLCUDA:1"), ("1.1.1.3", 7)],
    [],
]


@pytest.mark.parametrize("places", AS_THEY_CAME, ids=str)
def test_places_that_others_have_are_handed_on_as_they_came(places: list[Any]) -> None:
    given = table(numbers((6,)), [[3, 3]], [(0,)])
    given["partitions"][(1,)]["location"] = places
    a = pt.from_partitioned(given)
    assert a.__partitioned__["partitions"][(1,)]["location"] == places
    again = pt.from_partitioned(a.__partitioned__).__partitioned__
    assert again["partitions"][(1,)]["location"] == places
    ips = [place if isinstance(place, str) else place[0] for place in places if place != 3]
    assert a.partitioned("ip")["partitions"][(1,)]["location"] == ips
    ranks = [place for place in places if place == 3]
    assert a.partitioned("heat")["partitions"][(1,)]["location"] == ranks


def test_replicas_are_held_and_handed_on() -> None:
    pt.spmd(_replicas, ranks=3)


def test_a_place_that_contradicts_locals_is_told() -> None:
    with pytest.raises((pt.ProtocolWarning, pt.RemoteError)):
        pt.spmd(_contradiction, ranks=3)


def _contradiction(team: pt.Team) -> None:
    given = table(numbers((4, 3)), [[4], [3]], [(0, 0)])
    given["partitions"][(0, 0)]["location"] = [2]
    pt.from_partitioned(given, team=team)


def _replicas(team: pt.Team) -> None:
    whole = numbers((4, 3))
    given = table(whole.copy(), [[4], [3]], [(0, 0)])
    given["partitions"][(0, 0)]["location"] = [0, 1, 2]
    a = pt.from_partitioned(given, team=team)
    assert a.layout == pt.Layout((4, 3), "*, * @ 1x1x3")
    assert np.shares_memory(a.local, given["partitions"][(0, 0)]["data"])
    np.testing.assert_array_equal(a.gather(), whole)
    assert a.partitioned("heat")["partitions"][(0, 0)]["location"] == [0, 1, 2]


def test_ranks_in_any_order() -> None:
    whole = numbers((9, 2))

    def body(team: pt.Team) -> None:
        mine = (2 - team.rank, 0)
        a = pt.from_partitioned(table(whole, [[3, 3, 3], [2]], [mine]), team=team)
        assert tuple(a.layout.ranks) == (2, 1, 0)
        np.testing.assert_array_equal(a.local, whole[3 * mine[0] : 3 * mine[0] + 3])
        np.testing.assert_array_equal(a.gather(), whole)
        assert a.__partitioned__["locals"] == [mine]

    pt.spmd(body, ranks=3)


def test_fields_of_their_own_are_handed_on() -> None:
    given = table(numbers((4,)), [[2, 2]], [(0,), (1,)])
    given["labels"] = ["a", "b"]
    given["partitions"][(1,)]["dtype"] = "float64"
    handed = pt.from_partitioned(given).__partitioned__
    assert handed["labels"] == ["a", "b"]
    assert handed["partitions"][(1,)]["dtype"] == "float64"
    assert "dtype" not in handed["partitions"][(0,)]


def test_dictionaries_can_be_pickled() -> None:
    def body(team: pt.Team) -> None:
        a = pt.asarray(numbers((6, 4)), pt.Layout((6, 4), "block, * @ 2x1"), team)
        handed = a.__partitioned__
        again = pickle.loads(pickle.dumps(handed))
        assert again["locals"] == handed["locals"]
        ((mine, part),) = [(k, p) for k, p in again["partitions"].items() if p["data"] is not None]
        assert mine == (team.rank, 0)
        (data,) = again["get"]([part["data"]])
        np.testing.assert_array_equal(data, a.local)
        assert again["get"](part["data"]) is part["data"]
        b = pickle.loads(pickle.dumps(a.__distarray__()))
        np.testing.assert_array_equal(b["buffer"], a.local)

    pt.spmd(body, ranks=2)


def test_dictionaries_are_fresh_every_time() -> None:
    a = pt.asarray(numbers((6,)))
    a.__partitioned__["partitions"].clear()
    assert pt.check(a.__partitioned__) == []
    b = a.redistribute(pt.Layout((6,), "cyclic(2) @ 1"))
    assert b.__partitioned__["partition_tiling"] == (3,)


def test_dialects() -> None:
    a = pt.asarray(numbers((6,)))
    ((ip, pid),) = a.__partitioned__["partitions"][(0,)]["location"]
    assert isinstance(ip, str)
    assert isinstance(pid, int)
    assert a.partitioned("heat")["partitions"][(0,)]["location"] == [0]
    assert a.partitioned("ip")["partitions"][(0,)]["location"] == [ip]
    with pytest.raises(pt.ProtocolError, match="'english'"):
        a.partitioned("english")


PLACES: list[Any] = [[0], 0, ["10.0.0.1"], "10.0.0.1", [("10.0.0.1", 7)], ("10.0.0.1", 7)]


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_places_in_every_dialect(place: Any) -> None:
    given = table(numbers((4,)), [[2, 2]])
    for part in given["partitions"].values():
        part["location"] = place
    np.testing.assert_array_equal(pt.from_partitioned(given).gather(), numbers((4,)))


def test_objects_that_are_no_producer() -> None:
    for wrong in (3, None, "x", np.zeros(2), [1]):
        with pytest.raises(pt.ProtocolError) as caught:
            pt.from_partitioned(wrong)
        assert caught.value.reason == "not-a-dict"


def test_asarray_takes_what_is_there() -> None:
    whole = numbers((6, 4))
    assert np.shares_memory(pt.asarray(whole).local, whole)
    assert pt.asarray([1, 2, 3]).local.tolist() == [1, 2, 3]
    assert pt.asarray(3.5).shape == ()

    def body(team: pt.Team) -> None:
        rows = pt.Layout((6, 4), "block, * @ 2x1")
        a = pt.asarray(whole, rows, team)
        assert np.shares_memory(a.local, whole)
        assert pt.asarray(a) is a
        b = pt.asarray(a, pt.Layout((6, 4), "*, cyclic @ 1x2"))
        np.testing.assert_array_equal(b.gather(), whole)
        c = pt.asarray(whole, pt.Layout((6, 4), "cyclic, * @ 2x1"), team)
        assert [copied.shares_memory for copied in c.copies()] == [False]
        np.testing.assert_array_equal(c.gather(), whole)
        np.testing.assert_array_equal(pt.asarray(a.__partitioned__, team=team).gather(), whole)
        np.testing.assert_array_equal(pt.asarray(b.__distarray__(), team=team).gather(), whole)

    pt.spmd(body, ranks=2)
    with pytest.raises(pt.LayoutError, match="one shape"):
        pt.asarray(whole, pt.Layout((4, 6), "*, *"))


def test_notebooks_show_facts_and_a_picture() -> None:
    def body(team: pt.Team) -> str:
        layout = pt.Layout((12, 20), "block, * @ 3x1")
        a = pt.asarray(numbers((12, 20)), layout, team)
        if team.rank:
            return ""
        # Only one rank shows it: nothing is asked of the others.
        assert repr(a) == "<Array (12, 20) float64, block, * @ 3x1>"
        return a._repr_html_()

    page = pt.spmd(body, ranks=3)[0]
    assert "<svg" in page
    assert page.count("<tr>") >= 4 + 4
    assert "640" in page  # 4 rows of 20 numbers of 8 bytes
    assert "3 ranks on threads" in page
    for fact in ("shape", "layout", "dtype", "team"):
        assert page.count(f">{fact}</th>") == 1, fact
    assert "1 rank on threads" in pt.asarray(numbers((4, 6)))._repr_html_()
    many = pt.Layout((5,), [pt.Block(sizes=[0] * 39 + [5])], grid=40)
    assert len(repr(pt.Array([], many, pt.world(), "f8"))) <= 80
