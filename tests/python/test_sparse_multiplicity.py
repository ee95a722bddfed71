"""Eigenvalues that a matrix has several times are found as often, on any number of ranks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from systems import on_ranks

import partita as pt
from partita.sparse import DistTensor
from partita.sparse import linalg as ours

# How much an eigenvalue is wanted.
GOODNESS: dict[str, Any] = {
    "LA": lambda values: values,
    "SA": lambda values: -values,
    "LM": np.abs,
    "SM": lambda values: -np.abs(values),
}


def path(n: int, *, is_closed: bool = False) -> Any:
    made = 2 * np.eye(n) - np.eye(n, k=1) - np.eye(n, k=-1)
    made[[0, -1], [-1, 0]] -= is_closed
    return made


def both(a: Any, b: Any) -> Any:
    return np.kron(a, np.eye(len(b))) + np.kron(np.eye(len(a)), b)


def torus(n: int) -> Any:
    return both(path(n, is_closed=True), path(n, is_closed=True))


def mesh(n: int) -> Any:
    """A grid of which the border is fixed: as many rows of the identity."""
    made = both(path(n), path(n))
    is_border = np.pad(np.zeros((n - 2, n - 2), bool), 1, constant_values=True).reshape(-1)
    made[is_border] = made[:, is_border] = 0
    made[is_border, is_border] = 1
    return made


def graphs(n: int, n_graphs: int) -> Any:
    """The Laplacian of a graph of several components: 0 comes as often."""
    rng = np.random.default_rng(1)
    blocks = []
    for _ in range(n_graphs):
        upper = np.triu(rng.random((n, n)) < 0.3, 1) | np.eye(n, k=1).astype(bool)
        edges = (upper | upper.T).astype(float)
        blocks.append(np.diag(edges.sum(axis=0)) - edges)
    return sp.block_diag(blocks).toarray()


def cube(n_dims: int) -> Any:
    """The edges of a cube: a few eigenvalues, of either sign, each many times."""
    edge = made = np.array([[0.0, 1.0], [1.0, 0.0]])
    for _ in range(n_dims - 1):
        made = both(made, edge)
    return made


MATRICES: dict[str, Any] = {
    **{f"torus {n}": torus(n) for n in (8, 13, 16, 20)},
    "grid 6": both(path(6), path(6)),
    "grid 9": both(path(9), path(9)),
    "mesh": mesh(10),
    "graphs 4": graphs(15, 4),
    "graphs 5": graphs(12, 5),
    "cube 5": cube(5),
    "cube 7": cube(7),
    "identity": np.eye(50),
    "blocks": np.diag(np.repeat([3.0, 1.0, -2.0, 5.0], [10, 20, 9, 2])),
    "complex": torus(6) * np.exp(1j * np.subtract.outer(np.arange(36), np.arange(36))),
}


def wanted(every: Any, which: str, k: int) -> Any:
    """Of all eigenvalues the k wanted ones, rising."""
    if which == "BE":
        return np.concatenate([every[: k // 2], every[len(every) - (k + 1) // 2 :]])
    order = np.argsort(-GOODNESS[which](every), kind="stable")
    return np.sort(every[order[:k]])


def check(matrix: Any, found: Any, which: str, k: int) -> None:
    """Whether eigenvalues are the wanted ones, and vectors right, in gathered results."""
    values, vectors = found
    # Of numbers of one size and either sign, any is wanted.
    alike = np.abs if which in ("LM", "SM") else np.asarray
    exact = wanted(np.linalg.eigvalsh(matrix), which, k)
    np.testing.assert_allclose(np.sort(alike(values)), np.sort(alike(exact)), atol=1e-9)
    np.testing.assert_allclose(matrix @ vectors, vectors * values, atol=1e-8)
    np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(k), atol=1e-10)


@pytest.mark.parametrize("n_ranks", [1, 2, 3])
@pytest.mark.parametrize("name", MATRICES)
def test_eigenvalues_come_as_often_as_they_are(name: str, n_ranks: int) -> None:
    matrix = MATRICES[name]
    # What lies inside a spectrum comes slowly.
    is_inside = np.linalg.eigvalsh(matrix)[0] < -1e-9
    kinds = ("LA", "SA", "LM", "BE") if is_inside else ("LA", "SA", "LM", "BE", "SM")

    def body(team: pt.Team) -> None:
        spread = DistTensor.from_scipy(sp.csr_array(matrix))
        for which in kinds:
            for k in (1, 3, 5) if n_ranks < 3 else (5,):
                found = ours.eigsh(spread, k, which=which)
                check(matrix, [one.gather() for one in found], which, k)
            values = ours.eigsh(spread, k, which=which, return_eigenvectors=False)
            np.testing.assert_array_equal(values.gather(), found[0].gather())

    on_ranks(n_ranks, body)


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_copies_with_other_arguments(n_ranks: int) -> None:
    matrix = torus(8)
    # A start that lies in one eigenspace.
    even = np.ones(64)

    def body(team: pt.Team) -> None:
        spread = DistTensor.from_scipy(sp.csr_array(matrix))
        for given in ({"v0": even}, {"ncv": 6}, {"ncv": 64}, {"tol": 1e-10}, {"v0": 0 * even}):
            for k in (1, 5):
                options: Any = {"which": "SA", **given}
                if k == 1:
                    options.pop("ncv", None)
                found = ours.eigsh(spread, k, **options)
                check(matrix, [one.gather() for one in found], "SA", k)
        single = spread.astype("float32")
        values, _ = ours.eigsh(single, 5, which="SA")
        np.testing.assert_allclose(
            values.gather(), np.linalg.eigvalsh(matrix)[:5], atol=1e-4, rtol=1e-4
        )

    on_ranks(n_ranks, body)


def test_a_lonely_shift_names_the_cure() -> None:
    matrix = pt.asarray(torus(4) + np.eye(16))
    for sigma, cure in ((0.0, "cg(A, x"), (0.5, r"cg(A - 0.5 \* eye(n), x")):
        with pytest.raises(ValueError, match=cure.replace("(", r"\(").replace(")", r"\)")):
            ours.eigsh(matrix, 2, sigma=sigma)
    with pytest.raises(ValueError, match="without sigma="):
        ours.eigsh(matrix, 2, OPinv=matrix)
    near = ours.LinearOperator((16, 16), lambda x: ours.cg(matrix, x, rtol=1e-12)[0], dtype=float)
    values = ours.eigsh(matrix, 5, sigma=0.0, OPinv=near, return_eigenvectors=False)
    np.testing.assert_allclose(values.gather(), [1, 3, 3, 3, 3], atol=1e-8)
