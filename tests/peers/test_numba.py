"""Owners of a million random indices against a compiled loop that knows only the definition."""

from __future__ import annotations

import numba
import numpy as np
import pytest

import partita as pt

N_INDICES = 1_000_000


@numba.njit
def owners(indices: np.ndarray, block: int, n_ranks: int) -> tuple[np.ndarray, np.ndarray]:
    """Rank (i / b) mod p; local: the blocks of that rank before i, and the place in the last."""
    ranks = np.empty_like(indices)
    local = np.empty_like(indices)
    for row in range(len(indices)):
        index = indices[row]
        number = index // block
        ranks[row] = number % n_ranks
        local[row] = number // n_ranks * block + index % block
    return ranks, local


@numba.njit
def counted(extent: int, block: int, n_ranks: int) -> tuple[np.ndarray, np.ndarray]:
    """The same by walking through all indices and counting: no formula for the position."""
    ranks = np.empty(extent, np.int64)
    local = np.empty(extent, np.int64)
    counts = np.zeros(n_ranks, np.int64)
    rank, left = 0, block
    for index in range(extent):
        if left == 0:
            rank, left = (rank + 1) % n_ranks, block
        ranks[index] = rank
        local[index] = counts[rank]
        counts[rank] += 1
        left -= 1
    return ranks, local


CASES = [
    *((10**7, 1, 1), (10**7, 1, 7), (10**7, 64, 48), (10**7, 1000, 3), (10**7, 10**6, 20)),
    *((2**31, 64, 1000), (2**31 + 1, 64, 1000), (2**40, 12345, 677), (2**63 - 1, 2**40 + 1, 99)),
]


@pytest.mark.parametrize(("extent", "block", "n_ranks"), CASES, ids=str)
def test_cyclic_owners_of_a_million_indices(extent: int, block: int, n_ranks: int) -> None:
    layout = pt.Layout(extent, f"cyclic({block}) @ {n_ranks}")
    indices = np.random.default_rng(17).integers(0, extent, N_INDICES)
    wanted_ranks, wanted_local = owners(indices, block, n_ranks)
    ranks, local = layout.locate(indices)
    np.testing.assert_array_equal(ranks, wanted_ranks)
    np.testing.assert_array_equal(local[:, 0], wanted_local)


@pytest.mark.parametrize(("block", "n_ranks"), [(1, 3), (64, 48), (999, 7)])
def test_cyclic_owners_by_counting(block: int, n_ranks: int) -> None:
    extent = N_INDICES
    layout = pt.Layout(extent, f"cyclic({block}) @ {n_ranks}")
    wanted_ranks, wanted_local = counted(extent, block, n_ranks)
    ranks, local = layout.locate(np.arange(extent))
    np.testing.assert_array_equal(ranks, wanted_ranks)
    np.testing.assert_array_equal(local[:, 0], wanted_local)
    for rank in range(n_ranks):
        assert layout.n_owned(rank) == int((wanted_ranks == rank).sum())


@pytest.mark.parametrize("maps", ["cyclic(3), cyclic(5)", "cyclic(64), block", "block, cyclic"])
def test_two_dimensions_at_once(maps: str) -> None:
    shape, grid = (5000, 3000), (6, 4)
    layout = pt.Layout(shape, f"{maps} @ 6x4")
    rng = np.random.default_rng(17)
    indices = np.stack([rng.integers(0, extent, N_INDICES) for extent in shape], axis=1)
    ranks, local = layout.locate(indices)
    coordinates = []
    for dim, map in enumerate(maps.split(", ")):
        if map == "block":
            # Both extents fall into equal blocks but for the last elements: compare with a search.
            sizes = [len(part) for part in np.array_split(np.arange(shape[dim]), grid[dim])]
            starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
            found = np.searchsorted(starts, indices[:, dim], side="right") - 1
            position = indices[:, dim] - starts[found]
        else:
            block = int(map.strip("cyli()") or 1)
            found, position = owners(np.ascontiguousarray(indices[:, dim]), block, grid[dim])
        coordinates.append(found)
        np.testing.assert_array_equal(local[:, dim], position)
    np.testing.assert_array_equal(ranks, coordinates[0] * grid[1] + coordinates[1])
