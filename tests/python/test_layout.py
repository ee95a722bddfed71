"""Layouts against the oracle, and identities where no oracle can list the elements."""

from __future__ import annotations

import pickle
from itertools import pairwise, product
from random import Random

import generate
import numpy as np
import oracle
import pytest

import partita as pt

SEEDS = range(generate.n_cases(600))


def reason(error: pytest.ExceptionInfo[pt.LayoutError]) -> str:
    return error.value.reason


@pytest.mark.parametrize("seed", SEEDS)
def test_layouts_agree_with_the_oracle(seed: int) -> None:
    case = generate.case(seed)
    layout, dense = generate.build(case), oracle.Dense(case)
    assert layout.shape == case.shape
    assert layout.ndim == len(case.shape)
    assert layout.n_ranks == len(case.ranks)
    assert tuple(layout.ranks) == case.ranks
    if isinstance(case, oracle.Grid):
        assert layout.grid_shape == case.grid
        assert layout.partial == case.partial
    for place in dense.places:
        check_counts(layout, place)
        for number, buffer in enumerate(place.buffers):
            check_globalize(layout, place.rank, number, buffer)
        check_pieces(layout, case, place)
    check_owners(layout, dense)
    check_identity(layout, case)


def check_counts(layout: pt.Layout, place: oracle.Place) -> None:
    rank = place.rank
    assert layout.n_buffers(rank) == len(place.buffers)
    assert layout.n_held(rank) == sum(buffer.owned.size for buffer in place.buffers)
    assert layout.n_owned(rank) == sum(int(buffer.owned.sum()) for buffer in place.buffers)
    for number, buffer in enumerate(place.buffers):
        assert layout.local_shape(rank, buffer=number) == buffer.shape


def check_globalize(layout: pt.Layout, rank: int, number: int, buffer: oracle.Buffer) -> None:
    positions = buffer.positions()
    wanted = np.array([buffer.index(position) for position in positions], dtype=np.int64)
    local = np.array(positions, dtype=np.int64).reshape(len(positions), layout.ndim)
    found = layout.globalize(rank, local, buffer=number)
    assert found.dtype == np.int64
    np.testing.assert_array_equal(found, wanted.reshape(local.shape))


def check_pieces(layout: pt.Layout, case: oracle.Case, place: oracle.Place) -> None:
    """The pieces tile the buffers, and what they call owned is owned."""
    pieces = layout.pieces(place.rank)
    covered = [np.zeros(buffer.shape, dtype=np.int64) for buffer in place.buffers]
    for piece in pieces:
        buffer = place.buffers[piece.buffer]
        region = tuple(
            slice(at, at + length)
            for at, length in zip(piece.local_start, piece.shape, strict=True)
        )
        covered[piece.buffer][region] += 1
        for dim, (start, length) in enumerate(zip(piece.start, piece.shape, strict=True)):
            held = buffer.held[dim][region[dim]]
            np.testing.assert_array_equal(held, start + np.arange(length))
        if isinstance(case, oracle.Grid):
            inside = [
                (owned <= buffer.held[dim][region[dim]])
                & (buffer.held[dim][region[dim]] - owned < length)
                for dim, (owned, length) in enumerate(
                    zip(piece.owned_start, piece.owned_shape, strict=True)
                )
            ]
            owned_here = [all(each) for each in product(*inside)]
            np.testing.assert_array_equal(buffer.owned[region].ravel(), owned_here)
    for count in covered:
        np.testing.assert_array_equal(count, 1)
    assert len(pieces) == len(list(pieces))
    if isinstance(case, oracle.Boxes):
        boxes = case.boxes[case.ranks.index(place.rank)]
        found = [oracle.Box(p.start, p.shape, p.owned_start, p.owned_shape) for p in pieces]
        assert found == list(boxes)


