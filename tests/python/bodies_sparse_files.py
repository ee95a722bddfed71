"""Bodies of tests of sparse tensors in files, beside SciPy."""

from __future__ import annotations

import bz2
import gzip
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.io
import scipy.sparse as sp
from engines import Case
from sparse_cases import FORMATS, KINDS, LAYOUTS, dense, entries, raised, same, tensor

import partita as pt
from partita.sparse import DistTensor, load_npz, mmread, mmwrite, save_npz

SHAPES = [(7, 5), (0, 3), (3, 0), (1, 1), (123, 40)]


def by_one(team: pt.Team, work: Any) -> None:
    """What rank 0 does before the others go on."""
    if team.rank == 0:
        work()
    team.barrier()


def read_market(team: pt.Team, folder: str) -> None:
    """What SciPy has written is what it reads."""
    for number, dtype in enumerate(["float64", "float32", "int64", "uint64", "complex128", "bool"]):
        for shape in SHAPES:
            m = tensor(shape, dtype, number)
            by_one(team, partial(scipy.io.mmwrite, f"{folder}/a.mtx", m, comment="one\ntwo"))
            t = mmread(f"{folder}/a.mtx", layout=LAYOUTS[number], format=FORMATS[number % 3])
            same(t.gather(), scipy.io.mmread(f"{folder}/a.mtx"))
            team.barrier()


def symmetric(shape: int, dtype: str, kind: str) -> Any:
    half = sp.tril(tensor((shape, shape), dtype, shape).tocsr(), -1 if "skew" in kind else 0)
    below = sp.tril(half, -1)
    if kind == "hermitian":
        return half + below.conj().T - 1j * sp.diags_array(half.diagonal().imag)
    return half - below.T if "skew" in kind else half + below.T


def symmetries(team: pt.Team, folder: str) -> None:
    """Of symmetric matrices half is in the file, sparse and dense."""
    cases = [("symmetric", "int64"), ("skew-symmetric", "float64"), ("hermitian", "complex128")]
    cases += [("symmetric", "complex128"), ("skew-symmetric", "int64")]
    for kind, dtype in cases:
        for n in (1, 2, 9):
            m = symmetric(n, dtype, kind)
            for form in (m, m.toarray()):
                path = f"{folder}/s.mtx"
                by_one(team, partial(scipy.io.mmwrite, path, form, symmetry=kind))
                found = mmread(path, layout="cyclic, *")
                if form is m:
                    np.testing.assert_array_equal(dense(found.gather()), m.toarray())
                else:
                    assert isinstance(found, pt.Array)
                    np.testing.assert_array_equal(found.gather(), m.toarray())
                team.barrier()


def other_files(team: pt.Team, folder: str) -> None:
    """Patterns, dense matrices, packed files, and files with blank lines and odd spaces."""
    m = tensor((8, 6), "float64", 1).tocoo()

    def write() -> None:
        scipy.io.mmwrite(f"{folder}/pattern.mtx", m, field="pattern")
        scipy.io.mmwrite(f"{folder}/dense.mtx", m.toarray())
        scipy.io.mmwrite(f"{folder}/dense_complex.mtx", m.toarray() * 1j)
        text = Path(f"{folder}/pattern.mtx").read_bytes()
        Path(f"{folder}/p.mtx.gz").write_bytes(gzip.compress(text))
        Path(f"{folder}/p.mtx.bz2").write_bytes(bz2.compress(text))
        odd = "%%MatrixMarket MATRIX Coordinate Real General\n% a\n\n%b\n 3  2 3 \n"
        odd += "1 1   1e0\n\n  3 2 -2.5E+1\n1 1 4"
        Path(f"{folder}/odd.mtx").write_text(odd)

    by_one(team, write)
    for name in ("pattern.mtx", "p.mtx.gz", "p.mtx.bz2"):
        same(mmread(f"{folder}/{name}").gather(), scipy.io.mmread(f"{folder}/pattern.mtx"))
    np.testing.assert_array_equal(mmread(f"{folder}/dense.mtx").gather(), m.toarray())
    np.testing.assert_array_equal(mmread(f"{folder}/dense_complex.mtx").gather(), m.toarray() * 1j)
    wanted = [[5.0, 0], [0, 0], [0, -25]]
    np.testing.assert_array_equal(mmread(f"{folder}/odd.mtx").to_dense().gather(), wanted)


