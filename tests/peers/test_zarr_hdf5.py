"""Arrays in Zarr and HDF5, written by one number of ranks and read by another."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import zarr

import partita as pt

RANKS = [1, 2, 3, 4]
LAYOUTS = ["block, *", "*, block", "cyclic, *", "*, *"]
KINDS = ["bool", "int8", "uint64", "float32", "float64", "complex64"]


def table(shape: tuple[int, ...] = (11, 7), dtype: str = "float64") -> Any:
    return (np.arange(np.prod(shape, dtype=int)).reshape(shape) % 97).astype(dtype)


@pytest.mark.parametrize("n_ranks", RANKS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_zarr_there_and_back(tmp_path: Path, layout: str, n_ranks: int) -> None:
    path, x = tmp_path / "a.zarr", table()

    def write(team: pt.Team) -> None:
        pt.asarray(x, layout).to_zarr(path, chunks=(3, 4))

    def read(team: pt.Team) -> None:
        found = pt.from_zarr(path, layout=layout)
        assert found.dtype == x.dtype
        np.testing.assert_array_equal(found.gather(), x)
        np.testing.assert_array_equal(pt.from_zarr(str(path)).gather(), x)

    pt.spmd(write, n_ranks)
    assert [one.name for one in tmp_path.iterdir()] == ["a.zarr"]
    np.testing.assert_array_equal(zarr.open(path, mode="r")[:], x)
    pt.spmd(read, 5 - n_ranks)


@pytest.mark.parametrize("dtype", KINDS)
def test_types_of_zarr_and_hdf5(tmp_path: Path, dtype: str) -> None:
    def body(team: pt.Team) -> None:
        for number, shape in enumerate([(5, 3), (1,), (), (2, 3, 4)]):
            x = table(shape, dtype)
            a = pt.asarray(x)
            a.to_zarr(tmp_path / f"{number}.zarr")
            a.to_hdf5(tmp_path / "all.h5", str(number))
            for found in (
                pt.from_zarr(tmp_path / f"{number}.zarr"),
                pt.from_hdf5(tmp_path / "all.h5", str(number)),
            ):
                assert (found.shape, found.dtype) == (shape, x.dtype)
                np.testing.assert_array_equal(found.gather(), x)

    pt.spmd(body, 2)


def test_no_chunk_has_two_writers() -> None:
    from partita._functions.files.in_zarr import _is_aligned, aligned

    for shape, chunks in [
        ((11, 7), (3, 4)),
        ((4, 100), (4, 7)),
        ((1, 1), (5, 5)),
        ((0, 3), (1, 3)),
    ]:
        for n_ranks in range(1, 6):
            layout = aligned(shape, chunks, n_ranks)
            assert _is_aligned(layout, chunks, n_ranks)
    assert not _is_aligned(pt.Layout((11, 7), "block, * @ 2x1"), (4, 7), 2)
    assert _is_aligned(pt.Layout((11, 7), "block, * @ 2x1"), (6, 7), 2)


def test_groups_of_zarr(tmp_path: Path) -> None:
    zarr.open_group(tmp_path / "g.zarr", mode="w")
    x = table()

    def body(team: pt.Team) -> None:
        group = zarr.open_group(tmp_path / "g.zarr", mode="r+")
        pt.asarray(x, "block, *").to_zarr(group, "x", chunks=(2, 7))
        np.testing.assert_array_equal(pt.from_zarr(group, "x").gather(), x)
        np.testing.assert_array_equal(pt.from_zarr(tmp_path / "g.zarr", "x").gather(), x)
        np.testing.assert_array_equal(pt.from_zarr(group["x"]).gather(), x)
        with pytest.raises(ValueError, match="name one of its arrays"):
            pt.from_zarr(group)
        team.barrier()

    pt.spmd(body, 3)


@pytest.mark.parametrize("n_ranks", RANKS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_hdf5_there_and_back(tmp_path: Path, layout: str, n_ranks: int) -> None:
    path, x = tmp_path / "a.h5", table()

    def write(team: pt.Team) -> None:
        pt.asarray(x, layout).to_hdf5(path, "group/x", chunks=(3, 4), compression="gzip")
        pt.asarray(x + 1, layout).to_hdf5(path, "y")

    def read(team: pt.Team) -> None:
        np.testing.assert_array_equal(pt.from_hdf5(path, "group/x", layout=layout).gather(), x)
        np.testing.assert_array_equal(pt.from_hdf5(path, "y").gather(), x + 1)

    pt.spmd(write, n_ranks)
    assert [one.name for one in tmp_path.iterdir()] == ["a.h5"]
    with h5py.File(path) as file:
        np.testing.assert_array_equal(file["group/x"][:], x)
    pt.spmd(read, 5 - n_ranks)


def test_failures_are_raised_on_every_rank_and_leave_nothing(tmp_path: Path) -> None:
    x = table()

    def body(team: pt.Team) -> None:
        a = pt.asarray(x, "block, *")
        with pytest.raises(FileNotFoundError):
            pt.from_zarr(tmp_path / "no.zarr")
        with pytest.raises(FileNotFoundError):
            pt.from_hdf5(tmp_path / "no.h5", "x")
        with pytest.raises(FileNotFoundError):
            a.to_hdf5(tmp_path / "no" / "a.h5", "x")
        a.to_zarr(tmp_path / "a.zarr")
        a.to_hdf5(tmp_path / "a.h5", "x")
        with pytest.raises(FileExistsError):
            a.to_zarr(tmp_path / "a.zarr")
        with pytest.raises(ValueError, match="use overwrite=True"):
            a.to_hdf5(tmp_path / "a.h5", "x")
        with pytest.raises(ValueError, match="no dataset 'z'"):
            pt.from_hdf5(tmp_path / "a.h5", "z")
        (a + 1).to_zarr(tmp_path / "a.zarr", overwrite=True)
        (a + 1).to_hdf5(tmp_path / "a.h5", "x", overwrite=True)
        np.testing.assert_array_equal(pt.from_zarr(tmp_path / "a.zarr").gather(), x + 1)
        np.testing.assert_array_equal(pt.from_hdf5(tmp_path / "a.h5", "x").gather(), x + 1)

    pt.spmd(body, 2)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.h5", "a.zarr"]
