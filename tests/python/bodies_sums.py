"""Bodies on halos, broadcasts, reductions and their adjoints, along grid axes and with roots."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import families
import generate
import numpy as np
import oracle
from bodies_moves import Buffers, backward, check_backward, filled, forward, listed, same
from bodies_refusals import attempt
from engines import Case
from families import WHOLE, block, on_grid
from oracle import Dense
from planned import Planned

import partita as pt

Pair = tuple[oracle.Case, oracle.Case]


def on_root(shape: oracle.Index, root: int) -> oracle.Grid:
    """Everything on one rank."""
    return on_grid(shape, [WHOLE] * len(shape), (1,) * len(shape), [root])


def rows(n: int, p: int, q: int, partial: oracle.Index = ()) -> oracle.Grid:
    """Rows of 7 x 3 over the first axis of a grid, copies or summands along the second."""
    return on_grid((7, 3), [block(p), WHOLE], (p, q), range(n), partial)


def first_column(p: int, q: int, root: int = 0) -> oracle.Grid:
    """The same rows on one column of that grid."""
    return on_grid((7, 3), [block(p), WHOLE], (p, 1), [k * q + root for k in range(p)])


def replicated(n: int, partial: oracle.Index = ()) -> oracle.Grid:
    return on_grid((11,), [WHOLE], (n,), range(n), partial)


def spread(n: int, rule: str | tuple[int, ...] = "first", halo: tuple[int, int] = (0, 0)) -> Any:
    return on_grid((11,), [block(n, rule, halo)], (n,))


def along_axes(n: int) -> dict[str, Pair]:
    """Movements along one axis of a grid of ranks."""
    p, q = families.factors(n)
    last = q - 1
    return {
        "broadcast along an axis": (first_column(p, q), rows(n, p, q)),
        "broadcast along an axis from the last": (first_column(p, q, last), rows(n, p, q)),
        "sum-reduce along an axis": (rows(n, p, q, (1,)), first_column(p, q)),
        "sum-reduce along an axis to the last": (rows(n, p, q, (1,)), first_column(p, q, last)),
        "all-sum-reduce along an axis": (rows(n, p, q, (1,)), rows(n, p, q)),
        "all-gather along an axis": (
            on_grid((7, 3), [block(p), block(q)], (p, q)),
            rows(n, p, q),
        ),
        "reduce-scatter along an axis": (
            rows(n, p, q, (1,)),
            on_grid((7, 3), [block(p), block(q, "last")], (p, q)),
        ),
        "summands kept, rows moved": (
            rows(n, p, q, (1,)),
            on_grid((7, 3), [oracle.Cyclic(2), WHOLE], (p, q), range(n), (1,)),
        ),
    }


def with_roots(n: int) -> dict[str, Pair]:
    """Movements over all ranks, or from and to one."""
    last, uneven = n - 1, spread(n, families.uneven(11, n))
    return {
        "broadcast": (on_root((11,), 0), replicated(n)),
        "broadcast from the last": (on_root((11,), last), replicated(n)),
        "sum-reduce": (replicated(n, (0,)), on_root((11,), 0)),
        "sum-reduce to the last": (replicated(n, (0,)), on_root((11,), last)),
        "all-sum-reduce": (replicated(n, (0,)), replicated(n)),
        "all-gather": (uneven, replicated(n)),
        "all-gather with halos": (spread(n, "first", (1, 2)), replicated(n)),
        "reduce-scatter": (replicated(n, (0,)), uneven),
        "reduce-scatter into halos": (replicated(n, (0,)), spread(n, "last", (1, 1))),
        "gather": (spread(n, "last"), on_root((11,), 0)),
        "gather to the last": (uneven, on_root((11,), last)),
        "scatter": (on_root((11,), 0), spread(n)),
        "scatter from the last": (on_root((11,), last), uneven),
        "one summand of many": (spread(n), replicated(n, (0,))),
        "a scalar": (on_grid((), [], (n,), range(n), (0,)), on_grid((), [], (n,))),
    }


def halos(n: int) -> dict[str, Pair]:
    """Layouts that a halo exchange fills."""
    p, q = families.factors(n)

    def line(*halo: int, periodic: bool = False, rule: Any = "first") -> oracle.Grid:
        return on_grid((13,), [block(n, rule, halo, periodic)], (n,))

    sheet = [block(p, "first", (1, 1)), block(q, "first", (1, 1))]
    torus = [block(p, "last", (1, 2), True), block(q, "ceil", (2, 1), True)]
    box: list[oracle.Map] = [block(p, "first", (2, 1)), block(q, "last", (0, 1)), WHOLE]
    cases = {
        "width one": line(1, 1),
        "one side": line(0, 2),
        "wider than the neighbour": line(6, 9),
        "wider than all": line(20, 20),
        "around": line(2, 1, periodic=True),
        "several times around": line(20, 30, periodic=True),
        "empty neighbours": line(2, 3, rule=families.uneven(13, n)),
        "corners": on_grid((6, 9), sheet, (p, q)),
        "corners around": on_grid((6, 9), torus, (p, q)),
        "three dimensions": on_grid((5, 6, 2), box, (p, q, 1)),
        "lists that share": on_grid((9,), [shared_lists(9, n)], (n,)),
    }
    return {name: (case, case) for name, case in cases.items()}


def shared_lists(extent: int, n: int) -> oracle.Lists:
    """Each rank lists its own indices and the first of its neighbour's."""
    parts = [list(range(k, extent, n)) for k in range(n)]
    shared = [[*parts[k], *parts[(k + 1) % n][:1]] if n > 1 else parts[k] for k in range(n)]
    return oracle.Lists(tuple(map(tuple, shared)))


