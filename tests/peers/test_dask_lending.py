"""Workers of one machine read each other's memory instead of sending, on a real Dask cluster."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Iterator

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

import partita as pt

SHAPE = (1024, 512)
ROWS, COLUMNS = (pt.Layout(SHAPE, n) for n in ("block, * @ 4x1", "*, cyclic(8) @ 1x4"))


@pytest.fixture
def client() -> Iterator[Client]:
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with LocalCluster(**options, memory_limit=0) as cluster, Client(cluster) as made:
        yield made


def moved(client: Client) -> np.ndarray:
    """A new array of rows, as columns."""
    x = da.random.default_rng(3).integers(0, 1000, SHAPE, chunks=(256, 512))
    return pt.from_dask(x, client=client).redistribute(COLUMNS).gather()


def wanted(client: Client) -> np.ndarray:
    return da.random.default_rng(3).integers(0, 1000, SHAPE, chunks=(256, 512)).compute()


def count_loans() -> None:
    from partita._tasks import loans

    borrow = loans.borrow
    loans.n_borrowed = 0

    def counted(note: list[int]) -> object:
        loans.n_borrowed += 1
        return borrow(note)

    # A part is unpickled by the name of its function.
    counted.__module__, counted.__qualname__ = "partita._tasks.loans", "borrow"
    loans.borrow = counted


def n_loans() -> int:
    from partita._tasks import loans

    return loans.n_borrowed


def test_parts_are_lent_again_and_again(client: Client) -> None:
    client.run(count_loans)
    for _ in range(5):
        np.testing.assert_array_equal(moved(client), wanted(client))
    assert all(n > 0 for n in client.run(n_loans).values())


def forget_loans() -> None:
    """Every part that comes to this worker is gone."""
    from partita._tasks import loans

    def gone(note: list[int]) -> object:
        return loans.Gone(note)

    gone.__module__, gone.__qualname__ = "partita._tasks.loans", "borrow"
    loans.borrow = gone


def test_parts_that_are_gone_are_sent(client: Client) -> None:
    client.run(forget_loans)
    np.testing.assert_array_equal(moved(client), wanted(client))


def test_a_variable_switches_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARTITA_SHARED_MEMORY", "0")
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        client.run(forget_loans)
        assert set(pt.dask.cluster.machines(client).values()) == {""}
        np.testing.assert_array_equal(moved(client), wanted(client))


BORROWER = """
import pickle, sys, time
part = pickle.loads(sys.stdin.buffer.read())
print(part.array.sum(), flush=True)
time.sleep(60)
"""


def test_a_borrower_that_is_killed_holds_nothing_back() -> None:
    from partita._tasks import loans

    part = loans.lend(1 << 20)
    assert part is not None
    part.array[:] = 1
    address = part.array.ctypes.data
    command = [sys.executable, "-c", BORROWER]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(pickle.dumps(part))
        process.stdin.close()
        assert int(process.stdout.readline()) == 1 << 20
        del part
        other = loans.lend(1 << 20)
        assert other is not None
        assert other.array.ctypes.data != address, "the borrower still reads it"
        process.kill()
        process.wait()
    again = loans.lend(1 << 20)
    assert again is not None
    assert again.array.ctypes.data == address
