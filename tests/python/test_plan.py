"""Plans: run with NumPy against the oracle, counted by hand, named, drawn."""

from __future__ import annotations

import pickle
import re
import subprocess
import sys
from collections import Counter, defaultdict
from itertools import product
from random import Random
from xml.etree import ElementTree

import execute
import generate
import numpy as np
import oracle
import pytest
from oracle import Dense, Index, Values
from planned import (
    Planned,
    assert_same,
    check_serial_adjoint,
    random_summands,
    random_values,
    source_data,
    target_data,
)

import partita as pt

N_BYTES = 4
SEEDS = range(generate.n_cases(500))


def planned(seed: int) -> Planned | None:
    """The plan of a generated pair; none where the source lacks what the target holds."""
    source, target = generate.pair(seed)
    wanted = {index for place in Dense(target).places for index in oracle.held_by(place)}
    missing = wanted - set(Dense(source).owner)
    if missing:
        with pytest.raises(pt.LayoutError) as error:
            Planned(source, target)
        assert error.value.reason == "source-not-covering"
        return None
    return Planned(source, target)


def ranks_of(plan: pt.Plan) -> set[int]:
    return set(plan.source.ranks) | set(plan.target.ranks)


@pytest.mark.parametrize("seed", SEEDS)
def test_plans_agree_with_the_oracle(seed: int) -> None:
    found = planned(seed)
    if found is None:  # refused, rightly
        return
    check_data(found, seed)
    check_sides(found)
    check_totals(found)
    check_bound(found)
    check_adjoint(found, seed)
    check_values(found)


def check_data(found: Planned, seed: int) -> None:
    rng = np.random.default_rng(seed)
    summands = random_summands(rng, found.source)
    before = source_data(rng, found.source, summands)
    after = execute.run(found.plan, before, found.target.zeros())
    assert_same(after, target_data(found, summands))


def check_sides(found: Planned) -> None:
    """Givers and takers see the same moves, and `moves` is both without repetition."""
    plan = found.plan
    sent: Counter[tuple[object, ...]] = Counter()
    taken: Counter[tuple[object, ...]] = Counter()
    for rank in ranks_of(plan):
        sends, receives = plan.sends(rank), plan.receives(rank)
        assert all(move.source_rank == rank for move in sends)
        assert all(move.target_rank == rank for move in receives)
        others = [move for move in receives if move.source_rank != rank]
        assert list(map(words, plan.moves(rank))) == list(map(words, sends + others))
        sent.update(map(words, sends))
        taken.update(map(words, receives))
    assert sent == taken


def words(move: pt.Move) -> tuple[object, ...]:
    """Everything a move says, its positions sorted per dimension."""
    pairs = [
        tuple(sorted(zip(source.tolist(), target.tolist(), strict=True)))
        for source, target in zip(move.source_indices(), move.target_indices(), strict=True)
    ]
    ends = (move.source_rank, move.target_rank, move.source_buffer, move.target_buffer)
    assert move.n_bytes == move.n_elements * N_BYTES
    return (*ends, *pairs)


def check_totals(found: Planned) -> None:
    plan, source = found.plan, found.source
    recv: Counter[int] = Counter()
    n_kept = 0
    givers: defaultdict[tuple[int, int], int] = defaultdict(int)
    for place in found.target.places:
        for index, summand in product(oracle.held_by(place), found.summands_for(place)):
            if source.owns(place.rank, summand, index):
                n_kept += 1
                givers[place.rank, place.rank] += 1
            else:
                recv[place.rank] += 1
                if source.n_replicas == 1:
                    givers[owner_of_summand(source, summand, index), place.rank] += 1
    assert plan.n_ranks == len(ranks_of(plan))
    assert plan.bytes_moved == recv.total() * N_BYTES
    assert plan.bytes_kept == n_kept * N_BYTES
    assert plan.max_recv_bytes == max(recv.values(), default=0) * N_BYTES
    if source.n_replicas > 1:
        givers = defaultdict(int)
        for rank in plan.source.ranks:
            for move in plan.sends(rank):
                givers[rank, move.target_rank] += move.n_elements
    sent: Counter[int] = Counter()
    for (giver, taker), count in givers.items():
        sent[giver] += count if giver != taker else 0
    assert plan.n_moves == len(givers)
    assert plan.n_messages == sum(giver != taker for giver, taker in givers)
    assert plan.max_send_bytes == max(sent.values(), default=0) * N_BYTES
    assert plan.extra_bytes >= 0
    back = plan.adjoint()
    assert (back.n_messages, back.bytes_moved) == (plan.n_messages, plan.bytes_moved)
    assert (back.max_send_bytes, back.max_recv_bytes) == (
        plan.max_recv_bytes,
        plan.max_send_bytes,
    )


