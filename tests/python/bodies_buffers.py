"""Bodies on buffers: element types, exact bits, odd strides, what is refused, given targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from engines import Case

import partita as pt

Array = np.ndarray[Any, Any]

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]
SHAPE = (9, 14)


def rows(n: int) -> pt.Layout:
    return pt.Layout(SHAPE, f"block, * @ {n}x1")


def columns(n: int) -> pt.Layout:
    return pt.Layout(SHAPE, f"*, block @ 1x{n}")


def my_rows(whole: Array, team: pt.Team) -> Array:
    """This rank's rows, cut by NumPy."""
    return np.array_split(whole, team.size, axis=0)[team.rank].copy()


def my_columns(whole: Array, team: pt.Team) -> Array:
    return np.array_split(whole, team.size, axis=1)[team.rank].copy()


def bits(array: Array) -> bytes:
    """All bits, in C order."""
    return np.ascontiguousarray(array).tobytes()


def any_bits(dtype: str) -> Array:
    """Elements with all kinds of bits; odd numbers first where there are any."""
    n_items = int(np.prod(SHAPE))
    rng = np.random.default_rng(len(dtype))
    if dtype == "bool":
        return rng.integers(0, 2, SHAPE).astype(bool)
    item = np.dtype(dtype).itemsize
    array = np.frombuffer(rng.bytes(n_items * item), dtype=dtype).reshape(SHAPE).copy()
    part = {"c": f"float{4 * item}", "f": dtype}.get(np.dtype(dtype).kind)
    if part is not None:
        odd = odd_floats(part)
        array.reshape(-1).view(part)[: len(odd)] = odd
    return array


def odd_floats(dtype: str) -> Array:
    """NaNs with payloads, quiet and signalling, both zeros, both infinities, denormals."""
    unsigned = f"uint{8 * np.dtype(dtype).itemsize}"
    n_bits, info = 8 * np.dtype(dtype).itemsize, np.finfo(dtype)
    infinite = ((1 << info.iexp) - 1) << info.nmant
    sign, quiet = 1 << (n_bits - 1), 1 << (info.nmant - 1)
    patterns = [infinite | 1, infinite | quiet | 5, sign | infinite | quiet | 0x33, sign, 0]
    patterns += [infinite, sign | infinite, 1, sign | (quiet - 1)]
    return np.array(patterns, dtype=unsigned).view(dtype)


def exact_bits(team: pt.Team) -> None:
    """Every type arrives bit by bit, through a move and through a copy to all."""
    whole_layout = pt.Layout(SHAPE, f"*, * @ {team.size}x1")
    for dtype in DTYPES:
        whole = any_bits(dtype)
        mine = my_rows(whole, team)
        moved = pt.plan(rows(team.size), columns(team.size), dtype).apply(mine, team)
        assert moved.dtype == np.dtype(dtype)
        assert bits(moved) == bits(my_columns(whole, team)), dtype
        everywhere = pt.plan(rows(team.size), whole_layout, dtype).apply(mine, team)
        assert bits(everywhere) == bits(whole), dtype


def sums(team: pt.Team) -> None:
    """Every type is added as NumPy adds it, in the order of the ranks."""
    n = team.size
    partial, spread = pt.Layout((21,), f"* @ {n} partial 0"), pt.Layout((21,), f"block @ {n}")
    for dtype in DTYPES:
        parts = [summand(dtype, rank) for rank in range(n)]
        total = parts[0].copy()
        for part in parts[1:]:
            total = (total + part).astype(dtype)
        everywhere = pt.plan(partial, pt.Layout((21,), f"* @ {n}"), dtype)
        found = everywhere.apply(parts[team.rank], team)
        assert bits(found) == bits(total), dtype
        found = pt.plan(partial, spread, dtype).apply(parts[team.rank], team)
        assert bits(found) == bits(np.array_split(total, n)[team.rank]), dtype


def summand(dtype: str, rank: int) -> Array:
    """Numbers whose sums overflow where the type can, and are exact where it is floating."""
    rng = np.random.default_rng(rank)
    if np.dtype(dtype).kind in "iu":
        info = np.iinfo(dtype)
        return rng.integers(info.min, info.max, 21, dtype=dtype, endpoint=True)
    if np.dtype(dtype).kind == "c":
        return (rng.integers(-9, 9, 21) + 1j * rng.integers(-9, 9, 21)).astype(dtype)
    return rng.integers(0, 2 if dtype == "bool" else 9, 21).astype(dtype)


def reversed_copy(mine: Array) -> Array:
    """The same values with negative strides."""
    return mine[::-1, ::-1].copy()[::-1, ::-1]


def read_only(mine: Array) -> Array:
    copy = mine.copy()
    copy.flags.writeable = False
    return copy


def misaligned(mine: Array) -> Array:
    room = np.zeros(mine.nbytes + 1, dtype=np.uint8)
    crooked = room[1:].view(mine.dtype).reshape(mine.shape)
    crooked[...] = mine
    assert mine.size == 0 or not crooked.flags.aligned
    return crooked