def written_market(team: pt.Team, folder: str) -> None:
    """Byte by byte what SciPy writes of the same matrix in the same format."""
    for number, dtype in enumerate(["float64", "float32", "int8", "uint32", "complex64", "bool"]):
        for shape in [(7, 5), (6, 6), (0, 3), (123, 40), (1, 1)]:
            format = ["csr", "csc"][(number + shape[0]) % 2]
            m = tensor(shape, dtype, number, format)
            t = DistTensor.from_scipy(m, layout=LAYOUTS[number], format=format)
            compare(team, folder, t, m)
    m = tensor((9, 9), "float64", 1)
    t = DistTensor.from_scipy(m / 3)
    compare(team, folder, t, m / 3, comment="one\ntwo", precision=4, symmetry="general")
    compare(team, folder, t, m / 3, symmetry="symmetric")
    compare(team, folder, t, m / 3, field="pattern")
    compare(team, folder, t, m / 3, field="complex")
    for kind, dtype in [
        ("symmetric", "int64"),
        ("skew-symmetric", "float64"),
        ("hermitian", "complex128"),
    ]:
        m = symmetric(8, dtype, kind).tocsr()
        compare(team, folder, DistTensor.from_scipy(m), m)
        m = symmetric(120, dtype, kind).tocsr()
        compare(team, folder, DistTensor.from_scipy(m), m)
        compare(team, folder, DistTensor.from_scipy(m), m, symmetry=None)


def compare(team: pt.Team, folder: str, t: Any, m: Any, **how: Any) -> None:
    mmwrite(f"{folder}/ours", t, **how)
    if team.rank == 0:
        m.sort_indices()
        scipy.io.mmwrite(f"{folder}/theirs.mtx", m, **how)
        ours, theirs = (Path(f"{folder}/{one}.mtx").read_bytes() for one in ("ours", "theirs"))
        assert ours == theirs, (how, ours[:200], theirs[:200])
    team.barrier()


def archives(team: pt.Team, folder: str) -> None:
    """SciPy's files, compressed or not, in its formats; ours are read by SciPy."""
    for number, shape in enumerate(SHAPES):
        for format in (*FORMATS, "dia", "bsr"):
            if format == "dia" and 0 in shape:
                continue
            dtype = KINDS[(number * 5 + len(format)) % len(KINDS)]
            m = tensor(shape, dtype if format != "dia" else "float64", number, format)
            for compressed in (True, False):
                path = f"{folder}/a.npz"
                by_one(team, partial(sp.save_npz, path, m, compressed=compressed))
                t = load_npz(path, layout=LAYOUTS[number])
                same(t.gather(), m)
                assert t.format == (format if format in FORMATS else "coo")
                same(load_npz(path).gather(), m)
                if format in FORMATS:
                    save_npz(f"{folder}/b", t, compressed=compressed)
                    found = sp.load_npz(f"{folder}/b.npz")
                    assert found.format == format
                    assert isinstance(found, sp.sparray)
                    same(found, m)
                team.barrier()


def many_dimensions(team: pt.Team, folder: str) -> None:
    shape = (4, 5, 3)
    coords, data = entries(shape, "float32", 3)
    m = sp.coo_array((data, tuple(coords)), shape=shape)
    by_one(team, lambda: sp.save_npz(f"{folder}/n.npz", m, compressed=False))
    t = load_npz(f"{folder}/n.npz", layout="*, block, *")
    same(t.gather(), m)
    save_npz(f"{folder}/o.npz", t)
    same(sp.load_npz(f"{folder}/o.npz"), m)
    same(load_npz(f"{folder}/o.npz").gather(), m)


def refused(work: Any) -> str:
    """What is said of a file that is damaged, or another one than it should be."""
    with pytest.raises(pt.LayoutError) as caught:
        work()
    assert caught.value.reason in ("file-damaged", "file-unknown")
    return str(caught.value)