def check_owners(layout: pt.Layout, dense: oracle.Dense) -> None:
    indices = np.array(list(dense.owner), dtype=np.int64).reshape(len(dense.owner), layout.ndim)
    ranks, local = layout.locate(indices)
    assert ranks.dtype == local.dtype == np.int64
    assert (ranks.shape, local.shape) == ((len(indices),), indices.shape)
    out = (np.full_like(ranks, -7), np.full_like(local, -7))
    again = layout.locate(indices, out=out)
    assert again[0] is out[0]
    assert again[1] is out[1]
    for row, (index, (rank, buffer, position)) in enumerate(dense.owner.items()):
        assert layout.owner(index) == rank
        assert layout.locate_one(index) == (rank, buffer, position)
        assert (ranks[row], tuple(local[row])) == (rank, position)
        assert (out[0][row], tuple(out[1][row])) == (rank, position)
    every = product(*(labels.tolist() for labels in dense.labels))
    for index in every:
        if index not in dense.owner:
            with pytest.raises(pt.LayoutError) as error:
                layout.owner(index)
            assert reason(error) == "index-not-held"


def check_identity(layout: pt.Layout, case: oracle.Case) -> None:
    again = generate.build(case)
    assert again == layout
    assert hash(again) == hash(layout)
    assert layout != pt.Layout((*case.shape, 1), [pt.Whole()] * (layout.ndim + 1))
    assert layout != case
    copy = pickle.loads(pickle.dumps(layout))
    assert copy == layout
    assert hash(copy) == hash(layout)
    assert (copy.notation, copy.ranks) == (layout.notation, layout.ranks)
    assert len(repr(layout)) <= 80
    assert "\n" not in repr(layout)
    has_notation = isinstance(case, oracle.Grid) and not any(
        isinstance(map, oracle.Lists) for map in case.maps
    )
    if has_notation:
        assert pt.Layout(case.shape, layout.notation) == layout
    else:
        with pytest.raises(pt.LayoutError) as error:
            pt.Layout(case.shape, layout.notation)
        assert reason(error) == "notation-objects-only"


def test_the_generator_makes_every_kind() -> None:
    """A generator that stops making a kind would make the tests above pass for nothing."""
    cases = [generate.case(seed) for seed in range(600)]
    grids = [case for case in cases if isinstance(case, oracle.Grid)]
    maps = [map for case in grids for map in case.maps]
    blocks = [map for map in maps if isinstance(map, oracle.Block)]
    boxes = [case for case in cases if isinstance(case, oracle.Boxes)]
    seen = {
        "whole": any(isinstance(map, oracle.Whole) for map in maps),
        "cyclic": any(isinstance(map, oracle.Cyclic) for map in maps),
        "labels": any(isinstance(m, oracle.Lists) and min(m.lists[0], default=0) < 0 for m in maps),
        "shared": any(
            isinstance(m, oracle.Lists)
            and sum(map(len, m.lists)) > len({i for entry in m.lists for i in entry})
            for m in maps
        ),
        "rules": {block.rule for block in blocks} >= {"first", "last", "ceil"},
        "empty": any(isinstance(block.rule, tuple) and 0 in block.rule for block in blocks),
        "each": any(len(set(block.halos)) > 1 for block in blocks),
        "periodic": any(block.periodic and block.halos[0][0] > 2 for block in blocks),
        "axes": {len(case.grid) for case in grids} >= {0, 1, 2, 3, 4},
        "ranks": any(sorted(case.ranks) != list(case.ranks) for case in grids),
        "partial": any(case.partial for case in grids),
        "replicated": any(oracle.Dense(case).n_replicas > 1 for case in grids[:60]),
        "zero": any(0 in case.shape for case in cases),
        "scalar": any(case.shape == () for case in cases),
        "crowded": any(len(case.ranks) > oracle.n_elements(case.shape) > 0 for case in grids),
        "several": any(len(own) > 1 for case in boxes for own in case.boxes),
        "margins": any(b.shape != b.owned_shape for c in boxes for own in c.boxes for b in own),
        "gaps": any(len(oracle.Dense(c).owner) < oracle.n_elements(c.shape) for c in boxes),
    }
    assert [kind for kind, is_made in seen.items() if not is_made] == []


@pytest.mark.parametrize(("n", "p"), [(n, p) for n in (0, 1, 7, 16, 23) for p in range(1, 9)])
def test_block_is_array_split(n: int, p: int) -> None:
    layout = pt.Layout((n,), f"block @ {p}")
    parts = np.array_split(np.arange(n), p)
    for rank, part in enumerate(parts):
        local = np.arange(len(part))
        assert layout.local_shape(rank) == part.shape
        np.testing.assert_array_equal(layout.globalize(rank, local)[:, 0], part)


