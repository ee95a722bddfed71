"""Random numbers on every engine: what all ranks must find the same."""

from __future__ import annotations

from typing import Any

import numpy as np
from engines import Case
from generate import fitted

import partita as pt

# Distributions with parameters, and their mean and deviation where they have one.
DISTRIBUTIONS: dict[str, tuple[tuple[float, ...], float | None, float | None]] = {
    "beta": ((2.0, 3.0), 0.4, 0.2),
    "binomial": ((10, 0.3), 3.0, 2.1**0.5),
    "chisquare": ((3.0,), 3.0, 6**0.5),
    "exponential": ((2.0,), 2.0, 2.0),
    "gamma": ((2.0, 3.0), 6.0, 18**0.5),
    "geometric": ((0.4,), 2.5, (0.6**0.5) / 0.4),
    "gumbel": ((1.0, 2.0), 1 + 2 * 0.5772157, 2 * np.pi / 6**0.5),
    "laplace": ((1.0, 2.0), 1.0, 8**0.5),
    "logistic": ((1.0, 0.5), 1.0, 0.5 * np.pi / 3**0.5),
    "lognormal": ((0.0, 0.5), np.exp(0.125), ((np.exp(0.25) - 1) * np.exp(0.25)) ** 0.5),
    "normal": ((1.0, 2.0), 1.0, 2.0),
    "pareto": ((9.0,), 0.125, (9 / (64 * 7)) ** 0.5),
    "poisson": ((4.0,), 4.0, 2.0),
    "power": ((2.0,), 2 / 3, (1 / 18) ** 0.5),
    "rayleigh": ((2.0,), 2 * (np.pi / 2) ** 0.5, 2 * ((4 - np.pi) / 2) ** 0.5),
    "standard_cauchy": ((), None, None),
    "standard_exponential": ((), 1.0, 1.0),
    "standard_gamma": ((2.0,), 2.0, 2**0.5),
    "standard_normal": ((), 0.0, 1.0),
    "standard_t": ((6.0,), 0.0, 1.5**0.5),
    "triangular": ((0.0, 1.0, 2.0), 1.0, (1 / 6) ** 0.5),
    "uniform": ((1.0, 3.0), 2.0, 1 / 3**0.5),
    "weibull": ((1.0,), 1.0, 1.0),
}


def plain(found: Any) -> Any:
    return found.tolist() if isinstance(found, pt.Array) else found


def distributions(team: pt.Team) -> list[Any]:
    """One number, numbers, parameters that are lists and arrays of ours."""
    rng: Any = pt.random.default_rng(5)
    found = []
    for name, (numbers, _, _) in DISTRIBUTIONS.items():
        draw = getattr(rng, name)
        found += [draw(*numbers), draw(*numbers, size=(2, 3))]
        if numbers:
            found.append(draw(*([one] * 3 for one in numbers)))
            ours = [pt.asarray(np.full(3, one), "block") for one in numbers]
            found.append(draw(*ours, size=(2, 3), layout="*, block"))
    found += [
        rng.uniform(0, [1, 2]),
        rng.normal([[1], [2]], (1, 2, 3)),
        rng.gamma([1, 2], [[1.0], [2.0]]),
    ]
    found += [rng.binomial([4, 5], 0.5), rng.poisson(3, 2), rng.triangular(0, [1, 2], 3)]
    return [plain(one) for one in found]


def layouts(team: pt.Team) -> list[Any]:
    """The same elements wherever they go, and one behind the other."""
    shapes = [(7,), (3, 5), (4, 3, 2), (0, 3), (1,), (2, 0), ()]
    found: list[Any] = []
    for shape in shapes:
        wanted = pt.random.default_rng(1).standard_normal(shape).gather()
        for layout in ("block, *", "*, block", "cyclic, *", "*, *", "block(last), block"):
            where = fitted(layout, len(shape)) or None
            drawn = pt.random.default_rng(1).standard_normal(shape, layout=where)
            assert drawn.shape == shape
            np.testing.assert_array_equal(drawn.gather(), wanted)
        found.append(wanted.tolist())
    rng = pt.random.default_rng(2)
    parts = np.concatenate([rng.random(3).gather(), rng.random(4).gather()])
    np.testing.assert_array_equal(parts, pt.random.default_rng(2).random(7).gather())
    return found


