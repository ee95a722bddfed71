"""Bodies on moving data: every buffer that a plan fills is compared with the oracle's."""

from __future__ import annotations

import functools
from typing import Any

import families
import generate
import numpy as np
import oracle
from engines import Case
from oracle import Dense, Values
from planned import (
    Planned,
    check_serial_adjoint,
    random_summands,
    random_values,
    source_data,
    target_data,
)

import partita as pt

Buffers = list[np.ndarray[Any, Any]]
DTYPES = ["int32", "float64", "complex128", "int64", "float32"]


def of_rank(values: Values, rank: int, dtype: str) -> Buffers:
    """One rank's buffers."""
    own = sorted(key for key in values if key[0] == rank)
    return [values[key].astype(dtype) for key in own]


def listed(moved: Any) -> Buffers:
    """What a plan gives, as a list."""
    if moved is None:
        return []
    return moved if isinstance(moved, list) else [moved]


def same(found: Buffers, wanted: Buffers, what: str) -> None:
    assert len(found) == len(wanted), what
    for number, (one, other) in enumerate(zip(found, wanted, strict=True)):
        assert one.dtype == other.dtype, what
        np.testing.assert_array_equal(one, other, err_msg=f"{what}, buffer {number}")


def rubbish(like: Buffers) -> Buffers:
    """Memory of the same shapes that holds something else."""
    return [np.full_like(one, 77) for one in like]


def filled(case: oracle.Case, ids: Any, rank: int) -> Buffers:
    """A rank's buffers of a layout, filled from the whole array."""
    return of_rank(Dense(case).fill([ids]), rank, "float64")


def around(team: pt.Team, name: str) -> None:
    """From layout to layout around a ring; back again; and past every other one."""
    ring = families.family(name, team.size)
    whole = np.random.default_rng(len(ring)).integers(1, 1000, ring[0].shape)
    steps = [(generate.build(case), filled(case, whole, team.rank)) for case in ring]
    buffers = steps[0][1]
    for at in range(len(ring)):
        (before, first), (after, second), (later, third) = (
            steps[(at + k) % len(ring)] for k in range(3)
        )
        what = f"{before.notation} to {after.notation}"
        moved = listed(pt.plan(before, after).apply(buffers, team))
        same(moved, second, what)
        same(listed(pt.plan(after, before).apply(moved, team)), first, f"{what} and back")
        straight = listed(pt.plan(before, later).apply(buffers, team, rubbish(third)))
        detour = listed(pt.plan(after, later).apply(moved, team))
        same(straight, third, f"{what}, past it")
        same(detour, straight, f"{what}, then on")
        buffers = moved


@functools.cache
def generated(seed: int, n_ranks: int) -> Planned | None:
    """A pair of layouts on these ranks; none where the source lacks what the target holds."""
    source, target = families.fitting(seed, n_ranks, 2)
    wanted = {index for place in Dense(target).places for index in oracle.held_by(place)}
    if wanted - set(Dense(source).owner):
        return None
    return Planned(source, target, DTYPES[seed % len(DTYPES)])


def forward(team: pt.Team, found: Planned, seed: int) -> None:
    """Runs a plan from buffers with rubbish in their halos into buffers full of rubbish."""
    rng, dtype = np.random.default_rng(seed), found.plan.dtype
    summands = random_summands(rng, found.source)
    before = of_rank(source_data(rng, found.source, summands), team.rank, dtype)
    wanted = of_rank(target_data(found, summands), team.rank, dtype)
    kept = [one.copy() for one in before]
    same(listed(found.plan.apply(before, team)), wanted, "fresh target")
    out = rubbish(wanted)
    assert found.plan.apply(before, team, out) is out
    same(out, wanted, "given target")
    same(before, kept, "the source")


def backward(team: pt.Team, found: Planned, seed: int) -> tuple[float, float, list[list[float]]]:
    """Both sides of the dot test on this rank, and the adjoint's result."""
    rng, dtype = np.random.default_rng(seed + 1), found.plan.dtype
    x = of_rank(random_values(rng, found.source), team.rank, dtype)
    y = of_rank(random_values(rng, found.target), team.rank, dtype)
    there = listed(found.plan.apply(x, team))
    back = listed(found.plan.adjoint().apply(y, team, rubbish(x)))
    left = sum(float(np.vdot(a, b).real) for a, b in zip(there, y, strict=True))
    right = sum(float(np.vdot(a, b).real) for a, b in zip(x, back, strict=True))
    return left, right, [one.real.ravel().astype(float).tolist() for one in back]


