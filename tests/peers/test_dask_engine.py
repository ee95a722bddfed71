"""Arrays on a real Dask cluster of two worker processes, against NumPy."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster, wait
from distributed.protocol import deserialize_bytes, serialize, serialize_bytelist
from task_cases import SHAPE, buffers, check, layouts, numbers, summands

import partita as pt
from partita._partita import ThreadWorld
from partita._tasks.loans import SMALLEST_LOAN_BYTES, lend
from partita.dask import spilling

LAYOUTS = layouts()
HERE = Path(__file__).parent


OPTIONS = {
    "n_workers": 2,
    "threads_per_worker": 1,
    "processes": True,
    "dashboard_address": ":0",
    "memory_limit": 0,
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[LocalCluster]:
    with LocalCluster(**OPTIONS) as made:
        yield made


@pytest.fixture
def client(cluster: LocalCluster) -> Iterator[Client]:
    with Client(cluster) as made:
        yield made


@pytest.fixture(params=["sent", "lent"])
def doomed(request: pytest.FixtureRequest) -> Iterator[Client]:
    """A client of a cluster of its own, whose workers may be killed."""
    with LocalCluster(**OPTIONS) as cluster, Client(cluster) as made:
        if request.param == "lent":
            made.run(lend_everything)
        yield made


@pytest.fixture
def lending(client: Client) -> Iterator[Client]:
    """A client whose workers lend even the smallest parts."""
    client.run(lend_everything)
    yield client
    client.run(lend_everything, 1 << 18)


def lend_everything(from_bytes: int = 1) -> None:
    from partita._tasks import loans

    loans.SMALLEST_LOAN_BYTES = from_bytes


def scattered(client: Client, values: np.ndarray, layout: pt.Layout) -> pt.dask.DaskArray:
    """An array whose pieces were scattered: they cannot be computed again."""
    futures = client.scatter(buffers(values, layout), hash=False)
    return pt.from_dask(futures, layout)


@pytest.mark.parametrize(("source", "target"), list(permutations(LAYOUTS, 2)))
def test_from_every_layout_to_every_layout(client: Client, source: str, target: str) -> None:
    values = numbers(1)
    a = scattered(client, values, LAYOUTS[source])
    check(a.redistribute(LAYOUTS[target]), LAYOUTS[target], values)


@pytest.mark.parametrize("name", LAYOUTS)
def test_lent_parts_are_as_good_as_sent_ones(lending: Client, name: str) -> None:
    values = numbers(2)
    a = scattered(lending, values, LAYOUTS["rows"]).redistribute(LAYOUTS[name])
    check(a, LAYOUTS[name], values)
    check(a.redistribute(LAYOUTS["lists"]), LAYOUTS["lists"], values)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float32", "int64", "complex128"])
def test_every_size_of_element(client: Client, dtype: str) -> None:
    values = numbers(2, dtype=dtype)
    a = pt.from_dask(da.from_array(values, chunks=(5, 4)))
    check(a.redistribute(LAYOUTS["cyclic"]), LAYOUTS["cyclic"], values)


@pytest.mark.parametrize("shape", [(), (1,), (0,), (5, 0), (3, 4, 5), (2, 3, 2, 2)])
def test_every_number_of_dimensions(client: Client, shape: tuple[int, ...]) -> None:
    values = numbers(3, shape)
    a = pt.from_dask(da.from_array(values, chunks=2))
    assert a.shape == shape
    whole = pt.Layout(shape, [pt.Cyclic() for _ in shape], grid=[2 for _ in shape])
    b = a.redistribute(whole)
    check(b, whole, values)
    np.testing.assert_array_equal(b.gather(), values)
    np.testing.assert_array_equal(b.to_dask().compute(), values)


@pytest.mark.parametrize("target", ["rows", "replicated", "cyclic", "boxes", "halo"])
def test_summands_are_added(client: Client, target: str) -> None:
    layout, parts, total = summands()
    a = pt.from_dask(client.scatter(parts, hash=False), layout)
    check(a.redistribute(LAYOUTS[target]), LAYOUTS[target], total)
    np.testing.assert_array_equal(a.gather(), total)


def test_an_array_becomes_summands(client: Client) -> None:
    layout, _, _ = summands()
    values = numbers(4)
    b = pt.from_dask(da.from_array(values, chunks=6)).redistribute(layout)
    np.testing.assert_array_equal(b.gather(), values)


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_dask_array_again(client: Client, name: str) -> None:
    values = numbers(6)
    a = scattered(client, values, LAYOUTS[name])
    x = a.to_dask()
    assert isinstance(x, da.Array)
    assert (x.shape, x.dtype) == (SHAPE, values.dtype)
    np.testing.assert_array_equal(x.compute(), values)
    np.testing.assert_array_equal((x + 1).T.sum(axis=0).compute(), (values + 1).T.sum(axis=0))


def test_a_lazy_array_is_computed_on_the_cluster_once(client: Client) -> None:
    x = da.random.random((40, 30), chunks=(7, 30))
    a = pt.from_dask(x)
    b = a.redistribute(pt.Layout(a.shape, "*, block @ 1x3"))
    np.testing.assert_array_equal(b.gather(), a.gather())
    assert a.layout.local_shape(5) == (5, 30)


def test_what_crosses_goes_between_workers_and_is_what_the_plan_says(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What is lent does not cross.
    monkeypatch.setattr(pt.dask.cluster, "machines", lambda client: {})
    values = numbers(7, (512, 512))
    rows, columns = (pt.Layout(values.shape, n) for n in ("block, * @ 2x1", "*, block @ 1x2"))
    workers = sorted(client.scheduler_info()["workers"])
    parts = np.array_split(values, 2)
    futures = [
        client.submit(np.array, part, workers=[worker])
        for part, worker in zip(parts, workers, strict=True)
    ]
    a = pt.from_dask(futures, rows)
    client.run(forget_transfers)
    b = a.redistribute(columns)
    sent = [log for logs in client.run(transfers).values() for log in logs]
    pids = client.run(os.getpid)
    assert sorted(p for _, p in map(one, b.locations)) == sorted(pids.values())
    assert all(who in workers for who, _ in sent), "something went to the driver"
    n_bytes = sum(n for _, n in sent)
    assert n_bytes == pt.plan(rows, columns).bytes_moved == values.nbytes // 2
    check(b, columns, values)


def one(places: list[tuple[str, int]]) -> tuple[str, int]:
    [place] = places
    return place


def forget_transfers(dask_worker: object) -> None:
    dask_worker.transfer_outgoing_log.clear()


def transfers(dask_worker: object) -> list[tuple[str, int]]:
    """Who fetched how many bytes from this worker."""
    logs = dask_worker.transfer_outgoing_log
    return [(log["who"], sum(log["keys"].values())) for log in logs]


def test_locations_are_true(client: Client) -> None:
    pids = client.run(os.getpid)
    chosen = sorted(pids)[1]
    futures = client.scatter(buffers(numbers(8), LAYOUTS["rows"]), workers=[chosen], hash=False)
    a = pt.from_dask(futures, LAYOUTS["rows"])
    assert a.locations == [[("127.0.0.1", pids[chosen])]] * 4
    b = a.redistribute(LAYOUTS["blocks"], places=dict.fromkeys(range(6), chosen))
    assert b.locations == [[("127.0.0.1", pids[chosen])]] * 6
    c = a.redistribute(LAYOUTS["blocks"])
    assert {one(place)[1] for place in c.locations} == set(pids.values()), "not spread"


def test_partitioned_is_picklable_and_complete(client: Client) -> None:
    values = numbers(9)
    a = scattered(client, values, LAYOUTS["blocks"])
    found = pickle.loads(pickle.dumps(a.__partitioned__))
    assert (found["shape"], found["partition_tiling"]) == (SHAPE, (3, 2))
    pids = set(client.run(os.getpid).values())
    again = np.full(SHAPE, -1.0)
    handles = [part["data"] for part in found["partitions"].values()]
    for part, data in zip(found["partitions"].values(), found["get"](handles), strict=True):
        at = zip(part["start"], part["shape"], strict=True)
        again[tuple(slice(start, start + n) for start, n in at)] = data
        assert {pid for _, pid in part["location"]} <= pids
    np.testing.assert_array_equal(again, values)
    np.testing.assert_array_equal(found["get"](handles[0]), found["get"](handles)[0])
    with pytest.raises(pt.LayoutError, match="as_chunks") as caught:
        _ = a.redistribute(LAYOUTS["cyclic"]).__partitioned__
    assert caught.value.reason == "layout-not-a-grid"


OTHER_PROCESS = """
import pickle, sys
import numpy as np
import partita as pt
from partita._partita import ThreadWorld
found = pickle.loads(sys.stdin.buffer.read())
np.save(sys.stdout.buffer, pt.from_partitioned(found).gather())
"""


def in_another_process(pickled: bytes) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-c", OTHER_PROCESS],
        input=pickled,
        capture_output=True,
        timeout=60,
        check=False,
    )


def test_another_process_finds_the_pieces(client: Client, tmp_path: Path) -> None:
    values = numbers(9)
    a = scattered(client, values, LAYOUTS["blocks"])
    done = in_another_process(pickle.dumps(a.__partitioned__))
    assert done.returncode == 0, done.stderr.decode()
    (tmp_path / "values.npy").write_bytes(done.stdout)
    np.testing.assert_array_equal(np.load(tmp_path / "values.npy"), values)


def test_another_process_is_told_what_is_gone(client: Client) -> None:
    a = scattered(client, numbers(9), LAYOUTS["blocks"])
    pickled = pickle.dumps(a.__partitioned__)
    del a
    done = in_another_process(pickled)
    assert b"knows nothing of 6 pieces" in done.stderr, done.stderr.decode()


def taken_over(given: bytes | dict[str, object]) -> np.ndarray:
    """The whole array, in a task."""
    found = pickle.loads(given) if isinstance(given, bytes) else given
    return pt.from_partitioned(found, team=pt.Team(ThreadWorld(1).team(0))).gather()


@pytest.mark.parametrize("form", ["pickled", "plain"])
def test_tasks_find_the_pieces(client: Client, form: str) -> None:
    values = numbers(9)
    found = scattered(client, values, LAYOUTS["blocks"])
    given = found.__partitioned__
    # As many as there are threads: none may wait for another.
    tasks = [
        client.submit(taken_over, pickle.dumps(given) if form == "pickled" else given, pure=False)
        for _ in range(4)
    ]
    wait(tasks, timeout=60)
    for one in client.gather(tasks):
        np.testing.assert_array_equal(one, values)


def test_words_and_picture_ask_nobody(client: Client) -> None:
    a = pt.from_dask(da.zeros((64, 64), chunks=(1, 64))).redistribute(LAYOUT_64)
    client.close()
    assert repr(a) == "<DaskArray (64, 64) float64, *, cyclic(3) @ 1x2, 2 pieces in 2 places>"
    shown = a._repr_html_()
    assert "<svg" in shown
    assert "tcp://127.0.0.1" in shown
    assert "32 KiB" in shown


LAYOUT_64 = pt.Layout((64, 64), "*, cyclic(3) @ 1x2")


def refused(reason: str, *args: object, **kwargs: object) -> None:
    with pytest.raises(pt.PartitaError) as caught:
        pt.from_dask(*args, **kwargs)
    assert caught.value.reason == reason


def test_wrong_input_is_refused(client: Client) -> None:
    x = da.from_array(numbers(1), chunks=5)
    unknown = x[x[:, 0] > 10]
    refused("chunks-unknown", unknown)
    unknown.compute_chunk_sizes()
    assert pt.from_dask(unknown).shape == unknown.shape
    refused("dask-type", np.zeros(3))
    rows = LAYOUTS["rows"]
    futures = client.scatter(buffers(numbers(1), rows), hash=False)
    refused("buffer-count", futures[:3], rows)
    refused("buffer-shape", futures[::-1], rows)
    refused("dtypes-differ", futures, rows, dtype="float32")
    mixed = [*futures[:3], client.submit(np.float32, futures[3])]
    refused("dtypes-differ", mixed, rows)
    refused("handles-type", 5, rows)
    refused("chunks-type", da.ma.masked_greater(x, 3))
    refused("data-type", x.astype(object))
    refused("byte-order", x.astype(">f8"))
    refused("dtype-unknown", x.astype("M8[s]"))
    refused("dtype-unknown", futures, rows, dtype="nonsense")
    hidden = client.scatter([np.ma.masked_equal(one, 3) for one in buffers(numbers(1), rows)])
    refused("data-masked", hidden, rows)
    refused("dask-type", [*futures[:3], 5], rows)
    refused("dask-type", x, rows)
    refused("layout-type", futures, "block, * @ 4x1")
    refused("dask-client", x, client=5)
    a = pt.from_dask(futures, rows)
    for reason, call in {
        "place-unknown": lambda: a.redistribute(rows, places={0: "tcp://192.0.2.1:5"}),
        "rank-unknown": lambda: a.redistribute(rows, places={9: ""}),
        "place-unknown ": lambda: a.redistribute(rows, places=3),
        "place-unknown  ": lambda: a.redistribute(rows, places={0: [1]}),
        "array-divided": lambda: np.asarray(a),
        "dask-client": lambda: a.to_dask(5),
        "not-a-team": lambda: a.to_team(5, rows),
    }.items():
        with pytest.raises(pt.PartitaError) as caught:
            call()
        assert caught.value.reason == reason.strip()


def test_nobody_to_work_is_said_clearly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pt.dask.waiting, "NOBODY_WORKS_SECONDS", 1.0)
    monkeypatch.setattr(pt.dask.waiting, "LOOK_AROUND_SECONDS", 0.5)
    with LocalCluster(**{**OPTIONS, "n_workers": 1}) as cluster, Client(cluster) as client:
        a = pt.from_dask(da.zeros((64, 64), chunks=32), client=client)
        cluster.scale(0)
        with pytest.raises(pt.TeamError, match="no workers") as caught:
            a.redistribute(pt.Layout(a.shape, "*, block @ 1x2"), places={})
        assert caught.value.reason == "worker-died"


def test_lost_pieces_are_said_clearly(doomed: Client) -> None:
    a = pt.from_dask(da.zeros((64, 64), chunks=32))
    doomed.restart()
    for call in (a.gather, lambda: a.locations, lambda: a.redistribute(a.layout)):
        with pytest.raises(pt.TeamError) as caught:
            call()
        assert caught.value.reason == "source-lost"


def test_workers_with_little_memory_are_not_paused_for_ever() -> None:
    options = {**OPTIONS, "n_workers": 3, "memory_limit": "400MB"}

    def work(client: Client, k: int) -> bool:
        x = da.arange(2048**2, chunks=2048 * 256, dtype="f8").reshape(2048, 2048) + k
        a = pt.from_dask(x, client=client)
        for notation in ("*, block @ 1x3", "block, * @ 4x1", "*, cyclic(64) @ 1x2"):
            a = a.redistribute(pt.Layout(a.shape, notation))
        found = a.gather()
        return bool(found[0, 0] == k and found[-1, -1] == 2048**2 - 1 + k)

    with (
        LocalCluster(**options) as cluster,
        Client(cluster) as client,
        ThreadPoolExecutor(6) as pool,
    ):
        assert all(pool.map(lambda k: work(client, k), range(6)))


def test_lent_parts_come_back_from_a_worker_s_disk() -> None:
    spilling.register()
    part = lend(SMALLEST_LOAN_BYTES)
    assert part is not None
    part.array[:] = np.arange(SMALLEST_LOAN_BYTES) % 251
    kept = [bytes(frame) for frame in serialize_bytelist(part, on_error="raise")]
    travelling, _ = serialize(part, context={"recipient": "a worker"})
    assert travelling["serializer"] == "pickle"
    del part
    found = deserialize_bytes(b"".join(kept))
    np.testing.assert_array_equal(found, np.arange(SMALLEST_LOAN_BYTES) % 251)


def test_what_is_on_dask_is_taken_over_by_its_protocol(client: Client) -> None:
    values = numbers(3)
    a = pt.from_dask(da.from_array(values, chunks=5))
    np.testing.assert_array_equal(pt.asarray(a).gather(), values)


def test_a_closed_client_is_said_clearly(cluster: LocalCluster) -> None:
    with Client(cluster) as client:
        a = pt.from_dask(da.zeros((4, 4), chunks=2), client=client)
    with pytest.raises(pt.TeamError, match="closed") as caught:
        a.gather()
    assert caught.value.reason == "client-missing"


def test_no_cluster_is_said_clearly() -> None:
    refused("client-missing", da.zeros(3))


def spread(client: Client) -> pt.dask.DaskArray:
    """An array made by tasks, eight slots on each of the two workers."""
    workers = sorted(client.scheduler_info()["workers"])
    futures = [
        client.submit(row, k, workers=[workers[k % 2]], allow_other_workers=True, pure=False)
        for k in range(16)
    ]
    return pt.from_dask(futures, pt.Layout((64, 64), "block, * @ 16x1"))


def row(number: int) -> np.ndarray:
    return np.arange(4 * 64).reshape(4, 64) + 1000 * number


@pytest.mark.parametrize("n_before", [0, 1, 3])
@pytest.mark.parametrize("what", ["cut", "join_one"])
def test_a_killed_worker_and_data_that_can_be_computed(
    doomed: Client, what: str, n_before: int
) -> None:
    a = spread(doomed)
    wanted = np.concatenate([row(k) for k in range(16)])
    columns = pt.Layout(a.shape, "*, cyclic(2) @ 1x8")
    victim, pid = next(iter(doomed.run(os.getpid).items()))
    doomed.run(kill_at, what, n_before, workers=[victim])
    b = a.redistribute(columns)
    assert pid not in doomed.run(os.getpid).values(), "the worker lives"
    check(b, columns, wanted)


def test_a_killed_worker_and_a_lazy_array(doomed: Client) -> None:
    x = da.random.default_rng(1).integers(0, 9, (64, 64), chunks=(4, 64))
    a = pt.from_dask(x)
    wanted = a.gather()
    victim = next(iter(doomed.run(os.getpid)))
    doomed.run(kill_at, "join_one", 1, workers=[victim])
    b = a.redistribute(pt.Layout(a.shape, "*, cyclic(2) @ 1x8"))
    np.testing.assert_array_equal(b.gather(), wanted)
    np.testing.assert_array_equal(b.to_dask().compute(), wanted)


@pytest.mark.parametrize("n_before", [0, 1, 3])
def test_a_killed_worker_and_scattered_data(doomed: Client, n_before: int) -> None:
    values = numbers(2, (64, 64))
    a = scattered(doomed, values, pt.Layout(values.shape, "block, * @ 16x1"))
    victim = next(iter(doomed.run(os.getpid)))
    doomed.run(kill_at, "cut", n_before, workers=[victim])
    with pytest.raises(pt.TeamError, match="scatter") as caught:
        a.redistribute(pt.Layout(a.shape, "*, cyclic(2) @ 1x8"))
    assert caught.value.reason == "source-lost"
    with pytest.raises(pt.TeamError) as caught:
        a.gather()
    assert caught.value.reason == "source-lost"


def kill_at(what: str, n_before: int) -> None:
    """Kill this worker when it starts a task of this kind after some others."""
    from partita._tasks import worker

    task = getattr(worker, what)
    rest = iter(range(n_before))

    def killer(*args: object) -> object:
        if next(rest, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)
        return task(*args)

    setattr(worker, what, killer)


def test_nothing_is_left_on_the_cluster(client: Client) -> None:
    a = pt.from_dask(da.from_array(numbers(1), chunks=4))
    b = a.redistribute(LAYOUTS["lists"])
    del a, b
    for _ in range(100):
        if not any(client.has_what().values()):
            return
        threading.Event().wait(0.05)
    raise AssertionError(f"left: {client.has_what()}")


def test_from_ranks_that_are_threads_and_back(client: Client) -> None:
    values = numbers(3)

    def rank(team: pt.Team, name: str) -> bool:
        layout = LAYOUTS[name]
        own = buffers_of(values, layout, team.rank)
        a = pt.from_local(own, layout, team)
        x = a.to_dask(client)
        np.testing.assert_array_equal(x.compute(), values)
        only = a.to_dask(client, root=1)
        assert (only is None) == (team.rank != 1)
        mine = pt.from_dask(x) if team.rank == 0 else None
        b = pt.dask.share(mine, team).to_team(team, LAYOUTS["cyclic"])
        np.testing.assert_array_equal(b.local, buffers(values, LAYOUTS["cyclic"])[team.rank])
        return True

    for name in ("rows", "cyclic", "replicated"):
        assert all(pt.spmd(rank, 4, (name,)))


def buffers_of(values: np.ndarray, layout: pt.Layout, rank: int) -> np.ndarray:
    return buffers(values, layout)[list(layout.ranks).index(rank)]


def test_from_mpi_ranks_and_back(client: Client) -> None:
    mpiexec = Path(sys.executable).parent / "mpiexec"
    command = [mpiexec, "-n", "3", sys.executable, HERE / "mpi_to_dask.py"]
    address = client.scheduler.address
    done = subprocess.run(
        [*command, address], capture_output=True, text=True, timeout=100, check=False
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.split()) == ["0", "1", "2"]
