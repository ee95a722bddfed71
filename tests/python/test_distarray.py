"""`__distarray__` both ways, on teams of threads: all kinds, padding, old editions, no copy."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
import pytest

import partita as pt

Dim = dict[str, Any]
Array = np.ndarray[Any, Any]


def block(size: int, bounds: Sequence[int], k: int, **more: Any) -> Dim:
    return {
        "dist_type": "b",
        "size": size,
        "proc_grid_size": len(bounds) - 1,
        "proc_grid_rank": k,
        "start": bounds[k],
        "stop": bounds[k + 1],
        **more,
    }


def cyclic(size: int, n: int, k: int, b: int = 1) -> Dim:
    dim = {"dist_type": "c", "size": size, "proc_grid_size": n, "proc_grid_rank": k, "start": k * b}
    return dim if b == 1 else {**dim, "block_size": b}


def lists(size: int, own: Sequence[Sequence[int]], k: int, **more: Any) -> Dim:
    return {
        "dist_type": "u",
        "size": size,
        "proc_grid_size": len(own),
        "proc_grid_rank": k,
        "indices": np.array(own[k], dtype=np.int64),
        **more,
    }


def indices(dim: Dim) -> list[int]:
    """The global indices of a dimension's buffer, one by one."""
    if dim["dist_type"] == "b":
        return list(range(dim["start"], dim["stop"]))
    if dim["dist_type"] == "u":
        return [int(index) for index in dim["indices"]]
    b, n, first = dim.get("block_size", 1), dim["proc_grid_size"], dim["start"]
    return [i for i in range(first, dim["size"]) if (i - first) % (n * b) < b]


def ranks(*dims: list[Dim]) -> list[tuple[Dim, ...]]:
    """The dimensions of every rank, in C order of the grid."""
    return list(product(*dims))


def whole_array(shape: Sequence[int]) -> Array:
    return np.arange(np.prod(shape, dtype=int), dtype=float).reshape(shape)


def blocks(*bounds: int) -> list[Dim]:
    return [block(bounds[-1], bounds, k) for k in range(len(bounds) - 1)]


def cycles(size: int, n: int, b: int = 1) -> list[Dim]:
    return [cyclic(size, n, k, b) for k in range(n)]


def turned(size: int, n: int, by: int, b: int = 1) -> list[Dim]:
    """What a slice leaves of cycles: the first block is that of another coordinate."""
    return [{**cyclic(size, n, k, b), "start": (k - by) % n * b} for k in range(n)]


def scattered(size: int, *own: Sequence[int], **more: Any) -> list[Dim]:
    return [lists(size, own, k, **more) for k in range(len(own))]


FIRST, SECOND = [29, 8, 18, 19, 11, 23, 10], [15, 1, 2]
REST = [index for index in range(30) if index not in FIRST + SECOND]

Case = tuple[str, tuple[int, ...], list[tuple[Dim, ...]]]

