"""Transforms beside NumPy's, on every engine."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from engines import Case

import partita as pt

ONE_AXIS = ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"]
SEVERAL = ["fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"]
LAYOUTS = ["block, *", "*, block", "cyclic, *", "*, cyclic(2)", "*, *", "block(last), *"]


def numbers(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    made = rng.uniform(-3, 3, shape)
    if np.dtype(dtype).kind == "c":
        made = made + 1j * rng.uniform(-3, 3, shape)
    if np.dtype(dtype).kind == "u":
        made = abs(made)
    return made.astype(dtype)


def close(found: Any, wanted: Any) -> None:
    assert found.shape == wanted.shape, (found.shape, wanted.shape)
    assert found.dtype == wanted.dtype, (found.dtype, wanted.dtype)
    single = wanted.dtype in (np.float32, np.complex64)
    size = max(1.0, float(np.max(abs(wanted), initial=0)))
    np.testing.assert_allclose(
        found.gather(), wanted, rtol=0, atol=size * (3e-6 if single else 2e-14)
    )


def one_axis(team: pt.Team, layout: str) -> None:
    """Each axis of a table, longer and shorter than it is, in every norm."""
    for dtype in ("float64", "complex64"):
        x = numbers((5, 6), dtype)
        for name in ONE_AXIS:
            if name in ("rfft", "ihfft") and dtype == "complex64":
                continue
            a = pt.asarray(x, layout)
            for axis, n, norm in [
                (0, None, None),
                (1, 4, "ortho"),
                (-2, 9, "forward"),
                (1, 1, None),
            ]:
                wanted = getattr(np.fft, name)(x, n, axis, norm)
                close(getattr(pt.fft, name)(a, n, axis, norm), wanted)
            np.testing.assert_array_equal(a.gather(), x)


def several(team: pt.Team, layout: str) -> None:
    """Several axes, in any order, some of them."""
    for shape in [(4, 6), (3, 4, 5), (1, 7)]:
        x = numbers(shape, "float64")
        a = pt.asarray(x, layout)
        for name in SEVERAL:
            if name.startswith("irfft") and shape[-1] == 1:
                continue
            function, theirs = getattr(pt.fft, name), getattr(np.fft, name)
            close(function(a), theirs(x))
            close(
                function(a, s=(3, 5), axes=(1, 0), norm="ortho"), theirs(x, (3, 5), (1, 0), "ortho")
            )
            close(function(a, axes=(-1,)), theirs(x, axes=(-1,)))


def views(team: pt.Team) -> None:
    """Arrays that are not where new ones are: views, results, boxes of a few ranks."""
    x = numbers((8, 9), "float32")
    a = pt.zeros((8, 9), "float32")
    a[...] = x
    for ours, theirs in [
        (a[1:, ::2], x[1:, ::2]),
        (a.T, x.T),
        (a + a, x + x),
        (a[3:4], x[3:4]),
        (a[:, 2], x[:, 2]),
        (pt.zeros((0, 4)) + 1, np.zeros((0, 4)) + 1),
    ]:
        for axis in range(theirs.ndim):
            if theirs.shape[axis]:
                close(pt.fft.fft(ours, axis=axis), np.fft.fft(theirs, axis=axis))
                close(pt.fft.rfft(ours, axis=axis), np.fft.rfft(theirs, axis=axis))
    twice = a[:, :5] + 1
    close(pt.fft.fftn(twice, axes=(0, 1, 0)), np.fft.fftn(x[:, :5] + 1, axes=(0, 1, 0)))
    close(pt.fft.fftn(twice, axes=()), np.fft.fftn(x[:, :5] + 1, axes=()))
    np.testing.assert_array_equal(a.gather(), x)


def rows(team: pt.Team) -> None:
    """Rows that are cut: with factors, without, filled up, real and complex, there and back."""
    with warnings.catch_warnings():
        # Rows without large factors are gathered.
        warnings.simplefilter("ignore", pt.GatherWarning)
        for n in (1, 2, 7, 30, 144):
            for layout in ("block", "cyclic(3)", "*"):
                x = numbers((n,), "complex128")
                a = pt.asarray(x, layout)
                close(pt.fft.fft(a), np.fft.fft(x))
                close(pt.fft.ifft(pt.fft.fft(a)), x)
                close(pt.fft.fft(a, n=36, norm="ortho"), np.fft.fft(x, 36, norm="ortho"))
                real, b = x.real, pt.asarray(x.real.copy(), layout)
                close(pt.fft.rfft(b), np.fft.rfft(real))
                close(pt.fft.irfft(pt.fft.rfft(b), n), real)
                close(pt.fft.irfft(a, n=25), np.fft.irfft(x, n=25))
                close(pt.fft.hfft(a, n=24), np.fft.hfft(x, n=24))
                column = x.reshape(1, n, 1)
                close(pt.fft.fftn(a.reshape(1, n, 1)), np.fft.fftn(column))
                close(pt.fft.ifft(a.reshape(1, n, 1), axis=1), np.fft.ifft(column, axis=1))
    single = numbers((64,), "float32")
    close(pt.fft.fft(pt.asarray(single, "block")), np.fft.fft(single))


def shifts(team: pt.Team) -> None:
    x = numbers((5, 6), "float64")
    a = pt.asarray(x, "block, *")
    for axes in (None, 0, (1, 0)):
        close(pt.fft.fftshift(a, axes), np.fft.fftshift(x, axes))
        close(pt.fft.ifftshift(a, axes), np.fft.ifftshift(x, axes))
    close(pt.fft.fftfreq(9), np.fft.fftfreq(9))
    close(pt.fft.rfftfreq(9, 0.1), np.fft.rfftfreq(9, 0.1))


CASES = [
    *(Case(f"one-axis-{layout}", one_axis, (layout,)) for layout in LAYOUTS),
    *(Case(f"several-{layout}", several, (layout,)) for layout in LAYOUTS),
    Case("views", views),
    Case("rows", rows),
    Case("shifts", shifts),
]
UNDER_MPI = [case for case in CASES if "cyclic" not in case.name and "last" not in case.name]
