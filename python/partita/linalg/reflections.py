"""Orthogonal factorisation in panels of columns, each a product of reflections.

A panel's reflections are kept as `I - Y T Y*`. They are found from the panel's orthonormal columns,
by an elimination of their top block whose pivots are at least 1 in size: so it is as good as
reflections column by column, and needs no kernel of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.parts import array_of, cut_along
from partita._local import matrices
from partita.linalg.panels import Panels, dealt, in_rows, subtract_product

if TYPE_CHECKING:
    from partita._array.array import Array
    from partita.linalg.panels import Panel

Local = np.ndarray[Any, Any]


def factorised(array: Array, n_columns: int) -> tuple[Array | None, Array]:
    """So many orthonormal columns, none if 0, and the triangle, as many rows. Collective."""
    panels = Panels(array)
    most = min(array.shape)
    blocks: dict[int, Local] = {}
    done = [panel for panel in panels if panel.first < most]
    for panel in done:
        shown = None
        if panels.is_mine(panel):
            own = panels.own[panel.first :, panel.columns]
            shown, triangle = reflections(own)
            own[...] = 0
            own[: len(triangle)] = triangle
            blocks[panel.number] = shown
        y, t = _seen(panels, panel, shown)
        behind = panels.own[panel.first :, panel.behind]
        subtract_product(behind, y, t.conj().T @ (y.conj().T @ behind))
    q = _columns(panels, done, blocks, n_columns) if n_columns else None
    rows = min(array.shape[0], n_columns or most)
    r = array_of(panels.own[:rows], dealt((rows, array.shape[1]), panels.team), panels.team)
    return q, in_rows(r)


def _seen(panels: Panels, panel: Panel, shown: Local | None) -> tuple[Local, Local]:
    """A panel's `Y` and `T` on every rank. Collective."""
    n_rows = panels.shape[0] - panel.first
    width = min(n_rows, panel.last - panel.first)
    both = panels.shown(panel, shown, (n_rows + width, width))
    return both[width:], both[:width]


def _columns(panels: Panels, done: list[Panel], blocks: dict[int, Local], n_columns: int) -> Array:
    """The orthonormal columns: the reflections of columns of the unit matrix, last ones first."""
    team, n_rows = panels.team, panels.shape[0]
    layout = cut_along((n_rows, n_columns), 1, team.size)
    own = np.zeros(layout.local_shape(team.rank), panels.dtype)
    pieces = [one for one in layout.pieces(team.rank) if 0 not in one.shape]
    start = pieces[0].start[1] if pieces else 0
    places = np.arange(own.shape[1])
    own[start + places, places] = 1
    for panel in reversed(done):
        y, t = _seen(panels, panel, blocks.get(panel.number))
        # Columns of the unit matrix before this panel have nothing in its rows.
        target = own[panel.first :, max(0, panel.first - start) :]
        subtract_product(target, y, t @ (y.conj().T @ target))
    return in_rows(array_of(own, layout, team))


def reflections(panel: Local) -> tuple[Local, Local]:
    """`T` above `Y` of a panel, and its triangle: `(I - Y T Y*)* panel` begins with it."""
    q, r = matrices.qr(panel)
    width = q.shape[1]
    top, signs = q[:width].copy(), np.empty(width, q.dtype)
    for at in range(width):
        pivot = top[at, at]
        size = abs(pivot)
        signs[at] = -pivot / size if size else -1
        top[at, at] = pivot - signs[at]
        top[at + 1 :, at] /= top[at, at]
        top[at + 1 :, at + 1 :] -= np.outer(top[at + 1 :, at], top[at, at + 1 :])
    upper, lower = np.triu(top), np.tril(top, -1) + np.eye(width, dtype=q.dtype)
    below = matrices.solve_triangular(upper, q[width:].conj().T, lower=False, adjoint=True)
    t = -matrices.solve_triangular(lower, (upper * signs.conj()).conj().T).conj().T
    y = np.concatenate([lower, below.conj().T])
    # No number times zero below the diagonal would be none.
    return np.concatenate([t, y]), np.triu(signs[:, None] * r)