def integers(team: pt.Team) -> list[Any]:
    rng = pt.random.default_rng(3)
    found = [
        rng.integers(10),
        rng.integers(5, 9, 20, endpoint=True),
        rng.integers(0, 2**64, 5, dtype=np.uint64),
        rng.integers(-(2**63), 2**63, 5),
        rng.integers(-128, 128, 6, dtype=np.int8),
        rng.integers(2, size=6, dtype=bool),
        rng.integers([1, 20, 300], [4, 25, 400]),
        rng.integers(0, pt.asarray([5, 6, 7], "block"), (2, 3)),
    ]
    return [plain(one) for one in found]


def order(team: pt.Team) -> list[Any]:
    """Choices, permutations and shuffles of arrays that are cut."""
    rng = pt.random.default_rng(4)
    chances = [0.1, 0.2, 0.0, 0.4, 0.3]
    x = pt.arange(12.0).reshape(4, 3) * 1
    found: list[Any] = [
        rng.choice(5),
        rng.choice(5, (2, 3)),
        rng.choice(5, 5, replace=False),
        rng.choice(5, 30, p=chances),
        rng.choice(5, 4, p=chances, replace=False),
        rng.choice(x, (2, 2)),
        rng.choice(x, 2, axis=1),
        rng.choice(x[:, 0]),
        rng.choice([2.5, 3.5], 3),
        rng.permutation(9),
        rng.permutation(x),
        rng.permutation(x, axis=1),
        rng.permuted(x),
        rng.permuted(x, axis=0),
        rng.permuted(x, axis=1),
        rng.permuted(x[:, 1], axis=0),
    ]
    rng.shuffle(x)
    rows = [10.0, 20.0, 30.0, 40.0]
    rng.shuffle(rows)
    own = np.arange(6).reshape(2, 3)
    rng.shuffle(own, axis=1)
    return [plain(one) for one in [*found, x, rows]] + [own.tolist()]


def vectors(team: pt.Team) -> list[Any]:
    rng = pt.random.default_rng(6)
    found: list[Any] = [rng.dirichlet([1.0, 2.0, 3.0], 4), rng.dirichlet([1.0, 2.0])]
    for method in ("svd", "eigh", "cholesky"):
        for size in (None, 5, (2, 3)):
            made = rng.multivariate_normal([1, 2], [[2, 1], [1, 3]], size, method=method)
            found.append(made)
    for layout in ("*, block", "cyclic, *"):
        made = rng.dirichlet([1.0, 2.0, 3.0], 4, layout=layout)
        assert made.layout.notation.startswith(layout)
        found.append(made)
        made = rng.multivariate_normal([1, 2], [[2, 1], [1, 3]], 4, layout=layout)
        assert made.layout.notation.startswith(layout)
        found.append(made)
    return [plain(one) for one in found]


def old(team: pt.Team) -> list[Any]:
    """The old functions, whose state each rank has for itself."""
    pt.random.seed(3)
    found = [pt.random.rand(2, 3), pt.random.randn(2), pt.random.randint(0, 5, (2, 2))]
    state = pt.random.get_state()
    once = plain(pt.random.normal(size=3))
    pt.random.set_state(state)
    assert plain(pt.random.normal(size=3)) == once
    twin = pt.random.RandomState(3)
    assert plain(twin.rand(2, 3)) == plain(found[0])
    return [*map(plain, found), once, list(pt.random.bytes(11)), pt.random.random()]


def unseeded(team: pt.Team) -> None:
    """Without a seed the ranks agree, and no two generators do."""
    own = pt.random.default_rng().random()
    other = pt.random.default_rng().random()
    assert len(set(team.allgather_data(own))) == 1
    assert own != other


CASES = [Case(one.__name__, one) for one in (distributions, layouts, integers, order, vectors, old)]
AGREED = Case("unseeded", unseeded)
