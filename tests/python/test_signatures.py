"""What NumPy takes by keyword and by place is taken here, function by function."""

from __future__ import annotations

import inspect
from inspect import Parameter
from typing import Any

import numpy
import pytest

import partita

np: Any = numpy
pt: Any = partita
MODULES: dict[str, tuple[Any, Any]] = {
    "": (pt, np),
    "linalg.": (pt.linalg, np.linalg),
    "fft.": (pt.fft, np.fft),
    "random.": (pt.random, np.random),
    "Generator.": (pt.random.Generator, np.random.Generator),
}
# Keywords that say nothing here: classes of NumPy's that there are none of.
UNKNOWN = {"like", "subok"}
# Those whose second and third parameters are older here than NumPy's, and know both.
OWN_ORDER = {"asarray"}
# Their other parameters are taken by keyword and handed on.
BY_KEYWORD_ONLY = {"genfromtxt", "loadtxt", "savetxt"}


def functions() -> list[str]:
    found = []
    for module, (ours, theirs) in MODULES.items():
        for name in sorted(one for one in dir(theirs) if one in dir(ours) and hasattr(ours, one)):
            one = getattr(theirs, name)
            if name.startswith("_") or isinstance(one, type | np.ufunc) or not callable(one):
                continue
            if getattr(ours, name) is one or signature_of(one) is None:
                continue
            found.append(module + name)
    return found


def signature_of(function: Any) -> list[Parameter] | None:
    try:
        return list(inspect.signature(function).parameters.values())
    except ValueError:
        return None


def both(name: str) -> tuple[list[Parameter], list[Parameter]]:
    module, _, last = name.rpartition(".")
    ours, theirs = MODULES[f"{module}." if module else ""]
    found = [signature_of(getattr(one, last)) for one in (ours, theirs)]
    assert found[0] is not None
    assert found[1] is not None
    return found[0], found[1]


def test_there_are_functions_to_compare() -> None:
    assert len(functions()) > 250


@pytest.mark.parametrize("name", functions())
def test_keywords_are_numpys(name: str) -> None:
    ours, theirs = both(name)
    if any(one.kind is Parameter.VAR_KEYWORD for one in ours):
        return
    known = {one.name for one in ours if one.kind is not Parameter.POSITIONAL_ONLY}
    named = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
    wanted = {one.name for one in theirs if one.kind in named} - UNKNOWN
    missing = wanted - known
    assert not missing - ({"a"} if name in OWN_ORDER else set())


@pytest.mark.parametrize("name", sorted({*functions()} - OWN_ORDER - BY_KEYWORD_ONLY))
def test_places_are_numpys(name: str) -> None:
    ours, theirs = both(name)
    if any(one.kind is Parameter.VAR_POSITIONAL for one in ours):
        return
    by_place = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.POSITIONAL_ONLY)
    mine = [one for one in ours if one.kind in by_place]
    wanted = [one for one in theirs if one.kind in by_place and one.name != "device"]
    assert len(mine) >= len(wanted)
    for one, other in zip(mine, wanted, strict=False):
        named = other.kind is Parameter.POSITIONAL_OR_KEYWORD
        assert not named or one.name in (other.name, other.name.removeprefix("a_"))


RANKS = [1, 2, 3, 4]