SOURCES: dict[str, Callable[[Array], Array]] = {
    "plain": lambda mine: mine,
    "Fortran order": np.asfortranarray,
    "strided": lambda mine: np.repeat(np.repeat(mine, 2, axis=0), 3, axis=1)[::2, ::3],
    "negative strides": reversed_copy,
    "read-only": read_only,
    "misaligned": misaligned,
    "transposed": lambda mine: mine.T.copy().T,
}

TARGETS: dict[str, Callable[[Array], Array | None]] = {
    "fresh": lambda like: None,
    "plain": lambda like: np.full_like(like, 77),
    "Fortran order": lambda like: np.asfortranarray(np.full_like(like, 77)),
    "strided": lambda like: np.full((2 * like.shape[0], 3 * like.shape[1]), 77.0)[::2, ::3],
    "negative strides": lambda like: reversed_copy(np.full_like(like, 77)),
    "misaligned": lambda like: misaligned(np.full_like(like, 77)),
}


def odd_buffers(team: pt.Team) -> None:
    """Any source into any target; what lies between a target's elements stays."""
    whole = np.random.default_rng(5).random(SHAPE)
    mine, wanted = my_rows(whole, team), my_columns(whole, team)
    plan = pt.plan(rows(team.size), columns(team.size))
    for source, make in SOURCES.items():
        given = make(mine)
        for target, room in TARGETS.items():
            out = room(wanted)
            found = plan.apply(given, team, out)
            assert out is None or found is out
            np.testing.assert_array_equal(found, wanted, err_msg=f"{source} into {target}")
            if out is not None and out.base is not None and target == "strided":
                assert int((out.base == 77).sum()) == out.base.size - out.size
        np.testing.assert_array_equal(given, mine, err_msg=source)


def one_source_for_all(team: pt.Team) -> None:
    """A source whose elements share memory is no harm: nobody writes to it."""
    plan = pt.plan(rows(team.size), columns(team.size))
    same = np.broadcast_to(np.float64(3.5), rows(team.size).local_shape(team.rank))
    np.testing.assert_array_equal(
        plan.apply(same, team), np.full(my_columns(np.zeros(SHAPE), team).shape, 3.5)
    )


def reuse(team: pt.Team) -> None:
    """One target again and again, and one plan from another source each time."""
    plan = pt.plan(rows(team.size), columns(team.size))
    out = np.empty_like(my_columns(np.zeros(SHAPE), team))
    for turn in range(5):
        whole = np.random.default_rng(turn).random(SHAPE)
        assert plan.apply(my_rows(whole, team), team, out) is out
        np.testing.assert_array_equal(out, my_columns(whole, team))


def zeros_where_nothing_comes(team: pt.Team) -> None:
    """A given target is cleared where no move reaches it."""
    n = team.size
    spread, summands = pt.Layout((10,), f"block @ {n}"), pt.Layout((10,), f"* @ {n} partial 0")
    whole = np.arange(1.0, 11)
    out = np.full(10, 77.0)
    pt.plan(spread, summands).apply(np.array_split(whole, n)[team.rank].copy(), team, out)
    np.testing.assert_array_equal(out, whole if team.rank == 0 or n == 1 else np.zeros(10))
    halo = pt.Layout((10,), f"block+halo(1,1) @ {n}")
    back = pt.plan(spread, halo).adjoint()
    local = np.ones(halo.local_shape(team.rank))
    out = np.full(spread.local_shape(team.rank), 77.0)
    back.apply(local, team, out)
    copies = np.zeros(10)
    for rank in range(n):
        (piece,) = halo.pieces(rank)
        copies[piece.start[0] : piece.start[0] + piece.shape[0]] += 1
    np.testing.assert_array_equal(out, np.array_split(copies, n)[team.rank])


def large(team: pt.Team) -> None:
    """Several megabytes to and fro."""
    shape = (512, 1024)
    whole = np.arange(512 * 1024, dtype=np.float64).reshape(shape)
    first = pt.Layout(shape, f"block, * @ {team.size}x1")
    second = pt.Layout(shape, f"*, cyclic(7) @ 1x{team.size}")
    mine = np.array_split(whole, team.size, axis=0)[team.rank].copy()
    moved = pt.plan(first, second).apply(mine, team)
    own = [k for k in range(1024) if k // 7 % team.size == team.rank]
    np.testing.assert_array_equal(moved, whole[:, own])
    np.testing.assert_array_equal(pt.plan(second, first).apply(moved, team), mine)


CASES = [
    Case("exact-bits", exact_bits),
    Case("sums-of-every-type", sums),
    Case("odd-buffers", odd_buffers),
    Case("one-source-for-all", one_source_for_all),
    Case("reuse", reuse),
    Case("zeros-where-nothing-comes", zeros_where_nothing_comes),
    Case("large-arrays", large),
]
