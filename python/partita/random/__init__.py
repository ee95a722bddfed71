"""Random numbers that are the same on any number of ranks, in every layout, on every engine.

- `seeds`: where numbers begin, and who has used up which.
- `drawing`: arrays of random numbers, of which each rank fills its part.
- `continuous`: distributions of real numbers.
- `discrete`: distributions of whole numbers.
- `order`: choices, permutations.
- `vectors`: distributions of vectors.
- `rarer`: distributions that are made of others.
- `generator`: `Generator`, `default_rng`.
- `old`: `RandomState` and NumPy's old functions.

Each element is a function of the seed and of its position, so that no rank waits for another. They
are not NumPy's numbers. Ranks must draw in the same order, as they do everything else.

>>> import partita as pt
>>> def job(team):
...     return pt.random.default_rng(7).integers(10, size=4).gather().tolist()
>>> one, (two, three) = pt.spmd(job, 1)[0], pt.spmd(job, 2)
>>> one == two == three
True
"""

from typing import Any as _Any

from partita._missing import no_attribute as _no_attribute
from partita.random.generator import Generator, default_rng
from partita.random.old import *  # noqa: F403
from partita.random.old import __all__ as _old

__all__ = ["Generator", "default_rng", *_old]


# They make no numbers here; their seeds do.
_SEEDED = ("BitGenerator", "MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64", "SeedSequence")


def __getattr__(name: str) -> _Any:
    if name in _SEEDED:
        import numpy

        return getattr(numpy.random, name)
    raise _no_attribute("partita.random", name, __all__)
