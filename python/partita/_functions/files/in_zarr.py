"""Arrays in Zarr: each rank reads its part, and writes chunks that are its own alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._array.boxes import box_of
from partita._functions.files.beside import written_beside
from partita._functions.files.boxed import is_divided, read_boxes, slices_of
from partita._functions.files.packages import package
from partita._partita import Block, Layout, Whole
from partita._team.spmd import own_team
from partita._team.together import by_first, together

if TYPE_CHECKING:
    from collections.abc import Sequence

    from partita._array.array import Array
    from partita._team.team import Team


def from_zarr(
    source: Any,
    name: str | None = None,
    *,
    layout: Layout | str | None = None,
    team: Team | None = None,
) -> Array:
    """Return an array of Zarr: a path, a store, a group with a name, or one of its arrays.

    Each rank reads the chunks that its part of `layout` touches. Collective.
    """
    own = own_team(team)
    found = together(own, lambda: _opened(source, name))
    return read_boxes(found.shape, layout, own, lambda index: found[index])


def _opened(source: Any, name: str | None) -> Any:
    zarr = package("zarr", "Zarr")

    if isinstance(source, zarr.Array):
        return source
    group = isinstance(source, zarr.Group)
    found = source if group else zarr.open(source, mode="r")
    found = found if name is None else found[name]
    if not isinstance(found, zarr.Array):
        raise ValueError(f"{source!r} is a group; name one of its arrays")
    return found


def to_zarr(
    a: Array,
    target: Any,
    name: str | None = None,
    *,
    chunks: Sequence[int] | None = None,
    overwrite: bool = False,
    **options: Any,
) -> None:
    """Write an array to Zarr at a path, which it has when complete, or into a group. Collective.

    Elements move so that each chunk is written by one rank; `options` are those of
    `zarr.create_array`.
    """
    team = a.team
    options |= {"shape": tuple(a.shape), "dtype": a.dtype}
    options["chunks"] = "auto" if chunks is None else tuple(chunks)
    if not isinstance(target, str | Path):
        by_first(team, lambda: _created(target, name, options, overwrite))
        _write(a, together(team, lambda: target[name]))
        return
    path = Path(target)

    def make(beside: Path) -> None:
        if path.exists() and not overwrite:
            raise FileExistsError(17, "File exists; use overwrite=True", str(path))
        _created(beside, name, options, overwrite)

    with written_beside(team, path, make) as beside:
        _write(a, together(team, lambda: _to_change(beside, name)))


def _created(target: Any, name: str | None, options: dict[str, Any], overwrite: bool) -> None:
    zarr = package("zarr", "Zarr")

    if isinstance(target, zarr.Group):
        if name is None:
            raise ValueError("an array in a group has a name; give one")
        target.create_array(name, overwrite=overwrite, **options)
    else:
        zarr.create_array(target, name=name, overwrite=overwrite, **options)


def _to_change(path: Path, name: str | None) -> Any:
    zarr = package("zarr", "Zarr")

    found = zarr.open(path, mode="r+")
    return found if name is None else found[name]


def _write(array: Array, target: Any) -> None:
    """Write each rank's chunks. Collective."""
    team = array.team
    chunks = target.shards or target.chunks
    if not _is_aligned(array.layout, chunks, team.size):
        array = array.redistribute(aligned(array.shape, chunks, team.size))
    box, local = box_of(array.layout, team.rank), array.local

    def write_own() -> None:
        # What has no dimensions is on every rank.
        if local.size and (local.ndim or team.rank == 0):
            target[slices_of(box) if local.ndim else ()] = local

    together(team, write_own)


def aligned(shape: Sequence[int], chunks: Sequence[int], n_ranks: int) -> Layout:
    """Blocks of whole chunks along the dimension that has the most of them.

    >>> aligned((10, 3), (4, 3), 2).local_shape(0)
    (4, 3)
    """
    if not len(shape):
        return Layout((), [], grid=(n_ranks,))
    counts = [-(-extent // max(chunk, 1)) for extent, chunk in zip(shape, chunks, strict=True)]
    cut = int(np.argmax(counts))
    ends = [counts[cut] * rank // n_ranks * chunks[cut] for rank in range(n_ranks + 1)]
    sizes = np.diff(np.minimum(ends, shape[cut])).tolist()
    maps = [Block(sizes=sizes) if dim == cut else Whole() for dim in range(len(shape))]
    return Layout(shape, maps, grid=[n_ranks if dim == cut else 1 for dim in range(len(shape))])


def _is_aligned(layout: Layout, chunks: Sequence[int], n_ranks: int) -> bool:
    """Whether no chunk has elements of two ranks."""
    if not is_divided(layout, n_ranks):
        return False
    for rank in range(n_ranks):
        for first, size, chunk, extent in zip(
            *box_of(layout, rank), chunks, layout.shape, strict=True
        ):
            if first % chunk or (first + size < extent and (first + size) % chunk):
                return False
    return True


__all__ = ["from_zarr"]