MOVEMENTS: dict[str, Callable[[int], dict[str, Pair]]] = {
    "along-axes": along_axes,
    "with-roots": with_roots,
    "halos": halos,
}


def movements(team: pt.Team, kind: str) -> dict[str, Any]:
    """All movements of a kind, forth and back."""
    results = {}
    for seed, (name, pair) in enumerate(MOVEMENTS[kind](team.size).items()):
        found = Planned(*pair, dtype="float64")
        try:
            forward(team, found, seed)
            results[name] = backward(team, found, seed)
        except BaseException as error:
            error.add_note(name)
            raise
    return results


def returned_in_place(team: pt.Team) -> None:
    """Adjoints of halo exchanges in one buffer, in memory that others reach or do not."""
    for name, (case, _) in halos(team.size).items():
        layout = generate.build(case)
        exchange = pt.plan(layout, layout, "float64")
        back = exchange.adjoint()
        shape = layout.local_shape(team.rank)
        given = np.random.default_rng(team.rank).integers(-9, 9, shape).astype("float64")
        wanted = back.apply(given, team)
        shared = team.empty(shape, "float64")
        for buffer in (given.copy(), shared):
            buffer[...] = given
            told = attempt(partial(team.native.run_in_place, back, [buffer]))
            if told is None:
                np.testing.assert_array_equal(buffer, wanted, err_msg=name)
                again = back.apply(wanted, team)
                bound = back.bind(buffer, team, out=buffer)
                np.testing.assert_array_equal(bound.run(), again, err_msg=f"{name}, bound")
                continue
            if team.size == 1:
                bound_told = attempt(partial(back.bind, buffer, team, out=buffer))
                assert bound_told is not None
                assert bound_told[1] == "not-in-place", bound_told
            # Some rank's halo is a copy of its own elements.
            assert told[1] in ("not-in-place", "rank-raised"), told
            assert "around" in name, name
            assert name != "around" or team.size == 1, name


def check_movements(results: list[dict[str, Any]], kind: str) -> None:
    for seed, (name, pair) in enumerate(MOVEMENTS[kind](len(results)).items()):
        found = Planned(*pair, dtype="float64")
        try:
            check_backward(found, seed, [one[name] for one in results])
        except BaseException as error:
            error.add_note(name)
            raise


