"""Global index to (rank, local index), ten million at a time, beside NumPy and numba.

Every method gets the same indices in the same process, its result is compared with partita's, and
the methods take turns. `warm` writes into arrays that are there (`out=`), `fresh` returns new ones.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numba_methods
import numpy as np
from timing import Times, in_turns

import partita as pt

N_INDICES = 10_000_000
N_ROUNDS = 7
N_LISTS = 8

Array = np.ndarray[Any, np.dtype[np.int64]]
Pair = tuple[Array, Array]


@dataclass(frozen=True)
class Method:
    """How one library translates: into given arrays, and into new ones."""

    warm: Callable[[Array, Pair], object]
    fresh: Callable[[Array], Pair]
    n_indices: int = N_INDICES


@dataclass(frozen=True)
class Case:
    """A map, indices to translate, and what translates them."""

    name: str
    bar_ns: float | None
    indices: Array
    methods: dict[str, Method]


@dataclass(frozen=True)
class Result:
    """Seconds of each method for all indices, by kind of memory."""

    name: str
    bar_ns: float | None
    warm: dict[str, Times]
    fresh: dict[str, Times]


def _partita(layout: pt.Layout) -> Method:
    def warm(q: Array, out: Pair) -> None:
        layout.locate(q, out=(out[0], out[1].reshape(-1, 1)))

    def fresh(q: Array) -> Pair:
        ranks, local = layout.locate(q)
        return ranks, local.reshape(-1)

    return Method(warm, fresh)


def _numba(loop: str, *arguments: Any) -> dict[str, Method]:
    if numba_methods.numba is None:
        return {}
    methods = {}
    for name, is_parallel in (("numba", False), ("numba, all threads", True)):
        run = numba_methods.compiled(loop, is_parallel=is_parallel)

        def warm(q: Array, out: Pair, run: Callable[..., None] = run) -> None:
            run(q, *arguments, *out)

        def fresh(q: Array, run: Callable[..., None] = run) -> Pair:
            out = np.empty_like(q), np.empty_like(q)
            run(q, *arguments, *out)
            return out

        methods[name] = Method(warm, fresh)
    return methods


def _numpy_cyclic(block: int, n_ranks: int) -> Method:
    blocks, within = np.empty(N_INDICES, np.int64), np.empty(N_INDICES, np.int64)

    def warm(q: Array, out: Pair) -> None:
        ranks, local = out
        np.floor_divide(q, block, out=blocks)
        np.remainder(blocks, n_ranks, out=ranks)
        np.floor_divide(blocks, n_ranks, out=local)
        np.multiply(local, block, out=local)
        np.remainder(q, block, out=within)
        np.add(local, within, out=local)

    def fresh(q: Array) -> Pair:
        blocks = q // block
        return blocks % n_ranks, blocks // n_ranks * block + q % block

    return Method(warm, fresh)


def _numpy_block(size: int, n_larger: int) -> Method:
    scratch = np.empty(N_INDICES, np.int64)

    def warm(q: Array, out: Pair) -> None:
        ranks, local = out
        np.subtract(q, n_larger, out=ranks)
        np.floor_divide(ranks, size, out=ranks)
        np.floor_divide(q, size + 1, out=scratch)
        np.maximum(ranks, scratch, out=ranks)
        np.multiply(ranks, size, out=local)
        np.minimum(ranks, n_larger, out=scratch)
        np.add(local, scratch, out=local)
        np.subtract(q, local, out=local)

    def fresh(q: Array) -> Pair:
        ranks = np.maximum(q // (size + 1), (q - n_larger) // size)
        return ranks, q - ranks * size - np.minimum(ranks, n_larger)

    return Method(warm, fresh)


def _numpy_sizes(starts: Array) -> Method:
    def fresh(q: Array) -> Pair:
        ranks = np.searchsorted(starts, q, side="right") - 1
        return ranks, q - starts[ranks]

    def warm(q: Array, out: Pair) -> None:
        ranks, local = out
        np.subtract(np.searchsorted(starts, q, side="right"), 1, out=ranks)
        np.take(starts, ranks, out=local, mode="clip")
        np.subtract(q, local, out=local)

    return Method(warm, fresh)


def _numpy_dense(table: Array, bits: int) -> Method:
    mask = (1 << bits) - 1

    def warm(q: Array, out: Pair) -> None:
        ranks, local = out
        np.take(table, q, out=local, mode="clip")
        np.right_shift(local, bits, out=ranks)
        np.bitwise_and(local, mask, out=local)

    def fresh(q: Array) -> Pair:
        slots = np.take(table, q)
        return slots >> bits, slots & mask

    return Method(warm, fresh)


def _numpy_sparse(ids: Array, slots: Array, bits: int) -> Method:
    order = np.argsort(ids)
    by_id, slot_of = ids[order], slots[order]
    mask = (1 << bits) - 1

    def fresh(q: Array) -> Pair:
        found = slot_of[np.searchsorted(by_id, q)]
        return found >> bits, found & mask

    def warm(q: Array, out: Pair) -> None:
        found = np.take(slot_of, np.searchsorted(by_id, q))
        np.right_shift(found, bits, out=out[0])
        np.bitwise_and(found, mask, out=out[1])

    # A binary search costs a hundred times a look-up, so it gets a hundredth of the indices.
    return Method(warm, fresh, n_indices=N_INDICES // 100)


def _cyclic_case(rng: np.random.Generator, block: int, n_ranks: int, bits: int) -> Case:
    layout = pt.Layout((2**bits,), f"cyclic({block}) @ {n_ranks}")
    return Case(
        f"block-cyclic, {block} on {n_ranks} ranks, extent 2^{bits}",
        3.0,
        rng.integers(0, 2**bits, N_INDICES),
        {
            "partita": _partita(layout),
            "NumPy": _numpy_cyclic(block, n_ranks),
            **_numba("cyclic", block, n_ranks),
        },
    )


def _block_case(rng: np.random.Generator, n_ranks: int, bits: int) -> Case:
    size, n_larger = divmod(2**bits, n_ranks)
    return Case(
        f"block on {n_ranks} ranks, extent 2^{bits}",
        None,
        rng.integers(0, 2**bits, N_INDICES),
        {
            "partita": _partita(pt.Layout((2**bits,), f"block @ {n_ranks}")),
            "NumPy": _numpy_block(size, n_larger),
            **_numba("block", size, n_larger),
        },
    )


def _sizes_case(rng: np.random.Generator, n_ranks: int, bits: int) -> Case:
    starts = np.concatenate([[0], np.sort(rng.integers(0, 2**bits, n_ranks - 1))])
    sizes = np.diff(starts, append=2**bits).tolist()
    layout = pt.Layout((2**bits,), [pt.Block(sizes=sizes)], grid=(n_ranks,))
    return Case(
        f"given sizes on {n_ranks} ranks, extent 2^{bits}",
        None,
        rng.integers(0, 2**bits, N_INDICES),
        {
            "partita": _partita(layout),
            "NumPy": _numpy_sizes(starts),
            **_numba("sizes", starts),
        },
    )


def _lists(ids: Array) -> tuple[pt.Layout, Array, int]:
    """The layout of ids cut into equal lists, each id's (rank, place) in one word, its shift."""
    length = -(-ids.size // N_LISTS)
    bits = int(length).bit_length()
    ranks, local = np.divmod(np.arange(ids.size), length)
    lists = [ids[start : start + length] for start in range(0, ids.size, length)]
    layout = pt.Layout((ids.size,), [pt.Unstructured(lists)], grid=(N_LISTS,))
    return layout, ranks << bits | local, bits


def _dense_case(rng: np.random.Generator) -> Case:
    ids = rng.permutation(N_INDICES)
    layout, slots, bits = _lists(ids)
    table = np.empty_like(slots)
    table[ids] = slots
    return Case(
        f"unstructured, permutation of 10^7 on {N_LISTS} ranks",
        25.0,
        rng.integers(0, N_INDICES, N_INDICES),
        {
            "partita": _partita(layout),
            "NumPy": _numpy_dense(table, bits),
            **_numba("dense", table, bits),
        },
    )


def _sparse_case(rng: np.random.Generator) -> Case:
    numbers = np.iinfo(np.int64)
    drawn = rng.integers(numbers.min, numbers.max, N_INDICES + 1000, endpoint=True)
    ids = rng.permutation(np.unique(drawn))[:N_INDICES]
    layout, slots, bits = _lists(ids)
    methods = {"partita": _partita(layout), "NumPy": _numpy_sparse(ids, slots, bits)}
    if numba_methods.numba is not None:
        table, shift = numba_methods.hash_table(ids, slots)
        methods |= _numba("sparse", table, shift, bits)
    asked = ids[rng.integers(0, N_INDICES, N_INDICES)]
    return Case(f"unstructured, 10^7 64-bit ids on {N_LISTS} ranks", 25.0, asked, methods)


def _cases() -> Iterator[Case]:
    """The cases one after the other, so that only one has its tables in memory."""
    rng = np.random.default_rng(20)
    for block, n_ranks in ((100, 7), (64, 8)):
        for bits in (27, 40):
            yield _cyclic_case(rng, block, n_ranks, bits)
    for bits in (27, 40):
        yield _block_case(rng, 7, bits)
    yield _sizes_case(rng, 1000, 27)
    yield _dense_case(rng)
    yield _sparse_case(rng)


def _check(case: Case) -> None:
    expected = case.methods["partita"].fresh(case.indices)
    out = np.empty_like(case.indices), np.empty_like(case.indices)
    for name, method in case.methods.items():
        asked = case.indices[: method.n_indices]
        into = out[0][: method.n_indices], out[1][: method.n_indices]
        method.warm(asked, into)
        for found in (into, method.fresh(asked)):
            for ours, theirs in zip(expected, found, strict=True):
                if not np.array_equal(ours[: method.n_indices], theirs):
                    raise SystemExit(f"{case.name}: {name} gives another answer")


def _measure(case: Case) -> Result:
    _check(case)
    out = np.zeros(N_INDICES, np.int64), np.zeros(N_INDICES, np.int64)
    warm, fresh = {}, {}
    for name, method in case.methods.items():
        asked = case.indices[: method.n_indices]
        into = out[0][: method.n_indices], out[1][: method.n_indices]
        warm[name] = lambda method=method, asked=asked, into=into: method.warm(asked, into)
        fresh[name] = lambda method=method, asked=asked: method.fresh(asked)
    result = Result(case.name, case.bar_ns, in_turns(warm, N_ROUNDS), in_turns(fresh, N_ROUNDS))
    return replace(result, warm=_per_index(case, result.warm), fresh=_per_index(case, result.fresh))


def _per_index(case: Case, times: dict[str, Times]) -> dict[str, Times]:
    return {name: taken.scaled(1 / case.methods[name].n_indices) for name, taken in times.items()}


def measure() -> list[Result]:
    """Seconds per index of every case."""
    return [_measure(case) for case in _cases()]
