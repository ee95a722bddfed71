"""Work that each rank does alone: its errors are raised on every rank, as what they were."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import partita as pt
from partita._team.together import by_first, together
from partita.sparse import eye


def missing() -> Any:
    return Path("/no/such/file").read_bytes()


def no_text() -> Any:
    return b"\xff".decode()


def no_key() -> Any:
    empty: dict[str, int] = {}
    return empty["a"]


def singular() -> Any:
    return np.linalg.inv(np.zeros((2, 2)))


def no_archive() -> Any:
    return zipfile.ZipFile(io.BytesIO(b"none"))


def not_packed() -> Any:
    return zlib.decompress(b"none")


class OwnError(Exception):
    """One that wants more than a text is told as what it is derived from."""

    def __init__(self, first: str, second: str) -> None:
        super().__init__(first + second)


def own() -> Any:
    raise OwnError("too ", "odd")


FAILURES: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (missing, FileNotFoundError, "/no/such/file"),
    (no_text, ValueError, "0xff"),
    (no_key, KeyError, r"^'a'(\n|$)"),
    (singular, np.linalg.LinAlgError, "Singular"),
    (no_archive, zipfile.BadZipFile, "not a zip file"),
    (not_packed, zlib.error, "Error -3"),
    (own, Exception, "too odd"),
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


def test_errors_of_partita_keep_class_and_reason() -> None:
    """Also where their class would want more than a text: other ranks match the reason."""
    failures = [pt.LayoutError("no", "no-layout"), pt.MismatchError("no", "no-match", 0)]

    def body(team: pt.Team) -> list[tuple[type, str, list[str]]]:
        found = []
        for failure in failures:

            def work(failure: Exception = failure) -> None:
                if team.rank == 1:
                    raise failure

            with pytest.raises(pt.PartitaError) as met:
                together(team, work)
            notes = list(getattr(met.value, "__notes__", []))
            found.append((type(met.value), met.value.reason, notes))
        return found

    first, second, third = pt.spmd(body, 3)
    assert first == third
    assert first == [
        (pt.LayoutError, "no-layout", ["(on rank 1)"]),
        (pt.MismatchError, "no-match", ["(on rank 1)"]),
    ]
    assert [one[:2] for one in second] == [one[:2] for one in first]


def test_a_slice_that_is_not_there_is_so_for_all() -> None:
    def body(team: pt.Team) -> tuple[str, list[str]]:
        t = eye(4)
        with pytest.raises(pt.LayoutError, match="use numbers from 0") as met:
            t.get_slices([(9, 0)] if team.rank == 1 else [])
        return met.value.reason, list(getattr(met.value, "__notes__", []))

    note = ["(on rank 1)"]
    assert pt.spmd(body, 3) == [("slice-id", note), ("slice-id", []), ("slice-id", note)]