NOTATIONS = [
    ((8,), "block @ 4"),
    ((8, 8), "block(last), block(ceil) @ 2x3"),
    ((7, 9), "block(3,0,4), cyclic(2) @ 3x2"),
    ((7, 9), "*, cyclic @ 2"),
    ((7, 9), "block+halo(1,2)+periodic, * @ 2x2 on 3,1,0,2"),
    ((7,), "block+halo(0,1;1,1;1,0) @ 3 on 4..7"),
    ((7,), "block @ 3x2 partial 1"),
    ((7, 8), "*, * @ 3x2x2 on 10..22 partial 0,2"),
    ((), ""),
    ((), "@ 4"),
    ((3,), "*"),
    ((0, 3), "block+periodic, * @ 2"),
]


@pytest.mark.parametrize(("shape", "notation"), NOTATIONS)
def test_notation_is_read_and_written_alike(shape: tuple[int, ...], notation: str) -> None:
    layout = pt.Layout(shape, notation)
    assert layout.notation == notation
    spaced = notation.replace(",", " , ").replace("@", "  @ ").replace("(", "( ")
    assert pt.Layout(shape, spaced) == layout


SAME = [
    ((8, 8), "block, cyclic(64) @ 2x2", [pt.Block(), pt.Cyclic(64)], (2, 2)),
    ((8, 8), "block(last), * @ 2", [pt.Block("last"), pt.Whole()], 2),
    ((7,), "block(3,0,4) @ 3", [pt.Block(sizes=[3, 0, 4])], (3,)),
    ((7,), "block(ceil)+halo(1,2) @ 3", [pt.Block("ceil", halo=(1, 2))], [3]),
    ((7,), "block+halo(2)+periodic @ 3", [pt.Block(halo=(2, 2), periodic=True)], np.array([3])),
    ((9,), "cyclic @ 2", [pt.Cyclic()], np.int64(2)),
]


@pytest.mark.parametrize(("shape", "notation", "maps", "grid"), SAME)
def test_notation_and_objects_are_the_same(
    shape: tuple[int, ...], notation: str, maps: list[pt.Block], grid: tuple[int, ...]
) -> None:
    written, built = pt.Layout(shape, notation), pt.Layout(shape, maps, grid=grid)
    assert written == built
    assert hash(written) == hash(built)
    assert written.maps == built.maps == tuple(maps)


def test_arrays_are_fine_as_arguments() -> None:
    plain = pt.Layout((8, 6), "block, * @ 2x2 on 3,1,0,2 partial 1")
    arrays = pt.Layout(
        np.array([8, 6]),
        [pt.Block(), pt.Whole()],
        grid=np.array([2, 2], dtype=np.uint8),
        ranks=np.array([3, 1, 0, 2]),
        partial=np.array([1]),
    )
    assert arrays == plain
    sizes = pt.Block(sizes=np.array([3, 4]), halo=np.array([[1, 0], [0, 1]]))
    assert sizes == pt.Block(sizes=(3, 4), halo=((1, 0), (0, 1)))
    assert pt.Layout(8, "block @ 2") == pt.Layout((8,), "block @ 2")
    assert plain.owner(np.array([7, 5])) == plain.owner((7, 5)) == 0


DIFFERENT = [
    pt.Layout((8, 8), "block, * @ 2x1"),
    pt.Layout((8, 9), "block, * @ 2x1"),
    pt.Layout((8, 8), "block, * @ 2"),
    pt.Layout((8, 8), "block(last), * @ 2x1"),
    pt.Layout((8, 8), "block+halo(0,1), * @ 2x1"),
    pt.Layout((8, 8), "block, * @ 2x1 on 1,0"),
    pt.Layout((8, 8), "block, * @ 2x1 on 1..3"),
    pt.Layout((8, 8), "block, * @ 2x2"),
    pt.Layout((8, 8), "block, * @ 2x2 partial 1"),
    pt.Layout((8, 8), "cyclic(4), * @ 2x1"),
    pt.Layout((8, 8), [pt.Unstructured([range(4), range(4, 8)]), pt.Whole()], grid=(2, 1)),
    pt.Layout.from_boxes((8, 8), [[((0, 0), (4, 8))], [((4, 0), (4, 8))]]),
    pt.Layout.from_boxes((8, 8), [[((4, 0), (4, 8))], [((0, 0), (4, 8))]]),
]


