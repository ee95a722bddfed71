"""Distributions of whole numbers, by NumPy's names."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from partita._array.array import Array
from partita._local import randomness
from partita.random.continuous import Continuous, as_numbers
from partita.random.drawing import Local, checked, is_number, shape_of

# More than this cannot be counted in 64 bits with certainty.
_MOST_ARRIVALS = 9.2e18


class Discrete(Continuous):
    """Distributions of whole numbers."""

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Any = None,
        dtype: Any = np.int64,
        endpoint: bool = False,
        **at: Any,
    ) -> Any:
        """Return whole numbers from `low` to `high`, or from 0 to `low`; the end only if asked."""
        if high is None:
            low, high = 0, low
        low, high = as_numbers(low), as_numbers(high)
        kind = np.dtype(dtype)
        if kind.kind not in "iub":
            raise TypeError(f"whole numbers of {kind}; use an integer type or bool")
        shape = shape_of(size, low, high)
        if is_number(low) and is_number(high):
            first, count = int(low), int(high) + int(endpoint) - int(low)
            _check_range(first, count, kind)
            made = self._counted(shape, kind, at, first, count)
        else:
            assert shape is not None
            made = self._counted_apart(shape, kind, at, low, high + int(endpoint))
        return int(made) if shape is None and kind == np.int64 else made

    def _counted(
        self, shape: Any, kind: np.dtype[Any], at: dict[str, Any], first: int, count: int
    ) -> Any:
        stream, begin = self._seeds.take("integers", 1 if shape is None else math.prod(shape))
        # What is drawn has 64 bits, with or without a sign.
        wrapped = first - (1 << 64) if first >= 1 << 63 else first

        def fill(position: int, row: Local) -> None:
            numbers = row.view(np.int64)
            randomness.fill_integers(
                stream, begin + position, numbers, "uniform", wrapped, count % (1 << 64)
            )

        wide = np.uint64 if kind == np.uint64 else np.int64
        return _in_type(self._filled(shape, wide, fill, at, "integers"), kind)

    def _counted_apart(
        self, shape: tuple[int, ...], kind: np.dtype[Any], at: dict[str, Any], low: Any, end: Any
    ) -> Any:
        """Whole numbers whose range differs from element to element."""
        checked("high", low < end, "numbers above low")
        limits = np.iinfo(kind) if kind.kind != "b" else None
        least, most = (0, 1) if limits is None else (limits.min, limits.max)
        checked("low", (low >= least) & (end - 1 <= most), f"numbers that {kind} has")

        def fill(stream: Any, first: int, row: Local, _: str, low: Local, end: Local) -> None:
            randomness.fill_integers_each(stream, first, row, "uniform", low, end)

        ends = [(low, np.int64), (end, np.int64)]
        made = self._by_element("integers", shape, ends, at, fill, np.int64)
        return _in_type(made, kind)

    def poisson(self, lam: Any = 1.0, size: Any = None, **at: Any) -> Any:
        """Return how many events come in a time in which there are `lam` on average."""
        lam = as_numbers(lam)
        checked("lam", (lam >= 0) & (lam <= _MOST_ARRIVALS), "numbers from 0 to 9.2e18")
        return self._whole("poisson", size, [(lam, np.float64)], at)

    def binomial(self, n: Any, p: Any, size: Any = None, **at: Any) -> Any:
        """Return how many of `n` trials succeed, each with the chance `p`."""
        n, p = as_numbers(n), as_numbers(p)
        checked("n", n >= 0, "0 or more")
        checked("p", (p >= 0) & (p <= 1), "numbers from 0 to 1")
        return self._whole("binomial", size, [(n, np.int64), (p, np.float64)], at)

    def geometric(self, p: Any, size: Any = None, **at: Any) -> Any:
        """Return the number of trials up to the first success, each with the chance `p`."""
        p = as_numbers(p)
        checked("p", (p > 0) & (p <= 1), "numbers above 0, up to 1")
        shape = shape_of(size, p)
        with np.errstate(divide="ignore"):
            made = np.ceil(self._standard("exponential", shape, at) / -np.log1p(-p))
        least = np.maximum(made, 1.0)
        return least._cast(np.int64) if isinstance(least, Array) else int(least)

    def _whole(
        self, kind: str, size: Any, numbers: list[tuple[Any, Any]], at: dict[str, Any]
    ) -> Any:
        shape = shape_of(size, *(one for one, _ in numbers))
        if not all(is_number(one) for one, _ in numbers):
            assert shape is not None
            fill_each = randomness.fill_integers_each
            return self._by_element(kind, shape, numbers, at, fill_each, np.int64)
        values = [of(one).item() for one, of in numbers]
        stream, first = self._seeds.take(kind, 1 if shape is None else math.prod(shape))

        def fill(position: int, row: Local) -> None:
            randomness.fill_integers(stream, first + position, row, kind, *values)

        made = self._filled(shape, np.int64, fill, at, kind)
        return int(made) if shape is None else made

    def bytes(self, length: int) -> Any:
        """Return random bytes, the same on every rank."""
        words = np.empty(-(-length // 8), np.uint64)
        stream, first = self._seeds.take("words", len(words))
        randomness.words(stream, first, words)
        return words.astype("<u8").tobytes()[:length]


def _check_range(first: int, count: int, kind: np.dtype[Any]) -> None:
    if count <= 0:
        raise ValueError(f"whole numbers from {first} to {first + count}; use an end above low")
    least, most = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
    if first < least or first + count - 1 > most:
        raise ValueError(f"numbers from {first} to {first + count - 1} in {kind}; use a wider type")


def _in_type(made: Any, kind: np.dtype[Any]) -> Any:
    if isinstance(made, Array):
        return made if made.dtype == kind else made._cast(kind)
    return kind.type(made)
