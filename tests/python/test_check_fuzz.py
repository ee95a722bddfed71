"""Mutated dictionaries: no crash, no foreign exception, no wrong verdict.

The judge of the verdicts paints every element of the array, one by one.
"""

from __future__ import annotations

import copy
import os
from contextlib import suppress
from itertools import pairwise, product
from random import Random
from typing import Any

import corpus
import numpy as np
import pytest

import partita as pt

N_CASES = int(os.environ.get("PARTITA_FUZZ_CASES", "1500"))
RUBBISH: list[Any] = [
    None, True, False, -1, 0, 1, 2, 2**31, 2**53 + 1, 2**63 - 1, 2**63, 2**64, 2**200, -(2**200),
    0.0, 1.0, float("nan"), float("inf"), "", "x", "0", b"x", (), (0,), (1, 2), [], [1], {}, {0: 1},
    object(), len, int, np.int64(1), np.float32(1), np.zeros(2), np.zeros((1, 2), "i4"),
    np.bool_(1),
]  # fmt: skip


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a dictionary of dictionaries, lists and tuples."""
    found = [at] if at else []
    if isinstance(value, dict):
        for key, item in value.items():
            found += paths(item, (*at, ("key", key)))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            found += paths(item, (*at, ("item", number)))
    return found


def changed(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """A copy in which one place has another value."""
    if not path:
        return new
    (_, key), *rest = path
    if isinstance(value, dict):
        return {k: changed(v, tuple(rest), new) if k == key else v for k, v in value.items()}
    items = list(value)
    items[key] = changed(items[key], tuple(rest), new)
    return type(value)(items)


def mutated(value: Any, rng: Random) -> Any:
    path = rng.choice(paths(value))
    kind, key = path[-1]
    if kind == "key" and rng.random() < 0.2:
        parent = value
        for _, step in path[:-1]:
            parent = parent[step]
        return changed(value, path[:-1], {k: v for k, v in parent.items() if k != key})
    old: Any = value
    for _, step in path:
        old = old[step]
    if isinstance(old, int) and not isinstance(old, bool) and rng.random() < 0.5:
        return changed(value, path, old + rng.choice([-1, 1]))
    return changed(value, path, rng.choice(RUBBISH))


def good_table(rng: Random) -> dict[str, Any]:
    shape = tuple(rng.randint(0, 5) for _ in range(rng.randint(0, 3)))
    cuts = []
    for extent in shape:
        ends = sorted(rng.randint(0, extent) for _ in range(rng.randint(0, 2)))
        ends = [0, *ends, extent]
        cuts.append([b - a for a, b in pairwise(ends)])
    parts = {}
    for position in product(*(range(len(own)) for own in cuts)):
        start = tuple(sum(own[:k]) for own, k in zip(cuts, position, strict=True))
        size = tuple(own[k] for own, k in zip(cuts, position, strict=True))
        parts[position] = {
            "start": start,
            "shape": size,
            "data": np.zeros(size),
            "location": [("10.0.0.1", 7)],
        }
    tiling = tuple(len(own) for own in cuts)
    return {"shape": shape, "partition_tiling": tiling, "partitions": parts, "get": corpus.get}


def is_number(value: Any) -> bool:
    if isinstance(value, bool | np.bool_ | np.ndarray):
        return False
    return isinstance(value, int | np.integer) and 0 <= int(value) < 2**63


def are_numbers(value: Any, n_wanted: int | None = None) -> bool:
    if not isinstance(value, tuple | list) or not all(is_number(item) for item in value):
        return False
    return n_wanted is None or len(value) == n_wanted


def is_tiled(d: Any) -> bool:
    """Whether a dictionary describes a grid of partitions, by painting the array."""
    shape, parts = d.get("shape"), d.get("partitions")
    if not callable(d.get("get")) or not are_numbers(shape) or not isinstance(parts, dict):
        return False
    tiling = d.get("partition_tiling", None)
    if "partition_tiling" not in d:
        keys = [key for key in parts if are_numbers(key, len(shape))]
        tiling = tuple(max((key[i] for key in keys), default=0) + 1 for i in range(len(shape)))
    if not are_numbers(tiling, len(shape)) or 0 in tiling or np.prod(tiling, dtype=float) > 1e4:
        return False
    if set(parts) != set(product(*(range(n) for n in tiling))):
        return False
    return all(is_part(key, part, d, shape) for key, part in parts.items()) and is_painted(d, shape)


def is_part(key: Any, part: Any, d: Any, shape: Any) -> bool:
    if not are_numbers(key, len(shape)) or not isinstance(part, dict):
        return False
    fields = ("start", "shape", "data", "location")
    if any(field not in part for field in fields):
        return False
    if not all(are_numbers(part[field], len(shape)) for field in ("start", "shape")):
        return False
    data, where = part["data"], part["location"]
    if data is None:
        return False
    others: list[Any] = [
        other.get("data") for other in d["partitions"].values() if isinstance(other, dict)
    ]
    dtypes = {other.dtype for other in others if is_array(other, part)}
    if len({type(other) for other in others}) > 1:
        return False
    if len(dtypes) > 1 or (is_array(data, part) and tuple(data.shape) != tuple(part["shape"])):
        return False
    return is_location(where)


def is_array(data: Any, part: Any) -> bool:
    """Whether data is an array, not a handle that may stand for any."""
    return isinstance(data, np.ndarray) and (data.ndim > 0 or not part["shape"])


def is_location(where: Any) -> bool:
    one = isinstance(where, tuple) and len(where) >= 2 and isinstance(where[0], str)
    one = one and isinstance(where[1], int | float)
    places = [where] if one or not isinstance(where, list | tuple) else where
    for place in places:
        if is_number(place) or isinstance(place, str):
            continue
        if not isinstance(place, tuple | list) or len(place) not in (2, 3):
            return False
        device = place[2] if len(place) == 3 else None
        if not isinstance(place[0], str) or not is_number(place[1]) or device is not None:
            return False
    return True


def is_painted(d: Any, shape: Any) -> bool:
    """Each element in one partition, and the rows of the grid straight and in order."""
    if any(extent > 1000 for extent in shape):
        return False
    paint = np.zeros(shape, dtype=int)
    bounds: list[dict[int, tuple[int, int]]] = [{} for _ in shape]
    for key, part in d["partitions"].items():
        box = list(zip(part["start"], part["shape"], strict=True))
        if any(start + length > n for (start, length), n in zip(box, shape, strict=True) if length):
            return False
        paint[tuple(slice(start, start + length) for start, length in box)] += 1
        for dim, (at, (start, length)) in enumerate(zip(key, box, strict=True)):
            known = bounds[dim].setdefault(at, (start, length))
            if known[1] != length or (known[0] != start and length):
                return False
    for own in bounds:
        full = [own[at] for at in sorted(own) if own[at][1]]
        if full != sorted(full):
            return False
    sums_fit = all(
        sum(length for _, length in own.values()) == n for own, n in zip(bounds, shape, strict=True)
    )
    chained = all(
        sum(own[k][1] for k in range(at)) == start or not length
        for own in bounds
        for at, (start, length) in own.items()
    )
    return sums_fit and chained and bool((paint == 1).all())


@pytest.mark.parametrize("seed", range(8))
def test_mutated_partitioned(seed: int) -> None:
    rng = Random(seed)
    verdicts = [0, 0]
    for number in range(N_CASES // 8):
        value = good_table(rng)
        assert pt.check(value) == [], (seed, number)
        for _ in range(rng.randint(1, 2)):
            value = mutated(value, rng)
            if not isinstance(value, dict) or not paths(value):
                break
        found = pt.check(value)
        is_good = isinstance(value, dict) and "partitions" in value and is_tiled(value)
        assert (not found) == is_good, (seed, number, value, found)
        verdicts[is_good] += 1
        # An error of another kind would end the test.
        with suppress(pt.ProtocolError):
            pt.from_partitioned(value)
    assert min(verdicts) > 5


def good_dim(rng: Random) -> tuple[dict[str, Any], int]:
    size, n_ranks = rng.randint(0, 9), rng.randint(1, 4)
    rank = rng.randrange(n_ranks)
    dim: dict[str, Any] = {"size": size, "proc_grid_size": n_ranks, "proc_grid_rank": rank}
    kind = rng.choice("bcu")
    if kind == "c":
        b, turn = rng.randint(1, 4), rng.randrange(n_ranks)
        dim |= {"dist_type": "c", "start": turn * b, "block_size": b}
        return dim, sum((i // b) % n_ranks == turn for i in range(size))
    if kind == "u":
        indices = rng.sample(range(size), rng.randint(0, size) if n_ranks > 1 else size)
        return dim | {"dist_type": "u", "indices": np.array(indices, dtype=int)}, len(indices)
    ends = [0, *sorted(rng.randint(0, size) for _ in range(n_ranks - 1)), size]
    start, stop = ends[rank], ends[rank + 1]
    return dim | {"dist_type": "b", "start": start, "stop": stop}, stop - start


def good_rank(rng: Random) -> dict[str, Any]:
    dims = [good_dim(rng) for _ in range(rng.randint(0, 3))]
    buffer = np.zeros([length for _, length in dims])
    return {"__version__": "0.10.0", "buffer": buffer, "dim_data": tuple(dim for dim, _ in dims)}


@pytest.mark.parametrize("seed", range(4))
def test_mutated_distarray(seed: int) -> None:
    rng = Random(seed)
    for number in range(N_CASES // 4):
        value = good_rank(rng)
        assert pt.check(value) == [], (seed, number, value)
        value = mutated(value, rng)
        found = pt.check(value)
        is_good = is_rank(value)
        assert (not found) == is_good, (seed, number, value, found)
        # An error of another kind would end the test.
        with suppress(pt.ProtocolError):
            pt.from_distarray(value)


def is_rank(d: Any) -> bool:
    """Whether one rank's dictionary follows the protocol, rule by rule."""
    if not isinstance(d, dict) or not {"__version__", "buffer", "dim_data"} <= set(d):
        return False
    version, dims = d["__version__"], d["dim_data"]
    if not isinstance(version, str) or version != "0.10.0" or not isinstance(dims, tuple | list):
        return False
    try:
        buffer = np.asarray(memoryview(d["buffer"]))
    except TypeError:
        return False
    if len(dims) != buffer.ndim:
        return False
    sizes = [dim.get("size", 0) for dim in dims if isinstance(dim, dict)]
    if np.prod([float(size) for size in sizes if is_number(size) and size], dtype=float) > 2**63:
        return False
    return all(is_dim(dim, n) for dim, n in zip(dims, buffer.shape, strict=True))