def in_place(team: pt.Team) -> None:
    """Halos fill in the array's own memory, again and again."""
    for name, (case, _) in halos(team.size).items():
        whole = np.random.default_rng(3).integers(1, 1000, case.shape)
        own, wanted = with_rubbish(case, whole, team.rank)
        array = pt.from_local(own, generate.build(case), team)
        for _ in range(2):
            assert array.exchange_halo() is array
            same(own, wanted, name)
        assert array.local is own[0]


def slabs(n: int) -> oracle.Boxes:
    """Two slabs of three to a rank, held with a margin of one where no other is its own."""
    margin, extent = int(n > 1), 6 * n
    boxes: list[list[oracle.Box]] = [[] for _ in range(n)]
    for number in range(2 * n):
        start, stop = max(0, 3 * number - margin), min(extent, 3 * number + 3 + margin)
        boxes[number % n].append(oracle.Box((start,), (stop - start,), (3 * number,), (3,)))
    return oracle.Boxes((extent,), tuple(map(tuple, boxes)), tuple(range(n))[::-1])


def in_place_boxes(team: pt.Team) -> None:
    """The same where a rank has several buffers."""
    case = slabs(team.size)
    whole = np.random.default_rng(1).integers(1, 1000, case.shape)
    own, wanted = with_rubbish(case, whole, team.rank)
    array = pt.from_local(own, generate.build(case), team)
    for _ in range(2):
        assert array.exchange_halo() is array
        same(own, wanted, "boxes")
    assert [piece.shape for piece, _ in array.pieces] == [one.shape for one in wanted]


def with_rubbish(case: oracle.Case, whole: Any, rank: int) -> tuple[Buffers, Buffers]:
    """A rank's buffers before and after the exchange."""
    wanted = filled(case, whole, rank)
    owned = [one.owned for one in Dense(case).by_rank[rank].buffers]
    return [np.where(mask, one, -5.0) for mask, one in zip(owned, wanted, strict=True)], wanted


def exchange_refreshes(team: pt.Team) -> None:
    """A stencil in place: every exchange sees what the neighbours have written since."""
    n, extent = team.size, 4 * team.size
    layout = pt.Layout((extent,), f"block+halo(1,1)+periodic @ {n}")
    array = pt.from_local(np.zeros(6), layout, team)
    serial = np.arange(float(extent)) ** 2
    array.owned[...] = serial[4 * team.rank : 4 * team.rank + 4]
    for _ in range(10):
        array.exchange_halo()
        array.owned[...] = array.local[2:] - array.local[:-2]
        serial = np.roll(serial, -1) - np.roll(serial, 1)
    same([array.owned.copy()], [serial[4 * team.rank : 4 * team.rank + 4]], "stencil")


