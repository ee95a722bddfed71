"""Random numbers that depend on their position alone: those of a stream (key, number)."""

from __future__ import annotations

from typing import Any

import numpy as np

from partita._local.threads import n_threads
from partita._partita import (
    local_fill,
    local_fill_each,
    local_fill_integers,
    local_fill_integers_each,
    local_fill_single,
    local_permutation,
    local_words,
)

Block = np.ndarray[Any, Any]
Stream = tuple[int, int]


def words(stream: Stream, first: int, out: Block) -> None:
    """Fill a row of uint64 with the words `first` on."""
    local_words(stream, first, out, n_threads())


def fill(stream: Stream, first: int, out: Block, kind: str, *numbers: float) -> None:
    """Fill a row of float64 with the elements `first` on of a distribution in standard form.

    Kinds and their numbers: uniform, normal, exponential, laplace, logistic, gumbel, cauchy,
    rayleigh, weibull (a), lognormal (mean, sigma), triangular (left, mode, right), gamma (shape),
    beta (a, b), chisquare (df), standard_t (df).
    """
    local_fill(stream, first, out, kind, [float(one) for one in numbers], n_threads())


def fill_integers(stream: Stream, first: int, out: Block, kind: str, *numbers: float) -> None:
    """Fill a row of int64 with the elements `first` on of a distribution of whole numbers.

    Kinds and their numbers: uniform (low, span; a span of 0 means 2^64), poisson (mean),
    binomial (n, p), geometric (p).
    """
    local_fill_integers(stream, first, out, kind, list(numbers), n_threads())


def fill_each(stream: Stream, first: int, out: Block, kind: str, *numbers: Block) -> None:
    """Fill a row of float64 as `fill` does, with parameters of its own for each element.

    Kinds and their float64 parameters: gamma (shape), beta (a, b), standard_t (df).
    """
    local_fill_each(stream, first, out, kind, numbers, n_threads())


def fill_integers_each(stream: Stream, first: int, out: Block, kind: str, *numbers: Block) -> None:
    """Fill a row of int64 as `fill_integers` does, with parameters of its own for each element.

    Kinds and their parameters: uniform (low and the number after the last, int64), poisson (mean),
    binomial (n as int64, p).
    """
    local_fill_integers_each(stream, first, out, kind, numbers, n_threads())


def fill_single(stream: Stream, first: int, out: Block) -> None:
    """Fill a row of float32 with uniform numbers from 0 to 1, without 1."""
    local_fill_single(stream, first, out, n_threads())


def permutation(stream: Stream, n: int, first: int, out: Block) -> None:
    """Fill a row of int64 with the places `first` on of a random permutation of n positions."""
    local_permutation(stream, n, first, out, n_threads())
