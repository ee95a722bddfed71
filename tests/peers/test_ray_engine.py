"""Arrays in the stores of a real Ray cluster, against NumPy: on one machine, and on two nodes."""

from __future__ import annotations

import os
import pickle
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
import psutil
import pytest
import ray
from distributed import Client, LocalCluster
from ray.cluster_utils import Cluster
from task_cases import SHAPE, buffers, check, layouts, numbers, summands

import partita as pt

LAYOUTS = layouts()
HERE = Path(__file__).parent
QUIET = {"include_dashboard": False, "log_to_driver": False}


@pytest.fixture(scope="class")
def one_node() -> Iterator[None]:
    ray.init(num_cpus=2, **QUIET)
    yield
    ray.shutdown()


@pytest.fixture(scope="class")
def two_nodes() -> Iterator[Cluster]:
    """Two nodes on this machine, each with its own store and its own scheduler."""
    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    cluster.add_node(num_cpus=1)
    cluster.wait_for_nodes()
    ray.init(address=cluster.address, **{"log_to_driver": False})
    yield cluster
    ray.shutdown()
    cluster.shutdown()


def put(values: np.ndarray, layout: pt.Layout) -> pt.ray.RayArray:
    return pt.from_ray([ray.put(buffer) for buffer in buffers(values, layout)], layout)


