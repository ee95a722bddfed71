"""Bodies of tests of sparse tensors in files, beside SciPy."""

from __future__ import annotations

import bz2
import gzip
import zipfile
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
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
    path = Path(folder) / "d.mtx"
    for text, words in texts.items():
        by_one(team, partial(path.write_text, text))
        assert words in raised(lambda: mmread(path), ValueError), (text, words)
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
    assert "no sparse matrix" in raised(lambda: load_npz(f"{folder}/other.npz"), ValueError)
    for name in ("short", "long", "high", "rows", "coo"):
        assert "damaged" in raised(partial(load_npz, f"{folder}/{name}.npz"), ValueError), name
    raised(lambda: load_npz(f"{folder}/cut.npz"), zipfile.BadZipFile)
    assert "of dimension 1" in raised(lambda: load_npz(f"{folder}/wild.npz"), ValueError)
    assert team.allgather_data(2) == [2] * team.size


BODIES = (read_market, symmetries, other_files, written_market, archives, many_dimensions, damaged)
CASES = [Case(one.__name__, one) for one in BODIES]