def owner_of_summand(dense: Dense, summand: int, index: Index) -> int:
    owners = [p.rank for p in dense.places if dense.owns(p.rank, summand, index)]
    assert len(owners) == 1
    return owners[0]


def check_bound(found: Planned) -> None:
    """No plan can move less than what ranks want and do not have."""
    plan, source = found.plan, found.source
    takers: defaultdict[Index, set[int]] = defaultdict(set)
    n_missing = 0
    for place in found.target.places:
        summands = found.summands_for(place)
        for index in set(oracle.held_by(place)):
            if summands:
                takers[index].add(place.rank)
            if len(summands) == 1:
                n_missing += not source.owns(place.rank, summands[0], index)
    assert plan.bytes_lower_bound <= plan.bytes_moved
    if found.is_paired or source.n_summands == 1:
        assert plan.bytes_lower_bound == n_missing * N_BYTES
        return
    # p - 1 transfers gather the summands on one rank, every other taker needs one more.
    least = 0
    for index, ranks in takers.items():
        rooted = any(index in oracle.owned_by(p) for p in source.places if p.rank in ranks)
        least += source.n_summands - 1 + len(ranks) - rooted
    assert plan.bytes_lower_bound <= least * N_BYTES


def check_adjoint(found: Planned, seed: int) -> None:
    """The dot test, exact in integers, and the sum written out in a loop."""
    rng = np.random.default_rng(seed + 1)
    plan, back = found.plan, found.plan.adjoint()
    assert (back.source, back.target) == (plan.target, plan.source)
    assert (back.combine, back.is_adjoint, plan.is_adjoint) == ("sum", True, False)
    x, y = random_values(rng, found.source), random_values(rng, found.target)
    forward = execute.run(plan, x, found.target.zeros())
    backward = execute.run(back, y, found.source.zeros())
    left = sum(int(np.vdot(forward[key], y[key])) for key in y)
    right = sum(int(np.vdot(x[key], backward[key])) for key in x)
    assert left == right
    check_serial_adjoint(found, y, backward)


def check_values(found: Planned) -> None:
    """Plans are values: equal, hashable, picklable, and named by a fingerprint."""
    plan, back = found.plan, found.plan.adjoint()
    again = pt.plan(*found.layouts, dtype="int32")
    other = pt.plan(*found.layouts, dtype="int64")
    assert (again, hash(again), again.fingerprint) == (plan, hash(plan), plan.fingerprint)
    assert back.adjoint() == plan
    assert len({plan, back, other}) == 3
    assert len({plan.fingerprint, back.fingerprint, other.fingerprint}) == 3
    assert re.fullmatch("[0-9a-f]{16}", plan.fingerprint)
    assert plan != found.layouts[0]
    for one in (plan, back):
        copy = pickle.loads(pickle.dumps(one))
        assert (copy, hash(copy), copy.fingerprint) == (one, hash(one), one.fingerprint)
        assert len(repr(one)) <= 80
        assert one.fingerprint in repr(one)


def test_most_pairs_have_plans() -> None:
    """Were all refused, the tests above would pass for nothing."""
    found = [planned(seed) for seed in range(200)]
    made = [one for one in found if one is not None]
    assert len(made) > 150
    assert {one.plan.combine for one in made} == {"copy", "sum"}
    assert {one.plan.pattern for one in made} >= {"local copy", "halo exchange", "redistribution"}
    ranks = [(set(one.plan.source.ranks), set(one.plan.target.ranks)) for one in made]
    assert any(a.isdisjoint(b) for a, b in ranks)
    assert any(a & b and a != b for a, b in ranks)


def whole_cases(count: int, n_cases: int) -> list[list[oracle.Case]]:
    """Layouts over one shape that sum nothing and leave no element without an owner."""
    found: list[list[oracle.Case]] = []
    seed = 10_000
    while len(found) < n_cases:
        cases = generate.several(seed, count)
        models = map(Dense, cases)
        n_elements = oracle.n_elements(cases[0].shape)
        if all(m.n_summands == 1 and len(m.owner) == n_elements for m in models):
            found.append(cases)
        seed += 1
    return found


