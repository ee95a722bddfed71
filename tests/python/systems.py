"""Matrices and vectors for the tests of solvers, the same on every rank."""

from __future__ import annotations

from typing import Any

import numpy as np

import partita as pt


def a_matrix(n: int, dtype: str = "float64", *, is_even: bool = True, seed: int = 0) -> Any:
    """A banded matrix with a strong diagonal; Hermitian and definite unless it shall not be."""
    rng = np.random.default_rng(seed)
    made = rng.standard_normal((n, n))
    if dtype.startswith("c"):
        made = made + 1j * rng.standard_normal((n, n))
    made = np.where(np.abs(np.subtract.outer(np.arange(n), np.arange(n))) < 4, made, 0)
    made = made + made.conj().T if is_even else made
    return (made + np.diag(np.linspace(20, 40, n))).astype(dtype)


def a_vector(n: int, dtype: str = "float64", seed: int = 1) -> Any:
    rng = np.random.default_rng(seed)
    made = rng.standard_normal(n)
    if dtype.startswith("c"):
        made = made + 1j * rng.standard_normal(n)
    return made.astype(dtype)


def whole_of(array: pt.Array) -> Any:
    return array.gather()


def bound(dtype: str) -> float:
    return 1e-4 if np.finfo(dtype).eps > 1e-10 else 1e-8


def on_ranks(n_ranks: int, body: Any, *args: Any) -> list[Any]:
    return pt.spmd(body, n_ranks, args, deadline=20.0)
