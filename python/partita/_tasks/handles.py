"""Handles of pieces, as they are given: sorted out by rank, and what lies behind them judged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from partita._args import is_listed
from partita._errors import LayoutError
from partita._partita import Layout, a_layout, local_shapes, plan

if TYPE_CHECKING:
    from collections.abc import Sequence


Handle = Any


def movable(dtype: Any) -> np.dtype[Any]:
    """An element type, if plans can move it."""
    try:
        found: np.dtype[Any] = np.dtype(dtype)
    except TypeError:
        raise LayoutError(f"dtype {dtype!r}; use one of NumPy's", "dtype-unknown") from None
    one = Layout((1,), "* @ 1")
    plan(one, one, found)
    return found


def listed(handles: Any, what: str) -> list[Handle]:
    """Handles as a list, if they are some."""
    if not is_listed(handles):
        message = f"a {type(handles).__name__} where {what} are due; use a list of {what}"
        raise LayoutError(message, "handles-type")
    return list(handles)


def by_rank(handles: Sequence[Handle], layout: Layout) -> dict[int, list[Handle]]:
    """Handles in the order of the layout's ranks and their buffers, sorted out."""
    a_layout(layout)
    n_wanted = sum(layout.n_buffers(rank) for rank in layout.ranks)
    if len(handles) != n_wanted:
        message = f"{len(handles)} handles where the layout has {n_wanted} buffers; give as many"
        raise LayoutError(message, "buffer-count")
    rest = iter(handles)
    return {rank: [next(rest) for _ in range(layout.n_buffers(rank))] for rank in layout.ranks}


def check_buffers(
    found: Sequence[tuple[tuple[int, ...], str]], layout: Layout, dtype: Any
) -> np.dtype[Any]:
    """The dtype that all buffers have; refused where shapes or dtypes differ."""
    wanted = [(rank, shape) for rank in layout.ranks for shape in local_shapes(layout, rank)]
    for (rank, shape), (given, _) in zip(wanted, found, strict=True):
        if given != shape:
            message = f"shape {given} on rank {rank}, the layout says {shape}; use that"
            raise LayoutError(message, "buffer-shape")
    dtypes = {kind for _, kind in found}
    if dtype is not None:
        dtypes.add(movable(dtype).str)
    if len(dtypes) > 1:
        message = f"pieces of dtypes {', '.join(sorted(dtypes))}; convert them to one first"
        raise LayoutError(message, "dtypes-differ")
    return movable(dtypes.pop() if dtypes else "float64")
