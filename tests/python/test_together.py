"""Work that each rank does alone: its errors are raised on every rank, as what they were."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import partita as pt
from partita._team.together import by_first, together


def missing() -> Any:
    return Path("/no/such/file").read_bytes()


def no_text() -> Any:
    return b"\xff".decode()


def no_key() -> Any:
    empty: dict[str, int] = {}
    return empty["a"]


def singular() -> Any:
    return np.linalg.inv(np.zeros((2, 2)))


FAILURES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (missing, FileNotFoundError, "/no/such/file"),
    (no_text, ValueError, "0xff"),
    (no_key, KeyError, "a"),
    (singular, ValueError, "Singular"),
]


@pytest.mark.parametrize(("work", "kind", "words"), FAILURES)
@pytest.mark.parametrize("n_ranks", [1, 2, 4])
def test_one_rank_fails_and_all_raise(
    work: Callable[[], Any], kind: type[Exception], words: str, n_ranks: int
) -> None:
    def body(team: pt.Team) -> None:
        last = team.size - 1
        with pytest.raises(kind, match=words):
            together(team, lambda: work() if team.rank == last else 1)
        with pytest.raises(kind, match=words):
            by_first(team, work)
        # Nobody is left waiting, or at another call.
        assert team.allgather_data(team.rank) == list(range(team.size))

    pt.spmd(body, n_ranks)


def test_the_rank_is_named() -> None:
    def body(team: pt.Team) -> list[str]:
        with pytest.raises(FileNotFoundError) as met:
            together(team, lambda: missing() if team.rank == 1 else None)
        return list(getattr(met.value, "__notes__", []))

    assert pt.spmd(body, 3) == [["(on rank 1)"], [], ["(on rank 1)"]]


def test_what_all_ranks_return() -> None:
    def body(team: pt.Team) -> tuple[int, Any]:
        return together(team, lambda: team.rank), by_first(team, lambda: (team.rank, "x"))

    assert pt.spmd(body, 3) == [(rank, (0, "x")) for rank in range(3)]