BLOCKS: list[Case] = [
    ("5x9 on 3x1", (5, 9), ranks(blocks(0, 2, 4, 5), blocks(0, 9))),
    ("5x9 on 1x3", (5, 9), ranks(blocks(0, 5), blocks(0, 3, 6, 9))),
    ("5x9 on 2x2", (5, 9), ranks(blocks(0, 3, 5), blocks(0, 5, 9))),
    ("irregular", (5, 9), ranks(blocks(0, 1, 5), blocks(0, 2, 9))),
    ("5 on 4", (5,), ranks(blocks(0, 2, 4, 5, 5))),
    ("nothing", (0, 3), ranks(blocks(0, 0, 0), blocks(0, 3))),
]
OTHERS: list[Case] = [
    ("block and cyclic", (5, 9), ranks(blocks(0, 3, 5), cycles(9, 2))),
    ("cyclic twice", (5, 9), ranks(cycles(5, 2), cycles(9, 2))),
    ("block-cyclic", (5, 9), ranks(cycles(5, 2, 2), cycles(9, 2, 2))),
    (
        "lists",
        (5, 9),
        ranks(scattered(5, [3, 0], [4, 2, 1]), scattered(9, [2, 3, 7, 1], [6, 5, 8, 0, 4])),
    ),
    ("three dimensions", (5, 9, 3), ranks(cycles(5, 2), blocks(0, 5, 9), cycles(3, 2))),
    ("lists of 30", (30,), ranks(scattered(30, FIRST, SECOND, REST, one_to_one=True))),
    ("2 on 4 in turn", (2,), ranks(cycles(2, 4))),
    ("10 on 4 by 4", (10,), ranks(cycles(10, 4, 4))),
    ("9 on 2, turned", (9,), ranks(turned(9, 2, 1))),
    ("10 on 3 by 2, turned", (10,), ranks(turned(10, 3, 2, 2))),
    ("2 on 4, turned", (2,), ranks(turned(2, 4, 3))),
    ("turned twice", (5, 9), ranks(turned(5, 2, 1), turned(9, 3, 1, 2))),
    ("turned beside a block", (5, 9), ranks(blocks(0, 3, 5), turned(9, 2, 1))),
    ("turned beside lists", (5, 9), ranks(scattered(5, [3, 0], [4, 2, 1]), turned(9, 2, 1))),
]


def dictionary(whole: Array, dims: tuple[Dim, ...]) -> dict[str, Any]:
    buffer = whole[np.ix_(*(indices(dim) for dim in dims))].copy() if dims else whole.copy()
    return {"__version__": "0.10.0", "buffer": buffer, "dim_data": dims}


def plain(dims: Sequence[Dim]) -> list[Dim]:
    """Dimensions with what is optional written out."""
    default: dict[str, Dim] = {
        "b": {"padding": (0, 0), "periodic": False},
        "c": {"block_size": 1},
        "u": {"one_to_one": False},
    }
    full = [{**default[dim["dist_type"]], **dim} for dim in dims]
    return [
        {key: value.tolist() if key == "indices" else value for key, value in dim.items()}
        for dim in full
    ]


@pytest.mark.parametrize(
    ("name", "shape", "dims"), BLOCKS + OTHERS, ids=[c[0] for c in BLOCKS + OTHERS]
)
def test_examples_there_and_back(name: str, shape: tuple[int, ...], dims: list[Any]) -> None:
    whole = whole_array(shape)

    def body(team: pt.Team) -> None:
        given = dictionary(whole, dims[team.rank])
        a = pt.from_distarray(given, team=team)
        assert (
            a.local is given["buffer"]
            or np.shares_memory(a.local, given["buffer"])
            or not a.local.size
        )
        np.testing.assert_array_equal(a.gather(), whole)
        assert all(copied.shares_memory for copied in a.copies())
        handed = a.__distarray__()
        assert handed["__version__"] == "0.10.0"
        assert plain(handed["dim_data"]) == plain(given["dim_data"])
        assert pt.check(handed, strict=True) == []
        assert pt.check(handed, team=team) == []
        a.local[...] = -1
        assert (given["buffer"] == -1).all()

    pt.spmd(body, ranks=len(dims))


@pytest.mark.parametrize(("name", "shape", "dims"), BLOCKS, ids=[c[0] for c in BLOCKS])
def test_blocks_to_partitioned_and_back(name: str, shape: tuple[int, ...], dims: list[Any]) -> None:
    whole = whole_array(shape)

    def body(team: pt.Team) -> None:
        given = dictionary(whole, dims[team.rank])
        a = pt.from_distarray(given, team=team)
        b = pt.from_partitioned(a.__partitioned__, team=team)
        assert not a.local.size or np.shares_memory(b.local, given["buffer"])
        assert plain(b.__distarray__()["dim_data"]) == plain(given["dim_data"])

    pt.spmd(body, ranks=len(dims))


