"""A matrix that one rank has, handed out to all."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._args import shown
from partita._partita import Layout
from partita._team.routing import routed_rows
from partita.sparse.agreement import agreed, checked_root
from partita.sparse.block import Block, checked_format
from partita.sparse.cutting import cut
from partita.sparse.outside import block_of
from partita.sparse.slices import Slices, slices_for

if TYPE_CHECKING:
    from partita._team.team import Team

Local = np.ndarray[Any, Any]


def handed_out(
    team: Team, root: Any, matrix: Any, by: tuple[Any, Any, Any], format: str | None
) -> tuple[Block, Slices]:
    """Return this rank's slice of a matrix of the root, cut by dist, layout or grid. Collective."""

    def look() -> tuple[tuple[Block | None, int], dict[str, Any], Any]:
        at = checked_root(root, team)
        asked = {"dist": _plain(by[0]), "layout": _plain(by[1]), "grid": _plain(by[2])}
        facts = {"root": at, **asked, "the format": format}
        if team.rank != at:
            return (None, at), facts, None
        whole = block_of(matrix)
        slices_for(whole.shape, team.size, *by)
        checked_format(format, whole.ndim, whole.format)
        about = (whole.shape, whole.format, whole.dtype.name, whole.index_dtype.name)
        return (whole, at), facts, about

    (whole, at_root), told = agreed(team, "from_scipy", look)
    shape, found, dtype, index_dtype = told[at_root]
    slices = slices_for(shape, team.size, *by)
    kinds = [np.dtype(index_dtype)] * (len(shape) if found == "coo" else 2) + [np.dtype(dtype)]
    parts = _parts(whole, slices, kinds, team.size)
    lengths = team.gather_inside(
        "numbers of entries handed out", [[len(one) for one in own] for own in parts]
    )
    arrays = []
    for at in range(len(kinds)):
        counts = [[one[at] for one in own] for own in lengths]
        arrays.append(routed_rows(team, [own[at] for own in parts], counts))
    own = Block.from_arrays(slices.slice_shape(slices.slice_of(team.rank)), found, arrays)
    return own.in_format(checked_format(format, len(shape), found)).with_tidy_lines(), slices


def _parts(
    whole: Block | None, slices: Slices, kinds: list[np.dtype[Any]], n_ranks: int
) -> list[list[Local]]:
    """For each rank the arrays that it gets from here."""
    if whole is None:
        return [[np.empty(0, kind) for kind in kinds] for _ in range(n_ranks)]
    return [cut(whole, slices, slices.slice_of(rank)).arrays for rank in range(n_ranks)]


def _plain(value: Any) -> str:
    return value.notation if isinstance(value, Layout) else shown(value)