def test_different_layouts_are_different() -> None:
    assert len(set(DIFFERENT)) == len(DIFFERENT)
    for at, layout in enumerate(DIFFERENT):
        assert [other == layout for other in DIFFERENT].index(True) == at


MAPS = [
    pt.Block(),
    pt.Block("last", halo=(1, 2)),
    pt.Block("ceil", periodic=True),
    pt.Block(sizes=[1] * 60),
    pt.Block(halo=[(k, 2 * k) for k in range(60)]),
    pt.Block(sizes=[1] * 60, halo=[(k, 2 * k) for k in range(60)], periodic=True),
    pt.Cyclic(),
    pt.Cyclic(64),
    pt.Whole(),
    pt.Unstructured([[3, 1], [], [-5, 2**62]]),
    pt.Unstructured([[3, 1], [2]], one_to_one=True),
]


@pytest.mark.parametrize("map", MAPS)
def test_maps_are_values(map: pt.Block | pt.Cyclic | pt.Whole | pt.Unstructured) -> None:
    copy = pickle.loads(pickle.dumps(map))
    assert copy == map
    assert hash(copy) == hash(map)
    assert [other == map for other in MAPS].count(True) == 1
    assert len(repr(map)) <= 80


def test_maps_say_what_they_are() -> None:
    block = pt.Block(sizes=[3, 4], halo=[(0, 1), (1, 0)], periodic=True)
    assert (block.rule, block.sizes, block.periodic) == ("sizes", (3, 4), True)
    assert block.halo == ((0, 1), (1, 0))
    assert (pt.Block("last").rule, pt.Block("last").sizes, pt.Block().halo) == (
        "last",
        None,
        (0, 0),
    )
    assert pt.Cyclic(5).block == 5
    lists = pt.Unstructured([[3, 1], []])
    assert [entry.tolist() for entry in lists.indices] == [[3, 1], []]
    assert (lists.one_to_one, pt.Unstructured([[0]], one_to_one=True).one_to_one) == (False, True)


@pytest.mark.parametrize(
    "layout",
    [
        pt.Layout((1,) * 40, ", ".join("*" * 40)),
        pt.Layout((2**62,), "block+halo(1,1)+periodic @ 1000000000000 on 5..1000000000005"),
        pt.Layout((900,), [pt.Block(sizes=[1] * 900)], grid=900, ranks=range(900, 0, -1)),
    ],
    ids=["dims", "digits", "sizes"],
)
def test_long_layouts_have_short_names(layout: pt.Layout) -> None:
    assert len(repr(layout)) <= 80


TOP = 2**63


def top_notation(rng: Random, n_ranks: int) -> str:
    map = rng.choice(
        [
            "block",
            "block(last)",
            "block(ceil)",
            f"cyclic({2 ** rng.randint(0, 62)})",
            f"cyclic({rng.randint(2**40, TOP)})",
            f"block+halo({rng.randint(0, 9)},{rng.randint(0, 9)})",
            f"block(last)+halo({rng.randint(0, 9)},{rng.randint(1, 9)})+periodic",
        ]
    )
    return f"{map} @ {n_ranks}"


@pytest.mark.parametrize("seed", range(generate.n_cases(200)))
def test_translation_holds_near_the_top(seed: int) -> None:
    rng = Random(seed)
    extent = TOP - rng.randint(0, 5)
    layout = pt.Layout(extent, top_notation(rng, rng.randint(2, 2 ** rng.randint(1, 40))))
    indices = [0, extent - 1, *(rng.randrange(extent) for _ in range(20))]
    ranks, local = layout.locate(np.array(indices))
    for index, rank, position in zip(indices, ranks.tolist(), local.tolist(), strict=True):
        assert layout.owner((index,)) == rank
        assert layout.locate_one(index) == (rank, 0, tuple(position))
        assert position[0] < layout.local_shape(rank)[0]
        assert layout.globalize(rank, [position]).tolist() == [[index]]


