"""Arrays in files: written by one number of ranks, read by another, beside NumPy."""

from __future__ import annotations

import io
import os
import struct
from pathlib import Path
from typing import Any

import bodies_files
import engines
import numpy as np
import pytest
from bodies_files import KINDS, table
from places import Place, environments

import partita as pt
from partita._functions.files import bytes_of, parts

RANKS = [1, 2, 3, 4]


@pytest.mark.parametrize("case", bodies_files.CASES, ids=str)
@pytest.mark.parametrize("n_ranks", RANKS)
def test_files_on_threads(tmp_path: Path, case: engines.Case, n_ranks: int) -> None:
    pt.spmd(case.body, n_ranks, [str(tmp_path)])


def test_files_under_mpi(tmp_path: Path) -> None:
    cases = [
        engines.Case(case.name, case.body, (str(tmp_path / case.name),))
        for case in bodies_files.CASES
    ]
    for case in cases:
        Path(case.args[0]).mkdir()
    outcomes = engines.run(Place("mpi", 2, environments()), cases)
    assert [one.failure for one in outcomes.values() if one.failure] == []


@pytest.mark.parametrize("writers", RANKS)
def test_any_number_of_ranks_reads_what_another_wrote(tmp_path: Path, writers: int) -> None:
    x = table((9, 5), "float64")

    def write(team: pt.Team) -> None:
        pt.save(tmp_path / "x", pt.asarray(x, "block, *") * 1)

    def read(team: pt.Team) -> None:
        np.testing.assert_array_equal(pt.load(tmp_path / "x.npy").gather(), x)

    pt.spmd(write, writers)
    assert os.listdir(tmp_path) == ["x.npy"]
    for readers in RANKS:
        pt.spmd(read, readers)


def test_a_file_is_byte_for_byte_numpys(tmp_path: Path) -> None:
    for dtype in KINDS:
        for shape in [(), (0,), (1,), (3, 4), (2, 0, 3), (2, 3, 4)]:
            x = table(shape, dtype)
            np.save(tmp_path / "theirs", x)
            pt.save(tmp_path / "ours.npy", pt.asarray(x))
            assert (tmp_path / "ours.npy").read_bytes() == (tmp_path / "theirs.npy").read_bytes()
            found = pt.load(tmp_path / "theirs.npy")
            assert (found.shape, found.dtype) == (x.shape, x.dtype)
            np.testing.assert_array_equal(found.gather(), x)


def test_special_numbers_keep_their_bits(tmp_path: Path) -> None:
    x = np.array([-0.0, np.nan, np.inf, -np.inf, 5e-324])
    pt.save(tmp_path / "x", pt.asarray(x))
    found = pt.load(tmp_path / "x.npy").gather()
    np.testing.assert_array_equal(found.view(np.int64), x.view(np.int64))


