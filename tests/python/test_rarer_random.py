"""Distributions made of others: as NumPy's in mean and spread, the same on any number of ranks."""

from __future__ import annotations

from typing import Any

import numpy
import pytest

import partita

np: Any = numpy
pt: Any = partita
CASES: list[tuple[str, tuple[Any, ...]]] = [
    ("f", (7, 12)),
    ("noncentral_chisquare", (3, 2.0)),
    ("noncentral_chisquare", (0.5, 2.0)),
    ("noncentral_chisquare", (2.0, 0.0)),
    ("noncentral_f", (5, 14, 1.5)),
    ("wald", (2.0, 3.0)),
    ("vonmises", (1.0, 2.0)),
    ("vonmises", (3.0, 0.5)),
    ("vonmises", (0.5, 0.0)),
    ("vonmises", (0.5, 2e6)),
    ("negative_binomial", (5, 0.3)),
    ("negative_binomial", (5, 1.0)),
    ("logseries", (0.7,)),
    ("zipf", (5.5,)),
    ("hypergeometric", (30, 20, 12)),
    ("hypergeometric", (5, 0, 3)),
    ("hypergeometric", (10**8, 10**8, 1000)),
    ("multinomial", (20, [0.2, 0.3, 0.5])),
    ("multinomial", (20, [1.0])),
]
IDS = [f"{name}{args}" for name, args in CASES]


@pytest.mark.parametrize(("name", "args"), CASES, ids=IDS)
def test_means_and_deviations(name: str, args: tuple[Any, ...]) -> None:
    n = 100_000
    found = getattr(pt.random.default_rng(11), name)(*args, n).gather()
    wanted = getattr(np.random.default_rng(12), name)(*args, n)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    error = 6 * wanted.std(axis=0) / np.sqrt(n) + 1e-12
    assert np.all(abs(found.mean(axis=0) - wanted.mean(axis=0)) < 2 * error)
    np.testing.assert_allclose(found.std(axis=0), wanted.std(axis=0), rtol=0.08, atol=1e-12)
    shares = np.linspace(0.1, 0.9, 9)
    span = wanted.max() - wanted.min() if wanted.dtype.kind == "f" else 0
    apart = abs(np.quantile(found, shares, axis=0) - np.quantile(wanted, shares, axis=0))
    assert np.all(apart <= np.maximum(1 if wanted.dtype.kind == "i" else 0, 0.02 * span))


@pytest.mark.parametrize(("name", "args"), CASES, ids=IDS)
def test_any_number_of_ranks_finds_the_same(name: str, args: tuple[Any, ...]) -> None:
    def body(_: partita.Team) -> Any:
        draw = getattr(pt.random.default_rng(5), name)
        one = draw(*args)
        rest = draw(*args, size=(3, 4)), draw(*args, size=(5,), layout="*"), draw(*args, size=0)
        return [one.tolist() if hasattr(one, "tolist") else one, *(a.tolist() for a in rest)]

    wanted = pt.spmd(body, 1)[0]
    assert np.ndim(wanted[0]) == (name == "multinomial")
    for ranks in (2, 3, 4):
        assert pt.spmd(body, ranks) == [wanted] * ranks


def test_parameters_may_be_arrays() -> None:
    def body(_: partita.Team) -> Any:
        rng, a = pt.random.default_rng(5), pt.asarray([2.0, 30.0], "block")
        made = [
            rng.f(a, [5, 6]),
            rng.wald(a, 1.0, (3, 2)),
            rng.negative_binomial(a, [0.2, 0.9]),
            rng.zipf(a),
            rng.logseries(a / 40),
            rng.noncentral_chisquare(a, 1.0),
            rng.multinomial([3, 50], [0.5, 0.5]),
            rng.vonmises(a, 1.0),
        ]
        return [one.tolist() for one in made]

    one, two = pt.spmd(body, 1)[0], pt.spmd(body, 2)[1]
    assert one == two
    assert [sum(row) for row in one[6]] == [3, 50]
    assert np.shape(one[1]) == (3, 2)


