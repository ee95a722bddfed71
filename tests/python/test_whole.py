"""Arrays that lie here as a whole are arrays for NumPy and DLPack; others say what to do."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt

WHOLE = np.arange(12.0).reshape(3, 4)


def test_a_whole_array_is_seen_without_a_copy() -> None:
    a = pt.asarray(WHOLE)
    assert np.shares_memory(np.asarray(a), WHOLE)
    assert np.shares_memory(np.from_dlpack(a), WHOLE)
    assert np.asarray(a, dtype="float32").dtype == np.dtype("float32")
    assert not np.shares_memory(np.array(a), WHOLE)
    assert (a.ndim, a.size, a.nbytes) == (2, 12, 96)
    assert float(np.sum(a)) == WHOLE.sum()


@pytest.mark.parametrize("notation", ["block, * @ 2x1", "cyclic, * @ 2x1", "*, * @ 2 partial 0"])
def test_a_part_is_not_taken_for_the_whole(notation: str) -> None:
    layout = pt.Layout(WHOLE.shape, notation)

    def job(team: pt.Team) -> None:
        a = pt.from_local(np.ones(layout.local_shape(team.rank)), layout, team)
        with pytest.raises(pt.ProtocolError, match=r"gather\(\)") as refusal:
            np.asarray(a)
        assert refusal.value.reason == "array-divided"
        with pytest.raises(BufferError, match=r"gather\(\)"):
            np.from_dlpack(a)

    pt.spmd(job, ranks=2)


def test_replicas_are_whole_and_others_hold_nothing() -> None:
    everywhere = pt.Layout(WHOLE.shape, "*, * @ 2")
    first = pt.Layout(WHOLE.shape, "*, * on 0")

    def job(team: pt.Team) -> None:
        np.testing.assert_array_equal(np.asarray(pt.asarray(WHOLE, everywhere, team)), WHOLE)
        one = pt.asarray(WHOLE, first, team)
        if team.rank == 0:
            np.testing.assert_array_equal(np.asarray(one), WHOLE)
        else:
            with pytest.raises(pt.ProtocolError):
                np.asarray(one)

    pt.spmd(job, ranks=2)


@pytest.mark.parametrize(
    "notation", ["cyclic, * @ 1x1", "*, cyclic(2) @ 1x1", "cyclic, cyclic @ 1x1"]
)
def test_blocks_in_turn_on_one_rank_are_the_whole(notation: str) -> None:
    local = WHOLE.copy()
    a = pt.from_local(local, pt.Layout(WHOLE.shape, notation))
    assert np.shares_memory(np.asarray(a), local)
    np.testing.assert_array_equal(np.asarray(a), WHOLE)
    np.testing.assert_array_equal(np.from_dlpack(a), WHOLE)
    np.testing.assert_array_equal((a + 1).gather(), WHOLE + 1)
    # Whoever writes to the array writes to its memory.
    a[1] = 7
    a += 1
    wanted = WHOLE.copy()
    wanted[1] = 7
    np.testing.assert_array_equal(a.gather(), wanted + 1)
    np.testing.assert_array_equal(local, wanted + 1)
    assert a.layout.notation == notation


def test_an_order_of_its_own_is_not_taken_for_the_whole() -> None:
    order = [2, 0, 1]
    layout = pt.Layout(WHOLE.shape, [pt.Unstructured([order]), pt.Whole()], grid=(1, 1))
    a = pt.from_local(WHOLE[order], layout)
    with pytest.raises(pt.ProtocolError):
        np.asarray(a)
    np.testing.assert_array_equal(a.gather(), WHOLE)


@pytest.mark.parametrize("n_ranks", [1, 2])
def test_elements_in_an_order_of_their_own_are_found(n_ranks: int) -> None:
    order, numbers = [2, 0, 3, 1], np.array([1, 3, 4, 6])
    layout = pt.Layout((4,), [pt.Unstructured([order])], grid=(1, n_ranks))
    table = np.arange(10.0) * 2

    def job(team: pt.Team) -> None:
        a = pt.from_local(numbers[order], layout, team)
        np.testing.assert_array_equal(pt.argsort(a).gather(), [0, 1, 2, 3])
        np.testing.assert_array_equal(pt.searchsorted(a, a).gather(), [0, 1, 2, 3])
        np.testing.assert_array_equal(a[[3, 0]].gather(), [6, 1])
        np.testing.assert_array_equal(pt.asarray(table, team=team)[a].gather(), table[numbers])
        np.testing.assert_array_equal(pt.unique(a).gather(), numbers)
        np.add.at(a, [0, 3], 5)
        np.testing.assert_array_equal(a.gather(), [6, 3, 4, 11])

    pt.spmd(job, ranks=n_ranks)


def test_replicas_of_blocks_in_turn_are_whole() -> None:
    layout = pt.Layout(WHOLE.shape, [pt.Cyclic(), pt.Whole()], grid=(1, 1, 2))

    def job(team: pt.Team) -> None:
        a = pt.from_local(WHOLE.copy(), layout, team)
        np.testing.assert_array_equal(np.asarray(a), WHOLE)
        np.testing.assert_array_equal((a * 2).gather(), WHOLE * 2)

    pt.spmd(job, ranks=2)
