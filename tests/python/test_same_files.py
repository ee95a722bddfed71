"""Files that ranks must name alike, and errors that name the file of the user."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import partita as pt

WRITERS: dict[str, Any] = {
    "save": lambda path: pt.save(path / "a.npy", pt.ones((5, 3))),
    "savez": lambda path: pt.savez(path / "a.npz", pt.ones((5, 3))),
    "savetxt": lambda path: pt.savetxt(path / "a.txt", pt.ones((5, 3))),
    "tofile": lambda path: pt.ones((5, 3)).tofile(path / "a.raw"),
}
READERS: dict[str, Any] = {
    "load": lambda path: pt.load(path / "a.npy"),
    "loadtxt": lambda path: pt.loadtxt(path / "a.txt"),
    "fromfile": lambda path: pt.fromfile(path / "a.raw"),
}


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("name", [*WRITERS, *READERS])
def test_ranks_that_name_different_files_are_told_so(name: str, ranks: int, tmp_path: Path) -> None:
    for folder in ("0", "1"):
        (tmp_path / folder).mkdir()
        if name in READERS:
            np.save(tmp_path / folder / "a.npy", np.ones(4))
            np.savetxt(tmp_path / folder / "a.txt", np.ones(4))
            np.ones(4).tofile(tmp_path / folder / "a.raw")
    before = sorted(tmp_path.rglob("*"))

    def body(team: pt.Team) -> str:
        with pytest.raises(pt.MismatchError, match=r"the file '.*/0/a\.") as caught:
            (WRITERS | READERS)[name](tmp_path / str(min(team.rank, 1)))
        assert team.allgather_data(team.rank) == list(range(ranks))
        return str(caught.value)

    for said in pt.spmd(body, ranks):
        assert "/1/a." in said
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("ranks", [1, 3])
@pytest.mark.parametrize("name", WRITERS)
def test_a_missing_folder_is_named_with_the_file(name: str, ranks: int, tmp_path: Path) -> None:
    def body(_: pt.Team) -> str:
        with pytest.raises(FileNotFoundError) as caught:
            WRITERS[name](tmp_path / "missing")
        return str(caught.value.filename)

    for found in pt.spmd(body, ranks):
        assert Path(found).parent == tmp_path / "missing"
        assert Path(found).stem == "a"


def test_ranks_that_sort_along_different_axes_hear_what_each_does() -> None:
    def body(team: pt.Team) -> list[str]:
        a = pt.asarray(np.arange(12.0).reshape(4, 3), "block, *")
        with pytest.raises(pt.MismatchError) as caught:
            pt.sort(a, axis=0).redistribute("*, *" if team.rank else "*, block")
        return caught.value.__notes__

    for notes in pt.spmd(body, 2):
        assert "(4, 3)" in notes[0]
        assert "test_same_files.py" in notes[0]