# What a file has in place of an array, or nothing in place of it, and what is said of that.
WRONG: list[tuple[dict[str, Any], str]] = [
    ({"indptr": None}, "no array 'indptr'"),
    ({"data": None}, "no array 'data'"),
    ({"shape": None}, "no array 'shape'"),
    ({"shape": (6,)}, "has not two numbers"),
    ({"shape": (6, 6, 6)}, "has not two numbers"),
    ({"shape": 6}, "no list of integers"),
    ({"shape": (6.7, 6.0)}, "no list of integers"),
    ({"shape": (-6, 6)}, "no list of integers"),
    ({"format": b"odd"}, "odd"),
    ({"format": 3}, "no name"),
    ({"format": [b"csr", b"x"]}, "no name"),
    ({"format": b"\xff"}, "ascii"),
    ({"format": b"dia"}, "offsets"),
    ({"indptr": np.arange(7.0)}, "'indptr' has float64"),
    ({"indptr": np.arange(7)[::-1]}, "w.npz"),
    ({"data": np.full(6, None)}, "objects"),
    ({"_is_array": np.array([])}, "'_is_array'"),
]


def wrong_arrays(team: pt.Team, folder: str) -> None:
    """Files that are read and are no sparse matrix, compressed or not."""
    path = f"{folder}/w.npz"
    about: dict[str, Any] = {"format": b"csr", "shape": (6, 6), "data": np.ones(6)}
    about |= {"indptr": np.arange(7), "indices": np.arange(6), "_is_array": True}
    for write in (np.savez, np.savez_compressed):
        for change, words in WRONG:
            arrays = {name: one for name, one in (about | change).items() if one is not None}
            by_one(team, partial(write, path, **arrays))
            found = refused(lambda: load_npz(path))
            assert words in found, (change, found)
            assert path in found
            team.barrier()


def wrong_bytes(team: pt.Team, folder: str) -> None:
    """A byte of each array is another than its sum of bytes says; files that are cut off."""
    path = Path(folder) / "b.npz"
    by_one(team, lambda: sp.save_npz(path, sp.csr_array(np.eye(6)), compressed=False))
    whole = path.read_bytes()
    with zipfile.ZipFile(path) as archive:
        begins = [one.header_offset for one in archive.infolist()]
        ends = [*begins[1:], archive.start_dir]
    team.barrier()
    wrong = [whole[: end - 1] + bytes([whole[end - 1] ^ 1]) + whole[end:] for end in ends]
    for content in [*wrong, whole[:-30], whole[:50], b"", b"hello"]:
        by_one(team, partial(path.write_bytes, content))
        assert "b.npz" in refused(lambda: load_npz(path))
        team.barrier()
    # Where the archive's list is, and of its last entry the version, the flags, and the packing.
    listed, entry = whole.rindex(b"PK\x05\x06"), whole.rindex(b"PK\x01\x02")
    changes = [(listed + 18, 9), (entry + 6, 97), (entry + 10, 99)]
    changes += [(entry + 10, packing) for packing in (8, 12, 14)]
    changes += [(entry + 8, 1 << bit) for bit in (0, 5, 6)]
    for at, byte in changes:
        by_one(team, partial(path.write_bytes, whole[:at] + bytes([byte]) + whole[at + 1 :]))
        assert "b.npz: " in refused(lambda: load_npz(path)), (at, byte)
        team.barrier()
    packed = Path(folder) / "p.mtx.gz"
    text = b"%%MatrixMarket matrix coordinate real general\n1 1 1\n1 1 1\n"
    for content in (b"hello", gzip.compress(text)[:-9]):
        by_one(team, partial(packed.write_bytes, content))
        assert "p.mtx.gz" in refused(lambda: mmread(packed))
        team.barrier()


