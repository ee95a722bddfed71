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