def is_dim(d: Any, n_here: int) -> bool:
    if isinstance(d, dict) and not d:
        return True
    kind = d.get("dist_type") if isinstance(d, dict) else None
    if not isinstance(kind, str) or kind not in ("b", "c", "u"):
        return False
    common = [d.get(key) for key in ("size", "proc_grid_size", "proc_grid_rank")]
    if not all(is_number(number) for number in common):
        return False
    size, n_ranks, rank = (int(number) for number in common)
    if not rank < n_ranks:
        return False
    if d["dist_type"] == "u":
        is_whole = n_here == size or (n_here < size and n_ranks > 1)
        return is_whole and is_list(d, n_here)
    if not is_number(d.get("start")):
        return False
    if d["dist_type"] == "c":
        b = d.get("block_size", 1)
        if not is_number(b) or b == 0:
            return False
        start = int(d["start"])
        if start >= size:
            return n_here == 0
        if size > 10**4 or start % b or start // b >= n_ranks:
            return False
        return bool(n_here == sum((i // b) % n_ranks == start // b for i in range(size)))
    start, stop = d["start"], d.get("stop")
    if not is_number(stop) or not start <= stop <= size or stop - start != n_here:
        return False
    return not (rank == 0 and start != 0) and not (rank == n_ranks - 1 and stop != size)


def is_list(d: dict[str, Any], n_here: int) -> bool:
    indices = d.get("indices")
    if isinstance(indices, list | tuple):
        if not all(
            isinstance(i, int | np.integer) and not isinstance(i, bool) and -(2**63) <= i < 2**63
            for i in indices
        ):
            return False
    else:
        if not isinstance(indices, np.ndarray | bytes):
            return False
        indices = np.asarray(memoryview(indices)) if isinstance(indices, bytes) else indices
        if indices.ndim != 1 or indices.dtype.kind not in "iu":
            return False
    return len({int(i) for i in indices}) == len(indices) == n_here


def test_the_corpus_mutated() -> None:
    """Anything may come of these, but never an exception of another kind."""
    rng = Random(11)
    cases = [case for name in ("partitioned", "distarray") for case in corpus.cases(name)]
    for _ in range(N_CASES):
        value = copy.copy(corpus.values(rng.choice(cases)))
        if not paths(value):
            continue
        value = mutated(value, rng)
        assert all(one.path is not None and one.reason for one in pt.check(value))
        assert isinstance(pt.check(value, strict=True), list)
