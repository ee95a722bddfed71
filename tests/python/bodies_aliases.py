"""Arrays over memory that others look at, too: other arrays, and halos that reach far."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

import partita as pt

# Ways to look at all elements, on every rank.
LOOKS: list[Callable[[Any], Any]] = [
    lambda a: a.gather(),
    lambda a: a.tolist(),
    np.asarray,
    lambda a: pt.sort(a).gather(),
    lambda a: a.copy().gather(),
    lambda a: (a + 0).gather(),
    lambda a: a.redistribute(f"cyclic @ {a.team.size}").gather(),
]


def of_one_memory(team: Any) -> None:
    """A read of one array sees what was written through another of the same NumPy array."""
    is_shared = team.engine == "mpi" or team.size == 1
    for look in LOOKS:
        x = np.arange(6.0)
        a, b = pt.asarray(x, team=team), pt.asarray(x[1:], team=team)
        b += 1
        # Ranks that are threads have copies of their own, as all of them may come with one array.
        wanted = [0.0, 2.0, 3.0, 4.0, 5.0, 6.0] if is_shared else np.arange(6.0)
        np.testing.assert_array_equal(look(a), wanted)


def of_one_part(team: Any) -> None:
    """Arrays that ranks make of the same parts are one array, whoever is read or written."""
    layout = pt.Layout((7,), f"block @ {team.size}")
    for look in LOOKS[:2] + LOOKS[3:]:
        own = np.zeros(layout.local_shape(team.rank))
        a, b = pt.from_local(own, layout, team), pt.from_local(own, layout, team)
        a += 1
        b *= 5
        np.testing.assert_array_equal(look(a), np.full(7, 5.0))
        a -= 2
        assert float(b.sum()) == 21.0
        b += 1
        third = pt.from_local(own, layout, team)
        np.testing.assert_array_equal(look(third), np.full(7, 4.0))


def with_far_halos(team: Any) -> None:
    """Halos that reach all elements make no rank's part the whole array: they may be old."""
    size = team.size
    halos = ["+halo(1,1)+periodic", f"+halo({size},{size})", f"+halo({2 * size - 2},0)+periodic"]
    for halo in halos:
        layout = pt.Layout((2 * size,), f"block{halo} @ {size}")
        numbers = np.arange(2.0 * size)
        a = pt.asarray(numbers, layout=layout, team=team)
        for look in LOOKS[:2] + LOOKS[3:]:
            np.testing.assert_array_equal(look(a), numbers)
        assert float(a[0]) == 0.0
        own = pt.from_local(np.full(layout.local_shape(team.rank), float(team.rank)), layout, team)
        np.testing.assert_array_equal(own.gather(), np.arange(2 * size) // 2)
        assert float(own.sum()) == size * (size - 1)


def outside_a_layout(team: Any) -> None:
    """A rank that a layout does not name has an empty part."""
    layout = pt.Layout((7,), f"block @ 1 on {team.size - 1}")
    a = pt.asarray(np.arange(7.0), layout=layout, team=team)
    assert a.local.size == (7 if team.rank == team.size - 1 else 0)
    assert a.copy().sum() == 21.0


BODIES = [of_one_memory, of_one_part, with_far_halos, outside_a_layout]
