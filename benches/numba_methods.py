"""The same translations as compiled loops; `None` where numba is not installed.

Every loop exists twice, for one thread and for all; the first call compiles and is not timed.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

try:
    import numba
except ImportError:
    numba = None

HASH_FACTOR = np.uint64(0x9E3779B97F4A7C15)

N_THREADS: int = numba.get_num_threads() if numba else 0


def _cyclic(q: Any, block: int, n_ranks: int, ranks: Any, local: Any) -> None:
    for i in numba.prange(q.size):
        blocks = q[i] // block
        ranks[i] = blocks % n_ranks
        local[i] = blocks // n_ranks * block + q[i] % block


def _block(q: Any, size: int, n_larger: int, ranks: Any, local: Any) -> None:
    boundary = n_larger * (size + 1)
    for i in numba.prange(q.size):
        rank = q[i] // (size + 1) if q[i] < boundary else n_larger + (q[i] - boundary) // size
        ranks[i] = rank
        local[i] = q[i] - rank * size - min(rank, n_larger)


def _sizes(q: Any, starts: Any, ranks: Any, local: Any) -> None:
    for i in numba.prange(q.size):
        rank = np.searchsorted(starts, q[i], side="right") - 1
        ranks[i] = rank
        local[i] = q[i] - starts[rank]


def _dense(q: Any, table: Any, bits: int, ranks: Any, local: Any) -> None:
    for i in numba.prange(q.size):
        slot = table[q[i]]
        ranks[i] = slot >> bits
        local[i] = slot & ((1 << bits) - 1)


def _sparse(q: Any, table: Any, shift: Any, bits: int, ranks: Any, local: Any) -> None:
    mask = table.shape[0] - 1
    for i in numba.prange(q.size):
        at = np.int64((np.uint64(q[i]) * HASH_FACTOR) >> shift)
        while table[at, 1] >= 0 and table[at, 0] != q[i]:
            at = (at + 1) & mask
        slot = table[at, 1]
        ranks[i] = slot >> bits
        local[i] = slot & ((1 << bits) - 1)


def _fill(table: Any, shift: Any, ids: Any, slots: Any) -> None:
    mask = table.shape[0] - 1
    for i in range(ids.size):
        at = np.int64((np.uint64(ids[i]) * HASH_FACTOR) >> shift)
        while table[at, 1] >= 0:
            at = (at + 1) & mask
        table[at, 0] = ids[i]
        table[at, 1] = slots[i]


def hash_table(ids: Any, slots: Any) -> tuple[Any, np.uint64]:
    """An open-addressing table of (id, slot), half full at most, and its shift."""
    n_bits = int(2 * ids.size - 1).bit_length()
    table = np.full((1 << n_bits, 2), -1, np.int64)
    shift = np.uint64(64 - n_bits)
    numba.njit(_fill)(table, shift, ids, slots)
    return table, shift


LOOPS = {
    "cyclic": _cyclic,
    "block": _block,
    "sizes": _sizes,
    "dense": _dense,
    "sparse": _sparse,
}


def compiled(name: str, *, is_parallel: bool) -> Callable[..., None]:
    """One of the loops, for all threads or for one."""
    return numba.njit(parallel=is_parallel)(LOOPS[name])