@pytest.mark.parametrize("cases", whole_cases(2, generate.n_cases(150)))
def test_there_and_back_is_identity(cases: list[oracle.Case]) -> None:
    there, back = map(Dense, cases)
    a, b = map(generate.build, cases)
    rng = np.random.default_rng(17)
    summands = random_summands(rng, there)
    before = source_data(rng, there, summands)
    middle = execute.run(pt.plan(a, b), before, back.zeros())
    after = execute.run(pt.plan(b, a), middle, there.zeros())
    assert_same(after, there.fill(summands))


@pytest.mark.parametrize("cases", whole_cases(3, generate.n_cases(150)))
def test_a_detour_changes_nothing(cases: list[oracle.Case]) -> None:
    """A to B to C is A to C."""
    a, b, c = map(generate.build, cases)
    models = [Dense(case) for case in cases]
    rng = np.random.default_rng(17)
    before = source_data(rng, models[0], random_summands(rng, models[0]))
    straight = execute.run(pt.plan(a, c), before, models[2].zeros())
    middle = execute.run(pt.plan(a, b), before, models[1].zeros())
    assert_same(execute.run(pt.plan(b, c), middle, models[2].zeros()), straight)


@pytest.mark.parametrize("cases", whole_cases(3, generate.n_cases(50)))
def test_adjoints_take_the_detour_backwards(cases: list[oracle.Case]) -> None:
    """The adjoint of A to B to C is that of B to C, then that of A to B, up to replicas."""
    a, b, c = map(generate.build, cases)
    models = [Dense(case) for case in cases]
    y = random_values(np.random.default_rng(17), models[2])
    middle = execute.run(pt.plan(b, c).adjoint(), y, models[1].zeros())
    detour = execute.run(pt.plan(a, b).adjoint(), middle, models[0].zeros())
    straight = execute.run(pt.plan(a, c).adjoint(), y, models[0].zeros())
    assert by_index(models[0], detour) == by_index(models[0], straight)


def by_index(dense: Dense, values: Values) -> dict[Index, int]:
    """The values of each index, added up over all buffers."""
    sums: defaultdict[Index, int] = defaultdict(int)
    for place in dense.places:
        for number, buffer in enumerate(place.buffers):
            for position in buffer.positions():
                sums[buffer.index(position)] += int(values[place.rank, number][position])
    return dict(sums)


PATTERNS = [
    # shape, source, target, pattern, combine, messages, bytes (f64), lower bound
    ((8, 8), "block, * @ 2x1", "*, block @ 1x2", "redistribution", "copy", 2, 256, 256),
    ((12,), "block+halo(1,1) @ 3", "block+halo(1,1) @ 3", "halo exchange", "copy", 4, 32, 32),
    ((12,), "block+halo(1,1)+periodic @ 3", "=", "halo exchange", "copy", 6, 48, 48),
    ((12,), "block @ 3", "=", "local copy", "copy", 0, 0, 0),
    ((12,), "* @ 1", "* @ 4", "broadcast", "copy", 3, 288, 288),
    ((12,), "block @ 2x1", "block @ 2x3", "broadcast", "copy", 5, 240, 240),
    ((12,), "* @ 4 partial 0", "* @ 1", "sum-reduce", "sum", 3, 288, 288),
    ((12,), "* @ 4 partial 0", "* @ 4", "all-sum-reduce", "sum", 12, 1152, 576),
    ((12,), "block @ 4", "* @ 4", "all-gather", "copy", 12, 288, 288),
    ((12,), "* @ 4 partial 0", "block @ 4", "reduce-scatter", "sum", 12, 288, 288),
    ((12,), "block @ 2 on 0..2", "block @ 2 on 7..9", "redistribution", "copy", 2, 96, 96),
    ((12,), "block @ 2", "block @ 2 on 1,0", "redistribution", "copy", 2, 96, 96),
    ((), "", "@ 3", "broadcast", "copy", 2, 16, 16),
    ((0, 5), "block, * @ 2", "*, block @ 1x2", "redistribution", "copy", 0, 0, 0),
]


@pytest.mark.parametrize(
    ("shape", "source", "target", "pattern", "combine", "n_messages", "moved", "bound"), PATTERNS
)
def test_known_movements_have_names_and_numbers(
    shape: Index,
    source: str,
    target: str,
    pattern: str,
    combine: str,
    n_messages: int,
    moved: int,
    bound: int,
) -> None:
    first = pt.Layout(shape, source)
    plan = pt.plan(first, first if target == "=" else pt.Layout(shape, target))
    assert (plan.pattern, plan.combine, plan.dtype) == (pattern, combine, "float64")
    assert (plan.n_messages, plan.bytes_moved) == (n_messages, moved)
    assert plan.bytes_lower_bound == bound
    assert plan.predicted_seconds >= 0