def damaged(team: pt.Team, folder: str) -> None:
    """What is wrong with a file is an error on every rank."""
    head = "%%MatrixMarket matrix coordinate real general\n"
    texts = {
        "hello\n": "no Matrix Market file",
        "%%MatrixMarket vector coordinate real general\n1 1 0\n": "no Matrix Market file",
        "%%MatrixMarket matrix coordinate odd general\n1 1 0\n": "not known",
        "%%MatrixMarket matrix array pattern general\n1 1\n": "no values",
        "%%MatrixMarket matrix coordinate real symmetric\n1 2 0\n": "symmetric matrix of 1 x 2",
        head + "2 2\n": "no sizes",
        head + "2 2 x\n": "no sizes",
        head + "2 -2 0\n": "matrix of 2 x -2",
        head: "no sizes",
        head + "2 2 3\n1 1 1\n2 2 2\n": "says it has 3 entries and has 2",
        head + "2 2 2\n1 1 1\n2 x 2\n": "d.mtx, line 4: '2 x 2' has not only numbers of 'real'",
        head + "2 2 2\n1 1 1\n2 2\n": "d.mtx, line 4: '2 2' has not 3 numbers; the file is damaged",
        head + "2 2 2\n1 1\n1 2 2 2\n": "d.mtx, line 3: '1 1' has not 3 numbers",
        head + "% x\n2 2 2\n\n1 1 1\n2 x 2\n": "d.mtx, line 6: '2 x 2' has not only",
        head + "2 2 2\n1 1 1\n2.5 2 1\n": "d.mtx, line 4: '2.5 2 1' has not only numbers",
        head + "2 2 2\n1 1 1\n3 2 1\n": "d.mtx, line 4: index 3 where 1 to 2 are",
        head + "2 2 2\n1 1 1\n2 0 1\n": "d.mtx, line 4: index 0 where 1 to 2 are",
    }
    whole, unsigned = (head.replace("real", one) for one in ("integer", "unsigned-integer"))
    texts |= {
        whole + "2 2 1\n1 1 99999999999999999999\n": "line 3: '1 1 99999999999999999999' has a num",
        head + "2 2 1\n99999999999999999999 1 1\n": "line 3: index 99999999999999999999 where",
        head + "99999999999999999999 1 0\n": "more than 63 bits",
        unsigned + "2 2 1\n1 1 -1\n": "line 3: '1 1 -1' has a number outside of uint64",
        unsigned + "2 2 1\n1 1 x\n": "line 3: '1 1 x' has not only numbers",
        unsigned.replace("general", "skew-symmetric") + "2 2 1\n2 1 1\n": "skew-symmetric",
    }
    path = Path(folder) / "d.mtx"
    for text, words in texts.items():
        by_one(team, partial(path.write_text, text))
        assert words in refused(lambda: mmread(path)), (text, words)
        assert "d.mtx" in refused(lambda: mmread(path))
        team.barrier()
    raised(lambda: mmread(f"{folder}/none.mtx"), FileNotFoundError)
    raised(lambda: load_npz(f"{folder}/none.npz"), FileNotFoundError)
    t = DistTensor.from_scipy(tensor((5, 5), "float64", 1))
    raised(lambda: mmwrite(f"{folder}/none/a.mtx", t), FileNotFoundError)
    raised(lambda: save_npz(f"{folder}/none/a.npz", t), FileNotFoundError)
    assert "symmetry" in raised(lambda: mmwrite(path, t, symmetry="odd"), ValueError)
    m = tensor((6, 6), "float64", 1)

    def write() -> None:
        np.savez(f"{folder}/other.npz", x=np.zeros(3))
        about = {"format": b"csr", "shape": (6, 6), "indptr": m.indptr, "indices": m.indices}
        np.savez(f"{folder}/short.npz", data=m.data[:-1], **about)
        np.savez(f"{folder}/wild.npz", data=m.data, **(about | {"indices": m.indices + 6}))
        np.savez(f"{folder}/long.npz", data=np.append(m.data, 1.0), **about)
        np.savez(f"{folder}/high.npz", data=m.data[:, None], **about)
        np.savez(f"{folder}/rows.npz", data=m.data, **(about | {"shape": (5, 6)}))
        coo = {"format": b"coo", "shape": (6, 6), "row": m.indices, "col": m.indices}
        np.savez(f"{folder}/coo.npz", data=m.data[:-1], **coo)
        whole = Path(f"{folder}/wild.npz").read_bytes()
        Path(f"{folder}/cut.npz").write_bytes(whole[:-40])

    by_one(team, write)
    assert "no sparse matrix" in refused(lambda: load_npz(f"{folder}/other.npz"))
    for name in ("short", "long", "high", "rows", "coo"):
        assert f"{name}.npz: " in refused(partial(load_npz, f"{folder}/{name}.npz")), name
    assert "of dimension 1" in refused(lambda: load_npz(f"{folder}/wild.npz"))
    assert "cut.npz: " in refused(lambda: load_npz(f"{folder}/cut.npz"))
    assert team.allgather_data(2) == [2] * team.size


BODIES = (
    read_market,
    symmetries,
    other_files,
    written_market,
    archives,
    many_dimensions,
    damaged,
    wrong_arrays,
    wrong_bytes,
)
CASES = [Case(one.__name__, one) for one in BODIES]
