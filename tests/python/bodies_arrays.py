"""Arrays on the ranks of a team beside NumPy's."""

from __future__ import annotations

import inspect
import re
from typing import Any

import numpy as np
import pytest
from array_programs import Program

import partita as pt

REDUCTIONS = ["sum", "prod", "min", "max", "mean", "std", "var", "argmin", "argmax", "any", "all"]


def programs(team: pt.Team, first: int, count: int, layout: str) -> None:
    """Random programs; all ranks make the same ones."""
    for seed in range(first, first + count):
        Program(seed, layout).run()


def stepped(array: Any) -> None:
    """A few steps of a stencil, written through a view."""
    array[0] = 1.0
    array[:, 3] = 2.0
    for _ in range(5):
        center, north, south = array[1:-1, 1:-1], array[:-2, 1:-1], array[2:, 1:-1]
        east, west = array[1:-1, 2:], array[1:-1, :-2]
        center[:] = (center + north + south + east + west) * 0.2


def wholes(team: pt.Team) -> None:
    """Stencils, reductions, running sums, reshapes, masks on arrays that really lie on ranks."""
    ours: Any = pt.zeros((9, 7))
    theirs: Any = np.zeros((9, 7))
    stepped(ours)
    stepped(theirs)
    same(ours, theirs)
    assert ours.layout.notation == f"block(last), * @ {team.size}"
    n_own = ours.local.shape[0]
    assert n_own == 9 // team.size + (team.rank >= team.size - 9 % team.size)
    for name in REDUCTIONS:
        for axis in (None, 0, 1):
            same(getattr(pt, name)(ours, axis=axis), getattr(np, name)(theirs, axis=axis))
    for axis in (0, 1):
        same(pt.cumulative_sum(ours, axis=axis), np.cumsum(theirs, axis=axis))
        same(pt.cumulative_prod(ours + 0.5, axis=axis), np.cumprod(theirs + 0.5, axis=axis))
    same(ours[::-1] + ours, theirs[::-1] + theirs)
    same(ours.T[:, :7] + ours[:7], theirs.T[:, :7] + theirs[:7])
    same(ours.reshape(63)[::2] + 1, theirs.reshape(63)[::2] + 1)
    for one in (ours, theirs):
        one.reshape(63)[::5] = -1
    same(ours, theirs)
    same(ours[ours > 0.5], theirs[theirs > 0.5])
    for one in (ours, theirs):
        one[one > 0.5] = 0.25
        one[[0, 5], [1, 2]] = 7.0
    same(ours, theirs)
    strange = np.array([1.0, np.nan, 3.0, np.nan, -np.inf, 2.0, 5.0, 5.0])
    spread = pt.empty(8)
    spread[...] = strange
    for name in ("argmin", "argmax", "max", "min"):
        same(getattr(pt, name)(spread), getattr(np, name)(strange))
    assert float(pt.sum(spread[5:])) == 12.0


def placed(team: pt.Team) -> None:
    """Arrays like others are where those are; arrays of ours take another layout."""
    columns = pt.ones((4, 6), layout="*, block")
    pending = columns * 2 + 1
    for prototype in (columns, pending, pt.zeros((4, 6), layout="cyclic, *")):
        made = [
            pt.zeros_like(prototype),
            pt.ones_like(prototype, dtype="int8"),
            pt.full_like(prototype, 2.5),
            pt.empty_like(prototype),
        ]
        for one in made:
            assert one.layout == prototype.layout, (one.layout, prototype.layout)
        same(made[1], np.ones((4, 6), "int8"))
        same(made[2] + prototype, np.asarray(prototype.gather()) + 2.5)
    told = pt.zeros_like(columns, layout="block, *")
    assert told.local.shape[1] == 6
    assert pt.zeros_like(columns, shape=(8,)).local.shape[0] <= 8 // team.size + 1
    rows = pt.asarray(columns, layout="block, *")
    assert rows.layout.notation == f"block, * @ {team.size}x1"
    same(rows, np.ones((4, 6)))


def without_elements(team: pt.Team) -> None:
    """A rank's part of nothing has the sizes of the other dimensions."""
    assert pt.zeros((0, 3)).local.shape == (0, 3)
    assert (pt.zeros((0, 3)) + 1).local.shape == (0, 3)
    few = pt.ones((1, 3)) * 2
    assert few.local.shape[0] == 1, "a single row is divided along"
    same(few, np.full((1, 3), 2.0))


