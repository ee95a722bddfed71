"""The index arithmetic of the Dist dialect against sets, and against the dialect's own examples."""

from __future__ import annotations

from random import Random

import generate
import pytest

import partita as pt
from partita import dist

Pair = tuple[int, int]
View = tuple[int, int, int]


def entries(pair: Pair) -> set[int]:
    return set(range(pair[0], pair[0] + pair[1]))


def indices(view: View) -> list[int]:
    offset, size, stride = view
    return [offset + entry * stride for entry in range(size)]


def hull(*sets: set[int]) -> Pair | None:
    """The smallest interval around some indices."""
    every = set().union(*sets)
    return (min(every), max(every) - min(every) + 1) if every else None


PARTITIONS = [
    (4, 8, [(0, 2), (2, 2), (4, 2), (6, 2)]),
    (3, 8, [(0, 2), (2, 3), (5, 3)]),
    (8, 31, [(0, 3), (3, 4), (7, 4), (11, 4), (15, 4), (19, 4), (23, 4), (27, 4)]),
    (4, 10, [(0, 2), (2, 2), (4, 3), (7, 3)]),
    (4, 2, [(0, 0), (0, 0), (0, 1), (1, 1)]),
    (3, 16, [(0, 5), (5, 5), (10, 6)]),
]


@pytest.mark.parametrize(("n_members", "extent", "parts"), PARTITIONS)
def test_default_partitions(n_members: int, extent: int, parts: list[Pair]) -> None:
    found = [dist.default_partition(n_members, member, [extent]) for member in range(n_members)]
    assert found == [[part] for part in parts]


def test_default_partitions_cut_the_first_dimension_only() -> None:
    assert dist.default_partition(8, 7, (32,)) == [(28, 4)]
    assert dist.default_partition(8, 7, (33,)) == [(28, 5)]
    assert dist.default_partition(2, 1, (8, 8)) == [(4, 4), (0, 8)]
    assert dist.default_partition(2, 0, (1, 7)) == [(0, 0), (0, 7)]
    assert dist.default_partition(4, 2, (44,)) == [(22, 11)]
    assert dist.default_partition(3, 0, ()) == []
    assert dist.default_partition(2, 1, (2**63,)) == [(2**62, 2**62)]


@pytest.mark.parametrize("n_members", range(1, 9))
def test_default_partitions_are_last_blocks(n_members: int) -> None:
    for extent in range(30):
        layout = pt.Layout(extent, f"block(last) @ {n_members}")
        for member in range(n_members):
            [(offset, size)] = dist.default_partition(n_members, member, (extent,))
            piece = layout.pieces(member)[0]
            assert ((offset,), (size,)) == (piece.start, piece.shape)


# View, target, box before, outer box: the numbers of the dialect's own tests.
BOXES: list[tuple[View, Pair, Pair | None, Pair]] = [
    ((0, 8, 1), (4, 4), None, (4, 4)),
    ((1, 7, 1), (4, 4), None, (5, 3)),
    ((0, 8, 1), (4, 0), None, (4, 0)),
    ((1, 7, 1), (0, 0), None, (1, 0)),
    ((1, 7, 1), (2, 2), None, (3, 2)),
    ((1, 3, 1), (0, 4), None, (1, 3)),
    ((1, 7, 1), (4, 4), (4, 4), (4, 4)),
    ((0, 8, 1), (4, 0), (4, 4), (4, 4)),
    ((1, 3, 1), (0, 4), (0, 5), (0, 5)),
    ((1, 7, 1), (2, 2), (1, 0), (3, 2)),
    ((0, 1, 1), (0, 1), (3, 2), (0, 5)),
    ((7, 8, 1), (0, 1), (0, 5), (0, 8)),
    ((1, 10, 1), (2, 5), (2, 5), (2, 6)),
]


