"""Slices of sparse tensors by their numbers, on threads and on processes."""

from __future__ import annotations

import threading
import time
from typing import Any

import bodies_slices
import engines
import numpy as np
import pytest
import scipy.sparse as sp
from places import Place, launchers
from sparse_cases import dense, raised, same, tensor

import partita as pt
from partita.sparse import DistTensor
from partita.sparse.block import Block

PLACES = [Place("threads", n) for n in (1, 2, 3, 5)]
PLACES += [Place("mpi", 2, launchers()[0])]


@pytest.mark.parametrize("place", PLACES, ids=str)
def test_slices(place: Place) -> None:
    found = engines.run(place, bodies_slices.CASES)
    failures = [f"{name} at {place}:\n{one.failure}" for name, one in found.items() if one.failure]
    if failures:
        pytest.fail("\n".join(failures), pytrace=False)


def test_a_reader_never_sees_a_mixture_of_two_slices() -> None:
    has_read = threading.Event()
    end = time.monotonic() + 60

    def body(team: pt.Team) -> int:
        n = 40
        t = DistTensor.from_scipy(sp.eye_array(2 * n, format="csr"))
        team.barrier()
        n_seen: set[int] = set()
        n_reads = number = 0
        # The owner writes as long as the other reads, whoever of them comes first.
        while team.rank == 0 and not has_read.is_set() and time.monotonic() < end:
            number += 1
            kept = number % n + 1
            # As many entries as each of their values says.
            made = sp.eye_array(kept, format="csr") * kept
            made.resize((n, 2 * n))
            t._replace(Block.from_scipy(made))
        while team.rank == 1 and (n_reads < 200 or len(n_seen) < 2) and time.monotonic() < end:
            found = t.get_slice((0, 0))
            n_reads += 1
            n_seen.add(found.nnz)
            assert found.nnz == found.indptr[-1]
            assert set(found.data) <= {float(found.nnz), 1.0}
        has_read.set()
        team.barrier()
        return len(n_seen)

    assert pt.spmd(body, 2)[1] > 1


def test_a_slice_that_its_owner_has_dropped_is_an_error() -> None:
    def body(team: pt.Team) -> str:
        made: Any = DistTensor.from_scipy(sp.eye_array(4, format="csr"))
        team.barrier()
        if team.rank == 0:
            made = None
        team.barrier()
        words = "" if made is None else raised(lambda: made.get_slice((0, 0)), pt.TeamError)
        team.barrier()
        return words

    words = pt.spmd(body, 2)[1]
    assert "rank 0" in words
    # What cannot help is not advised.
    assert "get_slices" not in words


def test_a_slice_keeps_its_index_type() -> None:
    def body(team: pt.Team) -> None:
        given = ([0, 3], [1, 2]) if team.rank == 0 else ([], [])
        data = [1.0, 2.0] if team.rank == 0 else np.zeros(0)
        t = DistTensor.from_coo((4, 4), given, data, index_dtype="int64")
        assert t.get_slice((1, 0)).indices.dtype == np.int64
        (found,) = t.get_slices([(1 - team.rank, 0)])
        assert found.indices.dtype == np.int64
        t.set_slice((1, 0), sp.csr_array((2, 4)))
        assert t.index_dtype == np.int64
        team.barrier()

    pt.spmd(body, 2)


@pytest.mark.parametrize("format", ["csr", "csc", "coo"])
@pytest.mark.parametrize("n_ranks", [1, 2, 3])
def test_a_tensor_is_not_changed_through_what_it_shows(format: str, n_ranks: int) -> None:
    whole = tensor((9, 7), "float64", 4, format)
    lists = ["coords", "data"] if format == "coo" else ["indptr", "indices", "data"]

    def body(team: pt.Team) -> None:
        t = DistTensor.from_scipy(whole.copy(), layout="block(last), *")
        own = t.slice_id
        for shown in (t.to_scipy(), t.get_slice(own), *t.get_slices([own])):
            for name in lists:
                given = getattr(shown, name)
                for one in given if name == "coords" else [given]:
                    with pytest.raises(ValueError, match="read-only"):
                        one[...] = 0
            # It computes as others do, and a copy can be changed.
            part, x = dense(shown), np.arange(7.0)
            np.testing.assert_array_equal(shown @ x, part @ x)
            np.testing.assert_array_equal((shown @ shown.T).toarray(), part @ part.T)
            np.testing.assert_array_equal((2 * shown + shown).toarray(), 3 * part)
            copied = shown.copy()
            copied.data[...] = 0
            made = DistTensor.from_blocks(shown, (9, 7), layout="block(last), *")
            np.testing.assert_array_equal((made @ x).gather(), dense(whole) @ x)
        with pytest.raises(ValueError, match="read-only"):
            t.values[...] = 0
        same(t.gather(), whole)
        # What was brought or gathered is the caller's own.
        for found in (t.gather(), t.get_rows([0, 3])):
            found.data[...] = 0
        plan = t.plan_rows([0, 3])
        with pytest.raises(ValueError, match="read-only"):
            plan(t).indices[...] = 0
        plan(t).data[...] = 0
        same(t.gather(), whole)

    pt.spmd(body, n_ranks)