def test_block_cyclic_becomes_rows_in_turn() -> None:
    whole = whole_array((8, 8))

    def body(team: pt.Team) -> None:
        dims = (cyclic(8, 2, team.rank, 2), block(8, [0, 8], 0))
        handed = pt.from_distarray(dictionary(whole, dims), team=team).__partitioned__
        assert handed["partition_tiling"] == (4, 1)
        assert handed["locals"] == [(team.rank, 0), (team.rank + 2, 0)]

    pt.spmd(body, ranks=2)


def test_counts_of_block_cyclic_ranks() -> None:
    known = {(3, 2, 2): [2, 1], (10, 4, 4): [4, 4, 2, 0], (10, 3, 2): [4, 4, 2], (7, 2, 3): [4, 3]}
    known |= {(13, 3, 4): [5, 4, 4], (9, 4, 5): [5, 4, 0, 0], (2, 4, 1): [1, 1, 0, 0]}
    for size, n, b in product(range(40), range(1, 6), range(1, 8)):
        for k in range(n):
            dim = cyclic(size, n, k, b)
            length = len(indices(dim))
            assert length == known.get((size, n, b), [length] * n)[k]
            good = {"__version__": "0.10.0", "buffer": np.zeros(length), "dim_data": (dim,)}
            assert pt.check(good) == []
            longer = {**good, "buffer": np.zeros(length + 1)}
            assert [one.reason for one in pt.check(longer)] == ["cyclic-buffer"]


@pytest.mark.parametrize("start", [9, 15])
def test_empty_cyclic_ranks_are_read_in_both_forms(start: int) -> None:
    def body(team: pt.Team) -> int:
        dim = cyclic(9, 4, team.rank, 5)
        given = dictionary(whole_array((9,)), (dim,))
        if team.rank == 3:
            given["dim_data"] = ({**dim, "start": start},)
        a = pt.from_distarray(given, team=team)
        np.testing.assert_array_equal(a.gather(), np.arange(9.0))
        found: int = a.__distarray__()["dim_data"][0]["start"]
        return found

    assert pt.spmd(body, ranks=4) == [0, 5, 10, 15]


PADS = [(4, 1), (1, 2), (2, 3), (3, 0)]
SPANS = [(0, 11), (9, 19), (15, 27), (21, 30)]


def test_padding_of_two_kinds() -> None:
    def body(team: pt.Team) -> int:
        start, stop = SPANS[team.rank]
        dim = block(30, [0, 1, 2, 3, 30], team.rank, padding=PADS[team.rank])
        dim |= {"start": start, "stop": stop}
        buffer = np.full(stop - start, -1.0)
        a = pt.from_distarray(
            {"__version__": "0.10.0", "buffer": buffer, "dim_data": (dim,)}, team=team
        )
        owned = a.owned
        owned[...] = np.arange(30.0)[[0, 10, 17, 24][team.rank] :][: len(owned)]
        np.testing.assert_array_equal(a.gather(), np.arange(30.0))
        assert (buffer == -1).sum() == len(buffer) - len(owned)
        a.exchange_halo()
        np.testing.assert_array_equal(buffer, np.arange(start, stop, dtype=float))
        (again,) = a.__distarray__()["dim_data"]
        assert (again["start"], again["stop"], again["padding"]) == (start, stop, PADS[team.rank])
        return len(owned)

    assert pt.spmd(body, ranks=4) == [10, 7, 7, 6]


def test_the_padded_example_of_18() -> None:
    def body(team: pt.Team) -> tuple[int, int]:
        span = [(0, 10), (8, 18)][team.rank]
        dim = {
            **block(18, [0, 9, 18], team.rank, padding=(1, 1)),
            "start": span[0],
            "stop": span[1],
        }
        new = {"__version__": "0.10.0", "buffer": np.arange(*span), "dim_data": (dim,)}
        old = {
            **new,
            "__version__": "0.9.0",
            "dim_data": (block(18, [0, 9, 18], team.rank, padding=(1, 1)),),
        }
        found = []
        for given in (new, old):
            a = pt.from_distarray(given, team=team)
            np.testing.assert_array_equal(a.gather(), np.arange(18))
            assert a.__distarray__()["dim_data"][0] == dim
            found.append((int(a.owned[0]), int(a.owned[-1]) + 1))
        assert found[0] == found[1]
        return found[0]

    assert pt.spmd(body, ranks=2) == [(0, 9), (9, 18)]


