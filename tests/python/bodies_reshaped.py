"""Reshaped arrays that are looked at, changed through any name of theirs, and looked at again.

On several ranks what is shown of them is a copy, which has to follow.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import partita as pt

N = 6
# Whatever the changes below make of it is regular, and its lower half that of a positive matrix.
START = 10.0 * np.eye(N) + np.linspace(0.0, 0.5, N * N).reshape(N, N)
LAYOUTS = (None, "block, block", "cyclic")
Pair = tuple[Any, Any]


def _based(m: Any, shape: tuple[int, ...]) -> Any:
    base = m.zeros(shape)
    base[...] = START.reshape(shape)
    return base


def _reshaped(shape: tuple[int, ...]) -> Callable[[Any], Pair]:
    def make(m: Any) -> Pair:
        base = _based(m, shape)
        return base, base.reshape(N, N)

    return make


def _assigned(m: Any) -> Pair:
    base = _based(m, (N * N,))
    view = base[:]
    view.shape = (N, N)
    return base, view


def _sliced(m: Any) -> Pair:
    base = m.zeros(N * (N + 2))
    base[N:-N] = START.ravel()
    return base, base.reshape(N + 2, N)[1:-1]


def _raveled(m: Any) -> Pair:
    base = _based(m, (4, 9))
    return base, base.ravel().reshape(N, N)


def _tiled(m: Any) -> Pair:
    base = m.tile(_based(m, (4, 9))[0, :N] * 0.01, (N, 1))
    base += 10.0 * np.eye(N)
    return base, base


MADE: list[Callable[[Any], Pair]] = [_reshaped(shape) for shape in ((N * N,), (4, 9), (3, 3, 4))]
MADE += [_assigned, _sliced, _raveled, _tiled]


def _in_place(m: Any, base: Any, view: Any) -> None:
    view += 0.25


def _by_row(m: Any, base: Any, view: Any) -> None:
    view[2] = view[2] * 3


def _all(m: Any, base: Any, view: Any) -> None:
    view[...] = view * 2


def _by_mask(m: Any, base: Any, view: Any) -> None:
    view[view < 0.3] = 0.4


def _by_positions(m: Any, base: Any, view: Any) -> None:
    view[[1, 4]] = view[[1, 4]] * 2


def _by_out(m: Any, base: Any, view: Any) -> None:
    m.multiply(view, 3, out=view)


def _filled(m: Any, base: Any, view: Any) -> None:
    view.fill(0.5)
    view += 8.0 * np.eye(N)


def _by_base(m: Any, base: Any, view: Any) -> None:
    base *= 1.5


def _by_another(m: Any, base: Any, view: Any) -> None:
    base.reshape(-1)[base.size // 2 :] *= 2


def _by_memory(m: Any, base: Any, view: Any) -> None:
    if m is np:
        base *= 4
    else:
        base.local[...] *= 4


WRITES = [_in_place, _by_row, _all, _by_mask, _by_positions, _by_out, _filled, _by_base]
WRITES += [_by_another, _by_memory]


def _saved(m: Any, view: Any) -> Any:
    if m is np:
        return view
    team = view.team
    with tempfile.TemporaryDirectory() as own:
        path = os.path.join(team.broadcast_data(own), "view.npy")
        pt.save(path, view)
        found = np.load(path)
        team.barrier()
    return found


def _local(m: Any, view: Any) -> Any:
    """Everything, after a look at this rank's part, which is compared too."""
    if m is pt:
        for (piece, buffer), (_, wanted) in zip(view.pieces, (+view).pieces, strict=False):
            assert piece.shape == buffer.shape
            if buffer.shape == wanted.shape:
                np.testing.assert_array_equal(buffer, wanted)
    return view


READS: tuple[Callable[[Any, Any], Any], ...] = (
    lambda m, view: m.ones((N, N)) @ view,
    lambda m, view: m.dot(view, m.ones(N)),
    lambda m, view: m.linalg.matrix_power(view, 3),
    lambda m, view: m.linalg.solve(view, m.ones(N)),
    lambda m, view: m.linalg.inv(view),
    lambda m, view: m.linalg.det(view),
    lambda m, view: m.linalg.cholesky(view),
    lambda m, view: abs(m.linalg.qr(view)[1]),
    lambda m, view: m.linalg.svdvals(view),
    lambda m, view: m.linalg.pinv(view),
    lambda m, view: m.linalg.eigvalsh(view),
    lambda m, view: m.fft.fft(view, axis=0),
    lambda m, view: m.fft.fft2(view),
    lambda m, view: m.sort(view, axis=0),
    lambda m, view: m.median(view, axis=0),
    lambda m, view: m.sort(view.ravel()),
    lambda m, view: m.searchsorted(m.sort(view.ravel()), m.asarray([0.2, 5.0, 11.0])),
    lambda m, view: view.redistribute("*, block") if m is pt else view,
    lambda m, view: pt.asarray(view, layout="block, *") if m is pt else view,
    _local,
    _saved,
)
LOOKS: tuple[Callable[[Any], Any], ...] = (
    lambda view: (pt.ones((N, N)) @ view).sync(),
    lambda view: view.local,
    lambda view: view.layout,
    lambda view: view.redistribute("*, block"),
    lambda view: pt.asarray(view, layout="*, block"),
)


def _gathered(found: Any) -> Any:
    return found.gather() if isinstance(found, pt.Array) else found


def followed(team: pt.Team, layout: str | None) -> None:
    """Every read after every write, with ways to reshape and first looks in turn."""
    with pt.default_layout(layout) if layout else pt.memory_limit(None):
        for w, write in enumerate(WRITES):
            if layout == "cyclic" and write is _by_memory:
                # Such arrays are computed with elsewhere: their memory is not to be written.
                continue
            for r, read in enumerate(READS):
                make = MADE[(w + r) % len(MADE)]
                (base, view), (their_base, their_view) = make(pt), make(np)
                LOOKS[(w * len(READS) + r) % len(LOOKS)](view)
                for _ in range(2):
                    write(pt, base, view)
                    write(np, their_base, their_view)
                    names = f"{make.__name__} {write.__name__} read {r} {layout}"
                    wanted = read(np, their_view)
                    found = _gathered(read(pt, view))
                    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9, err_msg=names)


def shown(team: pt.Team) -> None:
    """What a rank was shown of a reshaped array shows later operations; it is no memory of its."""
    base = pt.arange(20.0)
    view = base.reshape(4, 5)
    mine = view.local
    base += 1
    view.sync()
    (piece, _), *_ = view.pieces
    box = tuple(slice(at, at + n) for at, n in zip(piece.start, piece.shape, strict=True))
    np.testing.assert_array_equal(mine, (np.arange(20.0) + 1).reshape(4, 5)[box])
    if not mine.flags.writeable and mine.size:
        with pytest.raises(ValueError, match="read-only"):
            mine[...] = 0
    own = view.copy()
    own.local[...] = 3.0
    assert float(own.sum()) == 60.0
    one = base[7, ...]
    assert float(one.local) == 8.0
    base[7] = 50.0
    assert float(one.local) == 50.0