@pytest.mark.parametrize(("view", "target", "before", "wanted"), BOXES)
def test_known_bounding_boxes(view: View, target: Pair, before: Pair | None, wanted: Pair) -> None:
    assert dist.local_bounding_box(view, target, before) == wanted


def test_an_empty_view_has_an_empty_box() -> None:
    assert dist.local_bounding_box((0, 0, 1), (4, 4)) == (4, 0)


def test_inner_boxes_are_what_both_share() -> None:
    assert dist.local_bounding_box((1, 10, 1), (2, 5), (2, 5), inner=True) == (3, 4)
    assert dist.local_bounding_box((1, 10, 1), (2, 5), (20, 5), inner=True)[1] == 0


def test_targets_count_in_the_slice() -> None:
    parts = [(0, 5), (5, 5), (10, 6)]
    found = [dist.local_target_of_slice(16, part, (3, 10, 1)) for part in parts]
    assert found == [(0, 2), (2, 5), (7, 3)]


def random_view(rng: Random) -> tuple[int, View]:
    """An extent and a view inside it, backwards half the time."""
    extent = rng.randint(1, 40)
    stride = rng.choice([-5, -2, -1, 1, 2, 3, 7])
    offset = rng.randrange(extent)
    room = (offset if stride < 0 else extent - 1 - offset) // abs(stride) + 1
    return extent, (offset, rng.randint(0, room), stride)


def random_pair(rng: Random, limit: int) -> Pair:
    start = rng.randint(0, limit)
    return start, rng.randint(0, limit - start)


@pytest.mark.parametrize("seed", range(0, generate.n_cases(4000), 500))
def test_everything_agrees_with_sets(seed: int) -> None:
    for case in range(seed, seed + 500):
        rng = Random(case)
        extent, view = random_view(rng)
        owned, target = random_pair(rng, extent), random_pair(rng, view[1])
        before = random_pair(rng, extent)
        where = f"case {case}: extent {extent} view {view} owned {owned} target {target}"
        check_target(extent, owned, view, where)
        check_box(view, target, before, where)
        check_core(owned, target, view, where)


def check_target(extent: int, owned: Pair, view: View, where: str) -> None:
    mine = entries(owned)
    wanted = {entry for entry, index in enumerate(indices(view)) if index in mine}
    found = dist.local_target_of_slice(extent, owned, view)
    assert entries(found) == wanted, where


def check_box(view: View, target: Pair, before: Pair, where: str) -> None:
    needed = {indices(view)[entry] for entry in entries(target) if entry < view[1]}
    alone = dist.local_bounding_box(view, target)
    assert alone[1] == 0 if not needed else alone == hull(needed), where
    outer = dist.local_bounding_box(view, target, before)
    assert (
        outer[1] == 0 if not needed | entries(before) else outer == hull(needed, entries(before))
    ), where
    inner = dist.local_bounding_box(view, target, before, inner=True)
    shared = entries(hull(needed) or (0, 0)) & entries(before)
    assert inner[1] == 0 if not shared else inner == hull(shared), where


def check_core(owned: Pair, target: Pair, view: View, where: str) -> None:
    mine = entries(owned)
    core = {
        entry - target[0]
        for entry in entries(target)
        if entry < view[1] and indices(view)[entry] in mine
    }
    found = dist.local_core(owned, target, view)
    assert entries(found) == core, where
    before = (1, 3)
    again = dist.local_core(owned, target, view, before)
    assert entries(again) == core & entries(before), where


def test_targets_of_all_members_are_the_slice() -> None:
    """Every entry of a slice belongs to one member."""
    for seed in range(300):
        rng = Random(seed)
        extent, view = random_view(rng)
        n_members = rng.randint(1, 6)
        found: list[int] = []
        for member in range(n_members):
            [part] = dist.default_partition(n_members, member, (extent,))
            found += entries(dist.local_target_of_slice(extent, part, view))
        assert sorted(found) == list(range(view[1])), seed
