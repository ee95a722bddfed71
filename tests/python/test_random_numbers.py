"""Random numbers: the same on any number of ranks, and distributed as they should be."""

from __future__ import annotations

from typing import Any

import engines
import numpy as np
import pytest
from bodies_random_numbers import AGREED, CASES, DISTRIBUTIONS
from places import Place, environments

import partita as pt

MANY = 1000


@pytest.mark.parametrize("case", CASES, ids=str)
def test_any_number_of_ranks_finds_the_same(case: engines.Case) -> None:
    (wanted,) = pt.spmd(case.body, 1)
    assert wanted
    for n_ranks in (2, 3, 4):
        for found in pt.spmd(case.body, n_ranks):
            assert found == wanted


def test_processes_find_the_same() -> None:
    outcomes = engines.run(Place("mpi", 2, environments()), [*CASES, AGREED])
    assert [one.failure for one in outcomes.values() if one.failure] == []
    for case in CASES:
        (wanted,) = pt.spmd(case.body, 1)
        assert outcomes[case.name].results == [wanted] * 2


@pytest.mark.parametrize("n_ranks", [1, 3])
def test_without_a_seed_the_ranks_agree(n_ranks: int) -> None:
    pt.spmd(AGREED.body, n_ranks)


@pytest.mark.parametrize("name", sorted(DISTRIBUTIONS))
def test_means_and_deviations(name: str) -> None:
    numbers, mean, deviation = DISTRIBUTIONS[name]
    rng: Any = pt.random.default_rng(12)
    drawn = getattr(rng, name)(*numbers, size=MANY).gather()
    whole = name in ("binomial", "geometric", "poisson")
    assert drawn.dtype == (np.int64 if whole else np.float64)
    assert np.isfinite(drawn).all()
    if mean is None or deviation is None:
        assert abs(np.median(drawn)) < 0.2
        return
    assert abs(drawn.mean() - mean) < 5 * deviation / MANY**0.5
    assert abs(drawn.std() / deviation - 1) < 0.25


def test_types_and_out() -> None:
    rng = pt.random.default_rng(1)
    for draw in (rng.random, rng.standard_normal, rng.standard_exponential):
        single = draw(6, dtype=np.float32)
        assert single.dtype == np.float32
        assert isinstance(draw(), float)
        assert isinstance(draw(dtype=np.float32), np.float32)
        out = pt.zeros((2, 3))
        assert draw(out=out) is out
        assert (out.gather() != 0).all()
        with pytest.raises(TypeError, match="use float64 or float32"):
            draw(3, dtype=np.int64)
        with pytest.raises(ValueError, match="use its shape"):
            draw((3, 2), out=out)
    assert rng.standard_gamma(2.0, 3, dtype=np.float32).dtype == np.float32
    assert isinstance(rng.integers(3), int)
    assert rng.integers(3, size=2, dtype=np.uint8).dtype == np.uint8
    assert isinstance(rng.integers(3, dtype=np.uint8), np.uint8)


def test_ranges() -> None:
    rng = pt.random.default_rng(8)
    assert set(rng.integers(3, 6, 200).gather()) == {3, 4, 5}
    assert set(rng.integers(3, 6, 200, endpoint=True).gather()) == {3, 4, 5, 6}
    assert set(rng.integers(2, size=50, dtype=bool).gather()) == {False, True}
    drawn = rng.uniform(-1, 4, 300).gather()
    assert -1 <= drawn.min() < 0
    assert 3 < drawn.max() < 4
    assert set(rng.choice(5, 300, p=[0.5, 0, 0.25, 0.25, 0]).gather()) == {0, 2, 3}


@pytest.mark.parametrize("n", [0, 1, 2, 10, 5000])
def test_permutations_have_every_position_once(n: int) -> None:
    order = pt.random.default_rng(9).permutation(n).gather()
    np.testing.assert_array_equal(np.sort(order), np.arange(n))
    assert n < 10 or (order != np.arange(n)).any()


def test_lines_are_shuffled_apart() -> None:
    x = np.tile(np.arange(20), (6, 1))
    found = pt.random.default_rng(1).permuted(pt.asarray(x), axis=1).gather()
    np.testing.assert_array_equal(np.sort(found, axis=1), x)
    assert len({tuple(row) for row in found}) == 6


def test_seeds() -> None:
    def first(seed: Any) -> float:
        found: float = pt.random.default_rng(seed).random()
        return found

    assert first(1) == first(1) != first(2)
    assert first([1, 2]) == first(np.random.SeedSequence([1, 2]))
    one, two = pt.random.default_rng(1).spawn(2)
    again, _ = pt.random.default_rng(1).spawn(2)
    assert one.random() == again.random() != two.random()
    rng = pt.random.default_rng(5)
    assert pt.random.default_rng(rng) is rng
    state = rng.state
    once = rng.normal(size=3).tolist()
    rng.state = state
    assert rng.normal(size=3).tolist() == once
    assert len(rng.bytes(13)) == 13
    assert rng.bytes(0) == b""


