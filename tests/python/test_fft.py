"""Fourier transforms beside NumPy's, on arrays that really lie on several ranks."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import bodies_fft
import engines
import numpy as np
import pytest
from bodies_fft import ONE_AXIS, SEVERAL, close, numbers
from places import Place, environments

import partita as pt

RANKS = [1, 2, 3, 4]


def on(n_ranks: int, body: Callable[..., Any], *args: Any) -> Any:
    """What a body returns on rank 0 of so many threads; gathering is no error where it is meant."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pt.GatherWarning)
        return pt.spmd(body, n_ranks, args)[0]


@pytest.mark.parametrize("n_ranks", RANKS)
@pytest.mark.parametrize("case", bodies_fft.CASES, ids=str)
def test_transforms_on_threads(case: engines.Case, n_ranks: int) -> None:
    on(n_ranks, case.body, *case.args)


def test_transforms_under_mpi() -> None:
    outcomes = engines.run(Place("mpi", 2, environments()), bodies_fft.UNDER_MPI)
    assert [one.failure for one in outcomes.values() if one.failure] == []


@pytest.mark.parametrize("name", ONE_AXIS)
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint64", "float32", "complex64"])
def test_types_are_numpys(name: str, dtype: str) -> None:
    x = numbers((6,), dtype)
    if name in ("rfft", "ihfft") and dtype == "complex64":
        with pytest.raises(TypeError, match="use fft"):
            getattr(pt.fft, name)(pt.asarray(x))
        return
    close(getattr(pt.fft, name)(pt.asarray(x)), getattr(np.fft, name)(x))


def test_numpys_functions_and_lists_and_out() -> None:
    x = numbers((4, 6), "complex128")
    a = pt.asarray(x)
    assert isinstance(np.fft.fft(a), pt.Array)
    close(np.fft.fft2(a), np.fft.fft2(x))
    close(pt.fft.fft([1.0, 2.0, 4.0]), np.fft.fft([1.0, 2.0, 4.0]))
    out = pt.zeros((4, 6), "complex128")
    assert pt.fft.fft(a, out=out) is out
    close(out, np.fft.fft(x))


def test_strange_numbers_stay_strange() -> None:
    x = np.array([1.0, np.nan, 2.0, np.inf])
    with np.errstate(invalid="ignore"):
        assert np.isnan(pt.fft.fft(pt.asarray(x)).gather()).all()
    zero = pt.fft.ifft(pt.fft.fft(pt.asarray([-0.0, 0.0])))
    np.testing.assert_array_equal(zero.gather(), [0, 0])


@pytest.mark.parametrize("name", [*ONE_AXIS, *SEVERAL])
def test_what_cannot_be_transformed_is_refused_on_every_rank(name: str) -> None:
    def body(team: pt.Team) -> None:
        function: Any = getattr(pt.fft, name)
        a = pt.ones((4, 6))
        with pytest.raises(ValueError, match="norm 'big'"):
            function(a, norm="big")
        with pytest.raises(ValueError, match="use 1 or more"):
            function(pt.ones((4, 0)))
        where = {"axis": 2} if name in ONE_AXIS else {"axes": (0, 2)}
        with pytest.raises(np.exceptions.AxisError):
            function(a, **where)
        with pytest.raises(ValueError, match="use 1 or more"):
            function(a, **({"n": 0} if name in ONE_AXIS else {"s": (2, 0), "axes": (0, 1)}))
        if name in SEVERAL:
            with pytest.raises(ValueError, match="give as many"):
                function(a, s=(2, 2, 2), axes=(0, 1))
        team.barrier()

    pt.spmd(body, 2)


def test_what_is_gathered_is_counted() -> None:
    def body(team: pt.Team) -> None:
        close(pt.fft.fft(pt.arange(13.0)), np.fft.fft(np.arange(13.0)))

    before = pt.gathers().get("fft", 0)
    with pytest.warns(pt.GatherWarning, match="fft brings all 13 elements"):
        pt.spmd(body, 2)
    assert pt.gathers()["fft"] == before + 1


def test_a_long_row_stays_cut_and_gathers_nothing() -> None:
    def body(team: pt.Team) -> list[int]:
        made = pt.fft.fft(pt.arange(120.0))
        assert made.layout.n_owned(team.rank) < 120
        pt.fft.fftn(pt.ones((6, 8)))
        return list(pt.gathers().values())

    before = list(pt.gathers().values())
    assert pt.spmd(body, 3)[0] == before


@pytest.mark.parametrize("dtype", ["complex128", "float32"])
def test_a_long_row_of_prime_length_gathers_nothing(dtype: str) -> None:
    x = numbers((4099,), dtype)

    def body(team: pt.Team) -> None:
        a = pt.asarray(x, "block")
        close(pt.fft.fft(a), np.fft.fft(x))
        close(pt.fft.ifft(a), np.fft.ifft(x))
        close(pt.fft.rfft(a.real), np.fft.rfft(x.real))

    before = pt.gathers()
    pt.spmd(body, 2)
    assert pt.gathers() == before


def test_blocks_of_rows_become_blocks_of_columns() -> None:
    def body(team: pt.Team) -> str:
        words: str = pt.fft.fft2(pt.ones((8, 8))).layout.notation
        return words.partition("@")[0].strip()

    assert pt.spmd(body, 2) == ["*, block(last)"] * 2


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies(n: int) -> None:
    close(pt.fft.fftfreq(n, 0.5), np.fft.fftfreq(n, 0.5))
    close(pt.fft.rfftfreq(n, d=2.0), np.fft.rfftfreq(n, 2.0))
    assert pt.fft.fftfreq(n, dtype=pt.float32).dtype == np.float32
    for wrong in (0, 1.5):
        with pytest.raises(ValueError, match="samples"):
            pt.fft.fftfreq(wrong)
