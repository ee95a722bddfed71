"""Eigenvalues on ranks beside NumPy's and SciPy's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.sparse.linalg as theirs
from systems import a_matrix, a_vector, on_ranks

import partita as pt
from partita.sparse import DistTensor
from partita.sparse import linalg as ours

RANKS = [1, 2, 3, 5]


@pytest.mark.parametrize("n_ranks", RANKS)
def test_lobpcg_finds_eigenvectors(n_ranks: int) -> None:
    n, k = 40, 3

    def body(team: pt.Team) -> None:
        # Both types on some number of ranks.
        for dtype in ("float64", "complex128")[n_ranks % 2 :: 2]:
            matrix = a_matrix(n, dtype)
            weight = np.diag(np.linspace(1, 2, n))
            start = np.stack([a_vector(n, dtype, seed) for seed in range(k)], axis=1)
            spread = pt.asarray(matrix, layout="block, *")
            for largest in (True, False):
                for b in (None, weight):
                    white = np.linalg.inv(np.sqrt(np.eye(n) if b is None else b))
                    wanted = np.linalg.eigvalsh(white @ matrix @ white)
                    wanted = wanted[::-1][:k] if largest else wanted[:k]
                    values, vectors = ours.lobpcg(
                        spread, start, b, largest=largest, tol=1e-7, maxiter=200
                    )
                    found = vectors.gather()
                    np.testing.assert_allclose(values.gather(), wanted, rtol=1e-9)
                    right = found if b is None else b @ found
                    np.testing.assert_allclose(matrix @ found, right * wanted, atol=1e-5)
                    np.testing.assert_allclose(found.conj().T @ right, np.eye(k), atol=1e-8)

    on_ranks(n_ranks, body)


def test_lobpcg_with_all_its_arguments() -> None:
    n, k = 50, 2
    matrix = a_matrix(n)
    values, vectors = np.linalg.eigh(matrix)
    start = np.stack([a_vector(n, seed=seed) for seed in range(k)], axis=1)

    def body(team: pt.Team) -> None:
        spread = pt.asarray(matrix, layout="block, *")
        inverse = pt.asarray(np.linalg.inv(matrix))
        found, _, history, lengths = ours.lobpcg(
            lambda x: spread @ x,
            pt.asarray(start),
            M=inverse,
            Y=vectors[:, :2],
            tol=1e-8,
            maxiter=40,
            largest=False,
            retLambdaHistory=True,
            retResidualNormsHistory=True,
        )
        np.testing.assert_allclose(found.gather(), values[2:4], rtol=1e-9)
        assert len(history) == len(lengths) < 41
        assert lengths[-1].max() <= 1e-8
        # A space that is not much larger than what is asked for.
        small = pt.asarray(matrix[:4, :4])
        found, _ = ours.lobpcg(small, start[:4], tol=1e-9, maxiter=30)
        np.testing.assert_allclose(found.gather(), np.linalg.eigvalsh(matrix[:4, :4])[::-1][:2])
        for bad in (np.ones(n), np.ones((n, 0)), np.ones((2, 3)), np.ones((n + 1, 2))):
            with pytest.raises(ValueError, match=r"shape|dimensions"):
                ours.lobpcg(spread, bad)
        with pytest.raises(np.linalg.LinAlgError if team.rank == 0 else ValueError, match="1 of 2"):
            ours.lobpcg(spread, np.ones((n, 2)))

    on_ranks(3, body)


@pytest.mark.parametrize("which", ["LM", "SM", "LA", "SA", "BE"])
def test_eigsh_is_scipys(which: str) -> None:
    # What lies inside the spectrum comes slowly.
    n, k = (30 if which == "SM" else 60), 4
    for dtype in ("float64", "complex128"):
        matrix = a_matrix(n, dtype) - 30 * np.eye(n)
        every = np.linalg.eigvalsh(matrix)
        if dtype == "float64":
            wanted = theirs.eigsh(matrix, k, which=which)[0]
        else:
            order = np.argsort(np.abs(every))
            wanted = {
                "LM": every[order[-k:]],
                "SM": every[order[:k]],
                "LA": every[-k:],
                "SA": every[:k],
                "BE": np.concatenate([every[: k // 2], every[-(k // 2) :]]),
            }[which]

        def body(
            team: pt.Team, matrix: Any = matrix, wanted: Any = wanted, dtype: str = dtype
        ) -> None:
            spread = pt.asarray(matrix, layout="block, *")
            values, vectors = ours.eigsh(spread, k, which=which)
            assert vectors.dtype == dtype
            np.testing.assert_allclose(values.gather(), np.sort(wanted), rtol=1e-8, atol=1e-9)
            found = vectors.gather()
            np.testing.assert_allclose(matrix @ found, found * values.gather(), atol=1e-6)
            np.testing.assert_allclose(found.conj().T @ found, np.eye(k), atol=1e-9)

        on_ranks(3, body)


def test_eigsh_at_its_limits() -> None:
    matrix = a_matrix(30)
    every = np.linalg.eigvalsh(matrix)

    def body(team: pt.Team) -> None:
        spread = pt.asarray(matrix, layout="block, *")
        # Eigenvalues that come many times, and a space that closes early.
        values, vectors = ours.eigsh(pt.asarray(np.diag([3.0, 3.0, 3.0, 1.0, 1.0])), 3)
        np.testing.assert_allclose(values.gather(), [3, 3, 3], atol=1e-12)
        assert vectors.shape == (5, 3)
        values = ours.eigsh(spread, 29, return_eigenvectors=False, which="LA")
        np.testing.assert_allclose(values.gather(), every[1:], rtol=1e-10)
        solved = pt.asarray(np.linalg.inv(matrix - 25 * np.eye(30)))
        values, _ = ours.eigsh(spread, 2, sigma=25.0, OPinv=solved)
        nearest = every[np.argsort(np.abs(every - 25))[:2]]
        np.testing.assert_allclose(values.gather(), np.sort(nearest), rtol=1e-9)
        for bad in ({"k": 30}, {"which": "XX"}, {"sigma": 1.0}, {"ncv": 2}, {"v0": np.ones(3)}):
            with pytest.raises(ValueError, match=r"use|both"):
                ours.eigsh(spread, **{"k": 2, **bad})  # type: ignore[arg-type]
        with pytest.raises(ours.NoConvergence, match="of 3 eigenvalues") as caught:
            ours.eigsh(spread, 3, ncv=5, maxiter=0)
        assert caught.value.eigenvectors.shape == (30, 3)

    for n_ranks in (1, 3):
        on_ranks(n_ranks, body)


@pytest.mark.filterwarnings("ignore:Exited", "ignore:lobpcg ended")
@pytest.mark.parametrize("maxiter", [0, 1, 4])
def test_lobpcg_makes_scipys_steps(maxiter: int) -> None:
    n, k = 50, 2
    matrix = a_matrix(n)
    start = np.stack([a_vector(n, seed=seed) for seed in range(k)], axis=1)
    options: Any = {"maxiter": maxiter, "tol": 1e-12, "largest": False}
    options |= {"retLambdaHistory": True, "retResidualNormsHistory": True}
    wanted = theirs.lobpcg(matrix, start, **options)
    assert len(wanted[2]) == maxiter + 3

    def body(team: pt.Team) -> None:
        found = ours.lobpcg(pt.asarray(matrix, layout="block, *"), start, **options)
        np.testing.assert_allclose(found[0].gather(), wanted[0], rtol=1e-7)
        for own, other in zip(found[2:], wanted[2:], strict=True):
            assert len(own) == len(other)
            np.testing.assert_allclose(np.stack(own), np.stack(other), rtol=1e-6)

    on_ranks(2, body)


def test_eigenvalues_of_complex_matrices_rise() -> None:
    values = np.array([1.0, 5, -7, 3, 2, 6, 8, -1, 0.5, 4])
    matrix = pt.asarray(np.diag(values).astype(complex))
    for which, wanted in (("LA", [5, 6, 8]), ("LM", [-7, 6, 8]), ("SM", [-1, 0.5, 1])):
        np.testing.assert_allclose(ours.eigsh(matrix, 3, which=which)[0].gather(), wanted)


SHAPES = [(2, 2), (9, 30), (30, 9), (1, 5), (5, 1)]
SCALES: list[tuple[str, Any]] = [("f8", 1), ("f8", 1e200), ("f8", 1e-200), ("c16", 1j), ("i8", 1)]


@pytest.mark.parametrize("n_ranks", [1, 3])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_norm_2_is_the_largest_singular_value(n_ranks: int, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    given = rng.integers(-3, 4, shape) * rng.integers(0, 2, shape) + np.eye(*shape)
    wanted = np.linalg.norm(given, 2)

    def body(team: pt.Team) -> None:
        for dtype, scale in SCALES:
            dense = given.astype(dtype) * scale
            found = ours.norm(DistTensor.from_dense(dense), 2)
            np.testing.assert_allclose(found / abs(scale), wanted, rtol=1e-10)
        assert ours.norm(DistTensor.from_dense(np.zeros(shape)), 2) == 0

    pt.spmd(body, n_ranks, deadline=60.0)
