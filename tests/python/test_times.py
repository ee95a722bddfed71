"""Times move as the integers they are, and stay times."""

from __future__ import annotations

import numpy as np
import pytest

import partita as pt

ROWS, CYCLIC = (pt.Layout((9, 2), n) for n in ("block, * @ 3x1", "cyclic, * @ 3x1"))


@pytest.mark.parametrize("kind", ["datetime64[ns]", "datetime64[D]", "timedelta64[s]"])
def test_times_move(kind: str) -> None:
    whole = np.arange(18).astype(kind).reshape(9, 2)
    whole[4, 1] = "NaT"

    def job(team: pt.Team) -> None:
        a = pt.asarray(whole, ROWS, team)
        b = a.redistribute(CYCLIC)
        assert b.dtype == b.local.dtype == whole.dtype
        np.testing.assert_array_equal(b.local, whole[team.rank :: 3])
        np.testing.assert_array_equal(b.gather(), whole)
        room = np.empty((3, 2), kind)
        assert np.shares_memory(a.redistribute(CYCLIC, out=room).local, room)
        np.testing.assert_array_equal(room, b.local)

    pt.spmd(job, ranks=3)


def test_halos_of_times_are_filled() -> None:
    layout = pt.Layout((6,), "block+halo(1,1) @ 2")

    def job(team: pt.Team) -> list[int]:
        local = np.full(4, team.rank, "datetime64[s]")
        pt.from_local(local, layout, team).exchange_halo()
        return local.astype(int).tolist()

    assert pt.spmd(job, ranks=2) == [[0, 0, 0, 1], [0, 1, 1, 1]]
