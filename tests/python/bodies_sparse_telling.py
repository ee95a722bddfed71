"""Bodies of tests of what one rank alone has wrong: the others are told, and all are in step."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sparse_cases import raised

import partita as pt
import partita.sparse as ps
from partita.sparse import DistTensor

# What the last rank does otherwise than the others: it gets True.
Work = Callable[[bool], Any]
Error = type[BaseException]

linalg: Any = ps.linalg
untyped: Any = ps


def _square() -> Any:
    return ps.random_array((6, 6), density=0.9, rng=1)


def _told(team: pt.Team, work: Work, kind: Error, words: str) -> None:
    """All ranks have the last one's error, or are told of it, and then are in step."""
    is_last = team.rank == team.size - 1

    def met() -> None:
        work(is_last)
        team.barrier()

    said = raised(met, kind, pt.RemoteError)
    assert words in said, said
    team.barrier()
    # Nothing is left that one rank alone would compute.
    assert (pt.ones(4, team=team) * 2).sum().item() == 8


def _differ(team: pt.Team, work: Work) -> None:
    is_last = team.rank == team.size - 1 and team.size > 1
    if team.size == 1:
        work(is_last)
        return
    raised(lambda: work(is_last), pt.MismatchError)
    team.barrier()


def types_of_sums(team: pt.Team) -> None:
    """Sums in different types are not added."""
    for layout in ("block, *", "*, block", "*, *"):
        t = _square().redistribute(layout=layout)
        for axis in (None, 0, 1):
            for name in ("sum", "mean"):

                def work(is_last: bool, name: str = name, axis: Any = axis, t: Any = t) -> None:
                    found = getattr(t, name)(axis=axis, dtype="i8" if is_last else "f8")
                    np.asarray(found.gather() if axis is not None else found)
                    team.barrier()

                _differ(team, work)


def _folder(team: pt.Team) -> Path:
    return Path(team.broadcast_data(tempfile.mkdtemp() if team.rank == 0 else None))


def options_of_files(team: pt.Team) -> None:
    """No file is written by ranks that want different ones."""
    folder = _folder(team)
    if team.size == 1:
        return
    t = _square()
    options: list[dict[str, Any]] = [
        {"precision": 3},
        {"field": "integer"},
        {"symmetry": "general"},
        {"comment": "of one rank"},
    ]
    for one in options:

        def write(is_last: bool, one: Any = one) -> None:
            ps.mmwrite(folder / "m", t, **one if is_last else {})

        _differ(team, write)
        assert os.listdir(folder) == []
        team.barrier()
    # What says the same is the same.
    untyped.mmwrite(folder / "m", t, comment=None if team.rank else "")


def files(team: pt.Team) -> None:
    """What is no file or no matrix is refused on one rank."""
    folder = _folder(team)
    t, cube = _square(), DistTensor.from_dense(np.ones((2, 2, 2)))
    ps.mmwrite(folder / "m", t)
    ps.save_npz(folder / "m", t)
    market, archive = folder / "m.mtx", folder / "m.npz"
    for odd in (3, None):
        works: list[Work] = [
            lambda is_last, odd=odd: untyped.mmwrite(odd if is_last else market, t),  # type: ignore[misc]
            lambda is_last, odd=odd: untyped.save_npz(odd if is_last else archive, t),  # type: ignore[misc]
            lambda is_last, odd=odd: untyped.mmread(odd if is_last else market),  # type: ignore[misc]
            lambda is_last, odd=odd: untyped.load_npz(odd if is_last else archive),  # type: ignore[misc]
        ]
        for work in works:
            _told(team, work, TypeError, "as file; use a path")
    _told(team, lambda is_last: untyped.mmwrite(market, 3 if is_last else t), ValueError, "a int")
    _told(team, lambda is_last: untyped.save_npz(archive, 3 if is_last else t), TypeError, "a int")
    box: Work = lambda is_last: ps.mmwrite(market, cube if is_last else t)  # noqa: E731
    _told(team, box, ValueError, "shape (2, 2, 2)")


class _Own(Exception):
    """A user's error."""


