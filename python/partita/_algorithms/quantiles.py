"""Order statistics of a row that is cut: every rank sorts its part, and nothing else moves."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from partita._algorithms.sample_sort import sorted_copy
from partita._algorithms.selection import select
from partita._local import sorting

if TYPE_CHECKING:
    from collections.abc import Callable

    from partita._algorithms.rows import Row
    from partita._team.team import Team

Local = np.ndarray[Any, Any]


class Places(NamedTuple):
    """Between which two elements in order something lies, and how near to the second."""

    before: Local
    after: Local
    share: Local


def pairs_of(
    team: Team, row: Row, places: Callable[[int], Places], *, skips_nan: bool
) -> tuple[Local, Local]:
    """The pairs of elements at places among so many, and the shares of the second. Collective.

    Where one element is not a number all pairs are none, unless such are left out.
    """
    run = sorted_copy(row.local)
    n, n_nan = sum(row.sizes), 0
    if run.dtype.kind in "fc":
        # Of complex numbers, those of which a part is none come last too, in an order of their own.
        first_nan = np.asarray([np.nan if run.dtype.kind == "f" else complex(-np.inf, np.nan)])
        n_numbers = sorting.search(run, first_nan.astype(run.dtype))
        n_nan = n - sum(team.gather_inside("numbers that are no NaN", int(n_numbers[0])))
    wanted = places(max(1, n - n_nan))
    if n_nan == n or (n_nan and not skips_nan):
        return np.full((len(wanted.before), 2), np.nan, run.dtype), wanted.share
    both = np.stack([wanted.before, wanted.after], axis=1)
    indices, inverse = np.unique(both, return_inverse=True)
    keys = select(team, run, row.sizes, indices.tolist()).keys
    return keys[inverse].reshape(both.shape), wanted.share


def middle(n: int) -> Places:
    """Where the median of so many elements lies: at one of them, or between two."""
    share = 0.0 if n % 2 else 0.5
    return Places(np.asarray([(n - 1) // 2]), np.asarray([n // 2]), np.asarray([share]))


def quantile_places(n: int, q: Local, method: str) -> Places:
    """Where quantiles of so many elements lie, by one of the methods that NumPy names."""
    index = _index(n, q, method)
    before = np.floor(index)
    share = index - before
    if method == "averaged_inverted_cdf":
        share = np.where(share == 0, 0.5, 1.0)
    # Beyond the ends the outer element counts alone; so does one that is taken as it is.
    is_inside = (index >= 0) & (index < n - 1) & (method not in TAKEN)
    first = np.clip(before, 0, n - 1).astype(np.int64)
    return Places(first, np.where(is_inside, first + 1, first), np.where(is_inside, share, 0.0))


# Methods that take an element as it is.
TAKEN = {"inverted_cdf", "closest_observation", "lower", "higher", "nearest"}

# The two numbers of a continuous method, with which it counts the ends.
_ENDS = {
    "interpolated_inverted_cdf": (0.0, 1.0),
    "hazen": (0.5, 0.5),
    "weibull": (0.0, 0.0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}


def _index(n: int, q: Local, method: str) -> Local:
    """The index of quantiles among so many elements in order; a fraction between two."""
    if method in _ENDS:
        alpha, beta = _ENDS[method]
        return n * q + (alpha + q * (1 - alpha - beta)) - 1
    even: Local = (n - 1) * q
    found: dict[str, Callable[[], Any]] = {
        "linear": lambda: even,
        "lower": lambda: np.floor(even),
        "higher": lambda: np.ceil(even),
        "midpoint": lambda: 0.5 * (np.floor(even) + np.ceil(even)),
        "nearest": lambda: np.around(even),
        "averaged_inverted_cdf": lambda: n * q - 1,
        "inverted_cdf": lambda: np.maximum(np.ceil(n * q - 1), 0),
        "closest_observation": lambda: np.maximum(_nearest_odd(n * q - 1.5), 0),
    }
    made: Local = found[method]()
    return made


def _nearest_odd(index: Local) -> Local:
    """The next index, but an odd one itself."""
    floor = np.floor(index)
    return np.where((index == floor) & (floor % 2 == 1), floor, floor + 1)