def read_only(team: pt.Team) -> None:
    """Views that repeat elements are refused on every rank; parts are set on every rank."""
    row = pt.arange(8.0)
    wide = pt.broadcast_to(row, (3, 8))
    for view in (wide, wide[1], wide[:, 2:]):
        refusal = ""
        try:
            view[...] = 1.0
        except ValueError as error:
            refusal = str(error)
        assert "read-only" in refusal
    same(wide + 0, np.broadcast_to(np.arange(8.0), (3, 8)))
    z: Any = pt.arange(8.0) * (1 + 0j)
    z.imag = row
    z[:4].real = 5
    wanted = np.arange(8) + 1j * np.arange(8)
    wanted.real[:4] = 5
    same(z, wanted)


def same(found: Any, wanted: Any) -> None:
    wanted = np.asarray(wanted)
    assert found.shape == wanted.shape
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found.gather(), wanted, rtol=1e-12)


def own_sizes(array: Any) -> list[int]:
    """How many elements each rank owns."""
    layout = array.layout
    return [layout.n_owned(rank) if rank in layout.ranks else 0 for rank in range(array.team.size)]


def placements(team: pt.Team) -> None:
    """Arrays of NumPy do not decide where results go, and no rank is left without work."""
    theirs = np.ones((100, 90))
    made: Any = pt.ones((100, 90))
    rows = f"block(last), * @ {team.size}" if team.size > 1 else made.layout.notation
    grown: Any = pt.zeros((100, 90))
    grown += 1
    filled: Any = pt.empty((100, 90))
    filled[...] = theirs
    alone = pt.arange(100.0) + np.arange(100.0)
    results = [pt.ones((100, 90)) + theirs, made + theirs, grown + theirs, filled]
    results += [np.multiply(theirs, pt.ones((100, 90))), pt.where(theirs > 0, theirs, made)]
    results += [
        pt.where(pt.ones((100, 90)) > 0, theirs, 0.0),
        pt.ones((100, 90)) - pt.asarray(theirs),
    ]
    assert [one.layout.notation for one in results] == [rows] * len(results)
    assert sum(own_sizes(alone)) == 100
    assert max(own_sizes(alone)) <= -(-100 // team.size) + team.size
    # What only numbers meet stays where it is.
    whole = pt.asarray(theirs)
    assert (whole * 2 + 1).local.shape == (100, 90)

    a: Any = pt.zeros((100, 100)) + 1
    a.sync()
    flat: Any = (a + 1).reshape(1, 10000) * 2
    results = [pt.stack([a, a]), pt.broadcast_to(a, (2, 100, 100)) + 1, a.reshape(2, 5000) + 1]
    for one in [*results, flat, pt.ones((1, 100))]:
        assert max(own_sizes(one)) - min(own_sizes(one)) <= one.size // 20, one.layout
    same(flat, np.full((1, 10000), 4.0))
    same(results[0], np.ones((2, 100, 100)))
    # Parts that are put together stay where they are.
    several = [pt.stack([a] * 4), pt.broadcast_to(a, (team.size, 100, 100)) * 1]
    for one in several:
        told = pt.explain(one)
        assert told.bytes_moved == 0, told
        same(one, np.ones(one.shape))


def other_operation(a: Any, is_last: bool) -> Any:
    if is_last:
        return a * 2  # there
    return a + 1  # here


def other_shape(a: Any, is_last: bool) -> Any:
    if is_last:
        return pt.sqrt(a[:2])  # there
    return pt.sqrt(a[:3])  # here


def other_dtype(a: Any, is_last: bool) -> Any:
    if is_last:
        return a.astype("float32")  # there
    return a.astype("int64")  # here


def other_slice(a: Any, is_last: bool) -> Any:
    if is_last:
        return -a[1:]  # there
    return -a[:-1]  # here


def other_layout(a: Any, is_last: bool) -> Any:
    if is_last:
        return pt.ones((a.size + 9, 8), layout="*, block") + 1  # there
    return pt.ones((a.size + 9, 8), layout="block, *") + 1  # here


def fewer_operations(a: Any, is_last: bool) -> Any:
    a = pt.exp(a)
    if is_last:
        return a
    return pt.sin(a)  # here


def other_array(a: Any, is_last: bool) -> Any:
    b, c = pt.cos(a), pt.sin(a)
    if is_last:
        return pt.hypot(b, b)  # there
    return pt.hypot(b, c)  # here


def known_before(a: Any, is_last: bool) -> Any:
    for _ in range(3):
        a = pt.tan(pt.tan(a))
        a.sync()
    if is_last:
        return pt.tan(a)  # there
    return pt.cosh(a)  # here


def other_filling(a: Any, is_last: bool) -> Any:
    if is_last:
        return pt.full(8, 3.0).sum()  # there
    return pt.full(7, 2.5).sum()  # here


def filled_and_not(a: Any, is_last: bool) -> Any:
    if is_last:
        return a + pt.arange(6.0)  # there
    return a + pt.ones(6)  # here


def other_array_and_number(a: Any, is_last: bool) -> Any:
    b, c = pt.cos(a), pt.sin(a)
    if is_last:
        return b * 3.0  # there
    return c * 2.0  # here


def nothing_to_compute(a: Any, is_last: bool) -> Any:
    if is_last:
        a += 1  # there
    return a


def nothing_new_to_compute(a: Any, is_last: bool) -> Any:
    b = pt.ones((6, 6))
    b.sync()
    if is_last:
        b += 1  # there
    return b


def turned(a: Any, is_last: bool) -> Any:
    b = pt.arange(36.0).reshape(6, 6) + 0.0
    b.sync()
    if is_last:
        return b.T + 1  # there
    return b + 1  # here


def turned_from_a_row(a: Any, is_last: bool) -> Any:
    b = pt.arange(36.0)
    b.sync()
    if is_last:
        return b.reshape(6, 6).T + 1  # there
    return b.reshape(6, 6) + 1  # here


def part_of_a_filling(a: Any, is_last: bool) -> Any:
    b = pt.ones((6, 6))
    if is_last:
        return b[1:].sum()  # there
    return b[:-1].sum()  # here


def made_otherwise(a: Any, is_last: bool) -> Any:
    b = pt.ones((6, 6))
    if is_last:
        b = b.copy()  # there
    b[0] = 3  # here
    return b


def swapped(a: Any, is_last: bool) -> Any:
    b, c = pt.arange(6.0) * 2, pt.arange(6.0) + 5
    pt.compute(b, c)
    if is_last:
        return c - b  # there
    return b - c  # here


DIFFERING = {
    swapped: ("array 1, number ", "of all, computed before and array 2, number "),
    turned: ("with axes in the order [1, 0]",),
    turned_from_a_row: ("by steps of [1, 6]", "by steps of [6, 1]"),
    part_of_a_filling: ("(6, 6)[1:6, 0:6] that has one", "(6, 6)[0:5, 0:6] that has one"),
    made_otherwise: ("((6, 6) that has one number everywhere into", "(into array 1"),
    nothing_to_compute: ("computes add", "has no operation 1 at "),
    nothing_new_to_compute: ("computes add", "has no operation 1 at "),
    other_operation: ("computes add of float64", "computes multiply of float64"),
    other_shape: ("[0:3]", "[0:2]"),
    other_dtype: ("into int64", "into float32"),
    other_slice: ("(6,)[0:5]", "(6,)[1:6]"),
    other_layout: ("(block(", ", *)", "(*, block("),
    fewer_operations: ("computes sin", "has no operation", "(its last computes "),
    other_array: ("array 2 and array 3", "array 2 and array 2"),
    known_before: ("computes cosh", "computes tan"),
    other_filling: ("float64 (7,) filled with 2.5", "float64 (8,) filled with 3.0"),
    filled_and_not: (", 1.0 everywhere (float64)", "positions along axis 0"),
    # Numbers may differ: they are not what is wrong.
    other_array_and_number: ("2.0 everywhere (float64)", "(array 3 into", "(array 2 into"),
}


def differing(team: pt.Team) -> None:
    """Ranks that do not run the same program are told both lines, and what each does there."""
    last = team.size - 1
    for body, words in DIFFERING.items():
        a = pt.asarray(np.arange(6.0))
        made = body(a, team.rank == last)
        if team.size == 1:
            continue
        with pytest.raises(pt.MismatchError, match="do not run the same program") as told:
            made.sync()
        message = str(told.value)
        assert told.value.reason == "programs-differ"
        lines, first = inspect.getsourcelines(body)
        for number, line in enumerate(lines, first):
            if "# here" in line or "# there" in line:
                assert f"bodies_arrays.py, line {number}" in message, message
        assert "rank 0" in message
        does = re.findall(r"rank \d+ (.*?) at /", message)
        assert does[0] != does[1], message
        assert f"rank {last} " in message
        for one in words:
            assert one in message, message
        # The next computation is not disturbed.
        assert float(pt.ones(5).sum()) == 5.0
    # Ranks that all have nothing to compute meet as well.
    a = pt.asarray(np.arange(6.0))
    pt.compute(a, a + 1, a)
    a.sync()
    if team.size > 1:
        drawing_and_computing(team)


def drawing_and_computing(team: pt.Team) -> None:
    """Ranks of which one draws random numbers are told what the others do."""
    a: Any = pt.asarray(np.arange(6.0)) * 2
    words = "the computation of arrays.*random numbers without a seed"
    does = pt.random.default_rng if team.rank == team.size - 1 else a.sync
    with pytest.raises(pt.MismatchError, match=words):
        does()