def same(found: Any, wanted: Any) -> None:
    wanted = np.asarray(wanted)
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_allclose(found.gather(), wanted, rtol=1e-12, equal_nan=True)


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize("ranks", RANKS)
def test_masks_leave_elements_out(ranks: int) -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(-5, 5, (7, 6)).astype(float)
    x[rng.random(x.shape) < 0.2] = np.nan
    x[2] = np.nan
    mask = rng.random(x.shape) < 0.6
    mask[:, 1] = False
    whole = rng.integers(-5, 5, (7, 6))
    turned = np.nan_to_num(x) + 1j * whole

    def body(_: partita.Team) -> None:
        for layout in ("block, *", "*, block", "*, *"):
            a, m = pt.asarray(x, layout), pt.asarray(mask, layout)
            for name in ("nansum", "nanprod", "nanmean", "nanvar", "nanstd"):
                for axis in (None, 0, 1, (0, 1)):
                    for keepdims in (False, True):
                        ours, theirs = getattr(pt, name), getattr(np, name)
                        options = {"axis": axis, "keepdims": keepdims}
                        same(ours(a, where=m, **options), theirs(x, where=mask, **options))
            for given in (whole, turned, whole.astype(np.float32)):
                b = pt.asarray(given, layout)
                for name in ("var", "std", "mean", "nanvar", "nanmean"):
                    ours, theirs = getattr(pt, name), getattr(np, name)
                    found = ours(b, axis=0, where=m).gather()
                    wanted = theirs(given, axis=0, where=mask)
                    assert found.dtype == wanted.dtype
                    rtol = 1e-5 if given.dtype == np.float32 else 1e-12
                    np.testing.assert_allclose(found, wanted, rtol=rtol)
                for name in ("var", "std"):
                    middle = given.mean(axis=0, keepdims=True)
                    found = getattr(pt, name)(b, axis=0, mean=pt.asarray(middle))
                    wanted = getattr(np, name)(given, axis=0, mean=middle)
                    np.testing.assert_allclose(found.gather(), wanted, rtol=1e-5)
            for name in ("nanmin", "nanmax"):
                ours, theirs = getattr(pt, name), getattr(np, name)
                same(ours(a, axis=1, initial=1.0), theirs(x, axis=1, initial=1.0))
                begun = {"axis": 1, "initial": 1.0}
                same(ours(a, where=m, **begun), theirs(x, where=mask, **begun))
            same(pt.nansum(a, initial=3.0), np.nansum(x, initial=3.0))

    pt.spmd(body, ranks)


@pytest.mark.filterwarnings("ignore:.*:RuntimeWarning")
@pytest.mark.parametrize("ranks", RANKS)
def test_quantiles_with_weights(ranks: int) -> None:
    rng = np.random.default_rng(6)
    x = rng.integers(0, 9, (9, 5)).astype(float)
    weights = rng.integers(0, 4, x.shape) * 0.5
    weights[0] += 1
    holed = np.where(rng.random(x.shape) < 0.2, np.nan, x)
    how = {"method": "inverted_cdf"}

    def body(_: partita.Team) -> None:
        for layout in ("block, *", "*, block"):
            a, w, h = (pt.asarray(one, layout) for one in (x, weights, holed))
            for q in (0.3, [0.0, 0.25, 1.0]):
                for axis in (None, 0, 1):
                    same(
                        pt.quantile(a, q, axis=axis, weights=w, **how),
                        np.quantile(x, q, axis=axis, weights=weights, **how),
                    )
                    same(
                        pt.nanquantile(h, q, axis=axis, weights=w, **how),
                        np.nanquantile(holed, q, axis=axis, weights=weights, **how),
                    )
                same(
                    pt.quantile(h, q, axis=0, weights=w, **how),
                    np.quantile(holed, q, axis=0, weights=weights, **how),
                )
            row = weights[:, 0]
            same(
                pt.percentile(pt.asarray(x.astype(int), layout), 40, axis=0, weights=row, **how),
                np.percentile(x.astype(int), 40, axis=0, weights=row, **how),
            )
            with pytest.raises(ValueError, match="inverted_cdf"):
                pt.quantile(a, 0.5, weights=w)
            with pytest.raises(ValueError, match="below zero"):
                pt.quantile(a, 0.5, weights=-w, **how)
            with pytest.raises(ValueError, match="all zero"):
                pt.quantile(a, 0.5, weights=0 * w, **how)

    pt.spmd(body, ranks)


