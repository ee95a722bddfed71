"""The short form of `make soak`: thousands of calls, the right values, and nothing grows."""

from __future__ import annotations

import bodies_soak
import pytest
import soak
from places import Place

N_TURNS = 600


@pytest.mark.parametrize("place", soak.places(), ids=str)
def test_a_short_soak(place: Place) -> None:
    assert soak.run(place, N_TURNS, seconds=20.0) == N_TURNS


@pytest.mark.parametrize(
    ("late", "words"),
    [
        ((9 << 20, 0, 7), "more memory"),
        ((0, 4096, 7), "in shared files"),
        ((0, 0, 8), "open files"),
    ],
)
def test_what_grows_is_named(late: tuple[int, int, int], words: str) -> None:
    """A test of the test."""
    flat = (10, (0, 0, 7), (0, 0, 7))
    bodies_soak.check_flat([flat, flat])
    with pytest.raises(AssertionError, match=f"rank 1: .*{words}"):
        bodies_soak.check_flat([flat, (10, (0, 0, 7), late)])