def gather_and_back(team: pt.Team) -> None:
    """`Array.gather` and `redistribute` against slices written by hand."""
    n, whole = team.size, np.random.default_rng(9).random((9, 4))
    cuts = [9 * k // n for k in range(n + 1)]
    sizes = ",".join(str(stop - start) for start, stop in pairwise(cuts))
    layout = pt.Layout((9, 4), f"block({sizes}), * @ {n}x1")
    mine = whole[cuts[team.rank] : cuts[team.rank + 1]].copy()
    array = pt.from_local(mine, layout, team)
    same(listed(array.gather()), [whole], "gather")
    for root in {0, n - 1}:
        same(listed(array.gather(root)), [whole] if team.rank == root else [], "gather to root")
    turned = array.redistribute(pt.Layout((9, 4), f"*, cyclic @ 1x{n}"))
    same([turned.local], [whole[:, team.rank :: n]], "columns")
    out = np.zeros_like(mine)
    assert turned.redistribute(layout, out=out).local is out
    same([out], [mine], "and back")


def some_within_reach(team: pt.Team) -> None:
    """A rank's sums from buffers of which others can map some and not the rest."""
    n, extent = team.size, 8000
    line: list[list[tuple[tuple[int], tuple[int]]]] = [[((0,), (extent,))] for _ in range(n)]
    # Small memory cannot be mapped, whoever allocates it.
    line[0] = [((0,), (10,)), ((10,), (extent - 20,)), ((extent - 10,), (10,))]
    boxes = pt.Layout.from_boxes((extent,), line, ranks=list(range(n)))
    last = n - 1
    plan = pt.plan(pt.Layout((extent,), f"* @ 1 on {last}"), boxes, "float64")
    ones = np.ones(extent) if team.rank == last else None
    given = plan.apply(ones, team)
    same(listed(given), [np.ones(shape) for _, (shape,) in line[team.rank]], "copies")
    found = listed(plan.adjoint().apply(given, team))
    same(found, [np.full(extent, float(n))] if team.rank == last else [], "sums")


def sums_in_parts(team: pt.Team) -> None:
    """Sums that are large enough to be made in parts, which all then gather."""
    n, shape = team.size, (7, 5000)
    p, q = families.factors(n)
    pairs = [(f"*, * @ {n} partial 0", f"*, * @ {n}", range(n))]
    line = range(team.rank // q * q, team.rank // q * q + q)
    pairs += [(f"block, * @ {p}x1x{q} partial 2", f"block, * @ {p}x1x{q}", line)]
    for source, target, ranks in pairs:
        plan = pt.plan(pt.Layout(shape, source), pt.Layout(shape, target), "float64")
        mine = plan.source.local_shape(team.rank)
        given = [np.random.default_rng(rank).random(mine) for rank in range(n)]
        # One after the other, whichever way they travel.
        wanted = sum((given[rank] for rank in ranks[1:]), given[ranks[0]])
        for _ in range(4):
            same(listed(plan.apply(given[team.rank], team)), [wanted], source)
            back = listed(plan.adjoint().apply(given[team.rank], team))
            np.testing.assert_allclose(back[0], wanted, rtol=1e-15)
    staged = pt.plan(pt.Layout(shape, pairs[0][0]), pt.Layout(shape, pairs[0][1]), "float64")
    assert ("two stages" in staged.explain()) == (n > 2)
    plain = pt.plan(pt.Layout(shape, pairs[0][1]), pt.Layout(shape, pairs[0][1]), "float64")
    other = plain if team.rank == n - 1 else staged
    told = attempt(lambda: other.apply(given_to(staged, team), team))
    assert n == 1 or (told and told[1] == "plans-differ"), told


def one_and_all_in_parts(team: pt.Team) -> None:
    """What one rank gives all others, and their sum: between nodes both go through parts."""
    n, shape = team.size, (7, 5000)
    for root in {0, n - 1}:
        one = pt.Layout(shape, f"*, * @ 1x1 on {root}")
        given = [np.random.default_rng(rank).random(shape) for rank in range(n)]
        to_all = pt.plan(one, pt.Layout(shape, f"*, * @ 1x{n}"), "float64")
        summed = pt.plan(pt.Layout(shape, f"*, * @ 1x{n} partial 1"), one, "float64")
        wanted = sum(given[1:], given[0])
        is_root = team.rank == root
        for _ in range(4):
            own = given[root] if is_root else None
            same(listed(to_all.apply(own, team)), [given[root]], "to all")
            at_root = [wanted] if is_root else []
            same(listed(summed.apply(given[team.rank], team)), at_root, "the sum")
            same(listed(to_all.adjoint().apply(given[team.rank], team)), at_root, "back")
            same(listed(summed.adjoint().apply(own, team)), [given[root]], "back to all")


def given_to(plan: pt.Plan, team: pt.Team) -> Any:
    return np.zeros(plan.source.local_shape(team.rank))


CASES = [Case(kind, movements, (kind,), check_movements) for kind in MOVEMENTS]
CASES += [Case("in-place", in_place), Case("in-place-boxes", in_place_boxes)]
CASES += [Case("in-place-adjoint", returned_in_place)]
CASES += [Case("some-within-reach", some_within_reach), Case("sums-in-parts", sums_in_parts)]
CASES += [Case("one-and-all-in-parts", one_and_all_in_parts)]
CASES += [Case("exchange-refreshes", exchange_refreshes), Case("gather-and-back", gather_and_back)]