@pytest.mark.parametrize("version", ["0.9.0", "0.10.0"])
@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_periodic_edges_outside_the_size(version: str, n_ranks: int) -> None:
    bounds = [round(12 * k / n_ranks) for k in range(n_ranks + 1)]

    def body(team: pt.Team) -> None:
        k = team.rank
        dim = block(12, bounds, k, padding=(2, 2), periodic=True)
        if version == "0.10.0":
            dim["start"] -= 0 if k == 0 else 2
            dim["stop"] += 0 if k == n_ranks - 1 else 2
        length = bounds[k + 1] - bounds[k] + 4
        buffer = np.full(length, -1.0)
        a = pt.from_distarray(
            {"__version__": version, "buffer": buffer, "dim_data": (dim,)}, team=team
        )
        assert a.shape == (12,)
        a.owned[...] = np.arange(bounds[k], bounds[k + 1])
        a.exchange_halo()
        wanted = np.arange(bounds[k] - 2, bounds[k + 1] + 2) % 12
        np.testing.assert_array_equal(buffer, wanted)
        handed = a.__distarray__()
        assert pt.check(handed, strict=True, team=team) == []
        (again,) = handed["dim_data"]
        # Beyond the ends there are no indices: what lies there is not handed on.
        assert again["stop"] - again["start"] == handed["buffer"].shape[0]
        assert np.shares_memory(handed["buffer"], buffer)
        np.testing.assert_array_equal(
            pt.from_distarray(handed, team=team).gather(), np.arange(12.0)
        )

    pt.spmd(body, ranks=n_ranks)


@pytest.mark.parametrize("n_ranks", [1, 2, 4])
def test_periodic_halos_are_handed_on_inside_the_array(n_ranks: int) -> None:
    def body(team: pt.Team) -> None:
        layout = pt.Layout((12,), f"block+halo(2,2)+periodic @ {n_ranks}")
        a = pt.asarray(np.arange(12.0), layout, team, copy=True)
        handed = a.__distarray__()
        assert pt.check(handed, strict=True) == []
        assert pt.check(handed, strict=True, team=team) == []
        (dim,) = handed["dim_data"]
        np.testing.assert_array_equal(handed["buffer"], np.arange(dim["start"], dim["stop"]))
        left, right = dim.get("padding", (0, 0))
        assert (left == 0, right == 0) == (team.rank == 0, team.rank == n_ranks - 1)
        assert (dim["size"], dim["periodic"]) == (12, True)
        b = pt.from_distarray(handed, team=team)
        assert np.shares_memory(b.local, a.local)
        np.testing.assert_array_equal(b.gather(), np.arange(12.0))
        b.owned[...] += 1
        b.exchange_halo()
        np.testing.assert_array_equal(b.local, np.arange(dim["start"], dim["stop"]) + 1)

    pt.spmd(body, ranks=n_ranks)


def test_periodic_edges_inside_the_size() -> None:
    """The array has its edges twice; they are filled from the other end."""

    def body(team: pt.Team) -> None:
        span = [(0, 7), (5, 12)][team.rank]
        dim = {**block(12, [0, 6, 12], team.rank, padding=(1, 1), periodic=True)}
        dim |= {"start": span[0], "stop": span[1]}
        buffer = np.full(7, -1.0)
        a = pt.from_distarray(
            {"__version__": "0.10.0", "buffer": buffer, "dim_data": (dim,)}, team=team
        )
        assert a.shape == (12,)
        inner = slice(1, 6)
        buffer[inner] = np.arange(10.0)[5 * team.rank :][:5]
        a.exchange_halo()
        np.testing.assert_array_equal(buffer, (np.arange(7) + 5 * team.rank - 1) % 10)
        (again,) = a.__distarray__()["dim_data"]
        assert again == dim

    pt.spmd(body, ranks=2)


