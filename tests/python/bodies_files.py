"""Files that all ranks write and read, on every engine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from engines import Case

import partita as pt

KINDS = ["bool", "int8", "uint16", "int64", "float16", "float32", "float64", "complex64"]
LAYOUTS = ["block, *", "*, block", "cyclic, *", "*, cyclic(2)", "*, *", "block(last), block"]


def table(shape: tuple[int, ...], dtype: str) -> Any:
    made = np.arange(np.prod(shape, dtype=int)).reshape(shape) % 97
    return (made * (1 + 1j) if dtype.startswith("complex") else made).astype(dtype)


def same(found: Any, wanted: Any) -> None:
    assert (found.shape, found.dtype) == (wanted.shape, wanted.dtype)
    np.testing.assert_array_equal(found.gather(), wanted)


def npy(team: pt.Team, folder: str) -> None:
    """One array per file, of every layout and type, in NumPy's format."""
    for number, layout in enumerate(LAYOUTS):
        for shape in [(7, 5), (1, 3), (2, 3, 4), (0, 3), (5,), ()]:
            x = table(shape, KINDS[number % len(KINDS)])
            a = pt.asarray(x, layout)
            pt.save(f"{folder}/{number}", a)
            np.testing.assert_array_equal(np.load(f"{folder}/{number}.npy"), x)
            same(pt.load(f"{folder}/{number}.npy"), x)
            same(pt.load(f"{folder}/{number}.npy", layout=layout), x)
            team.barrier()


def views(team: pt.Team, folder: str) -> None:
    """Results, views of a few ranks' rows, transposed ones, and what NumPy has."""
    x = table((8, 6), "float64")
    a = pt.zeros((8, 6)) + x
    for number, (ours, theirs) in enumerate(
        [(a[3:5], x[3:5]), (a.T, x.T), (a[::-2, 1], x[::-2, 1]), (a[0, 0], x[0, 0]), (x, x)]
    ):
        pt.save(f"{folder}/view{number}", ours)
        same(pt.load(f"{folder}/view{number}.npy"), np.asarray(theirs))


def others(team: pt.Team, folder: str) -> None:
    """Files of NumPy in Fortran's order and another byte order."""
    x = table((7, 5, 3), "float64")
    if team.rank == 0:
        np.save(f"{folder}/fortran", np.asfortranarray(x))
        np.save(f"{folder}/swapped", x.astype(">i4"))
    team.barrier()
    for layout in (None, *LAYOUTS):
        same(pt.load(f"{folder}/fortran.npy", layout=layout), x)
        same(pt.load(f"{folder}/swapped.npy", layout=layout), x.astype("i4"))
    same(pt.load(f"{folder}/swapped.npy", mmap_mode="r"), x.astype("i4"))


def npz(team: pt.Team, folder: str) -> None:
    x, y = table((7, 5), "float32"), np.asfortranarray(table((3, 2), "int64"))
    if team.rank == 0:
        np.savez(f"{folder}/theirs", x, y=y)
        np.savez_compressed(f"{folder}/small", x, y=y)
    for layout in LAYOUTS:
        pt.savez(f"{folder}/ours", pt.asarray(x, layout), y=pt.asarray(y), empty=pt.zeros((0, 2)))
        pt.savez_compressed(f"{folder}/tight.npz", pt.asarray(x, layout), y=y)
        for name in ("ours", "tight", "theirs", "small"):
            with pt.load(f"{folder}/{name}.npz", layout=layout) as found:
                assert {"arr_0", "y"} <= set(found)
                same(found["arr_0"], x)
                same(found["y.npy"], y)
                assert "z" not in found
        team.barrier()
    with np.load(f"{folder}/ours.npz") as theirs:
        np.testing.assert_array_equal(theirs["arr_0"], x)
        assert theirs["empty"].shape == (0, 2)


def texts(team: pt.Team, folder: str) -> None:
    x = table((7, 5), "float64") / 3
    for ours, theirs in [(pt.asarray(x, "block, *"), x), (pt.asarray(x[:, 0], "block"), x[:, 0])]:
        pt.savetxt(f"{folder}/a.txt", ours, delimiter=",", header="head", footer="foot")
        same(pt.loadtxt(f"{folder}/a.txt", delimiter=","), theirs)
        same(pt.loadtxt(f"{folder}/a.txt", delimiter=",", layout="cyclic"), theirs)
        if team.rank == 0:
            np.savetxt(f"{folder}/b.txt", theirs, delimiter=",", header="head", footer="foot")
            assert Path(f"{folder}/a.txt").read_text() == Path(f"{folder}/b.txt").read_text()
        team.barrier()


def raw(team: pt.Team, folder: str) -> None:
    x = table((7, 5), "int32")
    pt.asarray(x, "*, block").tofile(f"{folder}/raw")
    same(pt.fromfile(f"{folder}/raw", "int32"), x.ravel())
    same(pt.fromfile(f"{folder}/raw", "int32", 4, offset=8), x.ravel()[2:6])
    same(pt.fromfile(f"{folder}/raw", np.int8, layout="cyclic"), x.ravel().view(np.int8))
    same(pt.fromfile(f"{folder}/raw", "int32", offset=4000), np.zeros(0, "int32"))


CASES = [Case(one.__name__, one) for one in (npy, views, others, npz, texts, raw)]