@pytest.mark.parametrize("seed", range(generate.n_cases(200)))
def test_owned_parts_add_up_near_the_top(seed: int) -> None:
    rng = Random(seed)
    extent = TOP - rng.randint(0, 5)
    n_ranks = rng.randint(2, 40)
    layout = pt.Layout(extent, top_notation(rng, n_ranks))
    assert sum(layout.n_owned(rank) for rank in range(n_ranks)) == extent
    for rank in range(n_ranks):
        pieces = layout.pieces(rank)
        if pieces and len(pieces) < 50:
            assert sum(piece.shape[0] for piece in pieces) == layout.n_held(rank)
            assert sum(piece.owned_shape[0] for piece in pieces) == layout.n_owned(rank)
            ends = [(piece.local_start[0], piece.shape[0]) for piece in pieces]
            assert ends[0][0] == 0
            assert all(a + n == b for (a, n), (b, _) in pairwise(ends))
            assert all(0 <= p.start[0] <= extent - p.shape[0] for p in pieces)


def test_many_ranks_cost_nothing() -> None:
    n_ranks = 10**12
    layout = pt.Layout((10**15,), f"block @ {n_ranks}")
    assert layout.n_ranks == len(layout.ranks) == n_ranks
    assert layout.ranks[-1] == n_ranks - 1
    assert layout.owner((10**15 - 1,)) == n_ranks - 1
    assert pickle.loads(pickle.dumps(layout)) == layout
    assert len(pickle.dumps(layout)) < 1000
    shifted = pt.Layout((10**15,), f"block @ {n_ranks} on 7..{n_ranks + 7}")
    assert pickle.loads(pickle.dumps(shifted)) == shifted != layout


@pytest.mark.parametrize(
    "shape",
    [(2**32, 2**32), (TOP + 1,), (2**64,), (2**200,), (TOP, 2), (0, 2**40, 2**40)],
    ids=str,
)
def test_shapes_that_cannot_be_counted_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(pt.LayoutError) as error:
        pt.Layout(shape, ", ".join("*" * len(shape)))
    assert reason(error) == "shape-overflow"


def test_positions_are_signed_numbers() -> None:
    """A halo that makes a buffer longer than 2^63 is refused, one that just fits is not."""
    fits = pt.Layout(TOP - 5, "block+halo(2,3)+periodic @ 1")
    assert fits.local_shape(0) == (TOP,)
    assert fits.locate([TOP - 6])[1].tolist() == [[TOP - 4]]
    assert fits.globalize(0, [0, TOP - 1])[:, 0].tolist() == [TOP - 7, 2]
    for map in ("block+halo(2,4)+periodic", f"block({TOP - 5})+halo(4,2)+periodic"):
        with pytest.raises(pt.LayoutError) as error:
            pt.Layout(TOP - 5, f"{map} @ 1")
        assert reason(error) == "shape-overflow"


@pytest.mark.parametrize("shape", [(TOP,), (2**32, 2**31), (0, TOP), (2**31, 2**31, 2)], ids=str)
def test_the_largest_shapes_are_fine(shape: tuple[int, ...]) -> None:
    layout = pt.Layout(shape, ", ".join("*" * len(shape)))
    assert layout.local_shape(0) == shape


def test_pieces_are_a_sequence() -> None:
    pieces = pt.Layout((20,), "cyclic(2) @ 3").pieces(1)
    listed = list(pieces)
    assert [piece.start[0] for piece in listed] == [2, 8, 14]
    assert [pieces[at] for at in range(-3, 3)] == listed + listed
    assert repr(pieces) == "<3 pieces>"
    for outside in (3, -4, 2**70, -(2**70)):
        with pytest.raises(IndexError, match=str(outside)):
            pieces[outside]
    huge = pt.Layout((2**60,), "cyclic @ 2").pieces(1)
    assert len(huge) == 2**59
    assert huge[-1].start == (2**60 - 1,)


def test_locate_writes_to_the_given_arrays_only() -> None:
    layout = pt.Layout((8, 6), "block, cyclic(2) @ 2x2")
    indices = np.array([[7, 5], [0, 0]], dtype=np.int32)
    ranks, local = np.full(2, -1), np.full((2, 2), -1)
    layout.locate(indices, out=(ranks, local))
    assert ranks.tolist() == [2, 0]
    assert local.tolist() == [[3, 3], [0, 0]]
    assert indices.tolist() == [[7, 5], [0, 0]]
    strided = np.arange(32).reshape(4, 8)[::3, 1:5:3]
    found = layout.locate(strided % 6)[0]
    np.testing.assert_array_equal(found, layout.locate((strided % 6).copy())[0])