def test_kinds_have_nothing_in_common() -> None:
    rng = pt.random.default_rng(5)
    a, b = rng.random(MANY).gather(), rng.standard_exponential(MANY).gather()
    assert abs(np.corrcoef(a, b)[0, 1]) < 0.15


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("poisson", ([0.5, 30.0, 4.0],)),
        ("binomial", ([3, 200, 0], [0.5, 0.25, 1.0])),
        ("gamma", ([0.5, 2.0, 9.0],)),
        ("beta", ([0.5, 2.0, 9.0], [0.25, 3.0, 1.0])),
        ("standard_t", ([0.5, 2.0, 9.0],)),
        ("chisquare", ([1, 2, 30],)),
        ("integers", ([-5, 0, 2**62 - 1], [-4, 10, 2**62 + 3])),
    ],
)
def test_parameters_of_each_element(name: str, numbers: Any) -> None:
    """An element is what its own parameters would have given in its place."""
    drawn = [
        getattr(pt.random.default_rng(3), name)(*one, size=(40, 3)).gather()
        for one in zip(*numbers, strict=True)
    ]
    wanted = np.stack([one[:, column] for column, one in enumerate(drawn)], axis=1)

    def body(team: pt.Team) -> None:
        for layout in ("block, *", "*, block", "cyclic, *"):
            ours = [pt.asarray(np.array(one), "block") for one in numbers]
            made = getattr(pt.random.default_rng(3), name)(*ours, size=(40, 3), layout=layout)
            np.testing.assert_array_equal(made.gather(), wanted)

    pt.spmd(body, 2)


def test_angles_have_widths_of_their_own() -> None:
    kappa = np.array([0.0, 2.0, 1e4, 1e8])
    made = pt.random.default_rng(6).vonmises(1.0, kappa, (MANY, 4)).gather()
    assert np.abs(made).max() <= np.pi
    # The mean of the cosines is a quotient of Bessel functions: I1(2) / I0(2) is 0.6978.
    cosines = np.cos(made - 1.0).mean(axis=0)
    np.testing.assert_allclose(cosines, [0.0, 0.6978, 1.0, 1.0], atol=5 / np.sqrt(MANY))
    np.testing.assert_allclose((made[:, 2:] - 1.0).std(axis=0), [1e-2, 1e-4], rtol=0.3)
    with pytest.raises(ValueError, match="kappa is out of range"):
        pt.random.default_rng(6).vonmises(0.0, [1.0, -1.0])


@pytest.mark.parametrize(
    ("name", "args", "words"),
    [
        ("normal", (0, -1), "scale is out of range"),
        ("gamma", (0.0,), "shape is out of range"),
        ("gamma", ([1.0, -1.0],), "shape is out of range"),
        ("beta", (1, -1), "b is out of range"),
        ("poisson", (-1,), "lam is out of range"),
        ("binomial", (5, 1.5), "p is out of range"),
        ("geometric", (0,), "p is out of range"),
        ("triangular", (1, 0, 2), "mode is out of range"),
        ("weibull", (0,), "a is out of range"),
        ("uniform", (0, np.inf), "finite"),
        ("uniform", (3, 1), "high is below low"),
        ("integers", (5, 5), "use an end above low"),
        ("integers", ([1, 2], [2, 2]), "high is out of range"),
        ("integers", (0, 300, 2, np.uint8), "wider type"),
        ("choice", (0, 2), "use 1 or more"),
        ("choice", (3, 4, False), "at most 3"),
        ("choice", (3, 4, True, [0.5, 0.5]), "one for each"),
        ("choice", (2, 4, True, [0.5, 0.6]), "of sum 1"),
        ("choice", (2, 2, False, [1.0, 0.0]), "fewer have a chance"),
        ("dirichlet", ([1, 0],), "positive"),
        ("multivariate_normal", ([1, 2], [[1, 0]]), "n times n"),
        ("random", (-1,), "negative"),
        ("normal", ([0, 1, 2], 1, 1), "use one that has them"),
    ],
)
def test_refusals_are_the_same_on_every_rank(name: str, args: Any, words: str) -> None:
    def body(team: pt.Team) -> None:
        rng = pt.random.default_rng(1)
        with pytest.raises((ValueError, OverflowError), match=words):
            getattr(rng, name)(*args)
        team.barrier()
        with pytest.raises(TypeError, match="no argument 'sizes'"):
            rng.random(3, sizes=2)

    pt.spmd(body, 2)


def test_parameters_of_ours_are_judged_together() -> None:
    def body(team: pt.Team) -> None:
        with pytest.raises(ValueError, match="scale is out of range"):
            pt.random.default_rng(1).normal(0, pt.asarray([1.0, 1.0, -1.0], "block"))
        team.barrier()

    pt.spmd(body, 3)


def test_covariances_that_are_none() -> None:
    rng = pt.random.default_rng(1)
    with pytest.warns(RuntimeWarning, match="not symmetric and positive"):
        rng.multivariate_normal([0, 0], [[1, 2], [2, 1]])
    with pytest.raises(ValueError, match="not symmetric and positive"):
        rng.multivariate_normal([0, 0], [[1, 2], [2, 1]], check_valid="raise")
    drawn = rng.multivariate_normal([3, 5], [[4, 1], [1, 2]], MANY).gather()
    np.testing.assert_allclose(drawn.mean(0), [3, 5], atol=0.3)
    np.testing.assert_allclose(np.cov(drawn.T), [[4, 1], [1, 2]], atol=0.8)