@pytest.mark.parametrize("ranks", [1, 3])
def test_refusals(ranks: int) -> None:
    def body(_: partita.Team) -> None:
        rng = pt.random.default_rng(5)
        calls: list[Any] = [
            lambda: rng.f(0, 1),
            lambda: rng.wald(-1, 1),
            lambda: rng.zipf(1.0),
            lambda: rng.logseries(1.0),
            lambda: rng.vonmises(0.0, -1.0),
            lambda: rng.vonmises(0.0, [1.0, -2.0]),
            lambda: rng.hypergeometric(3, 4, 8),
            lambda: rng.hypergeometric([3, 4], 4, 2),
            lambda: rng.negative_binomial(0, 0.5),
            lambda: rng.multinomial(5, [0.9, 0.9, 0.1]),
            lambda: rng.multinomial(5, 0.5),
        ]
        for call in calls:
            with pytest.raises(ValueError, match=r"use|draw"):
                call()

    pt.spmd(body, ranks)


def test_old_functions_have_them() -> None:
    pt.random.seed(3)
    assert pt.random.multinomial(5, [0.5, 0.5]).sum().item() == 5
    assert pt.random.zipf(3.0, 4).shape == (4,)


@pytest.mark.parametrize("ranks", [1, 3])
def test_rows_of_chances_and_choices_of_nothing(ranks: int) -> None:
    rows = np.array([[0.5, 0.5, 0.0], [0.1, 0.2, 0.7], [1.0, 0.0, 0.0]])

    def body(_: Any) -> Any:
        rng = pt.random.default_rng(3)
        made = rng.multinomial([[10_000], [20_000]], rows).gather()
        assert made.shape == (2, 3, 3)
        np.testing.assert_array_equal(made.sum(axis=-1), [[10_000] * 3, [20_000] * 3])
        np.testing.assert_allclose(made / made.sum(axis=-1, keepdims=True), [rows] * 2, atol=0.03)
        with pytest.raises(ValueError, match="shape"):
            rng.multinomial(5, rows, size=(2,))
        shapes = [rng.choice(0, 0).shape, rng.choice(0, (0, 3)).shape, rng.choice([], 0).shape]
        assert [*shapes, rng.choice(pt.zeros((0, 3)), 0).shape] == [(0,), (0, 3), (0,), (0, 3)]
        return made.tolist()

    assert pt.spmd(body, ranks)[0] == pt.spmd(body, 1)[0]


@pytest.mark.parametrize("ranks", [1, 3])
def test_samples_of_several_colors(ranks: int) -> None:
    colors = np.array([16, 0, 8, 4, 12])

    def body(_: Any) -> Any:
        rng = pt.random.default_rng(5)
        made = rng.multivariate_hypergeometric(colors, 10, 20_000).gather()
        assert (made.shape, made.dtype) == ((20_000, 5), np.int64)
        assert (made.sum(axis=1) == 10).all()
        assert (made >= 0).all()
        assert (made <= colors).all()
        share = colors / 40
        np.testing.assert_allclose(made.mean(axis=0), 10 * share, atol=0.05)
        wanted = 10 * share * (1 - share) * 30 / 39
        np.testing.assert_allclose(made.var(axis=0), wanted, atol=0.08)
        whole = rng.multivariate_hypergeometric(pt.asarray(colors), 40).gather()
        np.testing.assert_array_equal(whole, colors)
        shapes = [rng.multivariate_hypergeometric([3], 2, (2, 3)), made[:0]]
        assert [one.shape for one in shapes] == [(2, 3, 1), (0, 5)]
        for wrong in (([3, -1], 1), ([3, 4], 8), ([0.5], 0), (3, 1), ([3, 4], 2, None, "other")):
            with pytest.raises(ValueError, match=r"use|must be|outside"):
                rng.multivariate_hypergeometric(*wrong)
        return made.tolist()

    assert pt.spmd(body, ranks)[0] == pt.spmd(body, 1)[0]
