"""The dot test, and partitions by lists: what the tests of movements share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

import partita as pt
from partita.distdl import CartesianPartition, Partition

Local = np.ndarray[Any, Any]


def cartesian(world: Partition, ranks: Iterable[int], shape: Sequence[int]) -> CartesianPartition:
    """Some workers of the world in a grid."""
    return world.create_partition_inclusive(ranks).create_cartesian_topology_partition(shape)


def inner(team: pt.Team, a: Local, b: Local) -> Any:
    """The inner product over all workers' arrays: exact for integers."""
    kind: Any = object if a.dtype.kind in "iu" else np.float64
    if a.dtype.kind == "c":
        kind = np.complex128
    own = np.sum(np.conj(a).astype(kind) * b.astype(kind)) if a.size else 0
    own = int(own) if kind is object else complex(own)
    return sum(team.allgather_data(own))


def check_dot(team: pt.Team, x: Local, fx: Local, y: Local, fy: Local) -> None:
    """Whether <Fx, y> = <x, F*y>, exactly for integers."""
    assert fx.shape == y.shape
    assert x.shape == fy.shape
    left, right = inner(team, fx, y), inner(team, x, fy)
    if x.dtype.kind in "iu":
        assert left == right
        return
    n_elements = sum(team.allgather_data(x.size + y.size))
    norms = [abs(inner(team, one, one)) ** 0.5 for one in (fx, y, x, fy)]
    bound = 8 * np.finfo(x.dtype).eps * n_elements**0.5
    assert abs(left - right) <= bound * max(norms[0] * norms[1], norms[2] * norms[3])


def random(shape: Sequence[int], dtype: str, seed: int) -> Local:
    """Random numbers, small integers for integer types."""
    rng = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        return rng.integers(-50, 50, shape).astype(dtype)
    if np.dtype(dtype).kind == "c":
        return (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    return rng.standard_normal(shape).astype(dtype)
