"""What no memory holds, deadlines that are none, teams of other worlds: refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import partita as pt


@pytest.mark.parametrize("shape", [(1 << 44,), (1 << 60,), (1 << 40, 1 << 40), (1 << 63,)])
def test_too_large_is_a_memory_error(shape: tuple[int, ...]) -> None:
    with pytest.raises(MemoryError):
        pt.world().empty(shape)


@pytest.mark.parametrize(("shape", "dtype"), [((-1,), "f8"), ((3,), object)])
def test_no_shape_and_no_plain_dtype_are_refused(shape: tuple[int, ...], dtype: Any) -> None:
    with pytest.raises(pt.LayoutError) as caught:
        pt.world().empty(shape, dtype)
    assert caught.value.reason == "buffer-shape"


def test_a_result_that_is_too_large_is_told_to_all() -> None:
    n = 1 << 50

    def job(team: pt.Team) -> str:
        local = np.broadcast_to(np.float64(1), (n // 2,))
        array = pt.from_local(local, pt.Layout((n,), "block @ 2"), team)
        try:
            array.gather(root=0)
        except (MemoryError, pt.RemoteError) as error:
            team.barrier()
            return type(error).__name__
        return "nothing"

    assert pt.spmd(job, 2) == ["MemoryError", "RemoteError"]


@pytest.mark.parametrize("deadline", [-1, float("nan"), "3"])
def test_a_wrong_deadline_is_refused_before_any_rank_runs(deadline: Any) -> None:
    with pytest.raises(pt.LayoutError) as caught:
        pt.spmd(lambda _team: None, 2, deadline=deadline)
    assert caught.value.reason == "deadline"


def refused(call: Callable[[], Any]) -> str:
    with pytest.raises(pt.LayoutError) as caught:
        call()
    return caught.value.reason


def test_teams_of_other_worlds_are_refused() -> None:
    mine, other = pt.spmd(lambda team: team, 1)[0], pt.spmd(lambda team: team, 1)[0]
    nobody: Any = None
    assert refused(lambda: mine.union(other)) == "other-world"
    assert refused(lambda: mine.broadcast_data(1, source=other)) == "other-world"
    assert refused(lambda: mine.union(nobody)) == "not-a-team"