def check_backward(found: Planned, seed: int, results: list[Any]) -> None:
    """The dot test over all ranks, and the serial reference on what they returned."""
    assert sum(left for left, _, _ in results) == sum(right for _, right, _ in results)
    rng = np.random.default_rng(seed + 1)
    random_values(rng, found.source)
    y = random_values(rng, found.target)
    back = {
        (rank, number): np.array(results[rank][2][number]).reshape(like.shape)
        for (rank, number), like in found.source.zeros().items()
    }
    check_serial_adjoint(found, y, back)


def seeds(first: int, count: int) -> range:
    return range(first, first + count)


def generated_pairs(team: pt.Team, first: int, count: int) -> list[Any]:
    """Generated plans forth and back; none where there is no plan."""
    results: list[Any] = []
    for seed in seeds(first, count):
        found = generated(seed, team.size)
        try:
            if found is not None:
                forward(team, found, seed)
            results.append(None if found is None else backward(team, found, seed))
        except BaseException as error:
            error.add_note(f"seed {seed} on {team.size} ranks")
            raise
    return results


def check_generated_pairs(results: list[list[Any]], first: int, count: int) -> None:
    n_plans = 0
    for at, seed in enumerate(seeds(first, count)):
        found = generated(seed, len(results))
        if found is None:
            continue
        n_plans += 1
        try:
            check_backward(found, seed, [one[at] for one in results])
        except BaseException as error:
            error.add_note(f"seed {seed} on {len(results)} ranks")
            raise
    assert 2 * n_plans > count


# What many ranks want whole, or in the same parts, and from where.
TO_MANY = {
    "from one": ("*, * @ 1x1", "*, * @ {n}x1"),
    "from the last": ("*, * @ 1x1 on {last}", "*, * @ {n}x1"),
    "rows": ("block, * @ {n}x1", "*, * @ {n}x1"),
    "dealt out rows": ("cyclic(3), * @ {n}x1", "*, * @ {n}x1"),
    "columns": ("*, block @ 1x{n}", "*, * @ {n}x1"),
    "some rows": ("*, block @ 1x{n}", "block+halo(2,1), * @ {half}x2"),
}


def part_of(whole: np.ndarray[Any, Any], layout: pt.Layout, rank: int) -> np.ndarray[Any, Any]:
    """What a rank holds of a matrix."""
    held = []
    for dim, length in enumerate(layout.local_shape(rank)):
        local = np.zeros((length, whole.ndim), dtype=np.int64)
        local[:, dim] = np.arange(length)
        held.append(layout.globalize(rank, local)[:, dim] if length else local[:, dim])
    return whole[np.ix_(*held)]


def to_many(team: pt.Team, name: str) -> None:
    """Much that many ranks want: ranks of a node may bring it to each other."""
    n = team.size
    shape = (60 * n + 7, 900)
    texts = [text.format(n=n, last=n - 1, half=max(n // 2, 1)) for text in TO_MANY[name]]
    if "x2" in texts[1] and n == 1:
        texts[1] = "block+halo(2,1), * @ 1x1"
    source, target = (pt.Layout(shape, text) for text in texts)
    plan = pt.plan(source, target)
    for turn in range(4):
        whole = np.random.default_rng(turn).random(shape)
        holds = team.rank in source.ranks
        mine = np.ascontiguousarray(part_of(whole, source, team.rank)) if holds else None
        wanted = None
        if team.rank in target.ranks:
            wanted = part_of(whole, target, team.rank)
        same(listed(plan.apply(mine, team)), listed(wanted), f"fresh, turn {turn}")
        if wanted is None:
            plan.apply(mine, team)
            plan.apply(mine, team)
            continue
        # Nobody else reaches NumPy's own memory; here some ranks' targets are such.
        own = np.full_like(wanted, 77.0) if team.rank % 3 == 1 else None
        for out in (own, np.asfortranarray(np.zeros_like(wanted))):
            given = team.empty(wanted.shape) if out is None else out
            plan.apply(mine, team, out=given)
            same([given], [wanted], f"given, turn {turn}")


CASES = [Case(f"to-many-{name}".replace(" ", "-"), to_many, (name,)) for name in TO_MANY]
CASES += [Case(f"around-{name}".replace(" ", "-"), around, (name,)) for name in families.FAMILIES]
CASES += [
    Case(
        f"generated-{first}", generated_pairs, (first, generate.n_cases(10)), check_generated_pairs
    )
    for first in (1000, 2000, 3000)
]