def test_the_empty_alias() -> None:
    def body(team: pt.Team) -> None:
        dims: tuple[Dim, ...] = (block(4, [0, 2, 4], team.rank), {}, {})
        buffer = np.zeros((2, 3, 0))
        a = pt.from_distarray(
            {"__version__": "0.10.0", "buffer": buffer, "dim_data": dims}, team=team
        )
        assert a.shape == (4, 3, 0)
        assert a.__distarray__()["dim_data"][1] == block(3, [0, 3], 0)
        old = ({**dims[0]}, {"dist_type": "n", "size": 3}, {"dist_type": "n", "size": 0})
        b = pt.from_distarray(
            {"__version__": "0.9.0", "buffer": buffer, "dim_data": old}, team=team
        )
        assert b.layout == a.layout

    pt.spmd(body, ranks=2)


def test_no_dimensions() -> None:
    a = pt.from_distarray({"__version__": "0.10.0", "buffer": np.array(3.0), "dim_data": ()})
    assert (a.shape, float(a.local), a.__distarray__()["dim_data"]) == ((), 3.0, ())


def test_indices_on_two_ranks() -> None:
    def body(team: pt.Team) -> None:
        own = [[0, 1, 2], [2, 3]]
        buffer = np.array(own[team.rank], dtype=float)
        dim = lists(4, own, team.rank)
        a = pt.from_distarray(
            {"__version__": "0.10.0", "buffer": buffer, "dim_data": (dim,)}, team=team
        )
        np.testing.assert_array_equal(a.gather(), np.arange(4.0))
        if team.rank == 1:
            buffer[0] = -7
        a.exchange_halo()
        assert buffer[0] == [0, 2][team.rank]

    pt.spmd(body, ranks=2)


BUFFERS: list[Any] = [
    np.asfortranarray(whole_array((4, 6))),
    whole_array((8, 12))[::2, ::2],
    whole_array((4, 6)).astype(complex),
    np.zeros((4, 6), dtype=bool),
    np.zeros((4, 6), dtype=[("a", "i4"), ("b", "f8")]),
    whole_array((4, 6)).data,
]


@pytest.mark.parametrize(
    "buffer", BUFFERS, ids=["F", "strided", "complex", "bool", "fields", "memory"]
)
def test_buffers_of_every_kind(buffer: Any) -> None:
    a = pt.from_distarray({"__version__": "0.10.0", "buffer": buffer, "dim_data": ({}, {})})
    assert np.shares_memory(a.local, np.asarray(buffer))
    assert a.local.strides == buffer.strides
    assert pt.check(a.__distarray__(), strict=True) == []


def test_bytes_are_read_only_numbers() -> None:
    a = pt.from_distarray({"__version__": "0.10.0", "buffer": b"abc", "dim_data": ({},)})
    assert a.local.tolist() == [97, 98, 99]
    with pytest.raises(ValueError, match="read-only"):
        a.local[0] = 1


LAYOUTS = [
    ((17,), "block @ {n}"),
    ((17,), "block(last) @ {n}"),
    ((3,), "block @ {n}"),
    ((17,), "cyclic(3) @ {n}"),
    ((2,), "cyclic(5) @ {n}"),
    ((12, 20), "block+halo(2,2), * @ {n}x1"),
    ((12, 20), "block+halo(2,2)+periodic, * @ {n}x1"),
    ((12, 20), "block(last), cyclic(4) @ {n}x2"),
    ((4, 6), "block, * @ 2x{n}"),
    ((4, 6), "*, * @ 1x{n}"),
]


