"""Random numbers that depend on their position alone: those of a stream (key, number)."""

from __future__ import annotations

from typing import Any

import numpy as np

Block = np.ndarray[Any, Any]
Stream = tuple[int, int]


def words(stream: Stream, first: int, out: Block) -> None:
    """Fill a row of uint64 with the words `first` on."""
    raise NotImplementedError


def fill(stream: Stream, first: int, out: Block, kind: str, *numbers: float) -> None:
    """Fill a row of float64 with the elements `first` on of a distribution in standard form.

    Kinds and their numbers: uniform, normal, exponential, laplace, logistic, gumbel, cauchy,
    rayleigh, weibull (a), lognormal (mean, sigma), triangular (left, mode, right), gamma (shape),
    beta (a, b), chisquare (df), standard_t (df).
    """
    raise NotImplementedError


def fill_integers(stream: Stream, first: int, out: Block, kind: str, *numbers: float) -> None:
    """Fill a row of int64; kinds: uniform (low, span), poisson (mean), binomial (n, p), geometric (p).

    A span of 0 means 2^64.
    """
    raise NotImplementedError


def fill_single(stream: Stream, first: int, out: Block) -> None:
    """Fill a row of float32 with uniform numbers from 0 to 1, without 1."""
    raise NotImplementedError


def permutation(stream: Stream, n: int, first: int, out: Block) -> None:
    """Fill a row of int64 with the places `first` on of a random permutation of n positions."""
    raise NotImplementedError
