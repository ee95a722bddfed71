"""Arguments that NumPy takes in many forms, taken here as well, on any number of ranks."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy
import pytest

import partita as pt

# Its types are stricter than what tests give to it.
np: Any = numpy
RANKS = [1, 2, 3]


def same(found: Any, wanted: Any) -> None:
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(found.gather(), wanted)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_parameters_of_random_vectors_may_be_spread(n_ranks: int) -> None:
    def body(_: pt.Team) -> list[Any]:
        drawn = []
        for m in (pt, np):
            made: Any = pt.random.default_rng(1)
            drawn.append(
                [
                    made.multivariate_normal(m.zeros(3), m.eye(3), 2).gather(),
                    made.dirichlet(m.ones(3), 2).gather(),
                    made.multinomial(9, m.full(4, 0.25), 2).gather(),
                    made.choice(5, 4, p=m.full(5, 0.2)).gather(),
                    made.normal(m.arange(3.0), m.ones(3)).gather(),
                ]
            )
        for ours, theirs in zip(*drawn, strict=True):
            np.testing.assert_array_equal(ours, theirs)
        return drawn[0]

    first, *others = pt.spmd(body, n_ranks)
    for one in others:
        for ours, theirs in zip(first, one, strict=True):
            np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_ranges_are_operands(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        a, b = pt.ones((3, 4)), np.ones((3, 4))
        a[0], b[0] = range(4), range(4)
        a[:, 1:3], b[:, 1:3] = range(2), range(2)
        same(a, b)
        same(pt.ones(3) + range(3), np.ones(3) + range(3))
        same(range(3) - pt.ones(3, int), range(3) - np.ones(3, int))
        same(pt.sin(range(3)), np.sin(range(3)))
        same(pt.add(pt.ones(3), range(3)), np.add(np.ones(3), range(3)))
        same(pt.maximum(range(4), range(4, 0, -1)), np.maximum(range(4), range(4, 0, -1)))

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("n_ranks", RANKS)
def test_arrays_are_filled_with_rows(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        same(pt.full((2, 2), [1, 2]), np.full((2, 2), [1, 2]))
        same(pt.full((3, 2), np.array([1, 2])), np.full((3, 2), np.array([1, 2])))
        same(pt.full((5, 2), pt.arange(2.0)), np.full((5, 2), np.arange(2.0)))
        same(
            pt.full((4, 2), [[1], [2], [3], [4]], "f4"), np.full((4, 2), [[1], [2], [3], [4]], "f4")
        )
        same(pt.full(3, [7]), np.full(3, [7]))
        for dtype in (None, "i2"):
            ours = pt.full_like(pt.ones((5, 2)), [1.5, 2], dtype)
            same(ours, np.full_like(np.ones((5, 2)), [1.5, 2], dtype))
        same(pt.full_like(pt.ones(3), [1, 2], shape=(4, 2)), np.full((4, 2), [1.0, 2.0]))
        columns = pt.zeros((4, 6), layout="*, block")
        assert pt.full_like(columns, range(6)).layout == columns.layout
        with pytest.raises(ValueError, match="do not fit"):
            pt.full((2, 2), [1, 2, 3])
        with pytest.raises(ValueError, match="do not fit"):
            pt.full_like(columns, [1, 2])

    pt.spmd(body, n_ranks)


@pytest.mark.parametrize("how", ["raise", "call", "log"])
def test_errors_that_could_not_be_raised_are_refused(how: str) -> None:
    before = np.geterr()
    for call in (pt.errstate, pt.seterr):
        for name in ("all", "divide", "over", "under", "invalid"):
            with pytest.raises(NotImplementedError, match=f"{name}='{how}'.*isfinite"):
                call(**{name: how})
    assert np.geterr() == before


def test_other_ways_to_treat_errors_are_numpys() -> None:
    with pt.errstate(divide="ignore", invalid="warn"):
        assert pt.geterr() == np.geterr()
        assert np.geterr()["divide"] == "ignore"
        before = pt.seterr(over="print")
        assert np.geterr()["over"] == "print"
        pt.seterr(**before)

    @pt.errstate(divide="ignore")
    def quotient() -> Any:
        return np.ones(1) / np.zeros(1)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert quotient() == np.inf
    with pytest.raises(ValueError, match="loud"):
        pt.errstate(all="loud").__enter__()


def test_numpys_broadcast_is_named() -> None:
    with pytest.raises(pt.LayoutError, match="broadcast_shapes, broadcast_arrays") as refused:
        pt.broadcast(pt.ones((3, 1)), pt.ones(4))  # type: ignore[arg-type]
    assert refused.value.reason == "workers-type"


@pytest.mark.parametrize("n_ranks", RANKS)
def test_few_bounds_of_a_histogram_are_brought_without_a_word(n_ranks: int) -> None:
    def body(_: pt.Team) -> None:
        counts, bounds = pt.histogram(pt.arange(20.0), bins=pt.arange(9))
        wanted = np.histogram(np.arange(20.0), bins=np.arange(9))
        same(counts, wanted[0])
        np.testing.assert_array_equal(bounds.gather(), wanted[1])

    before = pt.gathers()
    with warnings.catch_warnings():
        warnings.simplefilter("error", pt.GatherWarning)
        pt.spmd(body, n_ranks)
    assert pt.gathers() == before


WRITERS: list[Callable[[Any, Any], Any]] = [
    lambda x, out: pt.sin(x, out=out),
    lambda x, out: pt.add(x, 1, out),
    lambda x, out: pt.sum(x, out=out),
    lambda x, out: x.cumsum(out=out),
    lambda x, out: pt.matmul(x, x, out=out),
    lambda x, out: pt.median(x, out=out),
]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("out", [5, [1.0, 2.0], "x"])
def test_what_is_no_array_is_not_written_to(write: Callable[[Any, Any], Any], out: Any) -> None:
    with pytest.raises(TypeError, match=re.escape(repr(out))):
        write(pt.ones(3), out)
