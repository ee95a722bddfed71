"""Small programs run with NumPy and with partita, and compared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy

import partita

# Their types are stricter than what tests give to them.
np: Any = numpy
pt: Any = partita
RANKS = [1, 3]

Work = Callable[[Any, Callable[..., Any]], Any]


def spread(x: Any) -> Any:
    """An array of partita of what NumPy makes, cut along its first dimension."""
    local = np.asarray(x)
    made = pt.asarray(local, "block" if local.ndim else None)
    made.sync()
    return made


def outcome(work: Work, module: Any, array: Callable[..., Any]) -> Any:
    """What a program makes with a module's functions: arrays of NumPy, or the kind of its error."""
    try:
        with np.errstate(all="ignore"):
            made = work(module, array)
    except (TypeError, ValueError, IndexError, OverflowError) as error:
        named = (np.exceptions.AxisError, np.linalg.LinAlgError)
        kinds = (*named, TypeError, ValueError, IndexError, OverflowError)
        return next(kind for kind in kinds if isinstance(error, kind))
    parts = made if isinstance(made, tuple) else (made,)
    return [one.gather() if isinstance(one, pt.Array) else np.asarray(one) for one in parts]


def check(works: dict[str, Work], n_ranks: int) -> None:
    """Compare programs with NumPy's results: shapes, types, elements and errors."""

    def body(_: Any) -> None:
        for name, work in works.items():
            found, wanted = outcome(work, pt, spread), outcome(work, np, np.asarray)
            if not isinstance(wanted, list) or not isinstance(found, list):
                assert found is wanted, name
                continue
            for one, other in zip(found, wanted, strict=True):
                assert (one.shape, one.dtype) == (other.shape, other.dtype), name
                np.testing.assert_allclose(one, other, rtol=1e-6, err_msg=name)

    pt.spmd(body, n_ranks)


def called(name: str, *given: Any, **options: Any) -> Work:
    """A program that calls a function, with arrays for those of NumPy."""

    def work(module: Any, array: Callable[..., Any]) -> Any:
        operands = [array(one) if isinstance(one, np.ndarray) else one for one in given]
        return getattr(module, name)(*operands, **options)

    return work


def written(work: Callable[..., None], x: Any) -> Work:
    """A program that writes to an array of what is given, and shows it."""

    def shown(module: Any, array: Callable[..., Any]) -> Any:
        made = array(np.array(x))
        work(made, array)
        return made

    return shown