@pytest.mark.usefixtures("one_node")
class TestOneNode:
    @pytest.mark.parametrize(("source", "target"), list(permutations(LAYOUTS, 2)))
    def test_from_every_layout_to_every_layout(self, source: str, target: str) -> None:
        values = numbers(1)
        a = put(values, LAYOUTS[source])
        check(a.redistribute(LAYOUTS[target]), LAYOUTS[target], values)

    @pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float32", "complex128"])
    def test_every_size_of_element(self, dtype: str) -> None:
        values = numbers(2, dtype=dtype)
        a = put(values, LAYOUTS["blocks"])
        check(a.redistribute(LAYOUTS["cyclic"]), LAYOUTS["cyclic"], values)

    @pytest.mark.parametrize("shape", [(), (1,), (0,), (5, 0), (3, 4, 5)])
    def test_every_number_of_dimensions(self, shape: tuple[int, ...]) -> None:
        values = numbers(3, shape)
        maps, grid = [pt.Block() for _ in shape], [2 for _ in shape]
        a = put(values, pt.Layout(shape, maps, grid=grid))
        cyclic = pt.Layout(shape, [pt.Cyclic() for _ in shape], grid=grid)
        b = a.redistribute(cyclic)
        check(b, cyclic, values)
        np.testing.assert_array_equal(b.gather(), values)

    @pytest.mark.parametrize("target", ["rows", "replicated", "cyclic", "boxes", "halo"])
    def test_summands_are_added(self, target: str) -> None:
        layout, parts, total = summands()
        a = pt.from_ray([ray.put(part) for part in parts], layout)
        check(a.redistribute(LAYOUTS[target]), LAYOUTS[target], total)
        np.testing.assert_array_equal(a.gather(), total)

    def test_the_driver_fetches_no_data(self, monkeypatch: pytest.MonkeyPatch) -> None:
        values = numbers(7, (512, 512))
        a = put(values, pt.Layout(values.shape, "block, * @ 2x1"))
        fetched = []

        def watched(refs: Any, **options: Any) -> Any:
            got = get(refs, **options)
            fetched.append(len(pickle.dumps(got)))
            return got

        get = ray.get
        monkeypatch.setattr(ray, "get", watched)
        b = a.redistribute(pt.Layout(values.shape, "*, cyclic(3) @ 1x4"))
        assert fetched
        assert sum(fetched) < 1000
        monkeypatch.undo()
        check(b, b.layout, values)

    def test_locations_are_true(self) -> None:
        a = put(numbers(8, (512, 512)), pt.Layout((512, 512), "block, * @ 2x1"))
        [node] = ray.nodes()
        [[(address, pid)], other] = a.locations
        assert other == [(address, pid)]
        assert address == node["NodeManagerAddress"]
        assert "raylet" in psutil.Process(pid).name()

    def test_references_are_used_without_a_copy(self) -> None:
        refs = [ray.put(part) for part in np.array_split(numbers(9, (512, 512)), 2)]
        a = pt.from_ray(refs, pt.Layout((512, 512), "block, * @ 2x1"))
        assert a.to_ray() == refs
        one, other = ray.get(refs[0]), a._fetch(a.handles)[0]
        assert np.shares_memory(one, other)

    def test_partitioned_is_picklable_and_complete(self) -> None:
        values = numbers(9)
        a = put(values, LAYOUTS["blocks"])
        found = pickle.loads(pickle.dumps(a.__partitioned__))
        assert (found["shape"], found["partition_tiling"]) == (SHAPE, (3, 2))
        parts = list(found["partitions"].values())
        again = np.full(SHAPE, -1.0)
        handles = [part["data"] for part in parts]
        for part, data in zip(parts, found["get"](handles), strict=True):
            at = zip(part["start"], part["shape"], strict=True)
            again[tuple(slice(start, start + n) for start, n in at)] = data
        np.testing.assert_array_equal(again, values)
        np.testing.assert_array_equal(found["get"](handles[0]), found["get"](tuple(handles))[0])

    def test_tasks_read_a_dictionary_that_ray_carries(self) -> None:
        values = numbers(9)
        a = put(values, LAYOUTS["blocks"])

        @ray.remote
        def taken_over(found: dict[str, Any]) -> np.ndarray:
            return pt.from_partitioned(found).gather()

        given = a.__partitioned__
        np.testing.assert_array_equal(ray.get(taken_over.remote(given), timeout=60), values)

    def test_another_process_is_told_what_a_pickle_loses(self) -> None:
        a = put(numbers(9), LAYOUTS["blocks"])
        code = (
            "import pickle, sys, ray, partita as pt\n"
            "found = pickle.loads(sys.stdin.buffer.read())\n"
            "try:\n"
            "    pt.from_partitioned(found)\n"
            "except pt.ProtocolError as error:\n"
            "    print(error, ray.is_initialized())\n"
        )
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=pickle.dumps(a.__partitioned__),
            capture_output=True,
            timeout=60,
            check=True,
        )
        assert b"let Ray carry the dictionary" in done.stdout
        assert done.stdout.strip().endswith(b"False"), "it has started a cluster of its own"

    def test_words_and_picture(self) -> None:
        a = put(numbers(1), LAYOUTS["rows"]).redistribute(LAYOUTS["cyclic"])
        words = "cyclic, cyclic(3) @ 2x2, 4 pieces in 1 places"
        assert repr(a) == f"<RayArray (23, 14) float64, {words}>"
        assert "<svg" in a._repr_html_()

    def test_wrong_input_is_refused(self) -> None:
        rows = LAYOUTS["rows"]
        refs = [ray.put(buffer) for buffer in buffers(numbers(1), rows)]
        refused("buffer-count", refs[:3], rows)
        refused("buffer-shape", refs[::-1], rows)
        refused("dtypes-differ", refs, rows, dtype="float32")
        refused("ray-type", [1, 2, 3, 4], rows)
        refused("handles-type", None, rows)
        refused("layout-type", refs, None)
        refused("layout-type", refs, "block, * @ 4x1")
        a = pt.from_ray(refs, rows)
        with pytest.raises(pt.LayoutError) as caught:
            a.to_dask("tcp://192.0.2.1:5")
        assert caught.value.reason == "dask-client"

    def test_what_is_on_ray_is_taken_over_by_its_protocol(self) -> None:
        values, rows = numbers(1), LAYOUTS["rows"]
        a = pt.from_ray([ray.put(buffer) for buffer in buffers(values, rows)], rows)
        np.testing.assert_array_equal(pt.asarray(a).gather(), values)

    def test_a_killed_owner(self) -> None:
        values = numbers(2, (512, 512))
        owner = Owner.remote()
        refs = ray.get(owner.put.remote(np.array_split(values, 2)))
        a = pt.from_ray(refs, pt.Layout(values.shape, "block, * @ 2x1"))
        ray.kill(owner)
        wait_until_lost(refs[0])
        for call in (a.gather, lambda: a.redistribute(pt.Layout(values.shape, "*, block @ 1x2"))):
            with pytest.raises(pt.TeamError, match="lost") as caught:
                call()
            assert caught.value.reason == "source-lost"

    def test_a_killed_worker(self) -> None:
        values = numbers(3, (4096, 2048))
        a = put(values, pt.Layout(values.shape, "block, * @ 8x1"))
        columns = pt.Layout(values.shape, "*, cyclic @ 1x16")
        killed: list[int] = []
        killer = threading.Thread(target=kill_one, args=("ray::_join", killed), daemon=True)
        killer.start()
        b = a.redistribute(columns)
        killer.join(10)
        assert killed, "no task was seen running"
        np.testing.assert_array_equal(b.gather(), values)

    def test_from_ranks_that_are_threads_and_back(self) -> None:
        values = numbers(3)

        def rank(team: pt.Team, name: str) -> bool:
            layout = LAYOUTS[name]
            own = buffers(values, layout)[list(layout.ranks).index(team.rank)]
            a = pt.from_local(own, layout, team)
            refs = a.to_ray()
            only = a.to_ray(root=1)
            assert (only is None) == (team.rank != 1)
            mine = pt.from_ray(refs, layout) if team.rank == 2 else None
            b = pt.ray.share(mine, team, root=2).to_team(team, LAYOUTS["cyclic"])
            np.testing.assert_array_equal(b.local, buffers(values, LAYOUTS["cyclic"])[team.rank])
            return True

        for name in ("rows", "cyclic", "replicated"):
            assert all(pt.spmd(rank, 4, (name,)))

    @pytest.mark.parametrize("which", ["this", "local"])
    def test_from_mpi_ranks_and_back(self, which: str) -> None:
        mpiexec = Path(sys.executable).parent / "mpiexec"
        command = [mpiexec, "-n", "2", sys.executable, HERE / "mpi_to_ray.py"]
        environment = dict(os.environ)
        if which == "local":
            # A cluster of the first rank's own, which switches authentication on.
            address = which
            environment.pop("RAY_AUTH_MODE", None)
        else:
            address = ray.get_runtime_context().gcs_address
        done = subprocess.run(
            [*command, address],
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
            env=environment,
        )
        assert done.returncode == 0, done.stderr
        assert sorted(done.stdout.split()) == ["0", "1"]

    def test_to_dask_and_back(self) -> None:
        values = numbers(4, (300, 200))
        options = {"n_workers": 2, "threads_per_worker": 2, "processes": True}
        with (
            LocalCluster(**options, dashboard_address=":0", memory_limit=0) as cluster,
            Client(cluster) as client,
        ):
            x = pt.from_dask(da.from_array(values, chunks=(70, 200)))
            refs = x.to_ray()
            a = pt.from_ray(refs, x.layout)
            check(a, x.layout, values)
            b = a.redistribute(pt.Layout(values.shape, "*, cyclic(7) @ 1x3"))
            y = b.to_dask(client)
            np.testing.assert_array_equal(y.compute(), values)
            views = y.map_blocks(is_view, dtype=bool, chunks=(1, 1)).compute()
            assert views.all(), "Dask's workers hold copies"
            # The views keep the objects of Ray's store.
            del a, b, refs
            np.testing.assert_array_equal((y + 1).compute(), values + 1)


