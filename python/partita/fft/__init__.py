"""Fourier transforms of arrays on any number of ranks, by the names of NumPy and the Array API.

- `transforms`: the functions.
- `lines`: one axis of an array after the other, each whole on some rank.
- `row`: one long row that is cut among the ranks.
- `frequencies`: what the entries of a transform belong to, and their order.

An axis that is cut among ranks is made whole by one redistribution. Of several axes those that are
whole come first, so that blocks of rows become blocks of columns once; the result stays where the
last axis was transformed. A row that is cut stays cut.

>>> import partita as pt
>>> def job(team):
...     wave = pt.sin(pt.arange(8.0) * (pt.pi / 4))
...     return abs(pt.fft.fft(wave)).round(3).tolist()
>>> pt.spmd(job, 2)[1]
[0.0, 4.0, 0.0, 0.0, 0.0, 0.0, 0.0, 4.0]
"""

from typing import NoReturn as _NoReturn

from partita._missing import no_attribute as _no_attribute
from partita.fft.frequencies import fftfreq, fftshift, ifftshift, rfftfreq
from partita.fft.transforms import (
    fft,
    fft2,
    fftn,
    hfft,
    ifft,
    ifft2,
    ifftn,
    ihfft,
    irfft,
    irfft2,
    irfftn,
    rfft,
    rfft2,
    rfftn,
)

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]


def __getattr__(name: str) -> _NoReturn:
    raise _no_attribute("partita.fft", name, __all__)