ADJOINTS = [
    ("* @ 1", "* @ 4", "broadcast", "sum-reduce"),
    ("* @ 4 partial 0", "* @ 1", "sum-reduce", "broadcast"),
    ("* @ 4 partial 0", "* @ 4", "all-sum-reduce", "all-sum-reduce"),
    ("block @ 4", "* @ 4", "all-gather", "reduce-scatter"),
    ("block+halo(1,1) @ 3", "block+halo(1,1) @ 3", "halo exchange", "halo exchange"),
]


@pytest.mark.parametrize(("source", "target", "pattern", "back"), ADJOINTS)
def test_adjoints_have_names(source: str, target: str, pattern: str, back: str) -> None:
    plan = pt.plan(pt.Layout(12, source), pt.Layout(12, target))
    assert (plan.pattern, plan.adjoint().pattern) == (pattern, back)


def test_a_halo_exchange_touches_neighbours_only() -> None:
    layout = pt.Layout((12, 12), "block+halo(1,1), block+halo(1,1) @ 3x3")
    plan = pt.plan(layout, layout)
    partners = {move.source_rank for move in plan.receives(4)} - {4}
    assert partners == {0, 1, 2, 3, 5, 6, 7, 8}
    assert {move.source_rank for move in plan.receives(0)} == {0, 1, 3, 4}
    corner = next(move for move in plan.receives(4) if move.source_rank == 0)
    assert corner.n_elements == 1
    assert [at.tolist() for at in corner.source_indices()] == [[3], [3]]
    assert [at.tolist() for at in corner.target_indices()] == [[0], [0]]


@pytest.mark.parametrize("cases", whole_cases(2, 60))
def test_runs_are_the_indices(cases: list[oracle.Case]) -> None:
    source, target = map(generate.build, cases)
    plan = pt.plan(source, target)
    for rank in plan.source.ranks:
        for move in plan.sends(rank):
            for dim, runs in enumerate(move.runs):
                pairs = [pair for run in runs for pair in expanded(run)]
                assert [a for a, _ in pairs] == move.source_indices()[dim].tolist()
                assert [b for _, b in pairs] == move.target_indices()[dim].tolist()


def expanded(run: pt.Run) -> list[tuple[int, int]]:
    return [
        (
            run.source_start + sum(k * level[1] for k, level in zip(at, run.levels, strict=True)),
            run.target_start + sum(k * level[2] for k, level in zip(at, run.levels, strict=True)),
        )
        for at in product(*(range(level[0]) for level in run.levels))
    ]


CHILD = """
import sys
import partita as pt
for pair in sys.argv[1:]:
    source, target = pair.split(" to ")
    plan = pt.plan(pt.Layout((24, 10), source), pt.Layout((24, 10), target))
    print(plan.fingerprint, plan.adjoint().fingerprint)
"""

NAMED = [
    (source, target)
    for source in ["block, * @ 4x1", "cyclic(3), * @ 4x1", "*, block+halo(1,1) @ 1x4"]
    for target in ["*, block @ 1x4", "*, block @ 1x4 on 1,0,2,3", "*, block(last) @ 1x3"]
]


def test_fingerprints_are_the_same_in_every_process() -> None:
    here = []
    for source, target in NAMED:
        plan = pt.plan(pt.Layout((24, 10), source), pt.Layout((24, 10), target))
        here += [plan.fingerprint, plan.adjoint().fingerprint]
    assert len(set(here)) == len(here)
    pairs = [" to ".join(pair) for pair in NAMED]
    for seed in ("0", "1"):
        there = subprocess.run(
            [sys.executable, "-c", CHILD, *pairs],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        )
        assert there.stdout.split() == here


def test_explain_says_the_numbers() -> None:
    source = pt.Layout((1000, 300), "block, * @ 4x1")
    plan = pt.plan(source, pt.Layout((1000, 300), "*, cyclic(7) @ 1x4"), dtype="float32")
    text = plan.explain()
    assert str(plan) == text
    for fact in (
        plan.fingerprint,
        "float32",
        "1000x300",
        source.notation,
        plan.target.notation,
        f"moves {plan.n_moves}",
        f"messages {plan.n_messages}",
        plan.pattern,
        f"{plan.n_ranks} ranks",
        "must move",
        "extra memory",
        "predicted",
    ):
        assert fact in text
    assert "adjoint" not in text
    assert "adjoint" in plan.adjoint().explain()
    assert max(map(len, text.splitlines())) <= 100


