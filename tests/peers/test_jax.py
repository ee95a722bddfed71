"""The primitives for JAX: values, gradients, and jitted programs on processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest

import partita as pt
from partita import distdl
from partita.distdl import Partition
from partita.jax import function


def cases(team: pt.Team) -> dict[str, Any]:
    world = Partition(team)
    first = world.create_partition_inclusive([0])
    rows = world.create_cartesian_topology_partition([2, 1])
    columns = world.create_cartesian_topology_partition([1, 2])
    member = (3,) if first.active else (0,)
    return {
        "broadcast": (distdl.Broadcast(first, world), member),
        "sum-reduce": (distdl.SumReduce(world, first), (3,)),
        "all-sum-reduce": (distdl.AllSumReduce(world, [0]), (3,)),
        "repartition": (distdl.Repartition(rows, columns), (1 + team.rank, 4)),
        "halo": (distdl.HaloExchange(world, [1]), (3,)),
        "all-gather": (distdl.AllGather(world, 0), (2 + team.rank,)),
        "reduce-scatter": (distdl.ReduceScatter(world, 0), (5,)),
    }


NAMES = ["broadcast", "sum-reduce", "all-sum-reduce", "repartition", "halo", "all-gather"]


@pytest.mark.parametrize("name", [*NAMES, "reduce-scatter"])
def test_functions_equal_the_primitives(name: str) -> None:
    def job(team: pt.Team) -> None:
        primitive, shape = cases(team)[name]
        moved = function(primitive)
        rng = np.random.default_rng(team.rank)
        x = rng.standard_normal(shape).astype("float32")
        value, back = jax.vjp(moved, jax.numpy.asarray(x))
        np.testing.assert_array_equal(value, primitive(x))
        y = rng.standard_normal(value.shape).astype("float32")
        np.testing.assert_array_equal(back(jax.numpy.asarray(y))[0], primitive.adjoint(y))
        gradient = jax.grad(lambda v: (moved(v) ** 2).sum() / 2)(jax.numpy.asarray(x))
        np.testing.assert_array_equal(gradient, primitive.adjoint(primitive(x)))

    pt.spmd(job, ranks=2)


JITTED = """
import jax
import numpy as np
import partita as pt
from partita.distdl import AllGather, AllSumReduce, Partition
from partita.jax import function

team = pt.world()
world = Partition(team)
total, join = function(AllSumReduce(world, [0])), function(AllGather(world, 0))


@jax.jit
def program(x):
    return (join(total(x * 2)) ** 2).sum()


x = np.full(2 + 0 * team.rank, 1.0 + team.rank, "float32")
for _ in range(3):
    value, gradient = jax.value_and_grad(program)(x)
    # total = 6 on both, four joined entries; each replica's gradient comes back.
    assert float(value) == 4 * 36, value
    np.testing.assert_array_equal(gradient, np.full(2, 2 * 2 * 2 * 2 * 6.0))
print("fine")
"""


def test_jitted_programs_on_processes(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(JITTED)
    launcher = str(Path(sys.executable).parent / "mpiexec")
    command = [launcher, "-n", "2", sys.executable, str(tmp_path / "job.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("fine") == 2
