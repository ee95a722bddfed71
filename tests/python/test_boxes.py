"""Layouts of which every rank holds one box, and the stretches of a box."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import partita as pt
from partita._array.boxes import box_of, is_one_box_each, is_whole_along, resized, slabs
from partita._array.runs import run_length, runs
from partita._partita import Layout


@pytest.mark.parametrize(
    ("notation", "n_ranks", "is_one", "is_whole"),
    [
        ("block, * @ 2x1", 2, True, [False, True]),
        ("*, block(last) @ 1x2", 2, True, [True, False]),
        ("block, block @ 2x2", 4, True, [False, False]),
        ("block(1,5), * @ 2x1", 2, True, [False, True]),
        ("cyclic, * @ 2x1", 2, False, [False, True]),
        ("*, * @ 1x1x2", 2, True, [True, True]),
        ("*, * @ 1x1x2", 3, False, [False, False]),
        ("cyclic, * @ 1x1", 1, False, [True, True]),
        ("block+halo(1,1), * @ 2x1", 2, False, [False, False]),
    ],
)
def test_what_is_said_of_layouts(
    notation: str, n_ranks: int, is_one: bool, is_whole: list[bool]
) -> None:
    layout = Layout((6, 4), notation)
    assert is_one_box_each(layout, n_ranks) == is_one
    assert [is_whole_along(layout, axis, n_ranks) for axis in (0, 1)] == is_whole
    for axis in (0, 1):
        if is_whole[axis]:
            wider = resized(layout, axis, 9)
            assert wider.shape[axis] == 9
            assert is_whole_along(wider, axis, n_ranks)
            assert wider.local_shape(0)[1 - axis] == layout.local_shape(0)[1 - axis]


def test_boxes_without_elements_stay_so() -> None:
    layout = Layout.from_boxes((1, 3), [[((0, 0), (0, 3))], [((0, 0), (1, 3))]])
    assert is_whole_along(layout, 0, 2)
    wider = resized(layout, 0, 5)
    assert [math.prod(box_of(wider, rank)[1]) for rank in (0, 1)] == [0, 15]


def test_slabs_cut_where_there_are_entries() -> None:
    assert slabs((8, 9, 7), [0], 4).local_shape(0) == (8, 2, 7)
    assert slabs((8, 3, 7), [0], 4).local_shape(0) == (8, 3, 1)
    assert slabs((8, 1, 2), [0], 4).local_shape(3) == (8, 1, 1)
    assert slabs((8, 9, 7), [0, 1], 4).local_shape(3) == (8, 9, 2)


def test_runs_find_every_element_of_a_box() -> None:
    shape = (3, 4, 5)
    whole = np.arange(60).reshape(shape)
    for start, sizes in [
        ((0, 0, 0), (3, 4, 5)),
        ((1, 0, 0), (2, 4, 5)),
        ((0, 1, 0), (3, 2, 5)),
        ((1, 1, 2), (2, 3, 2)),
        ((0, 0, 1), (3, 4, 1)),
        ((2, 0, 0), (1, 0, 5)),
    ]:
        box = tuple(slice(at, at + n) for at, n in zip(start, sizes, strict=True))
        found = [list(range(at, at + n)) for at, n in runs(shape, start, sizes)]
        assert [at for one in found for at in one] == whole[box].reshape(-1).tolist()
        assert all(len(one) == run_length(shape, sizes) for one in found)
    assert list(runs((), (), ())) == [(0, 1)]


def test_a_view_of_an_array_on_few_ranks_belongs_to_all() -> None:
    def body(team: pt.Team) -> Any:
        a = pt.asarray(np.arange(8.0).reshape(1, 8)).redistribute("block(0,0,0,1,0), * @ 5x1")
        return a[0:].gather(0)

    first, *others = pt.spmd(body, 5)
    np.testing.assert_array_equal(first, [range(8)])
    assert others == [None] * 4