def is_view(block: np.ndarray) -> np.ndarray:
    return np.array([[not block.flags.writeable and not block.flags.owndata]])


def refused(reason: str, *args: object, **kwargs: object) -> None:
    with pytest.raises(pt.PartitaError) as caught:
        pt.from_ray(*args, **kwargs)
    assert caught.value.reason == reason


@ray.remote(num_cpus=0)
class Owner:
    def put(self, parts: list[np.ndarray]) -> list[Any]:
        return [ray.put(np.array(part)) for part in parts]


def wait_until_lost(ref: Any) -> None:
    for _ in range(100):
        try:
            ray.get(ref, timeout=1)
        except ray.exceptions.ObjectLostError:
            return
        except ray.exceptions.GetTimeoutError:
            pass
        threading.Event().wait(0.1)
    raise AssertionError("the owner was killed and its object lives")


def kill_one(name: str, killed: list[int]) -> None:
    """Kill the first process of this name."""
    mine = psutil.Process()
    while not killed:
        for process in mine.children(recursive=True):
            try:
                if name in " ".join(process.cmdline()):
                    os.kill(process.pid, signal.SIGKILL)
                    killed.append(process.pid)
                    return
            except (psutil.Error, OSError):
                continue


class TestTwoNodes:
    @pytest.mark.parametrize("target", LAYOUTS)
    def test_parts_travel_between_nodes(self, two_nodes: Cluster, target: str) -> None:
        values = numbers(5, (400, 300))
        chosen = layouts(values.shape)
        a = made_on_nodes(values, chosen["rows"])
        assert len({place for [place] in a.locations}) == 2
        b = a.redistribute(chosen[target])
        check(b, chosen[target], values)

    def test_targets_are_spread_and_only_parts_are_cut(self, two_nodes: Cluster) -> None:
        values = numbers(6, (512, 512))
        a = made_on_nodes(values, pt.Layout(values.shape, "block, * @ 4x1"))
        b = a.redistribute(pt.Layout(values.shape, "*, block @ 1x2"))
        assert len({place for [place] in b.locations}) == 2
        # Sources have not been copied to the other node.
        assert all(len(places) == 1 for places in a.locations)
        check(b, b.layout, values)

    def test_a_lost_node(self, two_nodes: Cluster) -> None:
        """Data that tasks made is made again. The last test: it takes a node away."""
        values = numbers(7, (512, 512))
        a = made_on_nodes(values, pt.Layout(values.shape, "block, * @ 4x1"))
        two_nodes.remove_node(next(iter(two_nodes.worker_nodes)))
        b = a.redistribute(pt.Layout(values.shape, "*, cyclic @ 1x2"))
        check(b, b.layout, values)


def made_on_nodes(values: np.ndarray, layout: pt.Layout) -> pt.ray.RayArray:
    """An array whose slots were made by tasks, on one node after the other."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    nodes = [node["NodeID"] for node in ray.nodes() if node["Alive"]]
    refs = []
    for number, buffer in enumerate(buffers(values, layout)):
        place = NodeAffinitySchedulingStrategy(nodes[number % len(nodes)], soft=True)
        refs.append(made.options(scheduling_strategy=place).remote(buffer))
    return pt.from_ray(refs, layout)


@ray.remote(max_retries=3)
def made(buffer: np.ndarray) -> np.ndarray:
    return np.array(buffer)