def solvers(team: pt.Team) -> None:
    """What a preconditioner or an operator raises on one rank, with and without a whole step."""
    a, b = ps.eye(6) * 2, np.ones(6)
    starts = np.eye(6)[:, :2]
    is_last = team.rank == team.size - 1

    def own(x: Any) -> Any:
        if is_last:
            raise _Own("mine")
        return x

    operator = linalg.LinearOperator((6, 6), own, own, own, float, own)
    works: list[Callable[[], Any]] = []
    for solve in (linalg.cg, linalg.gmres, linalg.bicgstab, linalg.cgs, linalg.minres):
        works += [lambda solve=solve: solve(a, b, M=own), lambda solve=solve: solve(operator, b)]  # type: ignore[misc]
    works += [
        lambda: linalg.lobpcg(own, starts),
        lambda: linalg.lobpcg(ps.diags([np.arange(1.0, 7.0)]), np.ones((6, 2)) + starts, M=own),
        lambda: linalg.eigsh(operator, 2),
        lambda: operator.matvec(b),
        lambda: operator.rmatvec(b),
        lambda: operator.matmat(starts),
        lambda: operator.rmatmat(starts),
        lambda: linalg.cg(a, b, callback=own),
    ]
    for work in works:
        _told(team, lambda _, work=work: work(), _Own, "mine")  # type: ignore[misc]
        # The next solution has nothing of the last one's.
        x, info = linalg.cg(a, b)
        assert info == 0
        assert np.allclose(x.gather(), 0.5)


class _Raises:
    """What raises when it is looked at."""

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise _Own("looked at")

    def __iter__(self) -> Any:
        raise _Own("looked at")


def operands(team: pt.Team) -> None:
    """Operands that NumPy refuses on one rank."""
    t, x, ragged = _square(), np.ones((6, 2)), [[1, 2], [3]]
    works: list[Callable[[Any], Any]] = [
        lambda given: t @ given,
        lambda given: t.rmatvec(given),
        lambda given: ps.sddmm(t, given, x),
        lambda given: t.multiply(given),
        lambda given: t.reshape(-1) @ given,
    ]
    wide = [*ragged, *ragged, *ragged]
    for work in works:
        _told(team, lambda is_last, work=work: work(wide if is_last else x), ValueError, "")  # type: ignore[misc]
    listed: list[Callable[[Any], Any]] = [lambda given: t.get_rows(given)]
    listed += [lambda given: t.plan_rows(given), lambda given: t[given]]
    for work in listed:
        _told(team, lambda is_last, work=work: work(ragged if is_last else [0]), ValueError, "")  # type: ignore[misc]
    for work in [*works[1:3], *listed, lambda given: ps.hstack(given)]:
        right: Any = [0] if work in listed else x if work in works else [t, t]
        wrong: Work = lambda is_last, work=work, right=right: work(_Raises() if is_last else right)  # type: ignore[misc]  # noqa: E731
        _told(team, wrong, _Own, "looked at")
    _told(team, lambda is_last: t @ (DistTensor if is_last else t), TypeError, "a type is no")


def scalars(team: pt.Team) -> None:
    """Scalars of NumPy that are no numbers are refused once, on one rank and on all."""
    t = _square()
    odd: list[Any] = [np.str_("a"), np.bytes_(b"a"), np.datetime64("2000"), np.void(b"ab")]
    for one in [*odd, "a", b"x"]:
        works: list[Callable[[Any], Any]] = [
            lambda given: t + given,
            lambda given: t - given,
            lambda given: t / given,
            lambda given: t * given,
        ]
        for sign, work in zip("+-/*", works, strict=True):
            words = f"a {type(one).__name__} is no operand of a sparse tensor for {sign}"
            zero = 0 if sign in "+-" else 2
            _told(
                team,
                lambda is_last, work=work, one=one, zero=zero: work(one if is_last else zero),  # type: ignore[misc]
                TypeError,
                words,
            )
            assert words in raised(lambda work=work, one=one: work(one), TypeError)
            team.barrier()


BODIES = [types_of_sums, options_of_files, files, solvers, operands, scalars]