def test_long_stretches_are_read_where_they_lie(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks of columns are written stretch by stretch once these are long enough."""
    monkeypatch.setattr(parts, "_SHORT_BYTES", 1)
    monkeypatch.setattr(bytes_of, "_MOST_BYTES", 7)
    x = table((4, 6, 5), "int16")

    def body(team: pt.Team) -> None:
        for layout in ("*, block", "*, *, block", "block, block, *"):
            name = tmp_path / f"{team.size}.npy"
            pt.save(name, pt.asarray(x, layout) * 1)
            np.testing.assert_array_equal(np.load(name), x)
            np.testing.assert_array_equal(pt.load(name, layout=layout).gather(), x)
            team.barrier()

    for n_ranks in RANKS:
        pt.spmd(body, n_ranks)


def test_what_is_no_path_or_no_array_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "objects", np.array([{}, None]), allow_pickle=True)
    np.save(tmp_path / "texts", np.array(["a"]))
    np.save(tmp_path / "short", np.arange(100.0))
    os.truncate(tmp_path / "short.npy", 500)
    (tmp_path / "empty.npy").touch()
    (tmp_path / "text.npy").write_text("no array at all")

    def body(team: pt.Team) -> None:
        with pytest.raises(TypeError, match="use a path"):
            pt.save(io.BytesIO(), pt.arange(3))
        with pytest.raises(ValueError, match="objects of Python"):
            pt.load(tmp_path / "objects.npy", allow_pickle=True)
        with pytest.raises(TypeError, match="no numbers"):
            pt.load(tmp_path / "texts.npy")
        for name, words in [("short", "too early"), ("empty", "EOF"), ("text", "magic")]:
            with pytest.raises(ValueError, match=words):
                pt.load(tmp_path / f"{name}.npy")
        with pytest.raises(FileNotFoundError) as missing:
            pt.load(tmp_path / "none.npy")
        assert missing.value.filename == str(tmp_path / "none.npy")
        with pytest.raises(ValueError, match="mmap_mode 'w'"):
            pt.load(tmp_path / "short.npy", mmap_mode="w")
        with pytest.raises(IsADirectoryError):
            pt.load(tmp_path)
        with pytest.raises(ValueError, match="use savetxt"):
            pt.arange(3).tofile(tmp_path / "x", sep=",")
        with pytest.raises(ValueError, match="1 or 2"):
            pt.savetxt(tmp_path / "x", pt.zeros((1, 1, 1)))
        with pytest.raises(ValueError, match="'arr_0'"):
            pt.savez(tmp_path / "x", pt.arange(3), arr_0=pt.arange(3))
        team.barrier()

    for n_ranks in (1, 3):
        pt.spmd(body, n_ranks)


def test_a_failed_write_leaves_the_old_file_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = tmp_path / "x.npy"
    np.save(name, np.arange(3))
    write = bytes_of.write

    def fail(file: int, offset: int, row: Any) -> None:
        if offset > 200:
            raise OSError(28, "No space left on device")
        write(file, offset, row)

    def body(team: pt.Team) -> None:
        with pytest.raises(OSError, match="No space left"):
            pt.save(name, pt.arange(40.0))
        with pytest.raises(FileNotFoundError):
            pt.save(tmp_path / "no" / "x.npy", pt.arange(3))
        with pytest.raises(ValueError, match="fmt"):
            pt.savetxt(tmp_path / "x.txt", pt.arange(3.0), fmt="%d %d")
        team.barrier()

    monkeypatch.setattr(bytes_of, "write", fail)
    pt.spmd(body, 3)
    assert os.listdir(tmp_path) == ["x.npy"]
    np.testing.assert_array_equal(np.load(name), np.arange(3))


def test_heads_of_every_format_are_read_and_judged(tmp_path: Path) -> None:
    name = tmp_path / "x.npy"

    def write(shape: str, version: int) -> None:
        head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}\n".encode()
        length = struct.pack("<H" if version == 1 else "<I", len(head))
        elements = np.arange(24.0).tobytes()
        name.write_bytes(b"\x93NUMPY" + bytes([version, 0]) + length + head + elements)

    for version in (1, 2, 3):
        write("(4, 6)", version)
        pt.spmd(lambda _: np.testing.assert_array_equal(pt.load(name).gather(), np.load(name)), 2)
    write("(-3, 4)", 1)

    def body(_: pt.Team) -> None:
        with pytest.raises(ValueError, match=r"its shape is \(-3, 4\)"):
            pt.load(name)

    pt.spmd(body, 2)


def test_what_a_link_names_is_written_and_stays_private(tmp_path: Path) -> None:
    target, link = tmp_path / "target.npy", tmp_path / "latest.npy"
    np.save(target, np.zeros(2))
    target.chmod(0o600)
    link.symlink_to(target.name)
    pt.spmd(lambda _: pt.save(link, pt.arange(3.0)), 2)
    assert link.is_symlink()
    assert target.stat().st_mode & 0o777 == 0o600
    np.testing.assert_array_equal(np.load(target), np.arange(3.0))
    assert sorted(os.listdir(tmp_path)) == ["latest.npy", "target.npy"]


def test_a_file_too_large_for_the_disk_is_refused_before_it_is_written(tmp_path: Path) -> None:
    with (tmp_path / "x").open("wb") as file:
        with pytest.raises(OSError, match=r"No space|too large|Invalid"):
            bytes_of.reserve(file.fileno(), 1 << 62)
        bytes_of.reserve(file.fileno(), 100)
        assert os.fstat(file.fileno()).st_size == 100


def test_maps_of_a_file(tmp_path: Path) -> None:
    x = table((6, 4), "float64")
    np.save(tmp_path / "x", x)

    def body(team: pt.Team) -> None:
        mapped = pt.load(tmp_path / "x.npy", mmap_mode="r")
        assert not mapped.local.flags.writeable
        np.testing.assert_array_equal((mapped + 1).gather(), x + 1)
        copied = pt.load(tmp_path / "x.npy", mmap_mode="c", layout="*, block")
        copied[...] = 0
        assert copied.sum() == 0
        team.barrier()

    pt.spmd(body, 2)
    np.testing.assert_array_equal(np.load(tmp_path / "x.npy"), x)