def test_explain_says_bytes() -> None:
    """Below 1024 the numbers are exact, so they can be compared."""
    plan = pt.plan(pt.Layout(60, "block @ 3"), pt.Layout(60, "block(10,20,30) @ 3"), dtype="u8")
    text = plan.explain()
    assert f"must move {plan.bytes_lower_bound} B, moves {plan.bytes_moved} B" in text
    assert f"keeps {plan.bytes_kept} B" in text
    assert f"send {plan.max_send_bytes} B, receive {plan.max_recv_bytes} B" in text
    assert f"extra memory {plan.extra_bytes} B" in text


def test_lists_cost_a_directory() -> None:
    lists = pt.Layout(6, [pt.Unstructured([[0, 2, 4], [1, 3, 5]])], grid=2)
    others = pt.Layout(6, [pt.Unstructured([[5, 4, 3], [2, 1, 0]])], grid=2)
    plan = pt.plan(lists, others)
    assert plan.directory_messages > 0
    assert plan.directory_bytes > 0
    assert f"directory: {plan.directory_messages} messages" in plan.explain()
    blocks = pt.Layout(6, "block @ 2")
    plain = pt.plan(blocks, pt.Layout(6, "cyclic @ 2"))
    assert (plain.directory_messages, plain.directory_bytes) == (0, 0)
    assert "directory" not in plain.explain()


@pytest.mark.parametrize("cases", whole_cases(2, 40))
def test_drawings_are_well_formed(cases: list[oracle.Case]) -> None:
    source, target = map(generate.build, cases)
    forward = pt.plan(source, target)
    for plan in (forward, forward.adjoint()):
        root = ElementTree.fromstring(plan.draw())
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
        assert f"{plan.n_messages} messages" in str(texts[0])
        assert plan._repr_svg_() == plan.draw()


def test_a_million_ranks_have_a_drawing() -> None:
    shape = (100_000, 100_000)
    source = pt.Layout(shape, "block, block @ 1000x1000")
    plan = pt.plan(source, pt.Layout(shape, "cyclic(7), cyclic(3) @ 1000x1000"))
    assert plan.n_ranks == 10**6
    root = ElementTree.fromstring(plan.draw())
    assert "of 1000000 ranks" in "".join(root.itertext())


DTYPES = [
    ("f4", "float32", 4),
    ("f64", "float64", 8),
    ("<i2", "int16", 2),
    (np.float16, "float16", 2),
    (np.dtype("complex128"), "complex128", 16),
    (float, "float64", 8),
    (bool, "bool", 1),
    ("bf16", "bfloat16", 2),
    (None, "float64", 8),
]


@pytest.mark.parametrize(("dtype", "name", "n_bytes"), DTYPES, ids=str)
def test_dtypes_by_any_name(dtype: object, name: str, n_bytes: int) -> None:
    source, target = pt.Layout(10, "block @ 2"), pt.Layout(10, "block @ 2 on 1,0")
    plan = pt.plan(source, target, dtype)  # type: ignore[arg-type]
    assert (plan.dtype, plan.bytes_moved) == (name, 10 * n_bytes)


@pytest.mark.parametrize("seed", range(generate.n_cases(60)))
def test_huge_plans_add_up(seed: int) -> None:
    rng = Random(seed)
    extent = 2**63 - rng.randint(0, 5)

    def side() -> pt.Layout:
        map = rng.choice(
            [
                "block",
                "block(last)+halo(3,4)",
                "block+halo(2,5)+periodic",
                f"cyclic({2 ** rng.randint(0, 62)})",
                f"cyclic({3 * 2 ** rng.randint(0, 61)})",
            ]
        )
        return pt.Layout(extent, f"{map} @ {rng.randint(2, 12)}")

    source, target = side(), side()
    plan = pt.plan(source, target, "complex128")
    moves = [move for rank in target.ranks for move in plan.receives(rank)]
    crossing = [move for move in moves if move.source_rank != move.target_rank]
    held = sum(target.n_held(rank) for rank in target.ranks)
    assert sum(move.n_elements for move in moves) == held
    assert plan.bytes_moved == sum(move.n_bytes for move in crossing)
    assert plan.n_messages == len(crossing)
    assert plan.bytes_moved + plan.bytes_kept == held * 16
