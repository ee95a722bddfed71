"""Sparse tensors in files: Matrix Market and `.npz`, on threads and on processes."""

from __future__ import annotations

import os
from pathlib import Path

import bodies_sparse_files
import engines
import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from places import Place, environments
from sparse_cases import same, tensor

import partita as pt
from partita.sparse import mmread
from partita.sparse.files import parsing
from partita.sparse.files.header import Head
from partita.sparse.files.stretch import own_lines


@pytest.mark.parametrize("case", bodies_sparse_files.CASES, ids=str)
@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_on_threads(tmp_path: Path, case: engines.Case, n_ranks: int) -> None:
    pt.spmd(case.body, n_ranks, [str(tmp_path)])


def test_under_mpi(tmp_path: Path) -> None:
    cases = [
        engines.Case(case.name, case.body, (str(tmp_path / case.name),))
        for case in bodies_sparse_files.CASES
    ]
    for case in cases:
        Path(case.args[0]).mkdir()
    outcomes = engines.run(Place("mpi", 2, environments()), cases)
    assert [one.failure for one in outcomes.values() if one.failure] == []


@pytest.mark.parametrize("n_ranks", [1, 2, 3, 7, 40])
def test_every_line_is_read_by_one_rank(tmp_path: Path, n_ranks: int) -> None:
    for text in (b"head\n1 2\n\n333 4\n5 6\n", b"head\n1 2\n3 4", b"head\n", b"head\n" + b"1" * 99):
        path = tmp_path / "lines"
        path.write_bytes(text)
        parts = [own_lines(path, 5, rank, n_ranks) for rank in range(n_ranks)]
        found = [one for one, _ in parts]
        assert all(text[begin : begin + len(one)] == one for one, begin in parts)
        assert b"".join(found) == text[5:]
        # Only the last line of the file may have no end.
        assert all(one.endswith(b"\n") for one in found if one and not text.endswith(one))


@pytest.mark.parametrize("field", ["real", "integer", "complex", "pattern", "unsigned-integer"])
@pytest.mark.parametrize("is_dense", [False, True])
def test_both_parsers_read_the_same(field: str, is_dense: bool) -> None:
    if is_dense and field == "pattern":
        field = "real"
    values = {"complex": "1.5 -2\n-3E-300 inf\n", "pattern": "\n\n"}.get(field, "12\n3\n")
    places = ["", ""] if is_dense else ["3 2 ", "1 4 "]
    lines = zip(places, values.splitlines(), strict=True)
    text = "".join(f"{place}{value}\n" for place, value in lines).encode()
    head = Head(is_dense, field, "general", (3, 4), 2, 0)
    theirs, ours = parsing._by_scipy(text, head), parsing._by_numpy(text, head)
    assert theirs is not None
    assert theirs[1].dtype == ours[1].dtype == head.dtype
    for one, other in zip([*theirs[0], theirs[1]], [*ours[0], ours[1]], strict=True):
        np.testing.assert_array_equal(one, other)
    # Without an end of the last line, with empty ones, and nothing at all.
    assert parsing.parsed(text.rstrip(b"\n"), head)[1].tolist() == ours[1].tolist()
    assert parsing.parsed(b"\n" + text + b"\n\n", head)[1].tolist() == ours[1].tolist()
    assert len(parsing.parsed(b"", head)[1]) == 0
    # SciPy's parser, asked alone, ends the process at these.
    assert parsing.parsed(text.rstrip(b"\n") + b" ", head)[1].tolist() == ours[1].tolist()
    with pytest.raises(ValueError, match=r"has not|has no"):
        parsing.parsed(text.replace(b"\n", b"\0", 1), head)


def test_more_ranks_than_lines(tmp_path: Path) -> None:
    m = tensor((3, 2), "float64", 4)
    scipy.io.mmwrite(tmp_path / "a.mtx", m)

    def body(team: pt.Team) -> None:
        same(mmread(tmp_path / "a.mtx").gather(), m)

    pt.spmd(body, 5)


def test_a_file_that_could_not_be_written_leaves_nothing(tmp_path: Path) -> None:
    def body(team: pt.Team) -> None:
        t = pt.sparse.DistTensor.from_scipy(sp.eye_array(4, format="csr"))
        with pytest.raises(ValueError, match="field"):
            pt.sparse.mmwrite(tmp_path / "a", t, field="nonsense")

    pt.spmd(body, 2)
    assert os.listdir(tmp_path) == []
