"""Arrays in HDF5: each rank reads its part; they write in turns, as h5py without MPI wants it."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

from partita._array.boxes import box_of
from partita._functions.files.beside import written_beside
from partita._functions.files.boxed import is_divided, read_boxes, slices_of
from partita._functions.files.packages import package
from partita._functions.files.parts import rows_of
from partita._functions.files.paths import path_of
from partita._team.spmd import own_team
from partita._team.together import by_first, together

if TYPE_CHECKING:
    from pathlib import Path

    from partita._array.array import Array
    from partita._partita import Layout
    from partita._team.team import Team


def from_hdf5(
    file: Any, name: str, *, layout: Layout | str | None = None, team: Team | None = None
) -> Array:
    """Return a dataset of an HDF5 file, of which each rank reads its part. Collective."""
    own, path = own_team(team), path_of(file)
    shape = by_first(own, lambda: tuple(int(n) for n in _read(path, name, None).shape), path)
    return read_boxes(shape, layout, own, lambda index: _read(path, name, index))


class _Shape:
    """What is known of a dataset once its file is closed."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape


def _read(path: Path, name: str, index: tuple[slice, ...] | None) -> Any:
    """A part of a dataset; without an index only its shape."""
    h5py = package("h5py", "HDF5")

    with h5py.File(path, "r") as file:
        if name not in file or not isinstance(file[name], h5py.Dataset):
            raise ValueError(f"{path} has no dataset {name!r}; it has {', '.join(file)}")
        return _Shape(file[name].shape) if index is None else file[name][index]


def to_hdf5(a: Array, file: Any, name: str, *, overwrite: bool = False, **options: Any) -> None:
    """Write an array to a dataset of an HDF5 file; `options` are those of h5py. Collective.

    The file may have other datasets: it is copied, and replaced when everything is written. The
    ranks write one after the other.
    """
    team, target = a.team, path_of(file)

    def make(beside: Path) -> None:
        h5py = package("h5py", "HDF5")

        if target.exists():
            shutil.copyfile(target, beside)
        with h5py.File(beside, "a") as made:
            if name in made and not overwrite:
                raise ValueError(f"{target} has {name!r} already; use overwrite=True")
            if name in made:
                del made[name]
            made.create_dataset(name, tuple(a.shape), a.dtype, **options)

    if not is_divided(a.layout, team.size):
        a = a.redistribute(rows_of(a.shape, team.size))
    box, local = box_of(a.layout, team.rank), a.local

    def write(path: Path) -> None:
        h5py = package("h5py", "HDF5")

        with h5py.File(path, "r+") as made:
            made[name][slices_of(box) if local.ndim else ()] = local

    with written_beside(team, target, make) as beside:
        for turn in range(team.size):
            is_ours = turn == team.rank and local.size > 0

            def take_turn(is_ours: bool = is_ours) -> None:
                if is_ours:
                    write(beside)

            together(team, take_turn)


__all__ = ["from_hdf5"]
