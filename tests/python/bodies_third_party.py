"""What programs of others need, for ranks of every kind."""

from __future__ import annotations

from typing import Any

import numpy as np

import partita as pt


def needed_names(team: Any) -> None:
    x = np.arange(24.0).reshape(8, 3)
    a = pt.array(x, layout="block, *")
    row, column = pt.asarray(np.array([5, 2])) // 1
    a[row, column] = -1.0
    assert a[5, 2].item() == -1
    windows = pt.lib.stride_tricks.sliding_window_view(pt.array(x, layout="block, *"), 3, 0)
    wanted = np.lib.stride_tricks.sliding_window_view(x, 3, 0)
    np.testing.assert_array_equal(windows.gather(), wanted)
    places = pt.array(x[:, 0], layout="block")
    np.testing.assert_allclose(pt.polyfit(places, places * 2 + 1, 1).gather(), [2, 1])
    np.testing.assert_allclose(pt.emath.sqrt(places - 3).gather(), np.emath.sqrt(x[:, 0] - 3))
    truth = pt.array(x > 7, layout="block, *")
    np.testing.assert_array_equal(pt.packbits(truth).gather(), np.packbits(x > 7))
    cyclic = pt.array(x, layout="cyclic, *")
    cyclic[np.array([1, 6])] = -1.0
    own = x[team.rank :: team.size].copy()
    own[np.isin(np.arange(8)[team.rank :: team.size], [1, 6])] = -1
    np.testing.assert_array_equal(cyclic.local, own)
    # A user's function calls partita, unequally often on the ranks: each is alone meanwhile.
    spread = pt.array(x, layout="block, *")
    sizes: Any = pt.vectorize(lambda line: pt.dot(line, line), signature="(n)->()")
    np.testing.assert_array_equal(sizes(spread).gather(), (x * x).sum(axis=1))
    roots = pt.apply_along_axis(lambda line: pt.sort(-line), 1, spread)
    np.testing.assert_array_equal(roots.gather(), np.sort(-x, axis=1))
    np.testing.assert_array_equal(pt.poly1d([2, 1])(spread).gather(), 2 * x + 1)
    assert pt.world().size == team.size
