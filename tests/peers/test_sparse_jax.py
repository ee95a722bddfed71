"""Sparse products for JAX: values, gradients by differences, jitted programs on processes."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
import scipy.sparse as sp
from jax.test_util import check_grads

import partita as pt
from partita.jax import operand_indices, operand_rows, sddmm, spmm, spmv
from partita.sparse import DistTensor


@pytest.fixture(autouse=True)
def in_double_precision() -> Iterator[None]:
    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def pattern(team: pt.Team, shape: tuple[int, int], layout: str) -> tuple[Any, Any]:
    whole = sp.random_array(shape, density=0.5, rng=np.random.default_rng(3), format="coo")
    mine = slice(team.rank, None, team.size)
    coords = [whole.row[mine], whole.col[mine]]
    made = DistTensor.from_coo(shape, coords, whole.data[mine], team=team, layout=layout)
    return made, whole.toarray()


@pytest.mark.parametrize("layout", ["block, *", "*, block"])
@pytest.mark.parametrize("ranks", [1, 2, 3])
def test_values_and_gradients_equal_those_of_dense_products(layout: str, ranks: int) -> None:
    def job(team: pt.Team) -> None:
        from partita.sparse.operands import operands_of

        t, whole = pattern(team, (6, 5), layout)
        rng = np.random.default_rng(1)
        x, y = rng.random((5, 2)), rng.random((6, 2))
        places = []
        for layout_of_rows in operands_of(t).layouts:
            n = layout_of_rows.local_shape(team.rank)[0]
            places.append(layout_of_rows.globalize(team.rank, np.arange(n)[:, None]).reshape(-1))
        for dim, own in enumerate(places):
            assert operand_rows(t, dim) == len(own)
            np.testing.assert_array_equal(operand_indices(t, dim), own)
        mine, values = jax.numpy.asarray(x[places[1]]), jax.numpy.asarray(t._block.data)
        found, back = jax.vjp(lambda v, x: spmm(t, x, v), values, mine)
        np.testing.assert_allclose(found, (whole @ x)[places[0]])
        np.testing.assert_allclose(spmv(t, mine[:, 0]), (whole @ x[:, 0])[places[0]])
        weights = jax.numpy.asarray(y[places[0]])
        for_values, for_x = back(weights)
        np.testing.assert_allclose(for_x, (whole.T @ y)[places[1]])
        np.testing.assert_allclose(for_values, sddmm(t, weights, mine))

    pt.spmd(job, ranks=ranks)


def test_gradients_by_differences() -> None:
    def job(team: pt.Team) -> None:
        t, _ = pattern(team, (5, 4), "block, *")
        rng = np.random.default_rng(2)
        values = jax.numpy.asarray(t._block.data)
        x, y = jax.numpy.asarray(rng.random((4, 2))), jax.numpy.asarray(rng.random((5, 2)))
        check_grads(lambda v, x: spmm(t, x, v), (values, x), order=2, modes=["rev"])
        check_grads(lambda v, x: spmm(t, x, v), (values, x[:, 0]), order=1, modes=["rev"])
        check_grads(lambda y, x: sddmm(t, y, x), (y, x), order=2, modes=["rev"])

    pt.spmd(job, ranks=1)


def test_what_does_not_fit_is_refused() -> None:
    def job(team: pt.Team) -> None:
        t, _ = pattern(team, (6, 6), "block, *")
        with pytest.raises(pt.LayoutError, match="where this rank has 3 rows"):
            spmm(t, jax.numpy.ones(4))
        # One rank's mistake is all ranks', of the same class.
        with pytest.raises(pt.LayoutError, match="where this rank has 3 rows") as found:
            spmm(t, jax.numpy.ones(3 + (team.rank == 1)))
        assert found.value.reason == "operand-rows"
        ones = jax.numpy.ones
        for given, words in (
            ((ones(3), ones(99)), f"values of shape (99,) for this rank's {t.nnz_local} entries"),
            ((ones(3), ones((t.nnz_local, 1))), "give nnz_local of them"),
            ((ones((3, 2, 2)),), "x of shape (3, 2, 2), of 3 dimensions"),
        ):
            with pytest.raises(pt.LayoutError, match=re.escape(words)):
                spmm(t, *given)
        with pytest.raises(pt.MismatchError, match="on rank 1"):
            spmm(t, jax.numpy.ones((3, 1 + team.rank)))
        with pytest.raises(pt.LayoutError, match="a NoneType as local array"):
            spmm(t, None)
        with pytest.raises(pt.LayoutError, match="a NoneType as the pattern"):
            spmm(None, jax.numpy.ones(3))  # type: ignore[arg-type]
        with pytest.raises(pt.LayoutError, match="one type of"):
            spmm(t, jax.numpy.ones(3, "float32"))

    pt.spmd(job, ranks=2)


JITTED = """
import jax
import numpy as np
import partita as pt
from partita.jax import sddmm, spmm
from partita.sparse import DistTensor

team = pt.world()
own = np.arange(3) + 3 * team.rank
# A ring of six: each row sees the next one.
ring = DistTensor.from_coo((6, 6), [own, (own + 1) % 6], np.ones(3, "float32"), team=team)


@jax.jit
def program(x):
    y = spmm(ring, x)
    return (y**2).sum() + sddmm(ring, x, x).sum()


x = np.arange(3, dtype="float32") + 3 * team.rank
whole = np.arange(6.0)
for _ in range(3):
    value, gradient = jax.value_and_grad(program)(x)
    following = np.roll(whole, -1)
    assert float(value) == float((following[own] ** 2 + whole[own] * following[own]).sum())
    wanted = 2 * whole + np.roll(whole, -1) + np.roll(whole, 1)
    np.testing.assert_array_equal(gradient, wanted[own])
print("fine")
"""


def test_jitted_programs_on_processes(tmp_path: Path) -> None:
    (tmp_path / "job.py").write_text(JITTED)
    launcher = str(Path(sys.executable).parent / "mpiexec")
    command = [launcher, "-n", "2", sys.executable, str(tmp_path / "job.py")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("fine") == 2