@pytest.mark.parametrize("ranks", RANKS)
def test_keywords_and_orders(ranks: int) -> None:
    def body(_: partita.Team) -> None:
        x = np.arange(12.0).reshape(4, 3)
        a = pt.asarray(x, "block, *")
        for order in ("C", "K", "A"):
            same(pt.zeros((3, 2), order=order), np.zeros((3, 2)))
            same(pt.ones(3, int, order), np.ones(3, int))
            same(pt.full(3, 2.5, None, order), np.full(3, 2.5))
            same(pt.full_like(a, 2.5, None, order), np.full_like(x, 2.5))
            same(pt.array(x, order=order), x)
            same(pt.asarray(x, order=order), x)
            same(a.copy(order), x)
            same(pt.copy(a, order), x)
            same(a.flatten(order), x.ravel())
        calls: list[Any] = [
            lambda: pt.zeros((3, 2), order="F"),
            lambda: pt.empty((3, 2), order="F"),
            lambda: pt.eye(3, order="F"),
            lambda: pt.asarray(x, order="F"),
            lambda: pt.array(x, order="F"),
            lambda: pt.zeros_like(a, order="F"),
            lambda: a.copy("F"),
            lambda: pt.copy(a, "F"),
        ]
        for call in calls:
            with pytest.raises(ValueError, match="transpose"):
                call()
        same(pt.asarray([1, 2], float, "C"), np.asarray([1, 2], float, "C"))
        same(pt.asarray([1, 2], "float32"), np.asarray([1, 2], "float32"))
        same(pt.eye(N=3, M=4, k=1), np.eye(N=3, M=4, k=1))
        same(pt.percentile(a, q=50), np.percentile(x, q=50))
        same(pt.clip(a=a, a_min=2, a_max=5), np.clip(a=x, a_min=2, a_max=5))
        same(pt.searchsorted(a=a[:, 0], v=[4.0]), np.searchsorted(a=x[:, 0], v=[4.0]))
        same(pt.vstack(tup=[a, a], dtype="float32"), np.vstack(tup=[x, x], dtype="float32"))
        same(pt.stack([a, a], 1, dtype="float32"), np.stack([x, x], 1, dtype="float32"))
        same(pt.stack([a, a], out=pt.empty((2, 4, 3))), np.stack([x, x]))
        same(pt.concat([a, a], 1), np.concatenate([x, x], 1))
        same(pt.arange(start=2, stop=7), np.arange(2, 7))
        same(pt.arange(stop=7), np.arange(7))
        same(pt.fft.fft(a=a, axis=0).real, np.fft.fft(a=x, axis=0).real)
        square = x[:3] + 10 * np.eye(3)
        same(pt.linalg.solve(a=square, b=x[0]), np.linalg.solve(a=square, b=x[0]))
        for axis in (0, -1):
            same(pt.linspace(a, 2 * a, 5, axis=axis), np.linspace(x, 2 * x, 5, axis=axis))
        found, step = pt.linspace(a[0], 7, 4, endpoint=False, retstep=True, dtype=int)
        wanted, steps = np.linspace(x[0], 7, 4, endpoint=False, retstep=True, dtype=int)
        same(found, wanted)
        same(step, steps)
        for axis in (0, 1):
            for ends in ([8.0, 32.0, 7.0], 64.0):
                found = pt.geomspace(a[0] + 1, ends, 4, axis=axis)
                same(found, np.geomspace(x[0] + 1, ends, 4, axis=axis))
        same(pt.geomspace(-a[0] - 1, -9.0, 3), np.geomspace(-x[0] - 1, -9.0, 3))
        same(pt.logspace(a[0], 3, 4, axis=1), np.logspace(x[0], 3, 4, axis=1))
        with pytest.raises(ValueError, match="cannot have 0"):
            pt.geomspace(a[0], 3, 4)
        with pytest.raises(ValueError, match="is a text"):
            pt.array("abc")
        same(pt.linspace(a[0], 7, 1), np.linspace(x[0], 7, 1))
        same(pt.linspace(a[0], 7, 0), np.linspace(x[0], 7, 0))

    pt.spmd(body, ranks)
