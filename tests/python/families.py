"""Layouts for a given number of ranks, as cases of the oracle: listed ones, and from a seed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random

import generate
import oracle
from oracle import Case, Index


def block(
    p: int, rule: str | tuple[int, ...] = "first", halo: Index = (0, 0), periodic: bool = False
) -> oracle.Block:
    """A block map for a grid axis of p ranks, the same halo on each."""
    return oracle.Block(rule, ((halo[0], halo[1]),) * p, periodic)


WHOLE = oracle.Whole()


def on_grid(
    shape: Index,
    maps: Sequence[oracle.Map],
    grid: Index,
    ranks: Sequence[int] | None = None,
    partial: Index = (),
) -> oracle.Grid:
    """A layout on the first ranks, or on those given."""
    all_ranks = range(oracle.n_elements(grid)) if ranks is None else ranks
    return oracle.Grid(shape, tuple(maps), grid, tuple(all_ranks), partial)


def factors(n: int) -> tuple[int, int]:
    """Two numbers with the product n, as near as can be."""
    low = max(k for k in range(1, n + 1) if n % k == 0 and k * k <= n)
    return n // low, low


def uneven(extent: int, p: int) -> tuple[int, ...]:
    """Sizes with nothing on every other rank, and the rest on the last."""
    sizes = [0] * p
    for k in range(1, p, 2):
        sizes[k] = min(2, extent - sum(sizes))
    sizes[-1] += extent - sum(sizes)
    return tuple(sizes)


def dealt(extent: int, p: int) -> oracle.Lists:
    """Indices in no order, some ranks with few, some with many."""
    rng = Random(extent + p)
    lists: list[list[int]] = [[] for _ in range(p)]
    for index in rng.sample(range(extent), extent):
        lists[min(rng.randrange(p), rng.randrange(p))].append(index)
    return oracle.Lists(tuple(map(tuple, lists)))


def crumbs(extent: int, p: int, rest: Index = ()) -> oracle.Boxes:
    """Slabs of three that go around the ranks, several to a rank, the first of all empty."""
    boxes: list[list[oracle.Box]] = [[] for _ in range(p)]
    zeros = (0,) * len(rest)
    boxes[0].append(oracle.Box((0, *zeros), (0, *rest), (0, *zeros), (0, *rest)))
    for number, start in enumerate(range(0, extent, 3)):
        corner, lengths = (start, *zeros), (min(3, extent - start), *rest)
        boxes[-number % p].append(oracle.Box(corner, lengths, corner, lengths))
    return oracle.Boxes((extent, *rest), tuple(map(tuple, boxes)), tuple(range(p)))


def line(n: int, extent: int) -> list[Case]:
    """One dimension, every map, several lists of ranks."""
    shape, half = (extent,), range(n // 2, n)
    maps: list[oracle.Map] = [
        block(n),
        block(n, "last"),
        block(n, "ceil"),
        block(n, uneven(extent, n)),
    ]
    maps += [oracle.Cyclic(1), dealt(extent, n), oracle.Cyclic(3), block(n, "first", (2, 1))]
    cases: list[Case] = [on_grid(shape, [map_], (n,)) for map_ in maps]
    cases.append(on_grid(shape, [WHOLE], (n,)))
    cases.append(on_grid(shape, [block(n)], (n,), range(n)[::-1]))
    cases.append(on_grid(shape, [WHOLE], (1,), [n - 1]))
    cases.append(on_grid(shape, [oracle.Cyclic(2)], (len(half),), half))
    cases.append(crumbs(extent, n))
    cases.append(on_grid(shape, [block(n, "last", (1, 3), True)], (n,)))
    return cases


def sheet(n: int, shape: Index) -> list[Case]:
    """Two dimensions."""
    (p, q), (rows, columns) = factors(n), shape
    cases: list[Case] = [
        on_grid(shape, [block(n), WHOLE], (n, 1)),
        on_grid(shape, [WHOLE, block(n)], (1, n)),
        on_grid(shape, [oracle.Cyclic(2), oracle.Cyclic(3)], (p, q)),
        on_grid(shape, [block(q, "last"), block(p, "ceil")], (q, p)),
        on_grid(shape, [block(p, "first", (1, 2)), block(q, "last", (2, 1), True)], (p, q)),
        crumbs(rows, n, (columns,)),
        on_grid(shape, [dealt(rows, p), dealt(columns, q)], (p, q), range(n)[::-1]),
        on_grid(shape, [block(p), WHOLE], (p, q)),
        on_grid(shape, [WHOLE, WHOLE], (n, 1)),
    ]
    return cases


def cube(n: int, shape: Index) -> list[Case]:
    """Three dimensions."""
    p, q = factors(n)
    return [
        on_grid(shape, [block(n), WHOLE, WHOLE], (n, 1, 1)),
        on_grid(shape, [WHOLE, block(p), oracle.Cyclic(2)], (1, p, q)),
        on_grid(shape, [oracle.Cyclic(1), WHOLE, block(q, "last", (1, 1))], (p, 1, q)),
        on_grid(shape, [WHOLE, WHOLE, dealt(shape[2], n)], (n,)),
        crumbs(shape[0], n, shape[1:]),
        on_grid(shape, [block(p, "ceil", (1, 1)), block(q, "first", (1, 1)), WHOLE], (p, q, 1)),
    ]


def point(n: int) -> list[Case]:
    """No dimension: one element."""
    return [
        on_grid((), [], ()),
        on_grid((), [], (n,)),
        on_grid((), [], (1,), [n - 1]),
        oracle.Boxes((), ((oracle.Box((), (), (), ()),),), (0,)),
    ]


def family(name: str, n: int) -> list[Case]:
    """Layouts over one shape, for n ranks."""
    return {
        "line": lambda: line(n, 23),
        "few elements": lambda: line(n, 2),
        "one element": lambda: line(n, 1),
        "no elements": lambda: line(n, 0)[:-2],
        "sheet": lambda: sheet(n, (7, 10)),
        "thin sheet": lambda: sheet(n, (1, 3)),
        "empty sheet": lambda: sheet(n, (4, 0)),
        "cube": lambda: cube(n, (4, 5, 6)),
        "empty cube": lambda: cube(n, (3, 0, 5)),
        "point": lambda: point(n),
    }[name]()


FAMILIES = ["line", "few elements", "one element", "no elements", "sheet", "thin sheet"]
FAMILIES += ["empty sheet", "cube", "empty cube", "point"]


def movement(rng: Random, n_ranks: int) -> tuple[Case, Case]:
    """Two layouts for n ranks, mostly with several pieces to a rank; the first has all elements."""
    if rng.randrange(4) == 0:
        source, target = fitting(rng.randrange(2**32), n_ranks, 2)
        return (source, target) if has_all(source, target) else movement(rng, n_ranks)
    shape = any_shape(rng)
    source, target = (one_over(rng, shape, n_ranks) for _ in range(2))
    return (source, target) if has_all(source, target) else movement(rng, n_ranks)


def any_shape(rng: Random) -> Index:
    """Few elements, or now and then so many that a buffer has a page of its own."""
    if rng.randrange(12) == 0:
        return (rng.randint(600, 1500),)
    ndim = rng.choice([1, 1, 2, 2, 3])
    return tuple(rng.randint(1, [0, 40, 12, 6][ndim]) for _ in range(ndim))


def one_over(rng: Random, shape: Index, n_ranks: int) -> Case:
    """A layout over a shape that n ranks can hold."""
    if rng.randrange(3):
        return generate.in_pieces(rng, shape, rng.randint(1, n_ranks))
    case = generate.over(rng, shape)
    while len(case.ranks) > n_ranks:
        case = generate.over(rng, shape)
    return replace(case, ranks=tuple(rng.sample(range(n_ranks), len(case.ranks))))


def has_all(source: Case, target: Case) -> bool:
    """Whether every element that the target holds has an owner in the source."""
    owned = oracle.Dense(source).owner
    places = oracle.Dense(target).places
    return all(index in owned for place in places for index in oracle.held_by(place))


def fitting(seed: int, n_ranks: int, count: int) -> list[Case]:
    """Generated layouts over one shape that n ranks can hold, on any of them in any order."""
    rng = Random(seed)
    while True:
        cases = generate.several(rng.randrange(2**32), count)
        if all(len(case.ranks) <= n_ranks for case in cases):
            relabelled = [rng.sample(range(n_ranks), len(case.ranks)) for case in cases]
            return [
                replace(case, ranks=tuple(ranks))
                for case, ranks in zip(cases, relabelled, strict=True)
            ]
