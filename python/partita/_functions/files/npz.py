"""Several arrays in a file: `.npz`, a zip of `.npy`.

Rank 0 writes the file, a block of rows at a time. All ranks read it: of arrays that are not
compressed their own bytes, of others their parts as they pass.
"""

from __future__ import annotations

import struct
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from partita._functions.creation import an_array
from partita._functions.files.beside import written_beside
from partita._functions.files.header import Header, header_bytes, parsed
from partita._functions.files.parts import read_array
from partita._functions.files.paths import path_of
from partita._team.spmd import own_team
from partita._team.together import by_first, together

if TYPE_CHECKING:
    from collections.abc import Iterator

    from partita._array.array import Array
    from partita._partita import Layout
    from partita._team.team import Team

# What rank 0 holds of an array at a time.
_BLOCK_BYTES = 1 << 26
# Before the name of an entry: 26 bytes, then the lengths of the name and of what follows it.
_LOCAL_HEAD = struct.Struct("<26xHH")


def savez(file: Any, *args: Any, **kwds: Any) -> None:
    """Write several arrays to one file, by their names or as `arr_0` and so on. Collective."""
    _save(file, args, kwds, zipfile.ZIP_STORED)


def savez_compressed(file: Any, *args: Any, **kwds: Any) -> None:
    """Write several arrays to one compressed file. Collective."""
    _save(file, args, kwds, zipfile.ZIP_DEFLATED)


def _save(file: Any, args: tuple[Any, ...], kwds: dict[str, Any], how: int) -> None:
    path = path_of(file)
    path = path if path.name.endswith(".npz") else path.with_name(path.name + ".npz")
    named = {f"arr_{number}": one for number, one in enumerate(args)}
    if twice := sorted(set(named) & set(kwds)):
        raise ValueError(f"two arrays with the name {twice[0]!r}; use another")
    arrays = {name: an_array(one) for name, one in (named | kwds).items()}
    team = next(iter(arrays.values())).team if arrays else own_team(None)
    with written_beside(team, path, lambda beside: beside.touch()) as beside:
        writer = Writer(team, beside, how)
        for name, array in arrays.items():
            writer.add(name, array)
        writer.end()


class Writer:
    """A zip that rank 0 writes; the others send it their parts, even if it has failed."""

    def __init__(self, team: Team, path: Path, how: int) -> None:
        self.team = team
        self.zip: zipfile.ZipFile | None = None
        self.error: Exception | None = None
        if team.rank == 0:
            self._try(lambda: setattr(self, "zip", zipfile.ZipFile(path, "w", how)))

    def _try(self, work: Any) -> Any:
        """What work returns; after an error nothing more is done."""
        if self.error is None and self.team.rank == 0:
            try:
                return work()
            except Exception as error:
                self.error = error
        return None

    def add(self, name: str, array: Array) -> None:
        """Write an array. Collective."""

        def begin() -> Any:
            assert self.zip is not None
            entry = self.zip.open(f"{name}.npy", "w", force_zip64=True)
            entry.write(header_bytes(array))
            return entry

        entry = self._try(begin)
        for block in row_blocks(array):
            self._try(partial(_append, entry, block))
        if entry is not None:
            self._try(entry.close)

    def add_own(self, name: str, value: Any) -> None:
        """Write a value that rank 0 has, of any type of NumPy's but objects. Not collective."""

        def write() -> None:
            assert self.zip is not None
            with self.zip.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, np.asanyarray(value), allow_pickle=False)

        self._try(write)

    def end(self) -> None:
        """Raise on every rank what rank 0 has met with. Collective."""
        if self.zip is not None:
            self._try(self.zip.close)

        def outcome() -> None:
            if self.error is not None:
                raise self.error

        by_first(self.team, outcome)


def _append(entry: Any, block: np.ndarray[Any, Any]) -> None:
    entry.write(np.ascontiguousarray(block).reshape(-1).view(np.uint8).data)


def row_blocks(array: Array, most_bytes: int = _BLOCK_BYTES) -> Iterator[Any]:
    """An array in blocks of rows, on rank 0; None elsewhere. Collective."""
    if array.ndim == 0 or array.team.size == 1:
        yield array.gather(0)
        return
    n_rows = array.shape[0]
    row_bytes = max(array.nbytes // max(n_rows, 1), 1)
    step = max(most_bytes // row_bytes, 1)
    for first in range(0, n_rows, step):
        yield array[first : first + step].gather(0)


class Npz(Mapping[str, Any]):
    """The arrays of a `.npz` file by name; each is read when it is asked for. Collective."""

    def __init__(self, path: Path, team: Team, layout: Layout | str | None) -> None:
        self._path, self._team, self._layout = path, team, layout
        self.files: list[str] = by_first(team, self._names)

    def _names(self) -> list[str]:
        with zipfile.ZipFile(self._path) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()]

    def __getitem__(self, name: str) -> Array:
        """Return an array. Collective."""
        wanted = name.removesuffix(".npy")
        if wanted not in self.files:
            raise KeyError(f"{name} is no array of {self._path}; it has {', '.join(self.files)}")
        entry = f"{wanted}.npy"
        head, is_stored = together(self._team, partial(entry_head, self._path, entry))
        stream = None if is_stored else partial(_entry, self._path, entry)
        return read_array(self._path, head, self._layout, self._team, stream=stream)

    def __contains__(self, name: object) -> bool:
        # Looking for a name must not read its array.
        return isinstance(name, str) and name.removesuffix(".npy") in self.files

    def __iter__(self) -> Iterator[str]:
        return iter(self.files)

    def __len__(self) -> int:
        return len(self.files)

    def __repr__(self) -> str:
        return f"<Npz {self._path.name} with {', '.join(self.files)}>"

    def close(self) -> None:
        """Do nothing: the file is open only while it is read."""

    def __enter__(self) -> Npz:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def entry_head(path: Path, entry: str) -> tuple[Header, bool]:
    """The head of an array; where it begins in the file, if it is not compressed."""
    with zipfile.ZipFile(path) as archive, archive.open(entry) as stream:
        about = archive.getinfo(entry)
        is_stored = about.compress_type == zipfile.ZIP_STORED
        return parsed(stream, _begin(path, about) if is_stored else 0), is_stored


def is_zip(path: Path) -> bool:
    """Whether a file is a zip."""
    with path.open("rb") as file:
        return file.read(4) in (b"PK\x03\x04", b"PK\x05\x06")


class _entry:
    """An entry of a zip, open for one rank."""

    def __init__(self, path: Path, entry: str) -> None:
        self.archive = zipfile.ZipFile(path)
        self.stream = self.archive.open(entry)

    def __enter__(self) -> Any:
        return self.stream

    def __exit__(self, *error: object) -> None:
        self.stream.close()
        self.archive.close()


def _begin(path: Path, about: zipfile.ZipInfo) -> int:
    """The byte of the file where an entry's own bytes begin."""
    with path.open("rb") as file:
        file.seek(about.header_offset)
        name, extra = _LOCAL_HEAD.unpack(file.read(_LOCAL_HEAD.size))
    return about.header_offset + _LOCAL_HEAD.size + int(name) + int(extra)


__all__ = ["savez", "savez_compressed"]