@pytest.mark.parametrize(("shape", "notation"), LAYOUTS, ids=str)
@pytest.mark.parametrize("n", [1, 2, 3])
def test_every_layout_of_the_protocol_is_handed_on(
    shape: tuple[int, ...], notation: str, n: int
) -> None:
    layout = pt.Layout(shape, notation.format(n=n))
    whole = whole_array(shape)

    def body(team: pt.Team) -> None:
        a = pt.asarray(whole, layout, team, copy=True)
        handed = a.__distarray__()
        assert handed["buffer"] is a.local or "periodic" in notation
        assert np.shares_memory(handed["buffer"], a.local) or not a.local.size
        assert pt.check(handed, strict=True) == []
        assert pt.check(handed, strict=True, team=team) == []
        b = pt.from_distarray(handed, team=team)
        np.testing.assert_array_equal(b.gather(), whole)
        if "halo" in notation and "periodic" not in notation:
            b.local[...] = np.where(np.isin(b.local, b.owned), b.local, -1)
            b.exchange_halo()
            np.testing.assert_array_equal(b.local, pt.asarray(whole, layout, team, copy=True).local)

    pt.spmd(body, ranks=layout.n_ranks)


def test_layouts_that_the_protocol_cannot_say() -> None:
    boxes = pt.Layout.from_boxes((4,), [[((0,), (1,)), ((2,), (1,))], [((1,), (1,)), ((3,), (1,))]])
    cases = [
        (pt.Layout(6, "block+halo(2,1) @ 2"), "layout-halo"),
        (pt.Layout(4, "block(1,3)+halo(2,2) @ 2"), "layout-halo"),
        (pt.Layout(6, "block @ 2 on 1,0"), "layout-rank-order"),
        (pt.Layout(6, "block @ 1"), "layout-rank-order"),
        (pt.Layout((4, 6), "block, cyclic @ 2x1 on 1,0"), "layout-rank-order"),
        (pt.Layout((6, 6), "*, * @ 2"), "layout-replicated"),
        (pt.Layout(6, "* @ 2 partial 0"), "layout-partial"),
        (boxes, "layout-several-pieces"),
    ]

    def body(team: pt.Team) -> None:
        for layout, reason in cases:
            shapes = []
            if team.rank in layout.ranks:
                n = layout.n_buffers(team.rank)
                shapes = [layout.local_shape(team.rank, buffer=k) for k in range(n)]
            a = pt.from_local([np.zeros(shape) for shape in shapes], layout, team)
            with pytest.raises(pt.ProtocolError) as caught:
                a.__distarray__()
            assert caught.value.reason == reason
            assert ";" in str(caught.value)

    pt.spmd(body, ranks=2)


def test_one_box_per_rank_is_blocks() -> None:
    layout = pt.Layout.from_boxes((4, 2), [[((0, 0), (1, 2))], [((1, 0), (3, 2))]])

    def body(team: pt.Team) -> None:
        a = pt.asarray(whole_array((4, 2)), layout, team)
        assert a.__distarray__()["dim_data"] == (
            block(4, [0, 1, 4], team.rank),
            block(2, [0, 2], 0),
        )

    pt.spmd(body, ranks=2)


def test_mistakes_of_one_rank_reach_all() -> None:
    def body(team: pt.Team) -> tuple[str, str]:
        reasons = []
        for bad in ("size", "gap"):
            dim = block(6, [0, 2, 4, 6], team.rank)
            if team.rank == 1:
                dim |= {"size": -1} if bad == "size" else {"start": 3}
            buffer = np.zeros(1 if bad == "gap" and team.rank == 1 else 2)
            given = {"__version__": "0.10.0", "buffer": buffer, "dim_data": (dim,)}
            with pytest.raises(pt.ProtocolError, match=r"ranks\[1\]") as caught:
                pt.from_distarray(given, team=team)
            reasons.append(caught.value.reason)
        team.barrier()
        return reasons[0], reasons[1]

    assert pt.spmd(body, ranks=3) == [("size-negative", "blocks-gap")] * 3


def test_grids_of_twelve() -> None:
    whole = whole_array((6, 8))

    def body(team: pt.Team) -> None:
        i, j = divmod(team.rank, 4)
        dims = (block(6, [0, 2, 4, 6], i), block(8, [0, 2, 4, 6, 8], j))
        a = pt.from_distarray(dictionary(whole, dims), team=team)
        assert a.layout.grid_shape == (3, 4)
        np.testing.assert_array_equal(a.gather(), whole)

    pt.spmd(body, ranks=12)
