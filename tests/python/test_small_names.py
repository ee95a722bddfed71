"""Polynomials, histograms of points, texts with gaps, and names that are not here."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy
import pytest

import partita

np: Any = numpy
pt: Any = partita
RANKS = [1, 2, 3, 4]


def same(found: Any, wanted: Any) -> None:
    wanted = np.asarray(wanted)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(found.gather(), wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("ranks", RANKS)
def test_polynomials_are_numpys(ranks: int) -> None:
    def body(_: partita.Team) -> None:
        p, q = np.array([1.0, -6.0, 11.0, -6.0]), np.array([2.0, 1.0])
        a, b = pt.asarray(p, "block"), pt.asarray(q, "block")
        same(pt.roots(a), np.roots(p))
        same(pt.poly(b), np.poly(q))
        same(pt.poly([[1.0, 2.0], [3.0, 4.0]]), np.poly([[1.0, 2.0], [3.0, 4.0]]))
        for name in ("polyadd", "polysub", "polymul"):
            ours, theirs = getattr(pt, name), getattr(np, name)
            same(ours(a, b), theirs(p, q))
            same(ours(a, [1, 2]), theirs(p, [1, 2]))
            same(ours([1, 2], [3, 4]), theirs([1, 2], [3, 4]))
        for found, wanted in zip(pt.polydiv(a, b), np.polydiv(p, q), strict=True):
            same(found, wanted)
        same(pt.polyder(a, 2), np.polyder(p, 2))
        same(pt.polyint(a), np.polyint(p))
        same(pt.polyint(a, 2, k=[1, 2]), np.polyint(p, 2, k=[1, 2]))

    pt.spmd(body, ranks)


@pytest.mark.parametrize("ranks", RANKS)
def test_histograms_of_points_are_numpys(ranks: int) -> None:
    rng = np.random.default_rng(4)
    x, y = rng.integers(0, 9, 60) / 2, rng.normal(size=60)
    x[7], weights = 99.0, rng.integers(1, 4, 60).astype(float)

    def body(_: partita.Team) -> None:
        a, b, w = (pt.asarray(one, "block") for one in (x, y, weights))
        edges = [0.0, 1.0, 2.5, 4.0]
        for options in (
            {},
            {"bins": 4},
            {"bins": [3, 5]},
            {"bins": edges},
            {"bins": [edges, 4], "range": [[0, 4], [-1, 1]]},
            {"bins": 3, "range": [[0, 4], [-1, 1]], "density": True},
        ):
            found, wanted = pt.histogram2d(a, b, **options), np.histogram2d(x, y, **options)
            for one, other in zip(found, wanted, strict=True):
                same(one, np.asarray(other))
        same(pt.histogram2d(a, b, 4, weights=w)[0], np.histogram2d(x, y, 4, weights=weights)[0])
        points = rng_points = np.stack([x, y, x - y], axis=1)
        for given in (pt.asarray(rng_points, "block, *"), pt.asarray(points, "*, block")):
            found, bounds = pt.histogramdd(given, (2, 3, 4))
            wanted, edges_wanted = np.histogramdd(points, (2, 3, 4))
            same(found, wanted)
            for one, other in zip(bounds, edges_wanted, strict=True):
                same(one, other)
        same(
            pt.histogramdd([[1.0, 2.0], [3.0, 4.0]])[0], np.histogramdd([[1.0, 2.0], [3.0, 4.0]])[0]
        )
        with pytest.raises(ValueError, match="rises"):
            pt.histogram2d(a, b, [3.0, 2.0, 1.0])
        with pytest.raises(ValueError, match="give one for each"):
            pt.histogramdd(given, (2, 3))

    pt.spmd(body, ranks)


@pytest.mark.parametrize("ranks", [1, 3])
def test_texts_with_gaps(ranks: int, tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("1,2,\n4,,6\n# end\n")
    words = tmp_path / "b.csv"
    words.write_text("a,b\n")

    def body(_: partita.Team) -> None:
        wanted = np.genfromtxt(path, delimiter=",")
        found = pt.genfromtxt(path, delimiter=",")
        np.testing.assert_array_equal(found.gather(), wanted)
        lines = path.read_text().splitlines()
        for text in (lines, iter(lines), io.StringIO(path.read_text())):
            np.testing.assert_array_equal(pt.genfromtxt(text, delimiter=",").gather(), wanted)
        rows = pt.loadtxt(io.StringIO("1 2\n3 4\n5 6"))
        np.testing.assert_array_equal(rows.gather(), [[1, 2], [3, 4], [5, 6]])
        with pytest.raises(TypeError, match="a int as file"):
            pt.loadtxt(3)
        filled = pt.genfromtxt(path, delimiter=",", filling_values=-1)
        assert filled.tolist() == [[1, 2, -1], [4, -1, 6]]
        with pytest.raises(TypeError, match="no numbers"):
            pt.genfromtxt(words, delimiter=",", dtype=None, encoding="utf-8")

    pt.spmd(body, ranks)


@pytest.mark.parametrize("ranks", [1, 3])
def test_functions_of_python(ranks: int) -> None:
    def body(_: partita.Team) -> None:
        larger = pt.frompyfunc(lambda a, b: a if a > b else b, 2, 1)
        assert larger(pt.arange(5), 2).tolist() == [2, 2, 2, 3, 4]
        pt.testing.assert_approx_equal(pt.asarray(0.12345677), 0.12345671, significant=6)
        with pytest.raises(AssertionError):
            pt.testing.assert_approx_equal(pt.asarray(0.1234), 0.1235, significant=6)

    pt.spmd(body, ranks)


@pytest.mark.parametrize("name", ["base", "data", "flags", "ctypes", "setflags", "dump"])
def test_what_arrays_have_not_says_what_to_use(name: str) -> None:
    array = pt.ones(3)
    assert not hasattr(array, name)
    assert getattr(array, name, 5) == 5
    with pytest.raises(AttributeError, match=f"no '{name}' here; use "):
        getattr(array, name)


def test_suggestions_do_not_mislead() -> None:
    with pytest.raises(AttributeError, match=r"use float64"):
        _ = pt.longdouble
    with pytest.raises(AttributeError, match=r"a\.gather\(\)"):
        _ = pt.busdaycalendar
    with pytest.raises(AttributeError, match=r"nearest is isnan"):
        _ = pt.isnat
    with pytest.raises(AttributeError, match="use state"):
        _ = pt.random.default_rng(3).bit_generator


@pytest.mark.parametrize("ranks", [1, 3])
def test_seeds_of_numpys_generators(ranks: int) -> None:
    def body(_: partita.Team) -> None:
        wanted = pt.random.default_rng(3).random(5).tolist()
        assert pt.random.Generator(pt.random.PCG64(3)).random(5).tolist() == wanted
        assert pt.random.default_rng(pt.random.SeedSequence(3)).random(5).tolist() == wanted
        assert pt.random.RandomState(pt.random.MT19937(3)).rand(5).tolist() == wanted
        assert pt.random.default_rng(np.random.Philox(3)).random(5).tolist() == wanted

    pt.spmd(body, ranks)


def test_wrong_arguments_are_numpys_errors() -> None:
    a = pt.ones(3)
    with pytest.raises(ValueError, match="negative size"):
        pt.eye(-1)
    for error in (TypeError, ValueError):
        with pytest.raises(error, match="no element type"):
            pt.zeros(3, dtype="foo")
        with pytest.raises(error, match="no element type"):
            pt.sum(a, dtype="bad")
    with pytest.raises(ValueError, match="give both"):
        pt.where(a, 1)


@pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")
@pytest.mark.parametrize("ranks", RANKS)
def test_what_numpy_still_takes(ranks: int) -> None:
    def body(_: partita.Team) -> None:
        x = np.random.default_rng(2).normal(size=(5, 2))
        y = np.random.default_rng(3).normal(size=(5, 3))
        a, b = pt.asarray(x, "block, *"), pt.asarray(y, "block, *")
        same(pt.cross(a, a[::-1]), np.cross(x, x[::-1]))
        same(pt.cross(a, b), np.cross(x, y))
        same(pt.cross(b, a), np.cross(y, x))
        for function, wanted in ((pt.tril, np.tril), (pt.triu, np.triu)):
            same(function(a[:, 0]), wanted(x[:, 0]))
            same(function(a[:, 0], 1), wanted(x[:, 0], 1))
        for given in (y, (10 * y).astype(int)):
            for options in ({}, {"stat_length": 2}):
                padded = pt.pad(pt.asarray(given, "block, *"), 2, "median", **options)
                same(padded, np.pad(given, 2, "median", **options))
        b[1].partition(1)
        assert b[1, 1].item() == sorted(y[1])[1]
        b[:, 2].partition(-1)
        assert b[-1, 2].item() == max(b[:, 2])
        with pytest.raises(TypeError, match="complex"):
            pt.interp(1j, [0, 1], [0, 1])
        assert pt.linalg.lstsq(b, b[:, 0])[2].dtype == np.linalg.lstsq(y, y[:, 0])[2].dtype

    pt.spmd(body, ranks)


def test_two_numbers_are_deprecated_as_in_numpy() -> None:
    with pytest.warns(DeprecationWarning, match="vectors of 3") as caught:
        pt.cross([1.0, 2.0], [3.0, 4.0])
    assert caught[0].filename == __file__


def test_warnings_point_at_the_users_line() -> None:
    def body(_: partita.Team) -> None:
        pt.linalg.eigh(pt.eye(70))
        pt.eye(70).tobytes()

    with pytest.warns(pt.GatherWarning) as caught:
        pt.spmd(body, 2)
    assert {one.filename for one in caught} == {__file__}
